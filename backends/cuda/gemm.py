"""Matrix products of 16-bit floats by cuBLAS, with 16-bit operands and float32 sums (mixed-precision GEMM).

Input: arrays of one 16-bit dtype, with the shapes that NumPy's `matmul` accepts. Output: the product, rounded
once. CuPy's own functions convert stacks of float16 matrices, and all bfloat16 matrices, to float32. Example:

    matmul(x, w.T)      (..., k) by (k, n), read in place: one call of cublasGemmEx
    matmul(q, k)        stacks of matrices: one call of cublasGemmStridedBatchedEx

cuBLAS stores matrices in column-major order. A row-major matrix is the transpose of a column-major one, so
the functions compute transpose(b) @ transpose(a), which is the transpose of the product. Each dimension must
be less than 2**31.
"""

from __future__ import annotations

import math
from typing import Any

import cupy
import numpy as np

from ts import dtypes

_ZERO = np.zeros((), np.float32)
_FLOAT32 = np.dtype(np.float32)
_TYPES: dict[np.dtype[Any], int] = {
    np.dtype(np.float16): cupy.cuda.runtime.CUDA_R_16F,
    dtypes.bfloat16.numpy_dtype: cupy.cuda.runtime.CUDA_R_16BF,
}


_RESULT_TYPES = {**_TYPES, _FLOAT32: cupy.cuda.runtime.CUDA_R_32F}


def is_supported(a: Any, b: Any) -> bool:
    """Return whether `matmul` can multiply two values: arrays of one 16-bit dtype with dimensions."""
    return (
        isinstance(a, cupy.ndarray)
        and isinstance(b, cupy.ndarray)
        and a.dtype == b.dtype
        and a.dtype in _TYPES
        and min(a.ndim, b.ndim) > 0
    )


def matmul(a: Any, b: Any, dtype: np.dtype[Any] | None = None, factor: float = 1.0) -> Any:
    """Return the matrix product of two arrays of one 16-bit dtype, with the shapes of NumPy's `matmul`.

    `factor` multiplies the product before it is rounded to `dtype`: float32, or by default the operands'.
    """
    if a.ndim == 1 or b.ndim == 1:
        result = matmul(a[None] if a.ndim == 1 else a, b[:, None] if b.ndim == 1 else b, dtype, factor)
        result = result[..., 0, :] if a.ndim == 1 else result
        return result[..., 0] if b.ndim == 1 else result
    if a.shape[-1] != b.shape[-2]:
        raise ValueError(f"matmul: shapes {a.shape} and {b.shape} do not match")
    if a.ndim > 2 and b.ndim == 2 and a.flags.c_contiguous:  # one product of all rows of `a`
        rows = a.reshape(math.prod(a.shape[:-1]), a.shape[-1])
        return matmul(rows, b, dtype, factor).reshape(*a.shape[:-1], b.shape[1])
    stack = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    (m, k), n = a.shape[-2:], b.shape[-1]
    result = cupy.empty((*stack, m, n), a.dtype if dtype is None else dtype)
    if not result.size:
        return result
    if k == 0:
        result.fill(0)
        return result
    _multiply(result, _with_stack(a, stack), _with_stack(b, stack), math.prod(stack), factor)
    return result


def _with_stack(x: Any, stack: tuple[int, ...]) -> Any:
    """Return a matrix if `x` is the same for the whole stack of products, else an array (products, m, n)."""
    matrix = x.shape[-2:]
    if math.prod(x.shape[:-2]) == 1:
        return x.reshape(matrix)
    if x.shape[:-2] != stack:
        x = cupy.ascontiguousarray(cupy.broadcast_to(x, (*stack, *matrix)))
    return x.reshape(math.prod(stack), *matrix)


def _operand(x: Any) -> tuple[Any, bool, int, int]:
    """Return a matrix or stack as cuBLAS reads it.

    The items are the array, whether it is column-major, the leading dimension, and the stride of the stack.
    The array is copied if neither its rows nor its columns are contiguous.
    """
    item = x.itemsize
    if all(step % item == 0 for step in x.strides):
        steps = [step // item for step in x.strides]
        distance = steps[0] if x.ndim == 3 else 0
        rows, columns = x.shape[-2:]
        for is_column_major, length, count, inner, outer in (
            (False, columns, rows, steps[-1], steps[-2]),
            (True, rows, columns, steps[-2], steps[-1]),
        ):
            if (inner == 1 or length == 1) and (count == 1 or outer >= length) and distance >= 0:
                return x, is_column_major, length if count == 1 else outer, distance
    x = cupy.ascontiguousarray(x)
    return x, False, x.shape[-1], x.strides[0] // item if x.ndim == 3 else 0


def _multiply(result: Any, a: Any, b: Any, count: int, factor: float) -> None:
    from cupy_backends.cuda.libs import cublas  # imported here, because it loads the library

    a, a_columns, a_leading, a_distance = _operand(a)
    b, b_columns, b_leading, b_distance = _operand(b)
    (m, k), n = a.shape[-2:], b.shape[-1]
    handle = cupy.cuda.device.get_cublas_handle()
    operations = [
        cublas.CUBLAS_OP_T if transposed else cublas.CUBLAS_OP_N for transposed in (b_columns, a_columns)
    ]
    number, kind = _TYPES[a.dtype], (cublas.CUBLAS_COMPUTE_32F, cublas.CUBLAS_GEMM_DEFAULT)
    scale = np.array([factor], np.float32)
    alpha, zero = scale.ctypes.data, _ZERO.ctypes.data
    target = result.data.ptr, _RESULT_TYPES[result.dtype], n
    if count == 1:
        cublas.gemmEx(
            handle, *operations, n, m, k, alpha, b.data.ptr, number, b_leading, a.data.ptr, number, a_leading,
            zero, *target, *kind,
        )  # fmt: skip
    else:
        cublas.gemmStridedBatchedEx(
            handle, *operations, n, m, k, alpha, b.data.ptr, number, b_leading, b_distance, a.data.ptr,
            number, a_leading, a_distance, zero, *target, m * n, count, *kind,
        )  # fmt: skip
