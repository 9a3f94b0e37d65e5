"""Sorting, selection, order statistics, histograms, and binary search (searchsorted, bucketize).

Input: an array and a dimension. Output: sorted values and their indices. NaN is greater than all other
values.
"""

from __future__ import annotations

import math
from typing import Any

from ts._core.tensor import size_guards
from ts.ops import argsort, common, cost_model
from ts.ops.operator_record import OVERLAP_RAISES_CODE
from ts.ops.out_variants import COPIED, COPIED_OUT, EXPECTED_DTYPE_ERROR, OF_INPUT, SAME_DTYPE_OUT
from ts.ops.registry import op, shared_fields
from ts.ops.shape_functions import ShapeAndDtype, depends, new_size

Array = common.Array
_INDEX_DTYPE_ERROR = (
    "torch.searchsorted(): output tensor's dtype is wrong, it can only be Int(int32) or Long(int64) "
    "depending on whether out_int32 flag is True, but we got output tensor's dtype {got} and out_int32 "
    "flag is False"
)
_MEDIAN = (
    "Expected tensor for 'values' to have the same type as tensor for argument #2 'self'; but type "
    "torch.{got}Tensor does not equal torch.{want}Tensor (while checking arguments for median)",
    "Expected tensor for argument #1 'indices' to have scalar type Long; but got torch.{got}Tensor instead "
    "(while checking arguments for median)",
)
_SEARCH_COST = cost_model.of(cost_model.elements, 0.002)  # cost of an order statistic: search and conversions


def argsort_kernel(xp: Any, self: Array, dim: int, descending: bool, stable: bool = False) -> Array:
    """Return the indices that sort the elements along `dim`."""
    if self.ndim == 0:
        common.wrap_dim(dim, 0)
        return xp.zeros((), dtype=common.INT64)
    if self.dtype.kind == "c":
        raise RuntimeError(" Sort does not support complex dtypes on CPU")
    return argsort.argsort(xp, self, common.wrap_dim(dim, self.ndim), descending, stable)


def sort_kernel(
    xp: Any, self: Array, dim: int, descending: bool, stable: bool = False
) -> tuple[Array, Array]:
    """Return sorted values and their indices."""
    order = argsort_kernel(xp, self, dim, descending, stable)
    if self.ndim == 0:
        return self.copy(), order
    return xp.take_along_axis(self, order, common.wrap_dim(dim, self.ndim)), order


@op(
    "aten::sort(Tensor self, int dim=-1, bool descending=False) -> (Tensor values, Tensor indices)",
    out="values",
    layout=("like_first", "like_first"),
    out_dtype_error=EXPECTED_DTYPE_ERROR,
    order="- stable values_stable values int float Tensor",
)
def _sort(xp: Any, self: Array, dim: int = -1, descending: bool = False) -> tuple[Array, Array]:
    return sort_kernel(xp, self, dim, descending)


@op(
    "aten::sort.stable(Tensor self, *, bool? stable, int dim=-1, bool descending=False) -> (Tensor "
    "values, Tensor indices)",
    out="values_stable",
    layout=("like_first", "like_first"),
    out_dtype_error=EXPECTED_DTYPE_ERROR,
)
def _sort_stable(
    xp: Any, self: Array, stable: bool | None, dim: int = -1, descending: bool = False
) -> tuple[Array, Array]:
    return sort_kernel(xp, self, dim, descending, bool(stable))


@op("aten::argsort(Tensor self, int dim=-1, bool descending=False) -> Tensor", layout="like_first")
def _argsort(xp: Any, self: Array, dim: int = -1, descending: bool = False) -> Array:
    return argsort_kernel(xp, self, dim, descending)


@op(
    "aten::argsort.stable(Tensor self, *, bool stable, int dim=-1, bool descending=False) -> Tensor",
    out="stable_out",
    layout="like_first",
    **COPIED,
)
def _argsort_stable(xp: Any, self: Array, stable: bool, dim: int = -1, descending: bool = False) -> Array:
    return argsort_kernel(xp, self, dim, descending, stable)


@op("aten::msort(Tensor self) -> Tensor", layout="like_first", **SAME_DTYPE_OUT)
def _msort(xp: Any, self: Array) -> Array:
    return sort_kernel(xp, self, 0, False)[0]


@op(
    "aten::topk(Tensor self, SymInt k, int dim=-1, bool largest=True, bool sorted=True) -> (Tensor "
    "values, Tensor indices)",
    out="values",
    layout=("contiguous", "contiguous"),
    dtype_errors={
        "b": "topk does not support bool dtypes on CPU",
        "c": " topk does not support complex dtypes on CPU",
    },
    out_dtype_error=EXPECTED_DTYPE_ERROR,
)
def _topk(
    xp: Any, self: Array, k: int, dim: int = -1, largest: bool = True, sorted: bool = True
) -> tuple[Array, Array]:
    axis = common.wrap_dim(dim, self.ndim)
    if not size_guards.check(k >= 0) or not size_guards.check(k <= (self.shape[axis] if self.ndim else 1)):
        raise RuntimeError("selected index k out of range")
    if xp.shapes_only and self.ndim and self.dtype.kind not in "c":
        shape = (*self.shape[:axis], k, *self.shape[axis + 1 :])
        return xp.empty(shape, dtype=self.dtype), xp.empty(shape, dtype=common.INT64)
    if self.ndim == 0:
        return self.copy(), xp.zeros((), dtype=common.INT64)
    if self.dtype.kind == "c":
        common.raise_unsupported_dtype("topk_cpu", self.dtype)
    order = argsort.first_indices(xp, self, axis, k, largest, sorted)
    return xp.take_along_axis(self, order, axis), order


def _check_ordered(kernel: str, x: Array) -> None:
    """Raise NotImplementedError with the name of PyTorch's kernel for bool and complex arrays."""
    if x.dtype == common.BOOL or x.dtype.kind == "c":
        common.raise_unsupported_dtype(kernel, x.dtype)


def _values_and_indices(xp: Any, self: Array, index: Array, axis: int, keepdim: bool) -> tuple[Array, Array]:
    """Return the elements of `self` at `index`, and `index`. Remove the size-1 dimension unless `keepdim`.

    `index` has size 1 along `axis`.
    """
    value = xp.take_along_axis(self, index, axis)
    return (value, index) if keepdim else (xp.squeeze(value, axis), xp.squeeze(index, axis))


@op(
    "aten::kthvalue(Tensor self, SymInt k, int dim=-1, bool keepdim=False) -> (Tensor values, Tensor "
    "indices)",
    out="values",
    overlap=OVERLAP_RAISES_CODE,
    out_dtype_error=(
        "output values must be of same type as input",
        "output indices must be of scalar type Long",
    ),
)
def _kthvalue(xp: Any, self: Array, k: int, dim: int = -1, keepdim: bool = False) -> tuple[Array, Array]:
    axis = common.wrap_dim(dim, self.ndim)
    if self.ndim and not self.shape[axis]:
        raise IndexError(f"kthvalue(): Expected reduction dim {axis} to have non-zero size.")
    if k < 1 or not size_guards.check(k <= (self.shape[axis] if self.ndim else 1)):
        raise RuntimeError(f"kthvalue(): selected number k out of range for dimension {axis}")
    _check_ordered("kthvalue_cpu", self)
    if self.ndim == 0:
        return self.copy(), xp.zeros((), dtype=common.INT64)
    kth_index = xp.full(common.reduced_shape(self.shape, (axis,), True), k - 1, dtype=common.INT64)
    return _values_and_indices(xp, self, argsort.nth_index(xp, self, axis, kth_index), axis, keepdim)


def _median(xp: Any, self: Array, dim: int, keepdim: bool, skip_nan: bool) -> tuple[Array, Array]:
    axis = common.wrap_dim(dim, self.ndim)
    if self.ndim == 0:
        return self.copy(), xp.zeros((), dtype=common.INT64)
    n = self.shape[axis]
    nan = self != self
    missing = xp.sum(nan, axis=axis, keepdims=True)
    middle = xp.maximum((n - (missing if skip_nan else missing * 0) - 1) // 2, 0)
    index = argsort.nth_index_in_order(xp, self, axis, middle)
    if not skip_nan:  # the median of a slice that contains NaN is its first NaN
        index = xp.where(missing > 0, xp.argmax(nan, axis=axis, keepdims=True), index)
    return _values_and_indices(xp, self, index, axis, keepdim)


for _name in ("median", "nanmedian"):

    @op(
        f"aten::{_name}(Tensor self) -> Tensor",
        order="- dim dim_values",
        **COPIED_OUT,
    )
    def _median_all(xp: Any, self: Array, skip_nan: bool = _name == "nanmedian") -> Array:
        if not self.size:
            # NaN, converted to the dtype like the conversion of a C compiler on x86
            is_wide = self.dtype in (common.INT32, common.INT64)
            smallest = xp.iinfo(self.dtype).min if is_wide else 0
            return xp.asarray(smallest if self.dtype.kind in "iu" else xp.nan, dtype=self.dtype)
        _check_ordered("median_cpu", self)
        return _median(xp, self.reshape(-1), 0, False, skip_nan)[0]

    @op(
        f"aten::{_name}.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
        out="dim_values",
        out_dtype_error=_MEDIAN,
    )
    def _median_dim(
        xp: Any, self: Array, dim: int, keepdim: bool = False, skip_nan: bool = _name == "nanmedian"
    ) -> tuple[Array, Array]:
        axis = common.wrap_dim(dim, self.ndim)
        if self.ndim and not self.shape[axis]:
            raise IndexError(f"median(): Expected reduction dim {axis} to have non-zero size.")
        _check_ordered("median_out", self)
        return _median(xp, self, dim, keepdim, skip_nan)


@op(
    "aten::mode(Tensor self, int dim=-1, bool keepdim=False) -> (Tensor values, Tensor indices)",
    out="values",
    out_dtype_error=(
        "expected scalar type '{want}' but got '{got}' for values output",
        "expected scalar type '{want}' but got '{got}' for indices output",
    ),
)
def _mode(xp: Any, self: Array, dim: int = -1, keepdim: bool = False) -> tuple[Array, Array]:
    axis = common.wrap_dim(dim, self.ndim)
    if self.ndim == 0:
        return self.copy(), xp.zeros((), dtype=common.INT64)
    if not self.shape[axis]:
        raise IndexError(f"mode(): Expected reduction dim {axis} to have non-zero size.")
    if self.dtype.kind == "c":
        common.raise_unsupported_dtype("mode_cpu", self.dtype)
    values, order = sort_kernel(xp, xp.moveaxis(self, axis, -1), -1, False)
    n = values.shape[-1]
    start = xp.concatenate([xp.ones((*values.shape[:-1], 1), bool), values[..., 1:] != values[..., :-1]], -1)
    first = xp.maximum.accumulate(xp.where(start, xp.arange(n), 0), axis=-1)
    run = xp.arange(n) - first
    last = xp.argmax(run, axis=-1)[..., None]
    value, index = xp.take_along_axis(values, last, -1), xp.take_along_axis(order, last, -1)
    if keepdim:
        return xp.moveaxis(value, -1, axis), xp.moveaxis(index, -1, axis)
    return value[..., 0], index[..., 0]


_INTERPOLATIONS = ("linear", "lower", "higher", "midpoint", "nearest")


def _quantile(
    xp: Any, name: str, self: Array, q: Any, dim: int | None, keepdim: bool, interpolation: str
) -> Array:
    if not self.size:
        raise RuntimeError("quantile() input tensor must be non-empty")
    if self.dtype not in (common.FLOAT, common.DOUBLE):
        raise RuntimeError("quantile() input tensor must be either float or double dtype")
    if not isinstance(q, float) and q.ndim > 1:
        raise RuntimeError("quantile() q must be a scalar or 1D tensor")
    if isinstance(q, float) and not 0 <= q <= 1:
        raise RuntimeError(f"quantile() q must be in the range [0, 1] but got {q:g}")
    if not isinstance(q, float) and q.dtype != self.dtype:
        raise RuntimeError("quantile() q tensor must be same dtype as the input tensor")
    if interpolation not in _INTERPOLATIONS:
        raise RuntimeError(
            f"quantile() interpolation must be one of linear, lower, higher, midpoint or nearest, but got "
            f"{interpolation}"
        )
    if not isinstance(q, float) and common.is_any_true(xp, ~((q >= 0) & (q <= 1))):
        raise RuntimeError("quantile() q values must be in the range [0, 1]")
    x = self.reshape(-1) if dim is None else self
    axis = 0 if dim is None else common.wrap_dim(dim, self.ndim)
    compute = xp.nanquantile if name == "nanquantile" else xp.quantile
    points = q if isinstance(q, float) else q.astype(common.DOUBLE)
    result = compute(
        xp.atleast_1d(x).astype(common.DOUBLE), points, axis=axis, method=interpolation, keepdims=keepdim
    )
    if keepdim and (dim is None or not self.ndim):
        result = result.reshape((*common.shape_of(q), *((1,) * self.ndim)))
    result = common.cast(xp, xp.asarray(result), self.dtype)
    if not common.shape_of(q):
        return xp.ascontiguousarray(result).reshape(result.shape)
    return xp.moveaxis(xp.ascontiguousarray(xp.moveaxis(result, 0, -1)), -1, 0)


_OPTIONS = 'int? dim=None, bool keepdim=False, *, str interpolation="linear"'

for _name in ("quantile", "nanquantile"):

    @op(f"aten::{_name}(Tensor self, Tensor q, {_OPTIONS}) -> Tensor", out="out")
    @op(f"aten::{_name}.scalar(Tensor self, float q, {_OPTIONS}) -> Tensor", out="scalar_out")
    @shared_fields(
        out_dtype_error="quantile() out tensor must be same dtype as the input tensor",
        autocast={"cpu": "float32"},
    )
    def _quantile_op(
        xp: Any,
        self: Array,
        q: Any,
        dim: int | None = None,
        keepdim: bool = False,
        interpolation: str = "linear",
        name: str = _name,
    ) -> Array:
        return _quantile(xp, name, self, q, dim, keepdim, interpolation)


# ------------------------------------------------------------------------------ search, histograms and counts


def _insertion_index_shape(
    sorted_sequence: Array, self: Any, out_int32: bool = False, *_: Any
) -> ShapeAndDtype:
    shape = common.shape_of(self)
    if not sorted_sequence.ndim:
        raise RuntimeError(
            "torch.searchsorted(): boundaries tensor should have positive dimension, but got 0 dimension"
        )
    if isinstance(self, (int, float)) and sorted_sequence.ndim != 1:
        raise RuntimeError(
            "torch.searchsorted(): input value can be a scalar only when boundaries tensor dimension is 1, "
            f"but we got boundaries tensor dim({sorted_sequence.ndim}) and input value's dim(0) numel(1)"
        )
    if sorted_sequence.ndim != 1 and not size_guards.equal_shapes(sorted_sequence.shape[:-1], shape[:-1]):
        raise RuntimeError(
            "torch.searchsorted(): boundaries tensor should be 1 dimension or the first N-1 dimensions of "
            f"boundaries tensor and input value tensor must match, but we got boundaries tensor "
            f"{list(sorted_sequence.shape)} and input value tensor {list(shape)}"
        )
    return shape, common.INT32 if out_int32 else common.INT64


@op(
    "aten::searchsorted.Tensor(Tensor sorted_sequence, Tensor self, *, bool out_int32=False, bool "
    "right=False, str? side=None, Tensor? sorter=None) -> Tensor",
    out="Tensor_out",
    order="Tensor Tensor_out",
    out_dtype_error=_INDEX_DTYPE_ERROR,
)
@op(
    "aten::searchsorted.Scalar(Tensor sorted_sequence, Scalar self, *, bool out_int32=False, bool "
    "right=False, str? side=None, Tensor? sorter=None) -> Tensor",
    out="Scalar_out",
    work=_SEARCH_COST,
    out_dtype_error=_INDEX_DTYPE_ERROR,
)
@shared_fields(shape=_insertion_index_shape)
def _searchsorted(
    xp: Any,
    sorted_sequence: Array,
    self: Any,
    out_int32: bool = False,
    right: bool = False,
    side: str | None = None,
    sorter: Array | None = None,
) -> Array:
    search_side = "right" if right or side == "right" else "left"
    _, code = _insertion_index_shape(sorted_sequence, self, out_int32)
    values = xp.asarray(self)
    dtype = common.result_type(sorted_sequence, self)
    if values.size and (dtype == common.BOOL or dtype.kind == "c"):
        common.raise_unsupported_dtype("searchsorted_out_cpu", dtype)
    order = sorted_sequence if sorter is None else xp.take_along_axis(sorted_sequence, sorter, -1)
    if order.ndim == 1:
        return common.cast(xp, xp.asarray(_insertion_indices(xp, order, values, search_side)), code)
    row_count = math.prod(order.shape[:-1])
    rows = order.reshape(row_count, order.shape[-1])
    value_rows = values.reshape(row_count, values.shape[-1])
    indices = [_insertion_indices(xp, r, v, search_side) for r, v in zip(rows, value_rows, strict=True)]
    return xp.stack(indices).reshape(values.shape).astype(code) if indices else xp.zeros(values.shape, code)


def _insertion_indices(xp: Any, row: Array, values: Array, side: str) -> Array:
    """Return the indices at which values would be inserted in a sorted row, found by binary search.

    The indices equal those of PyTorch, even if the row contains NaN.
    """
    if row.dtype.kind != "f" or not common.is_any_true(xp, row != row):
        return xp.searchsorted(row, values, side=side)
    start = xp.zeros(values.shape, dtype=common.INT64)
    end = start + row.shape[0]
    for _ in range(row.shape[0].bit_length()):
        open_ = start < end
        middle = xp.minimum((start + end) // 2, row.shape[0] - 1)
        middle_values = row[middle]
        before = ~(middle_values >= values) if side == "left" else ~(middle_values > values)
        start = xp.where(open_ & before, middle + 1, start)
        end = xp.where(open_ & ~before, middle, end)
    return start


@op(
    "aten::bucketize.Tensor(Tensor self, Tensor boundaries, *, bool out_int32=False, bool "
    "right=False) -> Tensor",
    out="Tensor_out",
    out_dtype_error=_INDEX_DTYPE_ERROR,
)
@op(
    "aten::bucketize.Scalar(Scalar self, Tensor boundaries, *, bool out_int32=False, bool "
    "right=False) -> Tensor",
    out="Scalar_out",
    work=_SEARCH_COST,
    **COPIED,
)
def _bucketize(xp: Any, self: Any, boundaries: Array, out_int32: bool = False, right: bool = False) -> Array:
    if boundaries.ndim != 1:
        raise RuntimeError(f"boundaries tensor must be 1 dimension, but got dim({boundaries.ndim})")
    return _searchsorted(xp, boundaries, self, out_int32, right)


@op(
    "aten::isin.Tensor_Tensor(Tensor elements, Tensor test_elements, *, bool assume_unique=False, "
    "bool invert=False) -> Tensor",
    out="Tensor_Tensor_out",
    order="Tensor_Tensor Tensor_Tensor_out Tensor_Scalar Tensor_Scalar_out",
)
@op(
    "aten::isin.Tensor_Scalar(Tensor elements, Scalar test_element, *, bool assume_unique=False, bool"
    " invert=False) -> Tensor",
    out="Tensor_Scalar_out",
    work=_SEARCH_COST,
)
@op(
    "aten::isin.Scalar_Tensor(Scalar element, Tensor test_elements, *, bool assume_unique=False, bool"
    " invert=False) -> Tensor",
    out="Scalar_Tensor_out",
    work=_SEARCH_COST,
)
@shared_fields(out_dtype_error=EXPECTED_DTYPE_ERROR)
def _isin(
    xp: Any, elements: Any, test_elements: Any, assume_unique: bool = False, invert: bool = False
) -> Array:
    elements, test_elements = xp.asarray(elements), xp.asarray(test_elements)
    for x in (elements, test_elements):
        if x.dtype == common.BOOL or x.dtype.kind == "c":
            raise RuntimeError(f"Unsupported input type encountered for isin(): {common.NAME_OF[x.dtype]}")
    dtype = common.promote_types(elements.dtype, test_elements.dtype)
    x, y = common.cast(xp, elements, dtype), common.cast(xp, test_elements, dtype)
    return xp.isin(x, y, invert=invert)


def _bincount_shape(self: Array, weights: Array | None = None, minlength: int = 0) -> ShapeAndDtype:
    dtype = (
        common.INT64 if weights is None else common.FLOAT if weights.dtype == common.FLOAT else common.DOUBLE
    )
    return (new_size(min_size=minlength),), dtype


@op(
    "aten::bincount(Tensor self, Tensor? weights=None, SymInt minlength=0) -> Tensor",
    out="out",
    dtype_errors={"b": "bincount_cpu"},
    shape=depends("bincount").unless(_bincount_shape),
)
def _bincount(xp: Any, self: Array, weights: Array | None = None, minlength: int = 0) -> Array:
    if common.category(self) >= common.FLOATING:
        common.raise_unsupported_dtype("bincount_cpu", self.dtype)
    self = common.copy_indices(self)
    if self.ndim != 1 or (self.size and int(self.min()) < 0):
        raise RuntimeError("bincount only supports 1-d non-negative integral inputs.")
    if minlength < 0:
        raise RuntimeError("minlength should be >= 0")
    if weights is not None and self.size and not size_guards.equal_shapes(weights.shape, self.shape):
        raise RuntimeError("weights should be 1-d and have the same length as input")
    largest = int(self.max()) if self.size else 0
    if largest == common.INT64_MAX:  # NumPy's number of bins would overflow
        raise RuntimeError(
            f"maximum value of input overflowed, it should be < {common.INT64_MAX} but got {largest}"
        )
    common.check_storage([max(largest + 1, minlength)], common.INT64)
    if weights is None or not self.size:
        return xp.bincount(self, minlength=minlength)
    dtype = weights.dtype if weights.dtype == common.FLOAT else common.DOUBLE
    return xp.bincount(self, weights.astype(common.DOUBLE), minlength).astype(dtype)


def _histc_range(bins: int, min: Any, max: Any) -> tuple[float, float]:
    if bins <= 0:
        raise RuntimeError(f"torch.histogram(): bins must be > 0, but got {bins} for dimension 0")
    low, high = float(min), float(max)
    if low > high:
        raise RuntimeError("torch.histc: max must be larger than min")
    return low, high


def _histc_shape(self: Array, bins: int = 100, min: Any = 0, max: Any = 0) -> ShapeAndDtype:
    _histc_range(bins, min, max)
    return (bins,), self.dtype


@op(
    "aten::histc(Tensor self, int bins=100, Scalar min=0, Scalar max=0) -> Tensor",
    out="out",
    dtype_errors={"b": "linspace_cpu", "i": "histogram_cpu", "c": "aminmax_cpu"},
    shape=_histc_shape,
    out_dtype_error=OF_INPUT,
)
def _histc(xp: Any, self: Array, bins: int = 100, min: Any = 0, max: Any = 0) -> Array:
    low, high = _histc_range(bins, min, max)
    if low == high and self.size:
        low, high = float(self.min()), float(self.max())
    if not (math.isfinite(low) and math.isfinite(high)):
        raise RuntimeError(f"torch.histc: range of [{low:g}, {high:g}] is not finite")
    if low == high:
        low, high = low - 1, high + 1
    # The width of the range can exceed the largest number of the dtype.
    values = self.reshape(-1) if self.dtype == common.DOUBLE else self.reshape(-1).astype(common.DOUBLE)
    counts, _ = xp.histogram(values, bins=bins, range=(low, high))
    return counts.astype(self.dtype)
