"""Derivatives of inverses of matrices and solutions of linear equations."""

from __future__ import annotations

import ts
from ts import Tensor
from ts.ops.derivatives.factorizations import _of_product, adjoint
from ts.ops.derivatives.formula_registry import compose, derive


def _of_inverse(grad: Tensor, inverse: Tensor) -> Tensor:
    turned = adjoint(inverse)
    return -turned.matmul(grad).matmul(turned)


def _of_system(A: Tensor, result: Tensor, of_b: Tensor, vectors: bool, left: bool) -> Tensor:
    """Return the gradient of matrix A of a linear system with solution `result`.

    `of_b` is the gradient of the right side. With `vectors`, the right side is a vector.
    """
    if vectors:
        return -of_b.unsqueeze(-1).matmul(adjoint(result.unsqueeze(-1)))
    return -of_b.matmul(adjoint(result)) if left else -adjoint(result).matmul(of_b)


def _of_solve(
    grad: Tensor, A: Tensor, b_sizes: list[int], result: Tensor, left: bool
) -> tuple[Tensor, Tensor]:
    vectors = len(b_sizes) == 1 or (len(b_sizes) == A.dim() - 1 and b_sizes == A.shape[:-1])
    of_b = ts.linalg.solve(adjoint(A), grad, left=left)
    return _of_system(A, result, of_b, vectors, left), of_b


def _of_triangle(
    grad: Tensor, A: Tensor, result: Tensor, upper: bool, left: bool, unitriangular: bool
) -> tuple[Tensor, Tensor]:
    of_b = ts.linalg.solve_triangular(
        adjoint(A), grad, upper=not upper, left=left, unitriangular=unitriangular
    )
    return _triangle(_of_system(A, result, of_b, False, left), upper, unitriangular), of_b


def _triangle(x: Tensor, upper: bool, unitriangular: bool) -> Tensor:
    inside = 1 if unitriangular else 0
    return x.triu(inside) if upper else x.tril(-inside)


def _of_old_triangle(
    grad: Tensor,
    of_clone: Tensor,
    A: Tensor,
    solution: Tensor,
    upper: bool,
    transpose: bool,
    unitriangular: bool,
) -> tuple[Tensor, Tensor]:
    of_b = ts.triangular_solve(grad, A.conj(), upper, not transpose, unitriangular)[0]
    of_matrix = -of_b.matmul(adjoint(solution))
    if transpose:
        of_matrix = of_matrix.transpose(-2, -1)
    return of_b, _triangle(of_matrix, upper, unitriangular) + of_clone


derive(
    "aten::linalg_inv", A="_of_inverse(grad, result)", name="LinalgInvExBackward0",
    result="-result.matmul(A_t).matmul(result)",
)  # fmt: skip
derive("aten::linalg_inv_ex", A="_of_inverse(grad, inverse)", differentiable="inverse")
derive(
    "aten::linalg_solve",
    {"A, B": "_of_solve(grad, A, B.size(), result, left)"},
    name="LinalgSolveExBackward0",
)
derive(
    "aten::linalg_solve_ex", {"A, B": "_of_solve(grad, A, B.size(), result, left)"}, differentiable="result"
)
derive(
    "aten::linalg_solve_triangular",
    {"self, B": "_of_triangle(grad, self, result, upper, left, unitriangular)"},
)
derive(
    "aten::triangular_solve",
    {
        "self, A": "_of_old_triangle(grad_solution, grad_cloned_coefficient, A, solution, upper, transpose, "
        "unitriangular)"
    },
)


def _tensorinv(self: Tensor, ind: int) -> Tensor:
    rows = 1
    for n in self.shape[:ind]:
        rows *= n
    return ts.linalg.inv(self.reshape(rows, -1)).view(self.shape[ind:] + self.shape[:ind])


def _tensorsolve(self: Tensor, other: Tensor, dims: list[int] | None) -> Tensor:
    x = self
    if dims is not None:
        x = x.movedim(dims, [i - len(dims) for i in range(len(dims))])
    sizes = x.shape[other.dim() :]
    return ts.linalg.solve(x.reshape(other.numel(), -1), other.flatten()).view(sizes)


compose("aten::linalg_tensorinv", "_tensorinv(self, ind)")
compose("aten::linalg_tensorsolve", "_tensorsolve(self, other, dims)")


def _of_cholesky_solve(grad: Tensor, solution: Tensor, factor: Tensor, upper: bool) -> tuple[Tensor, Tensor]:
    of_b = ts.cholesky_solve(grad, factor, upper)
    return of_b, -_of_product(of_b.matmul(adjoint(solution)), factor, upper)


derive("aten::cholesky_solve", {"self, input2": "_of_cholesky_solve(grad, result, input2, upper)"})
derive("aten::_cholesky_solve_helper", {"self, A": "_of_cholesky_solve(grad, result, A, upper)"})
