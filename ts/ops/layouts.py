"""How the results of operators lie in memory, where that is not how their kernels happen to leave them.

In: an operator's name, without `aten::`, and overload; out: the rule, or one rule for each result.  A rule
gives the order of a result's dimensions in memory, from its shape and from the arguments that are arrays:

    rules_of("cumsum", "")              ("contiguous",)
    rules_of("linalg_qr", "")           ("columns", "columns")
    x.t().cumsum(0).is_contiguous()     True, so that view(-1) works on it

`placed` copies a result that lies in another order.  Dimensions of length 1 lie anyhow, but not in
channels-last results.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from ts._core import strides
from ts.ops import rules

Array = rules.Array
Shape = tuple[int, ...]
Order = tuple[int, ...]  # dimensions from the outermost to the innermost
Rule = Callable[[Shape, Sequence[Array]], Order]


def _steps(x: Array) -> Shape:
    return tuple(step // x.dtype.itemsize for step in x.strides)


def _by_strides(steps: Sequence[int], shape: Shape) -> Order:
    return tuple(sorted(range(len(shape)), key=lambda d: (-steps[d], d)))


def contiguous(shape: Shape, given: Sequence[Array]) -> Order:
    """In the order in which they are written down."""
    return tuple(range(len(shape)))


def columns(shape: Shape, given: Sequence[Array]) -> Order:
    """Matrices by columns, as LAPACK has them."""
    n = len(shape)
    return (*range(n - 2), n - 1, n - 2) if n > 1 else tuple(range(n))


def outermost_last(shape: Shape, given: Sequence[Array]) -> Order:
    """The first dimension innermost."""
    return (*range(1, len(shape)), 0) if shape else ()


def like_first(shape: Shape, given: Sequence[Array]) -> Order:
    """The first argument's order, where the result has its shape."""
    x = given[0] if given else None
    if x is None or tuple(x.shape) != shape:
        return contiguous(shape, given)
    return _by_strides(strides.preserved(shape, _steps(x)), shape)


def like_all(shape: Shape, given: Sequence[Array]) -> Order:
    """The order of the arguments that are broadcast to the result, the first that has one deciding."""
    return _by_strides(
        strides.of_result(shape, *(_broadcast(x, shape) for x in given if x.ndim <= len(shape))), shape
    )


def _broadcast(x: Array, shape: Shape) -> Shape:
    """Strides of x expanded to a shape."""
    missing = len(shape) - int(x.ndim)
    pairs = zip(_steps(x), x.shape, shape[missing:], strict=True)
    return (0,) * missing + tuple(0 if n == 1 != m else step for step, n, m in pairs)


def channels(shape: Shape, given: Sequence[Array]) -> Order:
    """Channels innermost where they are in the first argument, of 4 or 5 dimensions."""
    return _channels_last(len(shape), bool(given) and given[0].ndim > 3 and channels_last(given[0]))


def channels_1d(shape: Shape, given: Sequence[Array]) -> Order:
    """Channels innermost where they are in the first argument, of 3 dimensions too."""
    return _channels_last(len(shape), bool(given) and channels_last(given[0]))


def all_channels(shape: Shape, given: Sequence[Array]) -> Order:
    """Channels innermost where they are in all arguments, of 4 or 5 dimensions."""
    return _channels_last(len(shape), bool(given) and all(x.ndim > 3 and channels_last(x) for x in given))


def any_channels(shape: Shape, given: Sequence[Array]) -> Order:
    """Channels innermost where input or weight has them so; both in 1-d; in 3-d of several images only."""
    found = [channels_last(x) for x in given[:2]]
    wanted = any(found) if len(shape) > 3 else bool(found) and all(found)
    return _channels_last(len(shape), wanted and (len(shape) < 5 or shape[0] > 1))


def _channels_last(rank: int, wanted: bool) -> Order:
    return (0, *range(2, rank), 1) if wanted and rank > 2 else tuple(range(rank))


def channels_last(x: Array) -> bool:
    """Whether an array of 4 or 5 dimensions, or of 3 as if it had 4, lies with its channels innermost.

    Where lengths of 1 leave it open it does not.
    """
    rank = x.ndim
    if rank not in (3, 4, 5) or 0 in x.shape:
        return False
    steps, least = _steps(x), 0
    if steps[1] == 0:
        return False
    for d in (1, *range(rank - 1, 1, -1), 0):
        if steps[d] < least or (d == 0 and least == steps[1]):
            return False
        least = steps[d] * max(x.shape[d], 1)
    return True


RULES: Final[dict[str, Rule]] = {
    f.__name__: f
    for f in (
        contiguous,
        columns,
        outermost_last,
        like_first,
        like_all,
        channels,
        channels_1d,
        all_channels,
        any_channels,
    )
}

_TABLE: Final[dict[str, str]] = {
    "contiguous": """
        max_unpool3d mean.dim nanmean sum.dim_IntList nansum amax amin std var norm linalg_vector_norm
        quantile count_nonzero cumsum cumprod logcumsumexp special_multigammaln mvlgamma renorm tril triu
        gather take masked_scatter masked_fill.Scalar pow.Scalar float_power.Scalar matmul linalg_matmul
        cross linalg_cross linalg_vander vander linalg_vecdot linalg_pinv pinverse linalg_matrix_rank
        rrelu rrelu_with_noise log_sigmoid softmax special_softmax _safe_softmax log_softmax
        special_log_softmax _softmax_backward_data _log_softmax_backward_data layer_norm cdist
        scaled_dot_product_attention stack pad_sequence cumulative_trapezoid trapezoid trapz fft_fftshift
        fft_ifftshift einsum conv_tbc prod.dim_int any.dim all.dim norm.ScalarOpt_dim
        norm.ScalarOpt_dim_dtype logsumexp special_logsumexp frobenius_norm cosine_similarity
        pairwise_distance linalg_eigvalsh linalg_eigvals linalg_svdvals multinomial one_hot max_pool1d
        avg_pool3d adaptive_avg_pool3d conv_transpose3d det linalg_det logdet linalg_cond nuclear_norm
        linalg_matrix_norm gradient
    """,
    "contiguous, contiguous": """
        topk var_mean std_mean aminmax slogdet linalg_slogdet cummax cummin _pack_padded_sequence
    """,
    "contiguous, contiguous, contiguous": "native_layer_norm",
    "channels, contiguous, contiguous": """
        native_batch_norm _native_batch_norm_legit _native_batch_norm_legit_no_training
    """,
    "like_first": """
        isreal nan_to_num as_strided_scatter resize flip fliplr flipud index_put put fill zero
        select_scatter slice_scatter diagonal_scatter index_fill argsort msort embedding_renorm cauchy
        exponential geometric log_normal random uniform fft_fftn fft_ifftn dropout feature_dropout
        alpha_dropout feature_alpha_dropout
    """,
    "like_first, like_first": "sort native_dropout",
    "like_all": """
        mul multiply div.Tensor div.Tensor_mode divide true_divide floor_divide remainder.Tensor
        fmod.Tensor atan2 arctan2 copysign nextafter hypot maximum minimum fmax fmin logaddexp logaddexp2
        heaviside igamma igammac special_gammainc special_gammaincc special_zeta eq ne not_equal lt less
        le less_equal gt greater ge greater_equal logical_and logical_or logical_xor add sub subtract
        pow.Tensor_Tensor ldexp special_xlogy xlogy special_xlog1py addcmul addcdiv lerp clamp_min.Tensor
        clamp_max.Tensor isclose max.other min.other native_dropout_backward bitwise_and bitwise_or
        bitwise_xor bitwise_left_shift bitwise_right_shift float_power.Tensor_Tensor
        float_power.Tensor_Scalar where complex polar kron special_chebyshev_polynomial_t
        special_chebyshev_polynomial_u special_chebyshev_polynomial_v special_chebyshev_polynomial_w
        special_shifted_chebyshev_polynomial_t special_shifted_chebyshev_polynomial_u
        special_shifted_chebyshev_polynomial_v special_shifted_chebyshev_polynomial_w
        special_hermite_polynomial_h special_hermite_polynomial_he special_laguerre_polynomial_l
        special_legendre_polynomial_p
    """,
    "outermost_last": "nonzero argwhere linalg_tensorinv",
    "columns": """
        inverse linalg_inv linalg_solve linalg_cholesky cholesky cholesky_inverse cholesky_solve
        linalg_solve_triangular linalg_lu_solve lu_solve linalg_ldl_solve
    """,
    "columns, contiguous": """
        linalg_inv_ex linalg_solve_ex linalg_cholesky_ex linalg_lu_factor geqrf linalg_ldl_factor
    """,
    "columns, contiguous, contiguous": "linalg_lu_factor_ex _lu_with_info linalg_ldl_factor_ex",
    "contiguous, columns": "linalg_eigh linalg_eig",
    "columns, contiguous, columns": "linalg_svd",
    "columns, contiguous, contiguous ": "svd",
    "columns, columns": "linalg_qr qr triangular_solve",
    "columns, contiguous, contiguous, contiguous": "linalg_lstsq",
    "all_channels": "cat concat concatenate hstack vstack row_stack dstack column_stack",
    "channels": """
        constant_pad_nd pad reflection_pad2d reflection_pad3d replication_pad2d replication_pad3d
        max_pool2d max_pool3d avg_pool2d adaptive_avg_pool2d max_unpool2d upsample_nearest2d
        upsample_nearest3d _upsample_nearest_exact2d _upsample_nearest_exact3d upsample_bilinear2d
        upsample_trilinear3d upsample_bicubic2d _upsample_bilinear2d_aa _upsample_bicubic2d_aa
        _upsample_lanczos2d_aa roll pixel_shuffle pixel_unshuffle channel_shuffle native_channel_shuffle
        batch_norm group_norm rms_norm
    """,
    "channels, contiguous": "_fused_rms_norm",
    "channels, channels": "max_pool2d_with_indices max_pool3d_with_indices adaptive_max_pool2d",
    "channels_1d": "avg_pool1d adaptive_avg_pool1d",
    "channels_1d, channels_1d": "max_pool1d_with_indices adaptive_max_pool1d",
    "any_channels": "convolution conv1d conv2d conv3d conv_transpose2d",
}


def _read() -> dict[str, tuple[str, ...]]:
    return {name: tuple(rule.strip().split(", ")) for rule, names in _TABLE.items() for name in names.split()}


_BY_NAME: Final = _read()


def rules_of(name: str, overload: str) -> tuple[str, ...]:
    """The rules of an operator's results, by its name with or without overload; empty where there is none."""
    return _BY_NAME.get(f"{name}.{overload}") or _BY_NAME.get(name, ())


def arranged(xp: Any, names: tuple[str, ...], result: Any, args: Sequence[Any]) -> Any:
    """What a kernel gave, with the strides of the rules; an argument that comes back stays as it is."""
    given = [x for x in _flat(args) if hasattr(x, "strides")]
    if len(names) == 1:
        return _unless_given(xp, names[0], result, given)
    return tuple(_unless_given(xp, name, x, given) for name, x in zip(names, result, strict=True))


def _flat(args: Sequence[Any]) -> Iterator[Any]:
    for x in args:
        if type(x) is list:
            yield from x
        else:
            yield x


def _unless_given(xp: Any, rule: str, x: Any, given: Sequence[Array]) -> Any:
    if type(x) is list:
        return [_unless_given(xp, rule, y, given) for y in x]
    if not hasattr(x, "strides") or any(x is y for y in given):
        return x
    return placed(xp, rule, x, given)


def placed(xp: Any, rule: str, x: Array, given: Sequence[Array]) -> Array:
    """The result x with the strides of a rule; x itself where it has them."""
    shape = tuple(x.shape)
    order = RULES[rule](shape, given)
    all_count = len(order) > 3 and order[-1] == 1  # channels-last strides say it also of a single pixel
    step = x.dtype.itemsize
    for d in reversed(order):
        if shape[d] != 1 or all_count:
            if x.strides[d] != step:
                break
            step *= shape[d]
    else:
        return x
    if not x.size:
        return x
    inverse = tuple(sorted(range(len(order)), key=order.__getitem__))
    made = xp.empty([shape[d] for d in order], dtype=x.dtype).transpose(inverse)
    made[...] = x
    return made
