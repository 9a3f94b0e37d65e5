"""Losses: reductions by name, and the two older flags for them."""

from __future__ import annotations

import ts
from ts._core.tensor import Tensor


def _code(size_average: bool | None, reduce: bool | None, reduction: str) -> int:
    """The operators' number of a reduction: 0 none, 1 mean, 2 sum."""
    if size_average is not None or reduce is not None:
        if reduce is not None and not reduce:
            reduction = "none"
        elif size_average is not None and not size_average:
            reduction = "sum"
        else:
            reduction = "mean"
    if reduction == "none":
        code = 0
    elif reduction == "mean":
        code = 1
    elif reduction == "sum":
        code = 2
    else:
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return code


def l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """|x - y|"""
    return ts.l1_loss(input, target, _code(size_average, reduce, reduction))


def mse_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """(x - y)^2"""
    return ts.mse_loss(input, target, _code(size_average, reduce, reduction))


def soft_margin_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """log(1 + exp(-y x))"""
    return ts.soft_margin_loss(input, target, _code(size_average, reduce, reduction))


def smooth_l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    beta: float = 1.0,
) -> Tensor:
    """Quadratic up to `beta`, linear beyond."""
    return ts.smooth_l1_loss(input, target, _code(size_average, reduce, reduction), beta)


def huber_loss(
    input: Tensor,
    target: Tensor,
    reduction: str = "mean",
    delta: float = 1.0,
) -> Tensor:
    """`delta` times smooth_l1_loss."""
    return ts.huber_loss(input, target, _code(None, None, reduction), delta)


def hinge_embedding_loss(
    input: Tensor,
    target: Tensor,
    margin: float = 1.0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """x, or the margin it stays below."""
    return ts.hinge_embedding_loss(input, target, margin, _code(size_average, reduce, reduction))


def cosine_embedding_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0.0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Of pairs that should be alike or not, by the cosine."""
    return ts.cosine_embedding_loss(input1, input2, target, margin, _code(size_average, reduce, reduction))


def margin_ranking_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0.0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Of pairs in the wrong order."""
    return ts.margin_ranking_loss(input1, input2, target, margin, _code(size_average, reduce, reduction))


def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    p: float = 2,
    eps: float = 1e-6,
    swap: bool = False,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """An anchor should be nearer to the positive than to the negative example."""
    return ts.triplet_margin_loss(
        anchor, positive, negative, margin, p, eps, swap, _code(size_average, reduce, reduction)
    )


def binary_cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """The binary cross entropy of probabilities."""
    return ts.binary_cross_entropy(input, target, weight, _code(size_average, reduce, reduction))


def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    pos_weight: Tensor | None = None,
) -> Tensor:
    """The binary cross entropy of logits."""
    return ts.binary_cross_entropy_with_logits(
        input, target, weight, pos_weight, _code(size_average, reduce, reduction)
    )


def nll_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """The negative log likelihood of the target classes."""
    return ts.nll_loss_nd(input, target, weight, _code(size_average, reduce, reduction), ignore_index)


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
    """log_softmax followed by nll_loss."""
    return ts.cross_entropy_loss(
        input, target, weight, _code(size_average, reduce, reduction), ignore_index, label_smoothing
    )


def poisson_nll_loss(
    input: Tensor,
    target: Tensor,
    log_input: bool = True,
    full: bool = False,
    size_average: bool | None = None,
    eps: float = 1e-8,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """The negative log likelihood of Poisson distributed targets."""
    return ts.poisson_nll_loss(input, target, log_input, full, eps, _code(size_average, reduce, reduction))


def kl_div(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    log_target: bool = False,
) -> Tensor:
    """The Kullback-Leibler divergence."""
    if reduction == "batchmean":
        return ts.kl_div(input, target, 2, log_target=log_target) / input.size(0)
    code = _code(size_average, reduce, reduction)
    return ts.kl_div(input, target, code, log_target=log_target)


def gaussian_nll_loss(
    input: Tensor,
    target: Tensor,
    var: Tensor,
    full: bool = False,
    eps: float = 1e-6,
    reduction: str = "mean",
) -> Tensor:
    """The negative log likelihood of normally distributed targets; `var` holds a variance each, or by row."""
    if var.size() != input.size():
        if input.size()[:-1] == var.size():
            var = var.unsqueeze(-1)
        elif input.size()[:-1] != var.size()[:-1] or var.size(-1) != 1:
            raise ValueError("var is of incorrect size")
    if reduction != "none" and reduction != "mean" and reduction != "sum":
        raise ValueError(reduction + " is not valid")
    if bool(ts.lt(var, 0).any()):
        raise ValueError("var has negative entry/entries")
    var = var.clone().detach().clamp(min=eps)
    loss = 0.5 * (var.log() + (input - target).pow(2) / var)
    if full:
        loss = loss + 0.9189385332046727
    if reduction == "mean":
        result = loss.mean()
    elif reduction == "sum":
        result = loss.sum()
    else:
        result = loss
    return result
