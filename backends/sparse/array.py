"""Sparse arrays in coordinate format (COO), and in compressed row or column format (CSR, CSC).

The classes and their attributes are:

    CooArray          indices (sparse_dim, nnz) int64, values (nnz, *dense sizes)
    CompressedArray   pointers (rows + 1), plain indices (nnz), values (nnz)

In a CooArray, `values[k]` is added to element `indices[:, k]`. If the attribute `coalesced` is True, the
indices are sorted and distinct. Both classes also have the attributes `shape`, `dtype` and `ndim`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from ts import dtypes

Array = NDArray[Any]
Shape = tuple[int, ...]
MAX_ELEMENTS: Final = (1 << 63) - 1

NO_NBYTES = (
    "nbytes is not defined for sparse tensors.  If you want the size of the constituent tensors, add the "
    "nbytes of the indices and values.  If you want the size of the  equivalent dense tensor, multiply "
    "numel() by element_size()"
)


class _Flags:
    """Flags of a sparse array, with the attributes of `numpy.ndarray.flags`.

    The flags for contiguity are False.
    """

    c_contiguous = f_contiguous = owndata = False
    writeable = True


class SparseArray:
    """Base class of sparse arrays, with the array attributes that tensors read."""

    shape: Shape
    values: Array
    layout: dtypes.layout
    layout_name: ClassVar[str]  # name of the layout in error messages, such as "Sparse"
    dispatch_key: ClassVar[str]
    flags = _Flags
    base = None  # as in `numpy.ndarray.base`: None, because the array is not a view

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.values.dtype

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def itemsize(self) -> int:
        return self.values.dtype.itemsize

    @property
    def nbytes(self) -> int:
        raise RuntimeError(NO_NBYTES)

    @property
    def strides(self) -> Shape:
        return (0,) * self.ndim

    @property
    def nnz(self) -> int:
        """Number of stored elements."""
        return int(self.values.shape[0])

    def __len__(self) -> int:
        return self.shape[0]

    def __array__(self, *args: Any, **kwargs: Any) -> Array:
        raise TypeError(
            f"can't convert {self.layout_name} layout tensor to numpy. Use Tensor.to_dense() first."
        )

    def __getitem__(self, index: Any) -> SparseArray:
        """Return a shallow copy if `index` is an ellipsis (`...`), or raise TypeError for any other index."""
        if index is not Ellipsis:
            raise TypeError(f"indexing of a sparse array is only supported by operators, got index {index!r}")
        copy: SparseArray = self.with_values(self.values)
        return copy

    def with_values(self, values: Array) -> Any:
        """Return an array with the sparsity pattern of this array and the given values."""
        raise NotImplementedError

    def to_coo(self) -> CooArray:
        """Return the array converted to COO layout, or the array itself if it has this layout."""
        raise NotImplementedError

    def to_dense(self) -> Array:
        """Return the elements as a dense NumPy array."""
        return self.to_coo().to_dense()


class CooArray(SparseArray):
    """Sparse array in coordinate format (COO)."""

    layout = dtypes.sparse_coo
    layout_name = "Sparse"
    dispatch_key = "SparseCPU"

    def __init__(self, indices: Array, values: Array, shape: Sequence[int], coalesced: bool = False) -> None:
        self.indices = indices
        self.values = values
        self.shape: Shape = checked_shape(shape)
        self.coalesced = coalesced

    def __repr__(self) -> str:
        return f"CooArray({self.shape}, {self.dtype}, nnz={self.nnz})"

    @classmethod
    def empty(cls, shape: Shape, dtype: Any, sparse_dim: int | None = None) -> CooArray:
        """Return a COO array of shape `shape` without stored elements."""
        sparse_dim = len(shape) if sparse_dim is None else sparse_dim
        values = np.empty((0, *shape[sparse_dim:]), dtype)
        return cls(np.empty((sparse_dim, 0), np.int64), values, shape, True)

    @classmethod
    def from_dense(cls, dense: Array, sparse_dim: int | None = None) -> CooArray:
        """Return a COO array of the nonzero elements of `dense`.

        The first `sparse_dim` dimensions of the result are sparse (default: all). Each value is a block of
        the remaining dimensions.
        """
        sparse_dim = dense.ndim if sparse_dim is None else sparse_dim
        nonzero = dense != 0
        if sparse_dim < dense.ndim:
            nonzero = nonzero.any(axis=tuple(range(sparse_dim, dense.ndim)))
        if sparse_dim == 0:
            count = int(bool(nonzero)) if dense.ndim == 0 else 1
            return cls(np.empty((0, count), np.int64), dense[None][:count].copy(), dense.shape, True)
        at = np.nonzero(nonzero)
        return cls(np.stack(at).astype(np.int64, copy=False), dense[at], dense.shape, True)

    @property
    def sparse_dim(self) -> int:
        return int(self.indices.shape[0])

    @property
    def dense_dim(self) -> int:
        return self.values.ndim - 1

    def with_values(self, values: Array) -> CooArray:
        return CooArray(self.indices, values, self.shape, self.coalesced)

    def to_coo(self) -> CooArray:
        return self

    def flat_indices(self) -> Array:
        """Return the row-major linear index of each stored element."""
        return flatten_indices(self.indices, self.shape[: self.sparse_dim])

    def coalesce(self) -> CooArray:
        """Return the array with sorted, distinct indices. Values with equal indices are summed."""
        if self.coalesced:
            return self
        if self.nnz < 2:
            return CooArray(self.indices, self.values, self.shape, True)
        flat = self.flat_indices()
        order = np.argsort(flat, kind="stable")
        ordered = flat[order]
        first = np.concatenate(([True], ordered[1:] != ordered[:-1]))
        values = self.values[order]
        if not first.all():
            values = sum_groups(values, np.flatnonzero(first))
        return CooArray(self.indices[:, order[first]], values, self.shape, True)

    def to_dense(self) -> Array:
        dense = np.zeros(self.shape, self.dtype)
        add_to_dense(dense, self, None)
        return dense


class CompressedArray(SparseArray):
    """Sparse matrix in compressed sparse row (CSR) or compressed sparse column (CSC) format."""

    layout_name = "SparseCsr"
    dispatch_key = "SparseCsrCPU"

    def __init__(
        self, pointers: Array, plain: Array, values: Array, shape: Sequence[int], layout: dtypes.layout
    ) -> None:
        self.pointers = pointers
        self.plain = plain
        self.values = values
        self.shape = checked_shape(shape)
        self.layout = layout

    def __repr__(self) -> str:
        return f"CompressedArray({self.shape}, {self.dtype}, nnz={self.nnz}, {self.layout})"

    @property
    def by_rows(self) -> bool:
        """True if the rows are compressed (CSR), False if the columns are compressed (CSC)."""
        return self.layout is dtypes.sparse_csr

    @classmethod
    def from_coo(cls, coo: CooArray, layout: dtypes.layout) -> CompressedArray:
        """Convert a COO matrix to CSR or CSC."""
        coo = coo.coalesce()
        indices, values = coo.indices, coo.values
        if layout is dtypes.sparse_csc:
            order = np.argsort(indices[1], kind="stable")
            indices, values = indices[::-1, order], values[order]
        groups = coo.shape[0] if layout is dtypes.sparse_csr else coo.shape[1]
        pointers = np.concatenate(([0], np.cumsum(np.bincount(indices[0], minlength=groups))))
        return cls(pointers.astype(np.int64), indices[1].copy(), values, coo.shape, layout)

    def with_values(self, values: Array) -> CompressedArray:
        return CompressedArray(self.pointers, self.plain, values, self.shape, self.layout)

    def to_coo(self) -> CooArray:
        # Check the pointers again, because the program can change them after the array was created.
        check_pointers(self.pointers, self.nnz)
        groups = np.repeat(np.arange(len(self.pointers) - 1), np.diff(self.pointers)).astype(np.int64)
        plain = self.plain.astype(np.int64, copy=False)
        indices = np.stack((groups, plain) if self.by_rows else (plain, groups))
        return CooArray(indices, self.values, self.shape, False).coalesce()


def checked_shape(shape: Sequence[int]) -> Shape:
    """Return the lengths as Python ints. Raise RuntimeError unless their product fits in int64.

    Linear indices into an array of this shape (`flatten_indices`) then cannot overflow.
    """
    lengths = tuple(int(n) for n in shape)
    count = 1
    for n in lengths:
        count *= n
        if n < 0 or max(n, count) > MAX_ELEMENTS:
            raise RuntimeError("numel: integer multiplication overflow")
    return lengths


def check_pointers(pointers: Array, nnz: int) -> None:
    """Raise RuntimeError unless the pointers begin with 0, end with `nnz` and do not decrease.

    The callers use differences of adjacent pointers as counts, which must not be negative.
    """
    if pointers[0] != 0 or pointers[-1] != nnz or (pointers[1:] < pointers[:-1]).any():
        raise RuntimeError(f"pointers of compressed rows or columns must be non-decreasing from 0 to {nnz}")


def flatten_indices(indices: Array, sizes: Sequence[int]) -> Array:
    """Return the row-major linear index of each column of `indices` in an array of shape `sizes`."""
    flat = np.zeros(indices.shape[1], np.int64)
    for row, size in zip(indices, sizes, strict=True):
        flat = flat * size + row
    return flat


def sum_groups(values: Array, starts: Array) -> Array:
    """Return sums of rows of `values`: row i of the result sums `values[starts[i]:starts[i + 1]]`."""
    if values.dtype == np.bool_:
        return np.logical_or.reduceat(values, starts, axis=0)
    if values.dtype.itemsize < 4 and values.dtype.kind not in "iu":  # 16-bit floats are summed in float32
        return np.add.reduceat(values.astype(np.float32), starts, axis=0).astype(values.dtype)
    return np.add.reduceat(values, starts, axis=0, dtype=values.dtype)


def add_to_dense(dense: Array, sparse: CooArray, alpha: Any) -> None:
    """Add `alpha * sparse` to `dense` in place. `alpha` None means 1."""
    sparse = sparse.coalesce()
    if not sparse.nnz:
        return
    values = sparse.values if alpha is None else sparse.values * np.asarray(alpha, sparse.dtype)
    at = tuple(sparse.indices) if sparse.sparse_dim else ...
    values = values if sparse.sparse_dim else values[0]
    if dense.dtype == np.bool_:
        dense[at] |= values.astype(np.bool_)
    else:
        dense[at] += values.astype(dense.dtype, copy=False)
