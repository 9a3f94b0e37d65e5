"""Losses of one element against another.

In: arrays, a reduction (0 none, 1 mean, 2 sum); out: an array.
"""

from __future__ import annotations

import math
from typing import Any

from ts.ops import rules
from ts.ops.registry import op

Array = rules.Array
NONE, MEAN, SUM = 0, 1, 2


def reduced(xp: Any, loss: Array, reduction: int) -> Array:
    """The loss by its reduction."""
    if reduction == NONE:
        return loss
    return rules.cast(xp, xp.mean(loss) if reduction == MEAN else xp.sum(loss), loss.dtype)


def same(xp: Any, a: Array, b: Array) -> tuple[Array, Array]:
    dtype = rules.result_type(a, b)
    rules.broadcast_shapes(a.shape, b.shape)
    return rules.cast(xp, a, dtype), rules.cast(xp, b, dtype)


@op("aten::mse_loss(Tensor self, Tensor target, int reduction=1) -> Tensor", out="out", where="f")
def _mse_loss(xp: Any, self: Array, target: Array, reduction: int = MEAN) -> Array:
    x, y = same(xp, self, target)
    return reduced(xp, (x - y) ** 2, reduction)


@op("aten::l1_loss(Tensor self, Tensor target, int reduction=1) -> Tensor", where="f")
def _l1_loss(xp: Any, self: Array, target: Array, reduction: int = MEAN) -> Array:
    x, y = same(xp, self, target)
    return reduced(xp, xp.abs(x - y), reduction)


@op(
    "aten::smooth_l1_loss(Tensor self, Tensor target, int reduction=1, float beta=1.) -> Tensor",
    out="out",
    where="f",
)
def _smooth_l1_loss(xp: Any, self: Array, target: Array, reduction: int = MEAN, beta: float = 1.0) -> Array:
    error = xp.abs(xp.subtract(*same(xp, self, target)))
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
    error = xp.abs(xp.subtract(*same(xp, self, target)))
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
