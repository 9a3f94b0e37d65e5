"""Kernels that construct, copy and convert sparse arrays (COO, CSR, CSC) and dense arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ts import dtypes
from ts._core.thread.warnings import warn
from ts.backends.sparse import CompressedArray, CooArray, SparseArray
from ts.ops import common
from ts.ops.sparse_kernels import elementwise

_BETA = (
    "Sparse CSR tensor support is in beta state. If you miss a functionality in the sparse tensor "
    "support, please submit a feature request to https://github.com/pytorch/pytorch/issues."
)
COMPRESSED = {dtypes.sparse_csr.code: dtypes.sparse_csr, dtypes.sparse_csc.code: dtypes.sparse_csc}


def require_coo(x: Any, name: str) -> CooArray:
    """Return `x` if it is a COO array, else raise a RuntimeError that contains the function name `name`."""
    if isinstance(x, CooArray):
        return x
    layout_name = x.layout_name if isinstance(x, SparseArray) else "Strided"
    raise RuntimeError(f"{name} expected sparse coordinate tensor layout but got {layout_name}")


def warn_beta() -> None:
    """Emit PyTorch's warning that CSR and CSC layouts are in beta state, once per process."""
    warn(_BETA)


def compress(coo: CooArray, layout: dtypes.layout) -> CompressedArray:
    """Convert a COO matrix to CSR or CSC."""
    if coo.sparse_dim != 2 or coo.dense_dim:
        raise RuntimeError(
            f"compressed sparse tensors must be matrices, but got {coo.sparse_dim} sparse and "
            f"{coo.dense_dim} dense dimensions"
        )
    if layout.code not in COMPRESSED:
        raise NotImplementedError(
            f"tensors of layout {layout} are not supported: use torch.sparse_csr or torch.sparse_coo"
        )
    warn_beta()
    return CompressedArray.from_coo(coo, layout)


# ---------------------------------------------------------------------------------------- construction


def check_dimensions(size: Sequence[int], sparse_dim: int, dense_dim: int) -> None:
    """Raise RuntimeError if `size` does not have `sparse_dim` + `dense_dim` dimensions."""
    if sparse_dim < 0 or dense_dim < 0 or len(size) != sparse_dim + dense_dim:
        raise RuntimeError(
            f"'len(size) == sparse_dim + dense_dim' is not satisfied: len(size) = {len(size)}, "
            f"sparse_dim = {sparse_dim}, dense_dim = {dense_dim}"
        )


def check_coordinates(
    indices: Any, values: Any, size: Sequence[int] | None, check: bool, coalesced: bool
) -> None:
    """Raise a RuntimeError if indices, values and size of a COO array are inconsistent."""
    if indices.ndim != 2:
        raise RuntimeError(f"indices must be sparse_dim x nnz, but got: {list(indices.shape)}")
    if values.ndim == 0 or indices.shape[1] != values.shape[0]:
        raise RuntimeError(
            f"indices and values must have same nnz, but got nnz from indices: {indices.shape[1]}, nnz "
            f"from values: {values.shape[0] if values.ndim else 1}"
        )
    if size is None:
        if indices.size and indices.min() < 0:
            d = int(np.flatnonzero((indices < 0).any(axis=1))[0])
            raise RuntimeError(f"found negative index {int(indices[d].min())} for dim {d}")
        return
    sparse_dim, dense_dim = indices.shape[0], values.ndim - 1
    check_dimensions(size, sparse_dim, dense_dim)
    if list(size[sparse_dim:]) != list(values.shape[1:]):
        raise RuntimeError(
            f"values has incorrect size, expected {[values.shape[0], *size[sparse_dim:]]}, got "
            f"{list(values.shape)}"
        )
    if indices.size:
        for d in range(sparse_dim):
            low, high = int(indices[d].min()), int(indices[d].max())
            if low < 0:
                raise RuntimeError(f"found negative index {low} for dim {d}")
            if high >= size[d]:
                raise RuntimeError(
                    f"size is inconsistent with indices: for dim {d}, size is {size[d]} but found index "
                    f"{high}"
                )
    if check and coalesced:
        flat = CooArray(indices, values, size).flat_indices()
        if (flat[1:] <= flat[:-1]).any():
            raise RuntimeError(
                "cannot set is_coalesced to true if indices correspond to uncoalesced COO tensor"
            )


def infer_size(indices: Any, values: Any) -> tuple[int, ...]:
    """Return the smallest shape that contains all indices."""
    largest = indices.max(axis=1) + 1 if indices.shape[1] else np.zeros(indices.shape[0], np.int64)
    return (*(int(n) for n in largest), *values.shape[1:])


def zeros(size: Sequence[int], dtype: Any, sparse_dim: int | None = None) -> CooArray:
    """Return a COO array without stored elements."""
    return CooArray.empty(tuple(size), dtype, sparse_dim)


def construct(dense: Any, xp: Any, *args: Any) -> Any:
    """Call a constructor of sparse tensors.

    Raise RuntimeError if its indices or values are sparse tensors.
    """
    if any(isinstance(x, SparseArray) for x in args):
        raise RuntimeError("expected indices and values to be dense tensors, but got layout torch.sparse_coo")
    return dense(xp, *args)


def zeros_of_layout(
    dense: Any,
    xp: Any,
    size: Sequence[int],
    dtype: int | None = None,
    layout: int | None = None,
    *options: Any,
) -> Any:
    """Return an array of a sparse layout without stored elements."""
    array = zeros(common.check_sizes(size), common.dtype_from(dtype))
    return convert_to_sparse(array, dtypes.LAYOUTS[layout or dtypes.sparse_coo.code])


# ---------------------------------------------------------------------------------------- conversions


def to_dense(dense: Any, xp: Any, self: Any, dtype: int | None = None, masked_grad: Any = None) -> Any:
    """Return the elements as a dense array."""
    if dtype is not None:
        raise RuntimeError("dtype argument is not supported by sparse_to_dense")
    return self.to_dense()


def to_sparse(self: Any, sparse_dim: int | None) -> CooArray:
    """Convert a sparse or dense array to COO. The COO array of a dense array stores its nonzero elements."""
    if isinstance(self, SparseArray):
        coo = self.to_coo()
        if sparse_dim is not None and sparse_dim != coo.sparse_dim:
            raise RuntimeError(
                f"to_sparse: conversion from {self.layout_name} to Sparse with sparse_dim argument "
                "!=self.sparse_dim() is not supported"
            )
        return coo
    if (sparse_dim is not None and not 0 <= sparse_dim <= self.ndim) or (sparse_dim == 0 and self.ndim > 0):
        raise RuntimeError(
            f"to_sparse: sparse_dim argument must be in >0 when self.dim()={self.ndim}"
            if sparse_dim == 0
            else f"to_sparse: sparse_dim argument must be in [{min(self.ndim, 1)},{self.ndim}] range, but "
            f"{sparse_dim} is given"
        )
    return CooArray.from_dense(self, sparse_dim)


def convert_to_sparse(self: Any, layout: dtypes.layout) -> Any:
    """Convert an array to a sparse layout, or return the array itself if it has that layout."""
    if isinstance(self, SparseArray) and self.layout is layout:
        return self
    coo = to_sparse(self, None)
    return coo if layout is dtypes.sparse_coo else compress(coo, layout)


def sparse_mask(dense: Any, xp: Any, self: Any, mask: Any) -> Any:
    """Return the elements of `self` at the indices of the sparse array `mask`."""
    if not isinstance(mask, SparseArray):
        raise RuntimeError("sparse_mask: expected a sparse mask")
    if tuple(self.shape) != mask.shape:
        raise RuntimeError(
            f"sparse_mask(): operands have incompatible sizes; self has size {list(self.shape)} but mask "
            f"has size {list(mask.shape)}"
        )
    pattern = mask.to_coo()
    if isinstance(self, SparseArray):
        values = elementwise.lookup(self.to_coo(), pattern)
    else:
        values = (
            self[tuple(pattern.indices)]
            if pattern.sparse_dim
            else np.broadcast_to(self, pattern.values.shape).copy()
        )
    if isinstance(mask, CompressedArray):
        return mask.with_values(values)
    return CooArray(pattern.indices, values, pattern.shape, pattern.coalesced)


def clone(dense: Any, xp: Any, self: Any, *memory_format: Any) -> Any:
    """Return a copy of a sparse array, including its indices and values."""
    if isinstance(self, CooArray):
        return CooArray(self.indices.copy(), self.values.copy(), self.shape, self.coalesced)
    return CompressedArray(
        self.pointers.copy(), self.plain.copy(), self.values.copy(), self.shape, self.layout
    )


def identity(dense: Any, xp: Any, self: Any, *args: Any) -> Any:
    """Return the array itself: the kernel of `positive`, `alias` and `resolve_conj`."""
    return self


def conjugate(dense: Any, xp: Any, self: Any) -> Any:
    """Return the complex conjugate of an array, or the array itself if it is real."""
    return self.with_values(np.conj(self.values)) if self.dtype.kind == "c" else self


def to_copy(
    dense: Any, xp: Any, self: Any, dtype: int | None = None, layout: int | None = None, *options: Any
) -> Any:
    """Copy an array, with conversion to the dtype and layout."""
    values = self.values.copy() if dtype is None else common.cast(xp, self.values, common.dtype_from(dtype))
    if values is self.values:
        values = values.copy()
    copy = clone(dense, xp, self).with_values(values)
    return (
        copy if layout is None or layout == self.layout.code else convert_layout(copy, dtypes.LAYOUTS[layout])
    )


def convert_layout(self: Any, layout: dtypes.layout) -> Any:
    """Convert a sparse array to any layout, also to a dense array."""
    return self.to_dense() if layout is dtypes.strided else convert_to_sparse(self, layout)


def zeros_like(
    dense: Any, xp: Any, self: Any, dtype: int | None = None, layout: int | None = None, *rest: Any
) -> Any:
    """Return an array like `self` without stored elements, or dense zeros if `layout` is strided."""
    kind = self.dtype if dtype is None else common.dtype_from(dtype)
    if layout is not None and dtypes.LAYOUTS[layout] is dtypes.strided:
        return np.zeros(self.shape, kind)
    coo = CooArray.empty(
        self.shape, kind, self.to_coo().sparse_dim if isinstance(self, SparseArray) else None
    )
    return compress(coo, self.layout) if isinstance(self, CompressedArray) else coo


def new_zeros(
    dense: Any,
    xp: Any,
    self: Any,
    size: Sequence[int],
    dtype: int | None = None,
    layout: int | None = None,
    *rest: Any,
) -> Any:
    """Return an array of shape `size` without stored elements, or dense zeros if `layout` is strided."""
    kind = self.dtype if dtype is None else common.dtype_from(dtype)
    if layout is not None and dtypes.LAYOUTS[layout] is dtypes.strided:
        return np.zeros(size, kind)
    return CooArray.empty(tuple(size), kind)


def zero_in_place(dense: Any, xp: Any, self: Any) -> Any:
    """Return the array that replaces `self` in `zero_`.

    If `self` is a COO array, the returned array stores no elements. If `self` is a CSR or CSC array, the
    returned array stores zeros at the indices of `self`.
    """
    if isinstance(self, CompressedArray):
        return self.with_values(np.zeros_like(self.values))
    return CooArray.empty(self.shape, self.dtype, self.sparse_dim)


def copy_in_place(dense: Any, xp: Any, self: Any, src: Any, non_blocking: bool = False) -> Any:
    """Return the array that replaces `self` in `copy_`: a copy of `src` in the dtype of `self`."""
    if not (isinstance(self, SparseArray) and isinstance(src, SparseArray)):
        raise RuntimeError(
            "copy_() between dense and sparse Tensors is not implemented! Found self type = "
            f"{type_text(self)} and src type = {type_text(src)}"
        )
    if isinstance(self, CompressedArray):
        raise NotImplementedError("copy_() is not supported for compressed sparse tensors: make a new one")
    src = src.to_coo()
    if self.shape != src.shape and self.nnz:
        raise RuntimeError(f"copy_: expected a source of size {list(self.shape)}, but got {list(src.shape)}")
    values = common.cast(xp, src.values, self.dtype)
    return CooArray(src.indices.copy(), values.copy(), src.shape, src.coalesced)


def type_text(x: Any) -> str:
    """Return the name of the array's tensor type in PyTorch's errors: "SparseCPUFloatType"."""
    name = common.NAME_OF[x.dtype]
    return f"Sparse{'CPU'}{name}Type" if isinstance(x, SparseArray) else f"CPU{name}Type"


def is_same_size(dense: Any, xp: Any, self: Any, other: Any) -> bool:
    """Return whether two arrays have the same shape."""
    return tuple(self.shape) == tuple(other.shape)
