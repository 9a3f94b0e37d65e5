"""Types and names of values in a trace.

For example, a tuple of a tensor and a list has this type:

>>> type_of((ts.ones(2), [ts.ones(1)]))
(Float(2, strides=[1], requires_grad=0, device=cpu), Tensor[])
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from types import FrameType
from typing import Any, Final

import numpy as np

from ts._core.tensor.tensor import Tensor
from ts._core.value.objects import Object
from ts._core.vm.future import Future
from ts.ir.types import (
    ANY,
    BOOL,
    COMPLEX,
    FLOAT,
    INT,
    NONE,
    NUMBER,
    STR,
    TENSOR,
    CustomClassType,
    DictType,
    FutureType,
    ListType,
    TensorType,
    TupleType,
    Type,
    erase_shape,
)
from ts.runtime.tensor_str import script_text
from ts.tracing import messages

NUMBER_TYPES: Final[dict[type, Type]] = {bool: BOOL, int: INT, float: FLOAT, complex: COMPLEX}
_TYPE_NAME: Final = re.compile(r"\[ CPU(\w+)Type\{")
MAX_VALUE_NODES: Final = 1 << 20  # maximum number of containers and elements in one value
CONVERSIONS: Final[dict[Type, str]] = {  # type of a number -> operator that converts a tensor to it
    INT: "aten::Int",
    FLOAT: "aten::Float",
    BOOL: "aten::Bool",
    NUMBER: "aten::ScalarImplicit",
}


def tensor_type(x: Tensor) -> TensorType:
    """Return the complete type of a tensor.

    The type is read from the array, because queries of the tensor would be recorded.
    """
    itemsize = x.array.dtype.itemsize
    strides = [step // itemsize for step in x.array.strides]
    return TensorType(x.dtype.code, x.array.shape, strides, str(x.device), x.requires_grad)


def type_of(x: Any) -> Type:
    """Return the type of a value in a trace. The types of tensors in lists and dicts have no shapes."""
    if isinstance(x, Tensor):
        return tensor_type(x)
    if isinstance(x, tuple):
        return TupleType([type_of(item) for item in x])
    if isinstance(x, list):
        return ListType(erase_shape(type_of(x[0])) if x else TENSOR)
    if isinstance(x, dict):
        key, item = next(iter(x.items()), ("", None))
        return DictType(erase_shape(type_of(key)), TENSOR if item is None else erase_shape(type_of(item)))
    if isinstance(x, Future):
        return FutureType(type_of(x.value()))
    if isinstance(x, Object):
        return x.cls.type  # type: ignore[no-any-return]
    if x is None:
        return NONE
    custom = getattr(type(x), "__ts_type__", None)  # type of a custom class that PyTorch defines in C++
    if isinstance(custom, CustomClassType):
        return custom
    return NUMBER_TYPES.get(type(x)) or (STR if isinstance(x, str) else ANY)


def check_size(x: Any) -> None:
    """Raise an error for a value with too many nested elements. Each container is counted once."""
    counts: dict[int, int] = {}

    def count_nodes(x: Any) -> int:
        if not isinstance(x, list | tuple | dict):
            return 1
        count = counts.get(id(x))
        if count is None:
            count = counts[id(x)] = 1 + sum(map(count_nodes, x.values() if isinstance(x, dict) else x))
        return count

    if count_nodes(x) >= MAX_VALUE_NODES:
        raise RuntimeError(messages.TOO_LARGE.format(MAX_VALUE_NODES))


def is_all_tensors(items: Iterable[Any]) -> bool:
    """Return True if all items are tensors."""
    return all(isinstance(item, Tensor) for item in items)


def check_element_types(x: Any) -> None:
    """Raise RuntimeError if a value has an empty container, or a container with elements of several types."""
    checked: set[int] = set()

    def check(x: Any) -> str:
        """Return a description of the problem with a value, or "" for a valid value.

        Each container is visited once.
        """
        if isinstance(x, set | frozenset):
            return messages.CONTAINERS_ONLY.format(type(x).__name__)
        if not isinstance(x, list | tuple | dict) or id(x) in checked:
            return ""
        checked.add(id(x))
        if not x and not isinstance(x, tuple):
            return messages.EMPTY_LIST if isinstance(x, list) else messages.EMPTY_DICT
        if isinstance(x, dict):
            return check_same(list(x), messages.DICT_TYPES) or check_same(
                list(x.values()), messages.DICT_TYPES
            )
        if isinstance(x, tuple):
            return next(filter(None, map(check, x)), "")
        problem = next(filter(None, map(check, x)), "")
        return messages.LIST_ELEMENT.format(problem) if problem else check_same(x, messages.LIST_TYPES)

    def check_same(items: list[Any], message: str) -> str:
        problem = next(filter(None, map(check, items)), "")
        if problem:
            return problem
        types = dict.fromkeys(type_message(item) for item in items if item is not None)
        return message.format(*list(types)[:2]) if len(types) > 1 else ""

    problem = check(x)
    if problem:
        raise RuntimeError(messages.UNKNOWN_TYPE.format(x, problem))


def type_message(x: Any) -> str:
    """Return the type of a value in the format of messages, such as `Dict[str, Tuple[Tensor, int]]`."""

    def format_type(t: Type) -> str:
        if isinstance(t, TupleType):
            return f"Tuple[{', '.join(map(format_type, t.elems))}]"
        if isinstance(t, ListType):
            return f"List[{format_type(t.elem)}]"
        return (
            f"Dict[{format_type(t.key)}, {format_type(t.value)}]"
            if isinstance(t, DictType)
            else t.annotation_str.split("(")[0]
        )

    return format_type(type_of(x))


def value_text(x: Any) -> str:
    """Return the text of a value in error messages: as in PyTorch, tensors have their legacy type names."""
    if isinstance(x, dict):
        return f"{{{', '.join(f'{value_text(k)}: {value_text(v)}' for k, v in x.items())}}}"
    if isinstance(x, list):
        return f"[{', '.join(map(value_text, x))}]"
    if isinstance(x, tuple):
        return f"({', '.join(map(value_text, x))}{',' if len(x) == 1 else ''})"
    return _TYPE_NAME.sub(r"[ torch.\1Tensor{", script_text(x))


def dtype_of_number(scalar: Any) -> Any:
    """Return the NumPy dtype of the tensor that represents the number `scalar` in a trace."""
    if isinstance(scalar, bool | int):
        return np.bool_ if isinstance(scalar, bool) else np.int64
    return np.float64 if isinstance(scalar, float) else np.complex128


def name_in(frame: FrameType, x: Tensor) -> str:
    """Return the name of the local variable whose value is `x`, or ""."""
    for name, held in frame.f_locals.items():
        if held is x:
            return name if name != "self" and name.isidentifier() else ""
    return ""
