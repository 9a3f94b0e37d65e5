"""Matrix factorizations (Cholesky, eigenvalue decomposition ...), determinants, inverses, linear solvers.

Input: one matrix or a batch of matrices, in a floating or complex dtype. Output: factors, determinants,
inverses or solutions. The kernels call NumPy's batched LAPACK routines.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ts._core.tensor import size_guards
from ts.errors import LinAlgError
from ts.ops import common, cost_model
from ts.ops.out_variants import COPIED_OUT, EXPECTED_DTYPE_ERROR, SAME_DTYPE_OUT, SCALAR, castable
from ts.ops.registry import op, shared_fields
from ts.ops.shape_functions import ShapeAndDtype, like
from ts.ops.svd import apply_to_finite, decompose, singular_values
from ts.ops.unsupported_dtypes import INEXACT, LOW_PRECISION

Array = common.Array


def transpose_matrices(x: Array) -> Array:
    """Return the transposed view of each matrix."""
    return x.swapaxes(-1, -2)


def matrix(name: str, x: Array) -> Array:
    """Return x if it contains matrices of a floating or complex dtype, else raise RuntimeError."""
    if x.ndim < 2:
        raise RuntimeError(f"{name}: The input tensor A must have at least 2 dimensions.")
    if common.CATEGORY_OF[x.dtype] < common.FLOATING:
        raise RuntimeError(
            f"{name}: Expected a floating point or complex tensor as input. Got {common.NAME_OF[x.dtype]}"
        )
    return x


def square(name: str, x: Array) -> Array:
    """Return x if it contains square matrices of a floating or complex dtype, else raise RuntimeError."""
    matrix(name, x)
    if not size_guards.equal(x.shape[-1], x.shape[-2]):
        raise RuntimeError(
            f"{name}: A must be batches of square matrices, but they are {x.shape[-2]} by "
            f"{x.shape[-1]} matrices"
        )
    return x


def check_equation(name: str, A: Array, B: Array, left: bool) -> None:
    """Raise a RuntimeError if the matrix sizes of AX = B (or XA = B) do not match."""
    if not size_guards.equal(A.shape[-1], B.shape[-2 if left else -1]):
        equation, (rows, columns) = ("AX" if left else "XA"), B.shape[-2:]
        raise RuntimeError(
            f"{name}: Incompatible shapes of A and B for the equation {equation} = B "
            f"({A.shape[-2]}x{A.shape[-1]} and {rows}x{columns})"
        )


def _singular(name: str) -> LinAlgError:
    return LinAlgError(
        f"{name}: The diagonal element 1 is zero, the inversion could not be completed because the input "
        "matrix is singular."
    )


@op("aten::linalg_det(Tensor A) -> Tensor", **SAME_DTYPE_OUT)
@op("aten::det(Tensor self) -> Tensor", same_as="aten::linalg_det")
@shared_fields(layout="contiguous", dtype_errors={"h": "lu_cpu"})
def _det(xp: Any, A: Array) -> Array:
    return common.cast(xp, xp.asarray(xp.linalg.det(square("linalg.det", A))), A.dtype)


@op("aten::linalg_slogdet(Tensor A) -> (Tensor sign, Tensor logabsdet)", **SAME_DTYPE_OUT)
@op("aten::slogdet(Tensor self) -> (Tensor sign, Tensor logabsdet)", **COPIED_OUT)
@shared_fields(layout=("contiguous", "contiguous"), dtype_errors={"h": f"linalg.slogdet: {LOW_PRECISION}"})
def _slogdet(xp: Any, A: Array) -> tuple[Array, Array]:
    sign, logabs = xp.linalg.slogdet(square("linalg.slogdet", A))
    return common.cast(xp, xp.asarray(sign), A.dtype), common.cast(
        xp, xp.asarray(logabs), common.real_dtype(A.dtype)
    )


@op(
    "aten::logdet(Tensor self) -> Tensor", layout="contiguous", dtype_errors={"h": f"logdet: {LOW_PRECISION}"}
)
def _logdet(xp: Any, self: Array) -> Array:
    sign, logabs = _slogdet(xp, self)
    return common.cast(xp, logabs + xp.log(sign), self.dtype)


@op("aten::linalg_inv(Tensor A) -> Tensor", **SAME_DTYPE_OUT)
@op("aten::inverse(Tensor self) -> Tensor", same_as="aten::linalg_inv", **SAME_DTYPE_OUT)
@shared_fields(
    layout="columns",
    dtype_errors={"h": f"linalg.inv: {LOW_PRECISION}"},
    work=0.1,
    autocast={"cpu": "float32"},
)
def _inv(xp: Any, A: Array) -> Array:
    try:
        return xp.linalg.inv(square("linalg.inv", A))
    except xp.linalg.LinAlgError:
        raise _singular("linalg.inv") from None


@op(
    "aten::linalg_inv_ex(Tensor A, *, bool check_errors=False) -> (Tensor inverse, Tensor info)",
    out="inverse",
    layout=("columns", "contiguous"),
    dtype_errors={"h": f"linalg.inv: {LOW_PRECISION}"},
    out_dtype_error=EXPECTED_DTYPE_ERROR,
    autocast={"cpu": "float32"},
)
def _inv_ex(xp: Any, A: Array, check_errors: bool = False) -> tuple[Array, Array]:
    return _inv(xp, A), xp.zeros(A.shape[:-2], dtype=common.INT32)


@op(
    "aten::linalg_solve(Tensor A, Tensor B, *, bool left=True) -> Tensor",
    layout="columns",
    dtype_errors={"h": "lu_cpu"},
    **SAME_DTYPE_OUT,
    autocast={"cpu": "float32"},
)
def _solve(xp: Any, A: Array, B: Array, left: bool = True) -> Array:
    square("linalg.solve", A)
    vector = B.ndim == 1 or (B.ndim == A.ndim - 1 and B.shape == A.shape[:-1])
    right = B[..., None] if vector else B
    if A.dtype != B.dtype:
        raise RuntimeError(
            "linalg.solve: Expected A and B to have the same dtype, but found A of type "
            f"{common.NAME_OF[A.dtype]} and B of type {common.NAME_OF[B.dtype]} instead"
        )
    check_equation("linalg.solve", A, right, left)
    common.broadcast_shapes(right.shape[:-2], A.shape[:-2])
    try:
        if left:
            result = xp.linalg.solve(A, right)
        else:
            result = transpose_matrices(xp.linalg.solve(transpose_matrices(A), transpose_matrices(right)))
    except xp.linalg.LinAlgError:
        raise _singular("torch.linalg.solve") from None
    return result[..., 0] if vector else result


@op(
    "aten::linalg_solve_ex(Tensor A, Tensor B, *, bool left=True, bool check_errors=False) -> (Tensor"
    " result, Tensor info)",
    layout=("columns", "contiguous"),
    dtype_errors={"h": "lu_cpu"},
    **SAME_DTYPE_OUT,
)
def _solve_ex(
    xp: Any, A: Array, B: Array, left: bool = True, check_errors: bool = False
) -> tuple[Array, Array]:
    return _solve(xp, A, B, left), xp.zeros(A.shape[:-2], dtype=common.INT32)


@op(
    "aten::linalg_cholesky(Tensor self, *, bool upper=False) -> Tensor",
    layout="columns",
    dtype_errors={"h": "cholesky_cpu"},
    **SAME_DTYPE_OUT,
    autocast={"cpu": "float32"},
)
def _cholesky(xp: Any, self: Array, upper: bool = False) -> Array:
    """Return the Cholesky factor of positive-definite matrices (Cholesky decomposition)."""
    try:
        factor = xp.linalg.cholesky(square("linalg.cholesky", self))
    except xp.linalg.LinAlgError:
        raise LinAlgError(
            "linalg.cholesky: The factorization could not be completed because the input is not "
            "positive-definite."
        ) from None
    return xp.conj(transpose_matrices(factor)) if upper else factor


@op(
    "aten::cholesky(Tensor self, bool upper=False) -> Tensor",
    out="out",
    layout="columns",
    dtype_errors={"bih": "cholesky_cpu"},
    out_cast_error=castable("cholesky"),
    autocast={"cpu": "float32"},
)
def _cholesky_old(xp: Any, self: Array, upper: bool = False) -> Array:
    return _cholesky(xp, self, upper)


@op(
    "aten::linalg_cholesky_ex(Tensor self, *, bool upper=False, bool check_errors=False) -> (Tensor "
    "L, Tensor info)",
    out="L",
    layout=("columns", "contiguous"),
    dtype_errors={"h": "cholesky_cpu"},
    out_dtype_error=EXPECTED_DTYPE_ERROR,
    autocast={"cpu": "float32"},
)
def _cholesky_ex(
    xp: Any, self: Array, upper: bool = False, check_errors: bool = False
) -> tuple[Array, Array]:
    try:
        return _cholesky(xp, self, upper), xp.zeros(self.shape[:-2], dtype=common.INT32)
    except LinAlgError:
        if check_errors:
            raise
    factors, info = xp.zeros_like(self), xp.zeros(self.shape[:-2], dtype=common.INT32)
    for batch_index in np.ndindex(self.shape[:-2]):
        # `info` is the size of the smallest leading block that is not positive definite, or 0 if there is
        # none
        for k in cost_model.steps(range(1, self.shape[-1] + 1)):
            try:
                block = (*batch_index, slice(k), slice(k))
                factors[block] = _cholesky(xp, self[block], upper)
            except LinAlgError:
                info[batch_index] = k
                break
    return factors, info


@op(
    "aten::cholesky_inverse(Tensor self, bool upper=False) -> Tensor",
    out="out",
    layout="columns",
    out_cast_error=castable("cholesky_inverse"),
    autocast={"cpu": "float32"},
)
def _cholesky_inverse(xp: Any, self: Array, upper: bool = False) -> Array:
    if self.ndim < 2:
        raise RuntimeError("cholesky_inverse: The input tensor A must have at least 2 dimensions.")
    if not size_guards.equal(self.shape[-1], self.shape[-2]):
        rows, columns = self.shape[-2:]
        raise RuntimeError(
            f"cholesky_inverse: A must be batches of square matrices, but they are {rows} by {columns} "
            "matrices"
        )
    common.check_factorised("cholesky_inverse_out_cpu", self)
    factor = xp.triu(self) if upper else xp.tril(self)
    turned = xp.conj(transpose_matrices(factor))
    return xp.linalg.inv(xp.matmul(turned, factor) if upper else xp.matmul(factor, turned))


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
    common.check_factorised("cholesky_solve_cpu", self, input2)
    if self.dtype != input2.dtype:
        raise RuntimeError(
            f"Expected b and A to have the same dtype, but found b of type {common.NAME_OF[self.dtype]} "
            f"and A of type {common.NAME_OF[input2.dtype]} instead."
        )
    rows, columns = input2.shape[-2:]
    if rows != columns:
        raise RuntimeError(f"A must be batches of square matrices, but they are {rows} by {columns} matrices")
    if self.shape[-2] != rows:
        raise RuntimeError(
            f"Incompatible matrix sizes for cholesky_solve: each A matrix is {rows} by {rows} but each b "
            f"matrix is {self.shape[-2]} by {self.shape[-1]}"
        )
    factor = xp.triu(input2) if upper else xp.tril(input2)
    turned = xp.conj(transpose_matrices(factor))
    return xp.linalg.solve(xp.matmul(turned, factor) if upper else xp.matmul(factor, turned), self)


@op(
    'aten::linalg_eigh(Tensor self, str UPLO="L") -> (Tensor eigenvalues, Tensor eigenvectors)',
    out="eigvals",
    out_names="eigvals,eigvecs",
    layout=("contiguous", "columns"),
    dtype_errors={"bih": "linalg_eigh_cpu"},
    out_dtype_error=EXPECTED_DTYPE_ERROR,
    work=0.05,
    autocast={"cpu": "float32"},
)
def linalg_eigh(xp: Any, self: Array, UPLO: str = "L") -> tuple[Array, Array]:
    """Return eigenvalues and eigenvectors of Hermitian matrices. Only the triangle `UPLO` is read."""
    return tuple(xp.linalg.eigh(square("linalg.eigh", self), UPLO))  # type: ignore[return-value]


@op(
    'aten::linalg_eigvalsh(Tensor self, str UPLO="L") -> Tensor',
    layout="contiguous",
    dtype_errors={"bih": "linalg_eigh_cpu"},
    **SAME_DTYPE_OUT,
    work=0.03,
    autocast={"cpu": "float32"},
)
def _eigvalsh(xp: Any, self: Array, UPLO: str = "L") -> Array:
    return xp.linalg.eigvalsh(square("linalg.eigvalsh", self), UPLO)


@op(
    "aten::linalg_eig(Tensor self) -> (Tensor eigenvalues, Tensor eigenvectors)",
    out="out",
    layout=("contiguous", "columns"),
    dtype_errors={"h": "linalg_eig_out_cpu"},
    work=0.4,
    out_cast_error=(
        castable("torch.linalg.eig", "eigenvalues"),
        castable("torch.linalg.eig", "eigenvectors"),
    ),
    autocast={"cpu": "float32"},
)
def _eig(xp: Any, self: Array) -> tuple[Array, Array]:
    values, vectors = xp.linalg.eig(square("linalg.eig", self))
    dtype = common.complex_dtype(self.dtype)
    return values.astype(dtype), vectors.astype(dtype)


@op(
    "aten::linalg_eigvals(Tensor self) -> Tensor",
    out="out",
    layout="contiguous",
    dtype_errors={"h": "linalg_eig_out_cpu"},
    work=0.4,
    out_cast_error=castable("torch.linalg.eigvals", "eigenvalues"),
    autocast={"cpu": "float32"},
)
def linalg_eigvals(xp: Any, self: Array) -> Array:
    """Return the eigenvalues of general square matrices, in a complex dtype."""
    return xp.linalg.eigvals(square("linalg.eigvals", self)).astype(common.complex_dtype(self.dtype))


@op(
    "aten::linalg_svd(Tensor A, bool full_matrices=True, *, str? driver=None) -> (Tensor U, Tensor S,"
    " Tensor Vh)",
    out="U",
    layout=("columns", "contiguous", "columns"),
    dtype_errors={"h": "linalg_svd_cpu"},
    out_dtype_error=EXPECTED_DTYPE_ERROR,
    work=0.4,
    autocast={"cpu": "float32"},
)
def linalg_svd(
    xp: Any, A: Array, full_matrices: bool = True, driver: str | None = None
) -> tuple[Array, Array, Array]:
    """Return the singular value decomposition U, S, Vh."""
    return decompose(xp, matrix("linalg.svd", A), full_matrices)


@op(
    "aten::svd(Tensor self, bool some=True, bool compute_uv=True) -> (Tensor U, Tensor S, Tensor V)",
    out="U",
    layout=("columns", "contiguous", "contiguous"),
    dtype_errors={"h": "linalg_svd_cpu"},
    out_dtype_error=EXPECTED_DTYPE_ERROR,
    work=0.4,
    autocast={"cpu": "float32"},
)
def _svd_old(xp: Any, self: Array, some: bool = True, compute_uv: bool = True) -> tuple[Array, Array, Array]:
    u, s, vh = decompose(xp, matrix("linalg.svd", self), not some)
    if not compute_uv:
        m, n = self.shape[-2:]
        batch = self.shape[:-2]
        return xp.zeros((*batch, m, m), self.dtype), s, xp.zeros((*batch, n, n), self.dtype)
    return u, s, xp.conj(transpose_matrices(vh))


@op(
    "aten::linalg_svdvals(Tensor A, *, str? driver=None) -> Tensor",
    layout="contiguous",
    dtype_errors={"h": "linalg_svd_cpu"},
    **SAME_DTYPE_OUT,
    work=0.2,
    autocast={"cpu": "float32"},
)
def _svdvals(xp: Any, A: Array, driver: str | None = None) -> Array:
    return singular_values(xp, matrix("linalg.svdvals", A))


@op(
    'aten::linalg_qr(Tensor A, str mode="reduced") -> (Tensor Q, Tensor R)',
    layout=("columns", "columns"),
    dtype_errors={"h": "geqrf_cpu"},
    **SAME_DTYPE_OUT,
    autocast={"cpu": "float32"},
)
def _qr(xp: Any, A: Array, mode: str = "reduced") -> tuple[Array, Array]:
    matrix("linalg.qr", A)
    if mode == "r":
        return xp.empty((0,), dtype=A.dtype), xp.linalg.qr(A, "r")
    q, r = xp.linalg.qr(A, mode)
    return q, r


@op(
    "aten::qr(Tensor self, bool some=True) -> (Tensor Q, Tensor R)",
    out="Q",
    layout=("columns", "columns"),
    dtype_errors={"h": "geqrf_cpu"},
    out_dtype_error=EXPECTED_DTYPE_ERROR,
    autocast={"cpu": "float32"},
)
def _qr_old(xp: Any, self: Array, some: bool = True) -> tuple[Array, Array]:
    return _qr(xp, self, "reduced" if some else "complete")


@op(
    "aten::linalg_cond(Tensor self, Scalar? p=None) -> Tensor",
    out="out",
    dtype_errors={"bi": f"linalg.svd: {INEXACT}", "h": "linalg_svd_cpu"},
    work=0.2,
    out_cast_error=castable("linalg.cond"),
)
@op(
    "aten::linalg_cond.p_str(Tensor self, str p) -> Tensor",
    out="p_str_out",
    dtype_errors={"bi": f"linalg.inv: {INEXACT}", "h": f"linalg.inv: {LOW_PRECISION}"},
    work=0.01,
    out_cast_error=castable("linalg.cond"),
)
@shared_fields(layout="contiguous", autocast={"cpu": "float32"})
def _cond(xp: Any, self: Array, p: Any = None) -> Array:
    """Return the condition number: the norm of a matrix times the norm of its inverse."""
    if self.ndim < 2:
        what = "" if p is None or p in (2, -2) else f"(ord={p})"
        raise RuntimeError(
            f"linalg.cond{what}: The input tensor{' A' if what else ''} must have at least 2 dimensions."
        )
    if p in (None, 2, -2):
        result = apply_to_finite(xp, lambda x: xp.linalg.cond(x, p), self)
    else:
        result = xp.asarray(xp.linalg.cond(self, p))
    return common.cast(xp, result, common.real_dtype(self.dtype))


@op(
    "aten::linalg_solve_triangular(Tensor self, Tensor B, *, bool upper, bool left=True, bool "
    "unitriangular=False) -> Tensor",
    out="out",
    layout="columns",
    dtype_errors={"bih": "triangular_solve_cpu"},
    out_dtype_error=SCALAR,
)
def _solve_triangular(
    xp: Any, self: Array, B: Array, upper: bool, left: bool = True, unitriangular: bool = False
) -> Array:
    name = "linalg.solve_triangular"
    square(name, self)
    if B.ndim < 2:
        raise RuntimeError(f"{name}: The input tensor B must have at least 2 dimensions.")
    check_equation(name, self, B, left)
    return _triangular(xp, self, B, upper, left, unitriangular)


def _triangular(xp: Any, a: Array, b: Array, upper: bool, left: bool, unit: bool) -> Array:
    """Return the result x of a triangular solve: a x = b if `left`, else x a = b."""
    triangle = xp.triu(a) if upper else xp.tril(a)
    if unit:
        n = a.shape[-1]
        triangle = triangle * (1 - xp.eye(n, dtype=a.dtype)) + xp.eye(n, dtype=a.dtype)
    if left:
        return xp.linalg.solve(triangle, b)
    return transpose_matrices(xp.linalg.solve(transpose_matrices(triangle), transpose_matrices(b)))


@op(
    "aten::triangular_solve(Tensor self, Tensor A, bool upper=True, bool transpose=False, bool "
    "unitriangular=False) -> (Tensor solution, Tensor cloned_coefficient)",
    out="X",
    out_names="X,M",
    layout=("columns", "columns"),
    dtype_errors={"bih": "triangular_solve_cpu"},
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
    rows, columns = A.shape[-2:]
    if not size_guards.equal(rows, columns):
        raise RuntimeError(f"A must be batches of square matrices, but they are {rows} by {columns} matrices")
    if not size_guards.equal(self.shape[-2], rows):
        raise RuntimeError(
            f"Incompatible matrix sizes for triangular_solve: each A matrix is {rows} by {rows} but each b "
            f"matrix is {self.shape[-2]} by {self.shape[-1]}"
        )
    matrix = transpose_matrices(A) if transpose else A
    shape = common.broadcast_shapes(self.shape[:-2], A.shape[:-2])
    clone = xp.array(xp.broadcast_to(A, (*shape, *A.shape[-2:])))
    return _triangular(xp, matrix, self, upper != transpose, True, unitriangular), clone


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
    return xp.linalg.tensorinv(self, ind)


@op(
    "aten::linalg_tensorsolve(Tensor self, Tensor other, int[]? dims=None) -> Tensor",
    out="out",
    dtype_errors={"h": "lu_cpu"},
    out_cast_error=castable("tensorsolve"),
    autocast={"cpu": "float32"},
)
def _tensorsolve(xp: Any, self: Array, other: Array, dims: Any = None) -> Array:
    return xp.linalg.tensorsolve(self, other, None if dims is None else tuple(dims))


def _exponential_shape(self: Array) -> ShapeAndDtype:
    return like(square("linalg.matrix_exp", self))


@op("aten::matrix_exp(Tensor self) -> Tensor", work=0.2, same_as="aten::linalg_matrix_exp")
@op("aten::linalg_matrix_exp(Tensor self) -> Tensor", work=0.2, **COPIED_OUT)
@shared_fields(shape=_exponential_shape)
def _matrix_exp(xp: Any, self: Array) -> Array:
    # Compute in double precision, because each squaring step of the algorithm doubles the error.
    wide = xp.dtype("complex128" if self.dtype.kind == "c" else "float64")
    x = common.cast(xp, square("linalg.matrix_exp", self), wide)
    return common.cast(xp, _exponential(xp, x), self.dtype)


# Coefficients of the numerator of the Padé approximant of exp of degree 13. In the denominator, the odd
# coefficients have the opposite sign.
_PADE = tuple(
    math.comb(13, k) * math.factorial(26 - k) / math.factorial(26)  # (26-k)! 13! / (26! k! (13-k)!)
    for k in range(14)
)


def _exponential(xp: Any, x: Array) -> Array:
    """Compute the matrix exponential by scaling and squaring with a Pade approximant: exp(x / 2^s)^(2^s)."""
    if not x.size:
        return x
    size = xp.abs(x).sum(-2).max(-1)
    scale = xp.where(xp.isfinite(size), xp.ceil(xp.log2(xp.maximum(size, 1e-30) / 5.4)), 0)
    steps = xp.maximum(scale, 0).astype(int)[..., None, None]
    x = common.cast(xp, x * 0.5**steps, x.dtype)
    one = xp.eye(x.shape[-1], dtype=x.dtype)
    square = x @ x
    even, odd, power = _PADE[0] * one, _PADE[1] * one, one
    for k in range(2, 14, 2):
        power = power @ square
        even, odd = even + _PADE[k] * power, odd + _PADE[k + 1] * power
    odd = x @ odd
    result = xp.linalg.solve(even - odd, even + odd)
    for step in cost_model.steps(range(int(steps.max()))):
        result = xp.where(steps > step, result @ result, result)
    return result


# --------------------------------------------------------------------------------- operators for matrix norms
