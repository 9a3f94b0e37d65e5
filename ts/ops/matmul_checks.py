"""Checks of shapes and dtypes for matrix products, with PyTorch's messages.

Input: the operands. Output: none, or a RuntimeError or NotImplementedError. Each function checks one of
PyTorch's products (`dot`, `mv`, `mm`, `bmm`, `addmm`). `check_matmul` selects the product by the ranks of the
operands:

    (3,) @ (3,)          dot
    (2, 3) @ (3,)        mv
    (2, 3) @ (3, 4)      mm
    (5, 2, 3) @ (3, 4)   mm, because the first two dimensions are merged
    (2, 3) @ (5, 3, 4)   bmm
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from ts._core.tensor import size_guards
from ts.ops import common
from ts.ops.out_variants import SCALAR

Array = common.Array
Shape = Sequence[int]
OTHER_DTYPE = "expected m1 and m2 to have the same dtype, but got: {want_cpp} != {got_cpp}"


def _text(shape: Shape) -> str:
    return "x".join(str(n) for n in shape)


def check_not_bool(kernel: str, dtype: common.DType) -> None:
    """Raise NotImplementedError with the name of PyTorch's kernel for dtype bool."""
    if dtype == common.BOOL:
        common.raise_unsupported_dtype(kernel, dtype)


def check_dot(a: Array, b: Array) -> None:
    """Check the operands of a dot product."""
    if a.ndim != 1 or b.ndim != 1:
        raise RuntimeError(f"1D tensors expected, but got {a.ndim}D and {b.ndim}D tensors")
    if a.dtype != b.dtype:
        raise RuntimeError(
            f"dot : expected both vectors to have same dtype, but found {common.NAME_OF[a.dtype]} and "
            f"{common.NAME_OF[b.dtype]}"
        )
    if not size_guards.equal_shapes(a.shape, b.shape):
        raise RuntimeError(
            f"inconsistent tensor size, expected tensor [{a.size}] and src [{b.size}] to have the "
            f"same number of elements, but got {a.size} and {b.size} elements respectively"
        )
    check_not_bool("dot", a.dtype)


def check_mm_shapes(first: Shape, second: Shape) -> None:
    """Check the shapes of two matrices."""
    if not size_guards.equal(first[1], second[0]):
        raise RuntimeError(f"mat1 and mat2 shapes cannot be multiplied ({_text(first)} and {_text(second)})")


def check_mm_dtypes(a: common.DType, b: common.DType) -> None:
    """Check the dtypes of two matrices."""
    if a != b:
        raise RuntimeError(common.dtype_message(OTHER_DTYPE, a, b))
    check_not_bool("addmm_impl_cpu_", a)


def check_addmm_dtypes(added: common.DType, a: common.DType, b: common.DType) -> None:
    """Check the dtypes of the matrices `a` and `b` of a product, and of the matrix added to it."""
    for name, dtype in (("self", added), ("mat1", a)):
        if dtype != b:
            raise RuntimeError(
                f"{name} and mat2 must have the same dtype, but got {common.NAME_OF[dtype]} and "
                f"{common.NAME_OF[b]}"
            )
    check_not_bool("addmm_impl_cpu_", a)


def check_mv(matrix: Shape, vector: Shape) -> None:
    """Check the shapes of a matrix and a vector."""
    if not size_guards.equal(matrix[1], vector[0]):
        raise RuntimeError(
            f"size mismatch, got input ({matrix[0]}), mat ({_text(matrix)}), vec ({vector[0]})"
        )


def check_addmv_dtypes(added: common.DType, matrix: common.DType, vector: common.DType) -> None:
    """Check the dtypes of a matrix, a vector, and the vector added to their product."""
    if not added == matrix == vector:
        names = [common.NAME_OF[dtype] for dtype in (added, matrix, vector)]
        raise RuntimeError(
            f"addmv input tensors must have the same dtype, but got {names[0]}, {names[1]}, and {names[2]}"
        )
    check_not_bool("addmv_impl_cpu", matrix)


def check_bmm_shapes(first: Shape, second: Shape) -> None:
    """Check the shapes of two batches of matrices."""
    if not size_guards.equal_shapes((first[0], first[2]), second[:2]):
        raise RuntimeError(
            f"Expected size for first two dimensions of batch2 tensor to be: [{first[0]}, {first[2]}] but "
            f"got: [{second[0]}, {second[1]}]."
        )


def check_bmm_dtypes(a: common.DType, b: common.DType, kernel: str = "bmm") -> None:
    """Check the dtypes of two batches of matrices. The kernel is selected by the first dtype."""
    check_not_bool(kernel, a)
    if a != b:
        raise RuntimeError(common.dtype_message(SCALAR, a, b))


def check_matmul(a: Array, b: Array) -> None:
    """Check the operands of `matmul` if sizes of their last dimensions or their dtypes are invalid."""
    if a.ndim == 1 and b.ndim == 1:
        return check_dot(a, b)
    if b.ndim == 1:
        check_mv(_fold(a), b.shape)
        return check_addmv_dtypes(b.dtype, a.dtype, b.dtype)
    if a.ndim <= 2 and b.ndim == 2:
        check_mm_shapes(a.shape if a.ndim == 2 else (1, *a.shape), b.shape)
        return check_mm_dtypes(a.dtype, b.dtype)
    if b.ndim == 2 and _is_foldable(a):
        check_mm_shapes(_fold(a), b.shape)
        return check_mm_dtypes(a.dtype, b.dtype)
    if a.ndim <= 2 and _is_foldable(turned := b.swapaxes(-1, -2)):
        if a.ndim == 1:
            check_mv(_fold(turned), a.shape)
            return check_addmv_dtypes(a.dtype, b.dtype, a.dtype)
        check_mm_shapes(_fold(turned), a.shape[::-1])
        return check_mm_dtypes(b.dtype, a.dtype)
    count = math.prod(common.broadcast_shapes(a.shape[:-2], b.shape[:-2]))
    check_bmm_shapes((count, a.shape[-2] if a.ndim > 1 else 1, a.shape[-1]), (count, *b.shape[-2:]))
    return check_bmm_dtypes(a.dtype, b.dtype)


def _fold(x: Array) -> Shape:
    """Return the shape of `x` with all dimensions except the last one merged."""
    return (math.prod(x.shape[:-1]), x.shape[-1])


def _is_foldable(x: Array) -> bool:
    """Return whether the strides of `x` allow to merge all dimensions except the last one."""
    return all(x.strides[d] == x.strides[d + 1] * x.shape[d + 1] for d in range(x.ndim - 2))
