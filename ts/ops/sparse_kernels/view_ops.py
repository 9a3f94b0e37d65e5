"""Shape kernels of sparse arrays: transpose, select, concatenate, resize."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ts import dtypes
from ts.backends.sparse import CompressedArray, CooArray, SparseArray
from ts.ops import common
from ts.ops.sparse_kernels import not_available
from ts.ops.sparse_kernels.conversions import check_dimensions


def transpose(dense: Any, xp: Any, self: Any, dim0: int, dim1: int) -> Any:
    """Exchange two dimensions."""
    first, second = common.wrap_dim(dim0, self.ndim), common.wrap_dim(dim1, self.ndim)
    if isinstance(self, CompressedArray):
        if first == second:
            return self
        layout = dtypes.sparse_csc if self.by_rows else dtypes.sparse_csr
        return CompressedArray(self.pointers, self.plain, self.values, self.shape[::-1], layout)
    if (first >= self.sparse_dim or second >= self.sparse_dim) and first != second:
        raise RuntimeError(
            f"sparse transpose: transposed dimensions must be sparse Got sparse_dim: {self.sparse_dim}, "
            f"d0: {first}, d1: {second}"
        )
    order = list(range(self.ndim))
    order[first], order[second] = order[second], order[first]
    return _permute_coo(self, order)


def _permute_coo(self: CooArray, order: Sequence[int]) -> CooArray:
    sparse = [d for d in order if d < self.sparse_dim]
    blocks = [d - self.sparse_dim + 1 for d in order if d >= self.sparse_dim]
    values = self.values.transpose(0, *blocks) if blocks else self.values
    shape = tuple(self.shape[d] for d in order)
    unchanged = sparse == sorted(sparse)
    return CooArray(self.indices[sparse], values, shape, self.coalesced and (unchanged or self.nnz < 2))


def t(dense: Any, xp: Any, self: Any) -> Any:
    """Return the transpose of a matrix. A vector is returned unchanged."""
    if self.ndim > 2 or (isinstance(self, CooArray) and self.dense_dim):
        sparse_dim = self.sparse_dim if isinstance(self, CooArray) else 2
        raise RuntimeError(
            f"t() expects a tensor with <= 2 sparse and 0 dense dimensions, but got {sparse_dim} sparse and "
            f"{self.ndim - sparse_dim} dense dimensions"
        )
    return transpose(dense, xp, self, 0, 1) if self.ndim == 2 else self


def transpose_last(dense: Any, xp: Any, self: Any) -> Any:
    """Exchange the last two dimensions."""
    return transpose(dense, xp, self, -2, -1)


def adjoint(dense: Any, xp: Any, self: Any) -> Any:
    """Return the conjugate transpose."""
    transposed = transpose(dense, xp, self, -2, -1)
    return transposed.with_values(np.conj(transposed.values)) if transposed.dtype.kind == "c" else transposed


def reverse(dense: Any, xp: Any, self: Any) -> Any:
    """Reverse the order of all dimensions."""
    return permute(dense, xp, self, list(range(self.ndim))[::-1])


def permute(dense: Any, xp: Any, self: Any, dims: Sequence[int]) -> Any:
    """Permute the dimensions. Sparse dimensions must stay before the dense dimensions."""
    if len(dims) != self.ndim:
        raise RuntimeError(
            "permute(sparse_coo): number of dimensions in the tensor input does not match the length of "
            "the desired "
            f"ordering of dimensions i.e. input.dim() = {self.ndim} is not equal to len(dims) = {len(dims)}"
        )
    order = [common.wrap_dim(d, self.ndim) for d in dims]
    if len(set(order)) != len(order):
        raise RuntimeError("permute(): duplicate dims are not allowed.")
    if order == list(range(self.ndim)):
        return self
    if isinstance(self, CompressedArray):
        return transpose(dense, xp, self, 0, 1)
    if any(d >= self.sparse_dim for d in order[: self.sparse_dim]):
        raise RuntimeError(
            "permute(sparse_coo): transpositions between sparse and dense dimensions are not allowed.Got "
            f"sparse_dim: {self.sparse_dim}, dims: {order}"
        )
    return _permute_coo(self, order)


def unsqueeze(dense: Any, xp: Any, self: Any, dim: int) -> CooArray:
    """Insert a dimension of length 1."""
    self = self.to_coo()
    axis = common.wrap_dim(dim, self.ndim + 1)
    shape = (*self.shape[:axis], 1, *self.shape[axis:])
    if axis <= self.sparse_dim:
        indices = np.insert(self.indices, axis, 0, axis=0)
        return CooArray(indices, self.values, shape, self.coalesced)
    values = np.expand_dims(self.values, axis - self.sparse_dim + 1)
    return CooArray(self.indices, values, shape, self.coalesced)


def select(dense: Any, xp: Any, self: Any, dim: int, index: int) -> Any:
    """Return the slice at an index of a dimension. The slice is dense if no sparse dimension remains."""
    if self.ndim == 0:
        raise IndexError("select() cannot be applied to a 0-dim tensor.")
    self = self.to_coo()
    d = common.wrap_dim(dim, self.ndim)
    size = self.shape[d]
    if not -size <= index < size:
        raise IndexError(
            f"select(): index {index} out of range for tensor of size {list(self.shape)} at dimension {dim}"
        )
    index = index + size if index < 0 else index
    shape = (*self.shape[:d], *self.shape[d + 1 :])
    if d >= self.sparse_dim:
        values = np.take(self.values, index, axis=d - self.sparse_dim + 1)
        return CooArray(self.indices, values, shape, self.coalesced)
    stored = np.flatnonzero(self.indices[d] == index)
    values = self.values[stored]
    if self.sparse_dim == 1:
        return values.sum(axis=0, dtype=values.dtype)
    indices = np.delete(self.indices[:, stored], d, axis=0)
    return CooArray(indices, values, shape, self.coalesced or (d == 0 and len(stored) < 2))


def unbind(dense: Any, xp: Any, self: Any, dim: int = 0) -> list[Any]:
    """Return the slices along a dimension."""
    d = common.wrap_dim(dim, self.ndim)
    return [select(dense, xp, self, d, i) for i in range(self.shape[d])]


def index_select(dense: Any, xp: Any, self: Any, dim: int, index: Any) -> CooArray:
    """Return the slices at several indices of a dimension."""
    if self.ndim == 0:
        raise IndexError("index_select() cannot be applied to a 0-dim tensor.")
    if index.ndim != 1 or index.dtype not in (np.int32, np.int64):
        raise RuntimeError(
            "index_select() argument index must be 1-D long-tensor."
            if index.ndim != 1
            else "index_select(): Expected dtype int32 or int64 for index"
        )
    self = self.to_coo()
    d = common.wrap_dim(dim, self.ndim)
    size = self.shape[d]
    index = index.astype(np.int64, copy=False)
    wrong = (index < -size) | (index >= size)
    if wrong.any():
        position = int(np.flatnonzero(wrong)[0])
        raise IndexError(
            f"index_select(): index contains {int(index[position])} that is out of range for tensor of size "
            f"{list(self.shape)} at dimension {d}"
        )
    index = np.where(index < 0, index + size, index)
    shape = (*self.shape[:d], len(index), *self.shape[d + 1 :])
    if d >= self.sparse_dim:
        values = np.take(self.values, index, axis=d - self.sparse_dim + 1)
        return CooArray(self.indices, values, shape, self.coalesced)
    order = np.argsort(self.indices[d], kind="stable")
    sorted_rows = self.indices[d][order]
    starts = np.searchsorted(sorted_rows, index, side="left")
    counts = np.searchsorted(sorted_rows, index, side="right") - starts
    target = np.repeat(np.arange(len(index), dtype=np.int64), counts)
    before = np.cumsum(counts) - counts
    source = order[np.arange(len(target)) - before[target] + starts[target]]
    indices = self.indices[:, source]
    indices[d] = target
    return CooArray(indices, self.values[source], shape, False)


def slice_whole(
    dense: Any,
    xp: Any,
    self: Any,
    dim: int = 0,
    start: int | None = None,
    end: int | None = None,
    step: int = 1,
) -> Any:
    """Return the array itself for the slice `:`. Raise NotImplementedError for other slices."""
    size = self.shape[common.wrap_dim(dim, self.ndim)]
    if (start is None or start == 0 or start <= -size) and (end is None or end >= size) and step == 1:
        return self
    raise not_available("aten::as_strided", self.dispatch_key)


def narrow_copy(dense: Any, xp: Any, self: Any, dim: int, start: int, length: int) -> CooArray:
    """Return a range of a dimension as a copy."""
    self = self.to_coo()
    d = common.wrap_dim(dim, self.ndim)
    if start < 0:
        start += self.shape[d]
    if length < 0:
        raise RuntimeError("narrow(): length must be non-negative.")
    if start + length > self.shape[d]:
        raise RuntimeError(
            f"Invalid range to narrow. range(start, start+length) must be a subset of range(0, "
            f"{self.shape[d]})."
        )
    shape = (*self.shape[:d], length, *self.shape[d + 1 :])
    if d >= self.sparse_dim:
        key = [slice(None)] * self.values.ndim
        key[d - self.sparse_dim + 1] = slice(start, start + length)
        return CooArray(self.indices, self.values[tuple(key)], shape, self.coalesced)
    in_range = (self.indices[d] >= start) & (self.indices[d] < start + length)
    indices = self.indices[:, in_range]
    indices[d] -= start
    return CooArray(indices, self.values[in_range], shape, self.coalesced)


def cat(dense: Any, xp: Any, tensors: Sequence[Any], dim: int = 0) -> CooArray:
    """Concatenate sparse arrays along a dimension."""
    if not all(isinstance(x, SparseArray) for x in tensors):
        position = next(i for i, x in enumerate(tensors) if not isinstance(x, SparseArray))
        raise RuntimeError(
            f"Concatenating sparse tensors, but a dense tensor was found at position {position}."
        )
    arrays = [x.to_coo() for x in tensors]
    first = arrays[0]
    d = common.wrap_dim(dim, first.ndim)
    dtype = common.result_type(*[x.values for x in arrays])
    for i, x in enumerate(arrays):
        if x.ndim != first.ndim or any(
            a != b for k, (a, b) in enumerate(zip(first.shape, x.shape, strict=True)) if k != d
        ):
            raise RuntimeError(
                f"All tensors must have the same shape: {list(first.shape)} (except in the concatenating "
                f"dimension), but found shape: {list(x.shape)} at position {i}."
            )
        if x.sparse_dim != first.sparse_dim:
            raise RuntimeError(
                f"All tensors must have the same sparse_dim and dense_dim: {first.sparse_dim}, "
                f"{first.dense_dim}, but tensor at position {i} has {x.sparse_dim}, {x.dense_dim}."
            )
    shape = list(first.shape)
    shape[d] = sum(x.shape[d] for x in arrays)
    indices, values, start = [], [], 0
    for x in arrays:
        shifted, block = x.indices, x.values.astype(dtype, copy=False)
        if d < x.sparse_dim:
            shifted = shifted.copy()
            shifted[d] += start
        else:
            padded_block = np.zeros((x.nnz, *shape[x.sparse_dim :]), dtype)
            key = [slice(None)] * padded_block.ndim
            key[d - x.sparse_dim + 1] = slice(start, start + x.shape[d])
            padded_block[tuple(key)] = block
            block = padded_block
        indices.append(shifted)
        values.append(block)
        start += x.shape[d]
    return CooArray(np.concatenate(indices, axis=1), np.concatenate(values), shape, False)


def stack(dense: Any, xp: Any, tensors: Sequence[Any], dim: int = 0) -> CooArray:
    """Stack sparse arrays along a new dimension."""
    shapes = [list(x.shape) for x in tensors]
    for i, shape in enumerate(shapes):
        if shape != shapes[0]:
            raise RuntimeError(
                f"stack expects each tensor to be equal size, but got {shapes[0]} at entry 0 and {shape} "
                f"at entry {i}"
            )
    d = common.wrap_dim(dim, tensors[0].ndim + 1)
    return cat(dense, xp, [unsqueeze(dense, xp, x, d) for x in tensors], d)


def raise_reshape_unsupported(dense: Any, xp: Any, self: Any, *args: Any) -> Any:
    """Raise RuntimeError: sparse arrays cannot be reshaped."""
    raise RuntimeError("reshape is not implemented for sparse tensors")


def raise_expand_unsupported(dense: Any, xp: Any, self: Any, *args: Any) -> Any:
    """Raise RuntimeError: sparse arrays cannot be expanded."""
    raise RuntimeError("expand is unsupported for Sparse tensors")


def raise_contiguous_unsupported(dense: Any, xp: Any, self: Any, *args: Any) -> Any:
    """Raise RuntimeError: sparse arrays cannot be contiguous."""
    raise RuntimeError("unsupported memory format option Contiguous")


def sparse_resize(
    dense: Any, xp: Any, self: Any, size: Sequence[int], sparse_dim: int, dense_dim: int
) -> CooArray:
    """Resize an array. Raise RuntimeError if the array stores elements and a size would decrease."""
    check_dimensions(size, sparse_dim, dense_dim)
    if not self.nnz:
        return CooArray.empty(tuple(size), self.dtype, sparse_dim)
    if (sparse_dim, dense_dim) != (self.sparse_dim, self.dense_dim):
        kind, old_count, new_count = (
            ("sparse", self.sparse_dim, sparse_dim)
            if sparse_dim != self.sparse_dim
            else ("dense", self.dense_dim, dense_dim)
        )
        raise RuntimeError(
            f"changing the number of {kind} dimensions (from {old_count} to {new_count}) on a non-empty "
            "sparse tensor is not supported."
        )
    if any(new < old for new, old in zip(size[:sparse_dim], self.shape, strict=False)):
        raise RuntimeError(
            "shrinking the size of sparse dimensions on a non-empty sparse tensor is not supported."
        )
    if any(new < old for new, old in zip(size[sparse_dim:], self.shape[sparse_dim:], strict=True)):
        raise RuntimeError(
            "shrinking the size of dense dimensions on a non-empty sparse tensor is not supported."
        )
    values = np.zeros((self.nnz, *size[sparse_dim:]), self.dtype)
    values[tuple(slice(n) for n in self.values.shape)] = self.values
    return CooArray(self.indices, values, size, self.coalesced)


def sparse_resize_and_clear(
    dense: Any, xp: Any, self: Any, size: Sequence[int], sparse_dim: int, dense_dim: int
) -> CooArray:
    """Return an array of another shape without stored elements."""
    check_dimensions(size, sparse_dim, dense_dim)
    return CooArray.empty(tuple(size), self.dtype, sparse_dim)


def resize_as_sparse(dense: Any, xp: Any, self: Any, template: Any, *rest: Any) -> Any:
    """Return `self` resized to the shape and the numbers of sparse and dense dimensions of `template`."""
    template = template.to_coo()
    if self.shape == template.shape and self.sparse_dim == template.sparse_dim:
        return self
    return sparse_resize(dense, xp, self, template.shape, template.sparse_dim, template.dense_dim)
