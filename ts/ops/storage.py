"""Storages and strides: tensors that become other views, and how copies lie in memory.

In: an array; out: another view of its memory, or a copy laid out as a memory format says.  The forms in
place give the array that the tensor is to be around from then on.

    x.resize_(3, 2)         the first six elements of the storage, or more memory
    x.set_(y)               x is the view that y is
    x.contiguous(memory_format=ts.channels_last)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ts import dtypes
from ts._core.tensor import storage, strides
from ts.ops import rules
from ts.ops.outputs import COPIED
from ts.ops.registry import op

Array = rules.Array


def elements(self: Array) -> strides.Shape:
    """The strides of an array in elements."""
    return tuple(step // self.dtype.itemsize for step in self.strides)


def format_of(code: int | None) -> dtypes.memory_format:
    """The memory format with a number of PyTorch's; the contiguous one for none."""
    return dtypes.MEMORY_FORMATS[code or 0]


def empty_like(xp: Any, self: Array, dtype: rules.DType, memory_format: int | None) -> Array:
    """An array with undefined elements, laid out as `self` is or as the memory format says."""
    if memory_format in (None, 1):
        if self.flags.c_contiguous:
            return xp.empty(self.shape, dtype=dtype)
        return ordered(xp, self.shape, strides.preserved(self.shape, elements(self)), dtype)
    return formatted(xp, self.shape, dtype, memory_format)


def formatted(xp: Any, shape: Sequence[int], dtype: rules.DType, memory_format: int | None) -> Array:
    """An array with undefined elements in a memory format."""
    if not memory_format:
        return xp.empty(tuple(shape), dtype=dtype)
    return ordered(xp, shape, strides.of_format(shape, format_of(memory_format)), dtype)


def ordered(xp: Any, shape: Sequence[int], steps: Sequence[int], dtype: rules.DType) -> Array:
    """An array with undefined elements and these strides, which leave no gaps."""
    made = xp.empty(math.prod(shape), dtype=dtype)
    return storage.strided(made, tuple(shape), [step * dtype.itemsize for step in steps], 0)


@op("aten::clone(Tensor self, *, MemoryFormat? memory_format=None) -> Tensor", out="out", **COPIED)
def clone_kernel(xp: Any, self: Array, memory_format: int | None = None) -> Array:
    """A copy, laid out as `self` is or as the memory format says."""
    if memory_format in (None, 1) and self.flags.c_contiguous:
        return self.copy()
    result = empty_like(xp, self, self.dtype, memory_format)
    result[...] = self
    return result


@op("aten::contiguous(Tensor(a) self, *, MemoryFormat memory_format=0) -> Tensor(a)", where="m")
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
    result = ordered(xp, self.shape, steps, self.dtype)
    result[...] = self
    return result


# ---------------------------------------------------------------------------------------- other views


def _check_numel(size: Sequence[int], dtype: rules.DType) -> None:
    numel = 1
    for n in size:
        numel *= n
        if n < 0 or numel > rules.MAX_INT:
            raise RuntimeError("numel: integer multiplication overflow")
    rules.check_storage(size, dtype)


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
    if tuple(size) == tuple(self.shape) and not memory_format:
        return None  # nothing is written
    item = self.dtype.itemsize
    steps = strides.of_format(size, format_of(memory_format))
    return storage.resized(self, tuple(size), [step * item for step in steps])


@op(
    "aten::resize_as_(Tensor(a!) self, Tensor the_template, *, MemoryFormat? memory_format=None) -> "
    "Tensor(a!)",
    variant="inplace",
    overlap=2,
    reshapes=True,
)
def _resize_as(xp: Any, self: Array, the_template: Array, memory_format: int | None = None) -> Array:
    if memory_format == 1:
        steps = strides.preserved(the_template.shape, elements(the_template))
        item = self.dtype.itemsize
        return storage.resized(self, the_template.shape, [step * item for step in steps])
    return _resize(xp, self, the_template.shape, memory_format)


def as_strided_kernel(self: Array, size: Sequence[int], stride: Sequence[int], offset: int | None) -> Array:
    """Another view of the storage of `self`: strides and offset in elements."""
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
    at = storage.offset(self) if offset is None else offset * item
    return storage.strided(self, tuple(size), [s * item for s in stride], at)


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
    out="out",
    layout="like_first",
    **COPIED,
)
def _as_strided_scatter(
    xp: Any,
    self: Array,
    src: Array,
    size: Sequence[int],
    stride: Sequence[int],
    storage_offset: int | None = None,
) -> Array:
    at = storage.offset(self)
    copy = storage.strided(storage.block(self).copy(), self.shape, self.strides, at, self.dtype)
    part = as_strided_kernel(copy, size, stride, storage_offset)
    if part.shape != src.shape:
        raise RuntimeError(
            f"expected src to have a size equal to the slice of self. src size = {list(src.shape)}, slice "
            f"size = {list(part.shape)}"
        )
    part[...] = rules.cast(xp, src, self.dtype)
    return copy


@op(
    "aten::resize(Tensor self, SymInt[] size, *, MemoryFormat? memory_format=None) -> Tensor",
    where="",
    layout="like_first",
    out="out",
    **COPIED,
)
def _resize_copy(xp: Any, self: Array, size: Sequence[int], memory_format: int | None = None) -> Array:
    copy = self.copy()
    resized = _resize(xp, copy, size, memory_format)
    return copy if resized is None else resized


@op(
    "aten::resize_as(Tensor self, Tensor the_template, *, MemoryFormat? memory_format=None) -> Tensor",
    where="",
    out="out",
    **COPIED,
)
def _resize_as_copy(xp: Any, self: Array, the_template: Array, memory_format: int | None = None) -> Array:
    return _resize_as(xp, self.copy(), the_template, memory_format)


def _same_dtype(self: Array, source: Array) -> None:
    if self.dtype != source.dtype:
        raise RuntimeError(
            f"Could not set tensor of type {rules.NAME_OF[source.dtype]} to a tensor of type "
            f"{rules.NAME_OF[self.dtype]}"
        )


@op("aten::set_(Tensor(a!) self) -> Tensor(a!)", variant="inplace", where="", overlap=2, reshapes=True)
def _set_empty(xp: Any, self: Array) -> Array:
    return xp.empty(0, dtype=self.dtype)


@op(
    "aten::set_.source_Tensor(Tensor(a!) self, Tensor source) -> Tensor(a!)",
    variant="inplace",
    where="",
    overlap=2,
    order="source_Tensor",
    reshapes=True,
)
def _set_tensor(xp: Any, self: Array, source: Array) -> Array:
    _same_dtype(self, source)
    return source


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
