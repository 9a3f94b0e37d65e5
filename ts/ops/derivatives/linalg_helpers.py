"""Derivatives of PyTorch's internal operators for determinants, linear systems and spectra."""

from __future__ import annotations

import ts
from ts.ops.derivatives.factorizations import _of_det, _of_eigh, _of_slogdet, _of_svd
from ts.ops.derivatives.formula_registry import compose, derive
from ts.ops.derivatives.solvers import _of_solve

derive("aten::_linalg_det", A="_of_det(grad, A, result)", differentiable="result")
derive(
    "aten::_linalg_slogdet",
    A="_of_slogdet(grad_sign, grad_logabsdet, A, sign)", differentiable="sign logabsdet",
)  # fmt: skip
derive(
    "aten::_linalg_solve_ex", {"A, B": "_of_solve(grad, A, B.size(), result, left)"}, differentiable="result"
)
derive(
    "aten::_linalg_eigh",
    A="_of_eigh(grad_eigenvalues, grad_eigenvectors, eigenvalues, eigenvectors)", absent=True,
)  # fmt: skip
derive("aten::_linalg_svd", A="_of_svd(grad_U, grad_S, grad_Vh, U, S, Vh)", absent=True)
compose("aten::_linalg_eigvals", "ts.linalg.eig(self)[0]")
