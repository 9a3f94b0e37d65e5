"""Derivatives of LU factorizations and LU solves. The permutation is treated as constant."""

from __future__ import annotations

import ts
from ts import Tensor
from ts.ops.derivatives.factorizations import adjoint
from ts.ops.derivatives.formula_registry import compose, derive


def _of_factors(of_l: Tensor, of_u: Tensor, permutation: Tensor, lower: Tensor, upper: Tensor) -> Tensor:
    """Return the gradient of a matrix A = P L U from `of_l` and `of_u`, the gradients of L and U."""
    k = lower.size(-1)
    rows, columns = lower.size(-2) - k, upper.size(-1) - k
    left, right = adjoint(lower.narrow(-2, 0, k)), adjoint(upper.narrow(-1, 0, k))
    below = left.matmul(of_l.narrow(-2, 0, k))
    above = of_u.narrow(-1, 0, k).matmul(right)
    if rows > 0:
        above = above - adjoint(lower.narrow(-2, k, rows)).matmul(of_l.narrow(-2, k, rows))
    if columns > 0:
        below = below - of_u.narrow(-1, k, columns).matmul(adjoint(upper.narrow(-1, k, columns)))
    inner = below.tril(-1) + above.triu()
    inner = ts.linalg.solve_triangular(right, inner, upper=False, left=False)
    gradient = ts.linalg.solve_triangular(left, inner, upper=True, unitriangular=True)
    if rows > 0:
        rest = of_l.narrow(-2, k, rows)
        rest = ts.linalg.solve_triangular(right, rest, upper=False, left=False)
        gradient = ts.cat([gradient, rest], -2)
    if columns > 0:
        rest = of_u.narrow(-1, k, columns)
        rest = ts.linalg.solve_triangular(left, rest, upper=True, unitriangular=True)
        gradient = ts.cat([gradient, rest], -1)
    return permutation.matmul(gradient)


def _of_packed(grad: Tensor, packed: Tensor, pivots: Tensor) -> Tensor:
    p, lower, upper = ts.lu_unpack(packed, pivots)
    k = lower.size(-1)
    return _of_factors(grad.narrow(-1, 0, k), grad.narrow(-2, 0, k), p, lower, upper)


def _packed(of_l: Tensor, of_u: Tensor, sizes: list[int], unpack_data: bool) -> Tensor:
    """Return the gradient of a packed LU matrix of shape `sizes` from the gradients of L and U.

    The diagonal of L, which consists of ones, and the zeros of L and U have no gradient. If `unpack_data` is
    False, the gradient is 0.
    """
    if not unpack_data:
        return of_l.new_zeros(sizes)
    rows, columns = sizes[-2] - of_u.size(-2), sizes[-1] - of_l.size(-1)
    lower, upper = of_l.tril(-1), of_u.triu()
    return ts.nn.functional.pad(lower, [0, columns]) + ts.nn.functional.pad(upper, [0, 0, 0, rows])


def _solved(LU: Tensor, pivots: Tensor, B: Tensor, left: bool, turned: bool) -> Tensor:
    """Solve A X = B if `left`, otherwise X A = B. If `turned`, use A^H in place of A.

    `LU` and `pivots` are the LU factorization of A.
    """
    if not left:
        return adjoint(_solved_left(LU, pivots, adjoint(B), not turned))
    return _solved_left(LU, pivots, B, turned)


def _solved_left(LU: Tensor, pivots: Tensor, B: Tensor, turned: bool) -> Tensor:
    p, lower, upper = ts.lu_unpack(LU, pivots)
    if turned:
        halfway = ts.linalg.solve_triangular(adjoint(upper), B, upper=False)
        return p.matmul(ts.linalg.solve_triangular(adjoint(lower), halfway, upper=True, unitriangular=True))
    halfway = ts.linalg.solve_triangular(lower, adjoint(p).matmul(B), upper=False, unitriangular=True)
    return ts.linalg.solve_triangular(upper, halfway, upper=True)


derive(
    "aten::linalg_lu_factor aten::linalg_lu_factor_ex", A="_of_packed(grad_LU, LU, pivots)",
    differentiable="LU", name="LinalgLuFactorExBackward0",
)  # fmt: skip
derive(
    "aten::_lu_with_info", self="_of_packed(grad_LU, LU, pivots)",
    differentiable="LU", name="LinalgLuFactorExBackward0",
)  # fmt: skip
derive("aten::linalg_lu", A="_of_factors(grad_L, grad_U, P, L, U)", differentiable="L U")
derive(
    "aten::lu_unpack", LU_data="_packed(grad_L, grad_U, LU_data.size(), unpack_data)",
    differentiable="L U",
)  # fmt: skip
compose("aten::linalg_lu_solve", "_solved(LU, pivots, B, left, adjoint)")
compose("aten::lu_solve", "_solved(LU_data, LU_pivots, self, True, False)")
