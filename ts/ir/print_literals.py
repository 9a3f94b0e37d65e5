"""Rules for omitting arguments and annotations and for spelling literals in printed source.

Each line shows printed source and its rule:

    [1, 2]                    a list literal whose type can be inferred has no annotation
    annotate(List[Any], [1])  other list literals have an annotation
    torch.add(x, y)           an argument that equals its default (alpha = 1) is omitted
    CONSTANTS.c0              a constant without a literal
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from ts.ir.graph import Value
from ts.ir.schema import FunctionSchema
from ts.ir.types import (
    ANY,
    DEVICE,
    EnumType,
    InterfaceType,
    OptionalType,
    Type,
    UnionType,
    erase_shape,
    unify_list,
)


def is_inferred(elem: Type, members: Sequence[Value]) -> bool:
    """Return True if the compiler infers element type `elem` for a list literal with the values `members`.

    Such a literal needs no annotation.
    """
    return is_plain(elem) and unify_list([erase_shape(v.type()) for v in members]) == elem


def is_plain(elem: Type) -> bool:
    """Return False if a container literal needs an annotation for its element type `elem`.

    This is the case for Any, optional, union and interface types.
    """
    return not isinstance(elem, (OptionalType, UnionType, InterfaceType)) and elem is not ANY


def has_literal(value: Any, t: Type) -> bool:
    """Return True if a constant can be written as a literal, unlike tensors and enum members."""
    if value is None or isinstance(value, (bool, int, float, complex)):
        return True
    if isinstance(value, str):
        return value.isascii()
    element_types = t.contained_types() or [t]
    if any(isinstance(element_type, EnumType) for element_type in element_types):
        return False
    if isinstance(value, (list, tuple)):
        return all(map(has_literal, value, itertools.cycle(element_types)))
    if isinstance(value, dict):
        return all(
            has_literal(k, element_types[0]) and has_literal(v, element_types[-1]) for k, v in value.items()
        )
    return t is DEVICE


def necessary_arguments(schema: FunctionSchema, inputs: Sequence[Value]) -> int:
    """Return the number of arguments to print. Last arguments that are constant defaults are omitted."""
    if schema.is_vararg:
        return len(inputs)
    count = len(inputs)
    while 0 < count <= len(schema.arguments):
        argument, value = schema.arguments[count - 1], inputs[count - 1]
        if not argument.has_default or not _is_default(value, argument.default):
            break
        count -= 1
    return count


def _is_default(value: Value, default: Any) -> bool:
    if value.node().kind() != "prim::Constant":
        return False
    constant = value.to_ivalue()
    if isinstance(constant, float) is not isinstance(default, float):
        return False  # for a Scalar argument, 1.0 and the default 1 are different values
    return bool(constant == default and (constant is None) == (default is None))
