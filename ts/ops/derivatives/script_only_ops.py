"""Derivatives of operators that exist only in scripts.

Implicit conversions to numbers raise an error for tensors that require grad.

    p: float = x        an error if x requires grad, because gradients do not flow through numbers
    p = float(x)        accepted: the program requests a number
"""

from __future__ import annotations

from ts.ops.derivatives.formula_registry import reject_grad

reject_grad(
    "aten::FloatImplicit aten::IntImplicit aten::ScalarImplicit aten::ComplexImplicit",
    "Cannot input a tensor that requires grad as a scalar argument",
)
