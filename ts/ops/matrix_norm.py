"""Matrix norms (Frobenius norm, nuclear norm, spectral norm, maximum row and column sums).

Input: an array, the order of the norm, the two matrix dimensions, and `keepdim`. Output: the reduced array.
`linalg.norm` computes a matrix norm or a vector norm, depending on its arguments.
"""

from __future__ import annotations

import math
from typing import Any

from ts.ops import common, cost_model
from ts.ops.factorizations import matrix
from ts.ops.out_variants import COPIED_OUT
from ts.ops.registry import op, shared_fields
from ts.ops.svd import apply_to_finite
from ts.ops.unsupported_dtypes import LOW_PRECISION
from ts.ops.vector_norm import check_norm_dtype, vector_norm

Array = common.Array


@op(
    "aten::linalg_norm(Tensor self, Scalar? ord=None, int[1]? dim=None, bool keepdim=False, *, "
    "ScalarType? dtype=None) -> Tensor",
    out="out",
    out_dtype_error="linalg.norm expected out tensor dtype {want} but got: {got}",
    work=cost_model.of(cost_model.elements, 0.1),
    autocast={"cuda": "float32"},
)
def _norm(
    xp: Any, self: Array, ord: Any = None, dim: Any = None, keepdim: bool = False, dtype: int | None = None
) -> Array:
    check_dims(self, ord, dim)
    if ord is not None and ((dim is not None and len(dim) == 2) or (dim is None and self.ndim == 2)):
        return matrix_norm(xp, self, ord, (-2, -1) if dim is None else dim, keepdim, dtype)
    return vector_norm(xp, self, 2 if ord is None else ord, dim, keepdim, dtype)


def check_dims(self: Array, ord: Any, dim: Any) -> None:
    """Raise a RuntimeError if the number of dimensions does not select a vector norm or a matrix norm."""
    if dim is not None and len(dim) not in (1, 2):
        raise RuntimeError(f"linalg.norm: If dim is specified, it must be of length 1 or 2. Got {list(dim)}")
    if dim is None and ord is not None and self.ndim > 2:
        raise RuntimeError(
            f"linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got {self.ndim}D."
        )


@op(
    "aten::linalg_norm.ord_str(Tensor self, str ord, int[1]? dim=None, bool keepdim=False, *, "
    "ScalarType? dtype=None) -> Tensor",
    out="ord_str_out",
    out_dtype_error="linalg.norm expected out tensor dtype {want} but got: {got}",
    work=cost_model.of(cost_model.elements, 0.1),
    autocast={"cuda": "float32"},
)
def _norm_str(
    xp: Any, self: Array, ord: str, dim: Any = None, keepdim: bool = False, dtype: int | None = None
) -> Array:
    check_dims(self, ord, dim)
    return matrix_norm(xp, self, ord, (-2, -1) if dim is None else dim, keepdim, dtype)


_ORDERS = (1, -1, 2, -2, math.inf, -math.inf, "fro", "nuc")


def _check_matrix_norm(self: Array, ord: Any, dim: Any, dtype: common.DType) -> None:
    """Raise a RuntimeError if a matrix norm does not support the order, dimensions or dtypes."""
    name = "linalg.matrix_norm"
    if ord not in _ORDERS:
        raise RuntimeError(f"{name}: Order {ord} not supported.")
    matrix(name, self)
    if ord in (2, -2, "nuc") and self.dtype in common.HALF_DTYPES:
        raise RuntimeError(f"{name}: {LOW_PRECISION.format(dtype=common.NAME_OF[self.dtype])}")
    if len(dim) != 2:
        raise RuntimeError(f"{name}: dim must be a 2-tuple. Got {' '.join(map(str, dim))}")
    check_norm_dtype(name, self.dtype, dtype)
    first, second = (common.wrap_dim(d, self.ndim) for d in dim)
    if first == second:
        raise RuntimeError(f"{name}: dims must be different. Got ({dim[0]}, {dim[1]})")


def matrix_norm(xp: Any, self: Array, ord: Any, dim: Any, keepdim: bool, dtype: int | None) -> Array:
    """Return a norm of the matrices in the two dimensions `dim`."""
    computed = common.dtype_from(dtype, self.dtype)
    _check_matrix_norm(self, ord, dim, computed)
    x = common.cast(xp, self, computed)
    axes = common.wrap_dims(list(dim), self.ndim)
    if ord == "fro":
        return vector_norm(xp, x, 2, axes, keepdim)
    if ord in (2, -2, "nuc"):
        moved = xp.moveaxis(x, axes, (-2, -1))
        result = apply_to_finite(xp, lambda each: xp.linalg.norm(each, ord, (-2, -1)), moved)
        result = xp.expand_dims(result, tuple(axes)) if keepdim else result
    else:
        result = xp.asarray(xp.linalg.norm(x, ord, axes, keepdim))
    return common.cast(xp, result, common.real_dtype(x.dtype))


@op(
    "aten::linalg_matrix_norm(Tensor self, Scalar ord, int[] dim=[-2, -1], bool keepdim=False, *, "
    "ScalarType? dtype=None) -> Tensor",
    out="out",
)
@op(
    'aten::linalg_matrix_norm.str_ord(Tensor self, str ord="fro", int[] dim=[-2, -1], bool '
    "keepdim=False, *, ScalarType? dtype=None) -> Tensor",
    out="str_ord_out",
)
@shared_fields(
    layout="contiguous",
    out_dtype_error="linalg.matrix_norm expected out tensor dtype {want} but got: {got}",
    work=cost_model.matrix_norm,
    autocast={"cuda": "float32"},
)
def _matrix_norm(
    xp: Any,
    self: Array,
    ord: Any = "fro",
    dim: Any = (-2, -1),
    keepdim: bool = False,
    dtype: int | None = None,
) -> Array:
    return matrix_norm(xp, self, ord, dim, keepdim, dtype)


@op(
    "aten::frobenius_norm.dim(Tensor self, int[1] dim, bool keepdim=False) -> Tensor",
    where="f",
    layout="contiguous",
    work=cost_model.of(cost_model.elements, 0.1),
    autocast={"cuda": "float32"},
    **COPIED_OUT,
)
def _frobenius_norm(xp: Any, self: Array, dim: Any, keepdim: bool = False) -> Array:
    if len(dim) > 2:
        raise RuntimeError(f"Expected at most 2 dimensions, but got {len(dim)} dimensions instead.")
    return vector_norm(xp, self, 2, dim, keepdim)


@op(
    "aten::nuclear_norm(Tensor self, bool keepdim=False) -> Tensor",
    out="out",
    where="f",
    layout="contiguous",
    work=0.2,
    out_dtype_error="linalg.matrix_norm expected out tensor dtype {want} but got: {got}",
    autocast={"cuda": "float32"},
)
def _nuclear_norm(xp: Any, self: Array, keepdim: bool = False) -> Array:
    return matrix_norm(xp, self, "nuc", (-2, -1), keepdim, None)


@op(
    "aten::nuclear_norm.dim(Tensor self, int[2] dim, bool keepdim=False) -> Tensor",
    out="dim_out",
    where="f",
    layout="contiguous",
    work=0.2,
    out_dtype_error="linalg.matrix_norm expected out tensor dtype {want} but got: {got}",
    autocast={"cuda": "float32"},
)
def _nuclear_norm_dim(xp: Any, self: Array, dim: Any, keepdim: bool = False) -> Array:
    return matrix_norm(xp, self, "nuc", dim, keepdim, None)


_LIGHT = cost_model.of(cost_model.elements, 0.1)


@op(
    "aten::norm_except_dim(Tensor v, int pow=2, int dim=0) -> Tensor",
    work=_LIGHT,
    autocast={"cuda": "float32"},
)
def _norm_except_dim(xp: Any, v: Array, pow: int = 2, dim: int = 0) -> Array:
    """Return the norm over all dimensions except `dim`, or over all dimensions if `dim` is -1."""
    if dim == -1:
        return vector_norm(xp, v, pow, None, False)
    axis = common.wrap_dim(dim, v.ndim)
    return vector_norm(xp, v, pow, [d for d in range(v.ndim) if d != axis], True) if v.ndim > 1 else abs(v)


# --------------------------------------------------------------------------------------- weight normalization


def _by_norms(xp: Any, v: Array, g: Array, dim: int) -> tuple[Array, Array]:
    """Scale the slices of `v` along `dim` to the norms `g`. Return the result and the norms before scaling.

    16-bit floats are computed in 32 bits.
    """
    norms = _norm_except_dim(xp, common.cast(xp, v, common.opmath(v.dtype)), 2, dim)
    return common.cast(xp, v * (common.cast(xp, g, common.opmath(g.dtype)) / norms), v.dtype), norms


@op("aten::_weight_norm(Tensor v, Tensor g, int dim=0) -> Tensor", layout="contiguous", work=_LIGHT)
def _weight_norm(xp: Any, v: Array, g: Array, dim: int = 0) -> Array:
    if dim in (0, v.ndim - 1):
        return _weight_norm_interface(xp, v, g, dim)[0]
    if common.CATEGORY_OF[v.dtype] < common.FLOATING:
        raise RuntimeError(
            "norm(): input dtype should be either floating point or complex. Got "
            f"{common.NAME_OF[v.dtype]} instead."
        )
    return _by_norms(xp, v, g, dim)[0]


@op(
    "aten::_weight_norm_interface(Tensor v, Tensor g, int dim=0) -> (Tensor, Tensor)",
    layout=("contiguous", "contiguous"),
    work=_LIGHT,
    **COPIED_OUT,
)
def _weight_norm_interface(xp: Any, v: Array, g: Array, dim: int = 0) -> tuple[Array, Array]:
    """Scale the slices of `v` along `dim` (first or last) to the norms `g`, and also return the old norms."""
    if dim not in (0, v.ndim - 1):
        raise RuntimeError(f"fused kernels can only be applied for first or last dim, but got {dim}")
    if common.CATEGORY_OF[v.dtype] != common.FLOATING:
        common.raise_unsupported_dtype("weight_norm_kernel", v.dtype)
    return _by_norms(xp, v, g, dim)


@op(
    "aten::_weight_norm_interface_backward(Tensor grad_w, Tensor saved_v, Tensor saved_g, "
    "Tensor saved_norms, int dim) -> (Tensor, Tensor)",
    where="",
    layout=("contiguous", "contiguous"),
    dtype_errors={"bic": "weight_norm_backward_kernel"},
    checked_dtype="saved_v saved_g grad_w saved_norms",
    **COPIED_OUT,
)
def _weight_norm_interface_backward(
    xp: Any, grad_w: Array, saved_v: Array, saved_g: Array, saved_norms: Array, dim: int
) -> tuple[Array, Array]:
    """Return the gradients of `v` and `g`.

    The gradient of `v` is the component of `grad_w` orthogonal to `v`, multiplied by g / norms. The gradient
    of `g` is the length (with sign) of the component of `grad_w` parallel to `v`.
    """
    if dim not in (0, saved_v.ndim - 1):
        raise RuntimeError(f"fused kernels can only be applied for first or last dim, but got {dim}")
    grad, v, g, norms = (
        common.cast(xp, x, common.opmath(x.dtype)) for x in (grad_w, saved_v, saved_g, saved_norms)
    )
    rest = tuple(d for d in range(v.ndim) if d != dim)
    along = xp.sum(grad * v, axis=rest, keepdims=True) / norms
    of_v = g / norms * (grad - v * (along / norms))
    return common.cast(xp, of_v, saved_v.dtype), common.cast(xp, along, saved_g.dtype)
