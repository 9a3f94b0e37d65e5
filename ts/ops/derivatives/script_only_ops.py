"""Derivatives of operators that exist only in scripts.

Gradients do not flow through Python numbers. The implicit conversion of a tensor that requires grad to a
number therefore raises an error. The explicit conversion `float(x)` is accepted.
"""

from __future__ import annotations

from ts.ops.derivatives.formula_registry import reject_grad

reject_grad(
    "aten::FloatImplicit aten::IntImplicit aten::ScalarImplicit aten::ComplexImplicit",
    "Cannot input a tensor that requires grad as a scalar argument",
)
