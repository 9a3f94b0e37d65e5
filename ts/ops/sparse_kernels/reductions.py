"""Sums, norms and softmax of sparse arrays.

In sums, elements that are not stored count as 0. Softmax excludes these elements.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ts.backends.sparse import CooArray, SparseArray
from ts.ops import common
from ts.ops.sparse_kernels import elementwise


def sum_all(dense: Any, xp: Any, self: Any, dtype: int | None = None) -> Any:
    """Return the sum of all elements as a 0-d dense array."""
    return dense(xp, self.values, dtype)


def sum_dims(
    dense: Any, xp: Any, self: Any, dim: Sequence[int] | None, keepdim: bool = False, dtype: int | None = None
) -> Any:
    """Sum over dimensions. The result is dense if no sparse dimension remains."""
    target_dtype = common.dtype_from(dtype, None) if dtype is not None else None
    dims = sorted(common.wrap_dims(list(dim) if dim is not None else None, self.ndim)) or list(
        range(self.ndim)
    )
    total = sum_over(self.to_coo(), dims, target_dtype, integers_widen=True)
    if not keepdim:
        return total
    return _with_kept_dims(total, dims, self)


def _with_kept_dims(total: Any, dims: list[int], self: Any) -> Any:
    shape = tuple(1 if d in dims else n for d, n in enumerate(self.shape))
    if not isinstance(total, CooArray):
        return CooArray(np.zeros((len(shape), 1), np.int64), np.reshape(total, (1,)), shape, True) if (
            self.to_coo().dense_dim == 0
        ) else total.reshape(shape)  # fmt: skip
    sparse_dim = self.to_coo().sparse_dim
    rows = iter(total.indices)
    zeros = np.zeros(total.nnz, np.int64)
    indices = np.stack([zeros if d in dims else next(rows) for d in range(sparse_dim)])
    return CooArray(indices, total.values.reshape(total.nnz, *shape[sparse_dim:]), shape, True)


def sparse_sum(dense: Any, xp: Any, self: Any, dim: Sequence[int], dtype: int | None = None) -> Any:
    """Sum over dimensions, as `torch.sparse.sum` does. Sums of integers keep the dtype."""
    if not isinstance(self, CooArray):
        raise RuntimeError("_sparse_sum: expected a tensor of layout torch.sparse_coo")
    dims = sorted(common.wrap_dims(list(dim), self.ndim))
    if not dims:
        raise RuntimeError("_sparse_sum: dims must not be empty")
    return sum_over(self, dims, None if dtype is None else common.dtype_from(dtype), integers_widen=False)


def sparse_total(dense: Any, xp: Any, self: Any, dtype: int | None = None) -> Any:
    """Sum all elements, as `torch.sparse.sum` does. Sums of integers have dtype int64."""
    values = self.values if dtype is None else common.cast(xp, self.values, common.dtype_from(dtype))
    return np.asarray(
        values.sum(dtype=None if values.dtype.kind in "biu" else _accumulation_dtype(values.dtype))
    ).astype(np.int64 if dtype is None and values.dtype.kind in "biu" else values.dtype)


def _accumulation_dtype(dtype: Any) -> Any:
    return np.float32 if dtype.itemsize < 4 else dtype


def sum_over(self: CooArray, dims: Sequence[int], dtype: Any, *, integers_widen: bool) -> Any:
    """Sum over `dims`, which are nonnegative. If `integers_widen`, sums of integers have dtype int64."""
    if dtype is None and integers_widen and self.dtype.kind in "biu":
        dtype = np.dtype(np.int64)
    values = self.values if dtype is None else self.values.astype(dtype)
    over_sparse = [d for d in dims if d < self.sparse_dim]
    over_dense = tuple(d - self.sparse_dim + 1 for d in dims if d >= self.sparse_dim)
    if over_dense:
        values = values.sum(axis=over_dense, dtype=values.dtype)
    left = [d for d in range(self.sparse_dim) if d not in over_sparse]
    shape = tuple(n for d, n in enumerate(self.shape) if d not in dims)
    if not left:
        return np.asarray(values.sum(axis=0, dtype=values.dtype))
    return CooArray(self.indices[left], values, shape, self.coalesced and not over_sparse).coalesce()


def sum_gradient(dense: Any, xp: Any, grad: Any, self: Any, dim: Sequence[int]) -> Any:
    """Return the gradient of `sparse_sum`: `grad` at the indices of `self`."""
    pattern = self.to_coo().coalesce()
    dims = sorted(common.wrap_dims(list(dim), self.ndim))
    left = [d for d in range(pattern.sparse_dim) if d not in dims]
    kept_shape = tuple(1 if d in dims else n for d, n in enumerate(self.shape))[pattern.sparse_dim :]
    if isinstance(grad, SparseArray):
        grad_pattern = CooArray(pattern.indices[left], pattern.values, tuple(grad.shape), False)
        gradients = elementwise.lookup(grad.to_coo(), grad_pattern)
    elif left:
        gradients = grad[tuple(pattern.indices[left])]
    else:
        gradients = np.broadcast_to(grad, (pattern.nnz, *grad.shape))
    values = np.broadcast_to(gradients.reshape(pattern.nnz, *kept_shape), pattern.values.shape)
    return pattern.with_values(values.astype(pattern.dtype))


def norm(dense: Any, xp: Any, self: Any, p: Any = 2, dim: Sequence[int] | None = None, *rest: Any) -> Any:
    """Return the norm of all elements.

    Raise RuntimeError for a subset of the dimensions, `keepdim` or `dtype`.
    """
    if (
        isinstance(dim, (list, tuple))
        and dim
        and len(set(common.wrap_dims(list(dim), self.ndim))) != self.ndim
    ):
        raise RuntimeError(
            "norm_sparse currently only supports full reductions, so 'dim' must either be empty or "
            "contain all dimensions of the input"
        )
    keepdim, dtype = (*rest, False, None)[:2] if rest else (False, None)
    if keepdim:
        raise RuntimeError("norm_sparse currently does not support keepdim=True")
    if dtype is not None:
        raise RuntimeError("norm_sparse currently does not support 'dtype' argument")
    values = self.to_coo().coalesce().values.reshape(-1)
    return np.asarray(np.linalg.norm(values, 2 if p is None else p)).astype(common.real_dtype(values.dtype))


def norm_of_dtype(dense: Any, xp: Any, self: Any, p: Any, dtype: int) -> Any:
    """Raise RuntimeError, because norms of sparse arrays do not support `dtype`."""
    return norm(dense, xp, self, p, None, False, dtype)


def any_nonzero(dense: Any, xp: Any, self: Any) -> Any:
    """Return whether any element is nonzero."""
    return np.asarray((self.to_coo().coalesce().values != 0).any())


# ---------------------------------------------------------------------------------------- softmax


def softmax(dense: Any, xp: Any, self: Any, dim: int, half_to_float: bool = False) -> CooArray:
    """Return softmax over the stored elements along a dimension."""
    return _softmax(self, dim, False)


def log_softmax(dense: Any, xp: Any, self: Any, dim: int, half_to_float: bool = False) -> CooArray:
    """Return log-softmax over the stored elements along a dimension."""
    return _softmax(self, dim, True)


def softmax_of_dtype(dense: Any, xp: Any, self: Any, dim: int, dtype: int | None = None) -> CooArray:
    """Return softmax, computed in `dtype`."""
    return _softmax(_cast(xp, self, dtype), dim, False)


def log_softmax_of_dtype(dense: Any, xp: Any, self: Any, dim: int, dtype: int | None = None) -> CooArray:
    """Return log-softmax, computed in `dtype`."""
    return _softmax(_cast(xp, self, dtype), dim, True)


def _cast(xp: Any, self: Any, dtype: int | None) -> Any:
    return self if dtype is None else self.with_values(common.cast(xp, self.values, common.dtype_from(dtype)))


def _softmax(self: CooArray, dim: int, logarithms: bool) -> CooArray:
    if self.dtype.kind not in "f":
        raise RuntimeError(f"\"softmax\" not implemented for '{common.NAME_OF[self.dtype]}'")
    self = self.coalesce()
    dim = common.wrap_dim(dim, self.ndim)
    if dim >= self.sparse_dim:
        axis = dim - self.sparse_dim + 1
        shifted = self.values - self.values.max(axis=axis, keepdims=True)
        sums = np.exp(shifted).sum(axis=axis, keepdims=True)
        return self.with_values(shifted - np.log(sums) if logarithms else np.exp(shifted) / sums)
    group = _group_ids(self, dim)
    if not self.nnz:
        return self
    largest = np.full((int(group.max()) + 1, *self.values.shape[1:]), -np.inf, self.dtype)
    np.maximum.at(largest, group, self.values)
    shifted = self.values - largest[group]
    sums = np.zeros_like(largest)
    np.add.at(sums, group, np.exp(shifted))
    softmax_values = shifted - np.log(sums)[group] if logarithms else np.exp(shifted) / sums[group]
    return self.with_values(softmax_values)


def _group_ids(self: CooArray, dim: int) -> Any:
    """Return a group number for each stored element.

    Two elements are in the same group if their indices are equal in all sparse dimensions except `dim`.
    """
    rest = [d for d in range(self.sparse_dim) if d != dim]
    flat = np.zeros(self.nnz, np.int64)
    for d in rest:
        flat = flat * self.shape[d] + self.indices[d]
    return np.unique(flat, return_inverse=True)[1].reshape(-1)


def softmax_gradient(dense: Any, xp: Any, grad_output: Any, output: Any, dim: int, self: Any) -> CooArray:
    """Return the gradient of softmax."""
    grad, output, sum_over_dim = _gradient_parts(grad_output, output, dim)
    return output.with_values((grad - sum_over_dim(grad * output.values)) * output.values)


def log_softmax_gradient(dense: Any, xp: Any, grad_output: Any, output: Any, dim: int, self: Any) -> CooArray:
    """Return the gradient of log-softmax."""
    grad, output, sum_over_dim = _gradient_parts(grad_output, output, dim)
    return output.with_values(grad - sum_over_dim(grad) * np.exp(output.values))


def _gradient_parts(grad_output: Any, output: CooArray, dim: int) -> tuple[Any, CooArray, Any]:
    output = output.coalesce()
    dim = common.wrap_dim(dim, output.ndim)
    if isinstance(grad_output, SparseArray):
        grad = elementwise.lookup(grad_output.to_coo(), output)
    else:
        grad = grad_output[tuple(output.indices)]

    def sum_over_dim(values: Any) -> Any:
        if dim >= output.sparse_dim:
            return values.sum(axis=dim - output.sparse_dim + 1, keepdims=True)
        group = _group_ids(output, dim)
        sums = np.zeros((int(group.max(initial=-1)) + 1, *values.shape[1:]), values.dtype)
        np.add.at(sums, group, values)
        return sums[group]

    return grad, output, sum_over_dim
