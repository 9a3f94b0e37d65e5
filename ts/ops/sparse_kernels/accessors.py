"""Kernels that construct sparse arrays from indices, values and pointers, or return these components."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ts import dtypes
from ts.backends.sparse import CompressedArray, CooArray, SparseArray
from ts.backends.sparse.array import checked_shape
from ts.ops import common
from ts.ops.sparse_kernels import conversions, not_available


def coo_array(
    indices: Any, values: Any, size: Sequence[int], coalesced: bool | None, dtype: int | None
) -> CooArray:
    """Return a COO array that shares the memory of `indices` and `values`, unless their dtypes change.

    If `coalesced` is None, the array is marked as coalesced if it stores at most one element, and as
    uncoalesced otherwise.
    """
    if dtype is not None:
        values = common.cast(np, values, common.dtype_from(dtype))
    is_coalesced = values.shape[0] < 2 if coalesced is None else bool(coalesced)
    return CooArray(indices.astype(np.int64, copy=False), values, size, is_coalesced)


def compressed_array(
    pointers: Any, plain: Any, values: Any, size: Sequence[int] | None, layout: int | None, dtype: int | None
) -> CompressedArray:
    """Return a CSR or CSC matrix. Raise RuntimeError if its components do not match."""
    target_layout = dtypes.LAYOUTS.get(layout if layout is not None else -1)
    if target_layout is None:
        raise RuntimeError("sparse_compressed_tensor expected sparse compressed tensor layout but got None")
    if target_layout.code not in conversions.COMPRESSED:
        raise NotImplementedError(
            f"tensors of layout {target_layout} are not supported; use torch.sparse_csr or torch.sparse_coo"
        )
    rows = target_layout is dtypes.sparse_csr
    names = ("crow_indices", "col_indices") if rows else ("ccol_indices", "row_indices")
    for name, x in zip(names, (pointers, plain), strict=True):
        if x.ndim != 1:
            raise RuntimeError(
                f"{name} must have dimensionality 1 but got {x.ndim}: batches are not supported"
            )
        if x.dtype not in (np.int32, np.int64):
            raise RuntimeError(
                f"{names[0]} and {names[1]} must be an int32 or int64 type, but got {common.NAME_OF[x.dtype]}"
            )
    if values.ndim != 1:
        raise RuntimeError(
            f"values must have dimensionality 1 but got {values.ndim}: blocks are not supported"
        )
    if pointers.dtype != plain.dtype:
        raise RuntimeError(
            f"{names[0]} and {names[1]} dtype must match but got {common.NAME_OF[pointers.dtype]} and "
            f"{common.NAME_OF[plain.dtype]}"
        )
    groups = max(len(pointers) - 1, 0)
    if size is None:
        others = int(plain.max()) + 1 if len(plain) else 0
        size = (groups, others) if rows else (others, groups)
    checked_shape(size)
    _check_compressed(names, pointers, plain, values, size, rows)
    if dtype is not None:
        values = common.cast(np, values, common.dtype_from(dtype))
    conversions.warn_beta()
    return CompressedArray(pointers, plain, values, size, target_layout)


def _check_compressed(
    names: tuple[str, str], pointers: Any, plain: Any, values: Any, size: Sequence[int], rows: bool
) -> None:
    if len(size) != 2:
        raise RuntimeError(f"size must have dimensionality 2 but got {len(size)}")
    groups, others = size if rows else size[::-1]
    kind = "nrows" if rows else "ncols"
    if len(pointers) != groups + 1:
        raise RuntimeError(
            f"{names[0]}.shape[-1] must be equal to the number of {'rows' if rows else 'columns'} + 1 (= "
            f"{kind} + 1 = {groups + 1}), but got {len(pointers)}"
        )
    if len(plain) != len(values):
        raise RuntimeError(
            f"number of elements in {names[1]} and values must match, but got {len(plain)} and {len(values)}"
        )
    if len(pointers) and (pointers[0] != 0 or pointers[-1] != len(plain)):
        condition = f"{names[0]}[..., 0] == 0" if pointers[0] != 0 else f"{names[0]}[..., -1] == nnz"
        raise RuntimeError(f"`{condition}` is not satisfied.")
    nnz = len(plain)
    # Check that the pointers increase before computing their differences, because differences may overflow
    in_order = bool((pointers[1:] >= pointers[:-1]).all())
    if not in_order or (nnz > others and np.diff(pointers).max() > others):
        n = "ncols" if rows else "nrows"
        raise RuntimeError(f"`0 <= {names[0]}[..., 1:] - {names[0]}[..., :-1] <= {n}` is not satisfied.")
    if nnz and (plain.min() < 0 or plain.max() >= others):
        n = "ncols" if rows else "nrows"
        raise RuntimeError(f"`0 <= {names[1]} < {n}` is not satisfied.")


# ------------------------------------------------------------------------------- access to indices and values


def stored_indices(dense: Any, xp: Any, self: Any) -> Any:
    """Return the stored indices of a COO array, coalesced or not."""
    if not isinstance(self, CooArray):
        raise not_available("aten::_indices", self.dispatch_key)
    return self.indices


def stored_values(dense: Any, xp: Any, self: Any) -> Any:
    """Return the stored values of a COO array, coalesced or not."""
    if not isinstance(self, CooArray):
        raise not_available("aten::_values", self.dispatch_key)
    return self.values


def nnz(dense: Any, xp: Any, self: Any) -> int:
    """Return the number of stored elements."""
    return int(self.nnz)


def _coalesced(self: Any, name: str) -> CooArray:
    coo = conversions.require_coo(self, name)
    if not coo.coalesced:
        raise RuntimeError(f"Cannot get {name} on an uncoalesced tensor, please call .coalesce() first")
    return coo


def indices(dense: Any, xp: Any, self: Any) -> Any:
    """Return the indices of a coalesced COO array."""
    return _coalesced(self, "indices").indices


def values(dense: Any, xp: Any, self: Any) -> Any:
    """Return the values of a coalesced COO, CSR or CSC array."""
    return self.values if isinstance(self, CompressedArray) else _coalesced(self, "values").values


def values_copy(dense: Any, xp: Any, self: Any) -> Any:
    """Return a copy of the values."""
    return values(dense, xp, self).copy()


def is_coalesced(dense: Any, xp: Any, self: Any) -> bool:
    """Return the `coalesced` flag, which means that the indices are sorted and distinct."""
    return bool(conversions.require_coo(self, "is_coalesced").coalesced)


def coalesce(dense: Any, xp: Any, self: Any) -> CooArray:
    """Return an equal array whose indices are sorted and distinct. Values with equal indices are summed."""
    return conversions.require_coo(self, "coalesce").coalesce()


def mark_coalesced(dense: Any, xp: Any, self: Any, coalesced: bool) -> CooArray:
    """Return the array with the flag `coalesced`, which may be True only for sorted, distinct indices."""
    coo = conversions.require_coo(self, "_coalesced_")
    if coalesced:
        flat = coo.flat_indices()
        if (flat[1:] <= flat[:-1]).any():
            raise RuntimeError(
                "cannot set is_coalesced to true if indices correspond to uncoalesced COO tensor"
            )
    return CooArray(coo.indices, coo.values, coo.shape, bool(coalesced))


def _compressed(self: Any, name: str, rows: bool) -> CompressedArray:
    if isinstance(self, CompressedArray) and self.by_rows is rows:
        return self
    kind = "row" if rows else "column"
    layout_name = (
        self.layout_name if isinstance(self, CooArray) else "SparseCsr" if self.by_rows else "SparseCsc"
    )
    raise RuntimeError(f"{name} expected sparse {kind} compressed tensor layout but got {layout_name}")


def crow_indices(dense: Any, xp: Any, self: Any) -> Any:
    """Return the row pointers of a CSR matrix: the offset at which each row starts."""
    return _compressed(self, "crow_indices", True).pointers


def col_indices(dense: Any, xp: Any, self: Any) -> Any:
    """Return the column index of each stored element of a CSR matrix."""
    return _compressed(self, "col_indices", True).plain


def ccol_indices(dense: Any, xp: Any, self: Any) -> Any:
    """Return the column pointers of a CSC matrix: the offset at which each column starts."""
    return _compressed(self, "ccol_indices", False).pointers


def row_indices(dense: Any, xp: Any, self: Any) -> Any:
    """Return the row index of each stored element of a CSC matrix."""
    return _compressed(self, "row_indices", False).plain


def sparse_dim(dense: Any, xp: Any, self: Any) -> int:
    """Return the number of sparse dimensions."""
    return self.sparse_dim if isinstance(self, CooArray) else 2


def dense_dim(dense: Any, xp: Any, self: Any) -> int:
    """Return the number of dense dimensions, which is the number of dimensions of each value."""
    return self.dense_dim if isinstance(self, CooArray) else 0


# ---------------------------------------------------------------------------------------- conversions


def to_sparse_of_dim(dense: Any, xp: Any, self: Any, sparse_dim: int) -> CooArray:
    """Convert to COO with a given number of sparse dimensions."""
    return conversions.to_sparse(self, sparse_dim)


def to_sparse(
    dense: Any,
    xp: Any,
    self: Any,
    layout: int | None = None,
    blocksize: Any = None,
    dense_dim: int | None = None,
) -> SparseArray:
    """Convert an array to a sparse layout."""
    return dense(xp, self, layout, blocksize, dense_dim)  # type: ignore[no-any-return]


def to_sparse_csr(dense: Any, xp: Any, self: Any, dense_dim: int | None = None) -> CompressedArray:
    """Convert a matrix to CSR."""
    return conversions.convert_to_sparse(self, dtypes.sparse_csr)  # type: ignore[no-any-return]


def to_sparse_csc(dense: Any, xp: Any, self: Any, dense_dim: int | None = None) -> CompressedArray:
    """Convert a matrix to CSC."""
    return conversions.convert_to_sparse(self, dtypes.sparse_csc)  # type: ignore[no-any-return]
