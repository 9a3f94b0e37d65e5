"""Derivatives of unchecked indexing, and of indexing under a mask."""

from __future__ import annotations

import ts  # the formulas below contain this name
from ts.ops.derivatives.formula_registry import LINEAR, derive

derive(
    "aten::_unsafe_index.Tensor aten::_unsafe_index.Tensor_hacked_twin",
    self="ts._unsafe_index_put(grad.new_zeros(self.size()), indices, grad, True)",
    result=LINEAR,
)
derive(
    "aten::_index_put_impl aten::_unsafe_index_put aten::_unsafe_index_put.hacked_twin "
    "aten::_index_put_impl_ aten::_index_put_impl_.hacked_twin",
    self="grad if accumulate else grad.index_put(indices, grad.new_zeros([]))",
    values="ts.index(grad, indices)",
    result=LINEAR,
)
derive(
    "aten::_unsafe_masked_index",
    self="ts._unsafe_masked_index_put_accumulate(grad.new_zeros(self.size()), mask, indices, grad)",
    result="ts._unsafe_masked_index(self_t, mask, indices, 0)",
)
derive(
    "aten::_unsafe_masked_index_put_accumulate",
    self="grad",
    values="ts._unsafe_masked_index(grad, mask, indices, 0)",
    result=LINEAR,
)
