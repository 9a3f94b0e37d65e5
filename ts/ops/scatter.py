"""Scatter operators, such as scatter and index_add, and their reductions, on copies.

Input: an array, a dimension, an index array and a source. Output: a copy of the array. Elements of the source
are written into the copy, or combined with its elements.
"""

from __future__ import annotations

from typing import Any

from ts._core.tensor import size_guards
from ts.ops import common, cost_model
from ts.ops.index import gather_key
from ts.ops.out_variants import COPIED, EXPECTED_DTYPE_ERROR, SAME_DTYPE_OUT
from ts.ops.registry import op, shared_fields

Array = common.Array


def _key(xp: Any, self: Array, dim: int, index: Array, source: Any) -> tuple[Array, tuple[Array, ...], Any]:
    """Return a copy of `self`, the NumPy key of the elements to write, and the source values for this key.

    The source values have the shape of `index`.

    The copy has at least one dimension.
    """
    axis = common.wrap_dim(dim, self.ndim)
    if index.dtype not in (common.INT64, common.INT32):
        raise RuntimeError("scatter(): Expected dtype int32/int64 for index")
    result, i = xp.atleast_1d(self).copy(), xp.atleast_1d(index)
    if i.ndim != result.ndim:
        raise RuntimeError("Index tensor must have the same number of dimensions as self tensor")
    index_range = common.index_bounds(xp, i, 0, result.shape[axis])
    if index_range is not None and (index_range[0] < 0 or index_range[1] >= result.shape[axis]):
        raise RuntimeError(
            f"index {index_range[1]} is out of bounds for dimension {axis} with size {result.shape[axis]}"
        )
    if isinstance(source, (int, float, complex)):
        return result, gather_key(xp, i, axis), common.cast_checked(xp, source, self.dtype)
    if source.dtype != self.dtype:
        raise RuntimeError("scatter(): Expected self.dtype to be equal to src.dtype")
    s = xp.atleast_1d(source)
    if s.ndim != result.ndim:
        raise RuntimeError("Index tensor must have the same number of dimensions as src tensor")
    if any(n > m for n, m in zip(i.shape, s.shape, strict=True)):
        raise RuntimeError(
            f"Expected index {list(index.shape)} to be no larger than src {list(source.shape)} apart "
            f"from dimension {axis}"
        )
    return result, gather_key(xp, i, axis), s[tuple(slice(n) for n in i.shape)]


def _combine(xp: Any, target: Array, key: Any, source: Array, reduce: str, include_self: bool = True) -> None:
    """Combine `source` with target[key] in place, by the reduction `reduce`."""
    if reduce not in ("sum", "add", "prod", "multiply", "mean", "amax", "amin"):
        raise RuntimeError("reduce argument must be either sum, prod, mean, amax or amin.")
    start = {"sum": 0, "add": 0, "mean": 0, "prod": 1, "multiply": 1}.get(reduce)
    if not include_self:
        if start is None:
            kind = target.dtype.kind
            low = reduce == "amax"
            if kind == "b":
                start = not low
            elif kind in "iu":
                start = xp.iinfo(target.dtype).min if low else xp.iinfo(target.dtype).max
            else:
                start = -xp.inf if low else xp.inf
        target[key] = start
    combine = {"sum": xp.add, "add": xp.add, "mean": xp.add, "prod": xp.multiply, "multiply": xp.multiply,
               "amax": xp.maximum, "amin": xp.minimum}[reduce]  # fmt: skip
    combine.at(target, key, source)
    if reduce == "mean":
        count = (
            xp.ones(target.shape, dtype=common.INT64)
            if include_self
            else xp.zeros(target.shape, dtype=common.INT64)
        )
        xp.add.at(count, key, 1)
        count = xp.maximum(count, 1)
        target[...] = target // count if target.dtype.kind in "iu" else target / count


@op(
    "aten::scatter.src(Tensor self, int dim, Tensor index, Tensor src) -> Tensor",
    inplace=True,
    out="src_out",
)
@op(
    "aten::scatter.value(Tensor self, int dim, Tensor index, Scalar value) -> Tensor",
    inplace=True,
    out="value_out",
    order="value",
)
@shared_fields(out_dtype_error=EXPECTED_DTYPE_ERROR)
def _scatter(xp: Any, self: Array, dim: int, index: Array, src: Any) -> Array:
    if not index.size:
        return self.copy()
    result, key, source = _key(xp, self, dim, index, src)
    result[key] = source
    return result.reshape(self.shape)


@op(
    "aten::scatter.reduce(Tensor self, int dim, Tensor index, Tensor src, *, str reduce) -> Tensor",
    inplace=True,
    out="reduce_out",
)
@op(
    "aten::scatter.value_reduce(Tensor self, int dim, Tensor index, Scalar value, *, str reduce) -> Tensor",
    inplace=True,
    out="value_reduce_out",
)
@shared_fields(out_dtype_error=EXPECTED_DTYPE_ERROR)
def _scatter_by_name(xp: Any, self: Array, dim: int, index: Array, src: Any, reduce: str) -> Array:
    if reduce not in ("add", "multiply"):
        raise RuntimeError("reduce argument must be either add or multiply.")
    return _scatter_with(xp, self, dim, index, src, reduce)


def _scatter_with(xp: Any, self: Array, dim: int, index: Array, src: Any, reduce: str) -> Array:
    if not index.size:
        return self.copy()
    result, key, source = _key(xp, self, dim, index, src)
    _combine(xp, result, key, source, reduce)
    return result.reshape(self.shape)


@op(
    "aten::scatter_add(Tensor self, int dim, Tensor index, Tensor src) -> Tensor",
    inplace=True,
    **SAME_DTYPE_OUT,
    autocast={"cuda": "widest"},
)
def _scatter_add(xp: Any, self: Array, dim: int, index: Array, src: Array) -> Array:
    return _scatter_with(xp, self, dim, index, src, "sum")


@op(
    "aten::scatter_reduce.two(Tensor self, int dim, Tensor index, Tensor src, str reduce, *, bool "
    "include_self=True) -> Tensor",
    inplace=True,
    out="two_out",
    out_dtype_error=EXPECTED_DTYPE_ERROR,
)
def _scatter_reduce(
    xp: Any, self: Array, dim: int, index: Array, src: Array, reduce: str, include_self: bool = True
) -> Array:
    if not index.size:
        return self.copy()
    result, key, source = _key(xp, self, dim, index, src)
    _combine(xp, result, key, source, reduce, include_self)
    return result.reshape(self.shape)


_INDEX_OUT_OF_RANGE = "index out of range in self"
_BOUNDS = "index {index} is out of bounds for dimension {axis} with size {length}"


def _along(
    xp: Any,
    self: Array,
    dim: int,
    index: Array,
    beyond: Exception,
    *,
    negative: bool = False,
) -> tuple[Array, tuple[Any, ...]]:
    """Return a copy of `self`, and the NumPy key that selects `index` along `dim`.

    Valid indices are 0 to n - 1 for n elements along `dim`, and with `negative` also -n to -1. If an index is
    out of range, raise the exception `beyond`.
    """
    axis = common.wrap_dim(dim, self.ndim)
    if index.ndim > 1:
        raise IndexError("Index is supposed to be a vector")
    result, i = xp.atleast_1d(self).copy(), common.copy_indices(index).reshape(-1)
    length = result.shape[axis]
    min_index = -length if negative else 0
    index_range = common.index_bounds(xp, i, min_index, length)
    if index_range is not None and (index_range[0] < min_index or index_range[1] >= length):
        first = i[(i < min_index) | (i >= length)][0]
        raise type(beyond)(str(beyond).format(index=first, axis=axis, length=length))
    return result, (slice(None),) * axis + (i,)


def _check_dtypes(name: str, self: Array, index: Array, source: Array) -> None:
    """Raise a RuntimeError if the index is not int32 or int64, or if the dtypes of self and source differ."""
    if index.dtype not in (common.INT64, common.INT32):
        raise RuntimeError(
            f"{name}(): Expected dtype int32/int64 for index but got: {common.NAME_OF[index.dtype]}"
        )
    if source.dtype != self.dtype:
        raise RuntimeError(
            f"{name}(): self ({common.NAME_OF[self.dtype]}) and source ({common.NAME_OF[source.dtype]}) "
            "must have the same scalar type"
        )


def _check_index_add_source(self: Array, axis: int, index: Array, source: Array) -> None:
    """Raise an error if the slices of `source` along `axis` have a wrong number or a wrong shape."""
    if axis >= max(source.ndim, 1):
        raise RuntimeError(
            f"index_add_(): Indexing dim {axis} is out of bounds of the source tensor with dim {source.ndim}"
        )
    if index.ndim > 1:
        raise IndexError("Index is supposed to be a vector")
    count = source.shape[axis] if source.ndim else 1
    if not size_guards.equal(count, index.size):
        if not source.ndim:
            raise IndexError("Dimension specified as 0 but tensor has no dimensions")
        raise RuntimeError(
            f"index_add_(): Number of indices ({index.size}) should be equal to source.size(dim): "
            f"({count}), for dim: {axis}"
        )
    slices = [[n for d, n in enumerate(shape) if d != axis] for shape in (self.shape, source.shape)]
    same = len(slices[0]) == len(slices[1]) and all(map(size_guards.equal, *slices))
    if source.ndim != self.ndim or not same:
        raise RuntimeError(
            "source tensor shape must match self tensor shape, excluding the specified dimension. Got "
            f"self.shape = {list(self.shape)} source.shape = {list(source.shape)}"
        )


@op(
    "aten::index_add(Tensor self, int dim, Tensor index, Tensor source, *, Scalar alpha=1) -> Tensor",
    inplace=True,
    **SAME_DTYPE_OUT,
    work=cost_model.of(cost_model.named_rows, 0.3),
)
def _index_add(xp: Any, self: Array, dim: int, index: Array, source: Array, alpha: Any = 1) -> Array:
    _check_dtypes("index_add_", self, index, source)
    axis = common.wrap_dim(dim, self.ndim)
    _check_index_add_source(self, axis, index, source)
    beyond = RuntimeError(_BOUNDS) if self.ndim == 2 else IndexError(_INDEX_OUT_OF_RANGE)
    result, key = _along(xp, self, dim, index, beyond)
    piece = source if source.ndim or self.ndim == 0 else source.reshape(1)
    xp.add.at(result, key, common.cast(xp, piece * common.cast_checked(xp, alpha, self.dtype), self.dtype))
    return result.reshape(self.shape)


@op(
    "aten::index_reduce(Tensor self, int dim, Tensor index, Tensor source, str reduce, *, bool "
    "include_self=True) -> Tensor",
    inplace=True,
    dtype_errors={"c": "maximum_cpu"},
    **SAME_DTYPE_OUT,
    work=cost_model.of(cost_model.named_rows, 0.3),
)
def _index_reduce(
    xp: Any, self: Array, dim: int, index: Array, source: Array, reduce: str, include_self: bool = True
) -> Array:
    _check_dtypes("index_reduce_", self, index, source)
    result, key = _along(xp, self, dim, index, IndexError(_INDEX_OUT_OF_RANGE))
    _combine(xp, result, key, source, reduce, include_self)
    return result.reshape(self.shape)


@op(
    "aten::index_copy(Tensor self, int dim, Tensor index, Tensor source) -> Tensor",
    inplace=True,
    **SAME_DTYPE_OUT,
    work=cost_model.of(cost_model.named_rows, 0.3),
    autocast={"cpu": "widest"},
)
def _index_copy(xp: Any, self: Array, dim: int, index: Array, source: Array) -> Array:
    if index.dtype != common.INT64:
        raise RuntimeError(
            f"index_copy_(): Expected a long tensor for index, but got {common.NAME_OF[index.dtype]}"
        )
    if source.dtype != self.dtype:
        raise RuntimeError(
            "index_copy_(): self and source expected to have the same dtype, but got (self) "
            f"{common.NAME_OF[self.dtype]} and (source) {common.NAME_OF[source.dtype]}"
        )
    result, key = _along(xp, self, dim, index, IndexError(f"index_copy_(): {_BOUNDS}"))
    result[key] = source
    return result.reshape(self.shape)


@op(
    "aten::index_fill.int_Scalar(Tensor self, int dim, Tensor index, Scalar value) -> Tensor",
    inplace=True,
    overlap=1,
    out="int_Scalar_out",
    order="int_Tensor",
    inplace_order="int_Tensor",
    work=cost_model.of(cost_model.named_rows, 0.3),
    **COPIED,
)
@op(
    "aten::index_fill.int_Tensor(Tensor self, int dim, Tensor index, Tensor value) -> Tensor",
    inplace=True,
    overlap=1,
    out="int_Tensor_out",
    work=cost_model.of(cost_model.named_rows, 0.3),
    **COPIED,
)
@shared_fields(layout="like_first")
def _index_fill(xp: Any, self: Array, dim: int, index: Array, value: Any) -> Array:
    if not isinstance(value, (int, float, complex)):
        if value.ndim:
            raise RuntimeError(
                f"index_fill_ only supports a 0-dimensional value tensor, but got tensor with "
                f"{value.ndim} dimension(s)."
            )
        value = common.number_in(xp, value)
    if isinstance(value, complex) and self.dtype.kind != "c":
        raise RuntimeError("index_fill_(): Converting complex Scalar to non-complex type is not supported")
    if index.dtype != common.INT64:
        raise IndexError("index_fill_(): Expected dtype int64 for index.")
    result, key = _along(xp, self, dim, index, IndexError(_BOUNDS), negative=True)
    result[key] = common.cast_checked(xp, value, self.dtype)
    return result.reshape(self.shape)
