"""Tensors on existing memory of NumPy arrays, DLPack exporters and objects with the buffer protocol.

The functions copy the elements only if they cannot share the memory. The tensors of the
example share the memory of a buffer and of an array:

    frombuffer(bytearray(8), dtype=ts.int32)
    asarray(np.ones(2))
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ts import dtypes
from ts._core.tensor import factories
from ts._core.tensor.tensor import Tensor, wrap_array
from ts._core.thread.context import current_modes

_READ_ONLY = (
    "The given buffer is not writable, and PyTorch does not support non-writable tensors. This means you can "
    "write to the underlying (supposedly non-writable) buffer using the tensor. A copy is made instead."
)


def frombuffer(
    buffer: Any, *, dtype: Any, count: int = -1, offset: int = 0, requires_grad: bool = False
) -> Tensor:
    """Return a one-dimensional tensor that shares the memory of `buffer`."""
    kind = dtypes.as_dtype(dtype)
    try:
        view = memoryview(buffer)
    except TypeError:
        raise ValueError("object does not implement Python buffer protocol.") from None
    length, item = view.nbytes, kind.itemsize
    if length == 0 or count == 0:
        raise ValueError(f"both buffer length ({length}) and count ({count}) must not be 0")
    if not 0 <= offset < length:
        raise ValueError(
            f"offset ({offset} bytes) must be non-negative and no greater than buffer length ({length} "
            "bytes) minus 1"
        )
    if count > 0 and offset + count * item > length:
        raise ValueError(
            f"requested buffer length ({count} * {item} bytes) after offset ({offset} bytes) must not be "
            f"greater than actual buffer length ({length} bytes)"
        )
    if count < 0 and (length - offset) % item:
        raise ValueError(
            f"buffer length ({length - offset} bytes) after offset ({offset} bytes) must be a multiple of "
            f"element size ({item})"
        )
    n = count if count > 0 else (length - offset) // item
    array = np.frombuffer(view, np.uint8, n * item, offset).view(kind.numpy_dtype)
    if not array.flags.writeable:
        warnings.warn(_READ_ONLY, UserWarning, stacklevel=2)
        array = array.copy()
    result = wrap_array(array)
    return result._marked(True) if requires_grad else result


def asarray(
    obj: Any, *, dtype: Any = None, device: Any = None, copy: bool | None = None, requires_grad: bool = False
) -> Tensor:
    """Convert `obj` to a tensor.

    The tensor shares the memory of `obj`, unless `copy` is true or another dtype or device requires a copy.
    """
    if (active := current_modes()) is not None:
        options = {"dtype": dtype, "device": device, "copy": copy, "requires_grad": requires_grad or None}
        explicit_options = {name: value for name, value in options.items() if value is not None}
        return active.operator(asarray, (obj,), explicit_options)  # type: ignore[no-any-return]
    kind = None if dtype is None else dtypes.as_dtype(dtype)
    shared = _alias(obj, kind)
    if shared is None:
        if copy is False:
            raise ValueError("can't alias arbitrary sequence into a tensor.")
        return factories.new_copy(obj, kind, device, requires_grad, False, "asarray")
    result = shared
    if kind is not None or device is not None:
        result = shared.to(device or shared.device, kind or shared.dtype, copy=bool(copy))
    if result is not shared and result.data_ptr() != shared.data_ptr() and copy is False:
        if result.dtype is not shared.dtype:
            have, want = shared.dtype.type_name, result.dtype.type_name
            raise ValueError(f"can't alias tensor with dtype '{have}' into dtype '{want}'.")
        raise ValueError(f"can't alias tensor from device '{shared.device}' to '{result.device}'.")
    if copy and result.data_ptr() == shared.data_ptr():
        result = result.clone()
    return result._marked(True) if requires_grad and not result.requires_grad else result


def _alias(obj: Any, kind: dtypes.dtype | None) -> Tensor | None:
    """Return a tensor that shares the memory of `obj`, or None if `obj` has no buffer."""
    if isinstance(obj, Tensor):
        return obj
    if isinstance(obj, np.ndarray):
        return factories.shared_array(obj)
    if isinstance(obj, np.generic):
        return factories.shared_array(np.asarray(obj))
    if hasattr(obj, "__dlpack__"):
        import ts

        tensor: Tensor = ts.from_dlpack(obj)
        return tensor
    try:
        memoryview(obj)
    except TypeError:
        return None
    return frombuffer(obj, dtype=kind or dtypes.get_default_dtype())
