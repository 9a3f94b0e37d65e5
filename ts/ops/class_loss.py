"""Losses of scores against classes.

In: scores (N, C, ...) or (C), target classes or probabilities, a reduction; out: an array.
"""

from __future__ import annotations

from typing import Any

from ts.ops import rules
from ts.ops.activation import softmax_kernel
from ts.ops.loss import MEAN, SUM, reduced
from ts.ops.registry import op

Array = rules.Array


def nll(
    xp: Any, logp: Array, target: Array, weight: Array | None, reduction: int, ignore_index: int
) -> Array:
    """The negative log likelihood of classes along dimension 1 (0 for one sample)."""
    if target.dtype not in (rules.INT64, rules.UINT8):
        raise RuntimeError(f"expected target dtype to be Long or Byte, but got {rules.NAME_OF[target.dtype]}")
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
