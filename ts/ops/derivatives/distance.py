"""Derivatives of distances, similarities, and the losses derived from them."""

from __future__ import annotations

from typing import Final

import ts
from ts import Tensor
from ts.ops.derivatives.formula_registry import compose, derive
from ts.ops.derivatives.loss import reduce_loss

MIN_NORM: Final = 1e-12  # lower bound of norms, so that the cosine of a zero vector is finite

# ---------------------------------------------------------------------------------------- similarities


def length(x: Tensor, dim: int, eps: float) -> Tensor:
    """Return the maximum of `eps` and the norm along `dim`.

    Autograd uses the gradient of the norm, even where the result is `eps`.
    """
    norm = ts.linalg.vector_norm(x, 2, [dim], True)
    detached_norm = norm.detach()
    return norm + (detached_norm.clamp_min(eps) - detached_norm)


def cosine(x1: Tensor, x2: Tensor, dim: int, eps: float) -> Tensor:
    """Return the cosine similarity along `dim`."""
    first, second = ts.broadcast_tensors(x1, x2)
    if first.dtype != second.dtype:
        dtype = ts.promote_types(first.dtype, second.dtype)
        first, second = first.to(dtype), second.to(dtype)
    return ((first / length(first, dim, eps)) * (second / length(second, dim, eps))).sum(dim)


def cosine_embedding(input1: Tensor, input2: Tensor, target: Tensor, margin: float, reduction: int) -> Tensor:
    """Return the cosine embedding loss: 1 - cosine for target 1, `max(0, cosine - margin)` for target -1."""
    if target.dim() > 1:
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    squares = ((input1 * input1).sum(-1) + MIN_NORM) * ((input2 * input2).sum(-1) + MIN_NORM)
    near = (input1 * input2).sum(-1) / squares.sqrt()
    alike = ts.where(target == 1, 1 - near, 0)
    return reduce_loss(alike + ts.where(target == -1, (near - margin).clamp_min(0), 0), reduction)


compose("aten::cosine_similarity", "cosine(x1, x2, dim, eps)")
compose("aten::cosine_embedding_loss", "cosine_embedding(input1, input2, target, margin, reduction)")

# ---------------------------------------------------------------------------------------- distances


def distance_norm(x1: Tensor, x2: Tensor, p: float, eps: float, keepdim: bool) -> Tensor:
    """Return the p-norm of `x1 - x2 + eps`.

    Adding `eps` avoids zero vectors, at which the norm has no derivative.
    """
    return ts.norm(x1 - x2 + eps, p, [max(x1.dim(), x2.dim()) - 1], keepdim)


def triplet_margin(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float,
    p: float,
    eps: float,
    swap: bool,
    reduction: int,
) -> Tensor:
    """Return the triplet margin loss: positive distance minus negative distance plus margin, clamped at 0."""
    near, far = distance_norm(anchor, positive, p, eps, False), distance_norm(anchor, negative, p, eps, False)
    if swap:
        far = ts.minimum(far, distance_norm(positive, negative, p, eps, False))
    return reduce_loss((margin + near - far).clamp_min(0), reduction)


compose("aten::pairwise_distance", "distance_norm(x1, x2, p, eps, keepdim)")
compose(
    "aten::triplet_margin_loss",
    "triplet_margin(anchor, positive, negative, margin, p, eps, swap, reduction)",
)


def of_gap(grad: Tensor, gap: Tensor, distance: Tensor, p: float) -> Tensor:
    """Return the gradient of a p-norm distance with respect to `gap`, the difference of two vectors.

    The gradient is 0 if the vectors are equal.
    """
    if p == 0:
        return ts.zeros_like(gap)
    if p == 1:
        return grad * gap.sgn()
    if p == float("inf"):
        return grad * gap.sgn() * (gap.abs() == distance)
    near = distance == 0
    if p == 2:
        return ts.where(near, 0, grad / distance) * gap
    steep = gap.sgn() * ts.where(gap == 0, 0, gap.abs() ** (p - 1))
    return ts.where(near, 0, grad / distance ** (p - 1)) * steep


def of_first(grad: Tensor, x1: Tensor, x2: Tensor, p: float, result: Tensor) -> Tensor:
    """Return the gradient of `x1` for the p-norm distances between all rows of `x1` and all rows of `x2`."""
    gap = x1.unsqueeze(-2) - x2.unsqueeze(-3)
    return of_gap(grad.unsqueeze(-1), gap, result.unsqueeze(-1), p).sum(-2)


derive(
    "aten::cdist aten::_cdist_forward", name="CdistBackward0",
    x1="of_first(grad, x1, x2, p, result)", x2="of_first(grad.mT, x2, x1, p, result.mT)",
)  # fmt: skip


def of_products(grad: Tensor, x1: Tensor, x2: Tensor, result: Tensor) -> Tensor:
    """Return the gradient of `x1` for the Euclidean distances between all rows of `x1` and of `x2`."""
    ratio = ts.where(result == 0, 0, grad / result)
    return x1 * ratio.sum(-1, True) - ratio @ x2


derive(
    "aten::_euclidean_dist",
    x1="of_products(grad, x1, x2, result)", x2="of_products(grad.mT, x2, x1, result.mT)",
)  # fmt: skip


def of_pairs(grad: Tensor, self: Tensor, p: float, result: Tensor) -> Tensor:
    """Return the gradient of `pdist`, the pairwise distances between rows of one matrix."""
    pairs = ts.triu_indices(self.size(0), self.size(0), 1, device=self.device)
    gap = self[pairs[0]] - self[pairs[1]]
    each = of_gap(grad.unsqueeze(-1), gap, result.unsqueeze(-1), p)
    return ts.zeros_like(self).index_add(0, pairs[0], each).index_add(0, pairs[1], -each)


derive("aten::pdist aten::_pdist_forward", self="of_pairs(grad, self, p, result)", name="PdistBackward0")
