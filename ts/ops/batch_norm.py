"""Batch norm by one operator, or by steps: compute statistics, combine statistics, normalize.

Input: an array (N, C, ...). Output: an array of the same shape. The running moments are the running mean and
variance.

If a batch is split among several devices, the steps use the moments of the whole batch:

    mean, invstd = batch_norm_stats(x, eps)                                # on each device
    batch_norm_gather_stats_with_counts(x, means, invstds, ..., counts)    # moments of the whole batch
    batch_norm_elemt(x, weight, bias, mean, invstd, eps)                   # on each device
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ts._core.tensor import size_guards
from ts._core.tensor.tensor_metadata import report_untracked_write
from ts.ops import common
from ts.ops.normalization import (
    Three,
    apply_affine,
    check_parameters,
    floating_wide,
    moment_dtype,
    normalize,
    normalize_backward,
    sum_parameter_gradient,
)
from ts.ops.out_variants import COPIED_OUT, SCALAR
from ts.ops.registry import op, shared_fields

Array = common.Array


def _update(xp: Any, running: Array | None, new: Array, momentum: float) -> None:
    if running is not None:
        running[...] = common.cast(xp, (1 - momentum) * running + momentum * new, running.dtype)
        report_untracked_write(running)


def batch_norm_kernel(
    xp: Any,
    input: Array,
    weight: Array | None,
    bias: Array | None,
    running_mean: Array | None,
    running_var: Array | None,
    training: bool,
    momentum: float,
    eps: float,
) -> Three:
    """Normalize each channel by the moments of the batch, or by the running moments.

    With `training`, use the moments of the batch, and update the running moments. Return the result, and the
    mean and the inverse standard deviation of the batch. Otherwise, use the running moments, and return the
    result and two empty arrays.
    """
    channels = input.shape[1] if input.ndim > 1 else 0
    named_tensors = {"running_mean": running_mean, "running_var": running_var, "weight": weight, "bias": bias}
    for name, value in named_tensors.items():
        if value is None and not training and name.startswith("running"):
            raise RuntimeError(f"{name} must be defined in evaluation mode")
        if value is not None and not size_guards.equal(value.size, channels):
            raise RuntimeError(f"{name} should contain {channels} elements not {value.size}")
    wide = floating_wide(xp, "batch_norm", input)
    check_parameters(input, "batch_norm", weight, bias, running_mean, running_var)
    dtype = moment_dtype(input, weight, bias, running_mean, running_var)
    axes = (0, *range(2, input.ndim))
    per = [-1 if d == 1 else 1 for d in range(input.ndim)] if channels else [1, 0, *(1,) * (input.ndim - 2)]
    scale_and_shift = [None if w is None else w.reshape(per) for w in (weight, bias)]
    if not training:
        assert running_mean is not None and running_var is not None
        mean, var = (common.cast(xp, r, wide.dtype).reshape(per) for r in (running_mean, running_var))
        result = (wide - mean) / xp.sqrt(var + eps)
        saved = xp.zeros(0, dtype=dtype)
        return common.cast(xp, apply_affine(result, *scale_and_shift), input.dtype), saved, saved
    result, mean, variance = normalize(xp, wide, axes, eps)
    mean, variance = mean.reshape(channels), variance.reshape(channels)
    free = math.prod(input.shape[a] for a in axes) - 1
    unbiased = variance * ((free + 1) / free if free else math.nan)
    for running, new in ((running_mean, mean), (running_var, unbiased)):
        _update(xp, running, new, momentum)
    return (
        common.cast(xp, apply_affine(result, *scale_and_shift), input.dtype),
        common.cast(xp, mean, dtype),
        common.cast(xp, 1 / xp.sqrt(variance + eps), dtype),
    )


@op(
    "aten::batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? "
    "running_var, bool training, float momentum, float eps, bool cudnn_enabled) -> Tensor",
    channels=True,
    layout="channels",
    updates="training",
    graph_autodiff=True,
)
def _batch_norm(xp: Any, input: Array, *rest: Any) -> Array:
    if not input.size:  # an empty batch has no mean and variance, so the running statistics stay unchanged
        return xp.copy(input)
    return batch_norm_kernel(xp, input, *rest[:-1])[0]


@op(
    "aten::native_batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? "
    "running_var, bool training, float momentum, float eps) -> (Tensor, Tensor, Tensor)",
    out="out",
    out_names="out,save_mean,save_invstd",
    layout=("channels", "contiguous", "contiguous"),
    updates="training",
)
@op(
    "aten::_native_batch_norm_legit(Tensor input, Tensor? weight, Tensor? bias, Tensor(a!) running_mean, "
    "Tensor(b!) running_var, bool training, float momentum, float eps) -> (Tensor, Tensor, Tensor)",
    layout=("channels", "contiguous", "contiguous"),
    out="out",
    out_names="d:out,e:save_mean,f:save_invstd",
    out_dtype_error=SCALAR,
)
def _native_batch_norm(xp: Any, input: Array, *rest: Any) -> Three:
    if not input.size and rest[4]:
        raise RuntimeError(
            f"input tensor must have at least one element, but got input_sizes = {list(input.shape)}"
        )
    return batch_norm_kernel(xp, input, *rest)


@op(
    "aten::_native_batch_norm_legit.no_stats(Tensor input, Tensor? weight, Tensor? bias, bool training, "
    "float momentum, float eps) -> (Tensor, Tensor, Tensor)",
    out="no_stats_out",
    out_names="out,save_mean,save_invstd",
    layout=("channels", "contiguous", "contiguous"),
)
def _native_batch_norm_without(
    xp: Any,
    input: Array,
    weight: Array | None,
    bias: Array | None,
    training: bool,
    momentum: float,
    eps: float,
) -> Three:
    return batch_norm_kernel(xp, input, weight, bias, None, None, training, momentum, eps)


@op(
    "aten::_native_batch_norm_legit_no_training(Tensor input, Tensor? weight, Tensor? bias, Tensor "
    "running_mean, Tensor running_var, float momentum, float eps) -> (Tensor, Tensor, Tensor)",
    out="out",
    layout=("channels", "contiguous", "contiguous"),
)
def _native_batch_norm_evaluated(
    xp: Any,
    input: Array,
    weight: Array | None,
    bias: Array | None,
    running_mean: Array,
    running_var: Array,
    momentum: float,
    eps: float,
) -> Three:
    return batch_norm_kernel(xp, input, weight, bias, running_mean, running_var, False, momentum, eps)


@op(
    "aten::instance_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? "
    "running_var, bool use_input_stats, float momentum, float eps, bool cudnn_enabled) -> Tensor",
    updates="use_input_stats",
)
def _instance_norm(
    xp: Any,
    input: Array,
    weight: Array | None,
    bias: Array | None,
    running_mean: Array | None,
    running_var: Array | None,
    use_input_stats: bool,
    momentum: float,
    eps: float,
    cudnn_enabled: bool,
) -> Array:
    if not use_input_stats and (running_mean is None or running_var is None):
        raise RuntimeError(
            "Expected running_mean and running_var to be defined when use_input_stats is false"
        )
    n, c = input.shape[:2]
    named_tensors = {"running_mean": running_mean, "running_var": running_var, "weight": weight, "bias": bias}
    for name, value in named_tensors.items():
        if value is not None and not size_guards.equal(value.size, c):
            raise RuntimeError(f"{name} should contain {n * c} elements not {n * value.size}")
    scale, shift, mean, variance = (
        None if v is None else xp.tile(v, n) for v in (weight, bias, running_mean, running_var)
    )
    folded = input.reshape(1, n * c, *input.shape[2:])
    result, *_ = batch_norm_kernel(xp, folded, scale, shift, mean, variance, use_input_stats, momentum, eps)
    for running, updated in ((running_mean, mean), (running_var, variance)):
        if running is not None and updated is not None and use_input_stats:
            running[...] = common.cast(
                xp, xp.mean(common.cast(xp, updated, common.opmath(updated.dtype)).reshape(n, c), axis=0),
                running.dtype,
            )  # fmt: skip
            report_untracked_write(running)
    return result.reshape(input.shape)


# ------------------------------------------------------------------------------------ gradients


@op(
    "aten::native_batch_norm_backward(Tensor grad_out, Tensor input, Tensor? weight, Tensor? running_mean, "
    "Tensor? running_var, Tensor? save_mean, Tensor? save_invstd, bool train, float eps, "
    "bool[3] output_mask) -> (Tensor, Tensor, Tensor)",
    checked_dtype="input grad_out",
    **COPIED_OUT,
)
def _native_batch_norm_backward(
    xp: Any,
    grad_out: Array,
    input: Array,
    weight: Array | None,
    running_mean: Array | None,
    running_var: Array | None,
    save_mean: Array | None,
    save_invstd: Array | None,
    train: bool,
    eps: float,
    output_mask: Sequence[bool],
) -> list[Array]:
    """Return the gradients of input, weight and bias.

    A gradient is an empty array if its item in `output_mask` is False.
    """
    channels = input.shape[1] if input.ndim > 1 else 0
    mean, spread = (save_mean, save_invstd) if train else (running_mean, running_var)
    if mean is None or spread is None:
        raise RuntimeError("Expected the saved mean and inverse standard deviation of the input")
    if not size_guards.equal_shapes(
        (*grad_out.shape, mean.size, spread.size), (*input.shape, channels, channels)
    ):
        raise RuntimeError(
            f"Expected a gradient of the input's size {list(input.shape)} and moments of {channels} channels"
            f", but got {list(grad_out.shape)}, {list(mean.shape)} and {list(spread.shape)}"
        )
    wide = floating_wide(xp, "batch_norm_backward", input)
    grad = common.cast(xp, grad_out, wide.dtype)
    axes = (0, *range(2, input.ndim))
    per = [channels if d == 1 else 1 for d in range(input.ndim)]
    middle, inverse = (common.cast(xp, x, wide.dtype).reshape(per) for x in (mean, spread))
    if not train:
        inverse = 1 / xp.sqrt(inverse + eps)
    gradients = [xp.zeros(0, dtype=input.dtype)] * 3
    like = input if weight is None else weight
    if (output_mask[0] and train) or output_mask[1]:
        result = (wide - middle) * inverse
    if output_mask[0]:
        scale = inverse if weight is None else inverse * common.cast(xp, weight, wide.dtype).reshape(per)
        input_gradient = normalize_backward(xp, grad, result, scale, axes) if train else grad * scale
        gradients[0] = common.cast(xp, input_gradient, input.dtype)
    if output_mask[1]:
        gradients[1] = sum_parameter_gradient(xp, grad * result, axes, like)
    if output_mask[2]:
        gradients[2] = sum_parameter_gradient(xp, grad, axes, like)
    return gradients


@op(
    "aten::batch_norm_backward(Tensor grad_out, Tensor input, Tensor weight, Tensor? running_mean, "
    "Tensor? running_var, Tensor? save_mean, Tensor? save_var, bool update, float eps, bool[3] output_mask, "
    "Tensor reserve) -> (Tensor, Tensor, Tensor)",
    where="",
    checked_dtype="input grad_out",
)
def _batch_norm_backward(xp: Any, *args: Any) -> list[Array]:
    """Return the gradients of `_batch_norm_with_update`. The last argument, `reserve`, is ignored."""
    return _native_batch_norm_backward(xp, *args[:-1])


# --------------------------------------------------------------------------- variants with additional results

_STATISTICS = "Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var"


def _reserved(xp: Any) -> Array:
    """Return an empty uint8 array as reserve buffer, in which only GPU libraries store data for backward."""
    return xp.zeros(0, dtype=common.UINT8)


@op(
    f"aten::_batch_norm_impl_index(Tensor input, {_STATISTICS}, bool training, float momentum, float eps, "
    "bool cudnn_enabled) -> (Tensor, Tensor, Tensor, Tensor, int)",
    layout=("channels", "contiguous", "contiguous", "contiguous", "contiguous"),
)
def _batch_norm_impl_index(xp: Any, input: Array, *rest: Any) -> tuple[Any, ...]:
    """Return batch norm results, an empty reserve buffer and the backend index 0."""
    return *_native_batch_norm(xp, input, *rest[:-1]), _reserved(xp), 0


@op(
    f"aten::_batch_norm_no_update(Tensor input, {_STATISTICS}, float momentum, float eps) -> (Tensor, "
    "Tensor, Tensor, Tensor)",
    where="",
    **COPIED_OUT,
)
@shared_fields(layout=("channels", "contiguous", "contiguous", "contiguous"))
def _batch_norm_no_update(
    xp: Any,
    input: Array,
    weight: Array | None,
    bias: Array | None,
    running_mean: Array | None,
    running_var: Array | None,
    momentum: float,
    eps: float,
) -> tuple[Array, ...]:
    outputs = batch_norm_kernel(xp, input, weight, bias, running_mean, running_var, False, momentum, eps)
    return *outputs, _reserved(xp)


@op(
    "aten::_batch_norm_with_update(Tensor input, Tensor? weight, Tensor? bias, Tensor(a!) running_mean, "
    "Tensor(b!) running_var, float momentum, float eps) -> (Tensor, Tensor, Tensor, Tensor)",
    where="",
    layout=("channels", "contiguous", "contiguous", "contiguous"),
    out="out",
    order="out",
    out_names="d:out,e:save_mean,f:save_invstd,g:reserve",
    out_dtype_error=(SCALAR, SCALAR, SCALAR, ""),
)
def _batch_norm_with_update(xp: Any, input: Array, *rest: Any) -> tuple[Array, ...]:
    *tensors, momentum, eps = rest
    return *_native_batch_norm(xp, input, *tensors, True, momentum, eps), _reserved(xp)


@op(
    "aten::_batch_norm_with_update_functional(Tensor input, Tensor? weight, Tensor? bias, Tensor "
    "running_mean, Tensor running_var, float momentum, float eps) -> (Tensor, Tensor, Tensor, Tensor, "
    "Tensor running_mean_out, Tensor running_var_out)",
    where="",
    layout=("channels", *("contiguous",) * 5),
)
def _batch_norm_with_update_functional(
    xp: Any, input: Array, weight: Any, bias: Any, running_mean: Array, running_var: Array, *rest: float
) -> tuple[Array, ...]:
    mean, var = running_mean.copy(), running_var.copy()
    return *_batch_norm_with_update(xp, input, weight, bias, mean, var, *rest), mean, var


@op(
    "aten::_native_batch_norm_legit_functional(Tensor input, Tensor? weight, Tensor? bias, Tensor "
    "running_mean, Tensor running_var, bool training, float momentum, float eps) -> (Tensor, Tensor, "
    "Tensor, Tensor running_mean_out, Tensor running_var_out)",
    where="",
    layout=("channels", *("contiguous",) * 4),
)
def _native_batch_norm_functional(
    xp: Any, input: Array, weight: Any, bias: Any, running_mean: Array, running_var: Array, *rest: Any
) -> tuple[Array, ...]:
    mean, var = running_mean.copy(), running_var.copy()
    return *_native_batch_norm(xp, input, weight, bias, mean, var, *rest), mean, var


# ------------------------------------------------------------------- batch norm in steps, for several devices


def _moments(xp: Any, input: Array) -> tuple[Array, Array]:
    """Return mean and variance per channel in the computation dtype."""
    wide = floating_wide(xp, "batch_norm", input)
    axes = (0, *range(2, input.ndim))
    _, mean, variance = normalize(xp, wide, axes, 1.0)
    return mean.reshape(-1), variance.reshape(-1)


@op(
    "aten::batch_norm_update_stats(Tensor input, Tensor? running_mean, Tensor? running_var, float "
    "momentum) -> (Tensor, Tensor)",
    layout=("contiguous", "contiguous"),
    side_effect=True,
    **COPIED_OUT,
)
def _update_stats(
    xp: Any, input: Array, running_mean: Array | None, running_var: Array | None, momentum: float
) -> tuple[Array, Array]:
    mean, variance = _moments(xp, input)
    count = input.size // max(input.shape[1], 1)
    _update(xp, running_mean, mean, momentum)
    _update(xp, running_var, variance * (count / (count - 1) if count > 1 else math.nan), momentum)
    return common.cast(xp, mean, input.dtype), common.cast(xp, variance, input.dtype)


@op(
    "aten::batch_norm_stats(Tensor input, float eps) -> (Tensor, Tensor)",
    layout=("contiguous", "contiguous"),
    order="out",
    **COPIED_OUT,
)
def _stats(xp: Any, input: Array, eps: float) -> tuple[Array, Array]:
    mean, variance = _moments(xp, input)
    return mean, 1 / xp.sqrt(variance + eps)


@op(
    "aten::batch_norm_elemt(Tensor input, Tensor? weight, Tensor? bias, Tensor mean, Tensor invstd, float "
    "eps) -> Tensor",
    layout="channels",
    order="out",
    **COPIED_OUT,
)
def _elemt(
    xp: Any, input: Array, weight: Array | None, bias: Array | None, mean: Array, invstd: Array, eps: float
) -> Array:
    wide = floating_wide(xp, "batch_norm", input)
    per = [-1 if d == 1 else 1 for d in range(input.ndim)]
    scale_and_shift = [None if w is None else w.reshape(per) for w in (weight, bias)]
    result = apply_affine((wide - mean.reshape(per)) * invstd.reshape(per), *scale_and_shift)
    return common.cast(xp, result, input.dtype)


@op(
    "aten::batch_norm_gather_stats_with_counts(Tensor input, Tensor mean, Tensor invstd, Tensor? "
    "running_mean, Tensor? running_var, float momentum, float eps, Tensor counts) -> (Tensor, Tensor)",
    order="out",
    **COPIED_OUT,
)
@op(
    "aten::batch_norm_gather_stats(Tensor input, Tensor mean, Tensor invstd, Tensor? running_mean, Tensor? "
    "running_var, float momentum, float eps, int count) -> (Tensor, Tensor)",
    order="out",
    **COPIED_OUT,
)
@shared_fields(
    layout=("contiguous", "contiguous"),
    side_effect=True,
    dtype_errors={"bic": "batch_norm_update_stats_cuda"},
)
def _gather_stats(
    xp: Any,
    input: Array,
    mean: Array,
    invstd: Array,
    running_mean: Array | None,
    running_var: Array | None,
    momentum: float,
    eps: float,
    counts: Any,
) -> tuple[Array, Array]:
    """Compute the moments of a batch from the moments of its parts, and update the running moments.

    Row i of `mean` and `invstd` contains the mean and 1 / standard deviation of part i.
    """
    wide = common.opmath(mean.dtype)
    of_part = (
        xp.full(mean.shape[0], counts, dtype=wide)
        if isinstance(counts, int)
        else common.cast(xp, counts, wide)
    )
    share = (of_part / xp.sum(of_part))[:, None]
    total = xp.sum(common.cast(xp, mean, wide) * share, axis=0)
    variance = xp.sum((1 / (invstd * invstd) - eps + (mean - total) ** 2) * share, axis=0)
    total_count = xp.sum(of_part)
    _update(xp, running_mean, total, momentum)
    _update(xp, running_var, variance * total_count / (total_count - 1), momentum)
    return total, 1 / xp.sqrt(variance + eps)
