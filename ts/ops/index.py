"""Advanced indexing (fancy indexing), which reads and writes by index: tensors, gather, select, take, masks.

Input: an array, and index arrays of dtype int64 or bool (masks). Output: the elements, or the written array.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from ts import dtypes
from ts._core.tensor import conversions, factories, size_guards, strides
from ts._core.tensor.tensor import Tensor, rebind_array
from ts._core.thread.warnings import warn
from ts.ops import common, cost_model
from ts.ops.operator_record import OVERLAP_RAISES_CODE
from ts.ops.out_variants import COPIED, COPIED_OUT, SAME_DTYPE_OUT, write
from ts.ops.registry import op, shared_fields
from ts.ops.shape_functions import NONZERO, ShapeAndDtype, ShapeDtypeStrides, depends, new_size

Array = common.Array
_PICKED = cost_model.of(cost_model.indexed_bytes, 0.03)
_MASKS = (common.BOOL, common.UINT8)


def index_arrays(self: Array, indices: Sequence[Array | None]) -> list[Array | None]:
    """Return one index array or None per dimension.

    A mask is replaced by the index arrays of its true elements.
    """
    if not all(i is None or i.dtype in (*_MASKS, common.INT64, common.INT32) for i in indices):
        raise IndexError("tensors used as indices must be long, int, byte or bool tensors")
    arrays: list[Array | None] = []
    for i in indices:
        arrays.extend(_mask_coordinates(self, i, len(arrays)) if i is not None and i.dtype in _MASKS else [i])
    if len(arrays) > self.ndim:
        raise IndexError(f"too many indices for tensor of dimension {self.ndim} (got {len(indices)})")
    shapes = [a.shape for a in arrays if a is not None]
    try:
        if len(shapes) > 1:
            size_guards.broadcast(*shapes)
    except ValueError:
        raise IndexError(
            "shape mismatch: indexing tensors could not be broadcast together with shapes "
            + ", ".join(str(list(shape)) for shape in shapes)
        ) from None
    return arrays


def _mask_coordinates(self: Array, mask: Array, dim: int) -> list[Array]:
    """Return the coordinates of true elements of `mask`, which covers the dimensions of `self` from `dim`."""
    check_mask(self, mask, dim)
    return list(mask.nonzero())


def check_mask(self: Array, mask: Array, dim: int) -> None:
    """Raise IndexError if the shape of `mask` differs from the dimensions of `self` that begin at `dim`."""
    if mask.dtype == common.UINT8:
        warn("indexing with dtype torch.uint8 is now deprecated, please use a dtype torch.bool instead.")
    for i, length in enumerate(mask.shape):
        if dim + i >= self.ndim:
            raise IndexError(f"too many indices for tensor of dimension {self.ndim}")
        if not size_guards.equal(length, self.shape[dim + i]):
            raise IndexError(
                f"The shape of the mask {list(mask.shape)} at index {i} does not match the shape of the "
                f"indexed tensor {list(self.shape)} at index {dim + i}"
            )
    if mask.ndim == 0:
        raise IndexError("a mask without dimensions cannot select dimensions")


def _key(arrays: Sequence[Array | None]) -> tuple[Any, ...]:
    return tuple(slice(None) if a is None else common.copy_indices(a) for a in arrays)


def _out_of_range(error: IndexError, arrays: Sequence[Array | None]) -> IndexError:
    """Convert NumPy's IndexError to PyTorch's error.

    Both error texts contain the number of the dimension. PyTorch counts only dimensions that have an index
    array, whereas NumPy counts all dimensions.
    """
    match = re.fullmatch(r"(index -?\d+ is out of bounds for) axis (\d+) (with size \d+)", str(error))
    if match is None:
        return error
    if match[3] == "with size 0":
        return IndexError("index is out of bounds for dimension with size 0")
    before = sum(a is not None for a in arrays[: int(match[2])])
    return IndexError(f"{match[1]} dimension {before} {match[3]}")


def _select_elements(self: Array, arrays: Sequence[Array | None]) -> Array:
    """Return elements selected by index arrays, with PyTorch's memory order."""
    selected = self[_key(arrays)]
    in_order = all(a is None or a.ndim < 2 or a.flags.c_contiguous for a in arrays)
    if selected.flags.c_contiguous and in_order and (self.flags.c_contiguous or arrays[0] is not None):
        return selected
    result_strides = strides.of_result(selected.shape, *_operand_strides(self, arrays, selected.ndim))
    item = selected.dtype.itemsize
    if selected.strides == tuple(step * item for step in result_strides):
        return selected
    copy = conversions.empty_strided(selected, result_strides, selected.dtype)
    copy[...] = selected
    return copy


def _operand_strides(self: Array, arrays: Sequence[Array | None], ndim: int) -> list[list[int]]:
    """Return for `self` and for each index array the strides along the dimensions of the result.

    The stride is 0 along a dimension of the result over which the array is broadcast.
    """
    used = [d for d, a in enumerate(arrays) if a is not None]
    index_operands = [a for a in arrays if a is not None]
    count = max(a.ndim for a in index_operands)
    first = used[0] if used == list(range(used[0], used[-1] + 1)) else 0
    rest = [self.strides[d] for d in range(self.ndim) if d >= len(arrays) or arrays[d] is None]
    operands = [[*rest[:first], *[0] * count, *rest[first:]]]
    for a in index_operands:
        steps = [s if n > 1 else 0 for s, n in zip(a.strides, a.shape, strict=True)]
        lead = first + count - len(steps)
        operands.append([*[0] * lead, *steps, *[0] * (ndim - lead - len(steps))])
    return operands


@op(
    "aten::index.Tensor(Tensor self, Tensor?[] indices) -> Tensor",
    out="Tensor_out",
    where="f",
    order="Tensor Tensor_out Tensor_hacked_twin str",
    out_dtype_error="index_out: self ({want}) and result ({got}) must have the same scalar type",
)
@op("aten::index.Tensor_hacked_twin(Tensor self, Tensor[] indices) -> Tensor", where="f")
@shared_fields(work=_PICKED, size_mask=common.mask_among_indices)
def index_array(xp: Any, self: Array, indices: Sequence[Array | None]) -> Array:
    """Return the elements selected by a list of index tensors, one or None per dimension."""
    arrays = index_arrays(self, indices)
    if all(a is None for a in arrays):
        raise ValueError("At least one indices should be defined")
    try:
        return _select_elements(self, arrays)
    except IndexError as error:
        raise _out_of_range(error, arrays) from None


def _indexed_ndim(self: Array, arrays: Sequence[Array | None]) -> int:
    """Return the number of dimensions of `self[arrays]`."""
    index_ndims = [a.ndim for a in arrays if a is not None]
    return int(self.ndim) - len(index_ndims) + max(index_ndims, default=0)


def _write_at(
    xp: Any, target: Array, indices: Sequence[Array | None], values: Array, accumulate: bool
) -> None:
    """Compute `target[indices] = values`, or `target[indices] += values` if `accumulate`, in place."""
    if target.dtype != values.dtype:
        shape = target[_key(index_arrays(target, indices))].shape
        lengths = zip(reversed(values.shape), reversed(shape), strict=False)
        if values.ndim > len(shape) or any(n not in (1, length) for n, length in lengths):
            raise _mismatch(values, shape)
        raise RuntimeError(
            f"Index put requires the source and destination dtypes match, got {common.NAME_OF[target.dtype]} "
            f"for the destination and {common.NAME_OF[values.dtype]} for the source."
        )
    if xp.shapes_only:
        masks = [(dim, i) for dim, i in enumerate(indices) if i is not None and i.dtype in _MASKS]
        for dim, i in masks:
            check_mask(target, i, dim)
        if masks or values.ndim == 0:  # NumPy broadcasts a single value to all masked elements
            return
    arrays = index_arrays(target, indices)
    key = _key(arrays)
    try:
        if accumulate:
            # NumPy's `add.at` does not check the rank of `values`, and would write beyond its buffers.
            if values.ndim > _indexed_ndim(target, arrays):
                raise _mismatch(values, target[key].shape)
            xp.add.at(target, key, values)
        else:
            target[key] = values
    except IndexError as error:
        raise _out_of_range(error, arrays) from None
    except ValueError:
        raise _mismatch(values, target[key].shape) from None


def _mismatch(values: Array, shape: Sequence[int]) -> RuntimeError:
    return RuntimeError(
        f"shape mismatch: value tensor of shape {list(values.shape)} cannot be broadcast to indexing result "
        f"of shape {list(shape)}"
    )


@op(
    "aten::index_put(Tensor self, Tensor?[] indices, Tensor values, bool accumulate=False) -> Tensor",
    order="- out",
    layout="like_first",
    **COPIED_OUT,
)
@op(
    "aten::index_put.hacked_twin(Tensor self, Tensor[] indices, Tensor values, bool accumulate=False)"
    " -> Tensor",
    layout="like_first",
)
@shared_fields(work=_PICKED, autocast={"cuda": "widest"})
def index_put(
    xp: Any, self: Array, indices: Sequence[Array | None], values: Array, accumulate: bool = False
) -> Array:
    """Return a copy of `self` with values written to (or accumulated at) the indices."""
    result = self.copy()
    _write_at(xp, result, indices, values, accumulate)
    return result


@op(
    "aten::index_put_(Tensor(a!) self, Tensor?[] indices, Tensor values, bool accumulate=False)"
    " -> Tensor(a!)",
    overlap=1,
    variant="inplace",
)
@op(
    "aten::index_put_.hacked_twin(Tensor(a!) self, Tensor[] indices, Tensor values, bool accumulate=False)"
    " -> Tensor(a!)",
    overlap=1,
    variant="inplace",
)
@shared_fields(work=_PICKED)
def index_put_in_place(
    xp: Any, self: Array, indices: Sequence[Array | None], values: Array, accumulate: bool = False
) -> Array:
    """Write or accumulate values at the indices in place, and return the array."""
    _write_at(xp, self, indices, values, accumulate)
    return self


@op(
    "aten::index_select(Tensor self, int dim, Tensor index) -> Tensor",
    out="out",
    out_dtype_error="index_select(): self and result must have the same scalar type",
    work=cost_model.of(cost_model.named_rows, 0.1),
    sparse="view_ops.index_select",
)
def _index_select(xp: Any, self: Array, dim: int, index: Array) -> Array:
    axis = common.wrap_dim(dim, self.ndim)
    if index.ndim > 1:
        raise IndexError("index_select(): Index is supposed to be a vector")
    if index.dtype not in (common.INT64, common.INT32):
        raise RuntimeError("index_select(): Expected dtype int32 or int64 for index")
    n = self.shape[axis] if self.ndim else 1
    bounds = common.index_bounds(xp, index, 0, n)
    if bounds is not None and (bounds[0] < 0 or bounds[1] >= n):
        raise IndexError("index out of range in self")
    if self.ndim == 0:
        return self.copy()
    return xp.take(self, index.reshape(-1), axis=axis)


@op(
    "aten::gather(Tensor self, int dim, Tensor index, *, bool sparse_grad=False) -> Tensor",
    out="out",
    out_dtype_error="Expected out tensor to have dtype {want_cpp}, but got {got_cpp} instead",
    layout="contiguous",
)
def _gather(xp: Any, self: Array, dim: int, index: Array, sparse_grad: bool = False) -> Array:
    axis = common.wrap_dim(dim, self.ndim)
    if index.size and index.dtype not in (common.INT64, common.INT32):
        raise RuntimeError("gather(): Expected dtype int32/int64 for index")
    if not index.size:
        return xp.empty(index.shape, dtype=self.dtype)
    if max(self.ndim, 1) != max(index.ndim, 1):
        raise RuntimeError("Index tensor must have the same number of dimensions as input tensor")
    x, i = xp.atleast_1d(self), xp.atleast_1d(index)
    for d in range(x.ndim):
        if d != axis and i.shape[d] > x.shape[d]:
            raise RuntimeError(
                f"Size does not match at dimension {d} expected index {list(index.shape)} to be no larger "
                f"than self {list(self.shape)} apart from dimension {axis}"
            )
    bounds = common.index_bounds(xp, i, 0, x.shape[axis])
    if bounds is not None and (bounds[0] < 0 or bounds[1] >= x.shape[axis]):
        raise RuntimeError(
            f"index {bounds[1]} is out of bounds for dimension {axis} with size {x.shape[axis]}"
        )
    return x[gather_key(xp, i, axis)].reshape(index.shape)


def gather_key(xp: Any, index: Array, axis: int) -> tuple[Array, ...]:
    """Return the NumPy key for `gather` along `axis`: for axis 1, element [i, j] is `x[i, index[i, j]]`."""
    key: list[Array] = []
    for d, n in enumerate(index.shape):
        shape_of_d = (1,) * d + (n,) + (1,) * (index.ndim - d - 1)
        key.append(common.copy_indices(index) if d == axis else xp.arange(n).reshape(shape_of_d))
    return tuple(key)


@op("aten::take_along_dim(Tensor self, Tensor indices, int? dim=None) -> Tensor", **SAME_DTYPE_OUT)
def _take_along_dim(xp: Any, self: Array, indices: Array, dim: int | None = None) -> Array:
    if indices.dtype != common.INT64:
        dtype_name = common.NAME_OF[indices.dtype]
        raise RuntimeError(f"torch.take_along_dim(): dtype of indices should be Long but got {dtype_name}")
    if dim is None:
        return self.reshape(-1)[common.copy_indices(indices).reshape(-1)]
    if indices.ndim != self.ndim:
        raise RuntimeError(
            "torch.take_along_dim(): input and indices should have the same number of dimensions, but got "
            f"{self.ndim} dimensions for input, and {indices.ndim} dimensions for indices"
        )
    if not self.ndim:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    axis = common.wrap_dim(dim, self.ndim)
    rest = list(common.broadcast_shapes(
        tuple(1 if d == axis else n for d, n in enumerate(self.shape)),
        tuple(1 if d == axis else n for d, n in enumerate(indices.shape)),
    ))  # fmt: skip
    self_shape, indices_shape = list(rest), list(rest)
    self_shape[axis], indices_shape[axis] = self.shape[axis], indices.shape[axis]
    return xp.take_along_axis(
        xp.broadcast_to(self, self_shape), xp.broadcast_to(common.copy_indices(indices), indices_shape), axis
    )


@op(
    "aten::take(Tensor self, Tensor index) -> Tensor",
    out="out",
    overlap=OVERLAP_RAISES_CODE,
    layout="contiguous",
    out_dtype_error="take(): self and out expected to have the same dtype, but got self.dtype = {want} and "
    "out.dtype = {got}",
)
def _take(xp: Any, self: Array, index: Array) -> Array:
    if index.dtype != common.INT64:
        raise RuntimeError(f"take(): Expected a long tensor for index, but got {common.NAME_OF[index.dtype]}")
    at = common.copy_indices(index)
    _check_flat(xp, at, self.size)
    return self.reshape(-1)[at]


def _check_flat(xp: Any, at: Array, n: int) -> None:
    """Raise IndexError for flat indices out of range for `n` elements."""
    bounds = common.index_bounds(xp, at, -n, n)
    if bounds is not None and (bounds[0] < -n or bounds[1] >= n):
        first = at[(at < -n) | (at >= n)].reshape(-1)[0]
        raise IndexError(f"out of range: tried to access index {first} on a tensor of {n} elements.")


@op(
    "aten::put(Tensor self, Tensor index, Tensor source, bool accumulate=False) -> Tensor",
    inplace=True,
    overlap=OVERLAP_RAISES_CODE,
    layout="like_first",
    **COPIED_OUT,
)
def _put(xp: Any, self: Array, index: Array, source: Array, accumulate: bool = False) -> Array:
    if self.dtype != source.dtype:
        raise RuntimeError(
            "put_(): self and source expected to have the same dtype, but got self.dtype = "
            f"{common.NAME_OF[self.dtype]} and source.dtype = {common.NAME_OF[source.dtype]}"
        )
    if index.dtype != common.INT64:
        raise RuntimeError(f"put_(): Expected a long tensor for index, but got {common.NAME_OF[index.dtype]}")
    if not size_guards.equal(index.size, source.size):
        raise IndexError(
            "put_(): Expected source and index to have the same number of elements, but got source.numel() = "
            f"{source.size}, index.numel() = {index.size}"
        )
    flat, at = self.reshape(-1).copy(), common.copy_indices(index).reshape(-1)
    _check_flat(xp, at, flat.size)
    if accumulate:
        xp.add.at(flat, at, source.reshape(-1))
    else:
        flat[at] = source.reshape(-1)
    return flat.reshape(self.shape)


# --------------------------------------------------------------------------------------- operators with masks


def _mask(mask: Array) -> Array:
    if mask.dtype != common.BOOL:
        raise RuntimeError(f"expected mask dtype to be Bool but got {common.NAME_OF[mask.dtype]}")
    return mask


@op(
    "aten::masked_fill.Scalar(Tensor self, Tensor mask, Scalar value) -> Tensor",
    tile=True,
    cuda="b ? c : a",
    inplace=True,
    overlap=1,
    out="Scalar_out",
    layout="contiguous",
    order="Scalar Scalar_out",
    assignment="tensor[mask] = scalar",
    **COPIED,
)
@op(
    "aten::masked_fill.Tensor(Tensor self, Tensor mask, Tensor value) -> Tensor",
    inplace=True,
    overlap=1,
    out="Tensor_out",
    assignment="tensor[mask] = scalar",
    **COPIED,
)
def _masked_fill(xp: Any, self: Array, mask: Array, value: Any) -> Array:
    if not isinstance(value, (int, float, complex)):
        if value.ndim:
            raise RuntimeError(
                f"masked_fill only supports a 0-dimensional value tensor, but got tensor with "
                f"{value.ndim} dimension(s)."
            )
        value = common.number_in(xp, value)
    if not common.can_cast(common.number_dtype(value), self.dtype) and isinstance(value, complex):
        raise RuntimeError("value cannot be converted to type without overflow")
    if mask.dtype != common.BOOL:
        raise RuntimeError(
            "masked_fill_ only supports boolean masks, but got mask with dtype "
            f"{common.CPP_NAME_OF[mask.dtype]}"
        )
    shape = common.broadcast_shapes(mask.shape, self.shape)
    return xp.where(_mask(mask), common.cast_checked(xp, value, self.dtype), xp.broadcast_to(self, shape))


def _selected_shape(self: Array, mask: Array) -> ShapeAndDtype:
    return (new_size(max_size=self.size),), self.dtype


@op(
    "aten::masked_select(Tensor self, Tensor mask) -> Tensor",
    out="out",
    overlap=OVERLAP_RAISES_CODE,
    out_dtype_error="masked_select(): self and result must have the same scalar type",
    shape=depends("masked_select").unless(_selected_shape),
    unsized=lambda self, mask: (self.dtype, 1),
)
def _masked_select(xp: Any, self: Array, mask: Array) -> Array:
    if mask.dtype != common.BOOL:
        raise RuntimeError("masked_select: expected BoolTensor for mask")
    shape = common.broadcast_shapes(mask.shape, self.shape)
    return xp.broadcast_to(self, shape)[xp.broadcast_to(common.copy_indices(mask), shape)]


@op(
    "aten::masked_scatter(Tensor self, Tensor mask, Tensor source) -> Tensor",
    inplace=True,
    layout="contiguous",
    **COPIED_OUT,
)
def _masked_scatter(xp: Any, self: Array, mask: Array, source: Array) -> Array:
    if self.dtype != source.dtype:
        raise RuntimeError(
            "masked_scatter: expected self and source to have same dtypes but got"
            f"{common.NAME_OF[self.dtype]} and {common.NAME_OF[source.dtype]}"
        )
    shape = common.broadcast_shapes(self.shape, mask.shape)
    result = xp.array(xp.broadcast_to(self, shape))
    full_mask = xp.broadcast_to(_mask(mask), shape)
    if xp.shapes_only:
        return result
    count = int(full_mask.sum())
    if count > source.size:
        raise RuntimeError("masked_scatter: expected self to have no more elements than source")
    result[full_mask] = source.reshape(-1)[:count]
    return result


def _nonzero_shape(self: Array) -> ShapeDtypeStrides:
    """Return shape, dtype and column-major strides of the index matrix. The shape is (count, ndim)."""
    count = new_size(max_size=self.size)
    item = common.INT64.itemsize
    return (count, self.ndim), common.INT64, (item, count * item)


def _nonzero_numpy_shape(self: Array) -> list[ShapeAndDtype]:
    count = new_size(max_size=self.size)
    return [((count,), common.INT64) for _ in range(max(self.ndim, 1))]


_NONZERO = NONZERO.unless(_nonzero_shape)


@op(
    "aten::nonzero(Tensor self) -> Tensor",
    out="out",
    layout="outermost_last",
    out_dtype_error="nonzero: Expected out tensor to have scalar type {want} but got scalar type{got}",
    shape=_NONZERO, unsized=lambda self: (dtypes.int64, 2), size_mask=lambda self, *_: self,
    work=cost_model.search_nonzero,
)  # fmt: skip
def _nonzero(xp: Any, self: Array) -> Array:
    if self.ndim == 0:
        return xp.zeros((int(bool(self)), 0), dtype=common.INT64)
    return xp.stack(xp.nonzero(self), 1)


@op("aten::nonzero_numpy(Tensor self) -> Tensor[]", layout="like_all")
@op("aten::where(Tensor condition) -> Tensor[]", layout="like_all")
@shared_fields(shape=NONZERO.unless(_nonzero_numpy_shape), work=cost_model.search_nonzero)
def _nonzero_numpy(xp: Any, self: Array) -> list[Array]:
    return list(xp.nonzero(xp.atleast_1d(self)))


@op(
    "aten::argwhere(Tensor self) -> Tensor",
    layout="outermost_last",
    shape=_NONZERO,
    work=cost_model.search_nonzero,
)
def _argwhere(xp: Any, self: Array) -> Array:
    return _nonzero(xp, self)


def _nonzero_static_shape(self: Array, size: int, fill_value: int = -1) -> ShapeAndDtype:
    """Return shape and dtype of the first `size` nonzero indices."""
    return (size, self.ndim), common.INT64


@op(
    "aten::nonzero_static(Tensor self, *, SymInt size, int fill_value=-1) -> Tensor",
    out="out",
    shape=_nonzero_static_shape,
    out_dtype_error="nonzero_static: Expected out tensor to have scalar type {want} but got scalar type{got}",
)
def _nonzero_static(xp: Any, self: Array, size: int, fill_value: int = -1) -> Array:
    coordinates = _nonzero(xp, self)[:size]
    rest = xp.full((size - coordinates.shape[0], coordinates.shape[1]), fill_value, dtype=common.INT64)
    return xp.concatenate([coordinates, rest])


# ------------------------------------------------------------------------------------- writes to all elements


@op(
    "aten::fill.Scalar(Tensor self, Scalar value) -> Tensor",
    inplace=True,
    overlap=2,
    out="Scalar_out",
    order="Scalar Scalar_out",
    **COPIED,
    element_role="fill",
)
@op(
    "aten::fill.Tensor(Tensor self, Tensor value) -> Tensor",
    inplace=True,
    overlap=2,
    out="Tensor_out",
    **COPIED,
    element_role="fill",
)
@shared_fields(layout="like_first", filled_like="aten::full_like")
def _fill(xp: Any, self: Array, value: Any) -> Array:
    if not isinstance(value, (int, float, complex)) and value.ndim:
        raise RuntimeError(
            f"fill_ only supports 0-dimension value tensor but got tensor with {value.ndim} dimensions."
        )
    return xp.array(xp.broadcast_to(common.cast_checked(xp, value, self.dtype), self.shape))


@op("aten::zero(Tensor self) -> Tensor", inplace=True, overlap=2, **COPIED_OUT)
@shared_fields(layout="like_first", filled_like="aten::zeros_like", sparse="conversions.zero_in_place")
def _zero(xp: Any, self: Array) -> Array:
    return xp.zeros_like(self)


_COPIES: dict[str, Any] = {
    "variant": "inplace", "where": "", "tensor_kernel": True, "element_role": "assignment"
}  # fmt: skip


@op(
    "aten::copy_(Tensor(a!) self, Tensor src, bool non_blocking=False) -> Tensor(a!)",
    variant="inplace",
    where="m",
    tensor_kernel=True,  # source and target may be on different devices
    loop="copy",
    wraps_numbers=True,
    element_role="assignment",
    traced_in_place=True,
)
@op("aten::copy_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)", **_COPIES)
@op("aten::copy_.int(Tensor(a!) self, int other) -> Tensor(a!)", **_COPIES)
@op("aten::copy_.float(Tensor(a!) self, float other) -> Tensor(a!)", **_COPIES)
def _copy(self: Tensor, src: Any, non_blocking: bool = False) -> Tensor:
    source = src if isinstance(src, Tensor) else factories.tensor(src, device=self.device)
    if self.layout is not dtypes.strided or source.layout is not dtypes.strided:
        # imported here, because few programs copy sparse tensors
        from ts.ops.sparse_kernels.conversions import copy_in_place

        rebind_array(self, copy_in_place(None, np, self.array, source.array))
        return self
    conversions.copy_into(self, source, non_blocking)
    return self


@op(
    "aten::copy(Tensor self, Tensor src, bool non_blocking=False) -> Tensor",
    where="",
    tensor_kernel=True,
)
def _copied(self: Tensor, src: Tensor, non_blocking: bool = False) -> Tensor:
    """Return the result of `copy_` as a new tensor."""
    return _copy(self.clone(), src, non_blocking)


def _check_source(src: Array, target: Array) -> None:
    """Raise a RuntimeError if the shapes of source and target slice differ."""
    if not size_guards.equal_shapes(src.shape, target.shape):
        raise RuntimeError(
            f"expected src to have a size equal to the slice of self. src size = {list(src.shape)}, slice "
            f"size = {list(target.shape)}"
        )


@op(
    "aten::select_scatter(Tensor self, Tensor src, int dim, SymInt index) -> Tensor",
    out="out",
    layout="like_first",
)
def _select_scatter(xp: Any, self: Array, src: Array, dim: int, index: int) -> Array:
    axis = common.wrap_dim(dim, self.ndim)
    if not size_guards.within(index, self.shape[axis]):
        raise IndexError(
            f"select(): index {index} out of range for tensor of size {list(self.shape)} at dimension {dim}"
        )
    result = self.copy()
    key = (slice(None),) * axis + (index, ...)
    _check_source(src, result[key])
    result[key] = src
    return result


@op(
    "aten::slice_scatter(Tensor self, Tensor src, int dim=0, SymInt? start=None, SymInt? end=None, "
    "SymInt step=1) -> Tensor",
    layout="like_first",
    **SAME_DTYPE_OUT,
)
def _slice_scatter(
    xp: Any,
    self: Array,
    src: Array,
    dim: int = 0,
    start: int | None = None,
    end: int | None = None,
    step: int = 1,
) -> Array:
    if step <= 0:
        raise RuntimeError("slice step must be positive")
    result = self.copy()
    key = (slice(None),) * common.wrap_dim(dim, self.ndim) + (slice(start, end, step),)
    _check_source(src, result[key])
    result[key] = src
    return result


@op(
    "aten::diagonal_scatter(Tensor self, Tensor src, int offset=0, int dim1=0, int dim2=1) -> Tensor",
    out="out",
    layout="like_first",
)
def _diagonal_scatter(
    xp: Any, self: Array, src: Array, offset: int = 0, dim1: int = 0, dim2: int = 1
) -> Array:
    from ts.ops.view import diagonal_kernel

    result = self.copy()
    diagonal = diagonal_kernel(xp, result, offset, dim1, dim2)
    _check_source(src, diagonal)
    write(xp, diagonal, src)
    return result


# ---------------------------------------------------------------------------------------- fill_diagonal_


@op(
    "aten::fill_diagonal_(Tensor(a!) self, Scalar fill_value, bool wrap=False) -> Tensor(a!)",
    where="m",
    variant="inplace",
    overlap=2,
)
def _fill_diagonal(xp: Any, self: Array, fill_value: Any, wrap: bool = False) -> Array:
    """Fill the main diagonal in place.

    If `wrap`, a tall matrix has several diagonals. Each diagonal begins one row below the end of the previous
    one.
    """
    if self.ndim < 2:
        raise RuntimeError("dimensions must larger than 1")
    if self.ndim > 2 and len(set(self.shape)) > 1:
        raise RuntimeError("all dimensions of input must be of equal length")
    n = min(self.shape)
    value = common.cast_checked(xp, fill_value, self.dtype)
    positions = xp.arange(n)
    self[(positions,) * self.ndim] = value
    rows, columns = self.shape[:2]
    if wrap and self.ndim == 2 and rows > columns + 1:
        again = xp.arange((columns + 1) * columns, rows * columns, columns + 1)
        self[again // max(columns, 1), again % max(columns, 1)] = value
    return self
