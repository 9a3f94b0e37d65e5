"""Scaled dot-product attention.

In: query (..., L, E), key (..., S, E), value (..., S, V), a mask or causality; out: (..., L, V).
"""

from __future__ import annotations

import math
from typing import Any

from ts.ops import rules
from ts.ops.dropout import dropped
from ts.ops.registry import op

Array = rules.Array


@op(
    "aten::scaled_dot_product_attention(Tensor query, Tensor key, Tensor value, Tensor? attn_mask=None, "
    "float dropout_p=0., bool is_causal=False, *, float? scale=None, bool enable_gqa=False) -> Tensor",
    where="f",
    nondeterministic=True,
)
def _scaled_dot_product_attention(
    xp: Any,
    query: Array,
    key: Array,
    value: Array,
    attn_mask: Array | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Array:
    if not query.dtype == key.dtype == value.dtype:
        raise RuntimeError("Expected query, key, and value to have the same dtype")
    if min(query.ndim, key.ndim, value.ndim) < 2:
        raise RuntimeError("Expected query, key, and value to all be at least 2 dimensional")
    if is_causal and attn_mask is not None:
        raise RuntimeError(
            "_scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True"
        )
    wide = rules.opmath(query.dtype)
    q, k, v = (rules.cast(xp, x, wide) for x in (query, key, value))
    if enable_gqa:
        k, v = (xp.repeat(x, q.shape[-3] // x.shape[-3], axis=-3) for x in (k, v))
    factor = 1 / math.sqrt(q.shape[-1]) if scale is None else scale
    scores = xp.matmul(q, k.swapaxes(-1, -2)) * wide.type(factor)
    if is_causal:
        attn_mask = xp.tril(xp.ones(scores.shape[-2:], dtype=rules.BOOL))
    if attn_mask is not None and attn_mask.dtype == rules.BOOL:
        scores = xp.where(attn_mask, scores, -math.inf)
    elif attn_mask is not None:
        scores = scores + attn_mask
    peak = xp.max(scores, axis=-1, keepdims=True) if scores.size else 0
    # A row whose scores are all -inf attends to nothing: its weights are 0, not NaN.
    weight = xp.exp(scores - xp.where(peak == -math.inf, 0, peak))
    total = xp.sum(weight, axis=-1, keepdims=True)
    weight = weight / xp.where(total == 0, 1, total)
    if dropout_p > 0:
        weight = dropped(xp, weight, dropout_p, True)
    return rules.cast(xp, xp.matmul(weight, v), query.dtype)
