"""Derivatives of activations and of softmax."""

from __future__ import annotations

import math
from typing import Final, Optional, Union

import ts
from ts import Tensor
from ts.ops.derivatives.formula_registry import ELEMENTWISE, compose, derive

ROOT_HALF: Final = math.sqrt(0.5)
ROOT_2_PI: Final = math.sqrt(2 * math.pi)
ROOT_2_BY_PI: Final = math.sqrt(2 / math.pi)

# ------------------------------------------------------------------------------- piecewise linear activations

derive("aten::relu", self="ts.where(result <= 0, 0, grad)", result=ELEMENTWISE)
derive(
    "aten::relu6", self="ts.where((self <= 0) | (self >= 6), 0, grad)", name="HardtanhBackward0",
    result=ELEMENTWISE,
)  # fmt: skip
derive("aten::hardtanh", self="ts.where((self <= min_val) | (self >= max_val), 0, grad)", result=ELEMENTWISE)
derive("aten::leaky_relu", self="ts.where(self > 0, grad, grad * negative_slope)", result=ELEMENTWISE)
derive(
    "aten::leaky_relu_", self="ts.leaky_relu_backward(grad, result, negative_slope, True)",
    name="LeakyReluBackward1", result=ELEMENTWISE,
)  # fmt: skip
derive("aten::threshold", self="ts.where(self <= threshold, 0, grad)", result=ELEMENTWISE)
derive(
    "aten::softshrink aten::hardshrink", self="ts.where((self >= -lambd) & (self <= lambd), 0, grad)",
    result=ELEMENTWISE,
)  # fmt: skip
derive("aten::hardsigmoid", self="ts.where((self > -3) & (self < 3), grad / 6, 0)", result=ELEMENTWISE)
derive(
    "aten::hardswish", result=ELEMENTWISE,
    self="ts.where(self <= -3, 0, ts.where(self < 3, grad * (self / 3 + 0.5), grad))",
)  # fmt: skip
derive(
    "aten::_prelu_kernel", result=ELEMENTWISE,
    self="ts.where(self > 0, grad, grad * weight)", weight="ts.where(self > 0, 0, grad * self)",
)  # fmt: skip


def apply_prelu(self: Tensor, weight: Tensor) -> Tensor:
    """Apply PReLU. Reshape the weight first, so that its elements belong to the channels of `self`."""
    if weight.dim() > 0 and self.dim() != 1:
        sizes = [1] * self.dim()
        if self.dim() > 1:
            sizes[1] = weight.size(0)
        weight = weight.view(sizes)
    return ts._prelu_kernel(self, weight)


compose("aten::prelu", "apply_prelu(self, weight)")

# ---------------------------------------------------------------------------------------- smooth activations


def of_elu(
    grad: Tensor,
    self: Tensor,
    alpha: int | float | complex,
    scale: int | float | complex,
    input_scale: int | float | complex,
) -> Tensor:
    """Return the gradient of ELU and its variants."""
    small = (self * input_scale).exp() * input_scale * alpha
    return ts.where(self <= 0, grad * small, grad) * scale


def of_gelu(grad: Tensor, self: Tensor, approximate: str) -> Tensor:
    """Return the gradient of GELU, or of its tanh approximation.

    For exact GELU, it is `grad * (cdf + x * pdf)`, with the functions of the standard normal distribution.
    """
    if approximate == "tanh":
        t = ts.tanh((self + self**3 * 0.044715) * ROOT_2_BY_PI)
        slope = (self * self * (3 * 0.044715) + 1) * ROOT_2_BY_PI
        return grad * 0.5 * (t + 1 + self * (1 - t * t) * slope)
    density = (self * self * -0.5).exp() * (1 / ROOT_2_PI)
    return grad * ((ts.erf(self * ROOT_HALF) + 1) * 0.5 + self * density)


def of_silu(grad: Tensor, self: Tensor) -> Tensor:
    """Return the gradient of silu, x * sigmoid(x)."""
    s = ts.sigmoid(self)
    return grad * (s * (self * (1 - s) + 1)).conj()


def of_mish(grad: Tensor, self: Tensor) -> Tensor:
    """Return the gradient of mish, x * tanh(softplus(x))."""
    t = ts.tanh(ts.nn.functional.softplus(self))
    return grad * (t + self * ts.sigmoid(self) * (1 - t * t))


def of_softplus(
    grad: Tensor, self: Tensor, beta: int | float | complex, threshold: int | float | complex
) -> Tensor:
    """Return the gradient of softplus.

    Above the threshold, softplus is the identity, so the gradient is `grad`.
    """
    x = self * beta
    return ts.where(x > threshold, grad, grad * ts.sigmoid(x))


def of_glu(grad: Tensor, self: Tensor, dim: int) -> Tensor:
    """Return the gradient of GLU: the gradients of the values and of the gates, concatenated along `dim`."""
    left, right = self.chunk(2, dim)
    gate = ts.sigmoid(right)
    return ts.cat([grad * gate, grad * left * gate * (1 - gate)], dim)


derive("aten::elu", self="of_elu(grad, self, alpha, scale, input_scale)", result=ELEMENTWISE)
derive("aten::celu", self="of_elu(grad, self, alpha, 1, 1.0 / float(alpha))", result=ELEMENTWISE)
# In-place variants save only the result. If the slope is negative, the result does not determine the input,
# and backward raises an error.
derive(
    "aten::elu_", self="ts.elu_backward(grad, alpha, scale, input_scale, True, result)",
    name="EluBackward1", result=ELEMENTWISE,
)  # fmt: skip
derive(
    "aten::celu_", self="ts.elu_backward(grad, alpha, 1, 1.0 / float(alpha), True, result)",
    name="CeluBackward1", result=ELEMENTWISE,
)  # fmt: skip
derive(
    "aten::selu_", name="EluBackward1", result=ELEMENTWISE,
    self="ts.elu_backward(grad, 1.6732632423543772, 1.0507009873554805, 1, True, result)",
)  # fmt: skip
derive(
    "aten::selu", self="of_elu(grad, self, 1.6732632423543772, 1.0507009873554805, 1)", name="EluBackward0",
    result=ELEMENTWISE,
)  # fmt: skip
derive("aten::gelu", self="of_gelu(grad, self, approximate)", result=ELEMENTWISE)
derive("aten::silu", self="of_silu(grad, self)", result=ELEMENTWISE)
derive("aten::mish", self="of_mish(grad, self)", result=ELEMENTWISE)
derive("aten::softplus", self="of_softplus(grad, self, beta, threshold)", result=ELEMENTWISE)
derive("aten::log_sigmoid", self="grad * ts.sigmoid(-self)", result=ELEMENTWISE)
derive(
    "aten::log_sigmoid_forward", self="grad * ts.sigmoid(-self)", name="LogSigmoidBackward0",
    differentiable="output", result=ELEMENTWISE,
)  # fmt: skip
derive("aten::glu", self="of_glu(grad, self, dim)", result="ts.glu_jvp(result, self, self_t, dim)")

# ---------------------------------------------------------------------------------------- softmax


def of_softmax(grad: Tensor, result: Tensor, dim: int) -> Tensor:
    """Return the gradient of softmax: `result * (grad - (result * grad).sum(dim))`."""
    weighted = grad * result
    return weighted - result * weighted.sum(dim, True)


def of_log_softmax(grad: Tensor, result: Tensor, dim: int) -> Tensor:
    """Return the gradient of log_softmax along `dim` from its result."""
    return grad - result.exp() * grad.sum(dim, True)


derive(
    "aten::softmax.int aten::_softmax", self="of_softmax(grad, result, dim)", name="SoftmaxBackward0",
    result="of_softmax(self_t, result, dim)",
)  # fmt: skip
derive("aten::_safe_softmax", self="of_softmax(grad, result, dim)", result="of_softmax(self_t, result, dim)")
derive(
    "aten::log_softmax.int aten::_log_softmax", self="of_log_softmax(grad, result, dim)",
    name="LogSoftmaxBackward0",
    result="self_t - (result.exp() * self_t).sum(dim, True)",
)  # fmt: skip


def of_masked_softmax(grad: Tensor, result: Tensor, mask: Tensor, dim: int | None) -> Tensor:
    """Return the gradient of masked softmax, zero at masked positions."""
    output = ts.where(mask, 0, result)
    return of_softmax(grad, output, -1 if dim is None else dim)


derive("aten::_masked_softmax", self="of_masked_softmax(grad, result, mask, dim)")
derive(
    "aten::_softmax_backward_data",
    grad_output="of_softmax(grad, output, dim)",
    output="grad * grad_output - grad * (grad_output * output).sum(dim, True)"
    " - grad_output * (grad * output).sum(dim, True)",
)
