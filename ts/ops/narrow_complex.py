"""Operator support and computation rules of complex32, the dtype with two float16 parts.

Input: an operator with a complex32 argument or result. Output: a kernel, or PyTorch's error if the operator
is not supported. Each line shows an expression and the outcome:

    x * 2       a kernel that computes in complex64 and rounds the result
    x / 2       NotImplementedError: "div_cpu" not implemented for 'ComplexHalf'

Operators that only move data, such as `gather` and `flip`, always work. In PyTorch, some of them have no
kernel. Here, the C kernels move elements as bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, NoReturn

import numpy as np

from ts import dtypes
from ts._core.tensor.conversions import cast_elements
from ts._core.tensor.tensor import Tensor
from ts.ops import common, narrow_floats, unsupported_dtypes

if TYPE_CHECKING:
    from ts.ops.operator_record import OperatorRecord

Kernel = Callable[..., Any]

_MOVES: Final = """
    zeros ones full empty zeros_like ones_like full_like empty_like new_zeros new_ones new_full new_empty
    new_empty_strided empty_strided empty_permuted zero fill copy scalar_tensor complex
    rand randn rand_like randn_like normal uniform
    _no_grad_normal _no_grad_uniform _no_grad_fill _no_grad_zero
    item _local_scalar_dense is_nonzero type_as _to_copy to clone contiguous
    is_floating_point is_complex is_signed is_same_size result_type can_cast promote_types
"""
_MOVED: Final = frozenset(_MOVES.split())
_COMPUTES: Final = """
    abs absolute neg negative conj _conj _conj_copy conj_physical
    _neg_view _neg_view_copy positive sgn eq ne not_equal isclose allclose isnan isinf isfinite isreal any all
    count_nonzero nonzero nonzero_static nonzero_numpy argwhere var std var_mean std_mean norm native_norm
    linalg_vector_norm linalg_norm frobenius_norm dist pairwise_distance float_power kron outer ger
    cat concat concatenate stack _stack hstack vstack row_stack dstack column_stack block_diag _chunk_cat
    atleast_1d atleast_2d atleast_3d broadcast_tensors meshgrid cartesian_prod combinations repeat tile roll
    repeat_interleave.self_Tensor repeat_interleave.self_int diag diagflat diag_embed constant_pad_nd pad
    flip fliplr flipud rot90 gather scatter.src scatter.value take take_along_dim tril triu
    index_copy index_fill index_add embedding fill_diagonal pad_sequence
    index index_put _index_put_impl index_select _unsafe_index masked_select masked_fill where
    select_scatter slice_scatter diagonal_scatter as_strided_scatter
    _unsafe_masked_index _unsafe_masked_index_put_accumulate fft_fftshift fft_ifftshift
    conv1d conv2d conv3d convolution conv_transpose1d conv_transpose2d conv_transpose3d
"""
_COMPUTED: Final = frozenset(_COMPUTES.split())
# Operators that round scale factors and intermediate results to complex32, too. All others round only the
# result.
_STEPS: Final = "add sub subtract rsub mul multiply addcmul diff l1_loss"
_STEPWISE: Final = frozenset(_STEPS.split())

# Each line contains a name of a PyTorch kernel, which occurs in error messages, and the operators that run
# this kernel. `narrow_floats.KERNELS` contains the kernel names of all other operators.
_KERNELS: Final = """
    addmv_impl_cpu: addmv mv
    addr_cpu: addr
    orgqr_cpu: linalg_householder_product orgqr
    ormqr_cpu: ormqr
    triangular_solve_cpu: triangular_solve linalg_solve_triangular
    linalg.lu_solve_cpu: lu_solve linalg_lu_solve
    scatter_gather_scalar_cpu: lu_unpack
    addmm_impl_cpu_: addmm linear matmul mm addbmm linalg_multi_dot
    div_cpu: div divide true_divide gradient
    exp_vml_cpu: exp logsumexp special_logsumexp
    pixel_shuffle: pixel_shuffle
    sigmoid_cpu: sigmoid special_expit
    sinc_cpu: sinc special_sinc
    lu_cpu: lu _lu_with_info det linalg_det linalg_lu linalg_lu_factor linalg_lu_factor_ex
    lu_cpu: linalg_solve linalg_solve_ex linalg_tensorsolve
    linalg_eig_out_cpu: linalg_eig linalg_eigvals
    cholesky_cpu: cholesky linalg_cholesky linalg_cholesky_ex
    ldl_factor_kernel_cpu: linalg_ldl_factor linalg_ldl_factor_ex
    ldl_solve_kernel_cpu: linalg_ldl_solve
    cross: cross linalg_cross
    im2col_out_cpu: im2col
    cumsum_out_cpu: cumsum cumulative_trapezoid
    sum_cpu: corrcoef cov mean sum sum_to_size trapezoid trapz
    vdot: vdot linalg_vecdot
    bmm: bmm einsum matrix_exp linalg_matrix_exp
"""
KERNELS: Final = narrow_floats.KERNELS | narrow_floats.kernels(_KERNELS)


def check(record: OperatorRecord, dtype: dtypes.dtype, args: Sequence[Any]) -> None:
    """Raise PyTorch's error if only the result is complex32 and the operator does not support complex32."""
    if not any(map(_is_narrow, args)) and not _is_supported(record, args):
        _raise_dtype_error(record, args)


def kernel(record: OperatorRecord, base_kernel: Kernel, args: Sequence[Any]) -> Kernel:
    """Return a kernel that computes in complex64 if the operands promote to complex32, else `base_kernel`."""
    base, _ = narrow_floats.names(record)
    name = base.removesuffix("_")
    if _is_moved(record, base):
        return base_kernel
    promotes_to_complex32 = (
        dtypes.from_numpy_dtype(narrow_floats.common_dtype(args)) is dtypes.complex32
        if record.promotion
        else all(map(_promotes_to_complex32, args))
    )
    if not any(map(_is_narrow, args)) and not (record.promotion and promotes_to_complex32):
        return base_kernel  # neither an argument nor the promoted dtype is complex32
    empty = all(x.numel() == 0 for x in args if isinstance(x, Tensor)) and not any(
        type(x) is list and _is_narrow(x) for x in args
    )
    is_supported, low = (
        not promotes_to_complex32 or empty or _is_supported(record, args),
        _low_precision(record),
    )
    if name in _STEPWISE and promotes_to_complex32:
        return base_kernel
    rounded = promotes_to_complex32 and not _converts(record, args)

    def computed(xp: Any, *values: Any) -> Any:
        if low:
            raise RuntimeError(low)
        if promotes_to_complex32 and record.promotion and base.endswith("_"):
            common.check_cast(dtypes.complex32.numpy_dtype, values[0].dtype)
        wide = [_widened(x, promotes_to_complex32) for x in values]
        if not is_supported:
            _raise_kernel_or_dtype_error(base_kernel, xp, wide, record, args)
        result = base_kernel(xp, *wide)
        for value, wide_value in zip(values, wide, strict=True):
            if result is wide_value and wide_value is not value and hasattr(wide_value, "strides"):
                # an in-place operator has changed the complex64 copy of `value`
                value[...] = cast_elements(wide_value, value.dtype)
                return value
        if isinstance(result, tuple | list):
            return type(result)(_rounded(x, rounded) for x in result)
        return _rounded(result, rounded)

    return computed


def _is_supported(record: OperatorRecord, args: Sequence[Any]) -> bool:
    """Return whether PyTorch's operator supports complex32 for the arguments `args`."""
    base, overload = narrow_floats.names(record)
    name = base.removesuffix("_")
    if name.endswith("_copy"):  # operators that copy a view, such as `select_copy`, support all dtypes
        return True
    if _is_moved(record, base) or name in _COMPUTED or f"{name}.{overload}" in _COMPUTED or name in _STEPWISE:
        return True
    return _converts(record, args)


def _converts(record: OperatorRecord, args: Sequence[Any]) -> bool:
    """Return whether the operator first converts to the dtype of `dtype=`, and this is not complex32."""
    return narrow_floats.names(record)[0] in narrow_floats.CONVERTING and narrow_floats.dtype_argument(
        record, args
    ) not in (
        None,
        dtypes.complex32,
    )


def _raise_kernel_or_dtype_error(
    base_kernel: Kernel, xp: Any, wide: Sequence[Any], record: OperatorRecord, args: Sequence[Any]
) -> NoReturn:
    """Raise the error of the complex64 kernel for invalid arguments, or PyTorch's dtype error."""
    if not record.nondeterministic:
        try:
            base_kernel(xp, *wide)
        except (RuntimeError, IndexError, ValueError) as error:
            if "Complex" not in str(error):
                raise
    _raise_dtype_error(record, args)


def _raise_dtype_error(record: OperatorRecord, args: Sequence[Any]) -> NoReturn:
    name = narrow_floats.names(record)[0].removesuffix("_")
    dims = [x.dim() for x in args if isinstance(x, Tensor)]
    kernel_name = KERNELS.get(name, name)
    if name == "equal" and args[0] is args[1]:
        kernel_name = "equal_notnan_cpu"
    elif name == "matmul":
        left, right = dims
        kernel_name = "addmm_impl_cpu_" if right == 2 or (left, right >= 3) == (2, True) else "bmm"
        kernel_name = ("dot" if left == 1 else "addmv_impl_cpu") if right == 1 else kernel_name
    elif name == "lerp" and isinstance(args[2], Tensor):
        kernel_name = "lerp_kernel_tensor"
    elif kernel_name in _OF_LAST and isinstance(args[1], int) and args[1] % max(dims[0], 1) == dims[0] - 1:
        kernel_name = kernel_name.replace("_kernel", "_lastdim_kernel")
    common.raise_unsupported_dtype(kernel_name, dtypes.complex32.numpy_dtype)


_OF_LAST: Final = ("softmax_kernel_impl", "log_softmax_kernel_impl")
_FOURIER: Final = "MKL FFT doesn't support tensors of type: Half"


def _low_precision(record: OperatorRecord) -> str:
    """Return the operator's own error text for complex32, or "" if no such text exists.

    The text is the operator's error text for float16, with the dtype name "ComplexHalf".
    """
    if "fft_" in narrow_floats.names(record)[0] and "shift" not in narrow_floats.names(record)[0]:
        return _FOURIER
    messages = unsupported_dtypes.by_kind((record.base or record).dtype_errors or {})
    message = messages.get("h", "")
    return message.format(dtype="ComplexHalf") if " " in message else ""


def _is_moved(record: OperatorRecord, base: str) -> bool:
    base = base.removesuffix("_")
    return base not in _COMPUTED and (base in _MOVED or record.family in narrow_floats.FAMILIES)


def _is_narrow(x: Any) -> bool:
    if type(x) is list:
        return any(map(_is_narrow, x))
    return isinstance(x, Tensor) and x.dtype is dtypes.complex32


def _promotes_to_complex32(x: Any) -> bool:
    """Return whether promoting complex32 with operand `x` results in complex32."""
    if type(x) is list:
        return all(map(_promotes_to_complex32, x))
    if not isinstance(x, Tensor) or x.dtype.category < dtypes.FLOATING:
        return True
    return x.dtype in (dtypes.complex32, dtypes.float16)


def _widened(x: Any, narrow: bool) -> Any:
    if type(x) is list:
        return [_widened(y, narrow) for y in x]
    if hasattr(x, "strides"):
        if dtypes.from_numpy_dtype(x.dtype) is dtypes.complex32:
            return x.astype(np.complex64)
        if narrow and x.dtype == np.float16:
            return x.astype(np.float32)
    return x


def _rounded(x: Any, narrow: bool) -> Any:
    if narrow and hasattr(x, "dtype"):
        if x.dtype == np.complex64:
            return cast_elements(np.asarray(x), dtypes.complex32.numpy_dtype)
        if x.dtype == np.float32:
            return cast_elements(np.asarray(x), common.HALF)
    return x
