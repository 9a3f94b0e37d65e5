"""Tensor methods for memory layout: storage, offset, strides and memory formats.

Examples with their values:

    x.t().is_contiguous()                                     False
    x.to(memory_format=ts.channels_last).dim_order()          (0, 2, 3, 1)
    x[1].untyped_storage() == x.untyped_storage()             True
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ts import dtypes
from ts._core.late_binding import resolve
from ts._core.tensor import strides
from ts._core.tensor.python_operators import operator
from ts._core.tensor.tensor import Tensor, rebind_array
from ts._core.tensor.tensor_metadata import check_storage, tensor_with_memory, version, written
from ts._core.tensor.tensor_type import define_methods

if TYPE_CHECKING:
    from ts._core.tensor.storage import TypedStorage, UntypedStorage


def _check_strided(self: Tensor) -> None:
    if self.layout is not dtypes.strided:
        name = "SparseTensorImpl" if self.layout is dtypes.sparse_coo else "SparseCsrTensorImpl"
        raise NotImplementedError(f"Cannot access storage of {name}")


def storage_offset(self: Tensor) -> int:
    """Return the offset of the first element in the storage, counted in elements."""
    _check_strided(self)
    elements: int = resolve("storage").offset(self.array) // self.dtype.itemsize
    return elements


def untyped_storage(self: Tensor) -> UntypedStorage:
    """Return the storage of the tensor, which its views share."""
    check_storage(self)
    _check_strided(self)
    result: UntypedStorage = resolve("storage").UntypedStorage.of(self.array)
    return result


def typed_storage(self: Tensor) -> TypedStorage:
    """Return the memory as a deprecated `TypedStorage`, with PyTorch's warning."""
    check_storage(self)
    _check_strided(self)
    result: TypedStorage = resolve("storage").typed(self)
    return result


def _typed_storage(self: Tensor) -> TypedStorage:
    """Return the memory as a `TypedStorage`, without a warning."""
    check_storage(self)
    _check_strided(self)
    storage = resolve("storage")
    result: TypedStorage = storage.TypedStorage(storage.UntypedStorage.of(self.array), self.dtype)
    return result


def is_contiguous(self: Tensor, memory_format: Any = dtypes.contiguous_format) -> bool:
    """Return whether the tensor is contiguous in row-major order, or in the given memory format."""
    if memory_format is dtypes.contiguous_format:
        flag: bool = self.array.flags.c_contiguous
        return flag
    if not isinstance(memory_format, dtypes.memory_format):
        raise TypeError(
            "is_contiguous(): argument 'memory_format' must be torch.memory_format, not "
            f"{type(memory_format).__name__}"
        )
    if memory_format is dtypes.preserve_format:
        raise RuntimeError("preserve memory format is unsupported by the contiguous operator")
    return strides.has_format(self.shape, self.stride(), memory_format)


def dim_order(self: Tensor, *, ambiguity_check: Any = False) -> tuple[int, ...]:
    """Return the dimensions, sorted by decreasing stride.

    With `ambiguity_check`, raise RuntimeError if the strides do not determine a unique order.
    """
    steps, shape = self.stride(), self.shape
    if ambiguity_check is not False:
        formats = (
            [dtypes.contiguous_format, dtypes.channels_last, dtypes.channels_last_3d]
            if ambiguity_check is True
            else list(ambiguity_check)
        )
        fitting = [f for f in formats if strides.has_format(shape, steps, f)]
        if len(fitting) > 1 or len({s for s, n in zip(steps, shape, strict=True)}) < len(steps):
            raise RuntimeError(
                "The tensor does not have unique dim order, or cannot map to exact one of the given memory "
                "formats."
            )
    return tuple(sorted(range(self.ndim), key=lambda d: (-steps[d], -shape[d], d)))


def is_set_to(self: Tensor, other: Tensor) -> bool:
    """Return whether two tensors have equal address, shape and strides."""
    self, other = tensor_with_memory(self), tensor_with_memory(other)
    return bool(
        self.data_ptr() == other.data_ptr()
        and self.array.shape == other.array.shape
        and self.array.strides == other.array.strides
    )


def _matrix_transpose(name: str) -> property:
    def transposed(self: Tensor) -> Tensor:
        if self.ndim == 0:
            warnings.warn(f"Tensor.{name} is deprecated on 0-D tensors.", stacklevel=2)
        result: Tensor = operator(name)(self)
        return result

    return property(transposed)


def _hermitian(self: Tensor) -> Tensor:
    result: Tensor = operator("matrix_H")(self)
    return result


def set_(
    self: Tensor, source: Any = None, storage_offset: int = 0, size: Any = None, stride: Any = None
) -> Tensor:
    """Replace the tensor's memory by that of another tensor or storage, or by an empty storage."""
    storage = resolve("storage")
    if isinstance(source, storage.TypedStorage):
        source = source.untyped()
    if not isinstance(source, storage.UntypedStorage):
        chosen = (source,) if size is None else (source, storage_offset, size, stride)
        result: Tensor = operator("set_")(self, *(() if source is None else chosen))
        return result
    check_storage(self)
    if size is None:
        size = (source.nbytes() // self.dtype.itemsize - storage_offset,)
    steps = strides.contiguous(size) if stride is None else stride
    item = self.dtype.itemsize
    bytes_between = [step * item for step in steps]
    array = storage.strided(source.bytes, size, bytes_between, storage_offset * item, self.array.dtype)
    rebind_array(self, array)
    written(self)
    return self


def _complex_component(name: str) -> tuple[Callable[[Tensor], Any], Callable[[Tensor, Any], None]]:
    """Return a getter and a setter for the real or imaginary part of a tensor."""

    def get(self: Tensor) -> Any:
        return operator(name)(self)

    def put(self: Tensor, value: Any) -> None:
        get(self).copy_(value)

    return get, put


def share_memory_(self: Tensor) -> Tensor:
    """Move the storage to shared memory, for all tensors that use it."""
    _check_strided(self)
    shared: Tensor = resolve("shared_storage").share_tensor(self)
    return shared


def is_shared(self: Tensor) -> bool:
    """Return whether the memory is shared with other processes."""
    _check_strided(self)
    result: bool = resolve("storage").UntypedStorage.of(self.array).is_shared()
    return result


define_methods(
    {
        "storage_offset": storage_offset,
        "untyped_storage": untyped_storage,
        "storage": typed_storage,
        "_typed_storage": _typed_storage,
        "share_memory_": share_memory_,
        "is_shared": is_shared,
        "is_contiguous": is_contiguous,
        "dim_order": dim_order,
        "is_set_to": is_set_to,
        "set_": set_,
        "mT": _matrix_transpose("mT"),
        "mH": _matrix_transpose("mH"),
        "H": property(_hermitian),
        "real": property(*_complex_component("real")),
        "imag": property(*_complex_component("imag")),
        "_version": property(version),
    }
)
