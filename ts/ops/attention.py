"""Scaled dot-product attention (multi-head, causal, masked, grouped-query attention).

Input: query (..., L, E), key (..., S, E), value (..., S, V), and a mask or flag. Output: an array (..., L,
V).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ts._core.tensor import size_guards
from ts.ops import common
from ts.ops.activation import gelu, softmax_kernel
from ts.ops.dropout import apply_dropout
from ts.ops.normalization import layer_norm
from ts.ops.out_variants import COPIED_OUT
from ts.ops.registry import op

Array = common.Array
Weigh = Callable[[Any, Array, Any, float], Array]  # (xp, scores, mask, dropout_p) -> attention weights


def _check_sizes(query: Array, key: Array, value: Array) -> None:
    """Raise the RuntimeError of `bmm` if the sizes of query, key and value do not match."""
    common.broadcast_shapes(query.shape[:-2], key.shape[:-2], value.shape[:-2])
    for left, right in ((query.shape[-1], key.shape[-1]), (key.shape[-2], value.shape[-2])):
        if not size_guards.equal(left, right):
            batch = size_guards.product(query.shape[:-2])
            raise RuntimeError(
                f"Expected size for first two dimensions of batch2 tensor to be: [{batch}, {left}] but got: "
                f"[{batch}, {right}]."
            )


def _attend(
    xp: Any,
    query: Array,
    key: Array,
    value: Array,
    mask: Array | None,
    is_causal: bool,
    dropout_p: float,
    factor: float,
    weigh: Weigh,
) -> Array:
    """Compute attention with one matrix of all scores."""
    wide = common.opmath(query.dtype)
    q, k, v = (common.cast(xp, x, wide) for x in (query, key, value))
    scores = xp.products(q, k.swapaxes(-1, -2))
    scores *= wide.type(factor)
    if is_causal:
        mask = xp.tril(xp.ones(scores.shape[-2:], dtype=common.BOOL))
    return common.cast(xp, xp.products(weigh(xp, scores, mask, dropout_p), v), query.dtype)


def attention_weights(xp: Any, scores: Array, mask: Array | None, dropout_p: float) -> Array:
    """Return the weights for scores, which are overwritten. The weights of a query without keys are 0."""
    if mask is not None and mask.dtype == common.BOOL:
        scores = xp.where(mask, scores, -math.inf)
    elif mask is not None:
        scores = scores + mask
    peak = scores.max(axis=-1, keepdims=True) if scores.size else 0
    if mask is not None:  # if all keys of a query are masked, its weights become 0 instead of NaN
        peak = xp.where(peak == -math.inf, 0, peak)
    scores -= peak
    xp.exp(scores, out=scores)
    total = scores.sum(axis=-1, keepdims=True)
    scores /= total if mask is None else xp.where(total == 0, 1, total)
    return apply_dropout(xp, scores, dropout_p, True) if dropout_p > 0 else scores


@op(
    "aten::scaled_dot_product_attention(Tensor query, Tensor key, Tensor value, Tensor? attn_mask=None, "
    "float dropout_p=0., bool is_causal=False, *, float? scale=None, bool enable_gqa=False) -> Tensor",
    nondeterministic=True,
    layout="like_query",
    dtype_errors={"c": "softmax_lastdim_kernel_impl"},
    autocast="lower",
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
    *,
    attend: Callable[..., Array] = _attend,
) -> Array:
    """Compute attention, or grouped-query attention with repeated keys and values if `enable_gqa` is True."""
    if not query.dtype == key.dtype == value.dtype:
        names = [common.CPP_NAME_OF[x.dtype] for x in (query, key, value)]
        raise RuntimeError(
            f"Expected query, key, and value to have the same dtype, but got query.dtype: {names[0]} "
            f"key.dtype: {names[1]} and value.dtype: {names[2]} instead."
        )
    if min(query.ndim, key.ndim, value.ndim) < 2:
        raise RuntimeError("Expected query, key, and value to all be at least 2 dimensional")
    if is_causal and attn_mask is not None:
        raise RuntimeError(
            "_scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True"
        )
    if common.CATEGORY_OF[query.dtype] != common.FLOATING:
        raise RuntimeError(f"expected scalar type Float but found {common.NAME_OF[query.dtype]}")
    if enable_gqa:
        key, value = (xp.repeat(x, query.shape[-3] // x.shape[-3], axis=-3) for x in (key, value))
    _check_sizes(query, key, value)
    factor = 1.0
    if not xp.shapes_only:
        # Without features, all scores are 0, so the factor has no effect.
        factor = 1 / math.sqrt(max(query.shape[-1], 1)) if scale is None else scale
    return attend(xp, query, key, value, attn_mask, is_causal, dropout_p, factor, attention_weights)


@op(
    "aten::_transform_bias_rescale_qkv(Tensor qkv, Tensor qkv_bias, int num_heads) -> (Tensor, Tensor, "
    "Tensor)",
    layout=("contiguous", "contiguous", "contiguous"),
    **COPIED_OUT,
)
def _rescaled_heads(xp: Any, qkv: Array, qkv_bias: Array, num_heads: int) -> tuple[Array, ...]:
    """Add `qkv_bias` to `qkv`, and return queries, keys and values of shape (N, heads, L, head size).

    The queries are divided by the square root of the head size.
    """
    batch, length, three = qkv.shape
    width = three // 3
    if num_heads <= 0 or width % num_heads:
        raise RuntimeError(f"Expected a width that is divisible by {num_heads} heads, but got {width}")
    if common.CATEGORY_OF[qkv.dtype] != common.FLOATING:
        common.raise_unsupported_dtype("transform_bias_rescale_qkv", qkv.dtype)
    wide = common.opmath(qkv.dtype)
    biased = common.cast(xp, qkv, wide) + common.cast(xp, qkv_bias, wide)
    projections = biased.reshape(batch, length, 3, num_heads, width // num_heads).transpose(2, 0, 3, 1, 4)
    query = projections[0] / wide.type(math.sqrt(width // num_heads))
    return tuple(common.cast(xp, x, qkv.dtype) for x in (query, projections[1], projections[2]))


# ------------------------------------------------------------------------------------- fused attention layers
#
# PyTorch's attention layers call these operators if no gradients are recorded. Therefore, archives of
# transformers contain calls of them.

SOURCE_MASK, PADDING_MASK, FULL_MASK = 0, 1, 2


def _linear(xp: Any, x: Array, weight: Array, bias: Array) -> Array:
    return common.cast(xp, xp.matmul(x, weight.swapaxes(0, 1)) + bias, x.dtype)


def _hidden(xp: Any, mask: Array, kind: int | None, scores: tuple[int, ...]) -> Array:
    """Convert a mask of the kind `kind` to bool (True: excluded), in a shape that broadcasts to `scores`."""
    n, _, rows, columns = scores
    hidden = mask if mask.dtype == common.BOOL else mask != 0
    shapes: dict[int | None, tuple[tuple[int, ...], tuple[int, ...]]] = {
        SOURCE_MASK: ((rows, columns), (1, 1, rows, columns)),
        PADDING_MASK: ((n, columns), (n, 1, 1, columns)),
        FULL_MASK: (scores, scores),
    }
    if kind not in shapes:
        raise RuntimeError("Mask Type should be defined")
    expected_shape, full = shapes[kind]
    if not size_guards.equal_shapes(mask.shape, expected_shape):
        raise RuntimeError(f"Mask should have the shape {list(expected_shape)}, but has {list(mask.shape)}")
    return hidden.reshape(full)


@op(
    "aten::_native_multi_head_attention(Tensor query, Tensor key, Tensor value, int embed_dim, int num_head, "
    "Tensor qkv_weight, Tensor qkv_bias, Tensor proj_weight, Tensor proj_bias, Tensor? mask=None, bool "
    "need_weights=True, bool average_attn_weights=True, int? mask_type=None) -> (Tensor, Tensor)",
    out="out",
    autocast={"cpu": "lower"},
)
def _native_multi_head_attention(
    xp: Any,
    query: Array,
    key: Array,
    value: Array,
    embed_dim: int,
    num_head: int,
    qkv_weight: Array,
    qkv_bias: Array,
    proj_weight: Array,
    proj_bias: Array,
    mask: Array | None = None,
    need_weights: bool = True,
    average_attn_weights: bool = True,
    mask_type: int | None = None,
) -> tuple[Array, Array]:
    if query.ndim != 3:
        raise RuntimeError(f"expected 3-D `query`, got {query.ndim}-D tensor")
    if not size_guards.equal(query.shape[2], embed_dim):
        raise RuntimeError(f"passed-in embed_dim {embed_dim} didn't match last dim of query {query.shape[2]}")
    if num_head <= 0 or embed_dim % num_head:
        raise RuntimeError("`embed_dim` must divide evenly by `num_heads`")
    qkv_width = 3 * embed_dim
    if not (
        size_guards.equal_shapes(qkv_weight.shape, (qkv_width, embed_dim))
        and size_guards.equal_shapes(qkv_bias.shape, (qkv_width,))
    ):
        raise RuntimeError("expected `qkv_weight` first dim to be 3x embed_dim")
    n, width = query.shape[0], embed_dim // num_head
    projections = []
    for k, x in enumerate((query, key, value)):
        rows = slice(k * embed_dim, (k + 1) * embed_dim)
        projection = _linear(xp, x, qkv_weight[rows], qkv_bias[rows])
        projections.append(projection.reshape(n, x.shape[1], num_head, width).swapaxes(1, 2))
    q, k, v = (common.cast(xp, projection, common.opmath(query.dtype)) for projection in projections)
    scores = xp.products(q * q.dtype.type(1 / math.sqrt(width)), k.swapaxes(-1, -2))
    if mask is not None:
        scores = xp.where(_hidden(xp, mask, mask_type, scores.shape), scores.dtype.type(-math.inf), scores)
    weights = softmax_kernel(xp, scores, -1, None, False)
    result = xp.products(weights, v).swapaxes(1, 2).reshape(n, query.shape[1], embed_dim)
    result = _linear(xp, common.cast(xp, result, query.dtype), proj_weight, proj_bias)
    if not need_weights:
        return result, xp.zeros(0, dtype=query.dtype)
    weights = xp.mean(weights, axis=1) if average_attn_weights else weights
    return result, common.cast(xp, weights, query.dtype)


@op(
    "aten::_transformer_encoder_layer_fwd(Tensor src, int embed_dim, int num_heads, Tensor qkv_weight, "
    "Tensor qkv_bias, Tensor proj_weight, Tensor proj_bias, bool use_gelu, bool norm_first, float eps, "
    "Tensor norm_weight_1, Tensor norm_bias_1, Tensor norm_weight_2, Tensor norm_bias_2, Tensor "
    "ffn_weight_1, Tensor ffn_bias_1, Tensor ffn_weight_2, Tensor ffn_bias_2, Tensor? mask=None, int? "
    "mask_type=None) -> Tensor",
    out="out",
    layout="contiguous",
)
def _transformer_encoder_layer(
    xp: Any,
    src: Array,
    embed_dim: int,
    num_heads: int,
    qkv_weight: Array,
    qkv_bias: Array,
    proj_weight: Array,
    proj_bias: Array,
    use_gelu: bool,
    norm_first: bool,
    eps: float,
    norm_weight_1: Array,
    norm_bias_1: Array,
    norm_weight_2: Array,
    norm_bias_2: Array,
    ffn_weight_1: Array,
    ffn_bias_1: Array,
    ffn_weight_2: Array,
    ffn_bias_2: Array,
    mask: Array | None = None,
    mask_type: int | None = None,
) -> Array:
    def attend(x: Array) -> Array:
        return _native_multi_head_attention(
            xp, x, x, x, embed_dim, num_heads, qkv_weight, qkv_bias, proj_weight, proj_bias, mask, False,
            mask_type=mask_type,
        )[0]  # fmt: skip

    def feed_forward(x: Array) -> Array:
        inner = _linear(xp, x, ffn_weight_1, ffn_bias_1)
        inner = gelu(xp, inner) if use_gelu else xp.maximum(inner, xp.zeros((), inner.dtype))
        return _linear(xp, inner, ffn_weight_2, ffn_bias_2)

    def normalise(x: Array, weight: Array, bias: Array) -> Array:
        return layer_norm(xp, x, [embed_dim], weight, bias, eps)

    x = src
    if norm_first:
        x = x + attend(normalise(x, norm_weight_1, norm_bias_1))
        return x + feed_forward(normalise(x, norm_weight_2, norm_bias_2))
    x = normalise(x + attend(x), norm_weight_1, norm_bias_1)
    return normalise(x + feed_forward(x), norm_weight_2, norm_bias_2)


@op("aten::_nested_tensor_from_mask_left_aligned(Tensor t, Tensor mask) -> bool")
def _could_be_nested(xp: Any, t: Array, mask: Array) -> bool:
    """Return False: padded tensors cannot become nested tensors, which `ts` does not support.

    The transformer encoder of PyTorch calls this operator first. If the result is False, the encoder runs its
    layers on the padded tensor and the mask.
    """
    return False


@op("aten::_nested_tensor_from_mask(Tensor t, Tensor mask, bool mask_check=True) -> Tensor")
@op(
    "aten::to_padded_tensor(Tensor self, float padding, SymInt[]? output_size=None) -> Tensor",
    **COPIED_OUT,
    order="out -",
)
def _nested(xp: Any, *args: Any) -> Array:
    raise NotImplementedError("nested tensors are not supported: use a padded tensor and its mask")
