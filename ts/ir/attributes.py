"""Kinds of node attributes, and types of constants.

A kind is a letter code of PyTorch, such as 'i' for an int::

    >>> kind_of_value(3), kind_of_value("a"), kind_of_value([1.5])
    ('i', 's', 'fs')
    >>> type_of_constant((1, [True])).str()
    '(int, bool[])'
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from ts.devices import device
from ts.ir.object_attributes import has_attribute
from ts.ir.types import (
    BOOL,
    COMPLEX,
    DEVICE,
    FLOAT,
    INT,
    NONE,
    STR,
    TENSOR,
    DictType,
    ListType,
    TensorType,
    TupleType,
    Type,
    unify_list,
)

KINDS = ("f", "fs", "c", "cs", "i", "is", "s", "ss", "t", "ts", "g", "gs", "ty", "tys", "ival")
"""Kinds of attributes: float, complex, int, string, tensor, graph, type, and a list of each.

All other values have the kind ``ival``.
"""

_KIND_BY_CLASS: dict[type, str] = {bool: "i", int: "i", float: "f", complex: "c", str: "s"}
_TYPE_BY_CLASS: dict[type, Type] = {
    bool: BOOL,
    int: INT,
    float: FLOAT,
    complex: COMPLEX,
    str: STR,
    type(None): NONE,
    device: DEVICE,
}

REMOTE_CALLS: Final = frozenset({"prim::rpc_async", "prim::rpc_remote", "prim::rpc_sync"})
"""Kinds of remote calls. Their attribute `callee` holds a function, which graph text does not show."""

constant_type_hooks: list[Callable[[Any], Type | None]] = []
"""Hooks that return the type of a constant whose class this module does not know, such as an enum member.

Hooks are called in order until one returns a type.
"""


def is_tensor(value: object) -> bool:
    """Return True for a tensor of any library, recognized by its attributes.

    `ts.ir` does not import a tensor library.
    """
    return (
        has_attribute(value, "dtype")
        and has_attribute(value, "shape")
        and has_attribute(value, "requires_grad")
    )


class ParsedTensor:
    """Tensor constant parsed from graph text, of which only the text and the type are known."""

    __slots__ = ("text", "type")
    requires_grad = False

    def __init__(self, text: str, type: Type) -> None:
        self.text = text
        self.type = type

    @property
    def dtype(self) -> int | None:
        """Number of the dtype (PyTorch's ScalarType), or None if the graph text contains no dtype."""
        return self.type.scalar_type if isinstance(self.type, TensorType) else None

    @property
    def shape(self) -> tuple[int, ...]:
        """Sizes in the text, or an empty tuple if the text contains no sizes."""
        return tuple(self.type.sizes() or ()) if isinstance(self.type, TensorType) else ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ParsedTensor) and (self.text, self.type) == (other.text, other.type)

    def __hash__(self) -> int:
        return hash(self.text)


class ParsedObject:
    """Constant parsed from graph text that is neither a literal nor a tensor, such as an enum member."""

    __slots__ = ("name", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.name = text.rpartition(".")[2]

    def __str__(self) -> str:
        return self.text


def kind_of_value(value: object) -> str:
    """Return the kind of an attribute with the value `value`, one of `KINDS`."""
    kind = _KIND_BY_CLASS.get(type(value))
    if kind is not None:
        return kind
    if isinstance(value, Type):
        return "ty"
    if is_tensor(value):
        return "t"
    if has_attribute(value, "param_node"):
        return "g"
    if isinstance(value, list) and value:
        kinds = {kind_of_value(v) for v in value}
        if len(kinds) == 1 and kinds <= {"f", "c", "i", "s", "t", "g", "ty"}:
            return kinds.pop() + "s"
    return "ival"


def type_of_tensor(value: Any) -> TensorType:
    """Return a fully refined tensor type: dtype, sizes, strides, device and `requires_grad`."""
    sizes = tuple(value.shape)
    return TensorType(value.dtype.code, sizes, value.stride(), str(value.device), value.requires_grad)


def type_of_constant(value: Any) -> Type | None:
    """Return the type of a constant, or None if a graph cannot hold it."""
    return _type_of(value, {})


def _type_of(value: Any, types_by_id: dict[int, Type | None]) -> Type | None:
    """Return the type of a constant.

    `types_by_id` maps the id of each visited container to its type, or to None for a container without type.
    """
    t = _TYPE_BY_CLASS.get(type(value))
    if t is not None:
        return t
    if isinstance(value, ParsedTensor):
        return value.type
    if is_tensor(value):
        return type_of_tensor(value)
    if isinstance(value, list | tuple | dict):
        if id(value) not in types_by_id:
            types_by_id[id(value)] = _type_of_container(value, types_by_id)
        return types_by_id[id(value)]
    for ask in constant_type_hooks:
        t = ask(value)
        if t is not None:
            return t
    return None


def _type_of_container(
    value: list[Any] | tuple[Any, ...] | dict[Any, Any], types_by_id: dict[int, Type | None]
) -> Type | None:
    if isinstance(value, list):
        elem = _unify_types(value, TENSOR, types_by_id)
        return None if elem is None else ListType(elem)
    if isinstance(value, tuple):
        elems = [_type_of(v, types_by_id) for v in value]
        return TupleType([t for t in elems if t is not None]) if None not in elems else None
    key, item = (
        _unify_types(list(value), STR, types_by_id),
        _unify_types(list(value.values()), TENSOR, types_by_id),
    )
    return None if key is None or item is None else DictType(key, item)


def _unify_types(values: Sequence[object], empty: Type, types_by_id: dict[int, Type | None]) -> Type | None:
    if not values:
        return empty
    types = []
    for value in values:
        t = _type_of(value, types_by_id)
        if t is None:
            return None
        types.append(t)
    return unify_list(types)
