"""Double backward of losses: derivatives of their backward operators."""

from __future__ import annotations

import ts
from ts import Tensor
from ts.ops.derivatives.classification_loss import of_multi_margin, of_multilabel_margin
from ts.ops.derivatives.formula_registry import derive
from ts.ops.derivatives.loss import (
    of_huber,
    of_mse,
    of_probability,
    of_smooth_l1,
    of_soft_margin,
    share,
    weighted_gradient,
)

NONE = "ts.zeros_like(self)"


def bent_l1(grad: Tensor, self: Tensor, target: Tensor, reduction: int, beta: float) -> Tensor:
    """Return the product of `grad` and the second derivative of smooth L1 loss, for each element.

    The second derivative is 1 / beta in the quadratic region, and 0 elsewhere. For the reduction "mean",
    divide by the number of elements.
    """
    gap = self - target
    return ts.where(gap.abs() < beta, share(grad, gap.numel(), reduction) / beta, 0)


def bent_huber(grad: Tensor, self: Tensor, target: Tensor, reduction: int, delta: float) -> Tensor:
    """Return the product of `grad` and the second derivative of Huber loss, for each element.

    For the reduction "mean", `grad` is divided by the number of elements. The second derivative is 1 in the
    quadratic region, and 0 elsewhere.
    """
    gap = self - target
    return ts.where(gap.abs() <= delta, share(grad, gap.numel(), reduction), 0)


def bent_margin(grad: Tensor, self: Tensor, target: Tensor, reduction: int) -> Tensor:
    """Return the product of `grad` and the second derivative of soft margin loss, for each element.

    For the reduction "mean", `grad` is divided by the number of elements.
    """
    wrong = ts.sigmoid(-target * self)
    return share(grad, wrong.numel(), reduction) * target * target * wrong * (1 - wrong)


def bent_probability(self: Tensor, target: Tensor) -> Tensor:
    """Return the second derivative of the binary cross entropy with respect to the probability."""
    spread = self * (1 - self)
    return (spread - (self - target) * (1 - self * 2)) / (spread * spread)


derive(
    "aten::mse_loss_backward", grad_output="of_mse(grad, self, target, reduction)",
    self="share(grad * grad_output * 2, grad.numel(), reduction)",
    target="-share(grad * grad_output * 2, grad.numel(), reduction)",
)  # fmt: skip
derive(
    "aten::smooth_l1_loss_backward", grad_output="of_smooth_l1(grad, self, target, reduction, beta)",
    self="bent_l1(grad * grad_output, self, target, reduction, beta)",
    target="-bent_l1(grad * grad_output, self, target, reduction, beta)",
)  # fmt: skip
derive(
    "aten::huber_loss_backward", grad_output="of_huber(grad, self, target, reduction, delta)",
    self="bent_huber(grad * grad_output, self, target, reduction, delta)",
    target="-bent_huber(grad * grad_output, self, target, reduction, delta)",
)  # fmt: skip
derive(
    "aten::soft_margin_loss_backward", grad_output="of_soft_margin(grad, self, target, reduction)",
    self="bent_margin(grad * grad_output, self, target, reduction)",
)  # fmt: skip
derive(
    "aten::binary_cross_entropy_backward",
    grad_output="weighted_gradient(grad, self, weight, reduction) * of_probability(self, target)",
    self="weighted_gradient(grad * grad_output, self, weight, reduction) * bent_probability(self, target)",
    target="-weighted_gradient(grad * grad_output, self, weight, reduction) / (self * (1 - self))",
)


def of_samples(slope: Tensor, grad_output: Tensor) -> Tensor:
    """Sum `slope` over the classes if `grad_output` has one gradient per sample, and return the result.

    If `grad_output` is a single gradient, return `slope` unchanged.
    """
    return slope.sum(-1) if grad_output.dim() > 0 else slope


derive(
    "aten::multi_margin_loss_backward", self=NONE,
    grad_output="of_samples(grad * of_multi_margin(ts.ones_like(grad_output), self, target, p, margin, "
    "weight, reduction), grad_output)",
)  # fmt: skip
derive(
    "aten::multilabel_margin_loss_backward", self=NONE,
    grad_output="of_samples(grad * of_multilabel_margin(ts.ones_like(grad_output), self, target, reduction, "
    "is_target), grad_output)",
)  # fmt: skip
