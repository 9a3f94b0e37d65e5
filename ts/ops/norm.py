"""Normalisation: by the moments of a batch, of dimensions, of groups of channels, or by the root mean square.

In: arrays, weights, running moments; out: an array, and the moments where the operator gives them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ts.ops import rules
from ts.ops.registry import op

Array = rules.Array


def normalised(xp: Any, x: Array, axes: tuple[int, ...], eps: float) -> Array:
    """x with mean 0 and variance 1 over `axes`, computed in at least 32 bits."""
    wide = rules.cast(xp, x, rules.opmath(x.dtype))
    mean = xp.mean(wide, axis=axes, keepdims=True)
    centred = wide - mean
    variance = xp.mean(xp.abs(centred) ** 2, axis=axes, keepdims=True)
    return centred / xp.sqrt(variance + eps)


def _affine(x: Array, weight: Array | None, bias: Array | None) -> Array:
    if weight is not None:
        x = x * weight
    return x if bias is None else x + bias


@op(
    "aten::layer_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight=None, Tensor? "
    "bias=None, float eps=1.0000000000000001e-05, bool cudnn_enable=True) -> Tensor",
    where="f",
)
def _layer_norm(
    xp: Any,
    input: Array,
    normalized_shape: Sequence[int],
    weight: Array | None = None,
    bias: Array | None = None,
    eps: float = 1e-05,
    cudnn_enable: bool = True,
) -> Array:
    n = len(normalized_shape)
    if tuple(input.shape[-n:]) != tuple(normalized_shape):
        raise RuntimeError(
            f"Given normalized_shape={list(normalized_shape)}, expected input with shape [*, "
            f"{', '.join(str(d) for d in normalized_shape)}], but got input of size{list(input.shape)}"
        )
    axes = tuple(range(input.ndim - n, input.ndim))
    return rules.cast(xp, _affine(normalised(xp, input, axes, eps), weight, bias), input.dtype)


@op(
    "aten::native_layer_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight, Tensor? bias, "
    "float eps) -> (Tensor, Tensor, Tensor)",
    where="f",
)
def _native_layer_norm(
    xp: Any,
    input: Array,
    normalized_shape: Sequence[int],
    weight: Array | None,
    bias: Array | None,
    eps: float,
) -> tuple[Array, Array, Array]:
    axes = tuple(range(input.ndim - len(normalized_shape), input.ndim))
    mean = xp.mean(input, axis=axes, keepdims=True)
    variance = xp.mean((input - mean) ** 2, axis=axes, keepdims=True)
    return _layer_norm(xp, input, normalized_shape, weight, bias, eps), mean, 1 / xp.sqrt(variance + eps)


@op(
    "aten::rms_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight=None, float? eps=None) -> Tensor",
    where="f",
)
def _rms_norm(
    xp: Any,
    input: Array,
    normalized_shape: Sequence[int],
    weight: Array | None = None,
    eps: float | None = None,
) -> Array:
    if not normalized_shape:
        raise RuntimeError(
            "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one element, "
            "but got normalized_shape = []"
        )
    if weight is not None and list(weight.shape) != list(normalized_shape):
        raise RuntimeError(
            "Expected weight to be of same shape as normalized_shape, but got weight of shape "
            f"{list(weight.shape)} and normalized_shape = {list(normalized_shape)}"
        )
    if list(input.shape[-len(normalized_shape) :]) != list(normalized_shape):
        expected = "".join(f", {n}" for n in normalized_shape)
        raise RuntimeError(
            f"Given normalized_shape={list(normalized_shape)}, expected input with shape [*{expected}], "
            f"but got input of size{list(input.shape)}"
        )
    axes = tuple(range(input.ndim - len(normalized_shape), input.ndim))
    small = float(xp.finfo(input.dtype).eps) if eps is None else eps
    scaled = input / xp.sqrt(xp.mean(input * input, axis=axes, keepdims=True) + small)
    return rules.cast(xp, _affine(scaled, weight, None), input.dtype)


@op(
    "aten::group_norm(Tensor input, int num_groups, Tensor? weight=None, Tensor? bias=None, float "
    "eps=1.0000000000000001e-05, bool cudnn_enabled=True) -> Tensor",
    where="f",
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
    n, c = input.shape[:2]
    if c % num_groups:
        raise RuntimeError(
            f"Expected number of channels in input to be divisible by num_groups, but got input of shape "
            f"{list(input.shape)} and num_groups={num_groups}"
        )
    grouped = normalised(xp, input.reshape(n, num_groups, -1), (2,), eps).reshape(input.shape)
    per = [-1 if d == 1 else 1 for d in range(input.ndim)]
    parts = [None if w is None else w.reshape(per) for w in (weight, bias)]
    return rules.cast(xp, _affine(grouped, *parts), input.dtype)


@op(
    "aten::batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? "
    "running_var, bool training, float momentum, float eps, bool cudnn_enabled) -> Tensor",
    where="f",
)
def _batch_norm(
    xp: Any,
    input: Array,
    weight: Array | None,
    bias: Array | None,
    running_mean: Array | None,
    running_var: Array | None,
    training: bool,
    momentum: float,
    eps: float,
    cudnn_enabled: bool,
) -> Array:
    for name, value in (("running_mean", running_mean), ("running_var", running_var)):
        if value is None and not training:
            raise RuntimeError(f"{name} must be defined in evaluation mode")
    return batch_norm_kernel(
        xp, input, weight, bias, running_mean, running_var, training, momentum, eps, (0,)
    )


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
    batch: tuple[int, ...],
) -> Array:
    """Normalise every channel by the batch's moments (updating the running ones) or the running ones."""
    axes = (*batch, *range(2, input.ndim))
    per = [-1 if d == 1 else 1 for d in range(input.ndim)]
    if training or running_mean is None:
        result = normalised(xp, input, axes, eps)
        if running_mean is not None and training:
            count = math.prod(input.shape[a] for a in axes)
            mean, variance = xp.mean(input, axis=axes), xp.var(input, axis=axes) * (count / max(count - 1, 1))
            running_mean[...] = (1 - momentum) * running_mean + momentum * mean
            if running_var is not None:
                running_var[...] = (1 - momentum) * running_var + momentum * variance
    else:
        assert running_var is not None
        result = (input - running_mean.reshape(per)) / xp.sqrt(running_var.reshape(per) + eps)
    parts = [None if w is None else w.reshape(per) for w in (weight, bias)]
    return rules.cast(xp, _affine(result, *parts), input.dtype)


@op(
    "aten::instance_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? "
    "running_var, bool use_input_stats, float momentum, float eps, bool cudnn_enabled) -> Tensor",
    where="f",
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
    n, c = input.shape[:2]
    scale, shift, mean, variance = (
        None if v is None else xp.tile(v, n) for v in (weight, bias, running_mean, running_var)
    )
    folded = input.reshape(1, n * c, *input.shape[2:])
    result = batch_norm_kernel(xp, folded, scale, shift, mean, variance, use_input_stats, momentum, eps, (0,))
    for running, updated in ((running_mean, mean), (running_var, variance)):
        if running is not None and updated is not None and use_input_stats:
            running[...] = updated.reshape(n, c).mean(axis=0)
    return result.reshape(input.shape)
