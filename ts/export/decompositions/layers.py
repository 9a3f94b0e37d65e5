"""Decompositions of layers to `convolution`, pooling, `native_layer_norm`, `_softmax` ..."""

from __future__ import annotations

import math
from typing import Any

import ts
from ts._core.tensor.size_guards import evaluate_guard
from ts._core.tensor.sym_types import SymInt, SymNumber
from ts._core.tensor.tensor import Tensor
from ts._core.thread.context import current_tracer
from ts.export.decompositions.decomposition_table import decomposes
from ts.export.decompositions.matmul import matmul
from ts.export.decompositions.view_ops import swapped

aten = ts.ops.aten


def _to_list(value: Any, n: int) -> list[Any]:
    values = list(value) if isinstance(value, list | tuple) else [value]
    return values * n if len(values) == 1 else values


def _convolution(
    n: int,
    x: Tensor,
    weight: Tensor,
    bias: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    groups: int,
    transposed: bool = False,
    output_padding: Any = 0,
) -> Tensor:
    """Compute a convolution over `n` dimensions. `x` may be without a batch dimension."""
    is_unbatched = x.dim() == n + 1
    x = aten.unsqueeze(x, 0) if is_unbatched else x
    output = aten.convolution(
        x, weight, bias, _to_list(stride, n), _to_list(padding, n), _to_list(dilation, n), transposed,
        _to_list(output_padding, n), groups,
    )  # fmt: skip
    return aten.squeeze.dim(output, 0) if is_unbatched else output


def _register_convolution(n: int) -> None:
    @decomposes(f"aten::conv{n}d", implicit=True)
    def conv(
        x: Tensor,
        weight: Tensor,
        bias: Any = None,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
    ) -> Tensor:
        return _convolution(n, x, weight, bias, stride, padding, dilation, groups)

    @decomposes(f"aten::conv{n}d.padding", implicit=True)
    def conv_padding(
        x: Tensor,
        weight: Tensor,
        bias: Any = None,
        stride: Any = 1,
        padding: str = "valid",
        dilation: Any = 1,
        groups: int = 1,
    ) -> Tensor:
        amounts = [0] * n
        if padding == "same":
            total = [d * (k - 1) for d, k in zip(_to_list(dilation, n), weight.shape[2:], strict=True)]
            if any(p % 2 for p in total):
                uneven = [q for p in reversed(total) for q in (0, p % 2)]
                x = aten.constant_pad_nd(x, uneven, 0)
            amounts = [p // 2 for p in total]
        return _convolution(n, x, weight, bias, stride, amounts, dilation, groups)

    @decomposes(f"aten::conv_transpose{n}d" + (".input" if n > 1 else ""), implicit=True)
    def conv_transpose(
        x: Tensor,
        weight: Tensor,
        bias: Any = None,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        groups: int = 1,
        dilation: Any = 1,
    ) -> Tensor:
        return _convolution(n, x, weight, bias, stride, padding, dilation, groups, True, output_padding)


for _n in (1, 2, 3):
    _register_convolution(_n)


# ---- pools


@decomposes("aten::max_pool2d", implicit=True)
def max_pool2d(x: Tensor, *arguments: Any) -> Tensor:
    """Max-pool over two dimensions."""
    return aten.max_pool2d_with_indices(x, *arguments)[0]


@decomposes("aten::max_pool3d", implicit=True)
def max_pool3d(x: Tensor, *arguments: Any) -> Tensor:
    """Max-pool over three dimensions."""
    return aten.max_pool3d_with_indices(x, *arguments)[0]


@decomposes("aten::max_pool1d", implicit=True)
def max_pool1d(
    x: Tensor,
    kernel_size: Any,
    stride: Any = (),
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
) -> Tensor:
    """Max-pool over one dimension by 2-D pooling with an additional dimension of size 1."""
    kernel, steps = _as_2d(kernel_size, stride)
    pooled = aten.max_pool2d_with_indices(
        aten.unsqueeze(x, -2),
        kernel,
        steps,
        [0, *_to_list(padding, 1)],
        [1, *_to_list(dilation, 1)],
        ceil_mode,
    )
    return aten.squeeze.dim(pooled[0], -2)


def _as_2d(kernel_size: Any, stride: Any) -> tuple[list[Any], list[Any]]:
    """Return the kernel size and stride of 1-D pooling as [1, kernel size] and [1, stride]."""
    kernel = [1, *_to_list(kernel_size, 1)]
    return kernel, [1, *_to_list(stride, 1)] if stride not in ((), []) else kernel


@decomposes("aten::avg_pool1d", implicit=True)
def avg_pool1d(
    x: Tensor,
    kernel_size: Any,
    stride: Any = (),
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Tensor:
    """Average-pool over one dimension by 2-D pooling with an additional dimension of size 1."""
    kernel, steps = _as_2d(kernel_size, stride)
    pooled = aten.avg_pool2d(
        aten.unsqueeze(x, -2), kernel, steps, [0, *_to_list(padding, 1)], ceil_mode, count_include_pad
    )
    return aten.squeeze.dim(pooled, -2)


@decomposes("aten::adaptive_avg_pool1d", implicit=True)
def adaptive_avg_pool1d(x: Tensor, output_size: Any) -> Tensor:
    """Average-pool the last dimension to the size `output_size`."""
    return aten.squeeze.dim(adaptive_avg_pool2d(aten.unsqueeze(x, -2), [1, *_to_list(output_size, 1)]), -2)


@decomposes("aten::adaptive_avg_pool2d", implicit=True)
def adaptive_avg_pool2d(x: Tensor, output_size: list[Any]) -> Tensor:
    """Average-pool the last two dimensions to the sizes `output_size`. If both are 1, compute the mean."""
    if list(output_size) == [1, 1]:
        return aten.mean.dim(x, [-1, -2], True)
    return aten._adaptive_avg_pool2d(x, output_size)


@decomposes("aten::adaptive_avg_pool3d", implicit=True)
def adaptive_avg_pool3d(x: Tensor, output_size: list[Any]) -> Tensor:
    """Average-pool the last three dimensions to the sizes `output_size`. If all are 1, compute the mean."""
    if list(output_size) == [1, 1, 1]:
        return aten.mean.dim(x, [-1, -2, -3], True)
    return aten._adaptive_avg_pool3d(x, output_size)


@decomposes("aten::adaptive_max_pool1d", implicit=True)
def adaptive_max_pool1d(x: Tensor, output_size: Any) -> Any:
    """Max-pool the last dimension to the size `output_size`, and return values and indices."""
    values, indices = aten.adaptive_max_pool2d(aten.unsqueeze(x, -2), [1, *_to_list(output_size, 1)])
    return aten.squeeze.dim(values, -2), aten.squeeze.dim(indices, -2)


# ---- normalization


@decomposes("aten::layer_norm", implicit=True)
def layer_norm(
    x: Tensor,
    normalized_shape: list[Any],
    weight: Any = None,
    bias: Any = None,
    eps: float = 1e-5,
    cudnn_enable: bool = True,
) -> Tensor:
    """Normalize the dimensions `normalized_shape` to mean 0 and variance 1.

    The result is then multiplied by `weight`, and `bias` is added.
    """
    return aten.native_layer_norm(x, normalized_shape, weight, bias, eps)[0]


@decomposes("aten::_weight_norm", implicit=True)
def weight_norm(v: Tensor, g: Tensor, dim: int = 0) -> Tensor:
    """Return `g * v / norm(v)`, with norms over all dimensions except `dim`."""
    dims = [d for d in range(v.dim()) if d != dim % v.dim()]
    return v * (g / aten.linalg_vector_norm(v, 2, dims, True))


@decomposes("aten::group_norm", implicit=True)
def group_norm(
    x: Tensor,
    num_groups: int,
    weight: Any = None,
    bias: Any = None,
    eps: float = 1e-5,
    cudnn_enabled: bool = True,
) -> Tensor:
    """Normalize groups of channels to mean 0 and variance 1.

    The result is then multiplied by `weight`, and `bias` is added.
    """
    n, channels, *rest = list(x.shape)
    x = x if x.is_contiguous() else aten.clone(x, memory_format=ts.contiguous_format)
    size = math.prod(rest)
    return aten.native_group_norm(x, weight, bias, n, channels, size, num_groups, eps)[0]


@decomposes("aten::rms_norm", implicit=True)
def rms_norm(x: Tensor, normalized_shape: list[Any], weight: Any = None, eps: float | None = None) -> Tensor:
    """Normalize the dimensions `normalized_shape` to mean square 1, then multiply by `weight`."""
    dims = list(range(x.dim() - len(normalized_shape), x.dim()))
    eps = ts.finfo(x.dtype).eps if eps is None else eps
    square = aten.mean.dim(aten.pow.Tensor_Scalar(x, 2), dims, True)
    normalized = aten.mul.Tensor(x, aten.rsqrt(aten.add.Scalar(square, eps)))
    return normalized if weight is None else aten.mul.Tensor(normalized, weight)


@decomposes("aten::instance_norm", implicit=True)
def instance_norm(
    x: Tensor,
    weight: Any,
    bias: Any,
    running_mean: Any,
    running_var: Any,
    use_input_stats: bool,
    momentum: float,
    eps: float,
    cudnn_enabled: bool,
) -> Tensor:
    """Normalize each channel of each sample to mean 0 and variance 1."""
    if running_mean is not None or not use_input_stats:
        return NotImplemented
    n, channels, *rest = list(x.shape)
    flat_shape = [1, n * channels, *rest]
    weight, bias = (None if v is None else aten.repeat(v, [n]) for v in (weight, bias))
    flat = aten.reshape(x, flat_shape)
    normalized = aten._native_batch_norm_legit.no_stats(flat, weight, bias, True, momentum, eps)[0]
    return aten.view(normalized, [n, channels, *rest])


@decomposes("aten::batch_norm", implicit=True)
def batch_norm(
    x: Tensor,
    weight: Any,
    bias: Any,
    running_mean: Any,
    running_var: Any,
    training: bool,
    momentum: float,
    eps: float,
    cudnn_enabled: bool,
) -> Tensor:
    """Normalize channels by the statistics of the batch in training, otherwise by the running statistics."""
    if not training:
        return aten._native_batch_norm_legit_no_training(
            x, weight, bias, running_mean, running_var, momentum, eps
        )[0]
    if running_mean is None:
        return aten._native_batch_norm_legit.no_stats(x, weight, bias, True, momentum, eps)[0]
    outputs = aten._native_batch_norm_legit_functional(
        x, weight, bias, running_mean, running_var, True, momentum, eps
    )
    replace(running_mean, outputs[3])
    replace(running_var, outputs[4])
    return outputs[0]


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


@decomposes("aten::grid_sampler", implicit=True)
def grid_sampler(x: Tensor, grid: Tensor, mode: int, padding: int, align_corners: bool) -> Tensor:
    """Sample `x` at the positions in `grid`, by the operator for two or three dimensions."""
    sampler = aten.grid_sampler_2d if x.dim() == 4 else aten.grid_sampler_3d
    return sampler(x, grid, mode, padding, align_corners)


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


@decomposes("aten::pad", implicit=True)
def pad(x: Tensor, pad: list[Any], mode: str = "constant", value: float | None = None) -> Tensor:
    """Pad the last dimensions by the mode "constant", "reflect" or "replicate".

    Keep the operator for other modes.
    """
    if mode == "constant":
        return aten.constant_pad_nd(x, pad, 0.0 if value is None else value)
    n = len(pad) // 2
    name = {"reflect": "reflection_pad", "replicate": "replication_pad"}.get(mode)
    return NotImplemented if name is None else getattr(aten, f"{name}{n}d")(x, pad)


def _padded(x: Tensor, pad: list[Any], source_index: Any) -> Tensor:
    """Pad the last dimensions: padded element i is the element of `x` with index `source_index(i, size)`."""
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


@decomposes("aten::gru_cell", implicit=True)
def gru_cell(x: Tensor, hx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Any = None, b_hh: Any = None) -> Tensor:
    """Run one step of a GRU."""
    of_input = aten.unsafe_chunk(aten.linear(x, w_ih, b_ih), 3, 1)
    of_state = aten.unsafe_chunk(aten.linear(hx, w_hh, b_hh), 3, 1)
    reset = aten.sigmoid(aten.add.Tensor(of_state[0], of_input[0]))
    update = aten.sigmoid(aten.add.Tensor(of_state[1], of_input[1]))
    new = aten.tanh(aten.add.Tensor(of_input[2], aten.mul.Tensor(of_state[2], reset)))
    return aten.add.Tensor(aten.mul.Tensor(aten.sub.Tensor(hx, new), update), new)


@decomposes("aten::lstm_cell", implicit=True)
def lstm_cell(
    x: Tensor, hx: list[Tensor], w_ih: Tensor, w_hh: Tensor, b_ih: Any = None, b_hh: Any = None
) -> Any:
    """Run one step of an LSTM."""
    hidden, cell = hx
    gates = aten.add.Tensor(aten.linear(hidden, w_hh, b_hh), aten.linear(x, w_ih, b_ih))
    into, forget, candidate, out = aten.unsafe_chunk(gates, 4, 1)
    into, forget, candidate, out = (
        aten.sigmoid(into),
        aten.sigmoid(forget),
        aten.tanh(candidate),
        aten.sigmoid(out),
    )
    cell = aten.add.Tensor(aten.mul.Tensor(forget, cell), aten.mul.Tensor(into, candidate))
    return aten.mul.Tensor(out, aten.tanh(cell)), cell


@decomposes("aten::rnn_tanh_cell", implicit=True)
def rnn_tanh_cell(
    x: Tensor, hx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Any = None, b_hh: Any = None
) -> Tensor:
    """Run one step of an RNN with tanh."""
    return aten.tanh(aten.add.Tensor(aten.linear(hx, w_hh, b_hh), aten.linear(x, w_ih, b_ih)))


@decomposes("aten::rnn_relu_cell", implicit=True)
def rnn_relu_cell(
    x: Tensor, hx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Any = None, b_hh: Any = None
) -> Tensor:
    """Run one step of an RNN with ReLU."""
    return aten.relu(aten.add.Tensor(aten.linear(hx, w_hh, b_hh), aten.linear(x, w_ih, b_ih)))
