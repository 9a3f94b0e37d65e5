"""Householder reflectors in LAPACK's packed form: the factorisation, Q itself, and products with Q.

In: (batches of) matrices, or reflectors below a diagonal with their scales `tau`; out: the same, or matrices.
"""

from __future__ import annotations

from typing import Any

from ts.ops import rules
from ts.ops.factorizations import matrix, transposed
from ts.ops.registry import op

Array = rules.Array


@op(
    "aten::geqrf(Tensor self) -> (Tensor a, Tensor tau)",
    out="a",
    out_names="a,tau",
    layout=("columns", "contiguous"),
    refuses={"bih": "geqrf_cpu"},
)
def _geqrf(xp: Any, self: Array) -> tuple[Array, Array]:
    packed, tau = xp.linalg.qr(matrix("torch.geqrf", self), "raw")
    return transposed(packed), tau


def _reflected(xp: Any, a: Array, tau: Array, x: Array, adjoint: bool) -> Array:
    """Q x, or its adjoint's product, for the Q whose reflectors stand below the diagonal of `a`."""
    count = tau.shape[-1]
    lower = xp.tril(a[..., :count], -1) + xp.eye(a.shape[-2], count, dtype=a.dtype)
    for i in range(count) if adjoint else reversed(range(count)):
        v = lower[..., i, None]
        scale = tau[..., i, None, None]
        x = x - (xp.conj(scale) if adjoint else scale) * v * xp.matmul(xp.conj(transposed(v)), x)
    return x


@op("aten::linalg_householder_product(Tensor input, Tensor tau) -> Tensor", out="out", where="f")
@op(
    "aten::orgqr(Tensor self, Tensor input2) -> Tensor", out="out", same_as="aten::linalg_householder_product"
)
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
    x = xp.conj(transposed(input3))
    return xp.conj(transposed(_reflected(xp, self, input2, x, not transpose)))
