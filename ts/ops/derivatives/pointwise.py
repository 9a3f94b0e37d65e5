"""Derivatives of the pointwise operators of two arguments."""

from __future__ import annotations

from ts.ops.derivatives.rows import LINEAR, derive

derive("aten::add.Tensor", self="grad", other="grad * alpha", result=LINEAR)
derive(
    "aten::mul.Tensor", self="grad * other.conj()", other="grad * self.conj()",
    result="self_t * other + self * other_t",
)  # fmt: skip
