"""Internal operators of `linalg` functions, whose results include the factors that backward needs.

The first result is the value. Further results are packed L and U, and LAPACK's pivots. The result `info`
contains one error code per matrix, 0 for success. For example, `_linalg_det(A)` returns the determinant, LU
and the pivots.
"""

from __future__ import annotations

from typing import Any

from ts.ops import common
from ts.ops.factorizations import linalg_eigh, linalg_eigvals, linalg_svd, square, transpose_matrices
from ts.ops.linalg_errors import raise_errors
from ts.ops.lu_decomposition import lu_packed, solve_factored
from ts.ops.out_variants import EXPECTED_DTYPE_ERROR
from ts.ops.registry import op
from ts.ops.shape_functions import ITEM, ShapeAndDtype, like
from ts.ops.solvers import check_solve, is_vector
from ts.ops.unsupported_dtypes import INEXACT, LOW_PRECISION

Array = common.Array


def _factors(xp: Any, A: Array) -> tuple[Array, Array, Array]:
    by_columns = A.flags.c_contiguous and A.dtype.kind != "c"
    return lu_packed(xp, transpose_matrices(A) if by_columns else A)


def _sign_of_swaps(xp: Any, pivots: Array) -> Array:
    """Return the sign of the permutation of LAPACK pivots: 1 for an even number of row swaps, else -1."""
    swapped = pivots != xp.arange(1, pivots.shape[-1] + 1)
    return 1 - 2 * (xp.sum(swapped, axis=-1) % 2)


def _factor_shapes(name: str, A: Array) -> list[ShapeAndDtype]:
    square(name, A)
    return [like(A), (A.shape[:-1], common.INT32)]


def _det_shapes(A: Array) -> list[ShapeAndDtype]:
    """Return shape and dtype of determinants and LU factors."""
    return [(A.shape[:-2], A.dtype), *_factor_shapes("linalg.det", A)]


def _slogdet_shapes(A: Array) -> list[ShapeAndDtype]:
    """Return shape and dtype of sign, logabsdet and LU factors."""
    lead = A.shape[:-2]
    return [(lead, A.dtype), (lead, common.real_dtype(A.dtype)), *_factor_shapes("linalg.slogdet", A)]


@op(
    "aten::_linalg_det(Tensor A) -> (Tensor result, Tensor LU, Tensor pivots)",
    out="result",
    layout=("contiguous", "columns", "contiguous"),
    dtype_errors={"bi": f"linalg.det: {INEXACT}"},
    out_dtype_error=EXPECTED_DTYPE_ERROR,
    shape=_det_shapes,
)
def _det(xp: Any, A: Array) -> tuple[Array, Array, Array]:
    square("linalg.det", A)
    if A.size:
        common.check_factorised("lu_cpu", A)
    lu, pivots, _ = _factors(xp, A)
    diagonal = xp.prod(xp.diagonal(lu, axis1=-2, axis2=-1), axis=-1)
    return common.cast(xp, xp.asarray(diagonal * _sign_of_swaps(xp, pivots)), A.dtype), lu, pivots


@op(
    "aten::_linalg_slogdet(Tensor A) -> (Tensor sign, Tensor logabsdet, Tensor LU, Tensor pivots)",
    out="sign",
    layout=("contiguous", "contiguous", "columns", "contiguous"),
    dtype_errors={"bi": f"linalg.slogdet: {INEXACT}", "h": f"linalg.slogdet: {LOW_PRECISION}"},
    out_dtype_error=EXPECTED_DTYPE_ERROR,
    shape=_slogdet_shapes,
)
def _slogdet(xp: Any, A: Array) -> tuple[Array, Array, Array, Array]:
    lu, pivots, _ = _factors(xp, square("linalg.slogdet", A))
    diagonal = xp.diagonal(lu, axis1=-2, axis2=-1)
    size = xp.abs(diagonal)
    sign = xp.prod(xp.where(size == 0, 0, diagonal / xp.where(size == 0, 1, size)), axis=-1)
    logs = xp.sum(xp.log(size), axis=-1)
    return (
        common.cast(xp, xp.asarray(sign * _sign_of_swaps(xp, pivots)), A.dtype),
        common.cast(xp, xp.asarray(logs), common.real_dtype(A.dtype)),
        lu,
        pivots,
    )


def _solution_shapes(
    A: Array, B: Array, left: bool = True, check_errors: bool = False
) -> list[ShapeAndDtype]:
    """Return shape and dtype of the solution, A's LU factors, and info."""
    check_solve(A, B, left)
    vector = is_vector(A, B)
    rows = B.shape[-1:] if vector else B.shape[-2:]
    lead = common.broadcast_shapes(A.shape[:-2], B.shape[: -len(rows)])
    return [((*lead, *rows), A.dtype), like(A), (A.shape[:-1], common.INT32), (A.shape[:-2], common.INT32)]


@op(
    "aten::_linalg_solve_ex(Tensor A, Tensor B, *, bool left=True, bool check_errors=False) -> (Tensor "
    "result, Tensor LU, Tensor pivots, Tensor info)",
    out="result",
    layout=("columns", "columns", "contiguous", "contiguous"),
    out_dtype_error=EXPECTED_DTYPE_ERROR,
    shape=_solution_shapes,
)
def _solve_ex(
    xp: Any, A: Array, B: Array, left: bool = True, check_errors: bool = False
) -> tuple[Array, Array, Array, Array]:
    check_solve(A, B, left)
    lu, pivots, info = lu_packed(xp, A)
    if check_errors:
        raise_errors(xp, info, "torch.linalg.solve_ex", A.ndim == 2)
    vector = is_vector(A, B)
    result = solve_factored(xp, lu, pivots, B[..., None] if vector else B, left)
    return result[..., 0] if vector else result, lu, pivots, info


@op(
    'aten::_linalg_eigh(Tensor A, str UPLO="L", bool compute_v=True) -> (Tensor eigenvalues, Tensor '
    "eigenvectors)",
    out="eigenvalues",
    layout=("contiguous", "columns"),
    dtype_errors={"bih": "linalg_eigh_cpu"},
    out_dtype_error=EXPECTED_DTYPE_ERROR,
    work=0.05,
)
def _eigh(xp: Any, A: Array, UPLO: str = "L", compute_v: bool = True) -> tuple[Array, Array]:
    values, vectors = linalg_eigh(xp, A, UPLO)
    return values, vectors if compute_v else xp.empty(0, dtype=A.dtype)


@op(
    "aten::_linalg_eigvals(Tensor self) -> Tensor",
    where="",
    layout="contiguous",
    dtype_errors={"bi": "Unknown Complex ScalarType for {dtype}", "h": "linalg_eig_out_cpu"},
    work=0.4,
)
def _eigvals(xp: Any, self: Array) -> Array:
    return linalg_eigvals(xp, self)


@op(
    "aten::_linalg_svd(Tensor A, bool full_matrices=False, bool compute_uv=True, *, str? driver=None) -> "
    "(Tensor U, Tensor S, Tensor Vh)",
    out="U",
    layout=("columns", "contiguous", "columns"),
    dtype_errors={"bi": f"linalg.svd: {INEXACT}", "h": "linalg_svd_cpu"},
    out_dtype_error=EXPECTED_DTYPE_ERROR,
    work=0.4,
)
def _svd(
    xp: Any, A: Array, full_matrices: bool = False, compute_uv: bool = True, driver: str | None = None
) -> tuple[Array, Array, Array]:
    left, values, right = linalg_svd(xp, A, full_matrices, driver)
    nothing = xp.empty(0, dtype=A.dtype)
    return (left, values, right) if compute_uv else (nothing, values, nothing)


@op(
    "aten::_linalg_check_errors(Tensor info, str api_name, *, bool is_matrix) -> ()",
    side_effect=True,
    shape=ITEM,
)
def _check_errors(xp: Any, info: Array, api_name: str, is_matrix: bool) -> None:
    if info.dtype != common.INT32:
        raise RuntimeError(f"Expected 32-bit integers, but got {common.NAME_OF[info.dtype]}")
    raise_errors(xp, info, api_name, is_matrix)
