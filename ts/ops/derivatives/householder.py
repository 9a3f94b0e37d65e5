"""Derivatives of products of Householder reflectors. `geqrf` has no derivative."""

from __future__ import annotations

import ts
from ts import Tensor
from ts.ops.derivatives.common import underivable  # the formulas below contain this name
from ts.ops.derivatives.factorizations import adjoint
from ts.ops.derivatives.formula_registry import compose, derive


def apply_householder(packed: Tensor, tau: Tensor, x: Tensor, turned: bool) -> Tensor:
    """Return Q @ x, or with `turned`, Q^H @ x.

    Q is the product of the Householder reflectors stored below the diagonal of `packed`.
    """
    count = tau.size(-1)
    rows = packed.size(-2)
    ones = ts.eye(rows, count, dtype=packed.dtype, device=packed.device)
    vectors = packed.narrow(-1, 0, count).tril(-1) + ones
    scales = (tau.conj() if turned else tau).unsqueeze(-1).unsqueeze(-1)
    for step in range(count):
        i = step if turned else count - 1 - step
        v = vectors.narrow(-1, i, 1)
        x = x - scales.select(-3, i) * v.matmul(adjoint(v).matmul(x))
    return x


def orthogonal(packed: Tensor, tau: Tensor) -> Tensor:
    """Return the leading columns of Q, the product of the Householder reflectors in `packed`."""
    rows, columns = packed.size(-2), packed.size(-1)
    return apply_householder(
        packed, tau, ts.eye(rows, columns, dtype=packed.dtype, device=packed.device), False
    )


def product(packed: Tensor, tau: Tensor, x: Tensor, left: bool, turned: bool) -> Tensor:
    """Return Q @ x if `left`, else x @ Q. If `turned`, the adjoint of Q is used instead of Q."""
    if left:
        return apply_householder(packed, tau, x, turned)
    return adjoint(apply_householder(packed, tau, adjoint(x), not turned))


derive("aten::geqrf", self="underivable('geqrf')")
compose("aten::linalg_householder_product", "orthogonal(input, tau)")
compose("aten::ormqr", "product(self, input2, input3, left, transpose)")
