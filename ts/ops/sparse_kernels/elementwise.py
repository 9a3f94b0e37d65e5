"""Elementwise kernels of sparse arrays for functions with f(0) = 0, sums and products.

A function is applied to coalesced values, because sin(a + b) is not sin(a) + sin(b). A sum of two sparse
arrays stores the union of their indices, and a product the intersection. The sum of a sparse and a dense
array is dense. Their product stores the indices of the sparse array.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ts.backends.sparse import CompressedArray, CooArray, SparseArray
from ts.backends.sparse.array import add_to_dense, sum_groups
from ts.ops import common

_ADD_TO_SPARSE = "add(sparse, dense) is not supported. Use add(dense, sparse) instead."
_INTERSECTION = (
    "sparse_binary_op_intersection_cpu(): expects sparse inputs with equal dimensionality, number of sparse "
    "dimensions, and shape of sparse dimensions"
)


def on_values(dense: Any, xp: Any, self: Any, *args: Any) -> Any:
    """Apply a function that maps 0 to 0 to each element, after coalescing."""
    self = self.coalesce() if isinstance(self, CooArray) else self
    return self.with_values(dense(xp, self.values, *args))


def on_stored_values(dense: Any, xp: Any, self: Any, *args: Any) -> Any:
    """Apply a linear function to each stored value, without coalescing."""
    return self.with_values(dense(xp, self.values, *args))


def on_gradient(dense: Any, xp: Any, grad: Any, self: Any, *args: Any) -> Any:
    """Return the gradient of a function f with f(0) = 0.

    The gradient has the indices of `self`, the input of f.
    """
    if not (isinstance(grad, CooArray) and isinstance(self, CooArray)):
        raise RuntimeError("expected a sparse gradient and a sparse input of the same layout")
    self = self.coalesce()
    grad = lookup(grad, self)
    return self.with_values(dense(xp, grad, self.values, *args))


def lookup(x: CooArray, pattern: CooArray) -> Any:
    """Return the values of `x` at the indices of `pattern`.

    The value is 0 at indices that `x` does not store.
    """
    x = x.coalesce()
    values = np.zeros((pattern.nnz, *x.values.shape[1:]), x.dtype)
    if x.nnz and pattern.nnz:
        have, want = x.flat_indices(), pattern.flat_indices()
        position = np.minimum(np.searchsorted(have, want), x.nnz - 1)
        is_stored = have[position] == want
        values[is_stored] = x.values[position[is_stored]]
    return values


def _is_number(x: Any) -> bool:
    return not isinstance(x, SparseArray) and common.shape_of(x) == ()


# ---------------------------------------------------------------------------------------- products


def multiply(dense: Any, xp: Any, self: Any, other: Any) -> Any:
    """Multiply a sparse array by a number, a dense array or a sparse array."""
    if (not isinstance(other, SparseArray) and not _is_number(other)) or (
        not isinstance(self, SparseArray) and not _is_number(self)
    ):
        common.broadcast_shapes(self.shape, other.shape)
    if not isinstance(self, SparseArray):
        self, other = other, self
    if _is_number(other):
        return self.with_values(dense(xp, self.values, other))
    if isinstance(self, CompressedArray):
        product = multiply(
            dense, xp, self.to_coo(), other.to_coo() if isinstance(other, SparseArray) else other
        )
        return CompressedArray.from_coo(product, self.layout)
    if isinstance(other, SparseArray):
        return _intersection(dense, xp, self, other.to_coo())
    shape = common.broadcast_shapes(self.shape, other.shape)
    if tuple(shape) != self.shape:
        self = broadcast(self, tuple(shape))
    expanded = np.broadcast_to(other, self.shape)
    return self.with_values(
        dense(xp, self.values, expanded[tuple(self.indices)] if self.sparse_dim else expanded[None])
    )


def _intersection(dense: Any, xp: Any, self: CooArray, other: CooArray) -> CooArray:
    is_broadcastable = all(a == b or 1 in (a, b) for a, b in zip(self.shape, other.shape, strict=False))
    if (
        self.shape != other.shape
        and is_broadcastable
        and self.ndim == other.ndim
        and self.dense_dim == other.dense_dim == 0
    ):
        shape = tuple(common.broadcast_shapes(self.shape, other.shape))
        self, other = broadcast(self, shape), broadcast(other, shape)
    if self.ndim != other.ndim or self.sparse_dim != other.sparse_dim or self.shape != other.shape:
        raise RuntimeError(_INTERSECTION)
    other = other.coalesce()
    have, want = other.flat_indices(), self.flat_indices()
    if not other.nnz or not self.nnz:
        empty_values = dense(xp, self.values[:0], other.values[:0])
        return CooArray(self.indices[:, :0], empty_values, self.shape, True)
    position = np.minimum(np.searchsorted(have, want), other.nnz - 1)
    is_stored = have[position] == want
    values = dense(xp, self.values[is_stored], other.values[position[is_stored]])
    return CooArray(self.indices[:, is_stored], values, self.shape, self.coalesced)


def broadcast(x: CooArray, shape: tuple[int, ...]) -> CooArray:
    """Expand a COO array to `shape`. Its elements are copied."""
    if x.shape == shape:
        return x
    lead = len(shape) - x.ndim
    if lead < 0 or x.dense_dim:
        raise RuntimeError("expand is unsupported for Sparse tensors")
    indices, values = x.indices, x.values
    indices = np.concatenate((np.zeros((lead, x.nnz), np.int64), indices))
    sizes = (1,) * lead + x.shape
    for d, (have, want) in enumerate(zip(sizes, shape, strict=True)):
        if have == want:
            continue
        if have != 1:
            raise RuntimeError(
                f"The size of tensor a ({have}) must match the size of tensor b ({want}) at non-singleton "
                f"dimension {d}"
            )
        count = indices.shape[1]
        # `np.repeat` does not check whether the size of its result overflows
        common.check_storage((len(indices), count * want), indices.dtype)
        indices = np.repeat(indices, want, axis=1)
        indices[d] = np.tile(np.arange(want, dtype=np.int64), count)
        values = np.repeat(values, want, axis=0)
    return CooArray(indices, values, shape, False).coalesce()


def divide(dense: Any, xp: Any, self: Any, other: Any, *mode: Any) -> Any:
    """Divide a sparse array by a number."""
    if not isinstance(self, SparseArray) or not _is_number(other):
        raise RuntimeError(
            "Sparse division requires a scalar or zero-dim dense tensor divisor (got shape "
            f"{list(common.shape_of(other))} for divisor)"
        )
    if mode and mode[0] is not None:
        return on_values(dense, xp, self, other, *mode)
    return self.with_values(dense(xp, self.values, other, *mode))


def floor_divide(dense: Any, xp: Any, self: Any, other: Any) -> Any:
    """Divide a sparse array by a number and round down."""
    divide(lambda xp, values, other: values, xp, self, other)
    return on_values(dense, xp, self, other)


def power(dense: Any, xp: Any, self: Any, exponent: Any) -> Any:
    """Raise each element to a power."""
    if not isinstance(self, SparseArray) or not _is_number(exponent):
        raise RuntimeError("pow: expected a number as exponent of a sparse tensor")
    if exponent == 0:
        raise RuntimeError(
            "pow: cannot raise to zeroth power on sparse tensor; it would make the result tensor dense"
        )
    return on_values(dense, xp, self, exponent)


# ---------------------------------------------------------------------------------------- sums


def add(dense: Any, xp: Any, self: Any, other: Any, alpha: Any = 1) -> Any:
    """Return self + alpha * other."""
    return _sum(dense, xp, self, other, alpha)


def subtract(dense: Any, xp: Any, self: Any, other: Any, alpha: Any = 1) -> Any:
    """Return self - alpha * other."""
    return _sum(dense, xp, self, other, alpha)


def reverse_subtract(dense: Any, xp: Any, self: Any, other: Any, alpha: Any = 1) -> Any:
    """Return other - alpha * self."""
    if isinstance(other, SparseArray) or common.shape_of(other):
        return _sum(lambda xp, x, y, alpha: dense(xp, y, x, alpha), xp, other, self, alpha)
    raise RuntimeError(_ADD_TO_SPARSE)


def _sum(dense: Any, xp: Any, self: Any, other: Any, alpha: Any) -> Any:
    if not isinstance(other, SparseArray):
        raise RuntimeError(_ADD_TO_SPARSE)
    if not isinstance(self, SparseArray):
        return _sum_with_dense(dense, xp, self, other.to_coo(), alpha)
    if self.shape != other.shape:
        raise RuntimeError(
            f"add: expected sizes of 'self' and 'other' to match, but {list(self.shape)} != "
            f"{list(other.shape)}"
        )
    if isinstance(self, CompressedArray):
        return CompressedArray.from_coo(_sum(dense, xp, self.to_coo(), other.to_coo(), alpha), self.layout)
    other = other.to_coo()
    if self.sparse_dim != other.sparse_dim:
        raise RuntimeError(
            "add: expected 'self' and 'other' to have same number of sparse dimensions, but got "
            f"{self.sparse_dim} and {other.sparse_dim}"
        )
    self_values = dense(xp, self.values, np.zeros((1,) * self.values.ndim, other.dtype), 1)
    other_values = dense(xp, np.zeros((1,) * other.values.ndim, self.dtype), other.values, alpha)
    indices = np.concatenate((self.indices, other.indices), axis=1)
    values = np.concatenate((self_values, other_values))
    joined = CooArray(indices, values, self.shape, False)
    if not self.nnz or not other.nnz:
        joined.coalesced = self.coalesced and other.coalesced
        return joined
    self_flat, other_flat = self.flat_indices(), other.flat_indices()
    if not (_is_sorted(self_flat) and _is_sorted(other_flat)):
        return joined
    return _merge_sorted(joined, self_flat, other_flat, self.coalesced and other.coalesced)


def _is_sorted(flat: Any) -> bool:
    return bool((flat[1:] >= flat[:-1]).all())


def _merge_sorted(joined: CooArray, first_flat: Any, second_flat: Any, coalesced: bool) -> CooArray:
    """Add two COO arrays with sorted indices.

    `joined` contains the elements of the first array, then those of the second. `first_flat` and
    `second_flat` are the linear indices of the two arrays. If an index is repeated, the k-th elements of both
    arrays are added.
    """
    flat = np.concatenate((first_flat, second_flat))
    occurrence = np.concatenate((_occurrence_numbers(first_flat), _occurrence_numbers(second_flat)))
    order = np.lexsort((occurrence, flat))
    flat, occurrence = flat[order], occurrence[order]
    first = np.concatenate(([True], (flat[1:] != flat[:-1]) | (occurrence[1:] != occurrence[:-1])))
    values = sum_groups(joined.values[order], np.flatnonzero(first))
    return CooArray(joined.indices[:, order[first]], values, joined.shape, coalesced)


def _occurrence_numbers(flat: Any) -> Any:
    """Count the preceding equal elements of each element: `[3, 3, 5, 5, 5] -> [0, 1, 0, 1, 2]`."""
    first = np.concatenate(([True], flat[1:] != flat[:-1]))
    positions = np.arange(len(flat))
    return positions - np.maximum.accumulate(np.where(first, positions, 0))


def _sum_with_dense(dense: Any, xp: Any, self: Any, other: CooArray, alpha: Any) -> Any:
    shape = common.shape_of(self)
    if tuple(shape) != other.shape:
        raise RuntimeError(
            f"add: expected 'self' and 'other' to have same size, but self has size {list(shape)} while "
            "other has "
            f"size {list(other.shape)} (FYI: dense-sparse addition does not currently support broadcasting)"
        )
    dtype = common.result_type(self, other.values)
    total = np.array(self, dtype=dtype, copy=True, order="K")
    zeros = np.zeros((1,) * other.values.ndim, dtype)
    add_to_dense(total, other.with_values(dense(xp, zeros, other.values, alpha)), None)
    return total
