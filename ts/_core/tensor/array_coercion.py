"""Conversion of arrays of other libraries (NumPy, CuPy, PyTorch, DLPack) and None to tensors.

Input: the arguments of a call that matched no signature. Output: the arguments with tensors instead of arrays
and None. If no argument is replaced, the output is None.

A tensor shares the memory of its array. None becomes the undefined tensor. The following calls are equal if f
has a Tensor parameter:

    f(np.ones(3))
    f(ts.from_numpy(np.ones(3)))
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ts._core.tensor import factories, interop
from ts._core.tensor.tensor import Tensor
from ts._core.value.ivalue import undefined_tensor

_REQUIRED = frozenset({"Tensor", "Tensor (inferred)"})
_WANTED = _REQUIRED | {"Optional[Tensor]", "Tensor?"}


def with_tensors(arguments: Sequence[Any], specs: Sequence[Any]) -> tuple[Any, ...] | None:
    """Return the arguments with arrays and None converted to tensors.

    Return None if no argument changes or a conversion fails.
    """
    coerced = [
        undefined_tensor()
        if x is None and spec.annotation_str in _REQUIRED
        else tensor_of(x)
        if spec.annotation_str in _WANTED and is_array(x)
        else x
        for x, spec in zip(arguments, specs, strict=True)
    ]
    if all(x is y for x, y in zip(coerced, arguments, strict=True)) or any(
        x is None and y is not None for x, y in zip(coerced, arguments, strict=True)
    ):
        return None
    return tuple(coerced)


def is_array(x: object) -> bool:
    """Return whether `x` is an array of another library, neither a Tensor nor a NumPy scalar."""
    if isinstance(x, Tensor | np.generic):
        return False
    cls = type(x)
    return isinstance(x, np.ndarray) or hasattr(cls, "__dlpack__") or hasattr(cls, "__array__")


def tensor_of(x: Any) -> Tensor | None:
    """Return a tensor that shares the memory of an array, or None if the array is unsupported.

    If an object has only the method `__array__`, its elements may be copied. A PyTorch tensor that requires
    grad is unsupported, because gradients would not reach it.
    """
    try:
        if isinstance(x, np.ndarray):
            return factories.from_numpy(x)
        if hasattr(type(x), "__dlpack__"):
            return interop.from_dlpack(x)
        return factories.from_numpy(np.asarray(x))
    except (TypeError, ValueError, RuntimeError, BufferError):  # an unsupported dtype, or negative strides
        return None


def conversion(x: object, target_type: str) -> str:
    """Return a hint for error messages: how to convert the array `x` to `target_type`.

    Return "" if `x` is no array.
    """
    if not is_array(x):
        return ""
    if target_type.startswith(("int", "float", "bool", "complex", "Scalar", "number")):
        return "`x.item()` returns the number of an array with one element"
    if target_type.startswith("List") and "Tensor" not in target_type:
        return "`x.tolist()` returns a list of its numbers"
    if isinstance(x, np.ndarray):
        return "`ts.from_numpy(x)` returns a tensor that shares its memory, `ts.tensor(x)` a copy"
    if getattr(x, "requires_grad", False):
        return "`ts.from_dlpack(x.detach())` returns a tensor that shares its memory"
    return "`ts.from_dlpack(x)` returns a tensor that shares its memory"
