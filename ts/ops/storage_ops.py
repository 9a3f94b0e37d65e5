"""Storage and stride operators (resizing, `set_`, `as_strided`, copies and memory formats).

Input: an array. Output: another view of the array's memory, or a copy in a memory format. The result of an
in-place operator replaces the tensor's array.

For example, `x.resize_(3, 2)` returns the first six elements of the storage. The storage is enlarged if
necessary.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ts import dtypes
from ts._core.tensor import size_guards, storage, strides
from ts._core.tensor.size_guards import equal_shapes
from ts._core.tensor.tensor import Tensor
from ts._core.tensor.tensor_metadata import detached
from ts.ops import common, result_strides
from ts.ops.out_variants import COPIED_OUT
from ts.ops.registry import op, order

Array = common.Array


def elements(self: Array) -> strides.Shape:
    """Return the strides of an array in elements instead of bytes."""
    return tuple(step // self.dtype.itemsize for step in self.strides)


def format_of(code: int | None) -> dtypes.memory_format:
    """Return the memory format for PyTorch's enum number `code`. None means contiguous."""
    return dtypes.MEMORY_FORMATS[code or 0]


def empty_like(xp: Any, self: Array, dtype: common.DType, memory_format: int | None) -> Array:
    """Return an uninitialized array with the strides of `self` or in `memory_format`."""
    if memory_format in (None, 1):
        if self.flags.c_contiguous:
            return xp.empty(self.shape, dtype=dtype)
        return empty_with_strides(
            xp, self.shape, strides.preserve_format_strides(self.shape, elements(self)), dtype
        )
    return empty_in_format(xp, self.shape, dtype, memory_format)


def empty_in_format(xp: Any, shape: Sequence[int], dtype: common.DType, memory_format: int | None) -> Array:
    """Return an uninitialized array in a memory format."""
    if not memory_format:
        return xp.empty(tuple(shape), dtype=dtype)
    return empty_with_strides(xp, shape, strides.of_format(shape, format_of(memory_format)), dtype)


def empty_with_strides(xp: Any, shape: Sequence[int], steps: Sequence[int], dtype: common.DType) -> Array:
    """Return an uninitialized array with the strides `steps` in elements, which must leave no gaps."""
    buffer = xp.empty(math.prod(shape), dtype=dtype)
    return storage.strided(buffer, tuple(shape), [step * dtype.itemsize for step in steps], 0)


@op("aten::_lazy_clone(Tensor self) -> Tensor")
@op(
    "aten::clone(Tensor self, *, MemoryFormat? memory_format=None) -> Tensor",
    **COPIED_OUT,
    sparse="conversions.clone",
    copies_sizes=True,
)
def clone_kernel(xp: Any, self: Array, memory_format: int | None = None) -> Array:
    """Return a copy with the strides of `self` or in `memory_format`."""
    if memory_format in (None, 1) and self.flags.c_contiguous:
        return self.copy()
    result = empty_like(xp, self, self.dtype, memory_format)
    result[...] = self
    return result


@op(
    "aten::contiguous(Tensor(a) self, *, MemoryFormat memory_format=0) -> Tensor(a)",
    where="m",
    sparse="view_ops.raise_contiguous_unsupported",
    copies_sizes=True,
    view_if_possible=True,
)
def _contiguous(xp: Any, self: Array, memory_format: int = 0) -> Array:
    if memory_format in (None, 0, 1) and self.flags.c_contiguous:
        return self
    if memory_format == 1:
        raise RuntimeError("preserve memory format is unsupported by the contiguous operator")
    if not memory_format:
        return self.copy()
    steps = strides.of_format(self.shape, format_of(memory_format))
    if strides.has_format(self.shape, elements(self), format_of(memory_format)):
        return self
    result = empty_with_strides(xp, self.shape, steps, self.dtype)
    result[...] = self
    return result


@op("aten::lift_fresh_copy(Tensor self) -> Tensor", where="f", **COPIED_OUT)
def _lift_fresh_copy(xp: Any, self: Array) -> Array:
    return self.copy()


_CROSS_DEVICE_FIELDS: dict[str, Any] = {"where": "f", "tensor_kernel": True, "side_effect": True}

# ----------------------------------------------------------------------- queries of strides and memory format


@op("aten::is_non_overlapping_and_dense(Tensor self) -> bool", where="")
def _is_dense(xp: Any, self: Array) -> bool:
    return bool(strides.dense(self.shape, elements(self)))


@op("aten::is_strides_like_format(Tensor self, MemoryFormat memory_format) -> bool", where="")
def _is_like_format(xp: Any, self: Array, memory_format: int) -> bool:
    """Return whether `memory_format` is channels-last, and `self` has this order, possibly with gaps."""
    ranks = {dtypes.channels_last: 4, dtypes.channels_last_3d: 5}
    return bool(ranks.get(format_of(memory_format)) == self.ndim) and result_strides.channels_last(self)


@op("aten::_debug_has_internal_overlap(Tensor self) -> int")
def _internal_overlap(xp: Any, self: Array) -> int:
    """Return 0 if no elements overlap (dense strides), 1 if some overlap (a stride is 0), 2 if unknown."""
    if strides.dense(self.shape, elements(self)):
        return 0
    return 1 if any(step == 0 and n > 1 for step, n in zip(self.strides, self.shape, strict=True)) else 2


@op("aten::_has_same_storage_numel(Tensor self, Tensor other) -> bool", where="")
def _has_same_storage_numel(xp: Any, self: Array, other: Array) -> bool:
    own_numel, other_numel = (int(storage.block(x).nbytes) // x.dtype.itemsize for x in (self, other))
    return bool(own_numel == other_numel)


@op("aten::is_set_to(Tensor self, Tensor tensor) -> bool", where="", tensor_kernel=True)
def _is_set_to(self: Tensor, tensor: Tensor) -> bool:
    return bool(self.is_set_to(tensor))


# ------------------------------------------------ changing the sizes, strides or storage of a tensor in place


def _check_numel(size: Sequence[int], dtype: common.DType) -> None:
    numel = 1
    for n in size:
        numel *= n
        if n < 0 or numel > common.INT64_MAX:
            raise RuntimeError("numel: integer multiplication overflow")
    common.check_storage(size, dtype)


@op(
    "aten::resize_(Tensor(a!) self, SymInt[] size, *, MemoryFormat? memory_format=None) -> Tensor(a!)",
    variant="inplace",
    where="m",
    overlap=2,
    reshapes=True,
)
def _resize(xp: Any, self: Array, size: Sequence[int], memory_format: int | None = None) -> Array | None:
    _check_numel(size, self.dtype)
    if memory_format == 1:
        raise RuntimeError("Unsupported memory formatPreserve")
    has_same_shape = len(size) == self.ndim and all(map(size_guards.is_provably_equal, size, self.shape))
    if has_same_shape and not memory_format:
        return None  # None: the tensor keeps its array
    item = self.dtype.itemsize
    steps = strides.of_format(size, format_of(memory_format))
    return storage.resized(self, tuple(size), [step * item for step in steps])


@op(
    "aten::_resize_output_(Tensor(a!) self, SymInt[] size, Device device) -> Tensor(a!)",
    variant="inplace",
    tensor_kernel=True,
    overlap=2,
    reshapes=True,
)
def _resize_output(self: Tensor, size: Sequence[int], device: Any) -> Tensor:
    """Resize an `out=` tensor. Raise RuntimeError if the tensor is not on `device`."""
    if device.type != self.device.type:
        raise RuntimeError(f"Expected out tensor to have device {device}, but got {self.device} instead")
    resized: Tensor = self.resize_(*size)
    return resized


@op(
    "aten::resize_as_(Tensor(a!) self, Tensor the_template, *, MemoryFormat? memory_format=None) -> "
    "Tensor(a!)",
    variant="inplace",
    overlap=2,
    reshapes=True,
    sparse="view_ops.resize_as_sparse",
)
def _resize_as(xp: Any, self: Array, the_template: Array, memory_format: int | None = None) -> Array:
    if memory_format == 1:
        steps = strides.preserve_format_strides(the_template.shape, elements(the_template))
        item = self.dtype.itemsize
        return storage.resized(self, the_template.shape, [step * item for step in steps])
    return _resize(xp, self, the_template.shape, memory_format)


def as_strided_kernel(self: Array, size: Sequence[int], stride: Sequence[int], offset: int | None) -> Array:
    """Return a view of the storage of `self`. Strides and offset are in elements."""
    if len(size) != len(stride):
        raise RuntimeError("mismatch in length of strides and shape")
    if any(s < 0 for s in stride):
        raise RuntimeError(
            f"as_strided: Negative strides are not supported at the moment, got strides: {list(stride)}"
        )
    if any(n < 0 for n in size):
        raise RuntimeError(
            f"Storage size calculation overflowed with sizes={list(size)} and strides={list(stride)}"
        )
    if offset is not None and offset < 0:
        raise RuntimeError(f"Tensor: invalid storage offset {offset}")
    item = self.dtype.itemsize
    byte_offset = storage.offset(self) if offset is None else offset * item
    return storage.strided(self, tuple(size), [s * item for s in stride], byte_offset)


@op(
    "aten::as_strided(Tensor(a) self, SymInt[] size, SymInt[] stride, SymInt? storage_offset=None) ->"
    " Tensor(a)",
)
@op(
    "aten::as_strided_(Tensor(a!) self, SymInt[] size, SymInt[] stride, SymInt? storage_offset=None) ->"
    " Tensor(a!)",
    variant="inplace",
    overlap=2,
    reshapes=True,
)
def _as_strided(
    xp: Any, self: Array, size: Sequence[int], stride: Sequence[int], storage_offset: int | None = None
) -> Array:
    return as_strided_kernel(self, size, stride, storage_offset)


@op(
    "aten::as_strided_scatter(Tensor self, Tensor src, SymInt[] size, SymInt[] stride, SymInt? "
    "storage_offset=None) -> Tensor",
    layout="like_first",
    **COPIED_OUT,
)
def _as_strided_scatter(
    xp: Any,
    self: Array,
    src: Array,
    size: Sequence[int],
    stride: Sequence[int],
    storage_offset: int | None = None,
) -> Array:
    byte_offset = storage.offset(self)
    copy = storage.strided(storage.block(self).copy(), self.shape, self.strides, byte_offset, self.dtype)
    view = as_strided_kernel(copy, size, stride, storage_offset)
    if not equal_shapes(view.shape, src.shape):
        raise RuntimeError(
            f"expected src to have a size equal to the slice of self. src size = {list(src.shape)}, slice "
            f"size = {list(view.shape)}"
        )
    view[...] = common.cast(xp, src, self.dtype)
    return copy


@op(
    "aten::resize(Tensor self, SymInt[] size, *, MemoryFormat? memory_format=None) -> Tensor",
    where="",
    layout="like_first",
    **COPIED_OUT,
)
def _resize_copy(xp: Any, self: Array, size: Sequence[int], memory_format: int | None = None) -> Array:
    copy = self.copy()
    resized = _resize(xp, copy, size, memory_format)
    return copy if resized is None else resized


@op("aten::_resize_output(Tensor self, SymInt[] size, Device device) -> Tensor", where="", tensor_kernel=True)
def _resized_output(self: Tensor, size: Sequence[int], device: Any) -> Tensor:
    return _resize_output(self.clone(), size, device)


@op("aten::_copy_from(Tensor self, Tensor dst, bool non_blocking=False) -> Tensor", **_CROSS_DEVICE_FIELDS)
def _copy_from(self: Tensor, dst: Tensor, non_blocking: bool = False) -> Tensor:
    """Copy `self` into `dst`, which may be on another device. The schema does not declare this mutation."""
    written: Tensor = dst.copy_(self, non_blocking)
    return written


@op("aten::_copy_from_and_resize(Tensor self, Tensor dst) -> Tensor", **_CROSS_DEVICE_FIELDS)
def _copy_from_and_resize(self: Tensor, dst: Tensor) -> Tensor:
    written: Tensor = dst.resize_(self.shape).copy_(self)
    return written


@op(
    "aten::resize_as(Tensor self, Tensor the_template, *, MemoryFormat? memory_format=None) -> Tensor",
    where="",
    **COPIED_OUT,
)
def _resize_as_copy(xp: Any, self: Array, the_template: Array, memory_format: int | None = None) -> Array:
    return _resize_as(xp, self.copy(), the_template, memory_format)


def _same_dtype(self: Array, source: Array) -> None:
    if self.dtype != source.dtype:
        raise RuntimeError(
            f"Could not set tensor of type {common.NAME_OF[source.dtype]} to a tensor of type "
            f"{common.NAME_OF[self.dtype]}"
        )


@op("aten::set(Tensor self) -> Tensor", where="")
@op("aten::set_(Tensor(a!) self) -> Tensor(a!)", variant="inplace", where="", overlap=2, reshapes=True)
def _set_empty(xp: Any, self: Array) -> Array:
    return xp.empty(0, dtype=self.dtype)


@op(
    "aten::set_.source_Tensor(Tensor(a!) self, Tensor source) -> Tensor(a!)",
    variant="inplace",
    where="",
    overlap=2,
    reshapes=True,
)
def _set_tensor(xp: Any, self: Array, source: Array) -> Array:
    _same_dtype(self, source)
    return source


@op("aten::set.source_Tensor(Tensor self, Tensor source) -> Tensor", where="")
def _set_tensor_copy(xp: Any, self: Array, source: Array) -> Array:
    return _set_tensor(xp, self, source)[...]


@op(
    "aten::set_.source_Tensor_storage_offset(Tensor(a!) self, Tensor source, SymInt storage_offset, "
    "SymInt[] size, SymInt[] stride=[]) -> Tensor(a!)",
    variant="inplace",
    where="",
    overlap=2,
    reshapes=True,
)
def _set_view(
    xp: Any, self: Array, source: Array, storage_offset: int, size: Sequence[int], stride: Sequence[int] = ()
) -> Array:
    _same_dtype(self, source)
    return as_strided_kernel(source, size, stride or strides.contiguous(size), storage_offset)


@op(
    "aten::slice_inverse(Tensor(a) self, Tensor src, int dim=0, SymInt? start=None, SymInt? end=None, SymInt "
    "step=1) -> Tensor(a)",
    where="",
)
def _slice_inverse(
    xp: Any, self: Array, src: Array, dim: int, start: int | None, end: int | None, step: int
) -> Array:
    """Return a view of the storage of `self` with the shape, strides and offset of `src`."""
    return as_strided_kernel(self, src.shape, elements(src), storage.offset(src) // src.dtype.itemsize)


# -------------------------------------------------------------------------------------- operators of storages

_VIEW = "SymInt storage_offset, SymInt[] size, SymInt[] stride=[]"
_SET: dict[str, Any] = {
    "variant": "inplace",
    "where": "",
    "tensor_kernel": True,
    "overlap": 2,
    "reshapes": True,
}


@op("aten::set_.source_Storage(Tensor(a!) self, Storage source) -> Tensor(a!)", **_SET)
@op(
    f"aten::set_.source_Storage_storage_offset(Tensor(a!) self, Storage source, {_VIEW}) -> Tensor(a!)",
    **_SET,
)
def _set_storage(
    self: Tensor,
    source: Any,
    storage_offset: int = 0,
    size: Sequence[int] | None = None,
    stride: Sequence[int] = (),
) -> Tensor:
    view: Tensor = self.set_(source, storage_offset, size, stride or None)
    return view


@op("aten::set.source_Storage(Tensor self, Storage source) -> Tensor", where="", tensor_kernel=True)
@op(
    f"aten::set.source_Storage_storage_offset(Tensor self, Storage source, {_VIEW}) -> Tensor",
    where="",
    tensor_kernel=True,
)
def _view_of_storage(self: Tensor, *source: Any) -> Tensor:
    return _set_storage(detached(self), *source)


order(
    "aten::set_", "source_Storage_storage_offset source_Tensor - source_Storage source_Tensor_storage_offset"
)
order("aten::set", "source_Storage source_Storage_storage_offset source_Tensor -")
