"""Activations and softmax.

Input: an array and the constants of the activation, such as a slope. Output: an array of the same shape and
dtype.
"""

from __future__ import annotations

import math
from typing import Any

from ts._core.tensor import size_guards
from ts.ops import common
from ts.ops.out_variants import COPIED_OUT, EXPECTED_DTYPE_ERROR, POINTWISE_OUT, SCALAR
from ts.ops.registry import op, shared_fields
from ts.ops.type_promotion import SAME
from ts.ops.unary import device_function, sigmoid
from ts.ops.unsupported_dtypes import NotImplementedMessage

Array = common.Array
_NO_CLAMP = NotImplementedMessage("clamp is not supported for complex types")


def _floating(name: str, x: Array) -> Array:
    if common.CATEGORY_OF[x.dtype] < common.FLOATING:
        common.raise_unsupported_dtype(f"{name}_cpu", x.dtype)
    return x


def _wide(xp: Any, name: str, x: Array) -> Array:
    """Cast `x` to the dtype of the computation: float32 for 16-bit floats, otherwise the dtype of `x`.

    Raise an error if `x` is not a floating-point array. `name` is the kernel's name for the error.
    """
    return common.cast(xp, _floating(name, x), common.opmath(x.dtype))


def _softplus(xp: Any, x: Array) -> Array:
    fused_kernel = device_function(xp, "softplus", x)
    if fused_kernel is not None:
        return fused_kernel(x)
    return xp.log1p(xp.exp(-xp.abs(x))) + xp.maximum(x, 0)


@op(
    "aten::relu(Tensor self) -> Tensor",
    preserves_dtype=True,
    inplace=True,
    promotion=SAME,
    ufunc="relu",
    cuda="max(a, 0)",
    dtype_errors={"c": _NO_CLAMP},
    **COPIED_OUT,
    sparse="elementwise.on_values",
    graph_autodiff=True,
)
def _relu(xp: Any, self: Array) -> Array:
    if self.dtype.kind == "b":
        raise RuntimeError("Boolean inputs not supported for relu")
    return xp.maximum(self, xp.zeros((), self.dtype))


@op(
    "aten::relu6(Tensor self) -> Tensor",
    preserves_dtype=True,
    tile=True,
    inplace=True,
    cuda="min(max(a, 0), 6)",
    where="f",
    dtype_errors={"b": "Bool inputs not supported for hardtanh", "c": _NO_CLAMP},
    graph_autodiff=True,
)
def _relu6(xp: Any, self: Array) -> Array:
    return common.cast(xp, xp.clip(self, 0, 6), self.dtype)


@op(
    "aten::hardtanh(Tensor self, Scalar min_val=-1, Scalar max_val=1) -> Tensor",
    preserves_dtype=True,
    tile=True,
    cuda="min(max(a, b), c)",
    inplace=True,
    where="f",
    **POINTWISE_OUT,
    graph_autodiff=True,
)
def _hardtanh(xp: Any, self: Array, min_val: Any = -1, max_val: Any = 1) -> Array:
    if self.dtype == common.BOOL:
        raise RuntimeError("Bool inputs not supported for hardtanh")
    if self.dtype.kind == "c":
        raise NotImplementedError("clamp is not supported for complex types")
    if self.dtype == common.UINT8 and (min_val < 0 or max_val < 0):
        raise RuntimeError("cannot do hardtanh on an unsigned type with negative limits")
    bounds = (common.cast_checked(xp, bound, self.dtype) for bound in (min_val, max_val))
    return common.cast(xp, xp.clip(self, *bounds), self.dtype)


@op(
    "aten::leaky_relu(Tensor self, Scalar negative_slope=0.01) -> Tensor",
    preserves_dtype=True,
    tile=True,
    inplace=True,
    where="f",
    cuda="a > 0 ? a : a * b",
    dtype_errors={"c": "leaky_relu_cpu"},
    **POINTWISE_OUT,
    graph_autodiff=True,
)
def _leaky_relu(xp: Any, self: Array, negative_slope: Any = 0.01) -> Array:
    x = _wide(xp, "leaky_relu", self)
    slope = common.cast_checked(xp, negative_slope, x.dtype)
    return common.cast(xp, xp.where(x > 0, x, x * slope), self.dtype)


@op(
    "aten::_prelu_kernel(Tensor self, Tensor weight) -> Tensor",
    layout="like_all",
    dtype_errors={"bic": "prelu_cpu"},
)
def _prelu_kernel(xp: Any, self: Array, weight: Array) -> Array:
    """Compute prelu with a weight that broadcasts to the input."""
    common.broadcast_shapes(self.shape, weight.shape)
    return xp.where(self > 0, self, self * weight)


@op("aten::prelu(Tensor self, Tensor weight) -> Tensor", autocast="lower")
def _prelu(xp: Any, self: Array, weight: Array) -> Array:
    if weight.ndim > 1:
        raise RuntimeError(
            f"prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = {weight.ndim}"
        )
    if self.dtype != weight.dtype:
        raise RuntimeError(
            f"prelu: Type promoting not supported. Got {common.NAME_OF[self.dtype]} and "
            f"{common.NAME_OF[weight.dtype]}"
        )
    if common.CATEGORY_OF[self.dtype] != common.FLOATING:
        common.raise_unsupported_dtype("prelu_cpu", self.dtype)
    if weight.size != 1:
        if self.ndim == 0:
            raise RuntimeError("Not allow zero-dim input tensor.")
        channels = self.shape[1] if self.ndim > 1 else 1
        if not size_guards.equal(weight.size, channels):
            raise RuntimeError(
                "Mismatch of parameter numbers and input channel size. Found parameter numbers = "
                f"{weight.size} and channel size = {channels}."
            )
    if weight.size != 1 and self.ndim > 1:
        weight = weight.reshape([-1 if d == 1 else 1 for d in range(self.ndim)])
    elif weight.ndim and self.ndim == 0:
        weight = weight.reshape(())
    return _prelu_kernel(xp, self, weight)


@op(
    "aten::elu(Tensor self, Scalar alpha=1, Scalar scale=1, Scalar input_scale=1) -> Tensor",
    preserves_dtype=True,
    tile=True,
    inplace=True,
    where="f",
    dtype_errors={"c": "elu_cpu"},
    **POINTWISE_OUT,
)
def _elu(xp: Any, self: Array, alpha: Any = 1, scale: Any = 1, input_scale: Any = 1) -> Array:
    x = _wide(xp, "elu", self)
    negative = xp.expm1(xp.minimum(x, 0) * input_scale) * alpha
    return common.cast(xp, xp.where(x > 0, x, negative) * scale, self.dtype)


@op(
    "aten::celu(Tensor self, Scalar alpha=1.) -> Tensor",
    preserves_dtype=True,
    tile=True,
    inplace=True,
    dtype_errors={"c": "elu_cpu"},
    **COPIED_OUT,
)
def _celu(xp: Any, self: Array, alpha: Any = 1.0) -> Array:
    if alpha == 0:
        raise RuntimeError("ZeroDivisionError: alpha cannot be 0 for CELU")
    return _elu(xp, self, alpha, 1.0, 1.0 / alpha)


@op(
    "aten::selu(Tensor self) -> Tensor",
    preserves_dtype=True,
    tile=True,
    inplace=True,
    dtype_errors={"c": "elu_cpu"},
)
def _selu(xp: Any, self: Array) -> Array:
    return _elu(xp, self, 1.6732632423543772, 1.0507009873554805)


@op(
    'aten::gelu(Tensor self, *, str approximate="none") -> Tensor',
    tile=True,
    inplace=True,
    cuda="gelu(a, b)",
    where="f",
    dtype_errors={"c": "GeluKernelImpl"},
    **POINTWISE_OUT,
    since=10,
    since_variants="o",
    graph_autodiff=True,
)
def gelu(xp: Any, self: Array, approximate: str = "none") -> Array:
    """Return x times the normal distribution function of x, exact or by the tanh approximation.

    Raise RuntimeError if `approximate` is neither "none" nor "tanh".
    """
    x = common.cast(xp, _floating("gelu", self), common.opmath(self.dtype))
    fused_kernel = device_function(xp, {"none": "gelu", "tanh": "gelu_tanh"}.get(approximate, "gelu"), x)
    if fused_kernel is not None and approximate in ("none", "tanh"):
        return common.cast(xp, fused_kernel(x), self.dtype)
    if approximate == "tanh":
        inner = math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x)
        return common.cast(xp, 0.5 * x * (1 + xp.tanh(inner)), self.dtype)
    if approximate != "none":
        raise RuntimeError("approximate argument must be either none or tanh.")
    return common.cast(xp, 0.5 * x * (1 + xp.special("erf")(x * math.sqrt(0.5))), self.dtype)


@op(
    "aten::silu(Tensor self) -> Tensor",
    preserves_dtype=True,
    tile=True,
    cuda="a / (1 + exp(-a))",
    inplace=True,
    where="f",
    **POINTWISE_OUT,
    graph_autodiff=True,
)
def _silu(xp: Any, self: Array) -> Array:
    x = _wide(xp, "silu", self)
    fused_kernel = device_function(xp, "silu", x)
    if fused_kernel is not None:
        return common.cast(xp, fused_kernel(x), self.dtype)
    return common.cast(xp, x * sigmoid(xp, x), self.dtype)


@op(
    "aten::mish(Tensor self) -> Tensor",
    inplace=True,
    where="f",
    dtype_errors={"c": "mish_cpu"},
    **POINTWISE_OUT,
)
def _mish(xp: Any, self: Array) -> Array:
    x = _wide(xp, "mish", self)
    return common.cast(xp, x * xp.tanh(_softplus(xp, x)), self.dtype)


@op(
    "aten::hardswish(Tensor self) -> Tensor",
    preserves_dtype=True,
    inplace=True,
    where="f",
    ufunc="hardswish",
    cuda="a * min(max(a + 3, 0), 6) / 6",
    dtype_errors={"c": "hardswish_cpu"},
    **POINTWISE_OUT,
    graph_autodiff=True,
)
def _hardswish(xp: Any, self: Array) -> Array:
    x = _wide(xp, "hardswish", self)
    return common.cast(xp, x * xp.clip(x + 3, 0, 6) / 6, self.dtype)


@op(
    "aten::hardsigmoid(Tensor self) -> Tensor",
    preserves_dtype=True,
    inplace=True,
    where="f",
    ufunc="hardsigmoid",
    cuda="min(max(a + 3, 0), 6) / 6",
    dtype_errors={"c": "hardsigmoid_cpu"},
    **POINTWISE_OUT,
    graph_autodiff=True,
)
def _hardsigmoid(xp: Any, self: Array) -> Array:
    return common.cast(xp, xp.clip(_wide(xp, "hardsigmoid", self) + 3, 0, 6) / 6, self.dtype)


@op(
    "aten::log_sigmoid(Tensor self) -> Tensor",
    tile=True,
    cuda="-softplus(-a)",
    out="out",
    where="f",
    layout="contiguous",
    dtype_errors={"c": "log_sigmoid_cpu"},
    out_dtype_error=SCALAR,
)
def _log_sigmoid(xp: Any, self: Array) -> Array:
    return -_softplus(xp, -_floating("log_sigmoid", self))


@op(
    "aten::log_sigmoid_forward(Tensor self) -> (Tensor output, Tensor buffer)",
    out="output",
    out_unnamed=True,
    where="",
    layout=("contiguous", "contiguous"),
    dtype_errors={"c": "log_sigmoid_cpu"},
)
def _log_sigmoid_forward(xp: Any, self: Array) -> tuple[Array, Array]:
    """Return log_sigmoid and exp(-|x|), which backward needs."""
    result = _log_sigmoid(xp, self)
    return result, common.cast(xp, xp.exp(-xp.abs(self)), self.dtype)


@op(
    "aten::softplus(Tensor self, Scalar beta=1, Scalar threshold=20) -> Tensor",
    tile=True,
    cuda="a * b > c ? a : softplus(a * b) / b",
    where="f",
    dtype_errors={"c": "softplus_cpu"},
    **POINTWISE_OUT,
    autocast={"cuda": "float32"},
    graph_autodiff=True,
)
def _softplus_op(xp: Any, self: Array, beta: Any = 1, threshold: Any = 20) -> Array:
    x = _wide(xp, "softplus", self)
    scaled = x * beta
    return common.cast(xp, xp.where(scaled > threshold, x, _softplus(xp, scaled) / beta), self.dtype)


@op(
    "aten::softshrink(Tensor self, Scalar lambd=0.5) -> Tensor",
    where="f",
    dtype_errors={"bic": "softshrink_check"},
    **POINTWISE_OUT,
)
def _softshrink(xp: Any, self: Array, lambd: Any = 0.5) -> Array:
    if lambd < 0:
        raise RuntimeError(f"lambda must be greater or equal to 0, but found to be {lambd}.")
    shrunk = xp.where(self > lambd, self - lambd, xp.where(self < -lambd, self + lambd, 0))
    return common.cast(xp, shrunk, self.dtype)


@op(
    "aten::hardshrink(Tensor self, Scalar lambd=0.5) -> Tensor",
    dtype_errors={"bic": "hardshrink_cpu"},
    **POINTWISE_OUT,
    graph_autodiff=True,
)
def _hardshrink(xp: Any, self: Array, lambd: Any = 0.5) -> Array:
    limit = common.cast_checked(xp, lambd, self.dtype)
    return xp.where((self >= -limit) & (self <= limit), xp.zeros((), self.dtype), self)


@op(
    "aten::threshold(Tensor self, Scalar threshold, Scalar value) -> Tensor",
    tile=True,
    cuda="a <= b ? c : a",
    inplace=True,
    out="out",
    where="f",
    dtype_errors={"c": "threshold_cpu"},
    # `threshold_` may write to a tensor in which several elements share memory: a second application to the
    # same memory does not change the result
    overlap=2,
    graph_autodiff=True,
)
def _threshold(xp: Any, self: Array, threshold: Any, value: Any) -> Array:
    if self.dtype == common.BOOL:
        common.raise_unsupported_dtype("threshold_cpu", self.dtype)
    other = common.cast_checked(xp, value, self.dtype)
    x = common.cast(xp, self, common.opmath(self.dtype))
    return xp.where(x <= common.cast_checked(xp, threshold, x.dtype), other, self)


@op("aten::glu(Tensor self, int dim=-1) -> Tensor", out="out", where="f", dtype_errors={"bic": "glu_cpu"})
def _glu(xp: Any, self: Array, dim: int = -1) -> Array:
    if self.ndim == 0:
        raise RuntimeError("glu does not support 0-dimensional tensors")
    axis = common.wrap_dim(dim, self.ndim)
    if size_guards.evaluate_guard(self.shape[axis] % 2 != 0):
        raise RuntimeError(f"Halving dimension must be even, but dimension {axis} is size {self.shape[axis]}")
    left, right = xp.split(self, 2, axis)
    return left * sigmoid(xp, right)


@op(
    "aten::glu_jvp(Tensor glu, Tensor x, Tensor dx, int dim) -> Tensor",
    where="",
    dtype_errors={"bihc": "glu_jvp_cpu"},
    **COPIED_OUT,
)
def _glu_jvp(xp: Any, glu: Array, x: Array, dx: Array, dim: int) -> Array:
    """Return the tangent of `glu(x)` for the tangent `dx` of x."""
    axis = common.wrap_dim(dim, x.ndim)
    dleft, dright = xp.split(dx, 2, axis)
    gate = sigmoid(xp, xp.split(x, 2, axis)[1])
    return dleft * gate + glu * (dright - gate * dright)


# ---------------------------------------------------------------------------------------- softmax


def softmax_kernel(xp: Any, self: Array, dim: int, dtype: int | None, log: bool) -> Array:
    """Compute softmax or log_softmax along `dim`, with the maximum subtracted for numerical stability."""
    target = common.dtype_from(dtype, self.dtype)
    if common.CATEGORY_OF[target] != common.FLOATING:
        common.raise_unsupported_dtype(
            "log_softmax_lastdim_kernel_impl" if log else "softmax_lastdim_kernel_impl", target
        )
    axis = common.wrap_dim(dim, self.ndim)
    x = common.cast(xp, self, common.opmath(target))
    if self.ndim == 0:
        return common.cast(xp, x - x + (0 if log else 1), target)
    if not x.size:
        return common.cast(xp, x, target)
    shifted = x - xp.max(x, axis=axis, keepdims=True)
    raised = xp.exp(shifted)
    total = xp.sum(raised, axis=axis, keepdims=True)
    return common.cast(xp, shifted - xp.log(total) if log else raised / total, target)


@op(
    "aten::softmax.int(Tensor self, int dim, ScalarType? dtype=None) -> Tensor",
    out="int_out",
    out_dtype_error=EXPECTED_DTYPE_ERROR,
    epilogue=True,
    copies_sizes=True,
    graph_autodiff=True,
)
@op(
    "aten::special_softmax(Tensor self, int dim, ScalarType? dtype=None) -> Tensor",
    dtype_errors={"c": "softmax_lastdim_kernel_impl"},
    same_as="aten::softmax",
    epilogue=True,
)
@shared_fields(
    layout="contiguous",
    cuda_rows="m = largest(a); exp(a - m) / sum(exp(a - m))",
    autocast={"cuda": "float32"},
)
def _softmax(xp: Any, self: Array, dim: int, dtype: int | None = None) -> Array:
    return softmax_kernel(xp, self, dim, dtype, False)


@op(
    "aten::_safe_softmax(Tensor self, int dim, ScalarType? dtype=None) -> Tensor",
    layout="contiguous",
    dtype_errors={"c": "softmax_lastdim_kernel_impl"},
)
def _safe_softmax(xp: Any, self: Array, dim: int, dtype: int | None = None) -> Array:
    """Compute softmax. Rows in which all elements are -inf (fully masked queries) become zeros."""
    result = _softmax(xp, self, dim, dtype)
    axis = common.wrap_dim(dim, self.ndim)
    hidden = xp.all(self == -xp.inf, axis=axis if self.ndim else None, keepdims=True)
    return xp.where(hidden, xp.zeros((), dtype=result.dtype), result)


@op(
    "aten::log_softmax.int(Tensor self, int dim, ScalarType? dtype=None) -> Tensor",
    out="int_out",
    out_dtype_error=EXPECTED_DTYPE_ERROR,
    epilogue=True,
    copies_sizes=True,
    graph_autodiff=True,
)
@op(
    "aten::special_log_softmax(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor",
    dtype_errors={"c": "log_softmax_lastdim_kernel_impl"},
    same_as="aten::log_softmax",
    epilogue=True,
)
@shared_fields(
    layout="contiguous",
    cuda_rows="m = largest(a); a - m - log(sum(exp(a - m)))",
    autocast={"cuda": "float32"},
)
def _log_softmax(xp: Any, self: Array, dim: int, dtype: int | None = None) -> Array:
    return softmax_kernel(xp, self, dim, dtype, True)


def _check_no_half_to_float(half_to_float: bool) -> None:
    if half_to_float:
        raise RuntimeError("softmax with half to float conversion is not supported on CPU")


@op("aten::_softmax(Tensor self, int dim, bool half_to_float) -> Tensor", layout="contiguous", **COPIED_OUT)
def _plain_softmax(xp: Any, self: Array, dim: int, half_to_float: bool) -> Array:
    _check_no_half_to_float(half_to_float)
    return softmax_kernel(xp, self, dim, None, False)


@op(
    "aten::_log_softmax(Tensor self, int dim, bool half_to_float) -> Tensor",
    layout="contiguous",
    **COPIED_OUT,
)
def _plain_log_softmax(xp: Any, self: Array, dim: int, half_to_float: bool) -> Array:
    _check_no_half_to_float(half_to_float)
    return softmax_kernel(xp, self, dim, None, True)


@op(
    "aten::_masked_softmax(Tensor self, Tensor mask, int? dim=None, int? mask_type=None) -> Tensor",
    layout="like_first",
    **COPIED_OUT,
)
def _masked_softmax(
    xp: Any, self: Array, mask: Array, dim: int | None = None, mask_type: int | None = None
) -> Array:
    """Compute softmax over the elements whose mask is False.

    `mask_type` determines the shape of the mask:

    - 0: an attention mask (L, S), broadcast to the shape (N, heads, L, S) of `self`
    - 1: a padding mask (N, S), broadcast to this shape
    - 2: a mask with the shape of `self`
    """
    if mask.dtype != common.BOOL:
        raise RuntimeError("Mask should be a boolean tensor")
    if mask_type in (0, 1) and self.ndim == 4 and mask.ndim == 2:
        mask = mask[None, None] if mask_type == 0 else mask[:, None, None]
        mask = xp.broadcast_to(mask, common.broadcast_shapes(mask.shape, self.shape))
    if not size_guards.equal_shapes(mask.shape, self.shape):
        raise RuntimeError("For mask_type == 2 mask shape should match input shape")
    if common.CATEGORY_OF[self.dtype] != common.FLOATING:
        common.raise_unsupported_dtype("masked_softmax", self.dtype)
    hidden = xp.where(mask, common.cast(xp, -math.inf, self.dtype), self)
    return softmax_kernel(xp, hidden, self.ndim - 1 if dim is None else dim, None, False)


@op(
    "aten::_softmax_backward_data(Tensor grad_output, Tensor output, int dim, ScalarType input_dtype)"
    " -> Tensor",
    layout="contiguous",
    dtype_errors={"bic": "softmax_backward_lastdim_kernel_impl"},
)
def _softmax_backward(xp: Any, grad_output: Array, output: Array, dim: int, input_dtype: int) -> Array:
    weighted = grad_output * output
    axis = common.wrap_dim(dim, output.ndim)
    total = xp.sum(weighted, axis=axis, keepdims=True) if output.ndim else weighted
    return weighted - output * total
