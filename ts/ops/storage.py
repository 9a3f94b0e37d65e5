"""Storage: the memory that views share, seen with any strides, and made larger.

In: an array, sizes and strides counted in elements of the storage it is a view of; out: another view of that
storage, or of a larger copy of it where `resize_` needs more.

    x = torch.arange(6)[2:]        a storage of 6 elements, offset 2
    x.as_strided((2, 2), (1, 2))   [[2, 4], [3, 5]]
    x.resize_(5)                   the storage grows to 7 elements: 2, 3, 4, 5, 0
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ts import dtypes
from ts.ops import rules
from ts.ops.registry import op

Array = rules.Array
Sizes = Sequence[int]
_MOST_BYTES = (1 << 63) - 1


def storage_of(xp: Any, self: Array) -> tuple[Array, int]:
    """The elements of the storage behind `self`, in the order of memory, and the offset of its first one."""
    owner = self
    while True:
        base = getattr(owner, "base", None)
        if base is not None and not hasattr(base, "strides"):  # what NumPy's as_strided puts between
            base = getattr(base, "base", None)
        if base is None or not hasattr(base, "strides") or not hasattr(base, "reshape"):
            break
        owner = base
    flat = _flattened(xp, owner)
    if owner is self:
        return flat, 0
    offset = (_address(self) - _address(flat)) // self.dtype.itemsize
    if owner.dtype != self.dtype:
        whole = flat.nbytes // self.dtype.itemsize * self.dtype.itemsize
        flat = flat.view(rules.UINT8)[:whole].view(self.dtype)
    return flat, offset


def _flattened(xp: Any, owner: Array) -> Array:
    """A view of all the memory that `owner` spans, in its order."""
    if not owner.size:
        return owner.reshape(-1)
    extent = 1 + sum((n - 1) * s for n, s in zip(owner.shape, owner.strides, strict=True)) // owner.itemsize
    return xp.lib.stride_tricks.as_strided(owner, (extent,), (owner.itemsize,))


def _address(a: Array) -> int:
    """Where the first element lies: NumPy's and CuPy's spelling."""
    interface = getattr(a, "__cuda_array_interface__", None) or a.__array_interface__
    pointer: int = interface["data"][0]
    return pointer


def _seen(xp: Any, flat: Array, size: Sizes, stride: Sizes, offset: int) -> Array:
    """The storage `flat` with sizes and strides; RuntimeError where it ends before."""
    item = flat.dtype.itemsize
    needed = offset + 1 + sum((n - 1) * s for n, s in zip(size, stride, strict=True)) if all(size) else 0
    if needed > flat.size:
        raise RuntimeError(
            f"setStorage: sizes {list(size)}, strides {list(stride)}, storage offset {offset}, and itemsize "
            f"{item} requiring a storage size of {needed * item} are out of bounds for storage of size "
            f"{flat.size * item}"
        )
    return xp.lib.stride_tricks.as_strided(flat[offset:], tuple(size), [s * item for s in stride])


@op(
    "aten::as_strided(Tensor(a) self, SymInt[] size, SymInt[] stride, SymInt? storage_offset=None) ->"
    " Tensor(a)",
    inplace=True,
)
def _as_strided(
    xp: Any, self: Array, size: Sizes, stride: Sizes, storage_offset: int | None = None
) -> Array:
    _check_geometry(size, stride, storage_offset)
    flat, offset = storage_of(xp, self)
    return _seen(xp, flat, size, stride, offset if storage_offset is None else storage_offset)


def _check_geometry(size: Sizes, stride: Sizes, storage_offset: int | None) -> None:
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
    if storage_offset is not None and storage_offset < 0:
        raise RuntimeError(f"Tensor: invalid storage offset {storage_offset}")


@op(
    "aten::as_strided_scatter(Tensor self, Tensor src, SymInt[] size, SymInt[] stride, SymInt? "
    "storage_offset=None) -> Tensor",
    out="out",
)
def _as_strided_scatter(
    xp: Any, self: Array, src: Array, size: Sizes, stride: Sizes, storage_offset: int | None = None
) -> Array:
    _check_geometry(size, stride, storage_offset)
    flat, offset = storage_of(xp, self)
    copy = flat.copy()
    part = _seen(xp, copy, size, stride, offset if storage_offset is None else storage_offset)
    if part.shape != src.shape:
        raise RuntimeError(
            f"expected src to have a size equal to the slice of self. src size = {list(src.shape)}, slice "
            f"size = {list(part.shape)}"
        )
    part[...] = rules.cast(xp, src, self.dtype)
    return _seen(xp, copy, self.shape, [s // self.dtype.itemsize for s in self.strides], offset)


# ---------------------------------------------------------------------------------------- other sizes


def _contiguous_strides(size: Sizes) -> list[int]:
    strides, step = [], 1
    for n in reversed(size):
        strides.append(step)
        step *= max(n, 1)
    return strides[::-1]


def _format_strides(size: Sizes, memory_format: int | None) -> list[int]:
    """Strides of a new tensor in a memory format."""
    if memory_format is None or memory_format == dtypes.contiguous_format.code:
        return _contiguous_strides(size)
    if memory_format == dtypes.preserve_format.code:
        raise RuntimeError("Unsupported memory formatPreserve")
    rank = 4 if memory_format == dtypes.channels_last.code else 5
    if len(size) != rank:
        kind = "channels_last" if rank == 4 else "channels_last_3d"
        raise RuntimeError(f"required rank {rank} tensor to use {kind} format")
    inner = _contiguous_strides([size[0], *size[2:], size[1]])
    return [inner[0], inner[-1], *inner[1:-1]]


def _resized(xp: Any, self: Array, size: Sizes, strides: Sizes) -> Array:
    """`self` with sizes and strides, over its own storage where that is large enough, else a grown copy."""
    if any(n < 0 for n in size) or math.prod(size) > _MOST_BYTES:
        raise RuntimeError("numel: integer multiplication overflow")
    if math.prod(size) * self.dtype.itemsize > _MOST_BYTES:
        raise RuntimeError(f"Storage size calculation overflowed with sizes={list(size)}")
    flat, offset = storage_of(xp, self)
    needed = offset + math.prod(size)
    if needed > flat.size and math.prod(size):
        grown = xp.zeros(needed, dtype=self.dtype)
        grown[: flat.size] = flat
        flat = grown
    return _seen(xp, flat, size, strides, offset)


@op(
    "aten::resize_(Tensor(a!) self, SymInt[] size, *, MemoryFormat? memory_format=None) -> Tensor(a!)",
    where="m",
    variant="inplace",
)
def _resize_in_place(xp: Any, self: Array, size: Sizes, memory_format: int | None = None) -> Array:
    if tuple(size) == tuple(self.shape) and memory_format is None:
        return self
    return _resized(xp, self, size, _format_strides(size, memory_format))


@op(
    "aten::resize_as_(Tensor(a!) self, Tensor the_template, *, MemoryFormat? memory_format=None) -> "
    "Tensor(a!)",
    variant="inplace",
)
def _resize_as_in_place(
    xp: Any, self: Array, the_template: Array, memory_format: int | None = None
) -> Array:
    if memory_format == dtypes.preserve_format.code:
        memory_format = _format_of(the_template)
    return _resize_in_place(xp, self, the_template.shape, memory_format)


def _format_of(x: Array) -> int | None:
    """The memory format that an array has; None for the contiguous one and all others."""
    own = [s // x.dtype.itemsize for s in x.strides]
    for ndim, layout in ((4, dtypes.channels_last), (5, dtypes.channels_last_3d)):
        if x.ndim == ndim and own == _format_strides(x.shape, layout.code):
            return layout.code
    return None


@op("aten::resize(Tensor self, SymInt[] size, *, MemoryFormat? memory_format=None) -> Tensor", where="")
def _resize(xp: Any, self: Array, size: Sizes, memory_format: int | None = None) -> Array:
    return _resize_in_place(xp, self.copy(), size, memory_format)


@op(
    "aten::resize_as(Tensor self, Tensor the_template, *, MemoryFormat? memory_format=None) -> Tensor",
    where="",
)
def _resize_as(xp: Any, self: Array, the_template: Array, memory_format: int | None = None) -> Array:
    return _resize_as_in_place(xp, self.copy(), the_template, memory_format)
