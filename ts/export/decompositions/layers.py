"""Decompositions of layers to `convolution`, pooling, `native_layer_norm`, `_softmax` ..."""

from __future__ import annotations

import math
from typing import Any

import ts
from ts._core.tensor.size_guards import evaluate_guard
from ts._core.tensor.sym_types import SymInt, SymNumber
from ts._core.tensor.tensor import Tensor
from ts._core.thread.context import current_tracer
from ts.export.decompositions.decomposition_table import decomposes, register_composed
from ts.export.decompositions.matmul import matmul
from ts.export.decompositions.view_ops import swapped

aten = ts.ops.aten

register_composed(
    "aten::conv1d aten::conv1d.padding aten::conv_transpose1d aten::conv2d aten::conv2d.padding "
    "aten::conv_transpose2d.input aten::conv3d aten::conv3d.padding aten::conv_transpose3d.input "
    "aten::max_pool1d aten::max_pool2d aten::max_pool3d aten::avg_pool1d aten::adaptive_avg_pool1d "
    "aten::adaptive_avg_pool2d aten::adaptive_avg_pool3d aten::adaptive_max_pool1d aten::layer_norm "
    "aten::_weight_norm aten::group_norm aten::rms_norm aten::instance_norm aten::batch_norm "
    "aten::grid_sampler aten::pad aten::gru_cell aten::lstm_cell aten::rnn_tanh_cell aten::rnn_relu_cell"
)


# ---- normalization layers


@decomposes("aten::_fused_rms_norm")
def rms_norm(x: Tensor, normalized_shape: list[Any], weight: Any, eps: float | None) -> tuple[Tensor, Tensor]:
    """Normalize the last dimensions, of shape `normalized_shape`, to mean square 1, and multiply by `weight`.

    Return the result and the reciprocal root of the mean square.
    """
    dims = list(range(x.dim() - len(normalized_shape), x.dim()))
    eps = ts.finfo(x.dtype).eps if eps is None else eps
    square = aten.mean.dim(aten.pow.Tensor_Scalar(x, 2), dims, True)
    rstd = aten.rsqrt(aten.add.Scalar(square, eps))
    normalized = aten.mul.Tensor(x, rstd)
    return normalized if weight is None else aten.mul.Tensor(normalized, weight), rstd


@decomposes("aten::native_batch_norm", implicit=True)
def batch_norm(
    x: Tensor,
    weight: Any,
    bias: Any,
    running_mean: Any,
    running_var: Any,
    training: bool,
    momentum: float,
    eps: float,
) -> Any:
    """Normalize channels by the statistics of the batch in training, otherwise by the running statistics."""
    if not training:
        return aten._native_batch_norm_legit_no_training(
            x, weight, bias, running_mean, running_var, momentum, eps
        )
    if running_mean is None:
        return aten._native_batch_norm_legit.no_stats(x, weight, bias, True, momentum, eps)
    outputs = aten._native_batch_norm_legit_functional(
        x, weight, bias, running_mean, running_var, True, momentum, eps
    )
    replace(running_mean, outputs[3])
    replace(running_var, outputs[4])
    return outputs[:3]


def replace(x: Tensor, value: Tensor) -> None:
    """Replace the elements of `x` by `value`.

    During a recording, the tracer records `value` as the new value of `x`. Otherwise, `copy_` is called.
    """
    recorder = current_tracer()
    if recorder is None:
        x.copy_(value)
    else:
        recorder.write(x, value)


# ---- attention


def _root(x: Any) -> Any:
    """Return the square root of a number or symbol."""
    if not isinstance(x, SymNumber):
        return math.sqrt(x)
    value: Any = ts.sym_float(x) if isinstance(x, SymInt) else x
    return value**0.5


def _additive_mask(mask: Any, like: Tensor) -> Any:
    """Convert a boolean mask to numbers to add to the scores: 0 for True, -inf for False.

    Return other masks unchanged.
    """
    if mask is None or mask.dtype is not ts.bool:
        return mask
    zero = aten.scalar_tensor(0.0, dtype=like.dtype, device=like.device)
    low = aten.scalar_tensor(float("-inf"), dtype=like.dtype, device=like.device)
    return aten.where.self(mask, zero, low)


@decomposes("aten::scaled_dot_product_attention", implicit=True)
def attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Any = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    """Compute scaled dot-product attention by matrix products and softmax."""
    if enable_gqa:
        return NotImplemented
    attn_mask = _additive_mask(attn_mask, query)
    root = _root(1.0 / _root(query.shape[-1]) if scale is None else scale)
    scaled = aten.mul.Scalar(query, root)
    if is_causal:
        rows, columns = query.shape[-2], key.shape[-2]
        causal_mask = aten.tril(aten.full([rows, columns], True, dtype=ts.bool, device=query.device))
        attn_mask = _additive_mask(causal_mask, query)
    scores = matmul(scaled, aten.mul.Scalar(swapped(key, -2, -1), root))
    if attn_mask is not None:
        scores = aten.add.Tensor(scores, attn_mask)
    weights = aten._safe_softmax(scores, -1)
    if dropout_p:
        weights = aten.dropout(weights, dropout_p, True)
    output = matmul(weights, value)
    if query.dim() != 4:
        return output
    laid_out = aten.clone(aten.permute(output, [2, 0, 1, 3]), memory_format=ts.contiguous_format)
    return aten.permute(laid_out, [1, 2, 0, 3])


# ---- embeddings, padding, sampling


@decomposes("aten::one_hot", implicit=True)
def one_hot(x: Tensor, num_classes: int = -1) -> Tensor:
    """Return a one-hot vector of `num_classes` elements for each class index in `x`."""
    if num_classes == -1 or not evaluate_guard(num_classes > 0):
        return NotImplemented
    message = "one_hot: Class values must be"
    aten._assert_async.msg(aten.all(aten.ge.Scalar(x, 0)), f"{message} non-negative.")
    aten._assert_async.msg(aten.all(aten.lt.Scalar(x, num_classes)), f"{message} smaller than num_classes.")
    column = aten.unsqueeze(x, -1)
    classes = aten.arange(num_classes, dtype=ts.int64, device=x.device)
    return aten._to_copy(aten.eq.Tensor(column, classes), dtype=ts.int64)


def _padded(x: Tensor, pad: list[Any], source_index: Any) -> Tensor:
    """Pad each of the last dimensions of `x` with elements of `x`.

    Element i of a padded dimension is element source_index(i, size) of `x`. i is 0 at the first element of
    `x`, and negative in the leading padding.
    """
    n = len(pad) // 2
    for k in range(n):
        dim = x.dim() - 1 - k
        low, high = pad[2 * k], pad[2 * k + 1]
        size = x.shape[dim]
        indices = source_index(aten.arange.start(-low, size + high, device=x.device), size)
        x = aten.index.Tensor(x, [None] * dim + [indices])
    return x


def _has_elements(x: Tensor, pad: list[Any]) -> bool:
    """Return True if the padded dimensions and the channel dimension before them are nonempty."""
    return all(evaluate_guard(n != 0) for n in x.shape[-(len(pad) // 2) - 1 :])


@decomposes("aten::reflection_pad1d", "aten::reflection_pad2d", "aten::reflection_pad3d")
def reflection_pad(x: Tensor, padding: list[Any]) -> Tensor:
    """Pad the last dimensions by reflecting elements at the edges."""
    if not _has_elements(x, padding):
        return NotImplemented

    def mirrored(indices: Tensor, size: Any) -> Tensor:
        distance = aten.abs(aten.sub.Tensor(size - 1, aten.abs(indices)))
        return aten.sub.Tensor(size - 1, distance)

    return _padded(x, padding, mirrored)


@decomposes("aten::replication_pad1d", "aten::replication_pad2d", "aten::replication_pad3d")
def replication_pad(x: Tensor, padding: list[Any]) -> Tensor:
    """Pad the last dimensions by replicating the elements at the edges."""
    if not _has_elements(x, padding):
        return NotImplemented
    return _padded(x, padding, lambda indices, size: aten.clamp(indices, 0, size - 1))


# ---- recurrent cells
