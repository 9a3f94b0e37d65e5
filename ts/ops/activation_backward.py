"""Backward operators of activations and softmax, as used in archives and exported graphs.

Input: the gradient of the result, and the input or the result of the activation. Output: the gradient of the
input, in the promoted dtype of the arguments. 16-bit floats are computed in 32 bits and rounded once.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ts._core.tensor import size_guards
from ts.ops import common
from ts.ops.loss import wide
from ts.ops.registry import op
from ts.ops.unary import sigmoid
from ts.ops.unsupported_dtypes import FOUND_DTYPE, PROMOTED

Array = common.Array
Body = Callable[..., Any]
_FAMILY = "activation_backward"
_OVERWRITTEN = (
    "In-place {} backward calculation is triggered with a negative slope which is not supported. This is "
    "caused by calling in-place forward function with a negative slope, please call out-of-place version "
    "instead."
)
_ASK = (
    " File an issue at https://github.com/pytorch/pytorch if you do require supporting in-place leakRelu "
    "backward calculation with negative slope"
)


def backward(
    schema: str, kernel: str, kinds: str = "bic", layout: str = "like_all", **fields: Any
) -> Callable[[Body], Body]:
    """Declare the backward operator `aten::{schema} -> Tensor`.

    The decorated function receives arrays in the computation dtype. Unless `fields` contains `checked_dtype`,
    the tensors are promoted to a common dtype. For dtypes of the NumPy kinds in `kinds`, such as "b" for
    bool, the operator raises an error. The error contains `kernel`, the name of PyTorch's kernel.
    """
    promotes = fields.setdefault("checked_dtype", PROMOTED).startswith(PROMOTED)
    returns_dtype_of_self = fields["checked_dtype"] == f"{PROMOTED} self"

    def declare(body: Body) -> Body:
        def compute(xp: Any, grad: Array, *rest: Any) -> Array:
            dtype = common.result_type(grad, *(x for x in rest if promotes and hasattr(x, "dtype")))

            def convert(x: Any) -> Any:
                if not hasattr(x, "dtype"):
                    return x
                return wide(xp, common.cast(xp, x, dtype) if promotes else x)

            gradient = body(xp, *map(convert, (grad, *rest)))
            return common.cast(xp, gradient, rest[0].dtype if returns_dtype_of_self else dtype)

        record = op(
            f"aten::{schema} -> Tensor",
            where="",
            family=_FAMILY,
            layout=layout,
            dtype_errors={kinds: kernel},
            **fields,
        )
        record(compute)
        return body

    return declare


# ---------------------------------------------------------------- gradients from the activation's result


@backward("tanh_backward(Tensor grad_output, Tensor output)", "tanh_backward_cpu", "bi")
def _tanh(xp: Any, grad: Array, output: Array) -> Array:
    return grad * xp.conj(1 - output * output)


@backward("sigmoid_backward(Tensor grad_output, Tensor output)", "sigmoid_backward_cpu", "bi")
def _sigmoid(xp: Any, grad: Array, output: Array) -> Array:
    return grad * xp.conj((1 - output) * output)


# ------------------------------------------------------------------------------- piecewise linear activations


@backward("threshold_backward(Tensor grad_output, Tensor self, Scalar threshold)", "threshold_cpu", "bc")
def _threshold(xp: Any, grad: Array, self: Array, threshold: Any) -> Array:
    return xp.where(self <= threshold, 0, grad)


@backward(
    "hardtanh_backward(Tensor grad_output, Tensor self, Scalar min_val, Scalar max_val)",
    "hardshrink_backward_cpu",
)
def _hardtanh(xp: Any, grad: Array, self: Array, min_val: Any, max_val: Any) -> Array:
    return xp.where((self <= min_val) | (self >= max_val), 0, grad)


@backward(
    "leaky_relu_backward(Tensor grad_output, Tensor self, Scalar negative_slope, bool self_is_result)",
    "leaky_relu_backward_cpu",
)
def _leaky_relu(xp: Any, grad: Array, self: Array, negative_slope: Any, self_is_result: bool) -> Array:
    if self_is_result and negative_slope < 0:
        raise RuntimeError(_OVERWRITTEN.format("leakyReLu") + _ASK)
    return xp.where(self > 0, grad, grad * negative_slope)


@backward(
    "rrelu_with_noise_backward(Tensor grad_output, Tensor self, Tensor noise, Scalar lower, Scalar upper, "
    "bool training, bool self_is_result)",
    "leaky_relu_backward_cpu",
)
def _rrelu(
    xp: Any, grad: Array, self: Array, noise: Array, lower: Any, upper: Any, training: bool, result: bool
) -> Array:
    if training:
        return grad * noise
    return _leaky_relu(xp, grad, self, (lower + upper) / 2, result)


@backward("softshrink_backward(Tensor grad_output, Tensor self, Scalar lambd)", "shrink_backward_cpu")
@backward("hardshrink_backward(Tensor grad_out, Tensor self, Scalar lambd)", "shrink_backward_cpu")
def _shrink(xp: Any, grad: Array, self: Array, lambd: Any) -> Array:
    return xp.where((self >= -lambd) & (self <= lambd), 0, grad)


@backward("hardsigmoid_backward(Tensor grad_output, Tensor self)", "hardsigmoid_backward")
def _hardsigmoid(xp: Any, grad: Array, self: Array) -> Array:
    return xp.where((self > -3) & (self < 3), grad / 6, 0)


@backward("hardswish_backward(Tensor grad_output, Tensor self)", "hardswish_backward_cpu")
def _hardswish(xp: Any, grad: Array, self: Array) -> Array:
    return xp.where(self <= -3, 0, xp.where(self < 3, grad * (self / 3 + 0.5), grad))


@op(
    "aten::_prelu_kernel_backward(Tensor grad_output, Tensor self, Tensor weight) -> (Tensor, Tensor)",
    where="",
    family=_FAMILY,
    layout=("like_all", "like_all"),
    dtype_errors={"bic": "prelu_backward_cpu"},
    checked_dtype="self grad_output weight",
    mixed_dtypes_error=FOUND_DTYPE,
)
def _prelu(xp: Any, grad: Array, self: Array, weight: Array) -> tuple[Array, Array]:
    up = self > 0
    return xp.where(up, grad, grad * weight), xp.where(up, xp.zeros((), grad.dtype), grad * self)


# ---------------------------------------------------------------------------------------- smooth activations


@backward(
    "elu_backward(Tensor grad_output, Scalar alpha, Scalar scale, Scalar input_scale, bool is_result, "
    "Tensor self_or_result)",
    "elu_backward_cpu",
)
def _elu(xp: Any, grad: Array, alpha: Any, scale: Any, input_scale: Any, is_result: bool, x: Array) -> Array:
    if is_result:
        if alpha < 0:
            raise RuntimeError(_OVERWRITTEN.format("elu"))
        small = (x + alpha * scale) * input_scale
    else:
        small = xp.exp(xp.minimum(x, 0) * input_scale) * (alpha * scale * input_scale)
    return xp.where(x <= 0, grad * small, grad * scale)


@backward(
    'gelu_backward(Tensor grad_output, Tensor self, *, str approximate="none")', "GeluBackwardKernelImpl"
)
def _gelu(xp: Any, grad: Array, self: Array, approximate: str = "none") -> Array:
    if approximate == "tanh":
        root = math.sqrt(2 / math.pi)
        t = xp.tanh((self + self * self * self * 0.044715) * root)
        slope = (self * self * (3 * 0.044715) + 1) * root
        return grad * 0.5 * (t + 1 + self * (1 - t * t) * slope)
    if approximate != "none":
        raise RuntimeError("approximate argument must be either none or tanh.")
    density = xp.exp(self * self * -0.5) * (1 / math.sqrt(2 * math.pi))
    return grad * (0.5 * (1 + xp.special("erf")(self * math.sqrt(0.5))) + self * density)


@backward("silu_backward(Tensor grad_output, Tensor self)", "silu_backward_cpu", "bi")
def _silu(xp: Any, grad: Array, self: Array) -> Array:
    s = sigmoid(xp, self)
    return grad * xp.conj(s * (1 + self * (1 - s)))


@backward(
    "mish_backward(Tensor grad_output, Tensor self)",
    "mish_backward_cpu",
    autocast={"cuda": "float32"},
    checked_dtype=f"{PROMOTED} self",
)
def _mish(xp: Any, grad: Array, self: Array) -> Array:
    t = xp.tanh(xp.log1p(xp.exp(-xp.abs(self))) + xp.maximum(self, 0))
    return grad * (t + self * sigmoid(xp, self) * (1 - t * t))


@backward(
    "softplus_backward(Tensor grad_output, Tensor self, Scalar beta, Scalar threshold)",
    "softplus_backward_cpu",
)
def _softplus(xp: Any, grad: Array, self: Array, beta: Any, threshold: Any) -> Array:
    x = self * beta
    return xp.where(x > threshold, grad, grad * sigmoid(xp, x))


@backward(
    "log_sigmoid_backward(Tensor grad_output, Tensor self, Tensor buffer)",
    "log_sigmoid_backward_cpu",
    checked_dtype="self grad_output buffer",
    mixed_dtypes_error=FOUND_DTYPE,
)
def _log_sigmoid(xp: Any, grad: Array, self: Array, buffer: Array) -> Array:
    # `buffer` is empty in programs exported for GPUs
    if not size_guards.known_empty(buffer.shape):
        common.broadcast_shapes(self.shape, buffer.shape)
    return grad * sigmoid(xp, -self)


@backward("logit_backward(Tensor grad_output, Tensor self, float? eps=None)", "logit_backward_cpu")
def _logit(xp: Any, grad: Array, self: Array, eps: float | None = None) -> Array:
    slope = grad / (self * (1 - self))
    if eps is None:
        return xp.where((self < 0) | (self > 1), math.nan, slope)
    return xp.where((self < eps) | (self > 1 - eps), 0, slope)


@backward(
    "glu_backward(Tensor grad_output, Tensor self, int dim)",
    "result type Float can't be cast to the desired output type {dtype}",
    layout="contiguous",
    checked_dtype="self grad_output",
    mixed_dtypes_error=FOUND_DTYPE,
)
def _glu(xp: Any, grad: Array, self: Array, dim: int) -> Array:
    axis = common.wrap_dim(dim, self.ndim)
    left, right = xp.split(self, 2, axis)
    gate = sigmoid(xp, right)
    through = grad * gate
    return xp.concatenate([through, through * left * (1 - gate)], axis=axis)


# ---------------------------------------------------------------------------------------- softmax


def _sum(xp: Any, x: Array, dim: int) -> Array:
    return xp.sum(x, axis=common.wrap_dim(dim, x.ndim), keepdims=True) if x.ndim else x


@backward(
    "_log_softmax_backward_data(Tensor grad_output, Tensor output, int dim, ScalarType input_dtype)",
    "log_softmax_backward_lastdim_kernel_impl",
    layout="contiguous",
    checked_dtype="",
)
def _log_softmax(xp: Any, grad: Array, output: Array, dim: int, input_dtype: int) -> Array:
    return grad - xp.exp(output) * _sum(xp, grad, dim)


@backward(
    "_masked_softmax_backward(Tensor grad_output, Tensor output, Tensor mask, int? dim=None)",
    "masked_softmax_backward",
    layout="contiguous",
    checked_dtype="grad_output output",
)
def _masked_softmax(xp: Any, grad: Array, output: Array, mask: Array, dim: int | None = None) -> Array:
    weighted = xp.where(mask, 0, grad * output)
    total = _sum(xp, weighted, grad.ndim - 1 if dim is None else dim)
    return xp.where(mask, 0, weighted - output * total)
