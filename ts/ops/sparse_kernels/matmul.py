"""Sparse matrix multiplication (SpMM) of sparse arrays with dense and with sparse arrays.

The product of a sparse and a dense matrix is dense. Its rows are sums of rows of the dense matrix, scaled by
the sparse elements. The product of two sparse matrices is sparse and coalesced.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ts.backends.sparse import CompressedArray, CooArray, SparseArray
from ts.backends.sparse.array import sum_groups
from ts.ops import common

MAX_BLOCK_ELEMENTS = 1 << 20  # maximum size of the intermediate array of scaled rows


def _check_matrices(self: Any, mat2: Any) -> None:
    if self.ndim != 2 or mat2.ndim != 2:
        name, x = ("self", self) if self.ndim != 2 else ("mat2", mat2)
        raise RuntimeError(f"mm: expected 2D tensors, but {name} has {x.ndim} dimensions")
    if self.dtype != mat2.dtype:
        raise RuntimeError(
            "addmm: expected both matrices to have the same dtype, but got "
            f"{common.CPP_NAME_OF[self.dtype]} and {common.CPP_NAME_OF[mat2.dtype]}"
        )


def mm(dense: Any, xp: Any, self: Any, mat2: Any) -> Any:
    """Multiply two matrices, of which at least one is sparse."""
    if isinstance(self, SparseArray) and isinstance(mat2, SparseArray):
        return _sparse_product(self, mat2)
    _check_matrices(self, mat2)
    if isinstance(self, SparseArray):
        _check_inner(self, mat2)
        return matrix_product(self.to_coo(), mat2)
    if self.shape[1] != mat2.shape[0]:
        raise RuntimeError(
            f"addmm: Argument #3 (dense): Expected dim 0 size {mat2.shape[0]}, got {self.shape[1]}"
        )
    return np.ascontiguousarray(matrix_product(transpose_matrix(mat2.to_coo()), self.T).T)


def _check_inner(self: Any, mat2: Any) -> None:
    if self.shape[1] == mat2.shape[0]:
        return
    if isinstance(self, CompressedArray):
        raise RuntimeError(
            f"mat1 and mat2 shapes cannot be multiplied ({self.shape[0]}x{self.shape[1]} and "
            f"{mat2.shape[0]}x{mat2.shape[1]})"
        )
    raise RuntimeError(
        f"addmm: Argument #3 (dense): Expected dim 0 size {self.shape[1]}, got {mat2.shape[0]}"
    )


def transpose_matrix(x: CooArray) -> CooArray:
    """Return the transpose of a COO matrix."""
    return CooArray(x.indices[::-1], x.values, x.shape[::-1], False)


def matrix_product(sparse: CooArray, other: Any) -> Any:
    """Multiply a sparse matrix by a dense one, with a dense result."""
    product = np.zeros((sparse.shape[0], other.shape[1]), sparse.dtype)
    accumulate_rows(product, sparse.indices[0], sparse.values, other, sparse.indices[1])
    return product


def accumulate_rows(target: Any, rows: Any, factors: Any, table: Any, table_rows: Any) -> None:
    """Compute `target[rows[k]] += factors[k] * table[table_rows[k]]` for all k, in bounded blocks."""
    if not len(rows) or not target.shape[-1]:
        return
    order = None
    if (rows[1:] < rows[:-1]).any():
        order = np.argsort(rows, kind="stable")
        rows = rows[order]
    wide = np.float32 if target.dtype.kind not in "biufc" or target.dtype == np.float16 else target.dtype
    step = max(MAX_BLOCK_ELEMENTS // max(table.shape[-1], 1), 1)
    total = target.astype(wide) if wide != target.dtype else target
    for start in range(0, len(rows), step):
        block = slice(start, start + step)
        selection = block if order is None else order[block]
        products = factors[selection, None].astype(wide, copy=False) * table[table_rows[selection]].astype(
            wide, copy=False
        )
        block_rows = rows[block]
        starts = np.flatnonzero(np.concatenate(([True], block_rows[1:] != block_rows[:-1])))
        total[block_rows[starts]] += sum_groups(products, starts)
    if total is not target:
        target[...] = total.astype(target.dtype)


def _sparse_product(self: SparseArray, mat2: SparseArray) -> Any:
    if self.ndim != 2 or mat2.ndim != 2 or self.shape[1] != mat2.shape[0]:
        raise RuntimeError(
            f"mat1 and mat2 shapes cannot be multiplied ({'x'.join(map(str, self.shape))} and "
            f"{'x'.join(map(str, mat2.shape))})"
        )
    if self.dtype != mat2.dtype:
        raise RuntimeError(
            f"mat1 dtype {common.NAME_OF[self.dtype]} does not match mat2 dtype {common.NAME_OF[mat2.dtype]}"
        )
    left, right = self.to_coo().coalesce(), mat2.to_coo().coalesce()
    starts = np.searchsorted(right.indices[0], np.arange(right.shape[0] + 1))
    counts = (starts[1:] - starts[:-1])[left.indices[1]]
    left_index = np.repeat(np.arange(left.nnz), counts)
    before = np.cumsum(counts) - counts
    right_index = np.arange(len(left_index)) - before[left_index] + starts[:-1][left.indices[1]][left_index]
    indices = np.stack((left.indices[0][left_index], right.indices[1][right_index]))
    values = left.values[left_index] * right.values[right_index]
    shape = (self.shape[0], mat2.shape[1])
    product = CooArray(indices, values.astype(self.dtype, copy=False), shape, False).coalesce()
    product.coalesced = True
    return CompressedArray.from_coo(product, self.layout) if isinstance(self, CompressedArray) else product


def addmm(dense: Any, xp: Any, self: Any, mat1: Any, mat2: Any, beta: Any = 1, alpha: Any = 1) -> Any:
    """Return beta * self + alpha * (mat1 @ mat2) as a dense matrix."""
    if isinstance(self, SparseArray) or (isinstance(mat2, SparseArray) and isinstance(mat1, SparseArray)):
        raise RuntimeError("addmm: only 'mat1' may be sparse: expected 'self' and 'mat2' to be dense")
    if mat1.ndim == 2 and mat2.ndim == 2:
        _expanded_to(self, (mat1.shape[0], mat2.shape[1]))
    product = mm(dense, xp, mat1, mat2)
    expanded = np.broadcast_to(self, _expanded_to(self, product.shape))
    scaled = 0 if beta == 0 else np.multiply(expanded, np.asarray(beta, expanded.dtype))
    return (scaled + product * np.asarray(alpha, product.dtype)).astype(product.dtype, copy=False)


def _expanded_to(self: Any, shape: tuple[int, ...]) -> tuple[int, ...]:
    lead = len(shape) - self.ndim
    if lead < 0:
        raise RuntimeError(f"addmm: expected 'self' of at most 2 dimensions, but got {self.ndim}")
    for d, n in enumerate(self.shape):
        if n not in (1, shape[lead + d]):
            raise RuntimeError(
                f"The expanded size of the tensor ({shape[lead + d]}) must match the existing size ({n}) at "
                f"non-singleton dimension {lead + d}.  Target sizes: {list(shape)}.  Tensor sizes: "
                f"{list(self.shape)}"
            )
    return shape


def mv(dense: Any, xp: Any, self: Any, vec: Any) -> Any:
    """Multiply a sparse matrix by a dense vector."""
    if self.ndim != 2 or vec.ndim != 1 or isinstance(vec, SparseArray) or not isinstance(self, SparseArray):
        raise RuntimeError("mv: expected a sparse matrix and a dense vector")
    if self.shape[-1] != vec.shape[-1]:
        raise RuntimeError("mv: expected self.size(-1) == vec.size(-1)")
    if self.dtype != vec.dtype:
        raise RuntimeError(
            f"mv: expected a vector of dtype {common.NAME_OF[self.dtype]}, "
            f"but got {common.NAME_OF[vec.dtype]}"
        )
    return matrix_product(self.to_coo(), vec[:, None])[:, 0]


def matmul(dense: Any, xp: Any, self: Any, other: Any) -> Any:
    """Multiply two matrices, or a matrix and a vector."""
    if self.ndim == 2 and other.ndim == 1:
        return mv(dense, xp, self, other)
    if self.ndim == 3 and other.ndim == 3:
        return bmm(dense, xp, self, other)
    if (
        self.ndim == 1
        and other.ndim == 2
        and isinstance(other, SparseArray)
        and not isinstance(self, SparseArray)
    ):
        return mv(dense, xp, transpose_matrix(other.to_coo()), self)
    if self.ndim != 2 or other.ndim != 2:
        raise RuntimeError(
            "matmul of sparse tensors takes matrices, matrix and vector, or two batches of matrices, but "
            f"got {self.ndim} and {other.ndim} dimensions"
        )
    return mm(dense, xp, self, other)


def bmm(dense: Any, xp: Any, self: Any, mat2: Any) -> Any:
    """Multiply a batch of sparse matrices by a batch of dense ones."""
    if not isinstance(self, SparseArray) or isinstance(mat2, SparseArray):
        raise RuntimeError("bmm: expected a sparse first and a dense second argument")
    if self.ndim != 3 or mat2.ndim != 3:
        raise RuntimeError("bmm_sparse: Tensor 'self' and 'mat2' must have 3 dimensions")
    if self.shape[0] != mat2.shape[0] or self.shape[2] != mat2.shape[1]:
        raise RuntimeError(
            f"bmm_sparse: expected 'mat2' of sizes [{self.shape[0]}, {self.shape[2]}, *], but got "
            f"{list(mat2.shape)}"
        )
    coo = self.to_coo()
    batch, row, column = coo.indices
    product = np.zeros((self.shape[0] * self.shape[1], mat2.shape[2]), self.dtype)
    table = mat2.reshape(-1, mat2.shape[2])
    accumulate_rows(product, batch * self.shape[1] + row, coo.values, table, batch * self.shape[2] + column)
    return product.reshape(self.shape[0], self.shape[1], mat2.shape[2])


def smm(dense: Any, xp: Any, self: Any, mat2: Any) -> CooArray:
    """Multiply a sparse matrix by a dense one.

    The result is a COO array. For each row in which the sparse matrix stores elements, the result stores all
    elements of the row.
    """
    rows = hspmm(dense, xp, self, mat2)
    count = mat2.shape[1]
    columns = np.tile(np.arange(count, dtype=np.int64), rows.nnz)
    indices = np.stack((np.repeat(rows.indices[0], count), columns))
    return CooArray(indices, rows.values.reshape(-1), rows.shape, False)


def hspmm(dense: Any, xp: Any, mat1: Any, mat2: Any) -> CooArray:
    """Multiply a sparse matrix by a dense one. Each value of the resulting COO array is a whole row."""
    _check_matrices(mat1, mat2)
    _check_inner(mat1, mat2)
    coo = mat1.to_coo().coalesce()
    rows = np.unique(coo.indices[0])
    values = np.zeros((len(rows), mat2.shape[1]), mat1.dtype)
    accumulate_rows(values, np.searchsorted(rows, coo.indices[0]), coo.values, mat2, coo.indices[1])
    return CooArray(rows[None], values, (mat1.shape[0], mat2.shape[1]), False)


def sspaddmm(dense: Any, xp: Any, self: Any, mat1: Any, mat2: Any, beta: Any = 1, alpha: Any = 1) -> CooArray:
    """Return beta * self + alpha * (mat1 @ mat2) as a sparse matrix."""
    product = smm(dense, xp, mat1, mat2)
    values = np.concatenate(
        (self.values * np.asarray(beta, self.dtype), product.values * np.asarray(alpha, self.dtype))
    )
    return CooArray(np.concatenate((self.indices, product.indices), axis=1), values, self.shape, False)


def sampled_addmm(dense: Any, xp: Any, self: Any, mat1: Any, mat2: Any, beta: Any = 1, alpha: Any = 1) -> Any:
    """Return beta * self + alpha * (mat1 @ mat2) at the indices of the sparse matrix `self`."""
    if not isinstance(self, SparseArray):
        raise RuntimeError("sampled_addmm: Expected self to have sparse csr layout, but got Strided")
    if isinstance(mat1, SparseArray) or isinstance(mat2, SparseArray):
        raise RuntimeError("sampled_addmm: Expected mat1 and mat2 to have strided layout, but got Sparse")
    coo = self.to_coo().coalesce()
    values = np.empty(coo.nnz, coo.dtype)
    step = max(MAX_BLOCK_ELEMENTS // max(mat1.shape[1], 1), 1)
    columns_of = mat2.T
    for start in range(0, coo.nnz, step):
        block = slice(start, start + step)
        values[block] = np.einsum("ij,ij->i", mat1[coo.indices[0][block]], columns_of[coo.indices[1][block]])
    if alpha != 1:
        values = values * np.asarray(alpha, values.dtype)
    if beta != 0:
        values = values + coo.values * np.asarray(beta, values.dtype)
    sampled = coo.with_values(values)
    return CompressedArray.from_coo(sampled, self.layout) if isinstance(self, CompressedArray) else sampled
