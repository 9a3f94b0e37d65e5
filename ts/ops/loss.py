"""Elementwise losses of predictions and targets.

Input: two arrays and a reduction (0 none, 1 mean, 2 sum). Output: the losses, or the reduced loss. 16-bit
floats are computed in 32 bits. As in PyTorch, the loss of an element is rounded to the result's dtype before
the reduction.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

from ts._core.tensor import size_guards
from ts.ops import common
from ts.ops.numpy_arithmetic import check_no_bool_subtraction
from ts.ops.out_variants import POINTWISE_OUT
from ts.ops.registry import op

Array = common.Array
NONE, MEAN, SUM = 0, 1, 2


def reduce_loss(xp: Any, loss: Array, reduction: int) -> Array:
    """Reduce elementwise losses. Sums are accumulated in at least 32 bits."""
    if reduction == NONE:
        return loss
    if reduction == SUM:
        total = xp.sum(loss, dtype=common.opmath(common.accumulate_dtype(loss.dtype)))
        return common.cast(xp, total, common.accumulate_dtype(loss.dtype))
    if common.CATEGORY_OF[loss.dtype] < common.FLOATING:
        raise RuntimeError(
            "mean(): could not infer output dtype. Input dtype must be either a floating point or complex "
            f"dtype. Got: {common.NAME_OF[loss.dtype]}"
        )
    if not loss.size:
        return xp.full((), math.nan, dtype=loss.dtype)
    return common.cast(xp, xp.mean(loss, dtype=common.opmath(loss.dtype)), loss.dtype)


def promote_pair(xp: Any, a: Array, b: Array) -> tuple[Array, Array]:
    """Cast `a` and `b` to their promoted dtype. Raise RuntimeError if their shapes do not broadcast."""
    dtype = common.result_type(a, b)
    common.broadcast_shapes(a.shape, b.shape)
    return common.cast(xp, a, dtype), common.cast(xp, b, dtype)


def _check_output_shape(target: Sequence[int], other: Sequence[int]) -> None:
    """Raise RuntimeError if `other` does not broadcast to `target`, the shape of the output."""
    broadcast_shape = common.broadcast_shapes(target, other)
    if not size_guards.equal_shapes(broadcast_shape, target):
        raise RuntimeError(
            f"output with shape {list(target)} doesn't match the broadcast shape {list(broadcast_shape)}"
        )


def wide(xp: Any, x: Array) -> Array:
    """Cast x to its computation dtype, which is float32 for 16-bit floats."""
    return common.cast(xp, x, common.opmath(x.dtype))


def _real(name: str, dtype: common.DType) -> common.DType:
    if common.CATEGORY_OF[dtype] != common.FLOATING:
        common.raise_unsupported_dtype(name, dtype)
    return dtype


def _gap(xp: Any, name: str, self: Array, target: Array) -> tuple[Array, common.DType]:
    """Return |self - target|, computed in at least 32 bits, and the promoted dtype (always floating)."""
    dtype = _real(name, common.result_type(self, target))
    return xp.abs(xp.subtract(*(wide(xp, v) for v in promote_pair(xp, self, target)))), dtype


_UNSAFE: Final = (
    "torch.nn.functional.binary_cross_entropy and torch.nn.BCELoss are unsafe to autocast.\n"
    "Many models use a sigmoid layer right before the binary cross entropy layer.\n"
    "In this case, combine the two layers using torch.nn.functional.binary_cross_entropy_with_logits\n"
    "or torch.nn.BCEWithLogitsLoss.  binary_cross_entropy_with_logits and BCEWithLogits are\n"
    "safe to autocast."
)


@op(
    "aten::mse_loss(Tensor self, Tensor target, int reduction=1) -> Tensor",
    out="out",
    where="f",
    layout="like_all",
    autocast="float32",
)
def _mse_loss(xp: Any, self: Array, target: Array, reduction: int = MEAN) -> Array:
    gap, dtype = _gap(xp, "mse_cpu", self, target)
    return reduce_loss(xp, common.cast(xp, gap * gap, dtype), reduction)


@op(
    "aten::l1_loss(Tensor self, Tensor target, int reduction=1) -> Tensor",
    where="f",
    layout="like_all",
    autocast="float32",
)
def _l1_loss(xp: Any, self: Array, target: Array, reduction: int = MEAN) -> Array:
    check_no_bool_subtraction(self, target)
    x, y = promote_pair(xp, self, target)
    return reduce_loss(xp, xp.abs(x - y), reduction)


@op(
    "aten::smooth_l1_loss(Tensor self, Tensor target, int reduction=1, float beta=1.) -> Tensor",
    out="out",
    where="f",
    layout="like_all",
    autocast="float32",
)
def _smooth_l1_loss(xp: Any, self: Array, target: Array, reduction: int = MEAN, beta: float = 1.0) -> Array:
    if beta < 0:
        raise RuntimeError("smooth_l1_loss does not support negative values for beta.")
    gap, dtype = _gap(xp, "smooth_l1_cpu" if beta else "abs_cpu", self, target)
    loss = xp.where(gap < beta, 0.5 * gap * gap / beta, gap - 0.5 * beta) if beta else gap
    return reduce_loss(xp, common.cast(xp, loss, dtype), reduction)


@op(
    "aten::huber_loss(Tensor self, Tensor target, int reduction=1, float delta=1.) -> Tensor",
    out="out",
    where="f",
    layout="like_all",
    autocast="float32",
)
def _huber_loss(xp: Any, self: Array, target: Array, reduction: int = MEAN, delta: float = 1.0) -> Array:
    if not delta > 0:
        raise RuntimeError("huber_loss does not support non-positive values for delta.")
    common.check_cast(common.result_type(self, target), self.dtype)
    gap, _ = _gap(xp, "huber_cpu", self, target)
    loss = xp.where(gap <= delta, 0.5 * gap * gap, delta * (gap - 0.5 * delta))
    return reduce_loss(xp, common.cast(xp, loss, self.dtype), reduction)


@op(
    "aten::soft_margin_loss(Tensor self, Tensor target, int reduction=1) -> Tensor",
    where="f",
    layout="like_all",
    **POINTWISE_OUT,
    autocast="float32",
)
def _soft_margin_loss(xp: Any, self: Array, target: Array, reduction: int = MEAN) -> Array:
    if self.dtype == common.BOOL:
        raise RuntimeError(
            "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert a "
            "mask, use the `~` or `logical_not()` operator instead."
        )
    common.check_cast(common.float_dtype(common.result_type(self, target)), self.dtype)
    _check_output_shape(self.shape, target.shape)
    # as in PyTorch, each step is rounded to the dtype, so that 16-bit floats may overflow
    x, y = promote_pair(xp, self, target)
    return reduce_loss(xp, common.cast(xp, xp.log1p(xp.exp(-y * x)), self.dtype), reduction)


@op(
    "aten::hinge_embedding_loss(Tensor self, Tensor target, float margin=1., int reduction=1) -> Tensor",
    where="f",
    autocast="float32",
)
def _hinge_embedding_loss(
    xp: Any, self: Array, target: Array, margin: float = 1.0, reduction: int = MEAN
) -> Array:
    if self.dtype.kind == "c":
        raise NotImplementedError("clamp is not supported for complex types")
    check_no_bool_subtraction(self, self)
    zero = xp.zeros((), dtype=self.dtype)  # 0 in the input's dtype, to which the margin is also converted
    apart = xp.maximum(common.cast(xp, margin, self.dtype) - self, zero)
    loss = xp.where(target != 1, apart, zero) + xp.where(target != -1, self, zero)
    return reduce_loss(xp, loss, reduction)


@op(
    "aten::margin_ranking_loss(Tensor input1, Tensor input2, Tensor target, float margin=0., int "
    "reduction=1) -> Tensor",
    autocast="float32",
)
def _margin_ranking_loss(
    xp: Any, input1: Array, input2: Array, target: Array, margin: float = 0.0, reduction: int = MEAN
) -> Array:
    dtype = common.result_type(input1, input2, target, margin)
    if dtype.kind == "c":
        raise NotImplementedError("clamp is not supported for complex types")
    check_no_bool_subtraction(input1, input2)
    for a, b in ((input1, input2), (input1, target)):
        common.broadcast_shapes(a.shape, b.shape)
    check_no_bool_subtraction(target, target)
    # Integers are not converted to floats, and differences of unsigned integers wrap.
    gap = xp.subtract(*promote_pair(xp, input1, input2))
    gap = xp.multiply(*promote_pair(xp, -target, gap))
    loss = xp.maximum(wide(xp, common.cast(xp, gap, dtype)) + margin, 0)
    return reduce_loss(xp, common.cast(xp, loss, dtype), reduction)


@op(
    "aten::kl_div(Tensor self, Tensor target, int reduction=1, *, bool log_target=False) -> Tensor",
    where="f",
    layout="like_all",
    autocast="float32",
)
def _kl_div(xp: Any, self: Array, target: Array, reduction: int = MEAN, log_target: bool = False) -> Array:
    categories = [common.CATEGORY_OF[v.dtype] for v in (self, target)]
    if common.COMPLEX in categories:
        raise RuntimeError("kl_div: Complex inputs not supported.")
    if min(categories) < common.FLOATING:
        raise RuntimeError("kl_div: Integral inputs not supported.")
    dtype = common.result_type(self, target)
    x, y = (wide(xp, v) for v in promote_pair(xp, self, target))
    loss = xp.exp(y) * (y - x) if log_target else xp.special("xlogy")(y, y) - y * x
    return reduce_loss(xp, common.cast(xp, loss, dtype), reduction)


@op(
    "aten::poisson_nll_loss(Tensor input, Tensor target, bool log_input, bool full, float eps, int "
    "reduction) -> Tensor",
    autocast="float32",
)
def _poisson_nll_loss(
    xp: Any, input: Array, target: Array, log_input: bool, full: bool, eps: float, reduction: int
) -> Array:
    common.broadcast_shapes(input.shape, target.shape)
    if input.dtype == target.dtype == common.BOOL or (not log_input and input.dtype == common.BOOL):
        check_no_bool_subtraction(True, input.dtype)
    dtype = common.float_dtype(common.result_type(input, target))
    x, y = (wide(xp, common.cast(xp, v, dtype)) for v in (input, target))
    loss = xp.exp(x) - y * x if log_input else x - y * xp.log(x + eps)
    if full:  # add Stirling's approximation of log(y!)
        stirling = y * xp.log(y) - y + 0.5 * xp.log(2 * math.pi * y)
        loss = loss + xp.where(target > 1, stirling, 0)
    return reduce_loss(xp, common.cast(xp, loss, dtype), reduction)


def _check_probabilities(xp: Any, **arrays: Array) -> None:
    for name, x in arrays.items():
        if common.is_any_true(xp, ~((x >= 0) & (x <= 1))):
            raise RuntimeError(f"all elements of {name} should be between 0 and 1")


@op(
    "aten::binary_cross_entropy(Tensor self, Tensor target, Tensor? weight=None, int reduction=1) -> Tensor",
    where="f",
    layout="like_all",
    **POINTWISE_OUT,
    autocast={"cpu": "float32", "cuda": _UNSAFE},
)
def _binary_cross_entropy(
    xp: Any, self: Array, target: Array, weight: Array | None = None, reduction: int = MEAN
) -> Array:
    dtype = self.dtype
    if target.dtype != dtype:
        raise RuntimeError(f"Found dtype {common.NAME_OF[target.dtype]} but expected {common.NAME_OF[dtype]}")
    _real("binary_cross_entropy", dtype)
    if weight is not None:
        _check_output_shape(self.shape, weight.shape)
    _check_probabilities(xp, input=self, target=target)
    x, y = wide(xp, self), wide(xp, target)
    loss = -(y * xp.maximum(xp.log(x), -100) + (1 - y) * xp.maximum(xp.log1p(-x), -100))
    loss = loss if weight is None else loss * wide(xp, weight)
    return reduce_loss(xp, common.cast(xp, loss, dtype), reduction)


@op(
    "aten::binary_cross_entropy_with_logits(Tensor self, Tensor target, Tensor? weight=None, Tensor? "
    "pos_weight=None, int reduction=1) -> Tensor",
    out="out",
    where="f",
    layout="like_second",
    autocast="float32",
)
def _binary_cross_entropy_with_logits(
    xp: Any,
    self: Array,
    target: Array,
    weight: Array | None = None,
    pos_weight: Array | None = None,
    reduction: int = MEAN,
) -> Array:
    check_no_bool_subtraction(True, target) if target.dtype == common.BOOL else None
    dtype = common.result_type(self, target)
    _check_output_shape(target.shape, self.shape)
    # PyTorch writes the loss to a buffer with the target's dtype, so the loss is converted to it
    common.check_cast(dtype, target.dtype)
    dtype = target.dtype
    _real("log_sigmoid_cpu", self.dtype)
    if weight is not None:
        _check_output_shape(target.shape, weight.shape)
    x, y = wide(xp, self), wide(xp, target)
    softplus = xp.log1p(xp.exp(-xp.abs(x))) + xp.maximum(-x, 0)
    scale = 1 if pos_weight is None else 1 + (wide(xp, pos_weight) - 1) * y
    loss = (1 - y) * x + scale * softplus
    loss = loss if weight is None else loss * wide(xp, weight)
    return reduce_loss(xp, common.cast(xp, loss, dtype), reduction)
