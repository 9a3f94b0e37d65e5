"""Which dtypes `out=` may have where results are not simply cast: their own, or one to compute in.

In: an operator's name, without `aten::`; out: the message for outputs of another dtype than the result's, or
whether the output's dtype stands for a missing `dtype=`.

    refused("mm")              "Expected out tensor to have dtype {want_cpp}, but got {got_cpp} instead"
    refused("add")             "": results are cast, if only to a higher category
    computes_in_out("sum")     True: sum(floats, out=int64 tensor) adds integers
"""

from __future__ import annotations

from typing import Final

_MESSAGES: Final[dict[str, str]] = {
    "Expected out tensor to have dtype {want_cpp}, but got {got_cpp} instead": """
        addmm addmv baddbmm bmm mm linear cross linalg_cross diag isin lu_unpack lu_solve softmax
        log_softmax _softmax _log_softmax aminmax avg_pool2d avg_pool3d topk qr triangular_solve svd
        gather index_copy index_add index_reduce sort scatter scatter_add scatter_reduce slice_scatter
        msort renorm take_along_dim tril triu norm argmax argmin linalg_det linalg_cholesky
        linalg_cholesky_ex linalg_eigh linalg_eigvalsh linalg_qr linalg_slogdet linalg_vector_norm
        linalg_lu_factor linalg_lu_factor_ex linalg_lu linalg_lu_solve linalg_inv linalg_inv_ex
        linalg_solve linalg_solve_ex linalg_svd linalg_svdvals alias_copy as_strided_copy diagonal_copy
        expand_copy permute_copy squeeze_copy t_copy transpose_copy unbind_copy unfold_copy
        unsqueeze_copy view_copy split_with_sizes_copy
    """,
    "Found dtype {got} but expected {want}": """
        abs absolute bitwise_not ceil conj_physical frac floor softshrink hardshrink gelu neg negative
        round sign sgn trunc fix softplus
    """,
    "expected scalar_type {want} but found {got}": "cummax cummin diff logcumsumexp",
    "expected scalar type {want} but found {got}": "log_sigmoid linalg_solve_triangular",
    "result dtype {got} does not match input dtype {want}": "dot vdot",
    "quantile() out tensor must be same dtype as the input tensor": "quantile nanquantile",
    "tensordot: Expected the output tensor to have dtype {want}, but got an output tensor with dtype "
    "{got}": """
        inner tensordot
    """,
    "Expected the dtype for input and out to match, but got {want} for input's dtype and {got} for out's "
    "dtype.": """
        amax amin
    """,
    "torch.frexp() expects mantissa to have dtype {want_cpp} but got {got_cpp}": "frexp",
    "output values must be of same type as input": "kthvalue",
    "masked_select(): self and result must have the same scalar type": "masked_select",
    "index_select(): self and result must have the same scalar type": "index_select",
    "signbit does not support non-boolean outputs.": "signbit",
    "isposinf does not support non-boolean outputs.": "isposinf",
    "isneginf does not support non-boolean outputs.": "isneginf",
    "nan_to_num: dtype of out: {got} should be same as input: {want}": "nan_to_num",
    "take(): self and out expected to have the same dtype, but got self.dtype = {want} and out.dtype = "
    "{got}": "take",
    "nonzero: Expected out tensor to have scalar type {want} but got scalar type{got}": "nonzero",
    "multi_dot(): expected out tensor to have dtype {want_cpp} but got {got_cpp}": "linalg_multi_dot",
    "linalg.norm expected out tensor dtype {want} but got: {got}": "linalg_norm",
    "linalg.matrix_norm expected out tensor dtype {want} but got: {got}": "linalg_matrix_norm",
    "linalg.vecdot: Expected out of dtype{want} but found {got}": "linalg_vecdot",
}
_REFUSED: Final = {name: message for message, names in _MESSAGES.items() for name in names.split()}
_COMPUTED: Final = frozenset(("sum", "prod", "cumsum", "cumprod"))


def refused(name: str) -> str:
    """The message for outputs of another dtype than the result's, or ""."""
    return _REFUSED.get(name, "")


def computes_in_out(name: str) -> bool:
    """Whether the operator computes in the output's dtype where it is not told another."""
    return name in _COMPUTED
