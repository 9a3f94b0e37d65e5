# Made from the records of the operators by `python -m tests.regenerate`: change those, or tests/stubs.py.

from collections.abc import Callable
from typing import Any, Literal, overload

from ts._core.tensor.dtype_kinds import (
    Bool,
    DType,
    Float,
    Floats,
    Int,
    Ints,
    Number,
    Str,
)
from ts._core.tensor.tensor import Tensor
from ts.nn import grad as grad

NAME_TO_MODULE: dict[Str, Str]
WRITTEN: frozenset[Str]
OPERATORS: tuple[Str, ...]

def _mha_shape_check(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    key_padding_mask: Tensor | None,
    attn_mask: Tensor | None,
    num_heads: Int,
) -> bool: ...
def adaptive_avg_pool1d(input: Tensor, output_size: Int | Ints) -> Tensor: ...
def adaptive_avg_pool2d(input: Tensor, output_size: Int | Ints) -> Tensor: ...
def adaptive_avg_pool3d(input: Tensor, output_size: Int | Ints) -> Tensor: ...
@overload
def adaptive_max_pool1d(
    input: Tensor, output_size: Int | Ints, return_indices: Literal[False] = False
) -> Tensor: ...
@overload
def adaptive_max_pool1d(
    input: Tensor, output_size: Int | Ints, *, return_indices: Literal[True]
) -> tuple[Tensor, Tensor]: ...
@overload
def adaptive_max_pool1d(input: Tensor, output_size: Int | Ints, return_indices: Bool = False) -> Any: ...
def adaptive_max_pool1d_with_indices(
    input: Tensor, output_size: Int | Ints, return_indices: Bool = False
) -> tuple[Tensor, Tensor]: ...
@overload
def adaptive_max_pool2d(
    input: Tensor, output_size: Int | Ints, return_indices: Literal[False] = False
) -> Tensor: ...
@overload
def adaptive_max_pool2d(
    input: Tensor, output_size: Int | Ints, *, return_indices: Literal[True]
) -> tuple[Tensor, Tensor]: ...
@overload
def adaptive_max_pool2d(input: Tensor, output_size: Int | Ints, return_indices: Bool = False) -> Any: ...
def adaptive_max_pool2d_with_indices(
    input: Tensor, output_size: Int | Ints, return_indices: Bool = False
) -> tuple[Tensor, Tensor]: ...
@overload
def adaptive_max_pool3d(
    input: Tensor, output_size: Int | Ints, return_indices: Literal[False] = False
) -> Tensor: ...
@overload
def adaptive_max_pool3d(
    input: Tensor, output_size: Int | Ints, *, return_indices: Literal[True]
) -> tuple[Tensor, Tensor]: ...
@overload
def adaptive_max_pool3d(input: Tensor, output_size: Int | Ints, return_indices: Bool = False) -> Any: ...
def adaptive_max_pool3d_with_indices(
    input: Tensor, output_size: Int | Ints, return_indices: Bool = False
) -> tuple[Tensor, Tensor]: ...
def affine_grid(theta: Tensor, size: Ints, align_corners: Bool | None = None) -> Tensor: ...
def alpha_dropout(input: Tensor, p: Float = 0.5, training: Bool = False, inplace: Bool = False) -> Tensor: ...
def avg_pool1d(
    input: Tensor,
    kernel_size: Int | Ints,
    stride: Int | Ints | None = ...,
    padding: Int | Ints = ...,
    ceil_mode: Bool = False,
    count_include_pad: Bool = True,
    *,
    out: Tensor | None = None,
) -> Tensor: ...
def avg_pool2d(
    input: Tensor,
    kernel_size: Int | Ints,
    stride: Int | Ints | None = ...,
    padding: Int | Ints = ...,
    ceil_mode: Bool = False,
    count_include_pad: Bool = True,
    divisor_override: Int | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor: ...
def avg_pool3d(
    input: Tensor,
    kernel_size: Int | Ints,
    stride: Int | Ints | None = ...,
    padding: Int | Ints = ...,
    ceil_mode: Bool = False,
    count_include_pad: Bool = True,
    divisor_override: Int | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor: ...
def batch_norm(
    input: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    training: Bool = False,
    momentum: Float = 0.1,
    eps: Float = 1e-05,
) -> Tensor: ...
def bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor: ...
def binary_cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: Bool | None = None,
    reduce: Bool | None = None,
    reduction: Str = 'mean',
) -> Tensor: ...
def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: Bool | None = None,
    reduce: Bool | None = None,
    reduction: Str = 'mean',
    pos_weight: Tensor | None = None,
) -> Tensor: ...
def celu(input: Tensor, alpha: Float = 1.0, inplace: Bool = False) -> Tensor:
    """The element where it is positive, else alpha * (exp(x / alpha) - 1)."""
def celu_(input: Tensor, alpha: Float = 1.0) -> Tensor: ...
def channel_shuffle(input: Tensor, groups: Int, *, out: Tensor | None = None) -> Tensor: ...
@overload
def conv1d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Int | Ints = ...,
    padding: Int | Ints = ...,
    dilation: Int | Ints = ...,
    groups: Int = 1,
) -> Tensor:
    """Cross-correlation along one dimension: `weight` slides over `input`."""
@overload
def conv1d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Int | Ints = ...,
    padding: Str = 'valid',
    dilation: Int | Ints = ...,
    groups: Int = 1,
) -> Tensor: ...
@overload
def conv2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Int | Ints = ...,
    padding: Int | Ints = ...,
    dilation: Int | Ints = ...,
    groups: Int = 1,
) -> Tensor:
    """Cross-correlation along two dimensions: `weight` slides over images."""
@overload
def conv2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Int | Ints = ...,
    padding: Str = 'valid',
    dilation: Int | Ints = ...,
    groups: Int = 1,
) -> Tensor: ...
@overload
def conv3d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Int | Ints = ...,
    padding: Int | Ints = ...,
    dilation: Int | Ints = ...,
    groups: Int = 1,
) -> Tensor:
    """Cross-correlation along three dimensions."""
@overload
def conv3d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Int | Ints = ...,
    padding: Str = 'valid',
    dilation: Int | Ints = ...,
    groups: Int = 1,
) -> Tensor: ...
def conv_tbc(
    input: Tensor, weight: Tensor, bias: Tensor, pad: Int = 0, *, out: Tensor | None = None
) -> Tensor: ...
def conv_transpose1d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Int | Ints = ...,
    padding: Int | Ints = ...,
    output_padding: Int | Ints = ...,
    groups: Int = 1,
    dilation: Int | Ints = ...,
) -> Tensor: ...
def conv_transpose2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Int | Ints = ...,
    padding: Int | Ints = ...,
    output_padding: Int | Ints = ...,
    groups: Int = 1,
    dilation: Int | Ints = ...,
) -> Tensor: ...
def conv_transpose3d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Int | Ints = ...,
    padding: Int | Ints = ...,
    output_padding: Int | Ints = ...,
    groups: Int = 1,
    dilation: Int | Ints = ...,
) -> Tensor: ...
def cosine_embedding_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: Float = 0.0,
    size_average: Bool | None = None,
    reduce: Bool | None = None,
    reduction: Str = 'mean',
) -> Tensor: ...
@overload
def cosine_similarity(x1: Tensor, x2: Tensor, dim: Int = 1, eps: Float = 1e-08) -> Tensor: ...
@overload
def cosine_similarity(x1: Tensor, x2: Tensor, *, axis: Int = 1, eps: Float = 1e-08) -> Tensor: ...
def cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: Bool | None = None,
    ignore_index: Int = -100,
    reduce: Bool | None = None,
    reduction: Str = 'mean',
    label_smoothing: Float = 0.0,
) -> Tensor: ...
def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Tensor,
    target_lengths: Tensor,
    blank: Int = 0,
    reduction: Str = 'mean',
    zero_infinity: Bool = False,
) -> Tensor: ...
def dropout(input: Tensor, p: Float = 0.5, training: Bool = True, inplace: Bool = False) -> Tensor:
    """Elements are zero with probability `p`, and the others larger by 1 / (1 - p), while `train` is true."""
def dropout1d(input: Tensor, p: Float = 0.5, training: Bool = True, inplace: Bool = False) -> Tensor: ...
def dropout2d(input: Tensor, p: Float = 0.5, training: Bool = True, inplace: Bool = False) -> Tensor: ...
def dropout3d(input: Tensor, p: Float = 0.5, training: Bool = True, inplace: Bool = False) -> Tensor: ...
def elu(input: Tensor, alpha: Float = 1.0, inplace: Bool = False) -> Tensor:
    """The element where it is positive, else alpha * (exp(x) - 1)."""
def elu_(input: Tensor, alpha: Float = 1.0) -> Tensor: ...
def embedding(
    input: Tensor,
    weight: Tensor,
    padding_idx: Int | None = None,
    max_norm: Float | None = None,
    norm_type: Float = 2.0,
    scale_grad_by_freq: Bool = False,
    sparse: Bool = False,
) -> Tensor:
    """The rows of `weight` that the indices name."""
def embedding_bag(
    input: Tensor,
    weight: Tensor,
    offsets: Tensor | None = None,
    max_norm: Float | None = None,
    norm_type: Float = 2,
    scale_grad_by_freq: Bool = False,
    mode: Str = 'mean',
    sparse: Bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: Bool = False,
    padding_idx: Int | None = None,
) -> Tensor: ...
def feature_alpha_dropout(
    input: Tensor, p: Float = 0.5, training: Bool = False, inplace: Bool = False
) -> Tensor: ...
def fold(
    input: Tensor,
    output_size: Int | Ints,
    kernel_size: Int | Ints,
    dilation: Int | Ints = 1,
    padding: Int | Ints = 0,
    stride: Int | Ints = 1,
) -> Tensor: ...
@overload
def fractional_max_pool2d(
    input: Tensor,
    kernel_size: Int | Ints,
    output_size: Int | Ints | None = None,
    output_ratio: Float | Floats | None = None,
    return_indices: Literal[False] = False,
    _random_samples: Tensor | None = None,
) -> Tensor: ...
@overload
def fractional_max_pool2d(
    input: Tensor,
    kernel_size: Int | Ints,
    output_size: Int | Ints | None = None,
    output_ratio: Float | Floats | None = None,
    *,
    return_indices: Literal[True],
    _random_samples: Tensor | None = None,
) -> tuple[Tensor, Tensor]: ...
@overload
def fractional_max_pool2d(
    input: Tensor,
    kernel_size: Int | Ints,
    output_size: Int | Ints | None = None,
    output_ratio: Float | Floats | None = None,
    return_indices: Bool = False,
    _random_samples: Tensor | None = None,
) -> Any: ...
def fractional_max_pool2d_with_indices(
    input: Tensor,
    kernel_size: Int | Ints,
    output_size: Int | Ints | None = None,
    output_ratio: Float | Floats | None = None,
    return_indices: Bool = False,
    _random_samples: Tensor | None = None,
) -> tuple[Tensor, Tensor]: ...
@overload
def fractional_max_pool3d(
    input: Tensor,
    kernel_size: Int | Ints,
    output_size: Int | Ints | None = None,
    output_ratio: Float | Floats | None = None,
    return_indices: Literal[False] = False,
    _random_samples: Tensor | None = None,
) -> Tensor: ...
@overload
def fractional_max_pool3d(
    input: Tensor,
    kernel_size: Int | Ints,
    output_size: Int | Ints | None = None,
    output_ratio: Float | Floats | None = None,
    *,
    return_indices: Literal[True],
    _random_samples: Tensor | None = None,
) -> tuple[Tensor, Tensor]: ...
@overload
def fractional_max_pool3d(
    input: Tensor,
    kernel_size: Int | Ints,
    output_size: Int | Ints | None = None,
    output_ratio: Float | Floats | None = None,
    return_indices: Bool = False,
    _random_samples: Tensor | None = None,
) -> Any: ...
def fractional_max_pool3d_with_indices(
    input: Tensor,
    kernel_size: Int | Ints,
    output_size: Int | Ints | None = None,
    output_ratio: Float | Floats | None = None,
    return_indices: Bool = False,
    _random_samples: Tensor | None = None,
) -> tuple[Tensor, Tensor]: ...
def gaussian_nll_loss(
    input: Tensor,
    target: Tensor,
    var: Tensor,
    full: Bool = False,
    eps: Float = 1e-06,
    reduction: Str = 'mean',
) -> Tensor: ...
def gelu(input: Tensor, *, approximate: Str = 'none', out: Tensor | None = None) -> Tensor:
    """Every element times the share of a normal distribution below it."""
@overload
def glu(input: Tensor, dim: Int = -1, *, out: Tensor | None = None) -> Tensor:
    """The first half along `dim`, times the sigmoid of the second."""
@overload
def glu(input: Tensor, *, axis: Int = -1, out: Tensor | None = None) -> Tensor: ...
def grid_sample(
    input: Tensor,
    grid: Tensor,
    mode: Str = 'bilinear',
    padding_mode: Str = 'zeros',
    align_corners: Bool | None = None,
) -> Tensor: ...
def group_norm(
    input: Tensor,
    num_groups: Int,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: Float = 1e-05,
) -> Tensor:
    """Each group of channels, shifted and scaled to mean 0 and variance 1."""
def gumbel_softmax(
    logits: Tensor, tau: Float = 1, hard: Bool = False, eps: Float = 1e-10, dim: Int = -1
) -> Tensor: ...
def hardshrink(input: Tensor, lambd: Number = 0.5, *, out: Tensor | None = None) -> Tensor: ...
def hardsigmoid(input: Tensor, inplace: Bool = False) -> Tensor: ...
def hardswish(input: Tensor, inplace: Bool = False) -> Tensor: ...
def hardtanh(input: Tensor, min_val: Float = -1.0, max_val: Float = 1.0, inplace: Bool = False) -> Tensor: ...
def hardtanh_(input: Tensor, min_val: Float = -1.0, max_val: Float = 1.0) -> Tensor: ...
def hinge_embedding_loss(
    input: Tensor,
    target: Tensor,
    margin: Float = 1.0,
    size_average: Bool | None = None,
    reduce: Bool | None = None,
    reduction: Str = 'mean',
) -> Tensor: ...
def huber_loss(
    input: Tensor, target: Tensor, reduction: Str = 'mean', delta: Float = 1.0, weight: Tensor | None = None
) -> Tensor: ...
def instance_norm(
    input: Tensor,
    running_mean: Tensor | None = None,
    running_var: Tensor | None = None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    use_input_stats: Bool = True,
    momentum: Float = 0.1,
    eps: Float = 1e-05,
) -> Tensor: ...
def interpolate(
    input: Tensor,
    size: Any = None,
    scale_factor: Any = None,
    mode: Str = 'nearest',
    align_corners: Bool | None = None,
    recompute_scale_factor: Bool | None = None,
    antialias: Bool = False,
) -> Tensor: ...
def kl_div(
    input: Tensor,
    target: Tensor,
    size_average: Bool | None = None,
    reduce: Bool | None = None,
    reduction: Str = 'mean',
    log_target: Bool = False,
) -> Tensor: ...
def l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: Bool | None = None,
    reduce: Bool | None = None,
    reduction: Str = 'mean',
    weight: Tensor | None = None,
) -> Tensor: ...
def layer_norm(
    input: Tensor,
    normalized_shape: Ints,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: Float = 1e-05,
    cudnn_enable: Bool = True,
) -> Tensor:
    """The last dimensions, shifted and scaled to mean 0 and variance 1, then by `weight` and `bias`."""
def leaky_relu(input: Tensor, negative_slope: Float = 0.01, inplace: Bool = False) -> Tensor: ...
def leaky_relu_(input: Tensor, negative_slope: Float = 0.01) -> Tensor: ...
def linear(
    input: Tensor, weight: Tensor, bias: Tensor | None = None, *, out: Tensor | None = None
) -> Tensor:
    """input @ weight.T + bias."""
def linear_cross_entropy(
    input: Tensor,
    linear_weight: Tensor,
    target: Tensor,
    *,
    linear_bias: Tensor | None = None,
    weight: Tensor | None = None,
    reduction: Str = 'mean',
    ignore_index: Int | None = None,
    label_smoothing: Float = 0.0,
    options: Any = None,
) -> Tensor: ...
def local_response_norm(
    input: Tensor, size: Int, alpha: Float = 0.0001, beta: Float = 0.75, k: Float = 1.0
) -> Tensor: ...
def log_softmax(
    input: Tensor, dim: Int | None = None, _stacklevel: Int = 3, dtype: DType | None = None
) -> Tensor:
    """The logarithm of `softmax`, computed so that nothing overflows."""
def logsigmoid(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def lp_pool1d(
    input: Tensor, norm_type: Float, kernel_size: Int, stride: Int | None = None, ceil_mode: Bool = False
) -> Tensor: ...
def lp_pool2d(
    input: Tensor,
    norm_type: Float,
    kernel_size: Int | Ints,
    stride: Int | Ints | None = None,
    ceil_mode: Bool = False,
) -> Tensor: ...
def lp_pool3d(
    input: Tensor,
    norm_type: Float,
    kernel_size: Int | Ints,
    stride: Int | Ints | None = None,
    ceil_mode: Bool = False,
) -> Tensor: ...
def margin_ranking_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: Float = 0.0,
    size_average: Bool | None = None,
    reduce: Bool | None = None,
    reduction: Str = 'mean',
) -> Tensor: ...
@overload
def max_pool1d(
    input: Tensor,
    kernel_size: Int | Ints,
    stride: Int | Ints | None = None,
    padding: Int | Ints = 0,
    dilation: Int | Ints = 1,
    ceil_mode: Bool = False,
    return_indices: Literal[False] = False,
) -> Tensor: ...
@overload
def max_pool1d(
    input: Tensor,
    kernel_size: Int | Ints,
    stride: Int | Ints | None = None,
    padding: Int | Ints = 0,
    dilation: Int | Ints = 1,
    ceil_mode: Bool = False,
    *,
    return_indices: Literal[True],
) -> tuple[Tensor, Tensor]: ...
@overload
def max_pool1d(
    input: Tensor,
    kernel_size: Int | Ints,
    stride: Int | Ints | None = None,
    padding: Int | Ints = 0,
    dilation: Int | Ints = 1,
    ceil_mode: Bool = False,
    return_indices: Bool = False,
) -> Any: ...
def max_pool1d_with_indices(
    input: Tensor,
    kernel_size: Int | Ints,
    stride: Int | Ints | None = None,
    padding: Int | Ints = 0,
    dilation: Int | Ints = 1,
    ceil_mode: Bool = False,
    return_indices: Bool = False,
) -> tuple[Tensor, Tensor]: ...
@overload
def max_pool2d(
    input: Tensor,
    kernel_size: Int | Ints,
    stride: Int | Ints | None = None,
    padding: Int | Ints = 0,
    dilation: Int | Ints = 1,
    ceil_mode: Bool = False,
    return_indices: Literal[False] = False,
) -> Tensor: ...
@overload
def max_pool2d(
    input: Tensor,
    kernel_size: Int | Ints,
    stride: Int | Ints | None = None,
    padding: Int | Ints = 0,
    dilation: Int | Ints = 1,
    ceil_mode: Bool = False,
    *,
    return_indices: Literal[True],
) -> tuple[Tensor, Tensor]: ...
@overload
def max_pool2d(
    input: Tensor,
    kernel_size: Int | Ints,
    stride: Int | Ints | None = None,
    padding: Int | Ints = 0,
    dilation: Int | Ints = 1,
    ceil_mode: Bool = False,
    return_indices: Bool = False,
) -> Any: ...
def max_pool2d_with_indices(
    input: Tensor,
    kernel_size: Int | Ints,
    stride: Int | Ints | None = None,
    padding: Int | Ints = 0,
    dilation: Int | Ints = 1,
    ceil_mode: Bool = False,
    return_indices: Bool = False,
) -> tuple[Tensor, Tensor]: ...
@overload
def max_pool3d(
    input: Tensor,
    kernel_size: Int | Ints,
    stride: Int | Ints | None = None,
    padding: Int | Ints = 0,
    dilation: Int | Ints = 1,
    ceil_mode: Bool = False,
    return_indices: Literal[False] = False,
) -> Tensor: ...
@overload
def max_pool3d(
    input: Tensor,
    kernel_size: Int | Ints,
    stride: Int | Ints | None = None,
    padding: Int | Ints = 0,
    dilation: Int | Ints = 1,
    ceil_mode: Bool = False,
    *,
    return_indices: Literal[True],
) -> tuple[Tensor, Tensor]: ...
@overload
def max_pool3d(
    input: Tensor,
    kernel_size: Int | Ints,
    stride: Int | Ints | None = None,
    padding: Int | Ints = 0,
    dilation: Int | Ints = 1,
    ceil_mode: Bool = False,
    return_indices: Bool = False,
) -> Any: ...
def max_pool3d_with_indices(
    input: Tensor,
    kernel_size: Int | Ints,
    stride: Int | Ints | None = None,
    padding: Int | Ints = 0,
    dilation: Int | Ints = 1,
    ceil_mode: Bool = False,
    return_indices: Bool = False,
) -> tuple[Tensor, Tensor]: ...
def max_unpool1d(
    input: Tensor,
    indices: Tensor,
    kernel_size: Int | Ints,
    stride: Int | Ints | None = None,
    padding: Int | Ints = 0,
    output_size: Int | Ints | None = None,
) -> Tensor: ...
def max_unpool2d(
    input: Tensor,
    indices: Tensor,
    kernel_size: Int | Ints,
    stride: Int | Ints | None = None,
    padding: Int | Ints = 0,
    output_size: Int | Ints | None = None,
) -> Tensor: ...
def max_unpool3d(
    input: Tensor,
    indices: Tensor,
    kernel_size: Int | Ints,
    stride: Int | Ints | None = None,
    padding: Int | Ints = 0,
    output_size: Int | Ints | None = None,
) -> Tensor: ...
def mish(input: Tensor, inplace: Bool = False) -> Tensor: ...
def mse_loss(
    input: Tensor,
    target: Tensor,
    size_average: Bool | None = None,
    reduce: Bool | None = None,
    reduction: Str = 'mean',
    weight: Tensor | None = None,
) -> Tensor: ...
def multi_head_attention_forward(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    embed_dim_to_check: Int,
    num_heads: Int,
    in_proj_weight: Tensor | None,
    in_proj_bias: Tensor | None,
    bias_k: Tensor | None,
    bias_v: Tensor | None,
    add_zero_attn: Bool,
    dropout_p: Float,
    out_proj_weight: Tensor,
    out_proj_bias: Tensor | None,
    training: Bool = True,
    key_padding_mask: Tensor | None = None,
    need_weights: Bool = True,
    attn_mask: Tensor | None = None,
    use_separate_proj_weight: Bool = False,
    q_proj_weight: Tensor | None = None,
    k_proj_weight: Tensor | None = None,
    v_proj_weight: Tensor | None = None,
    static_k: Tensor | None = None,
    static_v: Tensor | None = None,
    average_attn_weights: Bool = True,
    is_causal: Bool = False,
) -> tuple[Tensor, Tensor | None]: ...
def multi_margin_loss(
    input: Tensor,
    target: Tensor,
    p: Int = 1,
    margin: Float = 1.0,
    weight: Tensor | None = None,
    size_average: Bool | None = None,
    reduce: Bool | None = None,
    reduction: Str = 'mean',
) -> Tensor: ...
def multilabel_margin_loss(
    input: Tensor,
    target: Tensor,
    size_average: Bool | None = None,
    reduce: Bool | None = None,
    reduction: Str = 'mean',
) -> Tensor: ...
def multilabel_soft_margin_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: Bool | None = None,
    reduce: Bool | None = None,
    reduction: Str = 'mean',
) -> Tensor: ...
def native_channel_shuffle(input: Tensor, groups: Int) -> Tensor: ...
def nll_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: Bool | None = None,
    ignore_index: Int = -100,
    reduce: Bool | None = None,
    reduction: Str = 'mean',
) -> Tensor: ...
def normalize(
    input: Tensor, p: Float = 2.0, dim: Int = 1, eps: Float = 1e-12, out: Tensor | None = None
) -> Tensor: ...
def one_hot(input: Tensor, num_classes: Int = -1) -> Tensor:
    """For each index a row with a one in its place."""
def pad(input: Tensor, pad: Ints, mode: Str = 'constant', value: Float | None = None) -> Tensor:
    """The tensor with more elements at its borders; the first two numbers are for the last dimension."""
@overload
def pairwise_distance(
    x1: Tensor, x2: Tensor, p: Float = 2.0, eps: Float = 1e-06, keepdim: Bool = False
) -> Tensor: ...
@overload
def pairwise_distance(
    x1: Tensor, x2: Tensor, p: Float = 2.0, eps: Float = 1e-06, *, keepdims: Bool
) -> Tensor: ...
def pdist(input: Tensor, p: Float = 2.0) -> Tensor: ...
def pixel_shuffle(input: Tensor, upscale_factor: Int, *, out: Tensor | None = None) -> Tensor: ...
def pixel_unshuffle(input: Tensor, downscale_factor: Int, *, out: Tensor | None = None) -> Tensor: ...
def poisson_nll_loss(
    input: Tensor,
    target: Tensor,
    log_input: Bool = True,
    full: Bool = False,
    size_average: Bool | None = None,
    eps: Float = 1e-08,
    reduce: Bool | None = None,
    reduction: Str = 'mean',
) -> Tensor: ...
def prelu(input: Tensor, weight: Tensor) -> Tensor: ...
def relu(input: Tensor, inplace: Bool = False) -> Tensor:
    """The element where it is positive, else 0."""
def relu6(input: Tensor, inplace: Bool = False) -> Tensor: ...
def relu_(input: Tensor) -> Tensor: ...
def rms_norm(
    input: Tensor, normalized_shape: Ints, weight: Tensor | None = None, eps: Float | None = None
) -> Tensor: ...
def rrelu(
    input: Tensor,
    lower: Float = 0.125,
    upper: Float = 0.3333333333333333,
    training: Bool = False,
    inplace: Bool = False,
) -> Tensor: ...
def rrelu_(
    input: Tensor, lower: Float = 0.125, upper: Float = 0.3333333333333333, training: Bool = False
) -> Tensor: ...
def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: Float = 0.0,
    is_causal: Bool = False,
    *,
    scale: Float | None = None,
    enable_gqa: Bool = False,
) -> Tensor:
    """Attention: softmax of query @ key.mT, scaled and masked, times value."""
def selu(input: Tensor, inplace: Bool = False) -> Tensor: ...
def selu_(input: Tensor) -> Tensor: ...
def sigmoid(input: Tensor) -> Tensor:
    """1 / (1 + exp(-x)) of every element."""
def silu(input: Tensor, inplace: Bool = False) -> Tensor:
    """Every element times its sigmoid."""
def smooth_l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: Bool | None = None,
    reduce: Bool | None = None,
    reduction: Str = 'mean',
    beta: Float = 1.0,
) -> Tensor: ...
def soft_margin_loss(
    input: Tensor,
    target: Tensor,
    size_average: Bool | None = None,
    reduce: Bool | None = None,
    reduction: Str = 'mean',
) -> Tensor: ...
def softmax(
    input: Tensor, dim: Int | None = None, _stacklevel: Int = 3, dtype: DType | None = None
) -> Tensor:
    """Exponentials of the elements divided by their sum along `dim`: positive numbers that add up to 1."""
def softmin(
    input: Tensor, dim: Int | None = None, _stacklevel: Int = 3, dtype: DType | None = None
) -> Tensor: ...
def softplus(
    input: Tensor, beta: Number = 1, threshold: Number = 20, *, out: Tensor | None = None
) -> Tensor:
    """log(1 + exp(beta * x)) / beta of every element: `relu` without its corner."""
def softshrink(input: Tensor, lambd: Number = 0.5, *, out: Tensor | None = None) -> Tensor: ...
def softsign(input: Tensor) -> Tensor: ...
def tanh(input: Tensor) -> Tensor:
    """The hyperbolic tangent of every element, between -1 and 1."""
def tanhshrink(input: Tensor) -> Tensor: ...
def threshold(input: Tensor, threshold: Float, value: Float, inplace: Bool = False) -> Tensor: ...
def threshold_(input: Tensor, threshold: Float, value: Float) -> Tensor: ...
def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: Float = 1.0,
    p: Float = 2,
    eps: Float = 1e-06,
    swap: Bool = False,
    size_average: Bool | None = None,
    reduce: Bool | None = None,
    reduction: Str = 'mean',
) -> Tensor: ...
def triplet_margin_with_distance_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    *,
    distance_function: Callable[[Tensor, Tensor], Tensor] | None = None,
    margin: Float = 1.0,
    swap: Bool = False,
    reduction: Str = 'mean',
) -> Tensor: ...
def unfold(
    input: Tensor,
    kernel_size: Int | Ints,
    dilation: Int | Ints = 1,
    padding: Int | Ints = 0,
    stride: Int | Ints = 1,
) -> Tensor: ...
def upsample(
    input: Tensor,
    size: Any = None,
    scale_factor: Any = None,
    mode: Str = 'nearest',
    align_corners: Bool | None = None,
) -> Tensor: ...
def upsample_bilinear(input: Tensor, size: Any = None, scale_factor: Any = None) -> Tensor: ...
def upsample_nearest(input: Tensor, size: Any = None, scale_factor: Any = None) -> Tensor: ...
