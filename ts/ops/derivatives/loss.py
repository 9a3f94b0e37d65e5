"""Derivatives of elementwise losses."""

from __future__ import annotations

import math
from typing import Final

import ts
from ts import Tensor
from ts.ops.derivatives.formula_registry import compose, derive

MEAN: Final = 1
SUM: Final = 2
# Minimum of the denominator p (1 - p) in derivatives, so that they are finite for probabilities p = 0 and p =
# 1
MIN_DENOMINATOR: Final = 1e-12


def share(grad: Tensor, elements: int, reduction: int) -> Tensor:
    """Return the gradient of the losses of the elements from `grad`, the gradient of the reduced loss."""
    return grad / elements if reduction == MEAN else grad


def reduce_loss(loss: Tensor, reduction: int) -> Tensor:
    """Return the loss of each element, their mean or their sum, as `reduction` selects."""
    if reduction == MEAN:
        return loss.mean()
    return loss.sum() if reduction == SUM else loss


# ----------------------------------------------------------------------------------- losses of the difference


def of_mse(grad: Tensor, self: Tensor, target: Tensor, reduction: int) -> Tensor:
    """Return the gradient of the mean squared error, which contains twice the difference."""
    gap = self - target
    return share(grad, gap.numel(), reduction) * 2 * gap


def of_smooth_l1(grad: Tensor, self: Tensor, target: Tensor, reduction: int, beta: float) -> Tensor:
    """Return the gradient of smooth L1 loss.

    It is `(self - target) / beta`, clamped to [-1, 1], or the sign of the difference if beta is 0.
    """
    gap = self - target
    each = share(grad, gap.numel(), reduction)
    if beta == 0:
        return ts.where(gap > 0, each, -each)
    return each * (gap / beta).clamp(-1, 1)


def of_huber(grad: Tensor, self: Tensor, target: Tensor, reduction: int, delta: float) -> Tensor:
    """Return the gradient of Huber loss: the difference clamped to [-delta, delta]."""
    gap = self - target
    return share(grad, gap.numel(), reduction) * gap.clamp(-delta, delta)


derive(
    "aten::mse_loss",
    self="of_mse(grad, self, target, reduction)",
    target="-of_mse(grad, self, target, reduction)",
)
derive(
    "aten::smooth_l1_loss", self="of_smooth_l1(grad, self, target, reduction, beta)",
    target="of_smooth_l1(grad, target, self, reduction, beta)",
)  # fmt: skip
derive(
    "aten::huber_loss", self="of_huber(grad, self, target, reduction, delta)",
    target="-of_huber(grad, self, target, reduction, delta)",
)  # fmt: skip
compose("aten::l1_loss", "reduce_loss((self - target).abs(), reduction)")

# ---------------------------------------------------------------------------------------- margin losses


def of_soft_margin(grad: Tensor, self: Tensor, target: Tensor, reduction: int) -> Tensor:
    """Return the gradient of soft margin loss, log(1 + exp(-target * self)), with respect to `self`."""
    wrong = ts.sigmoid(-target * self)
    return -share(grad, wrong.numel(), reduction) * target * wrong


def hinge_embedding(self: Tensor, target: Tensor, margin: float, reduction: int) -> Tensor:
    """Return the hinge embedding loss: the input for target 1, `max(0, margin - input)` for target -1."""
    apart = ts.where(target != 1, (margin - self).clamp_min(0), 0)
    return reduce_loss(apart + ts.where(target != -1, self, 0), reduction)


derive("aten::soft_margin_loss", self="of_soft_margin(grad, self, target, reduction)")
compose("aten::hinge_embedding_loss", "hinge_embedding(self, target, margin, reduction)")
compose(
    "aten::margin_ranking_loss",
    "reduce_loss((-target * (input1 - input2) + margin).clamp_min(0), reduction)",
)

# ---------------------------------------------------------------------------------------- likelihood losses


def divergence(self: Tensor, target: Tensor, reduction: int, log_target: bool) -> Tensor:
    """Return the Kullback-Leibler divergence loss."""
    if log_target:
        return reduce_loss(target.exp() * (target - self), reduction)
    product = target * self
    return reduce_loss(ts.xlogy(target, target) - product, reduction)


def poisson_nll(
    input: Tensor, target: Tensor, log_input: bool, full: bool, eps: float, reduction: int
) -> Tensor:
    """Return the Poisson loss. If `full`, add Stirling's approximation of log(target!)."""
    if log_input:
        product = target * input
        loss = input.exp() - product
    else:
        loss = input - target * (input + eps).log()
    if full:
        half_logarithm = (target * (2 * math.pi)).log() * 0.5
        stirling = target * target.log() - target + half_logarithm
        loss = loss + stirling.masked_fill(target <= 1, 0.0)
    return reduce_loss(loss, reduction)


compose("aten::kl_div", "divergence(self, target, reduction, log_target)")
compose("aten::poisson_nll_loss", "poisson_nll(input, target, log_input, full, eps, reduction)")


def weighted_gradient(grad: Tensor, self: Tensor, weight: Tensor | None, reduction: int) -> Tensor:
    """Return the gradient of the unweighted loss of each element. The losses are multiplied by `weight`."""
    each = share(grad, self.numel(), reduction)
    return each if weight is None else each * weight


def of_probability(self: Tensor, target: Tensor) -> Tensor:
    """Return the derivative of the binary cross entropy with respect to the probability."""
    return (self - target) / (self * (1 - self)).clamp_min(MIN_DENOMINATOR)


def of_target_probability(self: Tensor) -> Tensor:
    """Return the derivative of the binary cross entropy with respect to the target probability."""
    return ts.log1p(-self) - self.log()


def of_logit(self: Tensor, target: Tensor, pos_weight: Tensor | None) -> Tensor:
    """Return the derivative of the binary cross entropy with logits with respect to the logit."""
    if pos_weight is None:
        return ts.sigmoid(self) - target
    weighted_target = target * pos_weight
    return (weighted_target + 1 - target) * ts.sigmoid(self) - weighted_target


def of_logit_target(self: Tensor, pos_weight: Tensor | None) -> Tensor:
    """Return the derivative of the binary cross entropy with logits with respect to the target."""
    if pos_weight is None:
        return -self
    return ts.nn.functional.logsigmoid(-self) - pos_weight * ts.nn.functional.logsigmoid(self)


derive(
    "aten::binary_cross_entropy",
    self="weighted_gradient(grad, self, weight, reduction) * of_probability(self, target)",
    target="weighted_gradient(grad, self, weight, reduction) * of_target_probability(self)",
)
derive(
    "aten::binary_cross_entropy_with_logits",
    self="weighted_gradient(grad, self, weight, reduction) * of_logit(self, target, pos_weight)",
    target="weighted_gradient(grad, self, weight, reduction) * of_logit_target(self, pos_weight)",
)
