"""Operators that split a tensor into views of consecutive sections along a dimension.

Input: an array, and the lengths, the number or the positions of the sections. Output: a list of views. Each
line shows a call and its views:

    split([0, 1, 2], 2)                  [0, 1], [2]
    tensor_split([0, 1, 2], [1])         [0], [1, 2]
    unbind([[0, 1], [2, 3]])             [0, 1], [2, 3]
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from ts._core.tensor import size_guards, storage
from ts.ops import common
from ts.ops.out_variants import COPIED, COPIED_OUT
from ts.ops.registry import op
from ts.ops.shape_functions import ITEM, NO_ITEM, ShapeDtypeStrides, new_size

Array = common.Array
_TENSOR_BYTES = 128  # approximate size of a tensor object


def split_sizes(self: Array, lengths: Sequence[int], dim: int) -> list[Array]:
    """Return views of consecutive sections of `self` along `dim`, with the given lengths."""
    if self.ndim == 0:
        raise RuntimeError("split expects at least a 1-dimensional tensor")
    axis = common.wrap_dim(dim, self.ndim)
    for n in lengths:
        size_guards.check_length(n)
    if not size_guards.equal(sum(lengths), self.shape[axis]):
        raise RuntimeError(
            f"split_with_sizes expects split_sizes to sum exactly to {self.shape[axis]} (input tensor's "
            f"size at dimension {axis}), but got split_sizes={list(lengths)}"
        )
    sections, start = [], 0
    for n in lengths:
        if not size_guards.check(n >= 0):
            raise RuntimeError(
                f"split_with_sizes expects split_sizes have only non-negative entries, but got "
                f"split_sizes={list(lengths)}"
            )
        if size_guards.is_symbol(n) or size_guards.is_symbol(start):
            shape = (*self.shape[:axis], n, *self.shape[axis + 1 :])
            first = storage.offset(self) + start * self.strides[axis]
            sections.append(storage.strided(self, shape, self.strides, first))
        else:
            sections.append(self[(slice(None),) * axis + (slice(start, start + n),)])
        start += n
    return sections


def split_by_size(self: Array, size: int, dim: int) -> list[Array]:
    """Return views of consecutive sections of length `size` along `dim`. The last section may be shorter."""
    if self.ndim == 0:
        raise RuntimeError("split expects at least a 1-dimensional tensor")
    if size < 0:
        raise RuntimeError(f"split expects split_size be non-negative, but got split_size={size}")
    n = self.shape[common.wrap_dim(dim, self.ndim)]
    if size == 0:
        if n:
            raise RuntimeError(
                f"split_size can only be 0 if dimension size is 0, but got dimension size of {n}"
            )
        return [self]
    count = max(operator.index(size_guards.ceil_div(n, size)), 1)
    return split_sizes(self, [size] * (count - 1) + [n - size * (count - 1)], dim)


@op(
    "aten::split.Tensor(Tensor(a -> *) self, SymInt split_size, int dim=0) -> Tensor(a)[]",
    loop="split",
    view_input=True,
)
@op(
    "aten::unsafe_split.Tensor(Tensor self, SymInt split_size, int dim=0) -> Tensor[]",
    out="Tensor_out",
    **COPIED,
)
def _split(xp: Any, self: Array, split_size: int, dim: int = 0) -> list[Array]:
    return split_by_size(self, split_size, dim)


@op(
    "aten::split(Tensor(a -> *) self, int[] split_sizes, int dim=0) -> Tensor(a)[]",
    where="",
    order="Tensor sizes str -",
    traced_as="aten::split_with_sizes",
)
@op(
    "aten::split.sizes(Tensor(a -> *) self, SymInt[] split_size, int dim=0) -> Tensor(a)[]",
    traced_as="aten::split_with_sizes",
)
@op("aten::split_with_sizes(Tensor(a -> *) self, SymInt[] split_sizes, int dim=0) -> Tensor(a)[]")
@op("aten::unsafe_split_with_sizes(Tensor self, SymInt[] split_sizes, int dim=0) -> Tensor[]", **COPIED_OUT)
def _split_sizes(xp: Any, self: Array, split_size: Sequence[int], dim: int = 0) -> list[Array]:
    return split_sizes(self, split_size, dim)


def _check_memory(count: int) -> None:
    """Raise an error if `count` tensor objects need more than the available memory."""
    common.check_storage((count, _TENSOR_BYTES), common.UINT8)
    np.empty((count, _TENSOR_BYTES), np.uint8)


@op("aten::chunk(Tensor(a -> *) self, int chunks, int dim=0) -> Tensor(a)[]", loop="chunk", view_input=True)
@op("aten::unsafe_chunk(Tensor self, int chunks, int dim=0) -> Tensor[]")
def _chunk(xp: Any, self: Array, chunks: int, dim: int = 0) -> list[Array]:
    if self.ndim == 0:
        raise RuntimeError("chunk expects at least a 1-dimensional tensor")
    if chunks <= 0:
        raise RuntimeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    n = self.shape[common.wrap_dim(dim, self.ndim)]
    if n:
        return split_by_size(self, size_guards.ceil_div(n, chunks), dim)
    _check_memory(chunks)
    return split_sizes(self, [0] * chunks, dim)


@op(
    "aten::tensor_split.sections(Tensor(a -> *) self, SymInt sections, int dim=0) -> Tensor(a)[]",
    composes_views=True,
)
def _tensor_split(xp: Any, self: Array, sections: int, dim: int = 0) -> list[Array]:
    if self.ndim == 0:
        raise RuntimeError(
            "tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims"
        )
    if sections <= 0:
        raise RuntimeError(f"number of sections must be larger than 0, got {sections}")
    n = self.shape[common.wrap_dim(dim, self.ndim)]
    if sections > n:
        _check_memory(sections)
    return split_sizes(self, [n // sections + (i < n % sections) for i in range(sections)], dim)


@op(
    "aten::tensor_split.indices(Tensor(a -> *) self, SymInt[] indices, int dim=0) -> Tensor(a)[]",
    composes_views=True,
)
def _tensor_split_indices(xp: Any, self: Array, indices: Sequence[int], dim: int = 0) -> list[Array]:
    if self.ndim == 0:
        raise RuntimeError(
            "tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims"
        )
    axis = common.wrap_dim(dim, self.ndim)
    bounds = [0, *indices, self.shape[axis]]
    front = (slice(None),) * axis
    return (
        [self[(*front, slice(a, b))] for a, b in zip([0, *indices], [*indices, None], strict=True)]
        if bounds
        else []
    )


def _parts_shape(self: Array, indices: Array, dim: int = 0) -> list[ShapeDtypeStrides]:
    """Return the shapes of the sections between split points `indices`. Section lengths are new symbols."""
    if indices.ndim != 1:
        raise RuntimeError(NO_ITEM)
    axis = common.wrap_dim(dim, self.ndim)
    before, n, after = self.shape[:axis], self.shape[axis], self.shape[axis + 1 :]
    return [
        ((*before, new_size(max_size=n), *after), self.dtype, self.strides)
        for _ in range(int(indices.shape[0]) + 1)
    ]


@op(
    "aten::tensor_split.tensor_indices_or_sections(Tensor(a -> *) self, Tensor "
    "tensor_indices_or_sections, int dim=0) -> Tensor(a)[]",
    shape=ITEM.unless(_parts_shape),
    composes_views=True,
)
def _tensor_split_tensor(
    xp: Any, self: Array, tensor_indices_or_sections: Array, dim: int = 0
) -> list[Array]:
    split_points = tensor_indices_or_sections
    if split_points.dtype != common.INT64:
        raise RuntimeError(
            "tensor_split expected tensor_indices_or_sections to have dtype of long, but got "
            f"{common.NAME_OF[split_points.dtype]}"
        )
    if split_points.ndim > 1:
        raise RuntimeError(
            "tensor_split expected tensor_indices_or_sections to be a zero-dimensional or one-dimensional "
            f"tensor, but got a tensor with {split_points.ndim} dims"
        )
    if tensor_indices_or_sections.ndim == 0:
        return _tensor_split(xp, self, int(tensor_indices_or_sections), dim)
    return _tensor_split_indices(xp, self, [int(i) for i in tensor_indices_or_sections], dim)


def _split_along(name: str, self: Array, axis: int, by: Any) -> list[Array]:
    if isinstance(by, int):
        if by <= 0 or size_guards.evaluate_guard(self.shape[axis] % by != 0):
            raise RuntimeError(
                f"torch.{name} attempted to split along dimension {axis}, but the size of the dimension "
                f"{self.shape[axis]} is not divisible by the split_size {by}!"
            )
        return split_sizes(self, [self.shape[axis] // by] * by, axis)
    return _tensor_split_indices(None, self, by, axis)


@op("aten::hsplit.int(Tensor(a -> *) self, int sections) -> Tensor(a)[]", composes_views=True)
@op("aten::hsplit.array(Tensor(a -> *) self, int[] indices) -> Tensor(a)[]", composes_views=True)
def _hsplit(xp: Any, self: Array, by: Any) -> list[Array]:
    if self.ndim < 1:
        raise RuntimeError(
            "torch.hsplit requires a tensor with at least 1 dimension, but got a tensor with 0 dimensions!"
        )
    return _split_along("hsplit", self, 0 if self.ndim == 1 else 1, by)


for _name, _dim in (("vsplit", 0), ("dsplit", 2)):

    @op(f"aten::{_name}.int(Tensor(a -> *) self, int sections) -> Tensor(a)[]", composes_views=True)
    @op(f"aten::{_name}.array(Tensor(a -> *) self, int[] indices) -> Tensor(a)[]", composes_views=True)
    def _split_matrix(xp: Any, self: Array, by: Any, name: str = _name, dim: int = _dim) -> list[Array]:
        min_dims = max(dim + 1, 2)
        if self.ndim < min_dims:
            raise RuntimeError(
                f"torch.{name} requires a tensor with at least {min_dims} dimension, but got a tensor with "
                f"{self.ndim} dimensions!"
            )
        return _split_along(name, self, dim, by)


@op(
    "aten::unbind.int(Tensor(a -> *) self, int dim=0) -> Tensor(a)[]", loop="unbind", sparse="view_ops.unbind"
)
def _unbind(xp: Any, self: Array, dim: int = 0) -> list[Array]:
    if self.ndim == 0:
        raise IndexError("Dimension specified as 0 but tensor has no dimensions")
    axis = common.wrap_dim(dim, self.ndim)
    return [self[(slice(None),) * axis + (i, ...)] for i in range(self.shape[axis])]
