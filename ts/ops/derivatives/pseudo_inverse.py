"""Derivatives of pseudoinverses."""

from __future__ import annotations

import ts  # the formulas below contain this name
from ts import Tensor
from ts.ops.derivatives.factorizations import adjoint
from ts.ops.derivatives.formula_registry import derive


def of_pseudo_inverse(grad: Tensor, A: Tensor, inverse: Tensor) -> Tensor:
    """Return the gradient of the pseudo-inverse.

    It is the sum of the formula for inverse matrices and two terms. One of these terms is zero if A has full
    row rank, and the other if A has full column rank.
    """
    turned, back = adjoint(inverse), adjoint(grad)
    rows = back.matmul(inverse).matmul(turned)
    columns = turned.matmul(inverse).matmul(back)
    rows = rows - A.matmul(inverse.matmul(rows))
    columns = columns - columns.matmul(inverse).matmul(A)
    return rows + columns - turned.matmul(grad).matmul(turned)


derive(
    "aten::linalg_pinv.atol_rtol_tensor aten::linalg_pinv.atol_rtol_float aten::linalg_pinv "
    "aten::linalg_pinv.rcond_tensor aten::pinverse",
    self="of_pseudo_inverse(grad, self, result)", name="LinalgPinvBackward0",
)  # fmt: skip
