"""Matrix factorizations (Cholesky, eigenvalue decomposition ...) and determinants.

Input: one matrix or a batch of matrices, in a floating or complex dtype. Output: factors or determinants. The
kernels call NumPy's batched LAPACK routines.
"""

from __future__ import annotations

import math
from typing import Any

from ts._core.tensor import size_guards
from ts.ops import common, cost_model
from ts.ops.linalg_errors import raise_errors
from ts.ops.lu_decomposition import cholesky_with_info, lu_packed, solve_factored
from ts.ops.out_variants import COPIED_OUT, EXPECTED_DTYPE_ERROR, SAME_DTYPE_OUT, castable
from ts.ops.registry import op, shared_fields
from ts.ops.shape_functions import ShapeAndDtype, like
from ts.ops.svd import decompose, singular_values
from ts.ops.unsupported_dtypes import LOW_PRECISION

Array = common.Array


def transpose_matrices(x: Array) -> Array:
    """Return the transposed view of each matrix."""
    return x.swapaxes(-1, -2)


def check_inexact(name: str, A: Array) -> None:
    """Raise a RuntimeError unless A has a floating or complex dtype."""
    if common.CATEGORY_OF[A.dtype] < common.FLOATING:
        raise RuntimeError(
            f"{name}: Expected a floating point or complex tensor as input. Got {common.NAME_OF[A.dtype]}"
        )


def check_square(name: str, A: Array) -> None:
    """Raise a RuntimeError unless A contains square matrices."""
    if A.ndim < 2:
        raise RuntimeError(f"{name}: The input tensor A must have at least 2 dimensions.")
    if not size_guards.equal(A.shape[-1], A.shape[-2]):
        rows, columns = A.shape[-2:]
        raise RuntimeError(
            f"{name}: A must be batches of square matrices, but they are {rows} by {columns} matrices"
        )


def matrix(name: str, x: Array) -> Array:
    """Return x if it contains matrices of a floating or complex dtype, else raise RuntimeError."""
    if x.ndim < 2:
        raise RuntimeError(f"{name}: The input tensor A must have at least 2 dimensions.")
    check_inexact(name, x)
    return x


def square(name: str, x: Array) -> Array:
    """Return x if it contains square matrices of a floating or complex dtype, else raise RuntimeError."""
    matrix(name, x)
    check_square(name, x)
    return x


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
    sign, logabs = xp.linalg.slogdet(square("logdet", self))
    return common.cast(xp, logabs + xp.log(sign), self.dtype)


@op(
    "aten::linalg_cholesky(Tensor self, *, bool upper=False) -> Tensor",
    layout="columns",
    dtype_errors={"h": "cholesky_cpu"},
    **SAME_DTYPE_OUT,
    autocast={"cpu": "float32"},
)
def _cholesky(xp: Any, self: Array, upper: bool = False) -> Array:
    """Return the Cholesky factor of positive-definite matrices (Cholesky decomposition)."""
    return _factor_and_info(xp, self, upper, "linalg.cholesky", "linalg.cholesky", True)[0]


def _factor_and_info(
    xp: Any, A: Array, upper: bool, name: str, error_name: str, check_errors: bool
) -> tuple[Array, Array]:
    """Return Cholesky factors and LAPACK's error codes. Only the triangle `upper` or lower of A is read.

    `name` is the function's name in errors of the shape, and `error_name` in errors of the elements.
    """
    square(name, A)
    lower = xp.conj(transpose_matrices(A)) if upper else A
    info = xp.zeros(A.shape[:-2], dtype=common.INT32)
    try:
        factors = xp.linalg.cholesky(lower)
        failed = common.is_any_true(xp, xp.isnan(factors))
    except xp.linalg.LinAlgError:
        failed = True
    if failed:
        factors, info = cholesky_with_info(xp, lower)
        if check_errors:
            raise_errors(xp, info, error_name, A.ndim == 2)
    return xp.conj(transpose_matrices(factors)) if upper else factors, info


@op(
    "aten::cholesky(Tensor self, bool upper=False) -> Tensor",
    out="out",
    layout="columns",
    dtype_errors={"bih": "cholesky_cpu"},
    out_cast_error=castable("cholesky"),
    autocast={"cpu": "float32"},
)
def _cholesky_old(xp: Any, self: Array, upper: bool = False) -> Array:
    return _factor_and_info(xp, self, upper, "cholesky", "cholesky", True)[0]


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
    return _factor_and_info(xp, self, upper, "linalg.cholesky", "linalg.cholesky_ex", check_errors)


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
    if not xp.shapes_only:
        zeros = xp.diagonal(self, axis1=-2, axis2=-1) == 0
        info = xp.where(zeros.any(axis=-1), zeros.argmax(axis=-1) + 1, 0) if self.shape[-1] else zeros
        raise_errors(xp, info, "cholesky_inverse", self.ndim == 2)
    turned = xp.conj(transpose_matrices(factor))
    return xp.linalg.inv(xp.matmul(turned, factor) if upper else xp.matmul(factor, turned))


def check_hermitian(A: Array, UPLO: str) -> Array:
    """Return A if it contains square matrices and UPLO names a triangle, else raise RuntimeError."""
    square("linalg.eigh", A)
    if UPLO.upper() not in ("L", "U"):
        raise RuntimeError(f"Expected UPLO argument to be 'L' or 'U', but got {UPLO}")
    return A


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
    return tuple(xp.linalg.eigh(check_hermitian(self, UPLO), UPLO))  # type: ignore[return-value]


@op(
    'aten::linalg_eigvalsh(Tensor self, str UPLO="L") -> Tensor',
    layout="contiguous",
    dtype_errors={"bih": "linalg_eigh_cpu"},
    **SAME_DTYPE_OUT,
    work=0.03,
    autocast={"cpu": "float32"},
)
def _eigvalsh(xp: Any, self: Array, UPLO: str = "L") -> Array:
    return xp.linalg.eigvalsh(check_hermitian(self, UPLO), UPLO)


def _check_eig(xp: Any, name: str, A: Array) -> Array:
    """Return A if it contains finite square matrices, else raise RuntimeError."""
    check_square(f"linalg.{name}", A)
    if common.CATEGORY_OF[A.dtype] < common.FLOATING:
        raise RuntimeError(f"Unknown Complex ScalarType for {common.NAME_OF[A.dtype]}")
    if common.is_any_true(xp, ~xp.isfinite(A)):
        raise RuntimeError(f"torch.linalg.{name}: input tensor should not contain infs or NaNs.")
    return A


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
    values, vectors = xp.linalg.eig(_check_eig(xp, "eig", self))
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
    return xp.linalg.eigvals(_check_eig(xp, "eigvals", self)).astype(common.complex_dtype(self.dtype))


def check_svd(xp: Any, A: Array, driver: str | None) -> Array:
    """Return A. Raise RuntimeError if A contains no matrices, or if the device does not support `driver`."""
    matrix("linalg.svd", A)
    if driver is not None and not xp.has_svd_drivers:
        raise RuntimeError(
            "torch.linalg.svd: keyword argument `driver=` is only supported on CUDA inputs with cuSOLVER "
            "backend."
        )
    return A


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
    return decompose(xp, check_svd(xp, A, driver), full_matrices)


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
    if self.ndim < 2:
        raise RuntimeError(
            f"linalg.svd: input should have at least 2 dimensions, but has {self.ndim} dimensions instead"
        )
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
    return singular_values(xp, check_svd(xp, A, driver))


@op(
    'aten::linalg_qr(Tensor A, str mode="reduced") -> (Tensor Q, Tensor R)',
    layout=("columns", "columns"),
    dtype_errors={"h": "geqrf_cpu"},
    **SAME_DTYPE_OUT,
    autocast={"cpu": "float32"},
)
def _qr(xp: Any, A: Array, mode: str = "reduced") -> tuple[Array, Array]:
    matrix("linalg.qr", A)
    if mode not in ("reduced", "r", "complete"):
        raise RuntimeError(
            f"qr received unrecognized mode '{mode}' but expected one of 'reduced' (default), 'r', or "
            "'complete'"
        )
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
    work=0.2,
    out_cast_error=castable("linalg.cond"),
)
@op(
    "aten::linalg_cond.p_str(Tensor self, str p) -> Tensor",
    out="p_str_out",
    work=0.01,
    out_cast_error=castable("linalg.cond"),
)
@shared_fields(layout="contiguous", autocast={"cpu": "float32"})
def _cond(xp: Any, self: Array, p: Any = None) -> Array:
    """Return the condition number: the norm of a matrix times the norm of its inverse."""
    name = f"linalg.cond(ord={p})"
    if self.ndim < 2:
        if type(p) is str:
            raise RuntimeError(f"{name}: The input tensor A must have at least 2 dimensions.")
        raise RuntimeError("linalg.cond: The input tensor must have at least 2 dimensions.")
    if p not in (None, 1, -1, 2, -2, math.inf, -math.inf, "fro", "nuc"):
        raise RuntimeError(f"linalg.cond got an invalid norm type: {p}")
    dtype = common.real_dtype(self.dtype)
    if p in (None, 2, -2):
        matrix("linalg.svd", self)
    else:
        if not size_guards.equal(self.shape[-1], self.shape[-2]):
            rows, columns = self.shape[-2:]
            raise RuntimeError(
                f"{name}: A must be batches of square matrices, but they are {rows} by {columns} matrices"
            )
        check_inexact("linalg.svd" if p == "nuc" else "linalg.inv", self)
    if p not in (None, 2, -2, "nuc") and self.dtype in common.HALF_DTYPES:
        raise RuntimeError(f"linalg.inv: {LOW_PRECISION.format(dtype=common.NAME_OF[self.dtype])}")
    common.check_factorised("linalg_svd_cpu", self)
    if size_guards.known_zero(self.shape[-1]) or size_guards.known_zero(self.shape[-2]):
        return xp.zeros(self.shape[:-2], dtype=dtype)
    if p in (None, 2, -2, "nuc"):
        values = singular_values(xp, self)
        if p == "nuc":
            result = values.sum(axis=-1) * (1 / values).sum(axis=-1)
        else:
            result = values[..., -1] / values[..., 0] if p == -2 else values[..., 0] / values[..., -1]
    else:
        try:
            inverse = xp.linalg.inv(self)
            singular = None
        except xp.linalg.LinAlgError:
            lu, pivots, info = lu_packed(xp, self)
            inverse = solve_factored(xp, lu, pivots, xp.eye(self.shape[-1], dtype=self.dtype))
            singular = info != 0
        result = xp.linalg.norm(self, p, (-2, -1)) * xp.linalg.norm(inverse, p, (-2, -1))
        if singular is not None:
            result = xp.where(singular, xp.inf, result)
    return common.cast(xp, xp.asarray(result), dtype)


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
