"""Derivatives of conversions to another tensor's dtype or shape."""

from __future__ import annotations

from ts.ops.derivatives.formula_registry import LINEAR, derive

derive("aten::type_as", self="grad", result=LINEAR, name="ToCopyBackward0")
derive(
    "aten::sum_to_size aten::_grad_sum_to_size", self="grad.expand(self.size())",
    result=LINEAR, name="SumBackward1",
)  # fmt: skip
