"""Householder reflections (reflectors) in LAPACK's packed form, for QR factorization and products with Q.

The packed form stores reflectors below the diagonal of a matrix, and their scales in a vector `tau`.

Input: matrices, or packed reflectors. Output: packed reflectors and R, the matrix Q, or products with Q.
"""

from __future__ import annotations

from typing import Any

from ts.ops import common, cost_model
from ts.ops.factorizations import matrix, transpose_matrices
from ts.ops.out_variants import castable
from ts.ops.registry import op, shared_fields
from ts.ops.shape_functions import ShapeAndDtype, like

Array = common.Array


@op(
    "aten::geqrf(Tensor self) -> (Tensor a, Tensor tau)",
    out="a",
    layout=("columns", "contiguous"),
    dtype_errors={"bih": "geqrf_cpu"},
    out_cast_error=castable("torch.geqrf", "a"),
    autocast={"cpu": "float32"},
)
def _geqrf(xp: Any, self: Array) -> tuple[Array, Array]:
    if self.ndim < 2:
        raise RuntimeError("torch.geqrf: input must have at least 2 dimensions.")
    packed, tau = xp.linalg.qr(matrix("torch.geqrf", self), "raw")
    return transpose_matrices(packed), tau


def _reflected(xp: Any, a: Array, tau: Array, x: Array, adjoint: bool) -> Array:
    """Return Q x, or Q^H x if `adjoint`, for Q given by reflectors below the diagonal of `a`."""
    count = tau.shape[-1]
    lower = xp.tril(a[..., :count], -1) + xp.eye(a.shape[-2], count, dtype=a.dtype)
    for i in cost_model.steps(range(count) if adjoint else reversed(range(count))):
        v = lower[..., i, None]
        scale = tau[..., i, None, None]
        x = x - (xp.conj(scale) if adjoint else scale) * v * xp.matmul(xp.conj(transpose_matrices(v)), x)
    return x


def _check_reflectors(input: Array, tau: Array) -> None:
    name = "torch.linalg.householder_product"
    if input.ndim < 2:
        raise RuntimeError(f"{name}: input must have at least 2 dimensions.")
    m, n = input.shape[-2:]
    if m < n:
        raise RuntimeError(f"{name}: input.shape[-2] must be greater than or equal to input.shape[-1]")
    if not tau.ndim:
        raise IndexError("Dimension specified as -1 but tensor has no dimensions")
    if tau.shape[-1:] > (n,):
        raise RuntimeError(f"{name}: input.shape[-1] must be greater than or equal to tau.shape[-1]")
    _check_scales(name, input, tau)
    if tau.dtype != input.dtype:
        raise RuntimeError(
            f"{name}: tau dtype {common.NAME_OF[tau.dtype]} does not match input dtype "
            f"{common.NAME_OF[input.dtype]}"
        )
    common.check_factorised("orgqr_cpu", input)


def _check_scales(name: str, input: Array, tau: Array) -> None:
    """Check the shape of `tau`: one scale per reflector of each matrix."""
    if input.ndim - tau.ndim != 1:
        raise RuntimeError(
            f"{name}: Expected tau to have one dimension less than input, but got tau.ndim equal to "
            f"{tau.ndim} and input.ndim is equal to {input.ndim}"
        )
    if tau.shape[:-1] != input.shape[:-2]:
        raise RuntimeError(
            f"{name}: Expected batch dimensions of tau to be equal to input.shape[:-2], but got "
            f"{list(tau.shape[:-1])}"
        )


def _check_product(self: Array, tau: Array, other: Array, left: bool) -> None:
    common.check_factorised("ormqr_cpu", self, tau, other)
    for name, x in (("input", self), ("other", other)):
        if x.ndim < 2:
            raise RuntimeError(f"torch.ormqr: {name} must have at least 2 dimensions.")
    side = -2 if left else -1
    if other.shape[side] != self.shape[-2]:
        raise RuntimeError(f"torch.ormqr: other.shape[{side}] must be equal to input.shape[-2]")
    if tau.ndim and tau.shape[-1] != min(other.shape[side], self.shape[-1]):
        raise RuntimeError(
            f"torch.ormqr: tau.shape[-1] must be equal to min(other.shape[{side}], input.shape[-1])"
        )
    _check_scales("torch.ormqr", self, tau)
    if self.ndim != other.ndim:
        raise RuntimeError(
            "torch.ormqr: Expected other to have the same number of dimensions as input, but got other.ndim "
            f"equal to {other.ndim} and input.ndim is equal to {self.ndim}"
        )
    if other.shape[:-2] != self.shape[:-2]:
        raise RuntimeError(
            "torch.ormqr: Expected batch dimensions of other to be equal to input.shape[:-2], but got "
            f"{list(other.shape[:-2])}"
        )
    for name, x in (("tau", tau), ("other", other)):
        if x.dtype != self.dtype:
            raise RuntimeError(
                f"torch.ormqr: Expected input and {name} to have the same dtype, but input has dtype"
                f"{common.NAME_OF[self.dtype]} and {name} has dtype {common.NAME_OF[x.dtype]}"
            )


def _orthogonal_shape(input: Array, tau: Array) -> ShapeAndDtype:
    """Return shape and dtype of Q's leading columns."""
    _check_reflectors(input, tau)
    return like(input)


def _product_shape(
    self: Array, input2: Array, input3: Array, left: bool = True, transpose: bool = False
) -> ShapeAndDtype:
    """Return shape and dtype of a product with Q."""
    _check_product(self, input2, input3, left)
    return like(input3)


@op(
    "aten::linalg_householder_product(Tensor input, Tensor tau) -> Tensor",
    out="out",
    out_cast_error=castable("torch.linalg.householder_product"),
)
@op(
    "aten::orgqr(Tensor self, Tensor input2) -> Tensor",
    out="out",
    out_cast_error=castable("torch.linalg.householder_product"),
    same_as="aten::linalg_householder_product",
)
@shared_fields(layout="columns", shape=_orthogonal_shape, autocast={"cpu": "float32"})
def _householder_product(xp: Any, input: Array, tau: Array) -> Array:
    _check_reflectors(input, tau)
    m, n = input.shape[-2:]
    eye = xp.broadcast_to(xp.eye(m, n, dtype=input.dtype), input.shape)
    return _reflected(xp, input, tau, eye, False).copy()


@op(
    "aten::ormqr(Tensor self, Tensor input2, Tensor input3, bool left=True, bool transpose=False) -> Tensor",
    out="out",
    layout="columns",
    shape=_product_shape,
    autocast={"cpu": "float32"},
)
def _ormqr(
    xp: Any, self: Array, input2: Array, input3: Array, left: bool = True, transpose: bool = False
) -> Array:
    _check_product(self, input2, input3, left)
    if left:
        return _reflected(xp, self, input2, input3, transpose)
    x = xp.conj(transpose_matrices(input3))
    return xp.conj(transpose_matrices(_reflected(xp, self, input2, x, not transpose)))
