"""Classification losses, computed from scores and target classes.

Input: scores (N, C, ...) or (C), target classes or target probabilities, and a reduction. Output: the loss of
each sample, or the reduced loss.
"""

from __future__ import annotations

import math
from typing import Any

from ts._core.tensor import size_guards
from ts.ops import common, cost_model
from ts.ops.activation import softmax_kernel
from ts.ops.loss import MEAN, NONE, SUM, reduce_loss, wide
from ts.ops.out_variants import SAME_DTYPE_OUT, SCALAR
from ts.ops.registry import op, shared_fields

Array = common.Array


def _check_weight(weight: Array | None, classes: int, prefix: str = "") -> None:
    if weight is not None and not size_guards.equal_shapes(weight.shape, (classes,)):
        raise RuntimeError(
            f"{prefix}weight tensor should be defined either for all {classes} classes or no classes but got "
            f"weight tensor of shape: {list(weight.shape)}"
        )


def nll(
    xp: Any, logp: Array, target: Array, weight: Array | None, reduction: int, ignore_index: int
) -> Array:
    """Return the negative log likelihood. Classes are along dimension 1, or 0 for a single sample."""
    return _nll_and_weight(xp, logp, target, weight, reduction, ignore_index)[0]


def _nll_and_weight(
    xp: Any, logp: Array, target: Array, weight: Array | None, reduction: int, ignore_index: int
) -> tuple[Array, Array]:
    """Return the NLL loss, and the total weight of the samples (0 if the reduction is "none")."""
    if logp.ndim == 0:
        raise ValueError("Expected 1 or more dimensions (got 0)")
    if target.ndim > 0 and logp.ndim > 1 and not size_guards.equal(logp.shape[0], target.shape[0]):
        raise ValueError(
            f"Expected input batch_size ({logp.shape[0]}) to match target batch_size ({target.shape[0]})."
        )
    if logp.ndim == 2 and target.ndim > 1:
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    if target.dtype not in (common.INT64, common.UINT8):
        raise RuntimeError(
            f"expected target dtype to be Long or Byte, but got {common.NAME_OF[target.dtype]}"
        )
    if common.CATEGORY_OF[logp.dtype] != common.FLOATING:
        name = "nll_loss2d_forward_out_frame" if logp.ndim > 2 else "nll_loss_out_frame"
        common.raise_unsupported_dtype(name, logp.dtype)
    single = logp.ndim == 1
    x, t = (logp[None], target.reshape(1)) if single else (logp, target)
    expected_shape = (x.shape[0], *x.shape[2:])
    if not size_guards.equal_shapes(t.shape, expected_shape):
        raise RuntimeError(f"Expected target size {list(expected_shape)}, got {list(target.shape)}")
    n = x.shape[1]
    _check_weight(weight, n)
    if weight is not None and weight.dtype != logp.dtype:
        raise RuntimeError(
            f"expected scalar type {common.NAME_OF[logp.dtype]} but found {common.NAME_OF[weight.dtype]}"
        )
    is_counted = t != ignore_index
    safe = xp.where(is_counted, t, common.cast(xp, 0, t.dtype)).astype(common.INT64)
    bounds = common.index_bounds(xp, safe, 0, n)
    if bounds is not None and (bounds[0] < 0 or bounds[1] >= n):
        wrong = safe.reshape(-1)[int(xp.argmax(((safe < 0) | (safe >= n)).reshape(-1)))]
        raise IndexError(f"Target {int(wrong)} is out of bounds.")
    x = wide(xp, x)
    w = is_counted.astype(x.dtype) if weight is None else wide(xp, weight)[safe] * is_counted
    target_logp = (
        xp.take_along_axis(x, xp.expand_dims(safe, 1), 1)[:, 0]
        if x.size
        else xp.zeros(expected_shape, x.dtype)
    )
    loss = xp.where(is_counted, -target_logp * w, xp.zeros((), x.dtype))
    total = common.cast(xp, xp.sum(w) if single or reduction != NONE else xp.zeros((), x.dtype), logp.dtype)
    if reduction == MEAN:
        return common.cast(xp, xp.sum(loss) / xp.sum(w), logp.dtype), total
    loss = common.cast(xp, loss, logp.dtype)
    return reduce_loss(xp, loss[0] if single else loss, reduction), total


@op(
    "aten::nll_loss_nd(Tensor self, Tensor target, Tensor? weight=None, int reduction=1, SymInt "
    "ignore_index=-100) -> Tensor",
    where="f",
)
@op(
    "aten::nll_loss(Tensor self, Tensor target, Tensor? weight=None, int reduction=1, SymInt "
    "ignore_index=-100) -> Tensor",
    where="f",
    **SAME_DTYPE_OUT,
)
@op(
    "aten::nll_loss2d(Tensor self, Tensor target, Tensor? weight=None, int reduction=1, SymInt "
    "ignore_index=-100) -> Tensor",
    out="out",
    where="",
)
@shared_fields(work=cost_model.of(cost_model.fewest, 0.3), autocast="float32")
def _nll_loss(
    xp: Any,
    self: Array,
    target: Array,
    weight: Array | None = None,
    reduction: int = MEAN,
    ignore_index: int = -100,
) -> Array:
    return nll(xp, self, target, weight, reduction, ignore_index)


_FORWARD = (
    "(Tensor self, Tensor target, Tensor? weight, int reduction, SymInt ignore_index) -> (Tensor output, "
    "Tensor total_weight)"
)
_WITH_WEIGHT: dict[str, Any] = {
    "out": "output", "out_names": "output,total_weight", "out_unnamed": True, "where": "",
    "layout": ("contiguous", "contiguous"),
}  # fmt: skip


@op(f"aten::nll_loss_forward{_FORWARD}", **_WITH_WEIGHT)
def _nll_loss_forward(
    xp: Any, self: Array, target: Array, weight: Array | None, reduction: int, ignore_index: int
) -> tuple[Array, Array]:
    if self.ndim not in (1, 2):
        raise RuntimeError("input tensor should be 1D or 2D")
    if target.ndim > 1:
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    if self.ndim == 2 and not size_guards.equal_shapes(target.shape, self.shape[:1]):
        raise RuntimeError(f"size mismatch (got input: {list(self.shape)}, target: {list(target.shape)})")
    return _nll_and_weight(xp, self, target, weight, reduction, ignore_index)


@op(f"aten::nll_loss2d_forward{_FORWARD}", **_WITH_WEIGHT)
def _nll_loss2d_forward(
    xp: Any, self: Array, target: Array, weight: Array | None, reduction: int, ignore_index: int
) -> tuple[Array, Array]:
    if target.ndim != 3:
        raise RuntimeError(
            "only batches of spatial targets supported (3D tensors) but got targets of dimension: "
            f"{target.ndim}"
        )
    if self.ndim != 4:
        raise RuntimeError(
            f"only batches of spatial inputs supported (4D tensors), but got input of dimension: {self.ndim}"
        )
    return _nll_and_weight(xp, self, target, weight, reduction, ignore_index)


_BACK = (
    "(Tensor grad_output, Tensor self, Tensor target, Tensor? weight, int reduction, SymInt ignore_index, "
    "Tensor total_weight) -> Tensor"
)


@op(
    f"aten::nll_loss_backward{_BACK}",
    out="grad_input",
    dtype_errors={"bic": "nll_loss_backward_out_frame"},
)
@op(
    f"aten::nll_loss2d_backward{_BACK}",
    out="grad_input",
    dtype_errors={"bic": "nll_loss2d_backward_out_frame"},
)
@shared_fields(where="", layout="contiguous", checked_dtype="self grad_output total_weight target:Long|Byte")
def _nll_loss_backward(
    xp: Any,
    grad_output: Array,
    self: Array,
    target: Array,
    weight: Array | None,
    reduction: int,
    ignore_index: int,
    total_weight: Array,
) -> Array:
    """Return the gradient of the input, which is nonzero only at the target class of each sample."""
    x, t = (self[None], target.reshape(1)) if self.ndim == 1 else (self, target)
    if not size_guards.equal_shapes(t.shape, (x.shape[0], *x.shape[2:])):
        raise RuntimeError(f"size mismatch (got input: {list(self.shape)}, target: {list(target.shape)})")
    is_counted = t != ignore_index
    safe = xp.where(is_counted, t, common.cast(xp, 0, t.dtype)).astype(common.INT64)
    each = -wide(xp, grad_output)
    if reduction == MEAN:
        each = each / wide(xp, total_weight)
    if weight is not None:
        each = each * wide(xp, weight)[safe]
    each = common.cast(xp, xp.where(is_counted, each, xp.zeros((), each.dtype)), self.dtype)
    result = xp.zeros(x.shape, dtype=self.dtype)
    if result.size:
        xp.put_along_axis(result, xp.expand_dims(safe, 1), xp.expand_dims(each, 1), 1)
    return result.reshape(self.shape)


@op(
    "aten::cross_entropy_loss(Tensor self, Tensor target, Tensor? weight=None, int reduction=1, "
    "SymInt ignore_index=-100, float label_smoothing=0.) -> Tensor",
    where="f",
    autocast="float32",
)
def _cross_entropy(
    xp: Any,
    self: Array,
    target: Array,
    weight: Array | None = None,
    reduction: int = MEAN,
    ignore_index: int = -100,
    label_smoothing: float = 0.0,
) -> Array:
    axis = 0 if self.ndim == 1 else 1
    if size_guards.equal_shapes(target.shape, self.shape):
        if common.CATEGORY_OF[target.dtype] != common.FLOATING:
            raise RuntimeError(
                "Expected floating point type for target with class probabilities, got "
                f"{common.NAME_OF[target.dtype]}"
            )
        if ignore_index >= 0:
            raise RuntimeError("ignore_index is not supported for floating point target")
        return _of_probabilities(xp, self, target, weight, reduction, label_smoothing)
    if not 0 <= label_smoothing <= 1:
        raise RuntimeError(f"label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing:g}")
    logp = softmax_kernel(xp, wide(xp, self), axis, None, True)
    if label_smoothing == 0:
        loss = nll(xp, common.cast(xp, logp, self.dtype), target, weight, reduction, ignore_index)
        return common.cast(xp, loss, self.dtype)
    w = None if weight is None else wide(xp, weight)
    loss = nll(xp, logp, target, w, reduction, ignore_index)
    n = self.shape[axis]
    is_counted = target != ignore_index
    smooth = -xp.sum(logp if w is None else logp * _per_class(w, axis, self.ndim), axis=axis) * is_counted
    if reduction == MEAN:
        total = xp.sum(is_counted) if w is None else xp.sum(w[xp.where(is_counted, target, 0)] * is_counted)
        smooth = xp.sum(smooth) / total
    elif reduction == SUM:
        smooth = xp.sum(smooth)
    return common.cast(xp, (1 - label_smoothing) * loss + smooth * (label_smoothing / n), self.dtype)


def _per_class(weight: Array, axis: int, ndim: int) -> Array:
    return weight.reshape([-1 if d == axis else 1 for d in range(ndim)])


def _of_probabilities(
    xp: Any, self: Array, target: Array, weight: Array | None, reduction: int, label_smoothing: float
) -> Array:
    """Return the cross entropy of the scores `self` for class probabilities `target`."""
    axis = 0 if self.ndim == 1 else 1
    if self.ndim == 0:
        raise IndexError("Dimension specified as 0 but tensor has no dimensions")
    n = self.shape[axis]
    _check_weight(weight, n, "cross_entropy: ")
    dtype = common.result_type(self, target, weight)
    logp = softmax_kernel(xp, wide(xp, self), axis, None, True)
    target_probabilities = wide(xp, target)
    if label_smoothing > 0:
        target_probabilities = target_probabilities * (1 - label_smoothing) + label_smoothing / n
    terms = target_probabilities * logp
    if weight is not None:
        terms = terms * _per_class(wide(xp, weight), axis, self.ndim)
    loss = -xp.sum(terms, axis=axis)
    if reduction == MEAN:
        samples = math.prod(m for d, m in enumerate(self.shape) if d != axis)
        return common.cast(xp, xp.sum(loss) / samples if samples else xp.full((), math.nan), dtype)
    return reduce_loss(xp, common.cast(xp, loss, dtype), reduction)


# ---------------------------------------------------------------------------------------- margin losses


def _rows(self: Array) -> Array:
    """Return scores of shape (N, C) or (C) as an array (N, C)."""
    if self.ndim > 2 or (self.ndim and self.shape[-1] == 0):
        raise RuntimeError(
            f"Expected non-empty vector or matrix with optional 0-dim batch size, but got: {list(self.shape)}"
        )
    return self if self.ndim == 2 else self.reshape(1, -1)


@op(
    "aten::multi_margin_loss(Tensor self, Tensor target, Scalar p=1, Scalar margin=1, Tensor? weight=None, "
    "int reduction=1) -> Tensor",
    out="out",
    where="f",
    out_dtype_error=SCALAR,
    autocast="float32",
)
def _multi_margin_loss(
    xp: Any,
    self: Array,
    target: Array,
    p: Any = 1,
    margin: Any = 1,
    weight: Array | None = None,
    reduction: int = MEAN,
) -> Array:
    if p not in (1, 2):
        raise ValueError("only p == 1 and p == 2 supported")
    x = _rows(self)
    rows, classes = x.shape
    if weight is not None and weight.ndim != 1 and weight.size:
        raise ValueError("weight must be one-dimensional")
    if weight is not None and not size_guards.equal(weight.size, classes):
        raise RuntimeError(f"inconsistent weight size, expected {classes} but got {list(weight.shape)}")
    if target.ndim > 1 or not size_guards.equal(target.size, rows):
        raise RuntimeError(
            "multi_margin_loss: target tensor should be 1-D with size equal to the number of input samples "
            f"(batch size). Expected target size [{rows}], but got {list(target.shape)}. Input has shape "
            f"{list(self.shape)}."
        )
    if self.dtype not in (common.FLOAT, common.DOUBLE):
        common.raise_unsupported_dtype("multi_margin_loss_cpu_kernel", self.dtype)
    if target.dtype != common.INT64:
        raise RuntimeError(f"expected scalar type Long but found {common.NAME_OF[target.dtype]}")
    bounds = common.index_bounds(xp, target, 0, classes)
    if bounds is not None and (bounds[0] < 0 or bounds[1] >= classes):
        raise RuntimeError("target out of range")
    target_column = target.reshape(rows, 1)
    gap = xp.maximum(margin - xp.take_along_axis(x, target_column, 1) + x, 0)
    gap = gap if p == 1 else gap * gap
    gap = gap if weight is None else gap * weight[target_column]
    gap = xp.where(xp.arange(classes) == target_column, 0, gap)
    loss = common.cast(xp, xp.sum(gap, axis=1) / classes, self.dtype)
    return reduce_loss(xp, loss.reshape(target.shape) if reduction == NONE else loss, reduction)


def _multilabel_margin(xp: Any, self: Array, target: Array, reduction: int) -> tuple[Array, Array]:
    """Return the loss and a mask of the target classes.

    A row of `target` lists its classes and ends with -1.
    """
    x = _rows(self)
    if not size_guards.equal_shapes(target.shape, self.shape):
        raise RuntimeError(
            f"inconsistent target size: {list(target.shape)} for input of size: {list(self.shape)}"
        )
    bounds = common.extremes(xp, target)
    if bounds is not None and (bounds[0] < -1 or bounds[1] >= x.shape[1]):
        raise RuntimeError("argument #2 'target' is out of range")
    if self.dtype not in (common.FLOAT, common.DOUBLE):
        common.raise_unsupported_dtype("multilabel_margin_loss_forward_out_frame", self.dtype)
    if target.dtype != common.INT64:
        raise RuntimeError(f"expected scalar type Long but found {common.NAME_OF[target.dtype]}")
    labels = target.reshape(x.shape)
    listed = xp.cumsum(labels < 0, axis=1) == 0
    index = xp.where(listed, labels, 0)
    counts = common.extremes(xp, xp.sum(listed, axis=1))
    classes = xp.arange(x.shape[1])
    columns = [(index[:, k, None], listed[:, k, None]) for k in range(counts[1] if counts else 0)]
    holds = xp.zeros(x.shape, dtype=common.BOOL)
    for label, real in cost_model.steps(columns):
        holds |= real & (label == classes)
    total = xp.zeros(x.shape, dtype=x.dtype)
    # The loss is a sum over pairs (target class, other class). Iteration i adds the pairs with target class i
    # of each row.
    for label, real in cost_model.steps(columns):
        total += xp.where(real, xp.maximum(1 - xp.take_along_axis(x, label, 1) + x, 0), 0)
    total = xp.sum(xp.where(holds, 0, total), axis=1)
    loss = common.cast(xp, total / x.shape[1], self.dtype)
    loss = loss if self.ndim == 2 else loss[0]
    return reduce_loss(xp, loss, reduction), holds.astype(self.dtype).reshape(self.shape)


@op(
    "aten::multilabel_margin_loss(Tensor self, Tensor target, int reduction=1) -> Tensor",
    out="out",
    where="f",
    out_dtype_error=SCALAR,
    autocast="float32",
)
def _multilabel_margin_loss(xp: Any, self: Array, target: Array, reduction: int = MEAN) -> Array:
    return _multilabel_margin(xp, self, target, reduction)[0]


@op(
    "aten::multilabel_margin_loss_forward(Tensor self, Tensor target, int reduction) -> (Tensor output, "
    "Tensor is_target)",
    out="output",
    out_unnamed=True,
    where="",
    autocast={"cpu": "float32"},
)
def _multilabel_margin_loss_forward(
    xp: Any, self: Array, target: Array, reduction: int
) -> tuple[Array, Array]:
    return _multilabel_margin(xp, self, target, reduction)
