"""Derivatives of losses of scores against classes."""

from __future__ import annotations

from typing import Final

import ts
from ts import Tensor
from ts.ops.derivatives.formula_registry import compose, derive
from ts.ops.derivatives.loss import MEAN, SUM, reduce_loss, share

# ---------------------------------------------------------------------------------------- likelihood losses

derive(
    "aten::nll_loss_forward", name="NllLossBackward0", differentiable="output",
    self="ts.nll_loss_backward(grad, self, target, weight, reduction, ignore_index, total_weight)",
)  # fmt: skip
derive(
    "aten::nll_loss2d_forward", name="NllLoss2DBackward0", differentiable="output",
    self="ts.nll_loss2d_backward(grad, self, target, weight, reduction, ignore_index, total_weight)",
)  # fmt: skip
derive(
    "aten::nll_loss_backward", self="ts.zeros_like(grad)",
    grad_output="ts.nll_loss(grad, target, weight, reduction, ignore_index)",
)  # fmt: skip
derive(
    "aten::nll_loss2d_backward", self="ts.zeros_like(grad)",
    grad_output="ts.nll_loss_nd(grad, target, weight, reduction, ignore_index)",
)  # fmt: skip


def nll(self: Tensor, target: Tensor, weight: Tensor | None, reduction: int, ignore_index: int) -> Tensor:
    """Return the negative log-likelihood loss.

    Inputs with 3 or with more than 4 dimensions are reshaped to 4.
    """
    if self.dim() < 3:
        return ts.nll_loss_forward(self, target, weight, reduction, ignore_index)[0]
    if self.dim() == 4:
        return ts.nll_loss2d_forward(self, target, weight, reduction, ignore_index)[0]
    samples, classes = self.size(0), self.size(1)
    sizes = [samples] + list(self.size()[2:])
    if list(target.size()) != sizes:
        raise RuntimeError(f"Expected target size {sizes}, got {target.size()}")
    image = self.reshape([samples, classes, 1, -1 if self.numel() > 0 else 0])
    flat = target.reshape([samples, 1, -1 if target.numel() > 0 else 0])
    loss = ts.nll_loss2d_forward(image, flat, weight, reduction, ignore_index)[0]
    return loss.view(sizes) if reduction == 0 else loss


def of_probabilities(
    scores: Tensor, target: Tensor, weight: Tensor | None, reduction: int, label_smoothing: float
) -> Tensor:
    """Return the cross entropy for class probabilities as targets. `scores` are log-probabilities."""
    dim = 0 if scores.dim() == 1 else 1
    classes = scores.size(dim)
    if label_smoothing > 0:
        target = target * (1 - label_smoothing) + label_smoothing / classes
    if weight is None:
        terms = scores * target
    else:
        weight_per_class = per_class(weight, scores)
        terms = scores * target * weight_per_class
    if reduction == MEAN:
        return -terms.sum() / (scores.numel() // classes)
    return -terms.sum() if reduction == SUM else -terms.sum(dim)


def per_class(weight: Tensor, scores: Tensor) -> Tensor:
    """Reshape class weights to broadcast along the class dimension."""
    sizes = [1] * scores.dim()
    sizes[0 if scores.dim() == 1 else 1] = weight.numel()
    return weight.view(sizes)


def label_smoothing_loss(
    scores: Tensor, target: Tensor, weight: Tensor | None, reduction: int, ignore_index: int
) -> Tensor:
    """Return the label-smoothing term of the cross entropy: the loss for a uniform target."""
    dim = 0 if scores.dim() == 1 else 1
    if weight is not None:
        weight_per_class = per_class(weight, scores)
        scores = scores * weight_per_class
    loss = -scores.sum(dim)
    ignored = target == ignore_index
    loss = loss.masked_fill(ignored, 0.0)
    if reduction != MEAN:
        return reduce_loss(loss, reduction)
    if weight is None:
        total = (~ignored).sum()
    else:
        classes = target.masked_fill(ignored, 0).flatten()
        total = weight.gather(0, classes).masked_fill(ignored.flatten(), 0.0).sum()
    return loss.sum() / total


def cross_entropy(
    self: Tensor,
    target: Tensor,
    weight: Tensor | None,
    reduction: int,
    ignore_index: int,
    label_smoothing: float,
) -> Tensor:
    """Return the cross entropy loss for class indices or class probabilities."""
    dim = 0 if self.dim() == 1 else 1
    scores = self.log_softmax(dim)
    if target.dim() == self.dim() and target.size() == self.size():
        if not target.is_floating_point():
            raise RuntimeError("Expected floating point type for target with class probabilities")
        if ignore_index >= 0:
            raise RuntimeError("ignore_index is not supported for floating point target")
        return of_probabilities(scores, target, weight, reduction, label_smoothing)
    if label_smoothing < 0 or label_smoothing > 1:
        raise RuntimeError("label_smoothing must be between 0.0 and 1.0. Got: " + str(label_smoothing))
    loss = nll(scores, target, weight, reduction, ignore_index)
    if label_smoothing == 0:
        return loss
    other = label_smoothing_loss(scores, target, weight, reduction, ignore_index)
    uniform = other * (label_smoothing / scores.size(dim))
    return loss * (1 - label_smoothing) + uniform


compose(
    "aten::nll_loss",
    "ts.nll_loss_forward(self, target, weight, reduction, ignore_index)[0]",
)
compose(
    "aten::nll_loss2d",
    "ts.nll_loss2d_forward(self, target, weight, reduction, ignore_index)[0]",
)
compose("aten::nll_loss_nd", "nll(self, target, weight, reduction, ignore_index)")
compose(
    "aten::cross_entropy_loss",
    "cross_entropy(self, target, weight, reduction, ignore_index, label_smoothing)",
)

# ---------------------------------------------------------------------------------------- margin losses


def per_sample(grad: Tensor, samples: int, reduction: int) -> Tensor:
    """Return the gradient of the loss of each sample.

    It is a column with one row per sample for the reduction "none". Otherwise, it is one number for all
    samples.
    """
    each = share(grad, samples, reduction)
    return each.reshape([-1, 1]) if reduction == 0 else each


def of_multi_margin(
    grad: Tensor,
    self: Tensor,
    target: Tensor,
    p: int | float | complex,
    margin: int | float | complex,
    weight: Tensor | None,
    reduction: int,
) -> Tensor:
    """Return the gradient of multi-margin loss."""
    scores = self.reshape([-1, self.size(-1) if self.dim() > 0 else 1])
    target_column = target.reshape([-1, 1])
    gap = scores - scores.gather(1, target_column) + margin
    slope = ts.where(gap > 0, 1.0, 0.0).to(gap.dtype) if p == 1 else gap.clamp_min(0) * 2
    if weight is not None:
        slope = slope * weight[target_column]
    slope = slope.scatter(1, target_column, 0)
    slope = slope.scatter(1, target_column, -slope.sum(1, True)) / scores.size(1)
    return (per_sample(grad, scores.size(0), reduction) * slope).reshape(self.size())


def of_multilabel_margin(
    grad: Tensor, self: Tensor, target: Tensor, reduction: int, is_target: Tensor
) -> Tensor:
    """Return the gradient of multilabel margin loss. A class that a row of `target` repeats counts again."""
    classes = self.size(-1) if self.dim() > 0 else 1
    scores, labels = self.reshape([-1, classes]), target.reshape([-1, classes])
    listed = (labels < 0).cumsum(1) == 0
    index = ts.where(listed, labels, 0)
    gap = scores.unsqueeze(1) - scores.gather(1, index).unsqueeze(2) + 1
    close = (gap > 0) & listed.unsqueeze(2) & (is_target.reshape([-1, 1, classes]) == 0)
    slope = close.to(self.dtype)
    slope = slope.sum(1).scatter_add(1, index, -slope.sum(2)) / classes
    return (per_sample(grad, scores.size(0), reduction) * slope).reshape(self.size())


derive("aten::multi_margin_loss", self="of_multi_margin(grad, self, target, p, margin, weight, reduction)")
derive(
    "aten::multilabel_margin_loss_forward", name="MultilabelMarginLossBackward0", differentiable="output",
    self="of_multilabel_margin(grad, self, target, reduction, is_target)",
)  # fmt: skip
compose("aten::multilabel_margin_loss", "ts.multilabel_margin_loss_forward(self, target, reduction)[0]")
