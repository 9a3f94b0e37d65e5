"""Losses of predictions against targets, with the argument `reduction` or two deprecated flags."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import ts
from ts._core.tensor.tensor import Tensor
from ts.nn._reduction import get_enum, legacy_get_string


def reduction_code(size_average: bool | None, reduce: bool | None, reduction: str) -> int:
    """Return the code that operators use for a reduction: 0 none, 1 mean, 2 sum.

    The deprecated flags `size_average` and `reduce` take precedence over the name `reduction`.
    """
    if size_average is not None or reduce is not None:
        reduction = legacy_get_string(size_average, reduce)
    return get_enum(reduction)


def _weighted(loss: Tensor, input: Tensor, weight: Tensor, reduction: str, by_weight: bool) -> Tensor:
    """Multiply `loss` by `weight`, and reduce the product by "none", "mean" or "sum".

    With `by_weight`, the mean is the sum of the product divided by the sum of the weights. Otherwise, it is
    the sum divided by the number of elements.
    """
    if weight.size() != input.size():
        raise ValueError("Weights and input must have the same size.")
    loss = loss * weight
    if reduction == "none":
        result = loss
    elif reduction == "sum":
        result = loss.sum()
    elif reduction == "mean":
        if by_weight:
            result = loss.sum() / weight.sum()
        else:
            result = loss.mean()
    else:
        raise ValueError(f"Invalid reduction mode: {reduction}. Expected one of 'none', 'mean', 'sum'.")
    return result


def _warn_of_sizes(input: Tensor, target: Tensor) -> None:
    if target.size() != input.size():
        warnings.warn(
            f"Using a target size ({target.size()}) that is different to the input size ({input.size()}). "
            "This will likely lead to incorrect results due to broadcasting. Please ensure they have the "
            "same "
            "size.",
            stacklevel=3,
        )


def l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    """Return the mean absolute error |x - y|."""
    if not ts.jit.is_scripting():
        _warn_of_sizes(input, target)
    input, target = ts.broadcast_tensors(input, target)
    if weight is not None:
        return _weighted(ts.abs(ts.sub(input, target)), input, weight, reduction, True)
    return ts.l1_loss(input, target, reduction_code(size_average, reduce, reduction))


def mse_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    """Return the mean squared error (x - y)^2."""
    if not ts.jit.is_scripting():
        _warn_of_sizes(input, target)
    input, target = ts.broadcast_tensors(input, target)
    if weight is not None:
        return _weighted(ts.pow(ts.sub(input, target), 2), input, weight, reduction, True)
    return ts.mse_loss(input, target, reduction_code(size_average, reduce, reduction))


def soft_margin_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Return log(1 + exp(-y x)) for targets y of 1 and -1."""
    return ts.soft_margin_loss(input, target, reduction_code(size_average, reduce, reduction))


def smooth_l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    beta: float = 1.0,
) -> Tensor:
    """Return a loss that is quadratic up to `beta` and linear beyond."""
    if not ts.jit.is_scripting():
        _warn_of_sizes(input, target)
    input, target = ts.broadcast_tensors(input, target)
    if beta == 0.0:  # the gradients differ where input and target are equal
        return ts.l1_loss(input, target, reduction_code(size_average, reduce, reduction))
    return ts.smooth_l1_loss(input, target, reduction_code(size_average, reduce, reduction), beta)


def huber_loss(
    input: Tensor,
    target: Tensor,
    reduction: str = "mean",
    delta: float = 1.0,
    weight: Tensor | None = None,
) -> Tensor:
    """Return `delta` times smooth_l1_loss with `beta=delta`."""
    if not ts.jit.is_scripting():
        _warn_of_sizes(input, target)
    input, target = ts.broadcast_tensors(input, target)
    if weight is not None:
        return _weighted(ts.huber_loss(input, target, 0, delta), input, weight, reduction, False)
    return ts.huber_loss(input, target, reduction_code(None, None, reduction), delta)


def hinge_embedding_loss(
    input: Tensor,
    target: Tensor,
    margin: float = 1.0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Return x for target 1, and max(0, margin - x) for target -1."""
    return ts.hinge_embedding_loss(input, target, margin, reduction_code(size_average, reduce, reduction))


def cosine_embedding_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0.0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Return the cosine embedding loss of pairs labelled similar (1) or dissimilar (-1)."""
    return ts.cosine_embedding_loss(
        input1, input2, target, margin, reduction_code(size_average, reduce, reduction)
    )


def margin_ranking_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0.0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Return the margin ranking loss of pairs of scores."""
    if input1.dim() != input2.dim() or input1.dim() != target.dim():
        raise RuntimeError(
            "margin_ranking_loss : All input tensors should have same dimension but got sizes: input1: "
            f"{input1.size()}, input2: {input2.size()}, target: {target.size()}"
        )
    return ts.margin_ranking_loss(
        input1, input2, target, margin, reduction_code(size_average, reduce, reduction)
    )


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
    """Return the triplet margin loss (triplet loss) of anchor, positive and negative examples."""
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    return ts.triplet_margin_loss(
        anchor, positive, negative, margin, p, eps, swap, reduction_code(size_average, reduce, reduction)
    )


def triplet_margin_with_distance_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    *,
    distance_function: Callable[[Tensor, Tensor], Tensor] | None = None,
    margin: float = 1.0,
    swap: bool = False,
    reduction: str = "mean",
) -> Tensor:
    """Return `triplet_margin_loss` with the distance function of the caller, by default Euclidean."""
    if reduction not in ("mean", "sum", "none"):
        raise ValueError(f"{reduction} is not a valid value for reduction")
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    if not anchor.dim() == positive.dim() == negative.dim():
        raise RuntimeError(
            "The anchor, positive, and negative tensors are expected to have the same number of dimensions, "
            f"but got: anchor {anchor.dim()}D, positive {positive.dim()}D, and negative "
            f"{negative.dim()}D inputs"
        )
    distance = ts.pairwise_distance if distance_function is None else distance_function
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = ts.minimum(far, distance(positive, negative))
    loss = ts.clamp_min(near - far + margin, 0)
    if reduction == "none":
        return loss
    return ts.sum(loss) if reduction == "sum" else ts.mean(loss)


def binary_cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Return the binary cross entropy of probabilities."""
    if target.size() != input.size():
        raise ValueError(
            f"Using a target size ({target.size()}) that is different to the input size ({input.size()}) is "
            "deprecated. Please ensure they have the same size."
        )
    return ts.binary_cross_entropy(input, target, weight, reduction_code(size_average, reduce, reduction))


def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    pos_weight: Tensor | None = None,
) -> Tensor:
    """Return the binary cross entropy of logits."""
    if target.size() != input.size():
        raise ValueError(f"Target size ({target.size()}) must be the same as input size ({input.size()})")
    return ts.binary_cross_entropy_with_logits(
        input, target, weight, pos_weight, reduction_code(size_average, reduce, reduction)
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
    """Return the negative log likelihood of Poisson distributed targets."""
    return ts.poisson_nll_loss(
        input, target, log_input, full, eps, reduction_code(size_average, reduce, reduction)
    )


def _warn_of_mean() -> None:
    warnings.warn(
        "reduction: 'mean' divides the total loss by both the batch size and the support size.'batchmean' "
        "divides only by the batch size, and aligns with the KL div math definition.'mean' will be changed "
        "to behave the same as 'batchmean' in the next major release.",
        stacklevel=3,
    )


def kl_div(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    log_target: bool = False,
) -> Tensor:
    """Return the Kullback-Leibler divergence."""
    if reduction == "mean" and not ts.jit.is_scripting():
        _warn_of_mean()
    if reduction == "batchmean":
        return ts.kl_div(input, target, 2, log_target=log_target) / input.size(0)
    code = reduction_code(size_average, reduce, reduction)
    return ts.kl_div(input, target, code, log_target=log_target)


def _check_variances(input: Tensor, var: Tensor) -> None:
    """Raise ValueError unless `var` has the shape of `input`, or this shape with one size replaced by 1."""
    if input.dim() != var.dim():
        raise ValueError("var is of incorrect size")
    for d in range(var.dim()):
        if var.size(d) != input.size(d) and var.size(d) != 1:
            raise ValueError("var is of incorrect size")
        for e in range(d):
            if var.size(d) != input.size(d) and var.size(e) != input.size(e):
                raise ValueError("var is of incorrect size")


def gaussian_nll_loss(
    input: Tensor,
    target: Tensor,
    var: Tensor,
    full: bool = False,
    eps: float = 1e-6,
    reduction: str = "mean",
) -> Tensor:
    """Return the negative log likelihood of Gaussian targets.

    `var` contains a variance for each element or for each row. Outside of scripts, `var` may be a number.
    """
    if not ts.jit.is_scripting():
        if isinstance(var, float):
            var = ts.full_like(input, var)
    if var.dim() == input.dim() - 1:
        if input.size()[:-1] != var.size():
            raise ValueError("var is of incorrect size")
        var = var.unsqueeze(-1)
    else:
        _check_variances(input, var)
    if reduction != "none" and reduction != "mean" and reduction != "sum":
        raise ValueError(reduction + " is not valid")
    if bool(ts.lt(var, 0).any()):
        raise ValueError("var has negative entry/entries")
    var = var.clone()
    with ts.no_grad():  # the gradient of `var` ignores the clamping
        var.clamp_(min=eps)
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
