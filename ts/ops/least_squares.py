"""Least squares, and LDL factorization (Bunch-Kaufman) of symmetric indefinite matrices.

Input: matrices and right-hand sides, or batches of both. `lstsq` computes solutions by the SVD for all values
of its argument `driver`. The driver determines the cutoff and the additional results. The LDL
factorization calls LAPACK through SciPy.
"""

from __future__ import annotations

import itertools
from typing import Any

from ts._core.tensor import size_guards
from ts.errors import LinAlgError
from ts.ops import common
from ts.ops.out_variants import COPIED_OUT, castable
from ts.ops.registry import op
from ts.ops.shape_functions import ShapeAndDtype, depends, like
from ts.ops.svd import decompose
from ts.ops.unsupported_dtypes import INEXACT

Array = common.Array
_DRIVERS = ("gels", "gelsy", "gelsd", "gelss")


def _is_vector_side(A: Array, b: Array) -> bool:
    """Return whether `b` contains one vector per matrix of `A`, rather than a matrix."""
    return bool(b.ndim == A.ndim - 1)


def _check_lstsq(A: Array, b: Array, driver: str | None) -> None:
    if A.ndim < 2:
        raise RuntimeError("torch.linalg.lstsq: input must have at least 2 dimensions.")
    if b.ndim < 1:
        raise RuntimeError("torch.linalg.lstsq: other must have at least 1 dimension.")
    if A.dtype != b.dtype:
        raise RuntimeError(
            "torch.linalg.lstsq: Expected input and other to have the same dtype, but got input's dtype "
            f"{common.NAME_OF[A.dtype]} and other's dtype {common.NAME_OF[b.dtype]}"
        )
    if A.ndim - b.ndim not in (0, 1):
        raise RuntimeError(
            "torch.linalg.lstsq: input.dim() must be greater or equal to other.dim() and (input.dim() - "
            "other.dim()) <= 1"
        )
    axes = [-1] if b.shape == A.shape[:-1] else [-2, -1] if _is_vector_side(A, b) and b.ndim > 1 else [-2]
    for axis in [-1] if b.ndim == 1 else axes:
        if not size_guards.equal(A.shape[-2], b.shape[axis]):
            raise RuntimeError(f"torch.linalg.lstsq: input.size(-2) should match other.size({axis})")
    if driver is not None and driver not in _DRIVERS:
        raise RuntimeError(
            "torch.linalg.lstsq: parameter `driver` should be one of (gels, gelsy, gelsd, gelss)"
        )
    if common.CATEGORY_OF[A.dtype] < common.FLOATING or A.dtype in common.HALF_DTYPES:
        raise RuntimeError("This function doesn't handle types other than float and double")


def _lstsq_shapes(
    self: Array, b: Array, rcond: float | None = None, driver: str | None = None
) -> list[ShapeAndDtype]:
    """Return shape and dtype of solution, residuals, ranks and singular values."""
    _check_lstsq(self, b, driver)
    vector = _is_vector_side(self, b)
    m, n = self.shape[-2:]
    batch = common.broadcast_shapes(self.shape[:-2], b.shape[: -1 if vector else -2])
    real, nothing = common.real_dtype(self.dtype), (0,)
    if driver not in (None, "gelsy") and m > n:
        depends("linalg_lstsq.out")()  # the shape of the residuals depends on the rank
    return [
        ((*batch, n) if vector else (*batch, n, b.shape[-1]), self.dtype),
        (nothing, real),
        (nothing if driver == "gels" else batch, common.INT64),
        ((*batch, size_guards.smaller(m, n)) if driver in ("gelsd", "gelss") else nothing, real),
    ]


@op(
    "aten::linalg_lstsq(Tensor self, Tensor b, float? rcond=None, *, str? driver=None) -> (Tensor solution, "
    "Tensor residuals, Tensor rank, Tensor singular_values)",
    out="out",
    layout=("columns", "contiguous", "contiguous", "contiguous"),
    work=0.05,
    shape=_lstsq_shapes,
    out_cast_error=castable("torch.linalg.lstsq", "solution"),
    autocast={"cpu": "float32"},
)
def _lstsq(
    xp: Any, self: Array, b: Array, rcond: float | None = None, driver: str | None = None
) -> tuple[Array, Array, Array, Array]:
    _check_lstsq(self, b, driver)
    driver = driver or "gelsy"
    vector = _is_vector_side(self, b)
    side = b[..., None] if vector else b
    batch = common.broadcast_shapes(self.shape[:-2], side.shape[:-2])
    m, n = self.shape[-2:]
    A = xp.broadcast_to(self, (*batch, m, n))
    side = xp.broadcast_to(side, (*batch, *side.shape[-2:]))
    u, s, vh = decompose(xp, A, full_matrices=False)
    eps = float(xp.finfo(A.dtype).eps)
    if rcond is None or driver == "gels":
        cut = eps * max(m, n)
    elif rcond < 0 or (driver == "gelsd" and not 0 < rcond < 1):
        cut = eps  # as in LAPACK, a negative `rcond` means machine precision
    else:
        cut = rcond
    is_significant = s > cut * s[..., :1]
    rank = xp.asarray(is_significant.sum(axis=-1, dtype=common.INT64))
    if driver == "gels" and not bool((rank == min(m, n)).all()):
        raise LinAlgError(
            "torch.linalg.lstsq: The least squares solution could not be computed because the input matrix "
            "does not have full rank."
        )
    inverse = xp.where(is_significant, 1 / xp.where(is_significant, s, 1), 0).astype(s.dtype)
    turned = xp.matmul(xp.conj(u.swapaxes(-1, -2)), side) * inverse[..., None]
    solution = xp.matmul(xp.conj(vh.swapaxes(-1, -2)), turned)
    residuals = xp.zeros((0,), dtype=s.dtype)
    if driver != "gelsy" and m > n and bool((rank == n).all()):
        error = xp.abs(xp.matmul(A, solution) - side)
        residuals = xp.sum(error * error, axis=-2)
    values = s if driver in ("gelsd", "gelss") else xp.zeros((0,), dtype=s.dtype)
    if driver == "gels":
        rank = xp.zeros((0,), dtype=common.INT64)
    return solution[..., 0] if vector else solution, residuals, rank, values


# ---------------------------------------------------------------------------------------- LDL factorization


def _ldl_type(x: Array, hermitian: bool) -> str:
    return "he" if hermitian and x.dtype.kind == "c" else "sy"


_LDL_FACTOR = "torch.linalg.ldl_factor_ex"


def _check_symmetric(x: Array) -> None:
    if x.ndim < 2:
        raise RuntimeError(f"{_LDL_FACTOR}: The input tensor A must have at least 2 dimensions.")
    if not size_guards.equal(x.shape[-1], x.shape[-2]):
        raise RuntimeError(
            f"{_LDL_FACTOR}: A must be batches of square matrices, but they are {x.shape[-2]} by "
            f"{x.shape[-1]} matrices"
        )
    if common.CATEGORY_OF[x.dtype] < common.FLOATING:
        raise RuntimeError(
            f"{_LDL_FACTOR}: Expected a floating point or complex tensor as input. Got "
            f"{common.NAME_OF[x.dtype]}"
        )
    if x.dtype in common.HALF_DTYPES:
        common.raise_unsupported_dtype("ldl_factor_kernel_cpu", x.dtype)


def _ldl_shapes(self: Array, *_: Any) -> list[ShapeAndDtype]:
    """Return shape and dtype of factors, pivots and info."""
    _check_symmetric(self)
    return [like(self), (self.shape[:-1], common.INT32), (self.shape[:-2], common.INT32)]


def _ldl_pair_shapes(self: Array, *_: Any) -> list[ShapeAndDtype]:
    """Return shape and dtype of factors and pivots."""
    return _ldl_shapes(self)[:2]


@op(
    "aten::linalg_ldl_factor_ex(Tensor self, *, bool hermitian=False, bool check_errors=False) -> (Tensor "
    "LD, Tensor pivots, Tensor info)",
    out="out",
    layout=("columns", "contiguous", "contiguous"),
    shape=_ldl_shapes,
)
def _ldl_factor_ex(
    xp: Any, self: Array, hermitian: bool = False, check_errors: bool = False
) -> tuple[Array, Array, Array]:
    _check_symmetric(self)
    n, batch = self.shape[-1], self.shape[:-2]
    factors = xp.tril(self)
    pivots = xp.zeros((*batch, n), dtype=common.INT32)
    info = xp.zeros(batch, dtype=common.INT32)
    if self.size:
        routine = xp.lapack(f"{_ldl_type(self, hermitian)}trf", self.dtype)
        rows = [routine(a, lower=1) for a in xp.to_host(self).reshape(-1, n, n)]
        factors = xp.tril(xp.asarray([row[0] for row in rows]).reshape(self.shape))
        pivots = xp.asarray([row[1] for row in rows]).reshape(*batch, n).astype(common.INT32)
        info = xp.asarray([row[2] for row in rows]).reshape(batch).astype(common.INT32)
    if check_errors:
        _check_ldl(_LDL_FACTOR, info)
    return factors, pivots, info


def _check_ldl(name: str, info: Array) -> None:
    """Raise LinAlgError if a diagonal element of D is zero (PyTorch raises an internal error)."""
    if info.size and int(info.max()) > 0:
        raise LinAlgError(
            f"{name}: D is exactly singular: its diagonal element {int(info.max())} is zero, so that it "
            "cannot be used to solve equations."
        )


@op(
    "aten::linalg_ldl_factor(Tensor self, *, bool hermitian=False) -> (Tensor LD, Tensor pivots)",
    layout=("columns", "contiguous"),
    shape=_ldl_pair_shapes,
    **COPIED_OUT,
)
def _ldl_factor(xp: Any, self: Array, hermitian: bool = False) -> tuple[Array, Array]:
    factors, pivots, info = _ldl_factor_ex(xp, self, hermitian)
    _check_ldl("torch.linalg.ldl_factor", info)
    return factors, pivots


def _check_ldl_solve(LD: Array, pivots: Array, B: Array) -> None:
    name = "torch.linalg.ldl_solve"
    if LD.ndim < 2:
        raise RuntimeError(f"{name}: The input tensor A must have at least 2 dimensions.")
    n = LD.shape[-1]
    if not size_guards.equal(LD.shape[-2], n):
        raise RuntimeError(
            f"{name}: A must be batches of square matrices, but they are {LD.shape[-2]} by {n} matrices"
        )
    if LD.dtype != B.dtype:
        raise RuntimeError(
            f"Expected b and A to have the same dtype, but found b of type {common.NAME_OF[B.dtype]} and "
            f"A of type {common.NAME_OF[LD.dtype]} instead."
        )
    if not B.ndim:
        raise IndexError("Dimension specified as -2 but tensor has no dimensions")
    if not size_guards.equal(B.shape[common.wrap_dim(-2, B.ndim)], n):
        raise RuntimeError(
            f"Incompatible matrix sizes for {name}: each A matrix is {n} by {n} but each b matrix is "
            f"{B.shape[-2]} by {B.shape[-1]}"
        )
    if pivots.dtype.kind not in "iu" or pivots.shape != LD.shape[:-1]:
        raise RuntimeError(
            f"{name}: Expected pivots to be integers of shape {list(LD.shape[:-1])}, but got "
            f"{common.NAME_OF[pivots.dtype]} of shape {list(pivots.shape)}"
        )


def _ldl_solution_shape(LD: Array, pivots: Array, B: Array, *_: Any) -> ShapeAndDtype:
    _check_ldl_solve(LD, pivots, B)
    return (*common.broadcast_shapes(LD.shape[:-2], B.shape[:-2]), *B.shape[-2:]), B.dtype


@op(
    "aten::linalg_ldl_solve(Tensor LD, Tensor pivots, Tensor B, *, bool hermitian=False) -> Tensor",
    out="out",
    layout="columns",
    dtype_errors={"bi": f"torch.linalg.ldl_solve: {INEXACT}", "h": "ldl_solve_kernel_cpu"},
    shape=_ldl_solution_shape,
)
def _ldl_solve(xp: Any, LD: Array, pivots: Array, B: Array, hermitian: bool = False) -> Array:
    _check_ldl_solve(LD, pivots, B)
    n = LD.shape[-1]
    _check_pivots("torch.linalg.ldl_solve", pivots, n)
    batch = common.broadcast_shapes(B.shape[:-2], LD.shape[:-2])
    shape = (*batch, *B.shape[-2:])
    if not B.size or not LD.size:
        return xp.zeros(shape, dtype=B.dtype)
    routine = xp.lapack(f"{_ldl_type(LD, hermitian)}trs", LD.dtype)
    factors = xp.broadcast_to(LD, (*batch, n, n)).reshape(-1, n, n)
    rows = xp.broadcast_to(pivots, (*batch, n)).reshape(-1, n)
    sides = xp.broadcast_to(B, shape).reshape(-1, *B.shape[-2:])
    solved = [
        routine(a, p, b, lower=1)[0]
        for a, p, b in zip(xp.to_host(factors), xp.to_host(rows), xp.to_host(sides), strict=True)
    ]
    return xp.asarray(solved).reshape(shape)


def _check_pivots(name: str, pivots: Array, n: int) -> None:
    """Raise RuntimeError for invalid pivots, because LAPACK uses them as row numbers without a check.

    Pivots count from 1. A 2 x 2 block has a pair of negative pivots.
    """
    if not pivots.size:
        return
    if bool((abs(pivots) < 1).any()) or bool((abs(pivots) > n).any()):
        raise RuntimeError(f"{name}: pivots must be row numbers from 1 to {n}")
    for row in (pivots < 0).reshape(-1, n).tolist():
        if any(negative and len(list(run)) % 2 for negative, run in itertools.groupby(row)):
            raise RuntimeError(f"{name}: negative pivots must come in pairs")
