"""Layer norm, group norm and RMS norm (RMSNorm).

Input: an array, an optional weight and an optional bias. Output: the normalized array, and for some operators
the moments. 16-bit floats are computed in 32 bits and rounded once.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ts._core.tensor import size_guards
from ts.ops import common
from ts.ops.out_variants import COPIED_OUT, SCALAR
from ts.ops.registry import op

Array = common.Array
Three = tuple[Array, Array, Array]


def floating_wide(xp: Any, name: str, x: Array) -> Array:
    """Cast x to its computation dtype. For a non-floating dtype, raise the error of operator `name`."""
    if common.CATEGORY_OF[x.dtype] != common.FLOATING:
        common.raise_unsupported_dtype(name, x.dtype)
    return common.cast(xp, x, common.opmath(x.dtype))


def normalize(xp: Any, wide: Array, axes: tuple[int, ...], eps: float) -> Three:
    """Normalize `wide` over `axes`. Return the result, and mean and variance, which have size 1 in `axes`."""
    mean = xp.mean(wide, axis=axes, keepdims=True)
    centred = wide - mean
    variance = xp.mean(centred * centred, axis=axes, keepdims=True)
    return centred / xp.sqrt(variance + eps), mean, variance


def apply_affine(x: Array, weight: Array | None, bias: Array | None) -> Array:
    """Return x * weight + bias. If `weight` or `bias` is None, it is omitted."""
    if weight is not None:
        x = x * weight.astype(x.dtype, copy=False)
    return x if bias is None else x + bias.astype(x.dtype, copy=False)


def normalize_backward(xp: Any, grad: Array, result: Array, inverse: Array, axes: tuple[int, ...]) -> Array:
    """Return the gradient of `normalize` with respect to its input.

    `result` is the normalized input, and `inverse` is 1 / standard deviation.
    """
    correlation = xp.mean(grad * result, axis=axes, keepdims=True)
    return (grad - xp.mean(grad, axis=axes, keepdims=True) - result * correlation) * inverse


def sum_parameter_gradient(xp: Any, x: Array, axes: tuple[int, ...], like: Array) -> Array:
    """Return the gradient of a parameter: the sum of `x` over `axes`, cast to the dtype of `like`."""
    return common.cast(xp, xp.sum(x, axis=axes), like.dtype)


def moment_dtype(x: Array, *parameters: Array | None) -> common.DType:
    """Return the dtype of mean and rstd: the parameters' dtype, or without parameters the dtype of `x`."""
    return next((p.dtype for p in parameters if p is not None), x.dtype)


def check_parameters(x: Array, kernel: str, *parameters: Array | None) -> None:
    """Raise PyTorch's error for invalid dtypes of the input or the parameters.

    All parameters must have the dtype of `x`, or all float32 if `x` has a 16-bit dtype. As in PyTorch, the
    first parameter decides which of the two rules applies. `kernel` is the name of PyTorch's kernel.
    """
    given = [p.dtype for p in parameters if p is not None]
    if given and given[0] != x.dtype:
        if any(dtype != common.FLOAT for dtype in given):
            raise RuntimeError("mixed dtype (CPU): expect parameter to have scalar type of Float")
        if x.dtype not in common.HALF_DTYPES:
            raise RuntimeError("mixed dtype (CPU): all inputs must share same datatype.")
        return
    if common.CATEGORY_OF[x.dtype] != common.FLOATING:
        common.raise_unsupported_dtype(kernel, x.dtype)
    for dtype in given[1:]:
        if dtype != x.dtype:
            raise RuntimeError(common.dtype_message(SCALAR, x.dtype, dtype))


# --------------------------------------------------------------------- normalization over the last dimensions


def _last_axes(
    input: Array, normalized_shape: Sequence[int], weight: Array | None, bias: Array | None
) -> tuple[int, ...]:
    """Return the trailing axes that `normalized_shape` covers.

    Raise PyTorch's errors for an invalid shape.
    """
    shape = list(normalized_shape)
    if not shape:
        raise RuntimeError(
            "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one element, "
            "but got normalized_shape = []"
        )
    for name, value in (("weight", weight), ("bias", bias)):
        if value is not None and not size_guards.equal_shapes(value.shape, shape):
            raise RuntimeError(
                f"Expected {name} to be of same shape as normalized_shape, but got {name} of shape "
                f"{list(value.shape)} and normalized_shape = {shape}"
            )
    if not size_guards.equal_shapes(input.shape[-len(shape) :], shape):
        raise RuntimeError(
            f"Given normalized_shape={shape}, expected input with shape [*"
            f"{''.join(f', {n}' for n in shape)}], but got input of size{list(input.shape)}"
        )
    return tuple(range(input.ndim - len(shape), input.ndim))


@op(
    "aten::layer_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight=None, Tensor? "
    "bias=None, float eps=1.0000000000000001e-05, bool cudnn_enable=True) -> Tensor",
    layout="contiguous",
    epilogue=True,
    cuda_rows="m = sum(a) / n; v = sum((a - m) * (a - m)) / n; "
    "plus(times((a - m) / sqrt(v + eps), weight), bias)",
    autocast={"cuda": "float32"},
    copies_sizes=True,
    graph_autodiff=True,
)
def layer_norm(
    xp: Any,
    input: Array,
    normalized_shape: Sequence[int],
    weight: Array | None = None,
    bias: Array | None = None,
    eps: float = 1e-05,
    cudnn_enable: bool = True,
) -> Array:
    """Return the input normalized over the last dimensions, scaled by `weight` and shifted by `bias`."""
    return _native_layer_norm(xp, input, normalized_shape, weight, bias, eps)[0]


@op(
    "aten::native_layer_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight, Tensor? bias, "
    "float eps) -> (Tensor, Tensor, Tensor)",
    layout=("contiguous", "contiguous", "contiguous"),
    autocast={"cuda": "float32"},
    **COPIED_OUT,
    graph_autodiff=True,
)
def _native_layer_norm(
    xp: Any,
    input: Array,
    normalized_shape: Sequence[int],
    weight: Array | None,
    bias: Array | None,
    eps: float,
) -> Three:
    axes = _last_axes(input, normalized_shape, weight, bias)
    check_parameters(input, "LayerNormKernelImpl", weight, bias)
    wide = floating_wide(xp, "LayerNormKernelImpl", input)
    result, mean, variance = normalize(xp, wide, axes, eps)
    dtype = moment_dtype(input, weight, bias)
    return (
        common.cast(xp, apply_affine(result, weight, bias), input.dtype),
        common.cast(xp, mean, dtype),
        common.cast(xp, 1 / xp.sqrt(variance + eps), dtype),
    )


@op(
    "aten::rms_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight=None, float? eps=None) -> Tensor",
    layout="channels",
    epilogue=True,
    cuda_rows="times(a * (1 / sqrt(sum(a * a) / n + or_epsilon(eps, a))), weight)",
    autocast={"cuda": "float32"},
)
def _rms_norm(
    xp: Any,
    input: Array,
    normalized_shape: Sequence[int],
    weight: Array | None = None,
    eps: float | None = None,
) -> Array:
    return _fused_rms_norm(xp, input, normalized_shape, weight, eps)[0]


@op(
    "aten::_fused_rms_norm(Tensor input, int[] normalized_shape, Tensor? weight, float? eps) -> "
    "(Tensor, Tensor)",
    layout=("channels", "contiguous"),
)
def _fused_rms_norm(
    xp: Any, input: Array, normalized_shape: Sequence[int], weight: Array | None, eps: float | None
) -> tuple[Array, Array]:
    axes = _last_axes(input, normalized_shape, weight, None)
    if common.CATEGORY_OF[input.dtype] < common.FLOATING:
        common.raise_unsupported_dtype("rms_norm", input.dtype)
    wide = common.cast(xp, input, common.opmath(input.dtype))
    small = float(xp.finfo(wide.dtype).eps) if eps is None else eps
    inverse = 1 / xp.sqrt(xp.mean(wide * wide, axis=axes, keepdims=True) + small)
    return common.cast(xp, apply_affine(wide * inverse, weight, None), input.dtype), inverse


def _check_gradient(grad_out: Array, input: Array, *moments: tuple[Array, int]) -> None:
    """Raise RuntimeError if the gradient's shape or the element count of a moment is wrong."""
    if not size_guards.equal_shapes(grad_out.shape, input.shape):
        raise RuntimeError(
            f"Expected a gradient of the input's size {list(input.shape)}, but got {list(grad_out.shape)}"
        )
    for x, count in moments:
        if not size_guards.equal(x.size, count):
            raise RuntimeError(f"Expected {count} moments, but got {x.size}")


@op(
    "aten::native_layer_norm_backward(Tensor grad_out, Tensor input, SymInt[] normalized_shape, Tensor mean, "
    "Tensor rstd, Tensor? weight, Tensor? bias, bool[3] output_mask) -> (Tensor, Tensor, Tensor)",
    **COPIED_OUT,
)
def _native_layer_norm_backward(
    xp: Any,
    grad_out: Array,
    input: Array,
    normalized_shape: Sequence[int],
    mean: Array,
    rstd: Array,
    weight: Array | None,
    bias: Array | None,
    output_mask: Sequence[bool],
) -> list[Array]:
    """Return gradients of input, weight and bias. Gradients that `output_mask` excludes are empty."""
    axes = _last_axes(input, normalized_shape, weight, bias)
    lead = tuple(range(axes[0]))
    rows = math.prod(input.shape[: axes[0]])
    _check_gradient(grad_out, input, (mean, rows), (rstd, rows))
    wide = floating_wide(xp, "LayerNormBackwardKernelImpl", input)
    grad = common.cast(xp, grad_out, wide.dtype)
    shape = (*input.shape[: axes[0]], *(1,) * len(axes))
    inverse = common.cast(xp, rstd, wide.dtype).reshape(shape)
    result = (wide - common.cast(xp, mean, wide.dtype).reshape(shape)) * inverse
    gradients = [xp.zeros(0, dtype=input.dtype)] * 3
    if output_mask[0]:
        grad_input = normalize_backward(xp, apply_affine(grad, weight, None), result, inverse, axes)
        gradients[0] = common.cast(xp, grad_input, input.dtype)
    if output_mask[1]:
        gradients[1] = sum_parameter_gradient(xp, grad * result, lead, input if weight is None else weight)
    if output_mask[2]:
        gradients[2] = sum_parameter_gradient(xp, grad, lead, input if bias is None else bias)
    return gradients


@op(
    "aten::_fused_rms_norm_backward(Tensor grad_out, Tensor input, int[] normalized_shape, Tensor rstd, "
    "Tensor? weight, bool[2] output_mask) -> (Tensor, Tensor)",
    where="",
)
def _fused_rms_norm_backward(
    xp: Any,
    grad_out: Array,
    input: Array,
    normalized_shape: Sequence[int],
    rstd: Array,
    weight: Array | None,
    output_mask: Sequence[bool],
) -> list[Array]:
    """Return gradients of input and weight. Gradients that `output_mask` excludes are empty."""
    axes = _last_axes(input, normalized_shape, weight, None)
    _check_gradient(grad_out, input, (rstd, math.prod(input.shape[: axes[0]])))
    wide = common.cast(xp, input, common.opmath(input.dtype))
    grad = common.cast(xp, grad_out, wide.dtype)
    inverse = common.cast(xp, rstd, wide.dtype).reshape(*input.shape[: axes[0]], *(1,) * len(axes))
    result = wide * inverse
    gradients = [xp.zeros(0, dtype=input.dtype)] * 2
    if output_mask[0]:
        scaled = apply_affine(grad, None if weight is None else xp.conj(weight), None)
        conjugate = xp.conj(result)  # the derivative of |x|² contains conj(x)
        correlation = xp.mean(scaled * conjugate, axis=axes, keepdims=True)
        gradients[0] = common.cast(xp, (scaled - conjugate * correlation) * xp.conj(inverse), input.dtype)
    if output_mask[1]:
        like = input if weight is None else weight
        gradients[1] = sum_parameter_gradient(xp, grad * xp.conj(result), tuple(range(axes[0])), like)
    return gradients


# ---------------------------------------------------------------------- normalization over groups of channels


@op(
    "aten::group_norm(Tensor input, int num_groups, Tensor? weight=None, Tensor? bias=None, float "
    "eps=1.0000000000000001e-05, bool cudnn_enabled=True) -> Tensor",
    layout="channels",
    autocast={"cuda": "float32"},
)
def _group_norm(
    xp: Any,
    input: Array,
    num_groups: int,
    weight: Array | None = None,
    bias: Array | None = None,
    eps: float = 1e-05,
    cudnn_enabled: bool = True,
) -> Array:
    if input.ndim < 2:
        raise RuntimeError(f"Expected at least 2 dimensions for input tensor but received {input.ndim}")
    n, c = input.shape[:2]
    return _native_group_norm(xp, input, weight, bias, n, c, math.prod(input.shape[2:]), num_groups, eps)[0]


@op(
    "aten::native_group_norm(Tensor input, Tensor? weight, Tensor? bias, SymInt N, SymInt C, SymInt HxW, "
    "int group, float eps) -> (Tensor, Tensor, Tensor)",
    **COPIED_OUT,
)
def _native_group_norm(
    xp: Any,
    input: Array,
    weight: Array | None,
    bias: Array | None,
    N: int,
    C: int,
    HxW: int,
    group: int,
    eps: float,
) -> Three:
    if group <= 0:
        raise RuntimeError(f"Expected num groups to be greater than 0, got {group}")
    if size_guards.evaluate_guard(C % group != 0):
        raise RuntimeError(
            "Expected number of channels in input to be divisible by num_groups, but got input of shape "
            f"{list(input.shape)} and num_groups={group}"
        )
    for name, value in (("weight", weight), ("bias", bias)):
        if value is not None and not size_guards.equal_shapes(value.shape, (C,)):
            raise RuntimeError(
                f"Expected {name} to be a vector of size equal to the number of channels in input, but got "
                f"{name} of shape {list(value.shape)} and input of shape {list(input.shape)}"
            )
    if min(N, C, HxW) < 0 or not size_guards.equal(N * C * HxW, input.size):
        raise RuntimeError(f"shape '[{N}, {C}, {HxW}]' is invalid for input of size {input.size}")
    check_parameters(input, "GroupNormKernelImpl", weight, bias)
    wide = floating_wide(xp, "GroupNormKernelImpl", input)
    grouped = wide.reshape(N, group, C // group * HxW)
    result, mean, variance = normalize(xp, grouped, (2,), eps)
    parameters = [None if w is None else w.reshape(C, 1) for w in (weight, bias)]
    dtype = moment_dtype(input, weight, bias)
    return (
        common.cast(xp, apply_affine(result.reshape(N, C, HxW), *parameters), input.dtype).reshape(
            input.shape
        ),
        common.cast(xp, mean[:, :, 0], dtype),
        common.cast(xp, 1 / xp.sqrt(variance[:, :, 0] + eps), dtype),
    )


@op(
    "aten::native_group_norm_backward(Tensor grad_out, Tensor input, Tensor mean, Tensor rstd, Tensor? "
    "weight, SymInt N, SymInt C, SymInt HxW, int group, bool[3] output_mask) -> (Tensor, Tensor, Tensor)",
    checked_dtype="input grad_out",
    mixed_dtypes_error="Expected scalar types of X and dY are same.",
    **COPIED_OUT,
)
def _native_group_norm_backward(
    xp: Any,
    grad_out: Array,
    input: Array,
    mean: Array,
    rstd: Array,
    weight: Array | None,
    N: int,
    C: int,
    HxW: int,
    group: int,
    output_mask: Sequence[bool],
) -> list[Array]:
    """Return gradients of input, weight and bias. Gradients that `output_mask` excludes are empty."""
    counts = group > 0 and not C % group and min(N, C, HxW) >= 0
    if not counts or not size_guards.equal(N * C * HxW, input.size):
        raise RuntimeError(
            f"Expected {N} times {C} channels of {HxW} elements in {group} groups, but got an input of size "
            f"{list(input.shape)}"
        )
    _check_gradient(grad_out, input, (mean, N * group), (rstd, N * group))
    wide = floating_wide(xp, "GroupNormBackwardKernelImpl", input)
    grad = common.cast(xp, grad_out, wide.dtype).reshape(N, C, HxW)
    of_group, of_channel = (N, group, C // group * HxW), (N, C, HxW)
    middle, inverse = (common.cast(xp, x, wide.dtype).reshape(N, group, 1) for x in (mean, rstd))
    result = (wide.reshape(of_group) - middle) * inverse
    gradients = [xp.zeros(0, dtype=input.dtype)] * 3
    like = input if weight is None else weight
    if output_mask[0]:
        scaled = apply_affine(grad, None if weight is None else weight.reshape(C, 1), None).reshape(of_group)
        grad_input = normalize_backward(xp, scaled, result, inverse, (2,))
        gradients[0] = common.cast(xp, grad_input, input.dtype).reshape(input.shape)
    if output_mask[1]:
        gradients[1] = sum_parameter_gradient(xp, grad * result.reshape(of_channel), (0, 2), like)
    if output_mask[2]:
        gradients[2] = sum_parameter_gradient(xp, grad, (0, 2), like)
    return gradients
