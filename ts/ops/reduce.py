"""Reductions (sum, product, minimum, maximum, mean, variance, norm, any, all).

Input: an array, the dimensions to reduce (None or [] for all), and `keepdim`. Output: the reduced array.
16-bit floats are summed in 32 bits. Sums of integers are int64. Means need a floating dtype.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from ts._core.thread.warnings import warn
from ts.ops import common, cost_model
from ts.ops.out_variants import (
    COPIED,
    COPIED_OUT,
    EXPECTED_DTYPE_ERROR,
    SAME_DTYPE_OUT,
    CategoryErrorMessage,
    DtypeErrorUnlessUint8,
)
from ts.ops.registry import op, order, shared_fields
from ts.ops.type_promotion import types_except

Array = common.Array

_OUT_CAST_ERROR = (
    "Expected canCast( typeMetaToScalarType(self.dtype()), typeMetaToScalarType(out.dtype())) to be true, "
    "but got false.  (Could this error message be improved?  If so, please report an enhancement request to "
    "PyTorch.)"
)
_ANY_ALL_COST = cost_model.of(cost_model.elements, 0.0005)  # cost of `any` and `all`, which may stop early
Dims = Sequence[int] | int | None


def sum_kernel(
    xp: Any, self: Array, dim: Dims = None, keepdim: bool = False, dtype: int | None = None
) -> Array:
    """Return the sum over `dim`. The result dtype is `dtype` or by default the accumulation dtype."""
    axes = common.wrap_dims(dim, self.ndim)
    target = common.dtype_from(dtype, common.accumulate_dtype(self.dtype))
    work = common.cast(xp, self, common.opmath(target))
    return common.cast(xp, xp.sum(work, axis=axes, keepdims=keepdim), target)


@op(
    "aten::sum.dim_IntList(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) "
    "-> Tensor",
    out="IntList_out",
    layout="contiguous",
    computes_in_out=True,
    epilogue=True,
    cuda_rows="sum(a)",
    autocast={"cuda": "float32"},
    sparse="reductions.sum_dims",
    copies_sizes=True,
)
def _sum_dim(xp: Any, self: Array, dim: Dims, keepdim: bool = False, dtype: int | None = None) -> Array:
    return sum_kernel(xp, self, dim, keepdim, dtype)


@op(
    "aten::sum(Tensor self, *, ScalarType? dtype=None) -> Tensor",
    epilogue=True,
    cuda_rows="sum(a)",
    autocast={"cuda": "float32"},
    **COPIED_OUT,
    sparse="reductions.sum_all",
    copies_sizes=True,
)
def _sum(xp: Any, self: Array, dtype: int | None = None) -> Array:
    return sum_kernel(xp, self, None, False, dtype)


@op(
    "aten::nansum(Tensor self, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
    out="out",
    layout="contiguous",
)
def _nansum(xp: Any, self: Array, dim: Dims = None, keepdim: bool = False, dtype: int | None = None) -> Array:
    if self.dtype.kind == "c":
        raise RuntimeError("nansum on CPU does not support complex inputs")
    filled = (
        xp.where(xp.isnan(self), xp.zeros((), self.dtype), self) if self.dtype.kind not in "iub" else self
    )
    return sum_kernel(xp, filled, dim, keepdim, dtype)


@op(
    "aten::prod(Tensor self, *, ScalarType? dtype=None) -> Tensor",
    order="- dim_int int_out",
    epilogue=True,
    cuda_rows="product(a)",
    autocast="float32",
    **COPIED_OUT,
)
def _prod(xp: Any, self: Array, dtype: int | None = None) -> Array:
    target = common.dtype_from(dtype, common.accumulate_dtype(self.dtype))
    return common.cast(xp, xp.prod(common.cast(xp, self, common.opmath(target))), target)


@op(
    "aten::prod.dim_int(Tensor self, int dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
    out="int_out",
    layout="contiguous",
    computes_in_out=True,
    epilogue=True,
    cuda_rows="product(a)",
    autocast="float32",
)
def _prod_dim(xp: Any, self: Array, dim: int, keepdim: bool = False, dtype: int | None = None) -> Array:
    target = common.dtype_from(dtype, common.accumulate_dtype(self.dtype))
    axes = common.wrap_dims(dim, self.ndim)
    return common.cast(
        xp, xp.prod(common.cast(xp, self, common.opmath(target)), axis=axes, keepdims=keepdim), target
    )


def mean_kernel(
    xp: Any, self: Array, dim: Dims = None, keepdim: bool = False, dtype: int | None = None
) -> Array:
    """Return the mean over `dim`. For integers, a floating `dtype` must be passed."""
    target = common.dtype_from(dtype, self.dtype)
    if common.CATEGORY_OF[target] < common.FLOATING:
        raise RuntimeError(
            f"mean(): could not infer output dtype. {'Optional dtype' if dtype else 'Input dtype'} must be "
            f"either a floating point or complex dtype. Got: {common.NAME_OF[target]}"
        )
    axes = common.wrap_dims(dim, self.ndim)
    count = math.prod(self.shape[a] for a in axes)
    total = xp.sum(common.cast(xp, self, common.opmath(target)), axis=axes, keepdims=keepdim)
    return common.cast(xp, total / count if count else total * xp.nan, target)


@op(
    "aten::mean(Tensor self, *, ScalarType? dtype=None) -> Tensor",
    out="dtype_out",
    order="- dim out",
    epilogue=True,
    cuda_rows="sum(a) / n",
    copies_sizes=True,
    graph_autodiff=True,
)
def _mean(xp: Any, self: Array, dtype: int | None = None) -> Array:
    return mean_kernel(xp, self, None, False, dtype)


@op(
    "aten::mean.dim(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
    out="out",
    layout="contiguous",
    epilogue=True,
    cuda_rows="sum(a) / n",
    copies_sizes=True,
    graph_autodiff=True,
)
def _mean_dim(xp: Any, self: Array, dim: Dims, keepdim: bool = False, dtype: int | None = None) -> Array:
    return mean_kernel(xp, self, dim, keepdim, dtype)


@op(
    "aten::nanmean(Tensor self, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
    out="out",
    layout="contiguous",
    dtype_errors={"bi": "nanmean(): expected input to have floating point or complex dtype but got {dtype}"},
)
def _nanmean(
    xp: Any, self: Array, dim: Dims = None, keepdim: bool = False, dtype: int | None = None
) -> Array:
    total = _nansum(xp, self, dim, keepdim, dtype)
    count = sum_kernel(xp, ~xp.isnan(self), dim, keepdim)
    return common.cast(xp, total / count, total.dtype)


# ---------------------------------------------------------------------------- variance and standard deviation


def variance(xp: Any, self: Array, dim: Dims, correction: float, keepdim: bool) -> tuple[Array, Array]:
    """Return (variance, mean) over `dim`. The variance of n elements has the divisor n - `correction`."""
    if common.category(self) < common.FLOATING:
        raise RuntimeError("std and var only support floating point and complex dtypes")
    axes = common.wrap_dims(dim, self.ndim)
    count = math.prod(self.shape[a] for a in axes)
    x = common.cast(xp, self, common.opmath(self.dtype))
    mean = xp.sum(x, axis=axes, keepdims=True) / xp.asarray(count, dtype=x.dtype)
    squares = xp.sum(xp.abs(x - mean) ** 2, axis=axes, keepdims=keepdim)
    result = squares / xp.asarray(max(count - correction, 0), dtype=squares.dtype)
    if not keepdim:
        mean = xp.squeeze(mean, axis=axes) if axes else mean
    return common.cast(xp, result, common.real_dtype(self.dtype)), common.cast(xp, mean, self.dtype)


def _squares_of_rows(result: str) -> Callable[..., str | None]:
    """Return the value of the record field `cuda_rows` for var or std: a function `row_expression`.

    `row_expression` returns a CUDA expression for a row of n elements. `result` is the C function that is
    applied to the variance. If n is not greater than the correction, `row_expression` returns None. The
    operator's own kernel then runs and emits a warning.
    """

    def row_expression(n: int, *, correction: Any = None, unbiased: bool = True, **others: Any) -> str | None:
        less = "correction" if correction is not None else str(int(unbiased))
        if n <= (unbiased if correction is None else correction):
            return None
        return f"m = sum(a) / n; {result}(sum((a - m) * (a - m)) / (n - {less}))"

    return row_expression


def _moments(
    name: str, xp: Any, self: Array, dim: Dims, correction: Any, keepdim: bool
) -> tuple[Array, Array]:
    correction = 1 if correction is None else correction
    if name.endswith("_mean") and common.category(self) < common.FLOATING:
        raise RuntimeError(f"{name} only support floating point and complex dtypes")
    value, mean = variance(xp, self, dim, correction, keepdim)
    if math.prod(self.shape[a] for a in common.wrap_dims(dim, self.ndim)) <= correction:
        warn(
            f"{name}(): degrees of freedom is <= 0. Correction should be strictly less than the reduction "
            "factor (input numel divided by output numel)."
        )
    return (xp.sqrt(value) if name.startswith("std") else value), mean


def _declare_moments(name: str, fields: dict[str, Any], out_fields: dict[str, Any]) -> None:
    """Declare the overloads of std, var, std_mean or var_mean. All have the record fields `fields`."""
    both = name.endswith("_mean")
    results = "(Tensor, Tensor)" if both else "Tensor"

    def compute(xp: Any, self: Array, dim: Dims, correction: Any, keepdim: bool) -> Any:
        moments = _moments(name, xp, self, dim, correction, keepdim)
        return moments if both else moments[0]

    @op(f"aten::{name}(Tensor self, bool unbiased=True) -> {results}", **fields)
    def of_all(xp: Any, self: Array, unbiased: bool = True) -> Any:
        return compute(xp, self, None, int(unbiased), False)

    @op(
        f"aten::{name}.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> {results}",
        **fields,
        out=() if both else "out",
    )
    def of_dim(xp: Any, self: Array, dim: Dims, unbiased: bool = True, keepdim: bool = False) -> Any:
        return compute(xp, self, dim, int(unbiased), keepdim)

    @op(
        f"aten::{name}.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool "
        f"keepdim=False) -> {results}",
        **fields,
        out="correction_out",
        **out_fields,
    )
    def with_correction(
        xp: Any, self: Array, dim: Dims = None, correction: Any = None, keepdim: bool = False
    ) -> Any:
        return compute(xp, self, dim, correction, keepdim)


for _name, _root in (("std", "sqrt"), ("var", "")):
    _rows = {"epilogue": True, "cuda_rows": _squares_of_rows(_root), "graph_autodiff": True}
    _declare_moments(_name, {"layout": "contiguous", **_rows}, {})
    order(f"aten::{_name}", "- dim correction correction_out")
for _name in ("std_mean", "var_mean"):
    _declare_moments(_name, {"layout": ("contiguous", "contiguous"), "where": "f"}, COPIED)


# ---------------------------------------------------------------------------------------- minimum and maximum


def _require_elements(name: str, self: Array, dim: Dims) -> None:
    """Raise an error if an operator without identity element, such as `max`, reduces an empty dimension."""
    if self.size:
        return
    dims = () if dim is None else (dim,) if isinstance(dim, int) else dim
    if not dims:
        raise RuntimeError(
            f"{name}(): Expected reduction dim to be specified for input.numel() == 0. Specify the "
            "reduction dim with the 'dim' argument."
        )
    for d in dims:
        if not self.shape[common.wrap_dim(d, self.ndim)]:
            raise IndexError(f"{name}(): Expected reduction dim {d} to have non-zero size.")


# Operator -> PyTorch's name of its kernel in the error for complex tensors.
_COMPLEX_EXTREMES = {
    "max": "max_all",
    "min": "min_all",
    "amax": "max_values_cpu",
    "amin": "min_values_cpu",
}


def extreme(xp: Any, name: str, self: Array, dim: Dims, keepdim: bool) -> Array:
    """Compute amax or amin over `dim`. A NaN element makes the result NaN."""
    axes = common.wrap_dims(dim, self.ndim)
    _require_elements(name, self, dim)
    if self.size and self.dtype.kind == "c":
        common.raise_unsupported_dtype(_COMPLEX_EXTREMES[name], self.dtype)
    return (xp.max if name.endswith("max") else xp.min)(self, axis=axes, keepdims=keepdim)


def argument(xp: Any, name: str, self: Array, dim: int | None, keepdim: bool) -> Array:
    """Return the index of the first extreme element along `dim`, or in the flattened array without `dim`."""
    if self.dtype.kind == "c":
        common.raise_unsupported_dtype(f"{name}_cpu", self.dtype)
    find = xp.argmax if name.endswith("max") else xp.argmin
    if name.startswith("arg") and self.dtype == common.BOOL:
        raise RuntimeError(f"{name}(): does not support bool input")
    if dim is None:
        if not self.size:
            raise IndexError(f"{name}(): Expected reduction dim to be specified for input.numel() == 0.")
        index = xp.asarray(find(self), dtype=common.INT64)
        return index.reshape((1,) * self.ndim) if keepdim else index
    axis = common.wrap_dim(dim, self.ndim)
    if self.ndim == 0:
        return xp.zeros((), dtype=common.INT64)
    if self.shape[axis] == 0:
        raise IndexError(f"{name}(): Expected reduction dim {axis} to have non-zero size.")
    return common.cast(xp, xp.asarray(find(self, axis=axis, keepdims=keepdim)), common.INT64)


_OTHER_OUT = (
    "Expected the dtype for input and out to match, but got {want} for input's dtype and {got} for out's "
    "dtype."
)


for _name, _row in (("amax", "largest(a)"), ("amin", "smallest(a)")):

    @op(
        f"aten::{_name}(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor",
        out="out",
        layout="contiguous",
        out_dtype_error=_OTHER_OUT,
        epilogue=True,
        cuda_rows=_row,
        copies_sizes=True,
    )
    def _extreme(xp: Any, self: Array, dim: Dims = (), keepdim: bool = False, name: str = _name) -> Array:
        return extreme(xp, name, self, dim, keepdim)


@op(
    "aten::aminmax(Tensor self, *, int? dim=None, bool keepdim=False) -> (Tensor min, Tensor max)",
    layout=("contiguous", "contiguous"),
    **SAME_DTYPE_OUT,
)
def _aminmax(xp: Any, self: Array, dim: int | None = None, keepdim: bool = False) -> tuple[Array, Array]:
    if dim is None and not self.size:
        raise RuntimeError(
            "aminmax(): cannot compute aminmax over an empty dimension as the operation has no identity."
        )
    if dim is not None and self.ndim:
        axis = common.wrap_dim(dim, self.ndim)
        if not self.shape[axis]:
            raise IndexError(f"aminmax: Expected reduction dim {axis} to have non-zero size.")
    if self.dtype.kind == "c":
        common.raise_unsupported_dtype("aminmax_cpu", self.dtype)
    return extreme(xp, "amin", self, dim, keepdim), extreme(xp, "amax", self, dim, keepdim)


@op("aten::_aminmax(Tensor self) -> (Tensor, Tensor)", **COPIED_OUT)
@op(
    "aten::_aminmax.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor, Tensor)",
    out="dim_out",
    **COPIED,
)
@shared_fields(layout=("contiguous", "contiguous"))
def _aminmax_old(xp: Any, self: Array, dim: int | None = None, keepdim: bool = False) -> tuple[Array, Array]:
    return _aminmax(xp, self, dim, keepdim)


for _name in ("argmax", "argmin"):

    @op(
        f"aten::{_name}(Tensor self, int? dim=None, bool keepdim=False) -> Tensor",
        layout="contiguous",
        dtype_errors={"c": f"{_name}(): does not support complex input"},
        **SAME_DTYPE_OUT,
        copies_sizes=True,
    )
    def _argument(
        xp: Any, self: Array, dim: int | None = None, keepdim: bool = False, name: str = _name
    ) -> Array:
        return argument(xp, name, self, dim, keepdim)


def _extreme_with_index(xp: Any, name: str, self: Array, dim: int, keepdim: bool) -> tuple[Array, Array]:
    index = argument(xp, name, self, dim, True)
    if self.ndim == 0:
        return self.copy(), index
    axis = common.wrap_dim(dim, self.ndim)
    values = xp.take_along_axis(self, index, axis)
    return (values, index) if keepdim else (xp.squeeze(values, axis), xp.squeeze(index, axis))


def _elementwise_extreme(xp: Any, name: str, self: Array, other: Array) -> Array:
    dtype = common.result_type(self, other)
    if dtype.kind == "c":
        raise RuntimeError(f"{name} not implemented for complex tensors.")
    return getattr(xp, name)(common.cast(xp, self, dtype), common.cast(xp, other, dtype))


for _name, _role, _row, _out_names in (
    ("max", "maximum", "largest(a)", "max,max_values"),
    ("min", "minimum", "smallest(a)", "min,min_indices"),
):

    @op(
        f"aten::{_name}.other(Tensor self, Tensor other) -> Tensor",
        out="out",
        ufunc=_role,
        types=types_except("c"),
        layout="like_all",
        element_role=_role,
        graph_autodiff=True,
    )
    def _extreme_other(xp: Any, self: Array, other: Array, name: str = _role) -> Array:
        return _elementwise_extreme(xp, name, self, other)

    @op(
        f"aten::{_name}(Tensor self) -> Tensor",
        out="unary_out",
        order=f"other - dim dim_{_name} unary_out",
        out_cast_error=_OUT_CAST_ERROR,
        epilogue=True,
        cuda_rows=_row,
        element_role=_role,
    )
    def _extreme_all(xp: Any, self: Array, name: str = _name) -> Array:
        return extreme(xp, name, self, None, False)

    @op(
        f"aten::{_name}.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
        out=f"dim_{_name}",
        out_names=_out_names,
        layout=("contiguous", "contiguous"),
        out_dtype_error=EXPECTED_DTYPE_ERROR,
        element_role=_role,
    )
    def _extreme_dim(
        xp: Any, self: Array, dim: int, keepdim: bool = False, name: str = _name
    ) -> tuple[Array, Array]:
        axis = common.wrap_dim(dim, self.ndim)
        if self.ndim and not self.shape[axis]:
            raise IndexError(f"{name}(): Expected reduction dim {axis} to have non-zero size.")
        if self.dtype.kind == "c":
            raise RuntimeError(f"{name}(): does not support complex input")
        return _extreme_with_index(xp, name, self, dim, keepdim)


# ---------------------------------------------------------------------------------------- any, all and counts


def _any_or_all(xp: Any, name: str, self: Array, dim: Dims, keepdim: bool) -> Array:
    axes = common.wrap_dims(dim, self.ndim)
    result = getattr(xp, name)(self != 0, axis=axes, keepdims=keepdim)
    return common.cast(xp, result, common.UINT8) if self.dtype == common.UINT8 else result


for _name in ("any", "all"):
    _fields: dict[str, Any] = {
        "work": _ANY_ALL_COST,
        "out_dtype_error": DtypeErrorUnlessUint8(
            f"{_name} only supports bool tensor for result, got: {{got}}"
        ),
        "copies_sizes": True,
    }

    @op(
        f"aten::{_name}(Tensor self) -> Tensor",
        out="all_out",
        order="- dim dims out dims_out",
        sparse="reductions.any_nonzero" if _name == "any" else "",
        **_fields,
    )
    def _truth(xp: Any, self: Array, name: str = _name) -> Array:
        return _any_or_all(xp, name, self, None, False)

    @op(
        f"aten::{_name}.dim(Tensor self, int dim, bool keepdim=False) -> Tensor",
        out="out",
        layout="contiguous",
    )
    @op(f"aten::{_name}.dims(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor", out="dims_out")
    @shared_fields(**_fields)
    def _truth_dim(xp: Any, self: Array, dim: Dims, keepdim: bool = False, name: str = _name) -> Array:
        return _any_or_all(xp, name, self, dim, keepdim)


@op(
    "aten::count_nonzero(Tensor self, int? dim=None) -> Tensor",
    **COPIED_OUT,
    order="- dim_IntList dim_IntList_out",
)
@op("aten::count_nonzero.dim_IntList(Tensor self, int[] dim) -> Tensor", out="dim_IntList_out", **COPIED)
@shared_fields(layout="contiguous")
def _count_nonzero(xp: Any, self: Array, dim: Dims = None) -> Array:
    return sum_kernel(xp, self != 0, dim)


# ---------------------------------------------------------------------------------------- other reductions


@op(
    "aten::logsumexp(Tensor self, int[1] dim, bool keepdim=False) -> Tensor",
    out="out",
    out_cast_error=CategoryErrorMessage(
        "logsumexp(): Expected floating point type for result tensor, but got: {got}"
    ),
    epilogue=True,
    graph_autodiff=True,
)
@op(
    "aten::special_logsumexp(Tensor self, int[1] dim, bool keepdim=False) -> Tensor",
    out="out",
    same_as="aten::logsumexp",
    out_cast_error=CategoryErrorMessage(
        "logsumexp(): Expected floating point type for result tensor, but got: {got}"
    ),
    epilogue=True,
)
@shared_fields(
    layout="contiguous",
    cuda_rows="m = finite_or_0(largest(a)); log(sum(exp(a - m))) + m",
    autocast={"cuda": "float32"},
)
def _logsumexp(xp: Any, self: Array, dim: Dims, keepdim: bool = False) -> Array:
    axes = common.wrap_dims(dim, self.ndim)
    dtype = common.float_dtype(self.dtype)
    x = common.cast(xp, self, common.opmath(dtype))
    if not x.size:
        return common.cast(xp, xp.log(xp.sum(xp.exp(x), axis=axes, keepdims=keepdim)), dtype)
    peak = xp.max(x.real, axis=axes, keepdims=True)
    peak = xp.where(xp.isfinite(peak), peak, 0).astype(common.real_dtype(x.dtype))
    total = xp.log(xp.sum(xp.exp(x - peak), axis=axes, keepdims=keepdim))
    return common.cast(xp, total + (peak if keepdim else xp.squeeze(peak, axes) if axes else peak), dtype)


@op(
    "aten::trace(Tensor self) -> Tensor",
    dtype_errors={"b": "trace"},
    autocast={"cpu": "float32"},
    **COPIED_OUT,
)
def _trace(xp: Any, self: Array) -> Array:
    if self.ndim != 2:
        raise RuntimeError(f"trace: expected a matrix, but got tensor with dim {self.ndim}")
    return xp.trace(self, dtype=common.accumulate_dtype(self.dtype))


# --------------------------------------------------------------------------------- reductions of bit patterns


def _hash_shape(self: Array, dim: Dims = (), keepdim: bool = False, mode: int = 0) -> tuple[Any, Any]:
    return common.reduced_shape(self.shape, common.wrap_dims(dim, self.ndim), keepdim), common.UINT64


def _reduce_by_halves(function: Any, x: Array, axes: Sequence[int]) -> Array:
    """Reduce along `axes`: apply `function` to the two halves of an axis until one element remains.

    CuPy's ufuncs have no method `reduce`.
    """
    for axis in axes:
        before = (slice(None),) * axis
        while (n := x.shape[axis]) > 1:
            half = n // 2
            pairs = function(x[(*before, slice(half))], x[(*before, slice(half, 2 * half))])
            if n % 2:
                rest = (*before, slice(1))
                pairs[rest] = function(pairs[rest], x[(*before, slice(n - 1, n))])
            x = pairs
    return x


@op(
    "aten::hash_tensor(Tensor self, int[1] dim=[], *, bool keepdim=False, int mode=0) -> Tensor",
    out="out",
    shape=_hash_shape,
    out_dtype_error="Expected result to be of dtype uint64, but got {got}",
)
def _hash_tensor(xp: Any, self: Array, dim: Dims = (), keepdim: bool = False, mode: int = 0) -> Array:
    """Return the XOR of the elements' bit patterns, as 64-bit integers or float64 numbers."""
    if mode:
        raise RuntimeError(f"Unknown hash_tensor mode: {mode}")
    kind = common.category(self)
    if kind == common.COMPLEX:
        common.raise_unsupported_dtype("xor_sum_cpu", self.dtype)
    if not self.size and not (isinstance(dim, int) or dim):
        raise RuntimeError(
            "hash_tensor: Expected reduction dim to be specified for input.numel() == 0. Specify the "
            "reduction dim with the 'dim' argument."
        )
    axes = common.wrap_dims(dim, self.ndim)
    for axis in axes:
        if not self.shape[axis]:
            raise IndexError(f"hash_tensor: Expected reduction dim {axis} to have non-zero size.")
    wide = common.DOUBLE if kind == common.FLOATING else common.INT64
    bits = xp.ascontiguousarray(common.cast(xp, self, wide)).view(common.UINT64)
    result = _reduce_by_halves(xp.bitwise_xor, bits.reshape(self.shape), axes)
    return result if keepdim else result.squeeze(axes)
