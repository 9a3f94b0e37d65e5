"""Derivatives of the reparameterization gradients of random samples."""

from __future__ import annotations

from ts.ops.derivatives.common import underivable
from ts.ops.derivatives.formula_registry import derive

derive(
    "aten::_standard_gamma_grad", self="underivable('_standard_gamma_grad')",
    output="underivable('_standard_gamma_grad')",
)  # fmt: skip
