"""Losses of class scores against target classes, and the CTC loss of sequences."""

from __future__ import annotations

from typing import Any

import ts
from ts._core.tensor.tensor import Tensor
from ts.nn.functional.loss import reduction_code


def nll_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Return the negative log likelihood of the target classes."""
    return ts.nll_loss_nd(
        input, target, weight, reduction_code(size_average, reduce, reduction), ignore_index
    )


def cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    """Return the cross entropy of logits: log_softmax followed by nll_loss."""
    return ts.cross_entropy_loss(
        input, target, weight, reduction_code(size_average, reduce, reduction), ignore_index, label_smoothing
    )


def _check_linear(
    input: Tensor,
    linear_weight: Tensor,
    linear_bias: Tensor | None,
    ignored: bool,
    probabilities: bool,
) -> None:
    if input.dim() != 1 and input.dim() != 2:
        raise RuntimeError(f"expected input with dimensionality 1 or 2, got {input.dim()}")
    if linear_weight.dim() < 2:
        raise RuntimeError(
            f"expected linear_weight with dimensionality at least 2, got {linear_weight.dim()}"
        )
    if input.size(-1) != linear_weight.size(-1):
        raise RuntimeError(
            "expected equal input and linear_weight last dimensions (in_features), got "
            f"{input.size(-1)} and {linear_weight.size(-1)}, respectively"
        )
    if linear_weight.dim() > 2 and input.dim() == 1:
        raise RuntimeError(
            f"K-dimensional loss defined by linear_weight shape {linear_weight.size()} requires batched "
            f"input, (N, {input.size(0)}), got unbatched input with shape {input.size()}"
        )
    if linear_bias is not None and linear_bias.size() != linear_weight.size()[:-1]:
        raise RuntimeError(
            f"expected linear_bias shape {linear_weight.size()[:-1]}, got {linear_bias.size()}"
        )
    if ignored and probabilities:
        raise RuntimeError("ignore_index cannot be specified when target contains probabilities")


def linear_cross_entropy(
    input: Tensor,
    linear_weight: Tensor,
    target: Tensor,
    *,
    linear_bias: Tensor | None = None,
    weight: Tensor | None = None,
    reduction: str = "mean",
    ignore_index: int | None = None,
    label_smoothing: float = 0.0,
    options: Any = None,
) -> Tensor:
    """Return `cross_entropy` of a linear map of the input.

    The chunking options of PyTorch (`options`) have no effect.
    """
    _check_linear(input, linear_weight, linear_bias, ignore_index is not None, target.is_floating_point())
    bias = linear_bias
    if bias is not None:
        bias = bias.flatten()
    logits = ts.nn.functional.linear(input, linear_weight.flatten(0, -2), bias)
    if linear_weight.dim() > 2:
        logits = logits.unflatten(-1, linear_weight.size()[:-1])
    ignored = -100
    if ignore_index is not None:
        ignored = ignore_index
    return ts.cross_entropy_loss(
        logits, target, weight, reduction_code(None, None, reduction), ignored, label_smoothing
    )


def multi_margin_loss(
    input: Tensor,
    target: Tensor,
    p: int = 1,
    margin: float = 1.0,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Return the multi-class hinge loss: the target's score should exceed all other scores by a margin."""
    if p != 1 and p != 2:
        raise ValueError("only p == 1 and p == 2 supported")
    if weight is not None:
        if weight.dim() != 1:
            raise ValueError("weight must be one-dimensional")
    code = reduction_code(size_average, reduce, reduction)
    return ts.multi_margin_loss(input, target, p, margin, weight, code)


def multilabel_margin_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Return the multi-label margin loss.

    A row of `target` contains the indices of the target classes of a sample, followed by -1.
    """
    return ts.multilabel_margin_loss(input, target, reduction_code(size_average, reduce, reduction))


def multilabel_soft_margin_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Return the binary cross entropy of every class, averaged over the classes."""
    loss = -(target * ts.log_sigmoid(input) + ts.rsub(target, 1) * ts.log_sigmoid(-input))
    if weight is not None:
        loss = loss * weight
    loss = loss.mean(-1)
    code = reduction_code(size_average, reduce, reduction)
    if code == 0:
        result = loss
    elif code == 1:
        result = loss.mean()
    else:
        result = loss.sum()
    return result


def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Tensor,
    target_lengths: Tensor,
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> Tensor:
    """Return the connectionist temporal classification loss of unaligned sequences."""
    code = reduction_code(None, None, reduction)
    return ts.ctc_loss(log_probs, targets, input_lengths, target_lengths, blank, code, zero_infinity)
