"""Types and names of what a trace sees.

>>> type_of((ts.ones(2), [ts.ones(1)]))
(Float(2, strides=[1], requires_grad=0, device=cpu), Tensor[])
"""

from __future__ import annotations

from types import FrameType
from typing import Any, Final

import numpy as np

from ts import dtypes
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
    unshaped,
)
from ts.tracing import words

NUMBER_TYPES: Final[dict[type, Type]] = {bool: BOOL, int: INT, float: FLOAT, complex: COMPLEX}
MOST_PARTS: Final = 1 << 20  # of a value that a trace takes apart
CONVERSIONS: Final[dict[Type, str]] = {  # of a tensor to a number
    INT: "aten::Int",
    FLOAT: "aten::Float",
    BOOL: "aten::Bool",
    NUMBER: "aten::ScalarImplicit",
}


def tensor_type(x: Tensor) -> TensorType:
    """All that is known of a tensor, from its array: the tracer records what a tensor is asked."""
    itemsize = x.array.dtype.itemsize
    strides = [step // itemsize for step in x.array.strides]
    return TensorType(x.dtype.code, x.array.shape, strides, str(x.device), x.requires_grad)


def type_of(x: Any) -> Type:
    """The type of a value in a trace; tensors in lists and dicts are of any shape."""
    if isinstance(x, Tensor):
        return tensor_type(x)
    if isinstance(x, tuple):
        return TupleType([type_of(item) for item in x])
    if isinstance(x, list):
        return ListType(unshaped(type_of(x[0])) if x else TENSOR)
    if isinstance(x, dict):
        key, item = next(iter(x.items()), ("", None))
        return DictType(unshaped(type_of(key)), TENSOR if item is None else unshaped(type_of(item)))
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


def refuse_large(x: Any) -> None:
    """Refuse what has too many parts to take apart; found by seeing each of its containers once."""
    counts: dict[int, int] = {}

    def parts(x: Any) -> int:
        if not isinstance(x, list | tuple | dict):
            return 1
        count = counts.get(id(x))
        if count is None:
            count = counts[id(x)] = 1 + sum(map(parts, x.values() if isinstance(x, dict) else x))
        return count

    if parts(x) >= MOST_PARTS:
        raise RuntimeError(words.TOO_LARGE.format(MOST_PARTS))


def dtype_of_number(number: Any) -> Any:
    """The NumPy dtype of the tensor that stands for a number."""
    if isinstance(number, bool | int):
        return np.bool_ if isinstance(number, bool) else np.int64
    return np.float64 if isinstance(number, float) else np.complex128


def name_in(frame: FrameType, x: Tensor) -> str:
    """The name of the variable that holds `x`, or ""."""
    for name, held in frame.f_locals.items():
        if held is x:
            return name if name != "self" and name.isidentifier() else ""
    return ""


def arguments_of_to(args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """The arguments of `x.to(...)` by name."""
    names = ["non_blocking", "copy", "memory_format"]
    rest = list(args)
    if rest and isinstance(rest[0], Tensor):
        names.insert(0, "other")
    elif rest and isinstance(rest[0], dtypes.dtype | type):
        names.insert(0, "dtype")
    elif rest:
        names.insert(0, "device")
        if len(rest) > 1 and (rest[1] is None or isinstance(rest[1], dtypes.dtype | type)):
            names.insert(1, "dtype")
    return dict(zip(names, rest, strict=False)) | kwargs
