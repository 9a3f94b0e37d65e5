"""Derivatives of least squares, computed for the solution as pseudo-inverse times right-hand side."""

from __future__ import annotations

import ts
from ts import Tensor
from ts.ops.derivatives.factorizations import adjoint
from ts.ops.derivatives.formula_registry import derive
from ts.ops.derivatives.pseudo_inverse import of_pseudo_inverse


def _of_solution(
    of_solution: Tensor, of_residuals: Tensor, A: Tensor, b: Tensor, solution: Tensor
) -> tuple[Tensor, Tensor]:
    vector = b.dim() == 1 or (b.dim() == A.dim() - 1 and b.size() == A.size()[:-1])
    if vector:
        of_solution, b, solution = of_solution.unsqueeze(-1), b.unsqueeze(-1), solution.unsqueeze(-1)
    inverse = ts.linalg.pinv(A)
    of_b = adjoint(inverse).matmul(of_solution)
    of_a = of_pseudo_inverse(of_solution.matmul(adjoint(b)), A, inverse)
    if of_residuals.numel() > 0:
        twice = 2 * of_residuals.unsqueeze(-2) * (A.matmul(solution) - b)
        of_a = of_a + twice.matmul(adjoint(solution))
        of_b = of_b - twice
    return of_a, of_b.squeeze(-1) if vector else of_b


derive(
    "aten::linalg_lstsq",
    {"self, b": "_of_solution(grad_solution, grad_residuals, self, b, solution)"},
    differentiable="solution residuals",
)
