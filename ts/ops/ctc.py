"""CTC loss (connectionist temporal classification) by the forward-backward algorithm in log space.

CTC is the loss of a sequence of labels without alignment. Input: log probabilities (T, N, C) or (T, C),
targets (N, S) or concatenated, and their lengths. Output: the negative log likelihood of each sequence, or
the reduced loss.

The algorithm inserts a blank before, between and after the labels, which gives 2 S + 1 states. The array
`alpha` contains log probabilities. `alpha[s]` is that of all paths that are in state s after a time step. It
is computed from `alpha[s]` and `alpha[s - 1]` of the previous time step. If state s - 1 is a blank between
different labels, `alpha[s - 2]` is also used.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ts.ops import common, cost_model
from ts.ops.loss import MEAN, NONE
from ts.ops.out_variants import COPIED_OUT
from ts.ops.registry import op, shared_fields
from ts.ops.shape_functions import ShapeAndDtype, depends, like

Array = common.Array
Lengths = Sequence[int]

_WHERE = "(while checking arguments for ctc_loss_allocate_outputs)"


def _check_lengths(name: str, lengths: Lengths, batch: int, limit: int | None) -> None:
    if len(lengths) != batch:
        raise RuntimeError(f"{name} must be of size batch_size")
    for n in lengths:
        if n < 0:
            raise RuntimeError(f"Expected {name} to have value at least 0, but got value {n} {_WHERE}")
        if limit is not None and n > limit:
            raise RuntimeError(f"Expected {name} to have value at most {limit}, but got value {n} {_WHERE}")


def _padded(xp: Any, targets: Array, lengths: Lengths, blank: int) -> Array:
    """Return `targets`, which are concatenated or padded, as rows (N, maximum length) padded with `blank`."""
    longest, batch = max(lengths, default=0), len(lengths)
    position = np.arange(longest)
    real = position < np.asarray(lengths, dtype=np.int64)[:, None]
    if targets.ndim == 1:
        if targets.shape[0] != sum(lengths):
            raise RuntimeError(
                f"Expected tensor to have size {sum(lengths)} at dimension 0, but got size "
                f"{targets.shape[0]} for argument #2 'targets' {_WHERE}"
            )
        starts = np.cumsum([0, *lengths[:-1]]) if batch else np.zeros(0, np.int64)
        index = np.where(real, starts[:, None] + position, 0)
        rows = targets[xp.asarray(index)] if targets.size else xp.zeros((batch, longest), common.INT64)
    else:
        if targets.shape[0] != batch:
            raise RuntimeError(
                f"Expected tensor to have size {batch} at dimension 0, but got size {targets.shape[0]} for "
                f"argument #2 'targets' {_WHERE}"
            )
        if targets.shape[1] < longest:
            raise RuntimeError(
                f"Expected tensor to have size at least {longest} at dimension 1, but got size "
                f"{targets.shape[1]} for argument #2 'targets' {_WHERE}"
            )
        rows = targets[:, :longest]
    return xp.where(xp.asarray(real), rows.astype(common.INT64), blank)


def _log_add(xp: Any, *terms: Array) -> Array:
    """Return the logarithm of the sum of exp(term) over all `terms` (log-sum-exp).

    Where all terms are -inf, the result is -inf.
    """
    peak = terms[0]
    for term in terms[1:]:
        peak = xp.maximum(peak, term)
    base = xp.where(peak == -math.inf, 0, peak)
    return xp.log(sum(xp.exp(term - base) for term in terms)) + base


def _check_logs(log_probs: Array, targets: Array, blank: int) -> Array:
    """Return `log_probs` as (T, N, C). Raise RuntimeError for invalid shapes, dtype or `blank`."""
    if log_probs.ndim not in (2, 3):
        raise RuntimeError(
            f"Expected 3-dimensional tensor, but got {log_probs.ndim}-dimensional tensor for argument #1 "
            f"'log_probs' {_WHERE}"
        )
    logs = log_probs[:, None] if log_probs.ndim == 2 else log_probs
    if not logs.size:
        raise RuntimeError("log_probs tensor must not be empty")
    if logs.dtype not in (common.FLOAT, common.DOUBLE):
        common.raise_unsupported_dtype("ctc_loss_cpu", logs.dtype)
    if not 1 <= targets.ndim <= 2:
        raise RuntimeError(
            f"Expected 1 to 2 dimensions, but got {targets.ndim}-dimensional tensor for argument #2 "
            f"'targets' {_WHERE}"
        )
    if not 0 <= blank < logs.shape[2]:
        raise RuntimeError("blank must be in label range")
    return logs


def _states(
    xp: Any, logs: Array, targets: Array, input_lengths: Lengths, target_lengths: Lengths, blank: int
) -> tuple[Array, Array]:
    """Return two arrays of shape (N, 2 S + 1): the label of each state, and a mask.

    The mask is True for state s if a path can go from state s - 2 directly to state s.
    """
    steps, batch, labels = logs.shape
    _check_lengths("input_lengths", input_lengths, batch, steps)
    _check_lengths("target_lengths", target_lengths, batch, None)
    rows = _padded(xp, targets, target_lengths, blank)
    bounds = common.extremes(xp, rows)
    if bounds is not None and (bounds[0] < 0 or bounds[1] >= labels):
        raise RuntimeError(f"Expected targets to be labels below {labels}, but got {bounds[bounds[0] >= 0]}")
    width = 2 * rows.shape[1] + 1
    states = xp.full((batch, width), blank, dtype=common.INT64)
    states[:, 1::2] = rows
    skips = xp.zeros((batch, width), dtype=common.BOOL)
    skips[:, 2:] = (states[:, 2:] != blank) & (states[:, 2:] != states[:, :-2])
    return states, skips


def likelihood(
    xp: Any, log_probs: Array, targets: Array, input_lengths: Lengths, target_lengths: Lengths, blank: int
) -> tuple[Array, Array]:
    """Return the negative log likelihood of each sequence, and alpha (N, T, 2 S + 1)."""
    single = log_probs.ndim == 2
    logs = _check_logs(log_probs, targets, blank)
    states, skips = _states(xp, logs, targets, input_lengths, target_lengths, blank)
    steps, batch, _ = logs.shape
    width = states.shape[1]
    log_zero = logs.dtype.type(-math.inf)
    lengths = xp.asarray(np.asarray(input_lengths, dtype=np.int64).reshape(batch))
    alpha = xp.full((batch, steps, width), log_zero, dtype=logs.dtype)
    # row i: `alpha` of sequence i after its last time step, which differs between sequences
    last = xp.full((batch, width), log_zero, dtype=logs.dtype)
    log_alpha = last
    for t in cost_model.steps(range(steps)):
        emissions = xp.take_along_axis(logs[t], states, 1)
        if t == 0:
            log_alpha = xp.where(xp.arange(width) < 2, emissions, log_zero)
        else:
            from_previous, from_skipped = xp.full_like(log_alpha, log_zero), xp.full_like(log_alpha, log_zero)
            from_previous[:, 1:], from_skipped[:, 2:] = log_alpha[:, :-1], log_alpha[:, :-2]
            log_alpha = (
                _log_add(xp, log_alpha, from_previous, xp.where(skips, from_skipped, log_zero)) + emissions
            )
        alpha[:, t] = log_alpha
        last = xp.where((lengths == t + 1)[:, None], log_alpha, last)
    final = xp.asarray(2 * np.asarray(target_lengths, dtype=np.int64).reshape(batch, 1))
    blank_end = xp.take_along_axis(last, final, 1)[:, 0]
    label_end = xp.where(
        final[:, 0] > 0, xp.take_along_axis(last, xp.maximum(final - 1, 0), 1)[:, 0], log_zero
    )
    loss = -_log_add(xp, blank_end, label_end)
    loss = xp.where((lengths == 0) & (final[:, 0] == 0), xp.zeros((), loss.dtype), loss)
    return (loss[0], alpha[0]) if single else (loss, alpha)


def _loss_shape(
    log_probs: Array,
    targets: Array,
    input_lengths: Any,
    target_lengths: Any,
    blank: int = 0,
    reduction: int = MEAN,
    zero_infinity: bool = False,
) -> ShapeAndDtype:
    """Return shape and dtype of the reduced or per-sequence loss."""
    _check_logs(log_probs, targets, blank)
    one = reduction != NONE or log_probs.ndim == 2
    return () if one else (log_probs.shape[1],), log_probs.dtype


def _lengths_of(name: str, lengths: Any) -> Lengths:
    if not hasattr(lengths, "dtype"):
        return [int(n) for n in lengths]
    if lengths.dtype.kind not in "iu":
        raise RuntimeError(f"{name} must be integral")
    return [int(n) for n in lengths.reshape(-1).tolist()]


@op(
    "aten::ctc_loss.IntList(Tensor log_probs, Tensor targets, int[] input_lengths, int[] target_lengths, "
    "int blank=0, int reduction=1, bool zero_infinity=False) -> Tensor"
)
@op(
    "aten::ctc_loss.Tensor(Tensor log_probs, Tensor targets, Tensor input_lengths, Tensor target_lengths, "
    "int blank=0, int reduction=1, bool zero_infinity=False) -> Tensor"
)
@shared_fields(shape=_loss_shape, autocast={"cpu": "float32"})
def _ctc_loss(
    xp: Any,
    log_probs: Array,
    targets: Array,
    input_lengths: Any,
    target_lengths: Any,
    blank: int = 0,
    reduction: int = MEAN,
    zero_infinity: bool = False,
) -> Array:
    sizes = _lengths_of("target_lengths", target_lengths)
    loss, _ = likelihood(xp, log_probs, targets, _lengths_of("input_lengths", input_lengths), sizes, blank)
    if zero_infinity:
        loss = xp.where(loss == math.inf, xp.zeros((), loss.dtype), loss)
    if reduction == NONE:
        return loss
    if reduction == MEAN:
        count = xp.maximum(xp.asarray(np.asarray(sizes, dtype=np.int64)), 1).astype(loss.dtype)
        return xp.mean(loss / count)
    return xp.sum(loss)


@op(
    "aten::_ctc_loss(Tensor log_probs, Tensor targets, int[] input_lengths, int[] target_lengths, int "
    "blank=0, bool zero_infinity=False) -> (Tensor, Tensor)",
    out="out",
)
@op(
    "aten::_ctc_loss.Tensor(Tensor log_probs, Tensor targets, Tensor input_lengths, Tensor target_lengths, "
    "int blank=0, bool zero_infinity=False) -> (Tensor, Tensor)",
    out="Tensor_out",
    shape=depends("_ctc_loss.Tensor"),
)
def _ctc_likelihood(
    xp: Any,
    log_probs: Array,
    targets: Array,
    input_lengths: Any,
    target_lengths: Any,
    blank: int = 0,
    zero_infinity: bool = False,
) -> tuple[Array, Array]:
    lengths = _lengths_of("input_lengths", input_lengths)
    return likelihood(xp, log_probs, targets, lengths, _lengths_of("target_lengths", target_lengths), blank)


# ------------------------------------------------------------------------------------ gradients


def _gradient_shape(grad: Array, log_probs: Array, *_: Any) -> ShapeAndDtype:
    """Return shape and dtype of the log-probability gradient."""
    return like(log_probs)


_BACKWARD = "Tensor neg_log_likelihood, Tensor log_alpha, int blank, bool zero_infinity=False) -> Tensor"


@op(
    "aten::_ctc_loss_backward(Tensor grad, Tensor log_probs, Tensor targets, int[] input_lengths, "
    f"int[] target_lengths, {_BACKWARD}",
    **COPIED_OUT,
)
@op(
    "aten::_ctc_loss_backward.Tensor(Tensor grad, Tensor log_probs, Tensor targets, Tensor input_lengths, "
    f"Tensor target_lengths, {_BACKWARD}"
)
@shared_fields(
    shape=_gradient_shape,
    dtype_errors={"bihc": "ctc_loss_backward_cpu"},
    checked_dtype="log_probs neg_log_likelihood log_alpha grad",
)
def _ctc_loss_backward(
    xp: Any,
    grad: Array,
    log_probs: Array,
    targets: Array,
    input_lengths: Any,
    target_lengths: Any,
    neg_log_likelihood: Array,
    log_alpha: Array,
    blank: int,
    zero_infinity: bool = False,
) -> Array:
    """Return the gradient of the loss with respect to the scores from which log_softmax computed `log_probs`.

    For each time step and label, it is the probability of the label minus the posterior probability of the
    label.
    """
    logs = _check_logs(log_probs, targets, blank)
    input_sizes = _lengths_of("input_lengths", input_lengths)
    sizes = _lengths_of("target_lengths", target_lengths)
    states, skips = _states(xp, logs, targets, input_sizes, sizes, blank)
    steps, batch, labels = logs.shape
    alpha = log_alpha.reshape(batch, steps, -1)
    loss = neg_log_likelihood.reshape(batch, 1)
    if alpha.shape[2] != states.shape[1]:
        raise RuntimeError(f"Expected log_alpha of {states.shape[1]} states, but got {alpha.shape[2]}")
    lengths = xp.asarray(np.asarray(input_sizes, dtype=np.int64).reshape(batch, 1))
    last = xp.asarray(2 * np.asarray(sizes, dtype=np.int64).reshape(batch, 1))
    state = xp.arange(states.shape[1])
    is_final = (state == last) | (state == last - 1)
    names = (states[:, :, None] == xp.arange(labels)).astype(logs.dtype)
    log_zero = logs.dtype.type(-math.inf)
    # For each state: log probability of all parts of paths that begin in this state at the next time step
    beta = xp.full(states.shape, log_zero, dtype=logs.dtype)
    gradient = xp.zeros(logs.shape, dtype=logs.dtype)
    for t in cost_model.steps(range(steps - 1, -1, -1)):
        emissions = xp.take_along_axis(logs[t], states, 1)
        to_next, to_skipped = xp.full_like(beta, log_zero), xp.full_like(beta, log_zero)
        to_next[:, :-1] = beta[:, 1:]
        to_skipped[:, :-2] = xp.where(skips, beta, log_zero)[:, 2:]
        continuations = _log_add(xp, beta, to_next, to_skipped)
        continuations = xp.where(lengths == t + 1, xp.where(is_final, 0, log_zero), continuations)
        inside = xp.exp(alpha[:, t] + continuations + loss)
        occupancy = xp.matmul(inside[:, None], names)[:, 0]
        gradient[t] = xp.where(t < lengths, xp.exp(logs[t]) - occupancy, 0)
        beta = continuations + emissions
    each = grad.reshape(-1, 1)
    if zero_infinity:
        gradient = xp.where(loss == math.inf, 0, gradient)
    return common.cast(xp, gradient * each, log_probs.dtype).reshape(log_probs.shape)
