"""Decompositions of losses to pointwise operators and reductions, such as `sub`, `mul`, `where` and `mean`.

The argument `reduction` is an int, as in operator schemas: 0 none, 1 mean, 2 sum.
"""

from __future__ import annotations

from typing import Any

import ts
from ts._core.tensor.tensor import Tensor
from ts.export.decompositions.arithmetic import either
from ts.export.decompositions.decomposition_table import decomposes, register_composed

aten = ts.ops.aten

register_composed(
    "aten::l1_loss aten::kl_div aten::nll_loss_nd aten::nll_loss aten::nll_loss2d aten::cross_entropy_loss "
    "aten::pairwise_distance aten::poisson_nll_loss"
)


def reduced(loss: Tensor, reduction: int) -> Tensor:
    """Reduce elementwise losses by the code `reduction`: 0 none, 1 mean, 2 sum."""
    return aten.mean(loss) if reduction == 1 else aten.sum(loss) if reduction == 2 else loss


@decomposes("aten::mse_loss")
def mse_loss(x: Tensor, target: Tensor, reduction: int = 1) -> Tensor:
    """Compute the squared error (x - target)², reduced by `reduction`."""
    return reduced(aten.pow.Tensor_Scalar(aten.sub.Tensor(x, target), 2), reduction)


@decomposes("aten::smooth_l1_loss")
def smooth_l1_loss(x: Tensor, target: Tensor, reduction: int = 1, beta: float = 1.0) -> Tensor:
    """Compute the smooth L1 loss: the absolute error, but a quadratic function for errors below `beta`."""
    if beta == 0:
        return aten.l1_loss(x, target, reduction)
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


@decomposes("aten::nll_loss_forward", "aten::nll_loss2d_forward")
def nll_loss(
    x: Tensor, target: Tensor, weight: Any, reduction: int, ignore_index: int
) -> tuple[Tensor, Tensor]:
    """Compute the negative log likelihood of the target classes. Return the loss and the total weight."""
    dim = 0 if x.dim() == 1 else 1
    if weight is not None:
        shape = [1] * x.dim()
        shape[dim] = weight.shape[0]
        weight = weight if x.dim() == 1 else aten.view(weight, shape)
        x = aten.mul.Tensor(x, weight)
    counted = aten.ne.Scalar(target, ignore_index)
    class_indices = aten.unsqueeze(either(counted, target, 0, target), dim)
    losses = aten.neg(aten.squeeze.dim(aten.gather(x, dim, class_indices), dim))
    losses = either(aten.ne.Scalar(target, ignore_index), losses, 0, losses)
    if reduction == 0 and x.dim() > 1:
        return losses, aten.full([], 0.0, dtype=x.dtype, device=x.device)
    if weight is not None:
        weights = aten.gather(aten.expand(weight, list(x.shape)), dim, class_indices)
        weights = aten.squeeze.dim(weights, dim)
        total = aten.sum(either(aten.ne.Scalar(target, ignore_index), weights, 0, weights))
    else:
        count = aten.sum(aten.ne.Scalar(target, ignore_index))
        total = aten._to_copy(count, dtype=x.dtype, device=x.device)
    loss = aten.sum(losses)
    return loss if reduction == 2 else aten.div.Tensor(loss, total), total


@decomposes("aten::cosine_similarity", implicit=True)
def cosine_similarity(x: Tensor, other: Tensor, dim: int = 1, eps: float = 1e-8) -> Tensor:
    """Compute the cosine similarity along a dimension. A norm below `eps` is replaced by `eps`."""
    if list(x.shape) != list(other.shape):
        x, other = aten.broadcast_tensors([x, other])
    lengths = [aten.clone(aten.linalg_vector_norm(v, 2, [dim], True)) for v in (x, other)]
    min_norm = aten.scalar_tensor(eps, dtype=lengths[0].dtype, device=x.device)
    first, second = (aten.clamp.Tensor(n, min_norm) for n in lengths)
    other = aten.div.Tensor(other, second)
    x = aten.div.Tensor(x, first)
    return aten.sum.dim_IntList(aten.mul.Tensor(x, other), [dim])


@decomposes("aten::cdist", implicit=True)
def cdist(x: Tensor, other: Tensor, p: float = 2.0, compute_mode: Any = None) -> Tensor:
    """Compute the p-norm distance of each row of `x` to each row of `other`."""
    return aten._cdist_forward(x, other, p, compute_mode)
