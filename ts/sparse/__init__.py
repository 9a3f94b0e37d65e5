"""Sparse tensors: `torch.sparse`.

The functions compute products, sums, and softmax over the stored elements. Operands are sparse tensors of
coordinates or compressed rows. In the example, `a.grad` becomes a sparse tensor with the indices of `a`:

    a = ts.sparse_coo_tensor([[0, 1], [2, 0]], [3.0, 4.0], (2, 3), requires_grad=True)
    ts.sparse.mm(a, ts.ones(3, 4)).sum().backward()

`sparse.FloatTensor` and the other tensor types are deprecated constructors.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import ts
from ts._core.tensor.tensor import Tensor
from ts.sparse.invariants import check_sparse_tensor_invariants
from ts.sparse.tensor_types import SPARSE
from ts.unsupported import names_for

__all__ = [
    "addmm", "as_sparse_gradcheck", "check_sparse_tensor_invariants", "log_softmax", "mm",
    "sampled_addmm",
    "softmax",
    "spdiags", "sum",
]  # fmt: skip

globals().update(SPARSE)


def mm(mat1: Tensor, mat2: Tensor, reduce: str | None = None, *, out: Tensor | None = None) -> Tensor:
    """Return the product of a sparse matrix and any other matrix.

    Gradients of sparse factors are sparse.
    """
    if reduce is not None:
        raise NotImplementedError(
            "sparse.mm with reduce= is not supported: use torch.sparse.mm without reduce=, and scatter_reduce"
        )
    if out is not None:
        return ts.mm(mat1, mat2, out=out)  # type: ignore[no-any-return]
    return ts.ops.aten._sparse_mm(mat1, mat2)  # type: ignore[no-any-return]


def addmm(mat: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Any = 1.0, alpha: Any = 1.0) -> Tensor:
    """Return beta * mat + alpha * (mat1 @ mat2), where `mat1` is sparse."""
    return ts.ops.aten._sparse_addmm(mat, mat1, mat2, beta=beta, alpha=alpha)  # type: ignore[no-any-return]


def sampled_addmm(input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Any = 1.0, alpha: Any = 1.0) -> Tensor:
    """Return the sampled product (SDDMM) beta * input + alpha * (mat1 @ mat2), at the indices of `input`."""
    result: Tensor = ts.ops.aten.sparse_sampled_addmm(input, mat1, mat2, beta=beta, alpha=alpha)
    return result


def sum(input: Tensor, dim: int | Sequence[int] | None = None, dtype: Any = None) -> Tensor:
    """Return the sum over all or some dimensions. It is sparse unless no sparse dimension remains."""
    total = ts.ops.aten._sparse_sum
    result: Tensor
    if dim is None:
        result = total(input) if dtype is None else total.dtype(input, dtype=dtype)
    elif isinstance(dim, int):
        result = total.dim(input, [dim]) if dtype is None else total.dim_dtype(input, [dim], dtype=dtype)
    else:
        result = (
            total.dim(input, list(dim)) if dtype is None else total.dim_dtype(input, list(dim), dtype=dtype)
        )
    return result


def softmax(input: Tensor, dim: int, *, dtype: Any = None) -> Tensor:
    """Return the softmax of the stored elements along a dimension."""
    return ts.ops.aten._sparse_softmax.int(input, dim, dtype)  # type: ignore[no-any-return]


def log_softmax(input: Tensor, dim: int, *, dtype: Any = None) -> Tensor:
    """Return the logarithm of the softmax of the stored elements along a dimension."""
    return ts.ops.aten._sparse_log_softmax.int(input, dim, dtype)  # type: ignore[no-any-return]


def spdiags(diagonals: Tensor, offsets: Tensor, shape: Sequence[int], layout: Any = None) -> Tensor:
    """Return a sparse matrix whose diagonals with the given `offsets` are the rows of `diagonals`."""
    rows = diagonals.unsqueeze(0) if diagonals.ndim == 1 else diagonals
    starts = offsets.reshape(-1)
    if len(shape) != 2:
        raise RuntimeError("Output shape must be 2d")
    if rows.shape[0] != starts.shape[0]:
        raise RuntimeError(
            f"Number of diagonals ({rows.shape[0]}) does not match the number of offsets ({starts.shape[0]})"
        )
    if len(set(starts.tolist())) != starts.shape[0]:
        raise RuntimeError("Offset tensor contains duplicate values")
    columns = ts.arange(rows.shape[1]).expand(rows.shape)
    lines = columns - starts.unsqueeze(1)
    in_bounds = (lines >= 0) & (lines < shape[0]) & (columns < shape[1])
    matrix = ts.sparse_coo_tensor(
        ts.stack((lines[in_bounds], columns[in_bounds])), rows[in_bounds], tuple(shape)
    )
    return matrix if layout is None else matrix.coalesce().to_sparse(layout=layout)


def as_sparse_gradcheck(gradcheck: Callable[..., Any]) -> Callable[..., Any]:
    """Raise NotImplementedError, because `gradcheck` compares only dense gradients."""
    raise NotImplementedError("as_sparse_gradcheck is not supported: check gradients of the values instead")


__getattr__ = names_for(__name__)
