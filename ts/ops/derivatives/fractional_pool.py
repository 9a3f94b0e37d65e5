"""Derivatives of fractional max poolings."""

from __future__ import annotations

import ts
from ts.ops.derivatives.formula_registry import derive
from ts.ops.derivatives.pooling import elements_at_indices

for _n in (2, 3):
    derive(
        f"aten::fractional_max_pool{_n}d",
        self=f"ts.fractional_max_pool{_n}d_backward(grad, self, kernel_size, output_size, result1)",
        result={"result0": f"elements_at_indices(self_t, result1, {_n})"},
        differentiable="result0",
    )
    derive(
        f"aten::fractional_max_pool{_n}d_backward",
        grad_output=f"elements_at_indices(grad, indices, {_n})", self="ts.zeros_like(self)",
    )  # fmt: skip
