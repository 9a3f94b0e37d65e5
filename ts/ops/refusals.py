"""Dtypes that PyTorch has no kernel for, where the arrays' library would compute something.

In: an operator's key and a kernel; out: the kernel, with a look at the dtype of its first tensor in front:

    guarded("aten::mm", kernel)(np, a, b)
    NotImplementedError: "addmm_impl_cpu_" not implemented for 'Bool'

A row: the kinds of dtypes (b bool, i integers, h 16-bit floats, c complex), what the message says, operators
by name or by name and overload.  Where the message is a word, it is the name of PyTorch's kernel.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from ts.ops import rules

Kernel = Callable[..., Any]

_LOW = "Low precision dtypes not supported. Got {dtype}"
_INEXACT = "Expected a floating point or complex tensor as input. Got {dtype}"

_ROWS: tuple[tuple[str, str, str], ...] = (
    # pointwise
    ("b", "addcmul_cpu_out", "addcmul"),
    ("b", "clamp_cpu", "clip.Tensor clamp.Tensor"),
    ("b", "clamp_min_scalar_cpu", "clamp_min"),
    ("b", "clamp_max_scalar_cpu", "clamp_max"),
    ("c", "logit_cpu", "special_logit logit"),
    ("i", "round_vml_cpu", "special_round"),
    ("b", "The input tensor may not be a boolean tensor.", "mvlgamma special_multigammaln"),
    # reductions, scans
    ("b", "trace", "trace"),
    ("bi", "logcumsumexp_out_cpu", "logcumsumexp"),
    ("c", "cummax_cpu", "cummax"),
    ("c", "cummin_cpu", "cummin"),
    ("bi", f"linalg.vector_norm: {_INEXACT}", "norm.ScalarOpt_dim_dtype norm.ScalarOpt_dtype"),
    ("bi", "norm(): input dtype should be either floating point or complex. Got {dtype} instead.",
     "embedding_renorm embedding_renorm_"),
    ("b", "Subtraction, the `-` operator, with two bool tensors is not supported. "
     "Use the `^` or `logical_xor()` operator instead.", "dist"),
    ("b", "cov(): bool dtype is not supported for input", "corrcoef"),
    ("bi", "nanmean(): expected input to have floating point or complex dtype but got {dtype}", "nanmean"),
    ("c", "argmax(): does not support complex input", "argmax"),
    ("c", "argmin(): does not support complex input", "argmin"),
    ("c", "max(): does not support complex input", "max.dim"),
    ("c", "min(): does not support complex input", "min.dim"),
    ("c", "maximum not implemented for complex tensors.", "max.other"),
    ("c", "minimum not implemented for complex tensors.", "min.other"),
    ("b", "trapezoid: received a bool input for `x` or `y`, but bool is not supported",
     "trapz.x trapezoid.x"),
    ("b", "trapezoid: received a bool input for `y`, but bool is not supported", "trapz.dx trapezoid.dx"),
    ("b", "cumulative_trapezoid: received a bool input for `x` or `y`, but bool is not supported",
     "cumulative_trapezoid.x"),
    ("b", "cumulative_trapezoid: received a bool input for `y`, but bool is not supported",
     "cumulative_trapezoid.dx"),
    ("c", "maximum_cpu", "index_reduce"),
    # order
    ("b", "topk does not support bool dtypes on CPU", "topk"),
    ("c", " topk does not support complex dtypes on CPU", "topk"),
    ("bc", "kthvalue_cpu", "kthvalue"),
    ("bc", "median_cpu", "median nanmedian"),
    ("bc", "median_out", "median.dim nanmedian.dim"),
    ("c", "mode_cpu", "mode"),
    ("h", "quantile() input tensor must be either float or double dtype", "quantile nanquantile"),
    ("bc", "searchsorted_out_cpu", "searchsorted bucketize"),
    ("bc", "Unsupported input type encountered for isin(): {dtype}", "isin"),
    ("c", "unique", "_unique2 unique_consecutive"),
    ("c", "unique_dim", "unique_dim"),
    ("b", "bincount_cpu", "bincount"),
    ("b", "linspace_cpu", "histc affine_grid_generator"),
    ("i", "histogram_cpu", "histc"),
    ("c", "aminmax_cpu", "histc"),
    # products
    ("b", "addmm_impl_cpu_",
     "mm linalg_matmul matmul addmm addbmm linear inner tensordot linalg_multi_dot chain_matmul conv_tbc "
     "lstm_cell rnn_tanh_cell rnn_relu_cell lstm gru rnn_tanh rnn_relu"),
    ("b", "bmm", "bmm einsum"),
    ("b", "addmv_impl_cpu", "mv addmv"),
    ("b", "dot", "dot vdot"),
    ("b", "baddbmm", "baddbmm"),
    ("b", "cross", "cross linalg_cross"),
    ("bi", f"linalg.vecdot: {_INEXACT}", "linalg_vecdot"),
    # networks
    ("c", "clamp is not supported for complex types", "relu relu6"),
    ("b", "Bool inputs not supported for hardtanh", "relu6"),
    ("c", "leaky_relu_cpu", "leaky_relu"),
    ("bci", "prelu_cpu", "prelu"),
    ("c", "elu_cpu", "elu celu selu"),
    ("c", "GeluKernelImpl", "gelu"),
    ("c", "mish_cpu", "mish"),
    ("c", "hardswish_cpu", "hardswish"),
    ("c", "hardsigmoid_cpu", "hardsigmoid"),
    ("c", "log_sigmoid_cpu", "log_sigmoid"),
    ("c", "softplus_cpu", "softplus"),
    ("bci", "softshrink_check", "softshrink"),
    ("bci", "hardshrink_cpu", "hardshrink"),
    ("c", "threshold_cpu", "threshold"),
    ("bci", "glu_cpu", "glu"),
    ("c", "softmax_lastdim_kernel_impl",
     "special_softmax _safe_softmax scaled_dot_product_attention"),
    ("c", "log_softmax_lastdim_kernel_impl", "special_log_softmax"),
    ("bci", "softmax_backward_lastdim_kernel_impl", "_softmax_backward_data"),
    ("h", "cdist", "cdist"),
    ("bic", "cdist only supports floating-point dtypes, X1 got: {dtype}", "cdist"),
    ("h", "pdist", "pdist"),
    ("bic", "pdist only supports floating-point dtypes", "pdist"),
    ("c", "expected common dtype to be floating point, yet common dtype is {dtype}", "cosine_similarity"),
    ("b", "slow_conv2d_cpu", "conv1d conv2d convolution"),
    ("c", "slow_conv2d_cpu", "convolution"),
    ("b", "compute_columns3d", "conv3d"),
    ("b", "slow_conv_transpose2d_out_cpu", "conv_transpose1d conv_transpose2d"),
    ("b", "slow_conv_transpose3d_out_cpu", "conv_transpose3d"),
    ("i", "im2col_out_cpu", "im2col"),
    ("i", "col2im_out_cpu", "col2im"),
    *(("b", f"{kind}_pad{n}d", f"{kind}_pad{n}d")
      for kind in ("reflection", "replication") for n in (1, 2, 3)),
    ("h", "avg_pool3d_out_frame", "avg_pool3d"),
    ("h", "compute_index_ranges_weights",
     "_upsample_bilinear2d_aa _upsample_bicubic2d_aa _upsample_lanczos2d_aa"),
    # linear algebra
    ("h", "lu_cpu", "det linalg_det linalg_solve linalg_solve_ex linalg_tensorsolve"),
    ("h", "cholesky_cpu", "linalg_cholesky linalg_cholesky_ex"),
    ("bhi", "cholesky_cpu", "cholesky"),
    ("bhi", "linalg_eigh_cpu", "linalg_eigh linalg_eigvalsh"),
    ("h", "linalg_eig_out_cpu", "linalg_eig linalg_eigvals"),
    ("h", "linalg_svd_cpu", "linalg_svd svd linalg_svdvals linalg_cond linalg_matrix_rank"),
    ("h", "geqrf_cpu", "linalg_qr qr"),
    ("bhi", "triangular_solve_cpu", "linalg_solve_triangular triangular_solve"),
    ("bhi", "lu_cpu", "linalg_lu_factor linalg_lu_factor_ex _lu_with_info linalg_lu"),
    ("bhi", "geqrf_cpu", "geqrf"),
    ("h", "ldl_solve_kernel_cpu", "linalg_ldl_solve"),
    ("bi", f"torch.linalg.ldl_solve: {_INEXACT}", "linalg_ldl_solve"),
    ("bi", f"linalg.svd: {_INEXACT}", "linalg_cond"),
    ("bi", f"linalg.inv: {_INEXACT}", "linalg_cond.p_str"),
    ("h", f"linalg.inv: {_LOW}", "linalg_cond.p_str"),
    ("h", "linalg.pinv({dtype}): expected a tensor with 2 or more dimensions of float, double, cfloat or "
     "cdouble types", "linalg_pinv pinverse"),
    ("h", f"linalg.slogdet: {_LOW}", "slogdet linalg_slogdet"),
    ("h", f"logdet: {_LOW}", "logdet"),
    ("h", f"linalg.inv: {_LOW}", "inverse linalg_inv linalg_inv_ex"),
    ("h", f"linalg.matrix_norm: {_LOW}", "nuclear_norm"),
    ("h", "This function doesn't handle types other than float and double",
     "linalg_matrix_rank.atol_rtol_tensor linalg_matrix_rank.atol_rtol_float linalg_pinv.atol_rtol_float"),
    ("c", "ihfft expects a real input tensor, but got {dtype}", "fft_ihfft"),
    ("c", "Only supports floating-point dtypes, but found: {dtype}", "fft_ihfft2 fft_ihfftn"),
    ("bic", "view_as_complex is only supported for half, float and double tensors, but got a tensor of "
     "scalar type: {dtype}", "view_as_complex view_as_complex_copy"),
    ("", "", "clamp_min.Tensor clamp_max.Tensor"),  # unlike their other overloads
    ("h", "Unsupported dtype {dtype}",
     "fft_fft fft_ifft fft_rfft fft_irfft fft_hfft fft_ihfft fft_fft2 fft_fftn fft_ifft2 fft_ifftn fft_rfft2 "
     "fft_rfftn fft_irfft2 fft_irfftn fft_hfft2 fft_hfftn fft_ihfft2 fft_ihfftn"),
    *(("ch", f"{name}_cpu", f"special_{name}") for name in (
        *(f"{s}chebyshev_polynomial_{k}" for s in ("", "shifted_") for k in "tuvw"),
        "hermite_polynomial_h", "hermite_polynomial_he", "laguerre_polynomial_l", "legendre_polynomial_p",
    )),
)  # fmt: skip

_KIND = {d: {"f": "f", "c": "c", "b": "b", "i": "i", "u": "i"}.get(d.kind, "") for d in rules.CODE_OF}
_KIND |= {rules.HALF: "h", rules.BFLOAT16: "h"}

_by_name: dict[str, dict[str, str]] = {}  # name or key -> kind -> message
for _kinds, _message, _names in _ROWS:
    for _name in _names.split():
        _by_name.setdefault(f"aten::{_name}", {}).update(dict.fromkeys(_kinds, _message))


def guarded(key: str, kernel: Kernel) -> Kernel:
    """The kernel, refusing the dtypes that the operator has none for."""
    messages = _by_name.get(key, _by_name.get(key.partition(".")[0]))
    if not messages:
        return kernel

    def checked(xp: Any, *args: Any) -> Any:
        dtype = _first_dtype(args)
        message = messages.get(_KIND.get(dtype, ""))
        if message is not None:
            _refuse(message, dtype)
        return kernel(xp, *args)

    return checked


def _first_dtype(args: Sequence[Any]) -> Any:
    for x in args:
        if type(x) is list and x:
            x = x[0]
        dtype = getattr(x, "dtype", None)
        if dtype is not None:
            return dtype
    return None


def _refuse(message: str, dtype: rules.DType) -> NoReturn:
    if " " not in message:
        rules.refuse(message, dtype)
    text = message.format(dtype=rules.NAME_OF[dtype])
    raise (NotImplementedError if message.startswith("clamp is") else RuntimeError)(text)
