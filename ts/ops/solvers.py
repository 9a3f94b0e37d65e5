"""Inverses and solvers of linear equations, for general, triangular and positive-definite matrices.

Input: one matrix or a batch of matrices A, and right-hand sides B. Output: inverses or solutions. The
operators `*_ex` also return LAPACK's error codes `info`, one for each matrix, instead of raising an error for
a singular matrix. The kernels call NumPy's batched LAPACK routines. If these raise an error, the kernels
compute the error codes and results by `lu_packed`:

    inv_ex([[1.0, 2.0], [2.0, 4.0]])   inverse [[-inf, inf], [inf, -inf]], info 2
"""

from __future__ import annotations

import math
from typing import Any

from ts._core.tensor import size_guards
from ts.ops import common
from ts.ops.factorizations import check_inexact, check_square, square, transpose_matrices
from ts.ops.linalg_errors import raise_errors
from ts.ops.lu_decomposition import lu_packed, solve_factored, substitute
from ts.ops.out_variants import COPIED_OUT, EXPECTED_DTYPE_ERROR, SAME_DTYPE_OUT, SCALAR, castable
from ts.ops.registry import op, shared_fields
from ts.ops.result_strides import with_result_strides
from ts.ops.unsupported_dtypes import LOW_PRECISION

Array = common.Array


def check_equation(name: str, A: Array, B: Array, left: bool) -> None:
    """Raise a RuntimeError if the matrix sizes of AX = B (or XA = B) do not match."""
    if B.ndim < 2:
        raise RuntimeError(f"{name}: The input tensor B must have at least 2 dimensions.")
    if not size_guards.equal(A.shape[-1], B.shape[-2 if left else -1]):
        equation, (rows, columns) = ("AX" if left else "XA"), B.shape[-2:]
        raise RuntimeError(
            f"{name}: Incompatible shapes of A and B for the equation {equation} = B "
            f"({A.shape[-2]}x{A.shape[-1]} and {rows}x{columns})"
        )


def check_same_dtype(name: str, A: Array, B: Array, names: str = "A and B") -> None:
    """Raise a RuntimeError with the function's name if the dtypes of `A` and `B` differ.

    `names` contains the names of both arguments.
    """
    if A.dtype != B.dtype:
        first, second = names.split(" and ")
        raise RuntimeError(
            f"{name}: Expected {names} to have the same dtype, but found {first} of type "
            f"{common.NAME_OF[A.dtype]} and {second} of type {common.NAME_OF[B.dtype]} instead"
        )


def _check_same_dtype_as_matrix(b: Array, A: Array) -> None:
    if b.dtype != A.dtype:
        raise RuntimeError(
            f"Expected b and A to have the same dtype, but found b of type {common.NAME_OF[b.dtype]} "
            f"and A of type {common.NAME_OF[A.dtype]} instead."
        )


# ------------------------------------------------------------------------------------------- general matrices


def _inverse_and_info(xp: Any, A: Array, name: str, check_errors: bool) -> tuple[Array, Array]:
    """Return inverses and LAPACK's error codes. The inverse of a singular matrix has infinities or NaN."""
    square("linalg.inv", A)
    if A.dtype in common.HALF_DTYPES:
        raise RuntimeError(f"linalg.inv: {LOW_PRECISION.format(dtype=common.NAME_OF[A.dtype])}")
    try:
        return xp.linalg.inv(A), xp.zeros(A.shape[:-2], dtype=common.INT32)
    except xp.linalg.LinAlgError:  # raised for singular matrices, and for some matrices with NaN
        lu, pivots, info = lu_packed(xp, A)
    if check_errors:
        raise_errors(xp, info, name, A.ndim == 2)
    return solve_factored(xp, lu, pivots, xp.eye(A.shape[-1], dtype=A.dtype)), info


@op("aten::linalg_inv(Tensor A) -> Tensor", **SAME_DTYPE_OUT)
@op("aten::inverse(Tensor self) -> Tensor", same_as="aten::linalg_inv", **SAME_DTYPE_OUT)
@shared_fields(
    layout="columns",
    dtype_errors={"h": f"linalg.inv: {LOW_PRECISION}"},
    work=0.1,
    autocast={"cpu": "float32"},
)
def _inv(xp: Any, A: Array) -> Array:
    return _inverse_and_info(xp, A, "linalg.inv", True)[0]


@op(
    "aten::linalg_inv_ex(Tensor A, *, bool check_errors=False) -> (Tensor inverse, Tensor info)",
    out="inverse",
    layout=("columns", "contiguous"),
    dtype_errors={"h": f"linalg.inv: {LOW_PRECISION}"},
    out_dtype_error=EXPECTED_DTYPE_ERROR,
    autocast={"cpu": "float32"},
)
def _inv_ex(xp: Any, A: Array, check_errors: bool = False) -> tuple[Array, Array]:
    return _inverse_and_info(xp, A, "linalg.inv_ex", check_errors)


def is_vector(A: Array, B: Array) -> bool:
    """Return whether `B` contains one vector per matrix of `A`, rather than a matrix."""
    return bool(B.ndim == 1 or (B.ndim == A.ndim - 1 and B.shape == A.shape[:-1]))


def check_solve(A: Array, B: Array, left: bool) -> None:
    """Raise an error if `linalg.solve` does not support the dtypes or shapes."""
    check_inexact("linalg.solve", A)
    check_same_dtype("linalg.solve", A, B)
    check_square("linalg.solve", A)
    check_equation("linalg.solve", A, B[..., None] if is_vector(A, B) else B, left)
    if is_vector(A, B) and not left:
        raise RuntimeError(
            "linalg.solve: Vector broadcasting of the left hand side is not supported for left=False. In "
            "this case linalg.solve is equivalent to B / A.squeeze(-1)"
        )
    common.check_factorised("lu_cpu", A)


def _solve_and_info(
    xp: Any, A: Array, B: Array, left: bool, name: str, check_errors: bool
) -> tuple[Array, Array]:
    """Return solutions of AX = B (or XA = B) and LAPACK's error codes of A."""
    check_solve(A, B, left)
    vector = is_vector(A, B)
    right = B[..., None] if vector else B
    common.broadcast_shapes(right.shape[:-2], A.shape[:-2])
    info = xp.zeros(A.shape[:-2], dtype=common.INT32)
    try:
        if left:
            result = xp.linalg.solve(A, right)
        else:
            result = transpose_matrices(xp.linalg.solve(transpose_matrices(A), transpose_matrices(right)))
    except xp.linalg.LinAlgError:  # raised for singular matrices, and for some matrices with NaN
        lu, pivots, info = lu_packed(xp, A)
        if check_errors:
            raise_errors(xp, info, name, A.ndim == 2)
        result = solve_factored(xp, lu, pivots, right, left)
    result = result[..., 0] if vector else result
    return with_result_strides(xp, "columns" if left else "contiguous", result, ()), info


@op(
    "aten::linalg_solve(Tensor A, Tensor B, *, bool left=True) -> Tensor",
    **SAME_DTYPE_OUT,
    autocast={"cpu": "float32"},
)
def _solve(xp: Any, A: Array, B: Array, left: bool = True) -> Array:
    return _solve_and_info(xp, A, B, left, "torch.linalg.solve", True)[0]


@op(
    "aten::linalg_solve_ex(Tensor A, Tensor B, *, bool left=True, bool check_errors=False) -> (Tensor"
    " result, Tensor info)",
    **SAME_DTYPE_OUT,
)
def _solve_ex(
    xp: Any, A: Array, B: Array, left: bool = True, check_errors: bool = False
) -> tuple[Array, Array]:
    return _solve_and_info(xp, A, B, left, "torch.linalg.solve_ex", check_errors)


# ------------------------------------------------------------------ triangular and positive-definite matrices


@op(
    "aten::_cholesky_solve_helper(Tensor self, Tensor A, bool upper) -> Tensor",
    where="",
    layout="columns",
    **COPIED_OUT,
)
@op(
    "aten::cholesky_solve(Tensor self, Tensor input2, bool upper=False) -> Tensor",
    out="out",
    layout="columns",
    out_cast_error=castable("cholesky_solve"),
    autocast={"cpu": "float32"},
)
def _cholesky_solve(xp: Any, self: Array, input2: Array, upper: bool = False) -> Array:
    for name, x in (("b", self), ("u", input2)):
        if x.ndim < 2:
            raise RuntimeError(
                f"{name} should have at least 2 dimensions, but has {x.ndim} dimensions instead"
            )
    _check_same_dtype_as_matrix(self, input2)
    rows, columns = input2.shape[-2:]
    if rows != columns:
        raise RuntimeError(f"A must be batches of square matrices, but they are {rows} by {columns} matrices")
    if self.shape[-2] != rows:
        raise RuntimeError(
            f"Incompatible matrix sizes for cholesky_solve: each A matrix is {rows} by {rows} but each b "
            f"matrix is {self.shape[-2]} by {self.shape[-1]}"
        )
    common.broadcast_shapes(self.shape[:-2], input2.shape[:-2])
    common.check_factorised("cholesky_solve_cpu", input2)
    factor = xp.triu(input2) if upper else xp.tril(input2)
    turned = xp.conj(transpose_matrices(factor))
    try:
        return xp.linalg.solve(xp.matmul(turned, factor) if upper else xp.matmul(factor, turned), self)
    except xp.linalg.LinAlgError:
        lower, higher = (turned, factor) if upper else (factor, turned)
        x = substitute(xp, lower, self, upper=False, unit=False)
        return substitute(xp, higher, x, upper=True, unit=False)


@op(
    "aten::linalg_solve_triangular(Tensor self, Tensor B, *, bool upper, bool left=True, bool "
    "unitriangular=False) -> Tensor",
    out="out",
    layout="columns",
    out_dtype_error=SCALAR,
)
def _solve_triangular(
    xp: Any, self: Array, B: Array, upper: bool, left: bool = True, unitriangular: bool = False
) -> Array:
    name = "linalg.solve_triangular"
    check_square(name, self)
    check_equation(name, self, B, left)
    common.broadcast_shapes(B.shape[:-2], self.shape[:-2])
    common.check_factorised("triangular_solve_cpu", self)
    # as in PyTorch, the result has the dtype of A
    return _triangular(xp, self, common.cast(xp, B, self.dtype), upper, left, unitriangular)


def _triangular(xp: Any, a: Array, b: Array, upper: bool, left: bool, unit: bool) -> Array:
    """Return the result x of a triangular solve: a x = b if `left`, else x a = b."""
    triangle = xp.triu(a) if upper else xp.tril(a)
    if unit:
        n = a.shape[-1]
        triangle = triangle * (1 - xp.eye(n, dtype=a.dtype)) + xp.eye(n, dtype=a.dtype)
    right = b if left else transpose_matrices(b)
    triangle, upper = (triangle, upper) if left else (transpose_matrices(triangle), not upper)
    try:
        result = xp.linalg.solve(triangle, right)
    except xp.linalg.LinAlgError:
        result = substitute(xp, triangle, right, upper=upper, unit=unit)
    return result if left else transpose_matrices(result)


@op(
    "aten::triangular_solve(Tensor self, Tensor A, bool upper=True, bool transpose=False, bool "
    "unitriangular=False) -> (Tensor solution, Tensor cloned_coefficient)",
    out="X",
    out_names="X,M",
    layout=("columns", "columns"),
    out_dtype_error=EXPECTED_DTYPE_ERROR,
    autocast={"cpu": "float32"},
)
def _triangular_solve(
    xp: Any, self: Array, A: Array, upper: bool = True, transpose: bool = False, unitriangular: bool = False
) -> tuple[Array, Array]:
    for name, x in (("b", self), ("A", A)):
        if x.ndim < 2:
            raise RuntimeError(
                f"torch.triangular_solve: Expected {name} to have at least 2 dimensions, but it has {x.ndim} "
                "dimensions instead"
            )
    _check_same_dtype_as_matrix(self, A)
    rows, columns = A.shape[-2:]
    if not size_guards.equal(rows, columns):
        raise RuntimeError(f"A must be batches of square matrices, but they are {rows} by {columns} matrices")
    if not size_guards.equal(self.shape[-2], rows):
        raise RuntimeError(
            f"Incompatible matrix sizes for triangular_solve: each A matrix is {rows} by {rows} but each b "
            f"matrix is {self.shape[-2]} by {self.shape[-1]}"
        )
    common.check_factorised("triangular_solve_cpu", A)
    matrix = transpose_matrices(A) if transpose else A
    shape = common.broadcast_shapes(self.shape[:-2], A.shape[:-2])
    clone = xp.array(xp.broadcast_to(A, (*shape, *A.shape[-2:])))
    return _triangular(xp, matrix, self, upper != transpose, True, unitriangular), clone


# ---------------------------------------------------------------------------------------------------- tensors


@op(
    "aten::linalg_tensorinv(Tensor self, int ind=2) -> Tensor",
    out="out",
    out_cast_error=castable("tensorinv"),
    layout="outermost_last",
    autocast={"cpu": "float32"},
)
def _tensorinv(xp: Any, self: Array, ind: int = 2) -> Array:
    if ind <= 0:
        raise RuntimeError(f"Expected a strictly positive integer for 'ind', but got {ind}")
    if ind > self.ndim:
        raise RuntimeError(f"ArrayRef: invalid slice, N = {ind}; size = {self.ndim}")
    rows, columns = math.prod(self.shape[:ind]), math.prod(self.shape[ind:])
    if rows != columns:
        raise RuntimeError(
            "Expected self to satisfy the requirement prod(self.shape[ind:]) == prod(self.shape[:ind]), "
            f"but got {columns} != {rows}"
        )
    dtype = self.dtype
    if dtype not in (common.FLOAT, common.DOUBLE, common.CFLOAT, common.CDOUBLE):
        what = "Low precision dtypes not supported."
        if common.CATEGORY_OF[dtype] < common.FLOATING:
            what = "Expected a floating point or complex tensor as input."
        raise RuntimeError(f"linalg.inv: {what} Got {common.NAME_OF[dtype]}")
    if not self.size:
        return xp.zeros((*self.shape[ind:], *self.shape[:ind]), dtype=dtype)
    inverse, _ = _inverse_and_info(xp, self.reshape(rows, columns), "inv", True)
    return inverse.reshape(*self.shape[ind:], *self.shape[:ind])


@op(
    "aten::linalg_tensorsolve(Tensor self, Tensor other, int[]? dims=None) -> Tensor",
    out="out",
    out_cast_error=castable("tensorsolve"),
    autocast={"cpu": "float32"},
)
def _tensorsolve(xp: Any, self: Array, other: Array, dims: Any = None) -> Array:
    order = list(range(self.ndim))
    if dims is not None:
        moved = common.wrap_dims(list(dims), self.ndim)
        order = [d for d in order if d not in moved] + list(moved)
    shape = [self.shape[d] for d in order]
    rows, columns = math.prod(other.shape), math.prod(shape[other.ndim :])
    if not size_guards.equal(rows, columns):
        raise RuntimeError(
            "Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == "
            f"prod(self.shape[:other.ndim]), but got {columns} != {rows}"
        )
    A = xp.transpose(self, order).reshape(rows, columns)
    return _solve(xp, A, other.reshape(-1)).reshape(shape[other.ndim :])
