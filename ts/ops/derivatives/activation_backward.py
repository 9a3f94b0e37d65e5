"""Double backward of activations and softmax, by derivatives of their backward operators.

A backward operator is linear in the gradient of the activation's result. Its derivative with respect to the
activation's input contains the second derivative of the activation.
"""

from __future__ import annotations

import ts
from ts import Tensor
from ts.ops.derivatives.activation import (
    ROOT_2_BY_PI,
    ROOT_2_PI,
    of_gelu,
    of_masked_softmax,
    of_mish,
    of_silu,
    of_softplus,
)
from ts.ops.derivatives.dropout import of_rrelu
from ts.ops.derivatives.formula_registry import derive
from ts.ops.derivatives.ternary import of_logit

NONE = "ts.zeros_like(grad)"

# ---------------------------------------------------------------- operators that read the activation's result

derive(
    "aten::tanh_backward", name="TanhBackwardBackward0",
    grad_output="grad * (1 - output * output).conj()",
    output="grad.conj() * grad_output * output.conj() * -2",
)  # fmt: skip
derive(
    "aten::sigmoid_backward",
    grad_output="grad * ((1 - output) * output).conj()",
    output="grad.conj() * grad_output * (1 - output * 2).conj()",
)

# ------------------------------------------------------------------------------- piecewise linear activations

derive("aten::threshold_backward", grad_output="ts.where(self <= threshold, 0, grad)", self=NONE)
derive(
    "aten::hardtanh_backward", self=NONE,
    grad_output="ts.where((self <= min_val) | (self >= max_val), 0, grad)",
)  # fmt: skip
derive(
    "aten::leaky_relu_backward", self=NONE,
    grad_output="ts.where(self > 0, grad, grad * negative_slope)",
)  # fmt: skip
derive(
    "aten::rrelu_with_noise_backward", self=NONE,
    grad_output="of_rrelu(grad, self, noise, float(lower), float(upper), training)",
)  # fmt: skip
derive(
    "aten::softshrink_backward", self=NONE,
    grad_output="ts.where((self >= -lambd) & (self <= lambd), 0, grad)",
)  # fmt: skip
derive(
    "aten::hardshrink_backward", self=NONE,
    grad_out="ts.where((self >= -lambd) & (self <= lambd), 0, grad)",
)  # fmt: skip
derive(
    "aten::hardsigmoid_backward", self=NONE,
    grad_output="ts.where((self > -3) & (self < 3), grad / 6, 0)",
)  # fmt: skip
derive(
    "aten::hardswish_backward",
    grad_output="ts.where(self <= -3, 0, ts.where(self < 3, grad * (self / 3 + 0.5), grad))",
    self="ts.where((self > -3) & (self < 3), grad * grad_output / 3, 0)",
)
derive(
    "aten::_prelu_kernel_backward",
    grad_output="ts.where(self >= 0, grad0, grad0 * weight + grad1 * self)",
    self="ts.where(self >= 0, 0, grad1 * grad_output)",
    weight="ts.where(self >= 0, 0, grad0 * grad_output)",
)

# ---------------------------------------------------------------------------------------- smooth activations


def elu_slope(
    x: Tensor,
    alpha: int | float | complex,
    scale: int | float | complex,
    input_scale: int | float | complex,
    is_result: bool,
) -> Tensor:
    """Return the derivative of ELU. `x` is the result of ELU if `is_result` is True, otherwise the input."""
    bent = x * input_scale + alpha * scale * input_scale
    if not is_result:
        bent = (x * input_scale).exp() * (alpha * scale * input_scale)
    return ts.where(x <= 0, bent, scale)


def elu_bend(
    x: Tensor,
    alpha: int | float | complex,
    scale: int | float | complex,
    input_scale: int | float | complex,
    is_result: bool,
) -> Tensor:
    """Return the derivative of `elu_slope` with respect to `x`."""
    if is_result:
        return ts.where(x >= 0, 0, ts.full_like(x, input_scale))
    return ts.where(x >= 0, 0, (x * input_scale).exp() * (alpha * scale * input_scale * input_scale))


def gelu_bend(self: Tensor, approximate: str) -> Tensor:
    """Return the second derivative of gelu."""
    square = self * self
    if approximate == "tanh":
        t = ts.tanh((self + self * square * 0.044715) * ROOT_2_BY_PI)
        inner = (square * (3 * 0.044715) + 1) * ROOT_2_BY_PI
        slope = (1 - t * t) * inner
        bend = (1 - t * t) * self * (6 * 0.044715 * ROOT_2_BY_PI) - t * slope * inner * 2
        return slope + self * bend * 0.5
    return (square * -0.5).exp() * (2 - square) * (1 / ROOT_2_PI)


def silu_bend(self: Tensor) -> Tensor:
    """Return the second derivative of silu."""
    s = ts.sigmoid(self)
    return s * (1 - s) * (self * (1 - s * 2) + 2)


def mish_bend(self: Tensor) -> Tensor:
    """Return the second derivative of mish."""
    s, t = ts.sigmoid(self), ts.tanh(ts.nn.functional.softplus(self))
    slope = (1 - t * t) * s
    return slope * 2 + self * slope * (1 - s - t * s * 2)


def softplus_bend(self: Tensor, beta: int | float | complex, threshold: int | float | complex) -> Tensor:
    """Return the second derivative of softplus."""
    x = self * beta
    s = ts.sigmoid(x)
    return ts.where(x > threshold, 0, s * (1 - s) * beta)


derive(
    "aten::elu_backward",
    grad_output="grad * elu_slope(self_or_result, alpha, scale, input_scale, is_result)",
    self_or_result="grad * grad_output * elu_bend(self_or_result, alpha, scale, input_scale, is_result)",
)
derive(
    "aten::gelu_backward", grad_output="of_gelu(grad, self, approximate)",
    self="grad * grad_output * gelu_bend(self, approximate)",
)  # fmt: skip
derive(
    "aten::silu_backward", grad_output="of_silu(grad, self)",
    self="grad.conj() * grad_output * silu_bend(self).conj()",
)  # fmt: skip
derive(
    "aten::mish_backward", grad_output="of_mish(grad, self)",
    self="grad * grad_output * mish_bend(self)",
)  # fmt: skip
derive(
    "aten::softplus_backward", grad_output="of_softplus(grad, self, beta, threshold)",
    self="grad * grad_output * softplus_bend(self, beta, threshold)",
)  # fmt: skip
derive(
    "aten::log_sigmoid_backward", grad_output="grad * ts.sigmoid(-self)",
    self="-grad * grad_output * ts.sigmoid(self) * ts.sigmoid(-self)",
)  # fmt: skip
derive(
    "aten::logit_backward", grad_output="of_logit(grad, self, eps)",
    self="of_logit(grad * grad_output, self, eps) * (self * 2 - 1) / (self * (1 - self))",
)  # fmt: skip


def of_glu_gradient(grad: Tensor, self: Tensor, dim: int) -> Tensor:
    """Return the gradient of `glu_backward` with respect to `grad_output`."""
    through, bent = grad.chunk(2, dim)
    left, right = self.chunk(2, dim)
    gate = ts.sigmoid(right)
    return gate * (through + bent * left * (1 - gate))


def of_glu_halves(grad: Tensor, grad_output: Tensor, self: Tensor, dim: int) -> Tensor:
    """Return the gradient of `glu_backward` with respect to `self`, the input of `glu`."""
    through, bent = grad.chunk(2, dim)
    left, right = self.chunk(2, dim)
    gate = ts.sigmoid(right)
    slope = grad_output * gate * (1 - gate)
    return ts.cat([bent * slope, slope * (through + bent * left * (1 - gate * 2))], dim)


derive(
    "aten::glu_backward", grad_output="of_glu_gradient(grad, self, dim)",
    self="of_glu_halves(grad, grad_output, self, dim)",
)  # fmt: skip

# ---------------------------------------------------------------------------------------- softmax

derive(
    "aten::_log_softmax_backward_data",
    grad_output="grad - (grad * output.exp()).sum(dim, True)",
    output="-grad * output.exp() * grad_output.sum(dim, True)",
)
derive(
    "aten::_masked_softmax_backward", grad_output="of_masked_softmax(grad, output, mask, dim)",
    output="of_masked_result(grad, grad_output, output, mask, -1 if dim is None else dim)",
)  # fmt: skip


def of_masked_result(grad: Tensor, grad_output: Tensor, output: Tensor, mask: Tensor, dim: int) -> Tensor:
    """Return the gradient of `_masked_softmax_backward` with respect to `output`.

    It is 0 at masked positions.
    """
    of_result, y = ts.where(mask, 0, grad), ts.where(mask, 0, output)
    forth, back = (grad_output * y).sum(dim, True), (of_result * y).sum(dim, True)
    return ts.where(mask, 0, of_result * (grad_output - forth) - grad_output * back)
