"""Matrix ranks and Moore-Penrose pseudoinverses, from singular values above a cutoff.

Input: matrices, and tolerances for the cutoff. A tolerance is absolute, or relative to the largest singular
value. Output: ranks or pseudoinverses.
"""

from __future__ import annotations

from typing import Any

from ts.ops import common
from ts.ops.factorizations import transpose_matrices
from ts.ops.out_variants import castable
from ts.ops.registry import op, shared_fields
from ts.ops.svd import decompose, singular_values

Array = common.Array


_EXPECTED_INPUT = "expected a tensor with 2 or more dimensions of float, double, cfloat or cdouble types"


def _check_matrix(A: Array) -> None:
    if A.ndim < 2 or A.dtype not in (common.FLOAT, common.DOUBLE, common.CFLOAT, common.CDOUBLE):
        raise RuntimeError(f"linalg.pinv({common.NAME_OF[A.dtype]}{{{list(A.shape)}}}): {_EXPECTED_INPUT}")


def _cutoff(xp: Any, A: Array, largest: Array, atol: Any, rtol: Any) -> Array:
    """Return the singular value cutoff: max(atol, rtol * largest)."""
    if rtol is None:
        eps = float(xp.finfo(A.dtype).eps) * max(A.shape[-2:])
        rtol = eps if atol is None else xp.where(xp.asarray(atol) > 0, 0.0, eps)
    low = xp.maximum(xp.asarray(0.0 if atol is None else atol), xp.asarray(rtol) * largest)
    return low[..., None]


def _check_tolerances(name: str, **tolerances: Any) -> None:
    for argument_name, value in tolerances.items():
        if getattr(value, "dtype", common.DOUBLE).kind == "c":
            raise RuntimeError(
                f"torch.linalg.{name}: {argument_name} tensor of complex type is not supported. Got "
                f"{common.NAME_OF[value.dtype]}"
            )


def _spectrum(xp: Any, A: Array, hermitian: bool) -> Array:
    return xp.abs(xp.linalg.eigvalsh(A)) if hermitian else singular_values(xp, A)


def _largest(xp: Any, values: Array) -> Array:
    return values.max(axis=-1) if values.shape[-1] else xp.zeros(values.shape[:-1], dtype=values.dtype)


@op(
    "aten::linalg_matrix_rank.atol_rtol_tensor(Tensor input, *, Tensor? atol=None, Tensor? rtol=None, bool "
    "hermitian=False) -> Tensor",
    out="atol_rtol_tensor_out",
    out_cast_error=castable("torch.linalg.matrix_rank"),
)
@op(
    "aten::linalg_matrix_rank.atol_rtol_float(Tensor self, *, float? atol=None, float? rtol=None, bool "
    "hermitian=False) -> Tensor",
    out="atol_rtol_float_out",
    out_cast_error=castable("torch.linalg.matrix_rank"),
)
@shared_fields(
    layout="contiguous",
    work=0.1,
    autocast={"cpu": "float32"},
)
def _matrix_rank(xp: Any, A: Array, atol: Any = None, rtol: Any = None, hermitian: bool = False) -> Array:
    _check_tolerances("matrix_rank", atol=atol, rtol=rtol)
    if A.ndim < 2:
        raise RuntimeError(
            "torch.linalg.matrix_rank: The input tensor input must have at least 2 dimensions."
        )
    if A.dtype not in (common.FLOAT, common.DOUBLE, common.CFLOAT, common.CDOUBLE):
        raise RuntimeError("This function doesn't handle types other than float and double")
    values = _spectrum(xp, A, hermitian)
    above_cutoff = values > _cutoff(xp, A, _largest(xp, values), atol, rtol)
    return xp.asarray(above_cutoff.sum(axis=-1, dtype=common.INT64))


@op(
    "aten::linalg_matrix_rank(Tensor self, float tol, bool hermitian=False) -> Tensor",
    out="out",
    order="- tol_tensor",
    out_cast_error=castable("torch.linalg.matrix_rank"),
)
@op(
    "aten::linalg_matrix_rank.tol_tensor(Tensor input, Tensor tol, bool hermitian=False) -> Tensor",
    out="out_tol_tensor",
    out_cast_error=castable("torch.linalg.matrix_rank"),
)
@shared_fields(
    layout="contiguous", dtype_errors={"h": "linalg_svd_cpu"}, work=0.1, autocast={"cpu": "float32"}
)
def _matrix_rank_tol(xp: Any, A: Array, tol: Any, hermitian: bool = False) -> Array:
    return _matrix_rank(xp, A, tol, 0.0, hermitian)


@op(
    "aten::linalg_pinv.atol_rtol_tensor(Tensor self, *, Tensor? atol=None, Tensor? rtol=None, bool "
    "hermitian=False) -> Tensor",
    out="atol_rtol_tensor_out",
    out_cast_error=castable("linalg.pinv"),
)
@op(
    "aten::linalg_pinv.atol_rtol_float(Tensor self, *, float? atol=None, float? rtol=None, bool "
    "hermitian=False) -> Tensor",
    out="atol_rtol_float_out",
    out_cast_error=castable("linalg.pinv"),
)
@shared_fields(layout="contiguous", work=0.2)
def _pinv(xp: Any, A: Array, atol: Any = None, rtol: Any = None, hermitian: bool = False) -> Array:
    _check_matrix(A)
    _check_tolerances("pinv", atol=atol, rtol=rtol)
    if not A.size:
        return xp.empty((*A.shape[:-2], A.shape[-1], A.shape[-2]), dtype=A.dtype)
    if hermitian:
        s, u = xp.linalg.eigh(A)
        vh = xp.conj(transpose_matrices(u))
    else:
        u, s, vh = decompose(xp, A, full_matrices=False)
    size = xp.abs(s)
    above_cutoff = size > _cutoff(xp, A, _largest(xp, size), atol, rtol)
    inverse = xp.where(above_cutoff, 1 / xp.where(above_cutoff, s, 1), 0).astype(s.dtype)
    return common.cast(
        xp,
        xp.matmul(xp.conj(transpose_matrices(vh)) * inverse[..., None, :], xp.conj(transpose_matrices(u))),
        A.dtype,
    )


@op(
    "aten::linalg_pinv(Tensor self, float rcond, bool hermitian=False) -> Tensor",
    out="out",
    order="- atol_rtol_float atol_rtol_tensor atol_rtol_tensor_out atol_rtol_float_out out",
    out_cast_error=castable("linalg.pinv"),
)
@op(
    "aten::linalg_pinv.rcond_tensor(Tensor self, Tensor rcond, bool hermitian=False) -> Tensor",
    out="out_rcond_tensor",
    out_cast_error=castable("linalg.pinv"),
)
@op("aten::pinverse(Tensor self, float rcond=1.0000000000000001e-15) -> Tensor", autocast={"cpu": "float32"})
@shared_fields(
    layout="contiguous",
    work=0.2,
)
def _pinv_rcond(xp: Any, A: Array, rcond: Any = 1e-15, hermitian: bool = False) -> Array:
    _check_tolerances("pinv", rcond=rcond)
    return _pinv(xp, A, 0.0, rcond, hermitian)
