"""Distances and similarities of vectors, and the losses made of them.

In: arrays of vectors; out: an array without the vectors' dimension.
"""

from __future__ import annotations

from typing import Any

from ts.ops import rules
from ts.ops.loss import MEAN, reduced, same
from ts.ops.reduce import vector_norm
from ts.ops.registry import op

Array = rules.Array


@op("aten::cosine_similarity(Tensor x1, Tensor x2, int dim=1, float eps=1e-08) -> Tensor", where="f")
def _cosine_similarity(xp: Any, x1: Array, x2: Array, dim: int = 1, eps: float = 1e-08) -> Array:
    a, b = same(xp, x1, x2)
    shape = rules.broadcast_shapes(a.shape, b.shape)
    axis = rules.wrap_dim(dim, len(shape))
    a, b = xp.broadcast_to(a, shape), xp.broadcast_to(b, shape)
    na = xp.maximum(vector_norm(xp, a, 2, axis, True), eps)
    nb = xp.maximum(vector_norm(xp, b, 2, axis, True), eps)
    return rules.cast(xp, xp.sum((a / na) * (b / nb), axis=axis), a.dtype)


@op(
    "aten::pairwise_distance(Tensor x1, Tensor x2, float p=2., float eps=9.9999999999999995e-07, bool"
    " keepdim=False) -> Tensor",
    where="f",
)
def _pairwise_distance(
    xp: Any, x1: Array, x2: Array, p: float = 2, eps: float = 1e-06, keepdim: bool = False
) -> Array:
    gap = xp.subtract(*same(xp, x1, x2))
    gap = rules.cast(xp, gap, rules.float_dtype(gap.dtype))
    return vector_norm(xp, gap + rules.real_dtype(gap.dtype).type(eps), p, -1, keepdim)


@op("aten::cdist(Tensor x1, Tensor x2, float p=2., int? compute_mode=None) -> Tensor", where="f")
def _cdist(xp: Any, x1: Array, x2: Array, p: float = 2, compute_mode: int | None = None) -> Array:
    for name, x in (("X1", x1), ("X2", x2)):
        if x.ndim < 2:
            raise RuntimeError(f"cdist only supports at least 2D tensors, {name} got: {x.ndim}D")
    if x1.shape[-1] != x2.shape[-1]:
        raise RuntimeError(
            f"X1 and X2 must have the same number of columns. X1: {x1.shape[-1]} X2: {x2.shape[-1]}"
        )
    return vector_norm(xp, x1[..., :, None, :] - x2[..., None, :, :], p, -1, False)


@op("aten::pdist(Tensor self, float p=2.) -> Tensor", where="f")
def _pdist(xp: Any, self: Array, p: float = 2) -> Array:
    rows, columns = xp.triu_indices(self.shape[0], 1)
    return vector_norm(xp, self[rows] - self[columns], p, -1, False)


@op(
    "aten::triplet_margin_loss(Tensor anchor, Tensor positive, Tensor negative, float margin=1., "
    "float p=2., float eps=9.9999999999999995e-07, bool swap=False, int reduction=1) -> Tensor",
    where="f",
)
def _triplet_margin_loss(
    xp: Any,
    anchor: Array,
    positive: Array,
    negative: Array,
    margin: float = 1.0,
    p: float = 2.0,
    eps: float = 1e-06,
    swap: bool = False,
    reduction: int = MEAN,
) -> Array:
    near, far = (
        _pairwise_distance(xp, anchor, positive, p, eps),
        _pairwise_distance(xp, anchor, negative, p, eps),
    )
    if swap:
        far = xp.minimum(far, _pairwise_distance(xp, positive, negative, p, eps))
    return reduced(xp, xp.maximum(margin + near - far, 0).astype(near.dtype), reduction)


@op(
    "aten::cosine_embedding_loss(Tensor input1, Tensor input2, Tensor target, float margin=0., int "
    "reduction=1) -> Tensor",
    where="f",
)
def _cosine_embedding_loss(
    xp: Any, input1: Array, input2: Array, target: Array, margin: float = 0.0, reduction: int = MEAN
) -> Array:
    dtype = rules.float_dtype(rules.result_type(input1, input2))
    near = _cosine_similarity(xp, rules.cast(xp, input1, dtype), rules.cast(xp, input2, dtype), -1)
    loss = xp.where(target == 1, 1 - near, xp.maximum(near - margin, 0))
    return reduced(xp, rules.cast(xp, loss, near.dtype), reduction)
