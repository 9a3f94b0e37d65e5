"""Factorisations step by step, for whole batches at once: LU, Householder, and what rests on the SVD.

In: (batches of) matrices; out: factors in LAPACK's packed forms, solutions from them, pseudo-inverses, ranks.
"""

from __future__ import annotations

from typing import Any

from ts.ops import rules
from ts.ops.registry import op

Array = rules.Array


def _turned(x: Array) -> Array:
    return x.swapaxes(-1, -2)


def _float(name: str, x: Array) -> Array:
    if x.ndim < 2:
        raise RuntimeError(f"{name}: The input tensor A must have at least 2 dimensions.")
    if rules.CATEGORY_OF[x.dtype] < rules.FLOATING:
        raise RuntimeError(
            f"{name}: Expected a floating point or complex tensor as input. Got {rules.NAME_OF[x.dtype]}"
        )
    return x


# ------------------------------------------------------------------------------------ LU


def lu_packed(xp: Any, A: Array) -> tuple[Array, Array, Array]:
    """L and U in one matrix, LAPACK's pivots (from 1), and the first zero on the diagonal (or 0)."""
    lu = A.copy().reshape(-1, *A.shape[-2:])
    batch, m, n = lu.shape
    k = min(m, n)
    pivots = xp.zeros((batch, k), dtype=rules.INT32)
    info = xp.zeros(batch, dtype=rules.INT32)
    rows = xp.arange(batch)
    for i in range(k):
        column = lu[:, i:, i]  # LAPACK compares complex numbers by |re| + |im|
        size = xp.abs(column.real) + xp.abs(column.imag) if column.dtype.kind == "c" else xp.abs(column)
        best = i + xp.argmax(size, axis=1) if batch else xp.zeros(0, dtype=rules.INT64)
        pivots[:, i] = best + 1
        lu[rows, i], lu[rows, best] = lu[rows, best], lu[rows, i]
        head = lu[:, i, i]
        info = xp.where((head == 0) & (info == 0), i + 1, info).astype(rules.INT32)
        lu[:, i + 1 :, i] /= xp.where(head == 0, 1, head)[:, None]
        lu[:, i + 1 :, i + 1 :] -= lu[:, i + 1 :, i, None] * lu[:, i, None, i + 1 :]
    lead = A.shape[:-2]
    return lu.reshape(A.shape), pivots.reshape(*lead, k), info.reshape(lead)


def permutation(xp: Any, pivots: Array, m: int) -> Array:
    """The matrix P of A = P L U from LAPACK's row swaps."""
    flat = pivots.reshape(-1, pivots.shape[-1])
    order = xp.broadcast_to(xp.arange(m), (flat.shape[0], m)).copy()
    rows = xp.arange(flat.shape[0])
    for i in range(flat.shape[1]):
        other = flat[:, i] - 1
        order[rows, i], order[rows, other] = order[rows, other], order[rows, i]
    return order.reshape(*pivots.shape[:-1], m)[..., None, :] == xp.arange(m)[:, None]


def _pivoting(name: str, pivot: bool) -> None:
    if not pivot:
        raise RuntimeError(f"{name}: LU without pivoting is not implemented on the CPU")


_PACKED = "(Tensor LU, Tensor pivots)"


@op(
    f"aten::linalg_lu_factor(Tensor A, *, bool pivot=True) -> {_PACKED}",
    out="out",
    out_names="LU,pivots",
    where="f",
)
def _lu_factor(xp: Any, A: Array, pivot: bool = True) -> tuple[Array, Array]:
    _pivoting("linalg.lu_factor", pivot)
    return lu_packed(xp, _float("torch.lu_factor", A))[:2]


@op(
    "aten::linalg_lu_factor_ex(Tensor A, *, bool pivot=True, bool check_errors=False) -> (Tensor LU, Tensor "
    "pivots, Tensor info)",
    out="out",
    out_names="LU,pivots,info",
    where="f",
)
def _lu_factor_ex(
    xp: Any, A: Array, pivot: bool = True, check_errors: bool = False
) -> tuple[Array, Array, Array]:
    _pivoting("linalg.lu_factor", pivot)
    return lu_packed(xp, _float("torch.lu_factor", A))


@op(
    "aten::_lu_with_info(Tensor self, bool pivot=True, bool check_errors=True) -> (Tensor LU, Tensor pivots, "
    "Tensor info)",
    where="f",
)
def _lu_with_info(
    xp: Any, A: Array, pivot: bool = True, check_errors: bool = True
) -> tuple[Array, Array, Array]:
    return _lu_factor_ex(xp, A, pivot, check_errors)


@op(
    "aten::lu_unpack(Tensor LU_data, Tensor LU_pivots, bool unpack_data=True, bool unpack_pivots=True) -> "
    "(Tensor P, Tensor L, Tensor U)",
    out="out",
    out_names="P,L,U",
    where="f",
)
def _lu_unpack(
    xp: Any, LU_data: Array, LU_pivots: Array, unpack_data: bool = True, unpack_pivots: bool = True
) -> tuple[Array, Array, Array]:
    if unpack_pivots and LU_pivots.dtype != rules.INT32:
        raise RuntimeError(
            "torch.lu_unpack: LU_pivots is expected to be a contiguous tensor of torch.int32 dtype."
        )
    m, n = LU_data.shape[-2:]
    k = min(m, n)
    nothing = xp.zeros((0,), dtype=LU_data.dtype)
    p = permutation(xp, LU_pivots, m).astype(LU_data.dtype) if unpack_pivots else nothing
    if not unpack_data:
        return p, nothing, nothing
    lower = xp.tril(LU_data[..., :k], -1) + xp.eye(m, k, dtype=LU_data.dtype)
    return p, lower, xp.triu(LU_data[..., :k, :])


@op(
    "aten::linalg_lu(Tensor A, *, bool pivot=True) -> (Tensor P, Tensor L, Tensor U)",
    out="out",
    out_names="P,L,U",
    where="f",
)
def _lu(xp: Any, A: Array, pivot: bool = True) -> tuple[Array, Array, Array]:
    return _lu_unpack(xp, *_lu_factor(xp, A, pivot))


@op(
    "aten::linalg_lu_solve(Tensor LU, Tensor pivots, Tensor B, *, bool left=True, bool adjoint=False) -> "
    "Tensor",
    out="out",
    where="f",
)
def _linalg_lu_solve(
    xp: Any, LU: Array, pivots: Array, B: Array, left: bool = True, adjoint: bool = False
) -> Array:
    if rules.CATEGORY_OF[LU.dtype] < rules.FLOATING:
        raise RuntimeError(
            "torch.linalg.lu_solve: Expected a floating point or complex tensor as input. Got "
            f"{rules.NAME_OF[LU.dtype]}"
        )
    rules.check_factorised("linalg.lu_solve_cpu", LU)
    p, lower, upper = _lu_unpack(xp, LU, pivots)
    A = xp.matmul(p, xp.matmul(lower, upper))
    A = xp.conj(_turned(A)) if adjoint else A
    return xp.linalg.solve(A, B) if left else _turned(xp.linalg.solve(_turned(A), _turned(B)))


@op("aten::lu_solve(Tensor self, Tensor LU_data, Tensor LU_pivots) -> Tensor", out="out")
def _lu_solve(xp: Any, self: Array, LU_data: Array, LU_pivots: Array) -> Array:
    return _linalg_lu_solve(xp, LU_data, LU_pivots, self)


# ------------------------------------------------------------------------------------ Householder


@op("aten::geqrf(Tensor self) -> (Tensor a, Tensor tau)", out="a", out_names="a,tau")
def _geqrf(xp: Any, self: Array) -> tuple[Array, Array]:
    packed, tau = xp.linalg.qr(_float("torch.geqrf", self), "raw")
    return _turned(packed), tau


def _reflected(xp: Any, a: Array, tau: Array, x: Array, adjoint: bool) -> Array:
    """Q x, or its adjoint's product, for the Q whose reflectors stand below the diagonal of `a`."""
    count = tau.shape[-1]
    lower = xp.tril(a[..., :count], -1) + xp.eye(a.shape[-2], count, dtype=a.dtype)
    for i in range(count) if adjoint else reversed(range(count)):
        v = lower[..., i, None]
        scale = tau[..., i, None, None]
        x = x - (xp.conj(scale) if adjoint else scale) * v * xp.matmul(xp.conj(_turned(v)), x)
    return x


@op("aten::linalg_householder_product(Tensor input, Tensor tau) -> Tensor", out="out", where="f")
@op("aten::orgqr(Tensor self, Tensor input2) -> Tensor", out="out")
def _householder_product(xp: Any, input: Array, tau: Array) -> Array:
    if input.ndim < 2:
        raise RuntimeError("torch.linalg.householder_product: input must have at least 2 dimensions.")
    rules.check_factorised("orgqr_cpu", input, tau)
    m, n = input.shape[-2:]
    if m < n:
        raise RuntimeError(
            "torch.linalg.householder_product: input.shape[-2] must be greater than or equal to "
            "input.shape[-1]"
        )
    eye = xp.broadcast_to(xp.eye(m, n, dtype=input.dtype), input.shape)
    return _reflected(xp, input, tau, eye, False).copy()


@op(
    "aten::ormqr(Tensor self, Tensor input2, Tensor input3, bool left=True, bool transpose=False) -> Tensor",
    out="out",
)
def _ormqr(
    xp: Any, self: Array, input2: Array, input3: Array, left: bool = True, transpose: bool = False
) -> Array:
    rules.check_factorised("ormqr_cpu", self, input2, input3)
    if left:
        return _reflected(xp, self, input2, input3, transpose)
    x = xp.conj(_turned(input3))
    return xp.conj(_turned(_reflected(xp, self, input2, x, not transpose)))


# ------------------------------------------------------------------------------------ singular values


def _cutoff(xp: Any, A: Array, largest: Array, atol: Any, rtol: Any) -> Array:
    """Where a singular value counts as zero: the larger of `atol` and `rtol` times the largest."""
    if rtol is None:
        eps = float(xp.finfo(A.dtype).eps) * max(A.shape[-2:])
        rtol = eps if atol is None else xp.where(xp.asarray(atol) > 0, 0.0, eps)
    low = xp.maximum(xp.asarray(0.0 if atol is None else atol), xp.asarray(rtol) * largest)
    return low[..., None]


def _spectrum(xp: Any, A: Array, hermitian: bool) -> Array:
    return xp.abs(xp.linalg.eigvalsh(A)) if hermitian else xp.linalg.svd(A, compute_uv=False)


def _largest(xp: Any, values: Array) -> Array:
    return values.max(axis=-1) if values.shape[-1] else xp.zeros(values.shape[:-1], dtype=values.dtype)


@op(
    "aten::linalg_matrix_rank.atol_rtol_tensor(Tensor input, *, Tensor? atol=None, Tensor? rtol=None, bool "
    "hermitian=False) -> Tensor",
    out="atol_rtol_tensor_out",
    where="f",
)
@op(
    "aten::linalg_matrix_rank.atol_rtol_float(Tensor self, *, float? atol=None, float? rtol=None, bool "
    "hermitian=False) -> Tensor",
    out="atol_rtol_float_out",
    where="f",
)
def _matrix_rank(xp: Any, A: Array, atol: Any = None, rtol: Any = None, hermitian: bool = False) -> Array:
    values = _spectrum(xp, _float("linalg.matrix_rank", A), hermitian)
    kept = values > _cutoff(xp, A, _largest(xp, values), atol, rtol)
    return xp.asarray(kept.sum(axis=-1, dtype=rules.INT64))


@op("aten::linalg_matrix_rank(Tensor self, float tol, bool hermitian=False) -> Tensor", out="out", where="f")
@op(
    "aten::linalg_matrix_rank.tol_tensor(Tensor input, Tensor tol, bool hermitian=False) -> Tensor",
    out="out_tol_tensor",
    where="f",
)
def _matrix_rank_tol(xp: Any, A: Array, tol: Any, hermitian: bool = False) -> Array:
    return _matrix_rank(xp, A, tol, 0.0, hermitian)


@op(
    "aten::linalg_pinv.atol_rtol_tensor(Tensor self, *, Tensor? atol=None, Tensor? rtol=None, bool "
    "hermitian=False) -> Tensor",
    out="atol_rtol_tensor_out",
    where="f",
)
@op(
    "aten::linalg_pinv.atol_rtol_float(Tensor self, *, float? atol=None, float? rtol=None, bool "
    "hermitian=False) -> Tensor",
    out="atol_rtol_float_out",
    where="f",
)
def _pinv(xp: Any, A: Array, atol: Any = None, rtol: Any = None, hermitian: bool = False) -> Array:
    _float("linalg.pinv", A)
    if not A.size:
        return xp.empty((*A.shape[:-2], A.shape[-1], A.shape[-2]), dtype=A.dtype)
    if hermitian:
        s, u = xp.linalg.eigh(A)
        vh = xp.conj(_turned(u))
    else:
        u, s, vh = xp.linalg.svd(A, full_matrices=False)
    size = xp.abs(s)
    kept = size > _cutoff(xp, A, _largest(xp, size), atol, rtol)
    inverse = xp.where(kept, 1 / xp.where(kept, s, 1), 0).astype(s.dtype)
    return rules.cast(
        xp, xp.matmul(xp.conj(_turned(vh)) * inverse[..., None, :], xp.conj(_turned(u))), A.dtype
    )


@op("aten::linalg_pinv(Tensor self, float rcond, bool hermitian=False) -> Tensor", out="out", where="f")
@op(
    "aten::linalg_pinv.rcond_tensor(Tensor self, Tensor rcond, bool hermitian=False) -> Tensor",
    out="out_rcond_tensor",
    where="f",
)
@op("aten::pinverse(Tensor self, float rcond=1.0000000000000001e-15) -> Tensor")
def _pinv_rcond(xp: Any, A: Array, rcond: Any = 1e-15, hermitian: bool = False) -> Array:
    return _pinv(xp, A, 0.0, rcond, hermitian)


# ------------------------------------------------------------------------------------ covariance


@op(
    "aten::cov(Tensor self, *, int correction=1, Tensor? fweights=None, Tensor? aweights=None) -> Tensor",
)
def _cov(
    xp: Any, self: Array, correction: int = 1, fweights: Array | None = None, aweights: Array | None = None
) -> Array:
    if self.ndim > 2:
        raise RuntimeError(
            "cov(): expected input to have two or fewer dimensions but got an input with "
            f"{self.ndim} dimensions"
        )
    if self.dtype.kind == "b":
        raise RuntimeError("cov(): bool dtype is not supported for input")
    x = self.reshape(1, self.size) if self.ndim < 2 else self
    _check_weights("fweights", fweights, x.shape[1], integral=True)
    _check_weights("aweights", aweights, x.shape[1], integral=False)
    weights = [w for w in (fweights, aweights) if w is not None]
    # Integers become what the floating point weights are, else the default; 16 bits are computed in 32.
    weighted = x.dtype if aweights is None else rules.promote_types(x.dtype, aweights.dtype)
    target = rules.float_dtype(weighted)
    x = rules.cast(xp, x, rules.opmath(target))
    w = xp.ones(x.shape[1], dtype=rules.real_dtype(x.dtype))
    for part in weights:
        w = w * rules.cast(xp, part, w.dtype)
    total = xp.sum(w)
    mean = xp.sum(x * w, axis=1, keepdims=True) / total
    if aweights is None or not correction:
        factor = total - correction
    else:
        factor = total - correction * xp.sum(w * rules.cast(xp, aweights, w.dtype)) / total
    centred = x - mean
    result = xp.matmul(centred * w, xp.conj(_turned(centred))) / xp.maximum(factor, 0)
    return rules.cast(xp, xp.asarray(result.squeeze()), target)


def _check_weights(name: str, weights: Array | None, count: int, integral: bool) -> None:
    if weights is None:
        return
    if weights.ndim > 1:
        raise RuntimeError(
            f"cov(): expected {name} to have one or fewer dimensions but got {name} with {weights.ndim} "
            "dimensions"
        )
    if (rules.category(weights) == rules.FLOATING) == integral:
        kind = "integral" if integral else "floating point"
        raise RuntimeError(
            f"cov(): expected {name} to have {kind} dtype but got {name} with "
            f"{rules.NAME_OF[weights.dtype]} dtype"
        )
    if weights.size != count:
        raise RuntimeError(
            f"cov(): expected {name} to have the same numel as there are observations in the input but got "
            f"{weights.size} != {count}"
        )
    if weights.size and weights.min() < 0:
        raise RuntimeError(f"cov(): {name} cannot be negative")


@op("aten::corrcoef(Tensor self) -> Tensor")
def _corrcoef(xp: Any, self: Array) -> Array:
    if self.ndim > 2:
        raise RuntimeError(
            "corrcoef(): expected input to have two or fewer dimensions but got an input with "
            f"{self.ndim} dimensions"
        )
    dtype = rules.float_dtype(self.dtype)
    c = _cov(xp, rules.cast(xp, self, rules.opmath(dtype)))
    if c.ndim == 0:
        return rules.cast(xp, xp.asarray(c / c), dtype)
    spread = xp.sqrt(xp.diagonal(c).real)
    found = c / spread[:, None] / spread[None, :]
    if found.dtype.kind == "c":
        found = xp.clip(found.real, -1, 1) + 1j * xp.clip(found.imag, -1, 1)
    else:
        found = xp.clip(found, -1, 1)
    return rules.cast(xp, found, dtype)
