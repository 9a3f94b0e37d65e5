"""Derivatives of sequence packing and padding: each gradient moves to the original position."""

from __future__ import annotations

import ts
from ts import Tensor
from ts.ops.derivatives.formula_registry import LINEAR, derive


def pack_rows(padded: Tensor, batch_sizes: Tensor, batch_first: bool) -> Tensor:
    """Return the rows of padded sequences in packed order. Time step t has `batch_sizes[t]` rows."""
    rows = padded.transpose(0, 1) if batch_first else padded
    batch = ts.arange(rows.size(1), device=batch_sizes.device)
    return rows.narrow(0, 0, batch_sizes.size(0))[batch < batch_sizes.unsqueeze(1)]


def split_padded(padded: Tensor, like: list[Tensor], batch_first: bool, side: str) -> list[Tensor]:
    """Split padded sequences into one tensor for each sequence, and remove the padding.

    The padding is on `side`, "left" or "right". The tensors in `like` have the lengths of the sequences.
    """
    rows = padded if batch_first else padded.transpose(0, 1)
    gradients: list[Tensor] = []
    for i, x in enumerate(like):
        start = rows.size(1) - x.size(0) if side == "left" else 0
        gradients.append(rows.select(0, i).narrow(0, start, x.size(0)))
    return gradients


derive(
    "aten::_pack_padded_sequence",
    input="ts._pack_padded_sequence_backward(grad, input.size(), result1, batch_first)",
    differentiable="result0",
)
derive(
    "aten::_pack_padded_sequence_backward", grad_="pack_rows(grad, batch_sizes, batch_first)", result=LINEAR
)
derive(
    "aten::_pad_packed_sequence", data="pack_rows(grad, batch_sizes, batch_first)", differentiable="result0"
)
derive("aten::pad_sequence", sequences="split_padded(grad, sequences, batch_first, padding_side)")
