"""Distances and similarities of vectors, and losses based on distances and similarities.

Input: arrays of vectors. Output: an array without the dimension of the vectors.
"""

from __future__ import annotations

from typing import Any

from ts._core.tensor.size_guards import equal, evaluate_guard
from ts.ops import common, cost_model
from ts.ops.loss import MEAN, promote_pair, reduce_loss, wide
from ts.ops.numpy_arithmetic import check_no_bool_subtraction
from ts.ops.out_variants import COPIED_OUT, SCALAR
from ts.ops.registry import op
from ts.ops.unsupported_dtypes import NotImplementedMessage
from ts.ops.vector_norm import vector_norm

Array = common.Array

_MIN_NORM = 1e-12  # lower bound of norms, so that the cosine of a zero vector is finite


@op(
    "aten::cosine_similarity(Tensor x1, Tensor x2, int dim=1, float eps=1e-08) -> Tensor",
    layout="contiguous",
    autocast={"cuda": "float32"},
)
def _cosine_similarity(xp: Any, x1: Array, x2: Array, dim: int = 1, eps: float = 1e-08) -> Array:
    dtype = common.result_type(x1, x2)
    if common.CATEGORY_OF[dtype] != common.FLOATING:
        raise RuntimeError(
            f"expected common dtype to be floating point, yet common dtype is {common.NAME_OF[dtype]}"
        )
    a, b = promote_pair(xp, x1, x2)
    shape = common.broadcast_shapes(a.shape, b.shape)
    axis = common.wrap_dim(dim, len(shape))
    a, b = xp.broadcast_to(a, shape), xp.broadcast_to(b, shape)
    na = xp.maximum(vector_norm(xp, a, 2, axis, True), eps)
    nb = xp.maximum(vector_norm(xp, b, 2, axis, True), eps)
    return common.cast(xp, xp.sum((a / na) * (b / nb), axis=axis), a.dtype)


@op(
    "aten::pairwise_distance(Tensor x1, Tensor x2, float p=2., float eps=9.9999999999999995e-07, bool"
    " keepdim=False) -> Tensor",
    layout="contiguous",
    autocast={"cuda": "float32"},
)
def _pairwise_distance(
    xp: Any, x1: Array, x2: Array, p: float = 2, eps: float = 1e-06, keepdim: bool = False
) -> Array:
    check_no_bool_subtraction(x1, x2)
    gap = xp.subtract(*promote_pair(xp, x1, x2))
    gap = common.cast(xp, gap, common.float_dtype(gap.dtype))
    return vector_norm(xp, gap + common.real_dtype(gap.dtype).type(eps), p, -1, keepdim)


@op(
    "aten::cdist(Tensor x1, Tensor x2, float p=2., int? compute_mode=None) -> Tensor",
    layout="contiguous",
    work=cost_model.pairs,
    autocast="float32",
)
def _cdist(xp: Any, x1: Array, x2: Array, p: float = 2, compute_mode: int | None = None) -> Array:
    for name, x in (("X1", x1), ("X2", x2)):
        if x.ndim < 2:
            raise RuntimeError(f"cdist only supports at least 2D tensors, {name} got: {x.ndim}D")
    for name, x in (("X1", x1), ("X2", x2)):
        if common.CATEGORY_OF[x.dtype] != common.FLOATING:
            raise RuntimeError(
                f"cdist only supports floating-point dtypes, {name} got: {common.NAME_OF[x.dtype]}"
            )
    if not equal(x1.shape[-1], x2.shape[-1]):
        raise RuntimeError(
            f"X1 and X2 must have the same number of columns. X1: {x1.shape[-1]} X2: {x2.shape[-1]}"
        )
    if x1.dtype in common.HALF_DTYPES or x1.dtype != x2.dtype:
        if not x1.size or not x2.size:  # PyTorch does not check the dtypes of empty tensors
            batch = common.broadcast_shapes(x1.shape[:-2], x2.shape[:-2])
            return xp.zeros((*batch, x1.shape[-2], x2.shape[-2]), dtype=x1.dtype)
        if x1.dtype in common.HALF_DTYPES:
            common.raise_unsupported_dtype("cdist", x1.dtype)
        raise RuntimeError(common.dtype_message(SCALAR, x1.dtype, x2.dtype))
    if p == 2 and not compute_mode:
        _by_products(x1, x2)
    return vector_norm(xp, x1[..., :, None, :] - x2[..., None, :, :], p, -1, False)


def _by_products(x1: Array, x2: Array) -> bool:
    """Return whether PyTorch computes the distances between rows of `x1` and `x2` by matrix products.

    If the sizes are symbolic, record the conditions on them as guards.
    """
    # use `|`, because `or` would not record the second condition as a guard if the first one is true
    return evaluate_guard(x1.shape[-2] > 25) | evaluate_guard(x2.shape[-2] > 25)


@op(
    "aten::_cdist_forward(Tensor x1, Tensor x2, float p, int? compute_mode) -> Tensor",
    where="",
    layout="contiguous",
    dtype_errors={"bic": "cdist only supports floating-point dtypes, X1 got: {dtype}"},
    work=cost_model.pairs,
    **COPIED_OUT,
)
def _cdist_forward(xp: Any, x1: Array, x2: Array, p: float, compute_mode: int | None) -> Array:
    if not p >= 0:
        raise RuntimeError("cdist only supports non-negative p values")
    if compute_mode not in (None, 0, 1, 2):
        raise RuntimeError(f"possible modes: 0, 1, 2, but was: {compute_mode}")
    return _cdist(xp, x1, x2, p)


@op(
    "aten::_euclidean_dist(Tensor x1, Tensor x2) -> Tensor",
    layout="contiguous",
    dtype_errors={
        "bi": "result type Float can't be cast to the desired output type Long",
        "c": NotImplementedMessage("clamp is not supported for complex types"),
    },
    work=cost_model.pairs,
    autocast={"cpu": "lower"},
    **COPIED_OUT,
)
def _euclidean_dist(xp: Any, x1: Array, x2: Array) -> Array:
    """Compute Euclidean distances by a matrix product: |a - b|^2 = |a|^2 + |b|^2 - 2 ab.

    Squared distances that are negative because of rounding are replaced by zero.
    """
    a, b = wide(xp, x1), wide(xp, x2)
    squares = xp.sum(a * a, axis=-1)[..., :, None] + xp.sum(b * b, axis=-1)[..., None, :]
    squares = squares - 2 * xp.matmul(a, b.swapaxes(-1, -2))
    return common.cast(xp, xp.sqrt(xp.maximum(squares, 0)), x1.dtype)


@op(
    "aten::_pdist_forward(Tensor self, float p=2.) -> Tensor",
    where="",
    layout="contiguous",
    work=cost_model.pairs,
    **COPIED_OUT,
)
def _pdist_forward(xp: Any, self: Array, p: float = 2) -> Array:
    if self.ndim < 2:
        raise IndexError("Dimension out of range (expected to be in range of [-1, 0], but got 1)")
    if self.shape[0] < 2:
        return xp.empty(0, dtype=self.dtype)
    if self.dtype not in (common.FLOAT, common.DOUBLE):
        common.raise_unsupported_dtype("pdist", self.dtype)
    return _pdist(xp, self, p)


@op(
    "aten::pdist(Tensor self, float p=2.) -> Tensor",
    where="f",
    dtype_errors={"bic": "pdist only supports floating-point dtypes", "h": "pdist"},
    work=cost_model.pairs,
    autocast={"cuda": "float32"},
)
def _pdist(xp: Any, self: Array, p: float = 2) -> Array:
    rows, columns = xp.triu_indices(self.shape[0], 1)
    return vector_norm(xp, self[rows] - self[columns], p, -1, False)


def _of_gap(xp: Any, grad: Array, gap: Array, distance: Array, p: float) -> Array:
    """Return the gradient of p-norm distances with respect to `gap`, the differences of vectors.

    The gradient is 0 if two vectors are equal.
    """
    if p == 0:
        return xp.zeros_like(gap)
    if p == 1:
        return grad * xp.sign(gap)
    if p == xp.inf:
        return grad * xp.sign(gap) * (xp.abs(gap) == distance)
    same_place = distance == 0
    ratio = xp.where(same_place, 0, grad / xp.where(same_place, 1, distance) ** (p - 1))
    if p == 2:
        return ratio * gap
    return ratio * xp.sign(gap) * xp.where(gap == 0, 0, xp.abs(xp.where(gap == 0, 1, gap)) ** (p - 1))


@op(
    "aten::_cdist_backward(Tensor grad, Tensor x1, Tensor x2, float p, Tensor cdist) -> Tensor",
    where="",
    layout="contiguous",
    dtype_errors={"bihc": "cdist_backward"},
    checked_dtype="x1 grad x2 cdist",
    work=cost_model.pairs,
    **COPIED_OUT,
)
def _cdist_backward(xp: Any, grad: Array, x1: Array, x2: Array, p: float, cdist: Array) -> Array:
    """Return the gradient of `cdist` with respect to `x1`."""
    gap = x1[..., :, None, :] - x2[..., None, :, :]
    return xp.sum(_of_gap(xp, grad[..., None], gap, cdist[..., None], p), axis=-2)


@op(
    "aten::_pdist_backward(Tensor grad, Tensor self, float p, Tensor pdist) -> Tensor",
    where="",
    layout="contiguous",
    dtype_errors={"bihc": "pdist_backward"},
    checked_dtype="self grad pdist",
    work=cost_model.pairs,
    **COPIED_OUT,
)
def _pdist_backward(xp: Any, grad: Array, self: Array, p: float, pdist: Array) -> Array:
    """Return the gradient of `pdist` with respect to `self`.

    Each distance contributes to the gradient of two vectors.
    """
    n = self.shape[0]
    rows, columns = xp.triu_indices(n, 1)
    pairwise_grad, distance = xp.zeros((n, n), dtype=self.dtype), xp.zeros((n, n), dtype=self.dtype)
    pairwise_grad[rows, columns] = pairwise_grad[columns, rows] = grad
    distance[rows, columns] = distance[columns, rows] = pdist
    return _cdist_backward(xp, pairwise_grad, self, self, p, distance)


@op(
    "aten::triplet_margin_loss(Tensor anchor, Tensor positive, Tensor negative, float margin=1., "
    "float p=2., float eps=9.9999999999999995e-07, bool swap=False, int reduction=1) -> Tensor",
    autocast="float32",
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
    if not anchor.ndim == positive.ndim == negative.ndim:
        raise RuntimeError(
            "The anchor, positive, and negative tensors are expected to have the same number of dimensions, "
            f"but got: anchor {anchor.ndim}D, positive {positive.ndim}D, and negative {negative.ndim}D inputs"
        )
    near = _pairwise_distance(xp, anchor, positive, p, eps)
    far = _pairwise_distance(xp, anchor, negative, p, eps)
    if swap:
        far = xp.minimum(far, _pairwise_distance(xp, positive, negative, p, eps))
    dtype = common.promote_types(near.dtype, far.dtype)
    loss = xp.maximum(margin + wide(xp, near) - wide(xp, far), 0)
    return reduce_loss(xp, common.cast(xp, loss, dtype), reduction)


@op(
    "aten::cosine_embedding_loss(Tensor input1, Tensor input2, Tensor target, float margin=0., int "
    "reduction=1) -> Tensor",
    autocast="float32",
)
def _cosine_embedding_loss(
    xp: Any, input1: Array, input2: Array, target: Array, margin: float = 0.0, reduction: int = MEAN
) -> Array:
    if target.ndim > 1:
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    if not input1.ndim == input2.ndim == target.ndim + 1:
        raise RuntimeError(
            f"{target.ndim}D target tensor expects {target.ndim + 1}D input tensors, but found inputs with "
            f"sizes {list(input1.shape)} and {list(input2.shape)}."
        )
    dtype = common.float_dtype(common.result_type(input1, input2))
    if dtype.kind == "c":
        raise NotImplementedError("clamp is not supported for complex types")
    a, b = (wide(xp, common.cast(xp, v, dtype)) for v in (input1, input2))
    near = xp.sum(a * b, axis=-1) / xp.sqrt(
        (xp.sum(a * a, axis=-1) + _MIN_NORM) * (xp.sum(b * b, axis=-1) + _MIN_NORM)
    )
    zero = xp.zeros((), dtype=near.dtype)
    loss = xp.where(target == 1, 1 - near, zero) + xp.where(target == -1, xp.maximum(near - margin, 0), zero)
    return reduce_loss(xp, common.cast(xp, loss, dtype), reduction)
