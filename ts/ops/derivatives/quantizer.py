"""Derivatives of fake quantization (straight-through estimator): gradients are 0 outside of the range."""

from __future__ import annotations

import ts
from ts import Tensor
from ts.ops.derivatives.formula_registry import derive


def inside(grad: Tensor, quantized: Tensor, quant_min: int, quant_max: int) -> Tensor:
    """Return `grad`, with zeros for elements whose value in `quantized` is outside of the quantized range."""
    return ts.where((quantized >= quant_min) & (quantized <= quant_max), grad, 0)


def per_channel(x: Tensor, self: Tensor, axis: int) -> Tensor:
    """Reshape scales or zero points to broadcast along the channel dimension."""
    sizes = [1] * self.dim()
    sizes[axis] = x.numel()
    return x.reshape(sizes)


derive(
    "aten::fake_quantize_per_tensor_affine", name="FakeQuantizePerTensorAffineCachemaskBackward0",
    self="inside(grad, (self * (1 / scale)).round() + zero_point, quant_min, quant_max)",
)  # fmt: skip
derive(
    "aten::fake_quantize_per_tensor_affine.tensor_qparams",
    name="FakeQuantizePerTensorAffineCachemaskTensorQparamsBackward0",
    self="inside(grad, (self * (1 / scale)).round() + zero_point, quant_min, quant_max)",
)
derive(
    "aten::fake_quantize_per_channel_affine", name="FakeQuantizePerChannelAffineCachemaskBackward0",
    self="inside(grad, (self * (1 / per_channel(scale, self, axis))).round() "
    "+ per_channel(zero_point, self, axis), quant_min, quant_max)",
)  # fmt: skip
