"""Rows of a table by index."""

from __future__ import annotations

import ts
from ts._core.tensor import Tensor


def embedding(
    input: Tensor,
    weight: Tensor,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Tensor:
    """Rows of `weight` by index; `max_norm` first shortens the rows that are longer, in place."""
    if padding_idx is not None:
        if padding_idx > 0:
            assert padding_idx < weight.size(0), "Padding_idx must be within num_embeddings"
        elif padding_idx < 0:
            assert padding_idx >= -weight.size(0), "Padding_idx must be within num_embeddings"
            padding_idx = weight.size(0) + padding_idx
    else:
        padding_idx = -1
    if max_norm is not None:
        input = input.contiguous()
        _shorten(weight, input, max_norm, norm_type)
    return ts.embedding(weight, input, padding_idx, scale_grad_by_freq, sparse)


def _shorten(weight: Tensor, input: Tensor, max_norm: float, norm_type: float) -> None:
    """Let no row that `input` names be longer than `max_norm`."""
    chosen = input.reshape(-1)
    rows = weight.detach().index_select(0, chosen)
    norms = rows.norm(norm_type, 1, keepdim=True)
    factors = ts.where(norms > max_norm, max_norm / (norms + 1e-7), ts.ones_like(norms))
    weight.detach().index_copy_(0, chosen, rows * factors)
