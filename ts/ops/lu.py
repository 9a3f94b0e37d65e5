"""Batched LU factorization (LU decomposition) with partial pivoting, and LU solvers.

Input: matrices, or LU factors and right-hand sides. Output: separate matrices L and U, a packed matrix of
both with LAPACK's pivots, or solutions.
"""

from __future__ import annotations

import math
from typing import Any

from ts._core.tensor import size_guards
from ts.ops import common, cost_model
from ts.ops.factorizations import check_square
from ts.ops.linalg_errors import raise_errors
from ts.ops.lu_decomposition import lu_packed, solve_factored
from ts.ops.out_variants import SAME_DTYPE_OUT
from ts.ops.registry import op
from ts.ops.shape_functions import ShapeAndDtype, like
from ts.ops.solvers import check_equation, check_same_dtype

Array = common.Array


def permutation(xp: Any, pivots: Array, m: int) -> Array:
    """Return the matrix P of A = P L U from LAPACK's row swaps."""
    flat = pivots.reshape(math.prod(pivots.shape[:-1]), pivots.shape[-1])
    order = xp.broadcast_to(xp.arange(m), (flat.shape[0], m)).copy()
    rows = xp.arange(flat.shape[0])
    for i in cost_model.steps(range(flat.shape[1])):
        other = flat[:, i] - 1
        order[rows, i], order[rows, other] = order[rows, other], order[rows, i]
    return order.reshape(*pivots.shape[:-1], m)[..., None, :] == xp.arange(m)[:, None]


def _pivoting(name: str, pivot: bool) -> None:
    if not pivot:
        raise RuntimeError(f"{name}: LU without pivoting is not implemented on the CPU")


def _check_matrix(A: Array, name: str = "torch.lu_factor") -> None:
    if A.ndim < 2:
        raise RuntimeError(
            f"{name}: Expected tensor with 2 or more dimensions. Got size: {list(A.shape)} instead"
        )


def _factor_shapes(A: Array, pivot: bool = True, *_: Any) -> list[ShapeAndDtype]:
    """Return shape and dtype of packed factors, pivots and info."""
    _pivoting("linalg.lu_factor", pivot)
    _check_matrix(A)
    lead = A.shape[:-2]
    return [like(A), ((*lead, size_guards.smaller(*A.shape[-2:])), common.INT32), (lead, common.INT32)]


def _packed_shapes(A: Array, pivot: bool = True) -> list[ShapeAndDtype]:
    """Return shape and dtype of packed factors and pivots."""
    return _factor_shapes(A, pivot)[:2]


def _unpacked_shapes(
    LU_data: Array, LU_pivots: Array, unpack_data: bool = True, unpack_pivots: bool = True
) -> list[ShapeAndDtype]:
    """Return shape and dtype of the permutation, L and U."""
    _check_pivots(LU_pivots, unpack_pivots)
    *lead, m, n = LU_data.shape
    k, dtype = size_guards.smaller(m, n), LU_data.dtype
    nothing = ((0,), dtype)
    p = ((*LU_pivots.shape[:-1], m, m), dtype) if unpack_pivots else nothing
    return [p, ((*lead, m, k), dtype), ((*lead, k, n), dtype)] if unpack_data else [p, nothing, nothing]


def _lu_shapes(A: Array, pivot: bool = True) -> list[ShapeAndDtype]:
    """Return shape and dtype of A's permutation, L and U."""
    _check_matrix(A, "linalg.lu")
    (shape, dtype), pivots, _ = _factor_shapes(A, pivot)
    *lead, m, n = shape
    k = pivots[0][-1]
    return [((*lead, m, m), dtype), ((*lead, m, k), dtype), ((*lead, k, n), dtype)]


def _solution_shape(LU: Array, pivots: Array, B: Array, left: bool = True, *_: Any) -> ShapeAndDtype:
    _check_solve(LU, pivots, B, left)
    return (*common.broadcast_shapes(LU.shape[:-2], B.shape[:-2]), *B.shape[-2:]), B.dtype


def _solution_of_self_shape(self: Array, LU_data: Array, LU_pivots: Array) -> ShapeAndDtype:
    """Return shape and dtype of an LU solution. The first argument is the right-hand side."""
    return _solution_shape(LU_data, LU_pivots, self)


def _check_pivots(pivots: Array, needed: bool) -> None:
    if needed and pivots.dtype != common.INT32:
        raise RuntimeError(
            "torch.lu_unpack: LU_pivots is expected to be a contiguous tensor of torch.int32 dtype."
        )


def _check_solve(LU: Array, pivots: Array, B: Array, left: bool) -> None:
    if common.CATEGORY_OF[LU.dtype] < common.FLOATING:
        raise RuntimeError(
            "torch.linalg.lu_solve: Expected a floating point or complex tensor as input. Got "
            f"{common.NAME_OF[LU.dtype]}"
        )
    check_same_dtype("linalg.lu_solve", LU, B, "LU and B")
    if pivots.dtype != common.INT32:
        raise RuntimeError("linalg.lu_solve: pivots should be a Tensor of scalar type torch.int32")
    check_square("torch.linalg.lu_solve", LU)
    check_equation("linalg.lu_solve", LU, B, left)
    if not size_guards.equal(LU.shape[-1], pivots.shape[-1] if pivots.ndim else 0):
        raise RuntimeError(
            "linalg.lu_solve: Number of pivots per batch should be same as the dimension of the matrix"
        )
    if not size_guards.equal_shapes(LU.shape[:-1], pivots.shape):
        raise RuntimeError(
            "linalg.lu_solve: Expected LU.shape[:-1] and pivots.shape to be the same, but got pivots with "
            f"shape {list(pivots.shape)} instead"
        )
    common.check_factorised("linalg.lu_solve_cpu", LU)


_PACKED = "(Tensor LU, Tensor pivots)"


@op(
    f"aten::linalg_lu_factor(Tensor A, *, bool pivot=True) -> {_PACKED}",
    layout=("columns", "contiguous"),
    dtype_errors={"bih": "lu_cpu"},
    **SAME_DTYPE_OUT,
    shape=_packed_shapes,
)
def _lu_factor(xp: Any, A: Array, pivot: bool = True) -> tuple[Array, Array]:
    lu, pivots, info = _lu_factor_ex(xp, A, pivot)
    raise_errors(xp, info, "torch.linalg.lu_factor", A.ndim == 2)
    return lu, pivots


@op(
    "aten::linalg_lu_factor_ex(Tensor A, *, bool pivot=True, bool check_errors=False) -> (Tensor LU, Tensor "
    "pivots, Tensor info)",
    layout=("columns", "contiguous", "contiguous"),
    dtype_errors={"bih": "lu_cpu"},
    **SAME_DTYPE_OUT,
    shape=_factor_shapes,
)
def _lu_factor_ex(
    xp: Any, A: Array, pivot: bool = True, check_errors: bool = False
) -> tuple[Array, Array, Array]:
    _pivoting("linalg.lu_factor", pivot)
    _check_matrix(A)
    lu, pivots, info = lu_packed(xp, A)
    if check_errors:
        raise_errors(xp, info, "torch.linalg.lu_factor_ex", A.ndim == 2)
    return lu, pivots, info


@op(
    "aten::_lu_with_info(Tensor self, bool pivot=True, bool check_errors=True) -> (Tensor LU, Tensor pivots, "
    "Tensor info)",
    layout=("columns", "contiguous", "contiguous"),
    dtype_errors={"bih": "lu_cpu"},
    shape=_factor_shapes,
    autocast={"cpu": "float32"},
)
def _lu_with_info(
    xp: Any, A: Array, pivot: bool = True, check_errors: bool = True
) -> tuple[Array, Array, Array]:
    # PyTorch ignores `check_errors`, too
    return _lu_factor_ex(xp, A, pivot)


@op(
    "aten::lu_unpack(Tensor LU_data, Tensor LU_pivots, bool unpack_data=True, bool unpack_pivots=True) -> "
    "(Tensor P, Tensor L, Tensor U)",
    **SAME_DTYPE_OUT,
    shape=_unpacked_shapes,
)
def _lu_unpack(
    xp: Any, LU_data: Array, LU_pivots: Array, unpack_data: bool = True, unpack_pivots: bool = True
) -> tuple[Array, Array, Array]:
    if LU_data.ndim < 2:
        raise RuntimeError(
            f"torch.lu_unpack: Expected tensor with 2 or more dimensions. Got size: {list(LU_data.shape)} "
            "instead"
        )
    _check_pivots(LU_pivots, unpack_pivots)
    m, n = LU_data.shape[-2:]
    k = min(m, n)
    nothing = xp.zeros((0,), dtype=LU_data.dtype)
    p = permutation(xp, LU_pivots, m).astype(LU_data.dtype) if unpack_pivots else nothing
    if not unpack_data:
        return p, nothing, nothing
    lower = xp.tril(LU_data[..., :k], -1) + xp.eye(m, k, dtype=LU_data.dtype)
    return p, lower, xp.triu(LU_data[..., :k, :])


@op(
    "aten::linalg_lu(Tensor A, *, bool pivot=True) -> (Tensor P, Tensor L, Tensor U)",
    dtype_errors={"bih": "lu_cpu"},
    **SAME_DTYPE_OUT,
    shape=_lu_shapes,
)
def _lu(xp: Any, A: Array, pivot: bool = True) -> tuple[Array, Array, Array]:
    _check_matrix(A, "linalg.lu")
    return _lu_unpack(xp, *_lu_factor_ex(xp, A, pivot)[:2])


@op(
    "aten::linalg_lu_solve(Tensor LU, Tensor pivots, Tensor B, *, bool left=True, bool adjoint=False) -> "
    "Tensor",
    layout="columns",
    **SAME_DTYPE_OUT,
    shape=_solution_shape,
)
def _linalg_lu_solve(
    xp: Any, LU: Array, pivots: Array, B: Array, left: bool = True, adjoint: bool = False
) -> Array:
    _check_solve(LU, pivots, B, left)
    return solve_factored(xp, LU, pivots, B, left, adjoint)


@op(
    "aten::lu_solve(Tensor self, Tensor LU_data, Tensor LU_pivots) -> Tensor",
    layout="columns",
    **SAME_DTYPE_OUT,
    shape=_solution_of_self_shape,
    autocast={"cpu": "float32"},
)
def _lu_solve(xp: Any, self: Array, LU_data: Array, LU_pivots: Array) -> Array:
    return _linalg_lu_solve(xp, LU_data, LU_pivots, self)
