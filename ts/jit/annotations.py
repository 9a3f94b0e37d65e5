"""Conversion of Python annotations and signatures to script types.

Each line shows a call and its result, in types of `ts.types`:

    try_ann_to_type(List[int])      # List[int], or None for an unsupported annotation
    get_signature(f)                # ([types of arguments], return type)

A parameter with a `BroadcastingList` annotation accepts a number for a list. In this example, `pad(x, 1)` is
equivalent to `pad(x, [1, 1])`:

    @ts.jit.script
    def pad(x, by: BroadcastingList2[int]): ...
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, Dict, List, Optional, Tuple  # noqa: F401, UP035  # for imports by programs

from ts.frontend import parse
from ts.frontend.annotations import object_type
from ts.frontend.compile_directives import (
    BroadcastingList1,
    BroadcastingList2,
    BroadcastingList3,
    BroadcastingList4,
    BroadcastingList5,
    BroadcastingList6,
)
from ts.frontend.signatures import signature
from ts.ir.types import TensorType, Type

__all__ = [
    "BroadcastingList1", "BroadcastingList2", "BroadcastingList3", "BroadcastingList4", "BroadcastingList5",
    "BroadcastingList6", "ann_to_type", "get_signature", "try_ann_to_type",
]  # fmt: skip


def try_ann_to_type(annotation: object, loc: object = None, rcb: object = None) -> Type | None:
    """Return the type that `annotation` denotes, or None for an unsupported annotation.

    A missing annotation (`inspect.Signature.empty`) means Tensor.
    """
    if annotation is inspect.Signature.empty:
        return TensorType.get_inferred()
    return object_type(annotation)


def ann_to_type(annotation: object, loc: object = None, rcb: object = None) -> Type:
    """Return the type of an annotation. Raise ValueError if it is not supported."""
    type_of_annotation = try_ann_to_type(annotation)
    if type_of_annotation is None:
        raise ValueError(f"Unknown type annotation: '{annotation}'")
    return type_of_annotation


def get_signature(
    function: Callable[..., Any], rcb: object = None, loc: object = None, is_method: bool = False
) -> tuple[list[Type], Type | None]:
    """Return the types of the arguments and of the result, from annotations or a type comment."""
    parameters, returns = signature(parse.function_def(function))
    return [parameter.type for parameter in parameters[is_method:]], returns
