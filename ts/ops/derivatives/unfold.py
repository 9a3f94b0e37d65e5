"""Derivatives of patch extraction.

The gradient of an element is the sum of the gradients of its copies in the patches.
"""

from __future__ import annotations

import ts  # the formulas below contain this name
from ts.ops.derivatives.formula_registry import LINEAR, derive

derive(
    "aten::im2col",
    self="ts.col2im(grad, [self.size(-2), self.size(-1)], kernel_size, dilation, padding, stride)",
    result=LINEAR,
)
derive("aten::col2im", self="ts.im2col(grad, kernel_size, dilation, padding, stride)", result=LINEAR)
