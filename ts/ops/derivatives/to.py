"""Derivatives of conversions: gradients are converted to the argument's dtype and device."""

from __future__ import annotations

from ts.ops.derivatives.formula_registry import LINEAR, constant, derive

derive("aten::_to_copy", self="grad", result=LINEAR)
derive(
    "aten::to.device aten::to.dtype aten::to.other aten::to.dtype_layout aten::to.prim_Device "
    "aten::to.prim_dtype aten::to.prim_other aten::cpu aten::cuda aten::_cast_Double aten::_cast_Float "
    "aten::_cast_Half aten::_autocast_to_full_precision aten::_autocast_to_reduced_precision",
    self="grad", result=LINEAR, name="ToCopyBackward0",
)  # fmt: skip
derive("aten::as_tensor", data="grad", result=LINEAR, name="ToCopyBackward0")
derive("aten::_to_cpu", tensors="grads", result=LINEAR, name="ToCopyBackward0")
derive("aten::pin_memory aten::_pin_memory", self="grad", result=LINEAR, name="PinMemoryBackward0")
constant("aten::data aten::detach aten::detach_ prim::data", "the result is detached from the autograd graph")
