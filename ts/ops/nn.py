"""Layers and losses: normalisation, embedding, distances, the losses that are simple composites.

In: arrays, weights, a reduction (0 none, 1 mean, 2 sum); out: an array.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ts.ops import rules
from ts.ops.activation import softmax_kernel
from ts.ops.reduce import vector_norm
from ts.ops.registry import op

Array = rules.Array
NONE, MEAN, SUM = 0, 1, 2


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


@op(
    "aten::embedding(Tensor weight, Tensor indices, SymInt padding_idx=-1, bool "
    "scale_grad_by_freq=False, bool sparse=False) -> Tensor",
    where="f",
)
def _embedding(
    xp: Any,
    weight: Array,
    indices: Array,
    padding_idx: int = -1,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Array:
    if indices.dtype not in (rules.INT64, rules.INT32):
        raise RuntimeError(
            "Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; "
            f"but got torch.{rules.NAME_OF[indices.dtype]}Tensor instead "
            "(while checking arguments for embedding)"
        )
    if indices.size and (int(indices.min()) < 0 or int(indices.max()) >= weight.shape[0]):
        raise IndexError("index out of range in self")
    return weight[indices]


@op("aten::one_hot(Tensor self, int num_classes=-1) -> Tensor", where="f")
def _one_hot(xp: Any, self: Array, num_classes: int = -1) -> Array:
    if self.dtype != rules.INT64:
        raise RuntimeError("one_hot is only applicable to index tensor of type LongTensor.")
    n = int(self.max()) + 1 if num_classes == -1 else num_classes
    if self.size and int(self.min()) < 0:
        raise RuntimeError("Class values must be non-negative.")
    if self.size and int(self.max()) >= n:
        raise RuntimeError("Class values must be smaller than num_classes.")
    return (self[..., None] == xp.arange(n)).astype(rules.INT64)


# ---------------------------------------------------------------------------------------- losses


def reduced(xp: Any, loss: Array, reduction: int) -> Array:
    """The loss by its reduction."""
    if reduction == NONE:
        return loss
    return rules.cast(xp, xp.mean(loss) if reduction == MEAN else xp.sum(loss), loss.dtype)


def _same(xp: Any, a: Array, b: Array) -> tuple[Array, Array]:
    dtype = rules.result_type(a, b)
    rules.broadcast_shapes(a.shape, b.shape)
    return rules.cast(xp, a, dtype), rules.cast(xp, b, dtype)


@op("aten::mse_loss(Tensor self, Tensor target, int reduction=1) -> Tensor", out="out", where="f")
def _mse_loss(xp: Any, self: Array, target: Array, reduction: int = MEAN) -> Array:
    x, y = _same(xp, self, target)
    return reduced(xp, (x - y) ** 2, reduction)


@op("aten::l1_loss(Tensor self, Tensor target, int reduction=1) -> Tensor", where="f")
def _l1_loss(xp: Any, self: Array, target: Array, reduction: int = MEAN) -> Array:
    x, y = _same(xp, self, target)
    return reduced(xp, xp.abs(x - y), reduction)


@op(
    "aten::smooth_l1_loss(Tensor self, Tensor target, int reduction=1, float beta=1.) -> Tensor",
    out="out",
    where="f",
)
def _smooth_l1_loss(xp: Any, self: Array, target: Array, reduction: int = MEAN, beta: float = 1.0) -> Array:
    error = xp.abs(xp.subtract(*_same(xp, self, target)))
    if beta == 0:
        return reduced(xp, error, reduction)
    return reduced(xp, xp.where(error < beta, 0.5 * error * error / beta, error - 0.5 * beta), reduction)


@op(
    "aten::huber_loss(Tensor self, Tensor target, int reduction=1, float delta=1.) -> Tensor",
    out="out",
    where="f",
)
def _huber_loss(xp: Any, self: Array, target: Array, reduction: int = MEAN, delta: float = 1.0) -> Array:
    if not delta > 0:
        raise RuntimeError("huber_loss does not support non-positive values for delta.")
    error = xp.abs(xp.subtract(*_same(xp, self, target)))
    return reduced(
        xp, xp.where(error <= delta, 0.5 * error * error, delta * (error - 0.5 * delta)), reduction
    )


@op("aten::soft_margin_loss(Tensor self, Tensor target, int reduction=1) -> Tensor", out="out", where="f")
def _soft_margin_loss(xp: Any, self: Array, target: Array, reduction: int = MEAN) -> Array:
    return reduced(xp, xp.log1p(xp.exp(-target * self)), reduction)


@op(
    "aten::hinge_embedding_loss(Tensor self, Tensor target, float margin=1., int reduction=1) -> Tensor",
    where="f",
)
def _hinge_embedding_loss(
    xp: Any, self: Array, target: Array, margin: float = 1.0, reduction: int = MEAN
) -> Array:
    loss = xp.where(target != 1, xp.maximum(margin - self, 0), 0) + xp.where(target != -1, self, 0)
    return reduced(xp, rules.cast(xp, loss, self.dtype), reduction)


@op(
    "aten::margin_ranking_loss(Tensor input1, Tensor input2, Tensor target, float margin=0., int "
    "reduction=1) -> Tensor",
    where="f",
)
def _margin_ranking_loss(
    xp: Any, input1: Array, input2: Array, target: Array, margin: float = 0.0, reduction: int = MEAN
) -> Array:
    loss = xp.maximum(-target * (input1 - input2) + margin, 0)
    return reduced(xp, rules.cast(xp, loss, rules.float_dtype(rules.result_type(input1, input2))), reduction)


@op(
    "aten::kl_div(Tensor self, Tensor target, int reduction=1, *, bool log_target=False) -> Tensor",
    where="f",
)
def _kl_div(xp: Any, self: Array, target: Array, reduction: int = MEAN, log_target: bool = False) -> Array:
    if log_target:
        return reduced(xp, xp.exp(target) * (target - self), reduction)
    return reduced(xp, rules.special_functions(xp).xlogy(target, target) - target * self, reduction)


@op(
    "aten::poisson_nll_loss(Tensor input, Tensor target, bool log_input, bool full, float eps, int "
    "reduction) -> Tensor",
    where="f",
)
def _poisson_nll_loss(
    xp: Any, input: Array, target: Array, log_input: bool, full: bool, eps: float, reduction: int
) -> Array:
    loss = xp.exp(input) - target * input if log_input else input - target * xp.log(input + eps)
    if full:
        stirling = target * xp.log(target) - target + 0.5 * xp.log(2 * math.pi * target)
        loss = loss + xp.where(target > 1, stirling, 0)
    return reduced(xp, rules.cast(xp, loss, rules.float_dtype(rules.result_type(input, target))), reduction)


@op(
    "aten::binary_cross_entropy(Tensor self, Tensor target, Tensor? weight=None, int reduction=1) -> Tensor",
    out="out",
    where="f",
)
def _binary_cross_entropy(
    xp: Any, self: Array, target: Array, weight: Array | None = None, reduction: int = MEAN
) -> Array:
    loss = -(target * xp.maximum(xp.log(self), -100) + (1 - target) * xp.maximum(xp.log1p(-self), -100))
    return reduced(xp, loss if weight is None else loss * weight, reduction)


@op(
    "aten::binary_cross_entropy_with_logits(Tensor self, Tensor target, Tensor? weight=None, Tensor? "
    "pos_weight=None, int reduction=1) -> Tensor",
    out="out",
    where="f",
)
def _binary_cross_entropy_with_logits(
    xp: Any,
    self: Array,
    target: Array,
    weight: Array | None = None,
    pos_weight: Array | None = None,
    reduction: int = MEAN,
) -> Array:
    softplus = xp.log1p(xp.exp(-xp.abs(self))) + xp.maximum(-self, 0)
    scale = 1 if pos_weight is None else 1 + (pos_weight - 1) * target
    loss = (1 - target) * self + scale * softplus
    return reduced(xp, rules.cast(xp, loss if weight is None else loss * weight, self.dtype), reduction)


def nll(
    xp: Any, logp: Array, target: Array, weight: Array | None, reduction: int, ignore_index: int
) -> Array:
    """The negative log likelihood of classes along dimension 1 (0 for one sample)."""
    if target.dtype not in (rules.INT64, rules.UINT8):
        raise RuntimeError(
            f"expected target dtype to be Long or Byte, but got {rules.NAME_OF[target.dtype]}"
        )
    if logp.ndim > 1 and target.ndim > 0 and logp.shape[0] != target.shape[0]:
        raise ValueError(
            f"Expected input batch_size ({logp.shape[0]}) to match target batch_size ({target.shape[0]})."
        )
    single = logp.ndim == 1
    x, t = (logp[None], target[None]) if single else (logp, target)
    kept = t != ignore_index
    safe = xp.where(kept, t, 0)
    n = x.shape[1]
    if safe.size and (int(safe.min()) < 0 or int(safe.max()) >= n):
        raise IndexError(f"Target {int(safe.max())} is out of bounds.")
    w = kept.astype(x.dtype) if weight is None else weight[safe] * kept
    loss = -xp.take_along_axis(x, xp.expand_dims(safe, 1), 1).squeeze(1) * w
    loss = xp.where(kept, loss, 0)
    if reduction == MEAN:
        return rules.cast(xp, xp.sum(loss) / xp.sum(w), x.dtype)
    loss = rules.cast(xp, loss, x.dtype)
    return reduced(xp, loss[0] if single else loss, reduction)


@op(
    "aten::nll_loss_nd(Tensor self, Tensor target, Tensor? weight=None, int reduction=1, SymInt "
    "ignore_index=-100) -> Tensor",
    where="f",
)
@op(
    "aten::nll_loss(Tensor self, Tensor target, Tensor? weight=None, int reduction=1, SymInt "
    "ignore_index=-100) -> Tensor",
    out="out",
    where="f",
)
def _nll_loss(
    xp: Any,
    self: Array,
    target: Array,
    weight: Array | None = None,
    reduction: int = MEAN,
    ignore_index: int = -100,
) -> Array:
    return nll(xp, self, target, weight, reduction, ignore_index)


@op(
    "aten::cross_entropy_loss(Tensor self, Tensor target, Tensor? weight=None, int reduction=1, "
    "SymInt ignore_index=-100, float label_smoothing=0.) -> Tensor",
    where="f",
)
def _cross_entropy(
    xp: Any,
    self: Array,
    target: Array,
    weight: Array | None = None,
    reduction: int = MEAN,
    ignore_index: int = -100,
    label_smoothing: float = 0.0,
) -> Array:
    axis = 0 if self.ndim == 1 else 1
    logp = softmax_kernel(xp, self, axis, None, True)
    n = self.shape[axis]
    per = [-1 if d == axis else 1 for d in range(self.ndim)]
    if target.shape == self.shape and target.dtype.kind == "f":
        wanted = target * (1 - label_smoothing) + label_smoothing / n
        loss = -xp.sum(wanted * logp * (1 if weight is None else weight.reshape(per)), axis=axis)
        if reduction == MEAN:
            return rules.cast(xp, xp.sum(loss) / max(self.size // n, 1), self.dtype)
        return reduced(xp, rules.cast(xp, loss, self.dtype), reduction)
    loss = nll(xp, logp, target, weight, reduction, ignore_index)
    if label_smoothing == 0:
        return loss
    kept = target != ignore_index
    smooth = -xp.sum(logp * (1 if weight is None else weight.reshape(per)), axis=axis) * kept
    if reduction == MEAN:
        total = xp.sum(kept) if weight is None else xp.sum(weight[xp.where(kept, target, 0)] * kept)
        smooth = xp.sum(smooth) / total
    elif reduction == SUM:
        smooth = xp.sum(smooth)
    return rules.cast(xp, (1 - label_smoothing) * loss + smooth * (label_smoothing / n), self.dtype)


@op("aten::cosine_similarity(Tensor x1, Tensor x2, int dim=1, float eps=1e-08) -> Tensor", where="f")
def _cosine_similarity(xp: Any, x1: Array, x2: Array, dim: int = 1, eps: float = 1e-08) -> Array:
    a, b = _same(xp, x1, x2)
    shape = rules.broadcast_shapes(a.shape, b.shape)
    axis = rules.wrap_dim(dim, len(shape))
    a, b = xp.broadcast_to(a, shape), xp.broadcast_to(b, shape)
    na = xp.maximum(vector_norm(xp, a, 2, axis, True), eps)
    nb = xp.maximum(vector_norm(xp, b, 2, axis, True), eps)
    return rules.cast(xp, xp.sum((a / na) * (b / nb), axis=axis), a.dtype)


@op(
    "aten::pairwise_distance(Tensor x1, Tensor x2, float p=2., float eps=9.9999999999999995e-07, bool"
    " keepdim=False) -> Tensor",
    where="f",
)
def _pairwise_distance(
    xp: Any, x1: Array, x2: Array, p: float = 2, eps: float = 1e-06, keepdim: bool = False
) -> Array:
    gap = xp.subtract(*_same(xp, x1, x2))
    gap = rules.cast(xp, gap, rules.float_dtype(gap.dtype))
    return vector_norm(xp, gap + rules.real_dtype(gap.dtype).type(eps), p, -1, keepdim)


@op("aten::cdist(Tensor x1, Tensor x2, float p=2., int? compute_mode=None) -> Tensor", where="f")
def _cdist(xp: Any, x1: Array, x2: Array, p: float = 2, compute_mode: int | None = None) -> Array:
    for name, x in (("X1", x1), ("X2", x2)):
        if x.ndim < 2:
            raise RuntimeError(f"cdist only supports at least 2D tensors, {name} got: {x.ndim}D")
    if x1.shape[-1] != x2.shape[-1]:
        raise RuntimeError(
            f"X1 and X2 must have the same number of columns. X1: {x1.shape[-1]} X2: {x2.shape[-1]}"
        )
    return vector_norm(xp, x1[..., :, None, :] - x2[..., None, :, :], p, -1, False)


@op("aten::pdist(Tensor self, float p=2.) -> Tensor", where="f")
def _pdist(xp: Any, self: Array, p: float = 2) -> Array:
    rows, columns = xp.triu_indices(self.shape[0], 1)
    return vector_norm(xp, self[rows] - self[columns], p, -1, False)


@op(
    "aten::triplet_margin_loss(Tensor anchor, Tensor positive, Tensor negative, float margin=1., "
    "float p=2., float eps=9.9999999999999995e-07, bool swap=False, int reduction=1) -> Tensor",
    where="f",
)
def _triplet_margin_loss(
    xp: Any,
    anchor: Array,
    positive: Array,
    negative: Array,
    margin: float = 1.0,
    p: float = 2.0,
    eps: float = 1e-06,
    swap: bool = False,
    reduction: int = MEAN,
) -> Array:
    near, far = (
        _pairwise_distance(xp, anchor, positive, p, eps),
        _pairwise_distance(xp, anchor, negative, p, eps),
    )
    if swap:
        far = xp.minimum(far, _pairwise_distance(xp, positive, negative, p, eps))
    return reduced(xp, xp.maximum(margin + near - far, 0).astype(near.dtype), reduction)


@op(
    "aten::cosine_embedding_loss(Tensor input1, Tensor input2, Tensor target, float margin=0., int "
    "reduction=1) -> Tensor",
    where="f",
)
def _cosine_embedding_loss(
    xp: Any, input1: Array, input2: Array, target: Array, margin: float = 0.0, reduction: int = MEAN
) -> Array:
    dtype = rules.float_dtype(rules.result_type(input1, input2))
    near = _cosine_similarity(xp, rules.cast(xp, input1, dtype), rules.cast(xp, input2, dtype), -1)
    loss = xp.where(target == 1, 1 - near, xp.maximum(near - margin, 0))
    return reduced(xp, rules.cast(xp, loss, near.dtype), reduction)
