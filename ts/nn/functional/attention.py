"""Multi-head attention with attention masks and key padding masks (padding mask).

Each line shows a tensor and its shape. The batch dimension N may be absent:

    query                       (L, N, E)
    key                         (S, N, Ek)
    value                       (S, N, Ev)
    result                      (L, N, E)
    attention weights           (N, L, S)

A bool mask excludes the positions at which it is True. A float mask is added to the scores.
"""

from __future__ import annotations

import math
import warnings

import ts
from ts._core.tensor.tensor import Tensor


def additive_mask(
    mask: Tensor | None, name: str, other: Tensor | None, other_name: str, like: Tensor
) -> Tensor | None:
    """Convert a bool mask to floats that are added to the scores: -inf for True, 0 for False.

    Return a float mask unchanged. Warn if mask `other` has another dtype.
    """
    if mask is None:
        return None
    if mask.dtype != ts.bool and not mask.is_floating_point():
        raise AssertionError(f"only bool and floating types of {name} are supported")
    if other is not None:
        if mask.dtype != other.dtype:
            warnings.warn(
                f"Support for mismatched {name} and {other_name} is deprecated. Use same type for both "
                "instead.",
                stacklevel=3,
            )
    if mask.dtype == ts.bool:
        return ts.zeros_like(mask, dtype=like.dtype).masked_fill_(mask, -math.inf)
    return mask


def _mha_shape_check(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    key_padding_mask: Tensor | None,
    attn_mask: Tensor | None,
    num_heads: int,
) -> bool:
    """Return True for batched inputs. Raise AssertionError for wrong numbers of dimensions."""
    if query.dim() != 2 and query.dim() != 3:
        raise AssertionError(
            f"query should be unbatched 2D or batched 3D tensor but received {query.dim()}-D query tensor"
        )
    batched = query.dim() == 3
    if batched:
        prefix = "For batched (3-D)"
    else:
        prefix = "For unbatched (2-D)"
    n = query.dim()
    if key.dim() != n or value.dim() != n:
        raise AssertionError(
            f"{prefix} `query`, expected `key` and `value` to be {n}-D but found {key.dim()}-D and "
            f"{value.dim()}-D tensors respectively"
        )
    if key_padding_mask is not None:
        if key_padding_mask.dim() != n - 1:
            raise AssertionError(
                f"{prefix} `query`, expected `key_padding_mask` to be `None` or {n - 1}-D but found "
                f"{key_padding_mask.dim()}-D tensor instead"
            )
    if attn_mask is not None:
        if attn_mask.dim() != 2 and attn_mask.dim() != 3:
            raise AssertionError(
                f"{prefix} `query`, expected `attn_mask` to be `None`, 2-D or 3-D but found "
                f"{attn_mask.dim()}-D tensor instead"
            )
        if not batched and attn_mask.dim() == 3:
            expected_shape = (num_heads, query.size(0), key.size(0))
            mask_shape = (attn_mask.size(0), attn_mask.size(1), attn_mask.size(2))
            if mask_shape != expected_shape:
                raise AssertionError(
                    f"Expected `attn_mask` shape to be {expected_shape} but got {attn_mask.size()}"
                )
    return batched


def _unpack_projections(x: Tensor, count: int, width: int) -> Tensor:
    """Reshape (..., count * width) to a contiguous tensor (count, ..., width)."""
    return x.unflatten(-1, [count, width]).unsqueeze(0).transpose(0, -2).squeeze(-2).contiguous()


def _project_packed(
    query: Tensor, key: Tensor, value: Tensor, weight: Tensor, bias: Tensor | None
) -> tuple[Tensor, Tensor, Tensor]:
    """Project query, key and value by one matrix `weight`, which contains the weights of all three.

    If query, key and value are the same tensor, one matrix product computes all three.
    """
    width = query.size(-1)
    if key is value:
        if query is key:
            projections = _unpack_projections(ts.nn.functional.linear(query, weight, bias), 3, width)
            return projections[0], projections[1], projections[2]
        q_weight, kv_weight = weight.split([width, width * 2])
        if bias is None:
            q = ts.nn.functional.linear(query, q_weight)
            both = ts.nn.functional.linear(key, kv_weight)
        else:
            q_bias, kv_bias = bias.split([width, width * 2])
            q = ts.nn.functional.linear(query, q_weight, q_bias)
            both = ts.nn.functional.linear(key, kv_weight, kv_bias)
        projections = _unpack_projections(both, 2, width)
        return q, projections[0], projections[1]
    weights = ts.chunk(weight, 3, 0)
    if bias is None:
        q = ts.nn.functional.linear(query, weights[0])
        k = ts.nn.functional.linear(key, weights[1])
        v = ts.nn.functional.linear(value, weights[2])
    else:
        biases = ts.chunk(bias, 3, 0)
        q = ts.nn.functional.linear(query, weights[0], biases[0])
        k = ts.nn.functional.linear(key, weights[1], biases[1])
        v = ts.nn.functional.linear(value, weights[2], biases[2])
    return q, k, v


def _project_separately(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    q_weight: Tensor,
    k_weight: Tensor,
    v_weight: Tensor,
    bias: Tensor | None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Project query, key and value by separate weights."""
    if bias is None:
        q = ts.nn.functional.linear(query, q_weight)
        k = ts.nn.functional.linear(key, k_weight)
        v = ts.nn.functional.linear(value, v_weight)
    else:
        biases = ts.chunk(bias, 3, 0)
        q = ts.nn.functional.linear(query, q_weight, biases[0])
        k = ts.nn.functional.linear(key, k_weight, biases[1])
        v = ts.nn.functional.linear(value, v_weight, biases[2])
    return q, k, v


def _split_heads(x: Tensor, rows: int, head_dim: int) -> Tensor:
    """Reshape (L, N, E) to (N * heads, L, E / heads), where `rows` is N * heads."""
    return x.view(x.size(0), rows, head_dim).transpose(0, 1)


def _check_static(static: Tensor, name: str, rows: int, head_dim: int) -> Tensor:
    """Return `static`, a key or value that the caller has already split into heads, after a shape check."""
    if static.size(0) != rows:
        raise AssertionError(f"expecting {name}.size(0) of {rows}, but got {static.size(0)}")
    if static.size(2) != head_dim:
        raise AssertionError(f"expecting {name}.size(2) of {head_dim}, but got {static.size(2)}")
    return static


def _append_mask_column(mask: Tensor | None) -> Tensor | None:
    """Append a column of zeros to a mask, for an additional key to which all rows attend."""
    if mask is None:
        return None
    return ts.constant_pad_nd(mask, [0, 1])


def multi_head_attention_forward(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    embed_dim_to_check: int,
    num_heads: int,
    in_proj_weight: Tensor | None,
    in_proj_bias: Tensor | None,
    bias_k: Tensor | None,
    bias_v: Tensor | None,
    add_zero_attn: bool,
    dropout_p: float,
    out_proj_weight: Tensor,
    out_proj_bias: Tensor | None,
    training: bool = True,
    key_padding_mask: Tensor | None = None,
    need_weights: bool = True,
    attn_mask: Tensor | None = None,
    use_separate_proj_weight: bool = False,
    q_proj_weight: Tensor | None = None,
    k_proj_weight: Tensor | None = None,
    v_proj_weight: Tensor | None = None,
    static_k: Tensor | None = None,
    static_v: Tensor | None = None,
    average_attn_weights: bool = True,
    is_causal: bool = False,
) -> tuple[Tensor, Tensor | None]:
    """Return the result of multi-head attention, and the attention weights (None without `need_weights`)."""
    batched = _mha_shape_check(query, key, value, key_padding_mask, attn_mask, num_heads)
    if is_causal and attn_mask is None:
        raise RuntimeError(
            "Need attn_mask if specifying the is_causal hint. You may use the Transformer module method "
            "`generate_square_subsequent_mask` to create this mask."
        )
    padding = additive_mask(key_padding_mask, "key_padding_mask", attn_mask, "attn_mask", query)
    hint = is_causal and padding is None and not need_weights
    if hint:
        mask = ts.jit.annotate(Tensor | None, None)
    else:
        mask = additive_mask(attn_mask, "attn_mask", None, "", query)
    if not batched:
        same = query is key and key is value
        query = query.unsqueeze(1)
        if same:
            key, value = query, query
        else:
            key, value = key.unsqueeze(1), value.unsqueeze(1)
        if padding is not None:
            padding = padding.unsqueeze(0)
    target_len, batch, embed_dim = query.size(0), query.size(1), query.size(2)
    if embed_dim != embed_dim_to_check:
        raise AssertionError(
            f"was expecting embedding dimension of {embed_dim_to_check}, but got {embed_dim}"
        )
    head_dim = embed_dim_to_check // num_heads
    if head_dim * num_heads != embed_dim_to_check:
        raise AssertionError(f"embed_dim {embed_dim} not divisible by num_heads {num_heads}")
    if use_separate_proj_weight:
        if key.size()[:2] != value.size()[:2]:
            raise AssertionError(
                f"key's sequence and batch dims {key.size()[:2]} do not match value's {value.size()[:2]}"
            )
        assert q_proj_weight is not None, "use_separate_proj_weight is True but q_proj_weight is None"
        assert k_proj_weight is not None, "use_separate_proj_weight is True but k_proj_weight is None"
        assert v_proj_weight is not None, "use_separate_proj_weight is True but v_proj_weight is None"
        q, k, v = _project_separately(
            query, key, value, q_proj_weight, k_proj_weight, v_proj_weight, in_proj_bias
        )
    else:
        if key.size() != value.size():
            raise AssertionError(f"key shape {key.size()} does not match value shape {value.size()}")
        assert in_proj_weight is not None, "use_separate_proj_weight is False but in_proj_weight is None"
        q, k, v = _project_packed(query, key, value, in_proj_weight, in_proj_bias)

    shared = padding is None
    if mask is not None:
        shared = shared and mask.dim() == 2
        if mask.dim() == 2:
            if mask.size(0) != target_len or mask.size(1) != key.size(0):
                raise RuntimeError(
                    f"The shape of the 2D attn_mask is {mask.size()}, but should be "
                    f"{(target_len, key.size(0))}."
                )
            mask = mask.unsqueeze(0)
        elif mask.size(0) != batch * num_heads or mask.size(1) != target_len or mask.size(2) != key.size(0):
            raise RuntimeError(
                f"The shape of the 3D attn_mask is {mask.size()}, but should be "
                f"{(batch * num_heads, target_len, key.size(0))}."
            )
    if bias_k is not None and bias_v is not None:
        assert static_k is None, "bias cannot be added to static key."
        assert static_v is None, "bias cannot be added to static value."
        k = ts.cat([k, bias_k.repeat(1, batch, 1)])
        v = ts.cat([v, bias_v.repeat(1, batch, 1)])
        mask, padding = _append_mask_column(mask), _append_mask_column(padding)
    rows = batch * num_heads
    q = _split_heads(q, rows, head_dim)
    if static_k is None:
        k = _split_heads(k, rows, head_dim)
    else:
        k = _check_static(static_k, "static_k", rows, head_dim)
    if static_v is None:
        v = _split_heads(v, rows, head_dim)
    else:
        v = _check_static(static_v, "static_v", rows, head_dim)
    if add_zero_attn:
        k = ts.cat([k, ts.zeros([rows, 1, head_dim], dtype=k.dtype, device=k.device)], 1)
        v = ts.cat([v, ts.zeros([rows, 1, head_dim], dtype=v.dtype, device=v.device)], 1)
        mask, padding = _append_mask_column(mask), _append_mask_column(padding)
    source_len = k.size(1)
    if padding is not None:
        if padding.size(0) != batch:
            raise AssertionError(
                f"Expected key_padded_mask.shape[0] to be {batch}, but got {padding.size(0)}"
            )
        if padding.size(1) != source_len:
            raise AssertionError(
                f"Expected key_padded_mask.shape[1] to be {source_len}, but got {padding.size(1)}"
            )
        by_row = padding.view(batch, 1, 1, source_len).expand(-1, num_heads, -1, -1)
        by_row = by_row.reshape(rows, 1, source_len)
        if mask is None:
            mask = by_row
        else:
            mask = mask + by_row
    dropped = 0.0
    if training:
        dropped = dropout_p
    if need_weights:
        q = q * math.sqrt(1.0 / float(head_dim))
        if mask is None:
            scores = ts.bmm(q, k.transpose(-2, -1))
        else:
            scores = ts.baddbmm(mask, q, k.transpose(-2, -1))
        weights = ts.softmax(scores, -1)
        if dropped > 0.0:
            weights = ts.dropout(weights, dropped, True)
        result = ts.bmm(weights, v).transpose(0, 1).reshape(target_len * batch, embed_dim)
        result = ts.nn.functional.linear(result, out_proj_weight, out_proj_bias)
        result = result.view(target_len, batch, result.size(1))
        weights = weights.view(batch, num_heads, target_len, source_len)
        if average_attn_weights:
            weights = weights.mean(1)
        if not batched:
            result, weights = result.squeeze(1), weights.squeeze(0)
        return result, weights
    if mask is not None:
        if shared:
            mask = mask.unsqueeze(0)
        else:
            mask = mask.view(batch, num_heads, mask.size(1), source_len)
    result = ts.scaled_dot_product_attention(
        q.view(batch, num_heads, target_len, head_dim),
        k.view(batch, num_heads, source_len, head_dim),
        v.view(batch, num_heads, source_len, head_dim),
        mask,
        dropped,
        hint,
    )
    result = result.permute(2, 0, 1, 3).reshape(target_len * batch, embed_dim)
    result = ts.nn.functional.linear(result, out_proj_weight, out_proj_bias)
    result = result.view(target_len, batch, result.size(1))
    if not batched:
        result = result.squeeze(1)
    return result, None


def _none_or_dtype(input: Tensor | None) -> ts.dtype | None:
    """Return the dtype of a mask. For None, return None. Raise RuntimeError for other objects."""
    if input is None:
        return None
    if isinstance(input, Tensor):
        return input.dtype
    raise RuntimeError("input to _none_or_dtype() must be None or torch.Tensor")


def _canonical_mask(
    mask: Tensor | None,
    mask_name: str,
    other_type: ts.dtype | None,
    other_name: str,
    target_type: ts.dtype,
    check_other: bool = True,
) -> Tensor | None:
    """Convert a bool mask to floats of dtype `target_type`, which are added to the scores.

    Return a float mask unchanged. Warn if the dtype of the mask differs from `other_type`, the dtype of
    another mask.
    """
    if mask is None:
        return None
    if mask.dtype != ts.bool and not mask.is_floating_point():
        raise AssertionError(f"only bool and floating types of {mask_name} are supported")
    if check_other and other_type is not None and mask.dtype != other_type:
        warnings.warn(
            f"Support for mismatched {mask_name} and {other_name} is deprecated. Use same type for both "
            "instead.",
            stacklevel=3,
        )
    if mask.dtype == ts.bool:
        return ts.zeros_like(mask, dtype=target_type).masked_fill_(mask, -math.inf)
    return mask
