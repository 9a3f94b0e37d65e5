"""Names of the operators that are tensor methods, written by `python -m tests.regenerate`."""

from __future__ import annotations

from functools import cache
from typing import Final

NAMES: Final = """
    __and__ __iand__ __ilshift__ __ior__ __irshift__ __ixor__ __lshift__ __or__ __rshift__ __xor__
    _autocast_to_full_precision _autocast_to_reduced_precision _coalesced_ _dimI _dimV _indices
    _is_zerotensor _nnz _to_dense _to_sparse _to_sparse_csc _to_sparse_csr _values abs abs_ absolute
    absolute_ acos acos_ acosh acosh_ add add_ addbmm addbmm_ addcdiv addcdiv_ addcmul addcmul_ addmm
    addmm_ addmv addmv_ addr addr_ adjoint all allclose amax amin aminmax angle any arccos arccos_
    arccosh arccosh_ arcsin arcsin_ arcsinh arcsinh_ arctan arctan2 arctan2_ arctan_ arctanh arctanh_
    argmax argmin argsort argwhere as_strided as_strided_ as_strided_scatter asin asin_ asinh asinh_
    atan atan2 atan2_ atan_ atanh atanh_ atleast_1d atleast_2d atleast_3d baddbmm baddbmm_ bernoulli
    bernoulli_ bincount bitwise_and bitwise_and_ bitwise_left_shift bitwise_left_shift_ bitwise_not
    bitwise_not_ bitwise_or bitwise_or_ bitwise_right_shift bitwise_right_shift_ bitwise_xor
    bitwise_xor_ bmm broadcast_to bucketize cauchy_ ccol_indices ceil ceil_ celu celu_ channel_shuffle
    cholesky cholesky_inverse cholesky_solve chunk clamp clamp_ clamp_max clamp_max_ clamp_min
    clamp_min_ clip clip_ clone coalesce col_indices combinations conj conj_physical conj_physical_
    contiguous copy_ copysign copysign_ corrcoef cos cos_ cosh cosh_ count_nonzero cov cross
    crow_indices cummax cummin cumprod cumprod_ cumsum cumsum_ deg2rad deg2rad_ dense_dim det detach
    detach_ diag diag_embed diagflat diagonal diagonal_scatter diff digamma digamma_ dist div div_
    divide divide_ dot dsplit eq eq_ equal erf erf_ erfc erfc_ erfinv erfinv_ exp exp2 exp2_ exp_ expand
    expand_as expm1 expm1_ exponential_ fill fill_ fill_diagonal_ fix fix_ flatten flip fliplr flipud
    float_power float_power_ floor floor_ floor_divide floor_divide_ fmax fmin fmod fmod_ frac frac_
    frexp gather gcd gcd_ ge ge_ geometric_ geqrf ger greater greater_ greater_equal greater_equal_ gt
    gt_ hardshrink hash_tensor heaviside heaviside_ histc histogram hsplit hypot hypot_ i0 i0_ igamma
    igamma_ igammac igammac_ imag index_add index_add_ index_copy index_copy_ index_fill index_fill_
    index_put index_put_ index_reduce index_reduce_ index_select indices inner inverse is_coalesced
    is_complex is_conj is_distributed is_floating_point is_inference is_neg is_nonzero is_pinned
    is_same_size is_signed isclose isfinite isinf isnan isneginf isposinf isreal istft kron kthvalue lcm
    lcm_ ldexp ldexp_ le le_ lerp lerp_ less less_ less_equal less_equal_ lgamma lgamma_ log log10
    log10_ log1p log1p_ log2 log2_ log_ log_normal_ log_softmax logaddexp logaddexp2 logcumsumexp logdet
    logical_and logical_and_ logical_not logical_not_ logical_or logical_or_ logical_xor logical_xor_
    logit logit_ logsumexp lt lt_ lu lu_solve mH mT masked_fill masked_fill_ masked_scatter
    masked_scatter_ masked_select matmul matrix_H matrix_exp matrix_power max maximum mean median min
    minimum mm mode moveaxis movedim msort mul mul_ multinomial multiply multiply_ mv mvlgamma mvlgamma_
    nan_to_num nan_to_num_ nanmean nanmedian nanquantile nansum narrow narrow_copy ne ne_ neg neg_
    negative negative_ new_empty new_empty_strided new_full new_ones new_zeros nextafter nextafter_
    nonzero nonzero_numpy nonzero_static norm normal_ not_equal not_equal_ numpy_T orgqr ormqr outer
    permute pin_memory pinverse pixel_shuffle pixel_unshuffle polygamma polygamma_ positive pow pow_
    prelu prod put put_ qr quantile rad2deg rad2deg_ random_ ravel real reciprocal reciprocal_
    record_stream relu relu_ remainder remainder_ renorm renorm_ repeat repeat_interleave reshape
    reshape_as resize_ resize_as_ resolve_conj resolve_neg roll rot90 round round_ row_indices rsqrt
    rsqrt_ rsub scatter scatter_ scatter_add scatter_add_ scatter_reduce scatter_reduce_ searchsorted
    select select_scatter selu selu_ sgn sgn_ sigmoid sigmoid_ sign sign_ signbit sin sin_ sinc sinc_
    sinh sinh_ slice_scatter slogdet smm softmax sort sparse_dim sparse_mask sparse_resize_
    sparse_resize_and_clear_ split split_with_sizes sqrt sqrt_ square square_ squeeze squeeze_ sspaddmm
    std stft sub sub_ subtract subtract_ sum sum_to_size svd swapaxes swapaxes_ swapdims swapdims_ t t_
    take take_along_dim tan tan_ tanh tanh_ tensor_split tile to_dense to_padded_tensor to_sparse
    to_sparse_csc to_sparse_csr topk trace transpose transpose_ triangular_solve tril tril_ triu triu_
    true_divide true_divide_ trunc trunc_ type_as unbind unflatten unfold uniform_ unique
    unique_consecutive unsafe_chunk unsafe_split unsafe_split_with_sizes unsqueeze unsqueeze_ values var
    vdot view view_as vsplit where xlogy xlogy_ zero zero_
"""


@cache
def names() -> frozenset[str]:
    """Return the names as a set."""
    return frozenset(NAMES.split())
