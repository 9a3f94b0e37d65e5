"""Derivatives of connectionist temporal classification, by the operator `aten::_ctc_loss_backward`."""

from __future__ import annotations

import ts
from ts import Tensor
from ts.ops.derivatives.formula_registry import compose, derive
from ts.ops.derivatives.loss import MEAN, SUM

_HOW = "log_probs, targets, input_lengths, target_lengths"
for _overload in ("", ".Tensor"):
    derive(
        f"aten::_ctc_loss{_overload}", differentiable="result0", name="CtcLossBackward0",
        log_probs=f"ts._ctc_loss_backward(grad, {_HOW}, result0, result1, blank, zero_infinity)",
    )  # fmt: skip


def _reduced(loss: Tensor, lengths: Tensor, reduction: int, zero_infinity: bool) -> Tensor:
    """Reduce CTC losses. Before "mean" averages them, each loss is divided by its target length."""
    if zero_infinity:
        loss = ts.where(loss == float("inf"), 0, loss)
    if reduction == MEAN:
        return (loss / lengths.clamp(min=1).to(loss.dtype)).mean()
    return loss.sum() if reduction == SUM else loss


_LOSS = f"ts._ctc_loss({_HOW}, blank, zero_infinity)[0]"
compose(
    "aten::ctc_loss.IntList",
    f"_reduced({_LOSS}, ts.tensor(target_lengths, device=log_probs.device), reduction, zero_infinity)",
)
compose(
    "aten::ctc_loss.Tensor",
    f"_reduced({_LOSS}, target_lengths.to(log_probs.device), reduction, zero_infinity)",
)
