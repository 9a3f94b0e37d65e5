"""Derivatives of operators that only scripts have.

Implicit conversions to numbers raise an error for tensors that require grad.

    p: float = x        an error if x requires grad: the number would be a constant
    p = float(x)        an explicit constant
"""

from __future__ import annotations

from ts.ops.derivatives.formula_registry import refuse

refuse(
    "aten::FloatImplicit aten::IntImplicit aten::ScalarImplicit aten::ComplexImplicit",
    "Cannot input a tensor that requires grad as a scalar argument",
)
