"""Operator support of 8-bit floats, with PyTorch's errors for unsupported operators.

8-bit floats support storage, conversion, data movement and comparison. For example, `x + 1` raises this
error:

    NotImplementedError: "add_stub" not implemented for 'Float8_e4m3fn'

Operators that only move data, such as `gather` and `flip`, always work. In PyTorch, some of them have no
kernel. Here, the C kernels move elements as bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

from ts import dtypes
from ts._core.tensor import narrow_casts
from ts._core.tensor.tensor import Tensor
from ts.ops import common

if TYPE_CHECKING:
    from ts.ops.operator_record import OperatorRecord

Kernel = Callable[..., Any]

# Operator families whose operators all support 8-bit floats.
FAMILIES: Final = ("view", "view_backward", "transpose", "storage_ops")
_PACKED_NAMES: Final = """
    zeros empty zeros_like empty_like new_zeros new_empty
    new_empty_strided empty_strided empty_permuted zero copy
    cat concat concatenate stack _stack hstack vstack row_stack dstack column_stack block_diag
    atleast_1d atleast_2d atleast_3d broadcast_tensors meshgrid cartesian_prod repeat tile roll
    diag diagflat diag_embed
    flip fliplr flipud rot90 gather scatter.src take take_along_dim index_copy
    embedding
    index index_put _index_put_impl index_select _unsafe_index masked_select where
    select_scatter slice_scatter diagonal_scatter
    eq ne not_equal isnan isreal conj_physical type_as _to_copy
    is_floating_point is_complex is_signed is_same_size result_type can_cast promote_types
"""
# operators that also support packed dtypes, which store two 4-bit floats in a byte
_PACKED_OPERATORS: Final = frozenset(_PACKED_NAMES.split())
_NAMES: Final = """
    ones full eye ones_like full_like new_ones new_full fill fill_diagonal scalar_tensor
    constant_pad_nd pad pad_sequence scatter.value tril triu
    equal any all abs absolute item _local_scalar_dense is_nonzero
"""
_OPERATORS: Final = _PACKED_OPERATORS | frozenset(_NAMES.split())
_COMPARING: Final = ("eq", "ne", "not_equal", "isnan")
_WITH_INFINITY: Final = {  # operators that support only some 8-bit floats -> the dtypes that they support
    "isinf": (dtypes.float8_e5m2,),
    "isfinite": (dtypes.float8_e5m2, dtypes.float8_e8m0fnu),
}
# Operators that support only signed, unpacked dtypes -> PyTorch's kernel name
_OF_SIGNED: Final = {"abs": "abs_cpu", "absolute": "abs_cpu", "index_put": "index_put"}
# Operators that support 8-bit floats only if the argument `dtype=` selects another dtype. They first convert
# their operand to this dtype.
CONVERTING: Final = ("sum", "mean", "prod", "cumsum", "cumprod", "softmax", "log_softmax")

# Each line contains a name of a PyTorch kernel, which occurs in error messages, and the operators that run
# this kernel. Kernels with the name of their operator are not listed.
_KERNELS: Final = """
    GeluKernelImpl: gelu
    GroupNormKernelImpl: group_norm
    LayerNormKernelImpl: layer_norm
    acos_vml_cpu: acos arccos
    acosh_cpu: acosh arccosh
    adaptive_avg_pool2d: adaptive_avg_pool1d
    adaptive_avg_pool3d_cpu: adaptive_avg_pool3d
    adaptive_max_pool2d: adaptive_max_pool1d
    adaptive_max_pool3d_cpu: adaptive_max_pool3d
    add_stub: add cumulative_trapezoid diff dist gradient hinge_embedding_loss l1_loss
    add_stub: margin_ranking_loss pairwise_distance rsub sub subtract trapezoid trapz triplet_margin_loss
    addcdiv_cpu_out: addcdiv
    addcmul_cpu_out: addcmul
    addmm_impl_cpu_: addmm linear matmul mm
    addmv_impl_cpu: mv
    airy_ai_cpu: special_airy_ai
    aminmax_cpu: aminmax histc
    angle_cpu: angle
    arange_cpu: arange bartlett_window blackman_window hamming_window hann_window kaiser_window mvlgamma
    arange_cpu: special_multigammaln
    argmax_cpu: argmax
    argmin_cpu: argmin
    asin_vml_cpu: arcsin asin
    asinh_cpu: arcsinh asinh
    atan2_cpu: arctan2 atan2
    atan_vml_cpu: arctan atan
    atanh_cpu: arctanh atanh
    avg_pool2d: avg_pool1d
    avg_pool3d_out_frame: avg_pool3d
    bernoulli_scalar_cpu_: alpha_dropout dropout feature_dropout
    bernoulli_tensor_cpu_self_: bernoulli
    bessel_j0_cpu: special_bessel_j0
    bessel_j1_cpu: special_bessel_j1
    bessel_y0_cpu: special_bessel_y0
    bessel_y1_cpu: special_bessel_y1
    bincount_cpu: bincount
    binomial_cpu: binomial
    bitwise_and_cpu: bitwise_and
    bitwise_not_cpu: bitwise_not
    bitwise_or_cpu: bitwise_or
    bitwise_xor_cpu: bitwise_xor
    bmm: linalg_matrix_power matrix_power
    cauchy_cpu: cauchy
    ceil_vml_cpu: ceil
    channel_shuffle: native_channel_shuffle
    chebyshev_polynomial_t_cpu: special_chebyshev_polynomial_t
    chebyshev_polynomial_u_cpu: special_chebyshev_polynomial_u
    chebyshev_polynomial_v_cpu: special_chebyshev_polynomial_v
    chebyshev_polynomial_w_cpu: special_chebyshev_polynomial_w
    check_uniform_bounds: fractional_max_pool2d fractional_max_pool3d rand rand_like uniform
    cholesky_cpu: cholesky
    cholesky_inverse_out_cpu: cholesky_inverse
    cholesky_solve_cpu: cholesky_solve
    clamp_max_scalar_cpu: clamp_max
    clamp_min_scalar_cpu: clamp_min relu
    clamp_scalar_cpu: clamp hardtanh relu6
    compute_indices_weights_nearest: upsample_nearest1d upsample_nearest3d
    copysign_cpu: copysign
    cos_vml_cpu: cos
    cosh_cpu: cosh
    cummax_cpu: cummax
    cummin_cpu: cummin
    cumprod_out_cpu: cumprod
    cumsum_out_cpu: cumsum
    digamma: polygamma special_digamma special_psi
    div_cpu_reduced_float: div divide true_divide
    div_floor_cpu: floor_divide
    div_floor_cpu_reduced_float: stft
    dot: inner tensordot vdot
    elu_cpu: celu elu selu
    entr_cpu: special_entr
    equal_cpu: equal
    erf_vml_cpu: erf special_erf
    erfc_vml_cpu: erfc special_erfc
    erfcx_cpu: special_erfcx
    erfinv_vml_cpu: erfinv special_erfinv
    exp2: special_exp2
    exp_vml_cpu: exp
    expm1_vml_cpu: expm1 special_expm1
    exponential_cpu: exponential
    floor_vml_cpu: floor
    fmax_cpu: fmax
    fmin_cpu: fmin
    fmod_cpu: fmod
    frac_cpu: frac
    frexp_cpu: frexp
    gcd_cpu: gcd
    ge_cpu: einsum ge greater_equal
    geometric_cpu: geometric
    geqrf_cpu: geqrf linalg_qr qr
    glu_cpu: glu
    gt_cpu: greater gt
    hardshrink_cpu: hardshrink
    hardsigmoid_cpu: hardsigmoid
    hardswish_cpu: hardswish
    heaviside_cpu: heaviside
    hermite_polynomial_h_cpu: special_hermite_polynomial_h
    hermite_polynomial_he_cpu: special_hermite_polynomial_he
    histogramdd: histogram
    huber_cpu: huber_loss
    hypot_cpu: hypot
    i0_vml_cpu: i0 special_i0
    i0e_cpu: special_i0e
    i1_cpu: special_i1
    i1e_cpu: special_i1e
    igamma_cpu: igamma special_gammainc
    igammac_cpu: igammac special_gammaincc
    im2col_out_cpu: im2col
    isin_default_cpu: isin
    isneginf_cpu: isneginf
    isposinf_cpu: isposinf
    kthvalue_cpu: kthvalue
    laguerre_polynomial_l_cpu: special_laguerre_polynomial_l
    lcm_cpu: lcm
    le_cpu: le less_equal
    leaky_relu_cpu: leaky_relu rrelu rrelu_with_noise
    legendre_polynomial_p_cpu: special_legendre_polynomial_p
    lerp_kernel_scalar: lerp
    lgamma_vml_cpu: lgamma special_gammaln
    linalg_eigh_cpu: linalg_eigh linalg_eigvalsh
    linalg_lstsq_cpu: linalg_lstsq
    linalg_svd_cpu: linalg_cond linalg_matrix_rank linalg_svd linalg_svdvals svd
    linspace_cpu: linspace
    log10_vml_cpu: log10
    log1p_vml_cpu: log1p special_log1p
    log2_vml_cpu: log2
    log_ndtr_cpu: special_log_ndtr
    log_normal_cpu: log_normal
    log_sigmoid_cpu: binary_cross_entropy_with_logits log_sigmoid
    log_softmax_kernel_impl: _log_softmax log_softmax special_log_softmax
    log_softmax_lastdim_kernel_impl: cross_entropy_loss
    log_vml_cpu: log
    logaddexp2_cpu: logaddexp2
    logaddexp_cpu: logaddexp
    logcumsumexp_out_cpu: logcumsumexp
    logical_and_cpu: logical_and
    logical_not_cpu: logical_not
    logical_or_cpu: logical_or
    logical_xor_cpu: logical_xor
    logit_cpu: logit special_logit
    logspace_cpu: logspace
    lshift_cpu: bitwise_left_shift
    lt_cpu: less lt
    lu_cpu: det linalg_det linalg_lu linalg_lu_factor linalg_lu_factor_ex linalg_solve linalg_solve_ex
    max_all: max
    max_pool1d_impl: max_pool1d
    max_pool2d: max_pool1d_with_indices max_pool2d_with_indices
    max_pool3d: max_pool3d_with_indices
    max_values_cpu: amax logsumexp special_logsumexp
    maximum_cpu: clip maximum
    median_cpu: median nanmedian
    min_all: min multilabel_margin_loss
    min_values_cpu: amin
    minimum_cpu: minimum
    mish_cpu: mish
    mode_cpu: mode
    modified_bessel_i0_cpu: special_modified_bessel_i0
    modified_bessel_i1_cpu: special_modified_bessel_i1
    modified_bessel_k0_cpu: special_modified_bessel_k0
    modified_bessel_k1_cpu: special_modified_bessel_k1
    mse_cpu: mse_loss
    mul_cpu_reduced_float: allclose deg2rad isclose max_unpool2d max_unpool3d mul multiply rad2deg
    mul_cpu_reduced_float: special_ndtr
    multi_margin_loss_cpu_kernel: multi_margin_loss
    nansum_cpu: nanmean nansum
    ndtri_cpu: special_ndtri
    neg_cpu: neg negative soft_margin_loss
    nextafter_cpu: nextafter
    nll_loss_out_frame: nll_loss nll_loss_nd
    nonzero_count_cpu: argwhere count_nonzero nonzero
    norm_cpu: cosine_similarity frobenius_norm linalg_matrix_norm linalg_norm linalg_vector_norm norm
    norm_cpu: norm_except_dim
    normal_kernel_cpu: normal randn randn_like
    poisson_cpu: poisson
    pow: ldexp square
    prod_out_cpu: prod
    random_kernel_cpu: random
    random_update_from_to: randint randint_like
    reciprocal_cpu: reciprocal
    remainder_cpu: remainder
    repeat_interleave_cpu: repeat_interleave
    round_vml_cpu: round special_round
    rshift_cpu: bitwise_right_shift
    rsqrt_cpu: rsqrt
    scaled_modified_bessel_k0_cpu: special_scaled_modified_bessel_k0
    scaled_modified_bessel_k1_cpu: special_scaled_modified_bessel_k1
    scatter_gather_tensor_cpu: index_add scatter scatter_add
    searchsorted_out_cpu: bucketize searchsorted
    shifted_chebyshev_polynomial_t_cpu: special_shifted_chebyshev_polynomial_t
    shifted_chebyshev_polynomial_u_cpu: special_shifted_chebyshev_polynomial_u
    shifted_chebyshev_polynomial_v_cpu: special_shifted_chebyshev_polynomial_v
    shifted_chebyshev_polynomial_w_cpu: special_shifted_chebyshev_polynomial_w
    sigmoid_cpu_reduced_float: sigmoid special_expit
    sign_cpu: sgn sign
    signbit_cpu: signbit
    silu_cpu: silu
    sin_vml_cpu: sin
    sinc_cpu: sinc special_sinc
    sinh_cpu: sinh
    slow_conv2d_cpu: conv1d conv2d
    slow_conv_transpose2d_out_cpu: conv_transpose1d
    smooth_l1_cpu: smooth_l1_loss
    softmax_kernel_impl: _softmax softmax special_softmax
    softplus_cpu: softplus
    softshrink_check: softshrink
    sorting_kernel_method_name: argsort msort sort
    spherical_bessel_j0_cpu: special_spherical_bessel_j0
    sqrt_vml_cpu: sqrt
    std_cpu: std std_mean var var_mean
    sum_cpu: corrcoef cov linalg_matrix_exp linalg_vecdot matrix_exp mean sum sum_to_size
    take_put_cpu: put
    tan_vml_cpu: tan
    tanh_vml_cpu: tanh
    threshold_cpu: threshold
    topk_cpu: topk
    triangular_solve_cpu: triangular_solve
    tril: linalg_cholesky linalg_cholesky_ex linalg_ldl_factor linalg_ldl_factor_ex
    trunc_vml_cpu: fix trunc
    unique: _unique2 unique_consecutive unique_dim
    upsample_nearest2d_channels_last: upsample_nearest2d
    xlog1py_cpu: special_xlog1py
    xlogy_cpu: kl_div special_xlogy xlogy
    xor_sum_cpu: hash_tensor
    zeta_cpu: special_zeta
"""


def kernels(table: str) -> dict[str, str]:
    """Return a dict from operator to kernel name, parsed from a table with lines "kernel: operators"."""
    lines = (line.strip().partition(": ") for line in table.strip().splitlines())
    return {operator: kernel for kernel, _, operators in lines for operator in operators.split()}


KERNELS: Final = kernels(_KERNELS)


def check(record: OperatorRecord, dtype: dtypes.dtype, args: Sequence[Any]) -> None:
    """Raise PyTorch's error if an operator does not support `dtype`, an 8-bit float."""
    name, overload = names(record)
    base = name.removesuffix("_")
    if record.promotion or base == "equal":
        common_dtype(args)
    if base == "equal" and args[0] is args[1]:
        common.raise_unsupported_dtype("equal_notnan_cpu", dtype.numpy_dtype)
    if base in _OF_SIGNED and (dtype.is_packed or not dtype.is_signed):
        common.raise_unsupported_dtype(_OF_SIGNED[base], dtype.numpy_dtype)
    supported = _PACKED_OPERATORS if dtype.is_packed else _OPERATORS
    if (
        base in supported
        or f"{base}.{overload}" in supported
        or record.family in FAMILIES
        or dtype in _WITH_INFINITY.get(base, ())
    ):
        return
    target = dtype_argument(record, args)
    if base in CONVERTING and target is not None and not (target.is_narrow and target.is_floating_point):
        return
    common.raise_unsupported_dtype(KERNELS.get(base, base), dtype.numpy_dtype)


def kernel(record: OperatorRecord, base_kernel: Kernel, args: Sequence[Any]) -> Kernel:
    """Return a kernel that compares packed elements as integers, else `base_kernel`."""
    if names(record)[0] not in _COMPARING or not any(
        isinstance(x, Tensor) and x.dtype.is_packed for x in args
    ):
        return base_kernel
    return lambda xp, *values: base_kernel(xp, *(narrow_casts.numbers(x) for x in values))


def names(record: OperatorRecord) -> tuple[str, str]:
    """Return operator name and overload name."""
    name, _, overload = record.schema_text.partition("(")[0].partition("::")[2].partition(".")
    return name, overload


def common_dtype(args: Sequence[Any]) -> common.DType:
    """Return the promoted dtype of the operands, or raise PyTorch's error if promotion is undefined."""
    operands = (x for x in args if isinstance(x, Tensor | int | float | complex))
    return common.result_type(*(x.array if isinstance(x, Tensor) else x for x in operands))


def dtype_argument(record: OperatorRecord, args: Sequence[Any]) -> dtypes.dtype | None:
    """Return a call's `dtype` argument, or None if it is missing."""
    for parameter, x in zip(record.schema.arguments, args, strict=True):
        if parameter.name == "dtype" and x is not None:
            return dtypes.as_dtype(x)
    return None
