"""Derivatives of dropout, and of rrelu (leaky ReLU with random slopes)."""

from __future__ import annotations

import math
from typing import Final

import ts
from ts import Tensor
from ts.ops.derivatives.formula_registry import LINEAR, compose, derive

SELU_LIMIT: Final = -1.7580993408473766


def dropout_mask(input: Tensor, p: float, channels: bool) -> Tensor:
    """Return a dropout mask of zeros and ones. If `channels`, the mask has one element per channel."""
    if not channels:
        return ts.empty_like(input).bernoulli_(1 - p)
    if input.dim() < 2:
        raise RuntimeError("Feature dropout requires at least 2 dimensions in the input")
    return input.new_empty(list(input.size()[:2]) + [1] * (input.dim() - 2)).bernoulli_(1 - p)


def apply_dropout(input: Tensor, p: float, train: bool, channels: bool) -> Tensor:
    """Apply dropout if `train`, otherwise return the input."""
    if p < 0 or p > 1:
        raise RuntimeError("dropout probability has to be between 0 and 1, but got " + str(p))
    if p == 0 or not train or input.numel() == 0:
        return input
    return input * 0 if p == 1 else input * (dropout_mask(input, p, channels) / (1 - p))


def apply_alpha_dropout(input: Tensor, p: float, train: bool, channels: bool) -> Tensor:
    """Apply alpha dropout.

    Dropped elements become SELU's lower limit, and mean and variance are preserved.
    """
    if p < 0 or p > 1:
        raise RuntimeError("dropout probability has to be between 0 and 1, but got " + str(p))
    if p == 0 or not train or input.numel() == 0:
        return input
    if p == 1:
        return input * 0
    noise = dropout_mask(input, p, channels)
    scale = 1 / math.sqrt((SELU_LIMIT * SELU_LIMIT * p + 1) * (1 - p))
    moved = (noise + -1) * (-SELU_LIMIT * scale) + -SELU_LIMIT * scale * p
    return input * (noise * scale) + moved


compose("aten::dropout", "apply_dropout(input, p, train, False)")
compose("aten::feature_dropout", "apply_dropout(input, p, train, True)")
compose("aten::alpha_dropout", "apply_alpha_dropout(input, p, train, False)")
compose("aten::feature_alpha_dropout", "apply_alpha_dropout(input, p, train, True)")
compose("aten::dropout_", "self.copy_(apply_dropout(self, p, train, False))")
compose("aten::feature_dropout_", "self.copy_(apply_dropout(self, p, train, True))")
compose("aten::alpha_dropout_", "self.copy_(apply_alpha_dropout(self, p, train, False))")
compose("aten::feature_alpha_dropout_", "self.copy_(apply_alpha_dropout(self, p, train, True))")


def of_native_dropout(grad: Tensor, mask: Tensor, p: float, train: bool | None) -> Tensor:
    """Return the gradient of `native_dropout`, which is `grad` times the mask.

    Unless `train` is False, it is also multiplied by 1 / (1 - p).
    """
    if train is False:
        return grad * mask
    return grad * mask * (0.0 if p == 1 else 1 / (1 - p))


derive(
    "aten::native_dropout", differentiable="result0",
    input="of_native_dropout(grad, result1, p, train)",
    result="of_native_dropout(input_t, result1, p, train)",
)  # fmt: skip
derive(
    "aten::native_dropout_backward", name="NativeDropoutBackwardBackward0", result=LINEAR,
    grad_output="grad * mask * scale",
)  # fmt: skip
derive("aten::_masked_scale", self="grad * mask * scale", result=LINEAR)


def of_rrelu(
    grad: Tensor, self: Tensor, slopes: Tensor, lower: float, upper: float, training: bool
) -> Tensor:
    """Return the gradient of RReLU: `grad` times `slopes`, the random slopes, if `training`.

    Otherwise, the slope of elements that are not positive is (lower + upper) / 2.
    """
    if training:
        return grad * slopes
    return ts.where(self > 0, grad, grad * ((lower + upper) / 2))


derive("aten::rrelu_with_noise", self="of_rrelu(grad, self, noise, float(lower), float(upper), training)")
derive(
    "aten::rrelu_with_noise_", name="RreluWithNoiseBackward1",
    self="ts.rrelu_with_noise_backward(grad, result, noise, lower, upper, training, True)",
)  # fmt: skip
derive(
    "aten::rrelu_with_noise_functional", differentiable="result0",
    self="of_rrelu(grad, self, noise_out, float(lower), float(upper), training)",
)  # fmt: skip
compose(
    "aten::rrelu",
    "ts.rrelu_with_noise(self, ts.empty_like(self), lower, upper, training, generator)",
)
compose(
    "aten::rrelu_",
    "ts.rrelu_with_noise_(self, ts.empty_like(self), lower, upper, training, generator)",
)
