"""Decompositions of losses to `sub`, `mul`, `where`, `mean` ...

The argument `reduction` is the code used in schemas: 0 none, 1 mean, 2 sum.
"""

from __future__ import annotations

import math
from typing import Any

import ts
from ts._core.tensor.tensor import Tensor
from ts.export.decompositions.arithmetic import either, xlogy
from ts.export.decompositions.decomposition_table import decomposes

aten = ts.ops.aten


def reduced(loss: Tensor, reduction: int) -> Tensor:
    """Reduce elementwise losses by the code `reduction`: 0 none, 1 mean, 2 sum."""
    return aten.mean(loss) if reduction == 1 else aten.sum(loss) if reduction == 2 else loss


@decomposes("aten::mse_loss")
def mse_loss(x: Tensor, target: Tensor, reduction: int = 1) -> Tensor:
    """Compute the squared error (x - target)², reduced by `reduction`."""
    return reduced(aten.pow.Tensor_Scalar(aten.sub.Tensor(x, target), 2), reduction)


@decomposes("aten::l1_loss", implicit=True)
def l1_loss(x: Tensor, target: Tensor, reduction: int = 1) -> Tensor:
    """Compute the absolute error |x - target|, reduced by `reduction`."""
    return reduced(aten.abs(aten.sub.Tensor(x, target)), reduction)


@decomposes("aten::smooth_l1_loss")
def smooth_l1_loss(x: Tensor, target: Tensor, reduction: int = 1, beta: float = 1.0) -> Tensor:
    """Compute the smooth L1 loss: the absolute error, but a quadratic function for errors below `beta`."""
    if beta == 0:
        return l1_loss(x, target, reduction)
    distance = aten.abs(aten.sub.Tensor(x, target))
    is_near = aten.lt.Scalar(distance, beta)
    square = aten.div.Tensor(aten.mul.Tensor(aten.pow.Tensor_Scalar(distance, 2), 0.5), beta)
    return reduced(aten.where.self(is_near, square, aten.sub.Tensor(distance, 0.5 * beta)), reduction)


@decomposes("aten::huber_loss")
def huber_loss(x: Tensor, target: Tensor, reduction: int = 1, delta: float = 1.0) -> Tensor:
    """Compute the Huber loss: a quadratic function for errors below `delta`, a linear function above."""
    distance = aten.abs(aten.sub.Tensor(x, target))
    is_near = aten.lt.Scalar(distance, delta)
    square = aten.mul.Tensor(aten.mul.Tensor(distance, 0.5), distance)
    linear = aten.mul.Tensor(aten.sub.Tensor(distance, 0.5 * delta), delta)
    return reduced(aten.where.self(is_near, square, linear), reduction)


@decomposes("aten::kl_div", implicit=True)
def kl_div(x: Tensor, target: Tensor, reduction: int = 1, *, log_target: bool = False) -> Tensor:
    """Compute the Kullback-Leibler divergence of the log-probabilities `x` from `target`."""
    if log_target:
        return reduced(aten.mul.Tensor(aten.exp(target), aten.sub.Tensor(target, x)), reduction)
    product = aten.mul.Tensor(target, x)
    return reduced(aten.sub.Tensor(xlogy(target, target), product), reduction)


@decomposes("aten::binary_cross_entropy")
def binary_cross_entropy(x: Tensor, target: Tensor, weight: Any = None, reduction: int = 1) -> Tensor:
    """Compute binary cross entropy of probabilities. Logarithms are clamped to at least -100."""

    def logarithm(value: Tensor) -> Tensor:
        return aten.maximum(value, aten.full([], -100, dtype=x.dtype, device=x.device))

    negative_term = aten.mul.Tensor(aten.sub.Tensor(target, 1), logarithm(aten.log1p(aten.neg(x))))
    loss = aten.sub.Tensor(negative_term, aten.mul.Tensor(target, logarithm(aten.log(x))))
    return reduced(loss if weight is None else aten.mul.Tensor(loss, weight), reduction)


@decomposes("aten::binary_cross_entropy_with_logits")
def binary_cross_entropy_with_logits(
    x: Tensor, target: Tensor, weight: Any = None, pos_weight: Any = None, reduction: int = 1
) -> Tensor:
    """Compute binary cross entropy of logits."""
    negative_term = aten.mul.Tensor(aten.sub.Tensor(1, target), x)
    logarithm = aten.log_sigmoid(x)
    if pos_weight is not None:
        log_weight = aten.add.Tensor(aten.mul.Tensor(aten.sub.Tensor(pos_weight, 1), target), 1)
        logarithm = aten.mul.Tensor(log_weight, logarithm)
    loss = aten.sub.Tensor(negative_term, logarithm)
    return reduced(loss if weight is None else aten.mul.Tensor(loss, weight), reduction)


@decomposes("aten::nll_loss_nd", "aten::nll_loss", "aten::nll_loss2d", implicit=True)
def nll_loss(
    x: Tensor, target: Tensor, weight: Any = None, reduction: int = 1, ignore_index: int = -100
) -> Tensor:
    """Compute the negative log likelihood of the target classes."""
    if x.dim() not in (1, 2, 4):
        return NotImplemented
    dim = 0 if x.dim() == 1 else 1
    factors = None
    if weight is not None:
        shape = [1] * x.dim()
        shape[dim] = weight.shape[0]
        factors = aten.expand(weight if x.dim() == 1 else aten.view(weight, shape), list(x.shape))
        x = aten.mul.Tensor(x, factors)
    counted = aten.ne.Scalar(target, ignore_index)
    class_indices = aten.unsqueeze(either(counted, target, 0, target), dim)
    losses = aten.neg(aten.squeeze.dim(aten.gather(x, dim, class_indices), dim))
    losses = either(aten.ne.Scalar(target, ignore_index), losses, 0, losses)
    if reduction == 0 and x.dim() > 1:
        return losses
    if reduction != 1:
        return aten.sum(losses)
    if factors is not None:
        weights = aten.squeeze.dim(aten.gather(factors, dim, class_indices), dim)
        weights = either(aten.ne.Scalar(target, ignore_index), weights, 0, weights)
        return aten.div.Tensor(aten.sum(losses), aten.sum(weights))
    count = aten.sum(aten.ne.Scalar(target, ignore_index))
    count = aten._to_copy(count, dtype=x.dtype, device=x.device)
    return aten.div.Tensor(aten.sum(losses), count)


@decomposes("aten::cross_entropy_loss", implicit=True)
def cross_entropy_loss(
    x: Tensor,
    target: Tensor,
    weight: Any = None,
    reduction: int = 1,
    ignore_index: int = -100,
    label_smoothing: float = 0.0,
) -> Tensor:
    """Compute cross entropy of logits. Targets are class indices or probabilities."""
    if label_smoothing or (target.is_floating_point() and weight is not None):
        return NotImplemented
    dim = 0 if x.dim() == 1 else 1
    logarithms = aten.log_softmax.int(x, dim)
    if not target.is_floating_point():
        return aten.nll_loss_nd(
            logarithms, target, None if weight is None else weight, reduction, ignore_index
        )
    products = aten.mul.Tensor(logarithms, target)
    if reduction == 0:
        return aten.neg(aten.sum.dim_IntList(products, [dim]))
    total = aten.neg(aten.sum(products))
    return total if reduction == 2 else aten.div.Scalar(total, math.prod(x.shape) // x.shape[dim])


@decomposes("aten::cosine_similarity", implicit=True)
def cosine_similarity(x: Tensor, other: Tensor, dim: int = 1, eps: float = 1e-8) -> Tensor:
    """Compute the cosine similarity along a dimension. Norms are replaced by `eps` if they are smaller."""
    if list(x.shape) != list(other.shape):
        x, other = aten.broadcast_tensors([x, other])
    lengths = [aten.clone(aten.linalg_vector_norm(v, 2, [dim], True)) for v in (x, other)]
    min_norm = aten.scalar_tensor(eps, dtype=lengths[0].dtype, device=x.device)
    first, second = (aten.clamp.Tensor(n, min_norm) for n in lengths)
    other = aten.div.Tensor(other, second)
    x = aten.div.Tensor(x, first)
    return aten.sum.dim_IntList(aten.mul.Tensor(x, other), [dim])


@decomposes("aten::pairwise_distance", implicit=True)
def pairwise_distance(
    x: Tensor, other: Tensor, p: float = 2, eps: float = 1e-6, keepdim: bool = False
) -> Tensor:
    """Compute the p-norm of the difference of row i of `x` and row i of `other`, for each i."""
    difference = aten.add.Scalar(aten.sub.Tensor(x, other), eps)
    dim = max(x.dim(), other.dim()) - 1
    return aten.linalg_vector_norm(difference, p, [dim], keepdim)


@decomposes("aten::cdist", implicit=True)
def cdist(x: Tensor, other: Tensor, p: float = 2.0, compute_mode: Any = None) -> Tensor:
    """Compute the p-norm distance of each row of `x` to each row of `other`."""
    return aten._cdist_forward(x, other, p, compute_mode)


@decomposes("aten::poisson_nll_loss", implicit=True)
def poisson_nll_loss(
    x: Tensor, target: Tensor, log_input: bool, full: bool, eps: float, reduction: int
) -> Tensor:
    """Compute the negative log likelihood of a Poisson distribution."""
    if full:
        return NotImplemented
    if log_input:
        loss = aten.sub.Tensor(aten.exp(x), aten.mul.Tensor(target, x))
    else:
        loss = aten.sub.Tensor(x, aten.mul.Tensor(target, aten.log(aten.add.Scalar(x, eps))))
    return reduced(loss, reduction)
