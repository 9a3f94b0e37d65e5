"""Derivatives of operators that exist only in scripts.

An implicit conversion to a number raises an error for tensors that require grad, because gradients do not
flow through numbers. An explicit conversion is accepted:

    p: float = x        # an error if x requires grad
    p = float(x)        # accepted
"""

from __future__ import annotations

from ts.ops.derivatives.formula_registry import reject_grad

reject_grad(
    "aten::FloatImplicit aten::IntImplicit aten::ScalarImplicit aten::ComplexImplicit",
    "Cannot input a tensor that requires grad as a scalar argument",
)
