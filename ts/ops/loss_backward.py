"""Backward operators of loss functions, as used in archives and exported graphs.

Input: the gradient of the loss, and the arguments of the loss function. Output: the gradient of the first
argument.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ts.ops import common
from ts.ops.activation_backward import Body
from ts.ops.loss import MEAN, NONE, promote_pair, wide
from ts.ops.registry import op
from ts.ops.unary import sigmoid
from ts.ops.unsupported_dtypes import FOUND_DTYPE, PROMOTED

Array = common.Array
_MIN_DENOMINATOR = 1e-12  # lower bound of p (1 - p), so that the slope is finite for probabilities 0 and 1


def _backward(
    schema: str, kernel: str, kinds: str = "bc", checked_dtype: str = f"{PROMOTED} self"
) -> Callable[[Body], Body]:
    """Declare the backward operator `aten::{schema} -> Tensor`.

    The decorated function returns the derivative of each element's loss. For dtypes of the kinds in `kinds`,
    the operator raises an error. The error text contains `kernel`, the name of PyTorch's kernel.
    """

    def declare(body: Body) -> Body:
        def compute(xp: Any, grad: Array, self: Array, target: Array, *rest: Any) -> Array:
            slope = body(xp, *(wide(xp, x) for x in promote_pair(xp, self, target)), *rest)
            reduction = next(x for x in rest if isinstance(x, int))
            each = wide(xp, grad)
            each = each / max(slope.size, 1) if reduction == MEAN else each
            return common.cast(xp, each * slope, self.dtype)

        record = op(
            f"aten::{schema} -> Tensor", where="", family="loss_backward", layout="like_all",
            dtype_errors={kinds: kernel}, checked_dtype=checked_dtype, mixed_dtypes_error=FOUND_DTYPE,
        )  # fmt: skip
        record(compute)
        return body

    return declare


_ARGUMENTS = "Tensor grad_output, Tensor self, Tensor target, int reduction"


@_backward(f"mse_loss_backward({_ARGUMENTS})", "mse_backward_cpu_out")
def _mse(xp: Any, x: Array, y: Array, reduction: int) -> Array:
    return (x - y) * 2


@_backward(f"smooth_l1_loss_backward({_ARGUMENTS}, float beta)", "smooth_l1_backward_cpu_out")
def _smooth_l1(xp: Any, x: Array, y: Array, reduction: int, beta: float) -> Array:
    return xp.clip((x - y) / beta, -1, 1) if beta else xp.where(x > y, 1.0, -1.0).astype(x.dtype)


@_backward(
    f"huber_loss_backward({_ARGUMENTS}, float delta)",
    "huber_backward_cpu_out",
    "bic",
    "self target grad_output",
)
def _huber(xp: Any, x: Array, y: Array, reduction: int, delta: float) -> Array:
    return xp.clip(x - y, -delta, delta)


@_backward(
    f"soft_margin_loss_backward({_ARGUMENTS})",
    "result type Float can't be cast to the desired output type {dtype}",
    "bic",
)
def _soft_margin(xp: Any, x: Array, y: Array, reduction: int) -> Array:
    return -y * sigmoid(xp, -y * x)


@_backward(
    "binary_cross_entropy_backward(Tensor grad_output, Tensor self, Tensor target, Tensor? weight=None, "
    "int reduction=1)",
    "binary_cross_entropy_backward",
    "bic",
    "grad_output self target",
)
def _binary_cross_entropy(xp: Any, x: Array, y: Array, weight: Array | None, reduction: int = MEAN) -> Array:
    slope = (x - y) / xp.maximum(x * (1 - x), _MIN_DENOMINATOR)
    return slope if weight is None else slope * wide(xp, weight)


# ---------------------------------------------------------------------------------------- margin losses


def _to_scores(xp: Any, grad: Array, slope: Array, self: Array, reduction: int) -> Array:
    """Return the gradient with respect to the scores, given `grad`, the gradient of the reduced loss.

    The derivative of each sample's loss is `slope` divided by the number of classes.
    """
    rows, classes = slope.shape
    each = grad / rows if reduction == MEAN else grad.reshape(-1, 1) if reduction == NONE else grad
    return common.cast(xp, (each * (slope / classes)).reshape(self.shape), self.dtype)


@op(
    "aten::multi_margin_loss_backward(Tensor grad_output, Tensor self, Tensor target, Scalar p, Scalar "
    "margin, Tensor? weight=None, int reduction=1) -> Tensor",
    where="",
    layout="contiguous",
    dtype_errors={"bihc": "multi_margin_loss_backward_cpu_kernel"},
    checked_dtype="self grad_output weight target:Long",
)
def _multi_margin(
    xp: Any,
    grad_output: Array,
    self: Array,
    target: Array,
    p: Any,
    margin: Any,
    weight: Array | None = None,
    reduction: int = MEAN,
) -> Array:
    """Return the gradient of multi-margin loss.

    The gradient is nonzero for classes within the margin. The gradient of the target class is the negated sum
    of the gradients of these classes.
    """
    x = self if self.ndim == 2 else self.reshape(1, -1)
    target_column = target.reshape(-1, 1)
    gap = margin - xp.take_along_axis(x, target_column, 1) + x
    slope = (gap > 0).astype(x.dtype) if p == 1 else 2 * xp.maximum(gap, 0)
    slope = slope if weight is None else slope * weight[target_column]
    right = xp.arange(x.shape[1]) == target_column
    slope = xp.where(right, 0, slope)
    slope = xp.where(right, -xp.sum(slope, axis=1, keepdims=True), slope)
    return _to_scores(xp, grad_output, slope, self, reduction)


@op(
    "aten::multilabel_margin_loss_backward(Tensor grad_output, Tensor self, Tensor target, int reduction, "
    "Tensor is_target) -> Tensor",
    where="",
    layout="contiguous",
    dtype_errors={"bihc": "multilabel_margin_loss_backward_out_frame"},
    checked_dtype="self grad_output is_target target:Long",
)
def _multilabel_margin(
    xp: Any, grad_output: Array, self: Array, target: Array, reduction: int, is_target: Array
) -> Array:
    """Return the gradient of the multilabel margin loss.

    Consider the pairs (target, other class) within the margin. The gradient of a class is proportional to the
    number of pairs that contain the class. The gradient of a target has a negative sign. A target that is
    listed twice counts twice.
    """
    x = self if self.ndim == 2 else self.reshape(1, -1)
    labels, holds = target.reshape(x.shape), is_target.reshape(x.shape)
    listed = xp.cumsum(labels < 0, axis=1) == 0
    index = xp.where(listed, labels, 0)
    gap = 1 - xp.take_along_axis(x, index, 1)[:, :, None] + x[:, None, :]
    close = ((gap > 0) & listed[:, :, None] & (holds == 0)[:, None, :]).astype(x.dtype)
    of_labels = (index[:, :, None] == xp.arange(x.shape[1])).astype(x.dtype)
    against = xp.sum(xp.sum(close, axis=2)[:, :, None] * of_labels, axis=1)
    return _to_scores(xp, grad_output, xp.sum(close, axis=1) - against, self, reduction)
