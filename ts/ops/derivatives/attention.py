"""Derivatives of attention by decomposition."""

from __future__ import annotations

import ts
from ts import Tensor
from ts.ops.derivatives.formula_registry import compose, constant


def _attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None,
    dropout_p: float,
    is_causal: bool,
    scale: float | None,
    enable_gqa: bool,
) -> Tensor:
    """Compute scaled dot-product attention. A query whose keys are all masked has weights 0."""
    if enable_gqa:
        key = key.repeat_interleave(query.size(-3) // key.size(-3), -3)
        value = value.repeat_interleave(query.size(-3) // value.size(-3), -3)
    factor = query.size(-1) ** -0.5 if scale is None else scale
    scores = query.matmul(key.transpose(-2, -1)) * factor
    if is_causal:
        causal_mask = ts.ones([query.size(-2), key.size(-2)], dtype=ts.bool, device=query.device).tril()
        return _weighted(scores.masked_fill(~causal_mask, float("-inf")), value, dropout_p)
    if attn_mask is None:
        return _weighted(scores, value, dropout_p)
    if attn_mask.dtype == ts.bool:
        scores = scores.masked_fill(~attn_mask, float("-inf"))
    else:
        scores = scores + attn_mask
    blind = (scores == float("-inf")).all(-1, True)
    weights = scores.masked_fill(blind, 0.0).softmax(-1).masked_fill(blind, 0.0)
    return (ts.dropout(weights, dropout_p, True) if dropout_p > 0 else weights).matmul(value)


def _weighted(scores: Tensor, value: Tensor, dropout_p: float) -> Tensor:
    weights = scores.softmax(-1)
    return (ts.dropout(weights, dropout_p, True) if dropout_p > 0 else weights).matmul(value)


compose(
    "aten::scaled_dot_product_attention",
    "_attention(query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa)",
)
constant(
    "aten::_transform_bias_rescale_qkv aten::_native_multi_head_attention "
    "aten::_transformer_encoder_layer_fwd",
    "it is the inference kernel of a layer, used without gradients",
)
