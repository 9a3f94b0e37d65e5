"""Vector norms along dimensions or of all elements, distances, and rescaling to a maximum norm.

Input: an array, the order of the norm, dimensions (None or [] for all), and `keepdim`. Output: the reduced
array.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from ts._core.tensor import size_guards
from ts.ops import common
from ts.ops.numpy_arithmetic import check_no_bool_subtraction
from ts.ops.out_variants import COPIED, COPIED_OUT, EXPECTED_DTYPE_ERROR, SAME_DTYPE_OUT
from ts.ops.registry import op
from ts.ops.unsupported_dtypes import INEXACT

Array = common.Array
Dims = Sequence[int] | int | None


def _check_not_empty(self: Array, p: float, dim: Dims) -> None:
    """Raise a RuntimeError if a norm without an identity would reduce zero elements."""
    order = int(p) if p not in (math.inf, -math.inf) and p == int(p) else p
    if dim is None or (isinstance(dim, Sequence) and not dim):
        if any(size_guards.known_zero(n) for n in self.shape):
            raise RuntimeError(
                f"linalg.vector_norm cannot compute the {order} norm on an empty tensor because the "
                "operation does not have an identity"
            )
        return
    for d in dim if isinstance(dim, Sequence) else (dim,):
        if self.ndim and size_guards.known_zero(self.shape[common.wrap_dim(d, self.ndim)]):
            raise RuntimeError(
                f"linalg.vector_norm cannot compute the {order} norm on the dimension {d}because this "
                "dimension is empty and the operation does not have an identity"
            )


def check_norm_dtype(name: str, dtype: common.DType, computed: common.DType) -> None:
    """Raise a RuntimeError if a norm of elements of `dtype` cannot be computed in the dtype `computed`."""
    if computed == dtype:
        return
    if common.CATEGORY_OF[computed] < common.FLOATING:
        raise RuntimeError(
            f"{name}: dtype should be floating point or complex, but got {common.NAME_OF[computed]}"
        )
    if (computed.kind == "c") != (dtype.kind == "c"):
        kind = "complex" if dtype.kind == "c" else "real"
        raise RuntimeError(
            f"{name}: dtype should be {kind} for {kind} inputs, but got {common.NAME_OF[computed]}"
        )
    if common.promote_types(dtype, computed) != computed:
        raise RuntimeError(
            f"{name}: the dtype of the input ({common.NAME_OF[dtype]}) should be convertible without "
            f"narrowing to the specified dtype ({common.NAME_OF[computed]})"
        )


def vector_norm(xp: Any, self: Array, p: float, dim: Dims, keepdim: bool, dtype: int | None = None) -> Array:
    """Return the p-norm of the elements along `dim`, for any p including 0 and the infinities."""
    source = common.dtype_from(dtype, self.dtype)
    if common.CATEGORY_OF[self.dtype] < common.FLOATING:
        raise RuntimeError(f"linalg.vector_norm: {INEXACT.format(dtype=common.NAME_OF[self.dtype])}")
    check_norm_dtype("linalg.vector_norm", self.dtype, source)
    axes = common.wrap_dims(dim, self.ndim)
    if p < 0 or p == math.inf:
        _check_not_empty(self, p, dim)
    size = xp.abs(common.cast(xp, self, common.opmath(source)))
    if p == math.inf:
        result = xp.max(size, axis=axes, keepdims=keepdim)
    elif p == -math.inf:
        result = xp.min(size, axis=axes, keepdims=keepdim)
    elif p == 0:
        result = xp.sum(size != 0, axis=axes, keepdims=keepdim)
    elif p == 2:
        result = xp.sqrt(xp.sum(size * size, axis=axes, keepdims=keepdim))
    else:
        result = xp.sum(size**p, axis=axes, keepdims=keepdim) ** (1.0 / p)
    return common.cast(xp, result, common.real_dtype(source))


def _cuda_row_expression(name: str) -> Callable[..., str]:
    """Return the value of the record field `cuda_rows` for a norm: a function.

    The returned function returns a CUDA expression that computes the norm of a row.

    `name` is the name of the argument for the norm's order.
    """

    def row_expression(n: int, **arguments: Any) -> str:
        p = arguments[name]
        if p is None or p == 2:
            return "sqrt(sum(a * a))"
        if abs(p) == math.inf:
            return f"{'largest' if p > 0 else 'smallest'}(abs(a))"
        if p == 0:
            return "sum(a != 0 ? 1.0f : 0.0f)"
        return f"pow(sum(pow(abs(a), {name})), 1 / {name})"

    return row_expression


@op(
    "aten::linalg_vector_norm(Tensor self, Scalar ord=2, int[1]? dim=None, bool keepdim=False, *, "
    "ScalarType? dtype=None) -> Tensor",
    layout="contiguous",
    **SAME_DTYPE_OUT,
    epilogue=True,
    cuda_rows=_cuda_row_expression("ord"),
    autocast={"cuda": "float32"},
    sparse="reductions.norm",
)
def _vector_norm(
    xp: Any, self: Array, ord: Any = 2, dim: Dims = None, keepdim: bool = False, dtype: int | None = None
) -> Array:
    return vector_norm(xp, self, ord, dim, keepdim, dtype)


@op(
    "aten::norm.Scalar(Tensor self, Scalar p=2) -> Tensor",
    layout="contiguous",
    order="Scalar ScalarOpt_dim ScalarOpt_dim_dtype dtype_out out ScalarOpt_dtype ScalarOpt_dtype_out",
    out="Scalar_out",
    epilogue=True,
    cuda_rows=_cuda_row_expression("p"),
    autocast={"cuda": "float32"},
    **COPIED,
    sparse="reductions.norm",
)
def _norm_scalar(xp: Any, self: Array, p: Any = 2) -> Array:
    return vector_norm(xp, self, p, None, False)


@op(
    "aten::norm.ScalarOpt_dim(Tensor self, Scalar? p, int[1] dim, bool keepdim=False) -> Tensor",
    layout="contiguous",
    **SAME_DTYPE_OUT,
    epilogue=True,
    cuda_rows=_cuda_row_expression("p"),
    autocast={"cuda": "float32"},
    sparse="reductions.norm",
)
def _norm_dim(xp: Any, self: Array, p: Any, dim: Dims, keepdim: bool = False) -> Array:
    return vector_norm(xp, self, 2 if p is None else p, dim, keepdim)


@op(
    "aten::norm.ScalarOpt_dim_dtype(Tensor self, Scalar? p, int[1] dim, bool keepdim, *, ScalarType "
    "dtype) -> Tensor",
    out="dtype_out",
    layout="contiguous",
    dtype_errors={"bi": f"linalg.vector_norm: {INEXACT}"},
    out_dtype_error=EXPECTED_DTYPE_ERROR,
    sparse="reductions.norm",
)
def _norm_dim_dtype(
    xp: Any, self: Array, p: Any, dim: Dims, keepdim: bool = False, dtype: int | None = None
) -> Array:
    return vector_norm(xp, self, 2 if p is None else p, dim, keepdim, dtype)


@op(
    "aten::norm.ScalarOpt_dtype(Tensor self, Scalar? p, *, ScalarType dtype) -> Tensor",
    layout="contiguous",
    dtype_errors={"bi": f"linalg.vector_norm: {INEXACT}"},
    out="ScalarOpt_dtype_out",
    **COPIED,
    sparse="reductions.norm_of_dtype",
)
def _norm_dtype(xp: Any, self: Array, p: Any, dtype: int) -> Array:
    return vector_norm(xp, self, 2 if p is None else p, None, False, dtype)


@op(
    "aten::dist(Tensor self, Tensor other, Scalar p=2) -> Tensor",
    autocast={"cuda": "float32"},
    **COPIED_OUT,
)
def _dist(xp: Any, self: Array, other: Array, p: Any = 2) -> Array:
    check_no_bool_subtraction(self, other)
    dtype = common.result_type(self, other)
    if common.CATEGORY_OF[dtype] < common.FLOATING:
        raise RuntimeError(
            "norm(): input dtype should be either floating point or complex. Got "
            f"{common.NAME_OF[dtype]} instead."
        )
    x, y = common.cast(xp, self, dtype), common.cast(xp, other, dtype)
    return vector_norm(xp, xp.subtract(x, y), p, None, False)


@op(
    "aten::renorm(Tensor self, Scalar p, int dim, Scalar maxnorm) -> Tensor",
    inplace=True,
    layout="contiguous",
    **SAME_DTYPE_OUT,
    autocast={"cuda": "float32"},
)
def _renorm(xp: Any, self: Array, p: Any, dim: int, maxnorm: Any) -> Array:
    if p <= 0:
        raise RuntimeError("renorm: non-positive-norm not supported")
    if maxnorm < 0:
        raise RuntimeError(f"renorm: expected maxnorm to be >= 0 but got {maxnorm}")
    if self.ndim < 2:
        raise RuntimeError(f"renorm: input needs at least 2 dimensions, got {self.ndim} dimensions")
    axis = common.wrap_dim(dim, self.ndim)
    others = [d for d in range(self.ndim) if d != axis]
    norm = vector_norm(xp, self, p, others, True)
    return common.cast(xp, xp.where(norm > maxnorm, self * (maxnorm / (norm + 1e-7)), self), self.dtype)


@op(
    "aten::linalg__powsum(Tensor self, Scalar ord=2, int[1]? dim=None, bool keepdim=False, *, ScalarType? "
    "dtype=None) -> Tensor",
    where="",
    layout="contiguous",
)
def _powsum(
    xp: Any, self: Array, ord: Any = 2, dim: Dims = None, keepdim: bool = False, dtype: int | None = None
) -> Array:
    """Return the sum of |x| ** ord along `dim`: a norm without the root."""
    source = common.dtype_from(dtype, self.dtype)
    if common.CATEGORY_OF[source] < common.FLOATING:
        common.raise_unsupported_dtype("powsum_cpu", common.accumulate_dtype(source))
    wide = common.promote_types(self.dtype, common.opmath(source))
    size = common.cast(xp, xp.abs(common.cast(xp, self, wide)), common.opmath(common.real_dtype(source)))
    total = xp.sum(size**ord, axis=common.wrap_dims(dim, self.ndim), keepdims=keepdim)
    return common.cast(xp, total, common.real_dtype(source))


_NATIVE = {"bi": f"linalg.vector_norm: {INEXACT}"}


@op(
    "aten::native_norm(Tensor self, Scalar p=2) -> Tensor",
    where="f",
    layout="contiguous",
    dtype_errors=_NATIVE,
    order="out ScalarOpt_dim_dtype_out",
    **COPIED_OUT,
    sparse="reductions.norm",
)
@op(
    "aten::native_norm.ScalarOpt_dim_dtype(Tensor self, Scalar? p, int[1] dim, bool keepdim, ScalarType? "
    "dtype) -> Tensor",
    where="f",
    layout="contiguous",
    out="ScalarOpt_dim_dtype_out",
    **COPIED,
    sparse="reductions.norm",
)
def _native_norm(
    xp: Any, self: Array, p: Any = 2, dim: Dims = None, keepdim: bool = False, dtype: int | None = None
) -> Array:
    return vector_norm(xp, self, 2 if p is None else p, dim, keepdim, dtype)
