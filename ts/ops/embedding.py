"""Embedding lookup and embedding bags (segmented reduction) of table rows by index.

Input: a table (rows, width) and indices. Output: the row of each index. Embedding bags also need the offset
of each bag, and return one reduced row per bag. The function `one_hot` returns rows with a one at the index.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ts import dtypes
from ts._core.tensor import size_guards
from ts.ops import common, cost_model
from ts.ops.out_variants import COPIED_OUT
from ts.ops.registry import op, shared_fields
from ts.ops.shape_functions import ShapeAndDtype, depends, itself, like_first

Array = common.Array
SUM, MEAN, MAX = 0, 1, 2


def _check_indices(operator: str, ordinal: int, **indices: Array) -> None:
    for name, x in indices.items():
        if x.dtype not in (common.INT64, common.INT32):
            raise RuntimeError(
                f"Expected tensor for argument #{ordinal} '{name}' to have one of the following scalar "
                f"types: Long, Int; but got {common.legacy_type_name(x)} instead (while checking arguments "
                f"for {operator})"
            )


@op(
    "aten::embedding(Tensor weight, Tensor indices, SymInt padding_idx=-1, bool "
    "scale_grad_by_freq=False, bool sparse=False) -> Tensor",
    work=cost_model.of(cost_model.looked_up, 0.1),
    **COPIED_OUT,
    copies_sizes=True,
    graph_autodiff=True,
)
def _embedding(
    xp: Any,
    weight: Array,
    indices: Array,
    padding_idx: int = -1,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Array:
    if weight.ndim != 2:
        raise RuntimeError("'weight' must be 2-D")
    _check_indices("embedding", 1, indices=indices)
    bounds = common.index_bounds(xp, indices, 0, weight.shape[0])
    if bounds is not None and (bounds[0] < 0 or bounds[1] >= weight.shape[0]):
        raise IndexError("index out of range in self")
    return xp.take(weight, indices, axis=0)


def _sum_rows(xp: Any, grad: Array, index: Array, rows: int, padding: int, mean: bool) -> Array:
    """Return an array (rows, columns): the sums, or means, of the rows of `grad` with equal indices.

    Rows of `grad` with the index `padding` are ignored.
    """
    table = xp.zeros((rows, grad.shape[1]), dtype=grad.dtype)
    order = xp.argsort(index, kind="stable")
    index = index[order]
    if padding >= 0:
        order, index = order[index != padding], index[index != padding]
    if not index.size:
        return table
    first = xp.flatnonzero(xp.concatenate([xp.ones(1, dtype=common.BOOL), index[1:] != index[:-1]]))
    sums = xp.add.reduceat(grad[order], first, axis=0)
    if mean:
        counts = xp.concatenate([first[1:], xp.asarray([index.size])]) - first
        sums = sums / common.cast(xp, counts, sums.dtype)[:, None]
    table[index[first]] = sums
    return table


@op(
    "aten::embedding_dense_backward(Tensor grad_output, Tensor indices, SymInt num_weights, SymInt "
    "padding_idx, bool scale_grad_by_freq) -> Tensor",
    layout="contiguous",
    **COPIED_OUT,
)
def _embedding_dense_backward(
    xp: Any,
    grad_output: Array,
    indices: Array,
    num_weights: int,
    padding_idx: int,
    scale_grad_by_freq: bool,
    *,
    sum_rows: Callable[..., Array] = _sum_rows,
) -> Array:
    """Return the gradient of an embedding table.

    The gradient of a row is the sum of the gradients of all lookups of this row.
    """
    _check_indices("embedding_backward", 2, indices=indices)
    if not size_guards.equal_shapes(grad_output.shape[:-1], indices.shape):
        raise RuntimeError(
            f"Expected a row of the gradient for each of {list(indices.shape)} indices, but got "
            f"{list(grad_output.shape)}"
        )
    width = grad_output.shape[-1]
    if xp.shapes_only or not indices.size:
        return xp.zeros((num_weights, width), dtype=grad_output.dtype)
    bounds = common.index_bounds(xp, indices, 0, num_weights)
    if bounds is not None and (bounds[0] < 0 or bounds[1] >= num_weights):
        raise IndexError("index out of range in self")
    index = common.copy_indices(indices).reshape(-1)
    wide = common.cast(xp, grad_output, common.opmath(grad_output.dtype)).reshape(-1, width)
    return common.cast(
        xp, sum_rows(xp, wide, index, num_weights, padding_idx, scale_grad_by_freq), grad_output.dtype
    )


def _shortened(
    xp: Any, self: Array, indices: Array, max_norm: float, norm_type: float
) -> tuple[Array, Array]:
    """Find the rows at `indices` whose norm exceeds `max_norm`, and scale copies of them to this norm.

    Return the indices of these rows, and the scaled rows.
    """
    _check_indices("embedding_renorm_", 2, indices=indices)
    bounds = common.index_bounds(xp, indices, 0, self.shape[0])
    if bounds is not None and (bounds[0] < 0 or bounds[1] >= self.shape[0]):
        raise IndexError("index out of range in self")
    rows = xp.unique(indices)
    selected = common.cast(xp, self[rows], common.opmath(self.dtype))
    norms = xp.linalg.norm(selected, norm_type, axis=1)
    long = norms > max_norm
    scaled = selected[long] * (max_norm / (norms[long] + 1e-7))[:, None]
    return rows[long], common.cast(xp, scaled, self.dtype)


@op(
    "aten::embedding_renorm_(Tensor(a!) self, Tensor indices, float max_norm, float norm_type) -> Tensor(a!)",
    variant="inplace",
    where="f",
    dtype_errors={
        "bi": "norm(): input dtype should be either floating point or complex. Got {dtype} instead."
    },
    shape=itself,
)
def _embedding_renorm_in_place(
    xp: Any, self: Array, indices: Array, max_norm: float, norm_type: float
) -> Array:
    rows, scaled = _shortened(xp, self, indices, max_norm, norm_type)
    self[rows] = scaled
    return self


@op(
    "aten::_no_grad_embedding_renorm_(Tensor weight, Tensor input, float max_norm, float norm_type) -> "
    "Tensor",
    where="",
    dtype_errors={
        "bi": "norm(): input dtype should be either floating point or complex. Got {dtype} instead."
    },
    shape=itself,
    side_effect=True,
)
def _no_grad_embedding_renorm(
    xp: Any, weight: Array, input: Array, max_norm: float, norm_type: float
) -> Array:
    """Renormalize rows of `weight` in place, although the schema declares no mutation."""
    return _embedding_renorm_in_place(xp, weight, input, max_norm, norm_type)


@op(
    "aten::embedding_renorm(Tensor self, Tensor indices, float max_norm, float norm_type) -> Tensor",
    where="",
    layout="like_first",
    dtype_errors={
        "bi": "norm(): input dtype should be either floating point or complex. Got {dtype} instead."
    },
    shape=like_first,
    **COPIED_OUT,
)
def _embedding_renorm(xp: Any, self: Array, indices: Array, max_norm: float, norm_type: float) -> Array:
    return _embedding_renorm_in_place(xp, xp.copy(self), indices, max_norm, norm_type)


@op("aten::one_hot(Tensor self, int num_classes=-1) -> Tensor", where="f", layout="contiguous")
def _one_hot(xp: Any, self: Array, num_classes: int = -1) -> Array:
    if self.dtype != common.INT64:
        raise RuntimeError("one_hot is only applicable to index tensor of type LongTensor.")
    if num_classes <= 0 and self.size == 0:
        raise RuntimeError("Can not infer total number of classes from empty tensor.")
    n = int(self.max()) + 1 if num_classes == -1 else num_classes
    bounds = common.extremes(xp, self)
    if bounds is not None and bounds[0] < 0:
        raise RuntimeError("Class values must be non-negative.")
    if bounds is not None and bounds[1] >= n:
        raise RuntimeError("Class values must be smaller than num_classes.")
    return (self[..., None] == xp.arange(n)).astype(common.INT64)


# ---------------------------------------------------------------------------------------- embedding bags


def _bag_shapes(
    weight: Array,
    indices: Array,
    offsets: Array,
    scale_grad_by_freq: bool = False,
    mode: int = SUM,
    sparse: bool = False,
    per_sample_weights: Array | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> list[ShapeAndDtype]:
    """Return shape and dtype of the bags, `offset2bag`, bag sizes and maximum indices."""
    _check_bags(weight, indices, offsets, mode, per_sample_weights)
    dtype = common.promote_types(indices.dtype, offsets.dtype)
    bags = offsets.size - include_last_offset
    result = ((bags, weight.shape[1]), weight.dtype)
    sizes = ((offsets.size,) if mode == SUM else (bags,), dtype)
    owners = ((indices.size,) if _fills_offset2bag(weight, mode, padding_idx) else (0,), dtype)
    return [result, owners, sizes, (result[0], dtype) if mode == MAX else sizes]


def _fills_offset2bag(weight: Array, mode: int, padding_idx: int | None) -> bool:
    """Return True if the result `offset2bag` has elements.

    PyTorch returns an empty `offset2bag` if it computes sums by its fast path.
    """
    padded = padding_idx is not None and padding_idx >= 0
    return mode != SUM or padded or bool(weight.dtype == common.DOUBLE)


def padding_row(rows: int, padding_idx: int | None) -> int:
    """Return the padding index as a nonnegative row index of a table of `rows` rows, or -1 for None.

    The function is also compiled as a script.
    """
    if padding_idx is None:
        return -1
    if padding_idx < -rows or padding_idx >= rows:
        raise RuntimeError(
            f"padding_idx must be within the number of embeddings, -{rows} through {rows - 1}, but got "
            f"{padding_idx}"
        )
    return padding_idx if padding_idx >= 0 else padding_idx + rows


def _public_bag_shapes(weight: Array, *args: Any) -> list[ShapeAndDtype]:
    """Return the result shapes of the public operator `embedding_bag`.

    Unlike the internal operators, it accepts a negative `padding_idx`.
    """
    arguments = (weight, *args[:7], padding_row(weight.shape[0], args[7] if len(args) == 8 else None))
    return _bag_shapes(*arguments)


def _check_bags(weight: Array, indices: Array, offsets: Array, mode: int, scales: Array | None) -> None:
    if indices.ndim not in (1, 2):
        raise RuntimeError(f"input has to be a 1D or 2D Tensor, but got Tensor of dimension {indices.ndim}")
    if offsets.ndim != 1:
        raise RuntimeError(f"offsets has to be a 1D Tensor, but got Tensor of dimension {offsets.ndim}")
    if weight.ndim != 2:
        raise RuntimeError(f"weight has to be a 2D Tensor, but got Tensor of dimension {weight.ndim}")
    _check_indices("embedding_bag", 1, indices=indices, offsets=offsets)
    if common.CATEGORY_OF[weight.dtype] != common.FLOATING:
        raise RuntimeError(
            "Expected tensor for argument #1 'weight' to have one of the following scalar types: Half, "
            f"BFloat16, Float, Double; but got {common.legacy_type_name(weight)} instead (while checking "
            "arguments for embedding_bag)"
        )
    if scales is None:
        return
    if mode != SUM:
        raise RuntimeError("embedding_bag: per_sample_weights only supported with mode='sum'")
    if scales.dtype != weight.dtype:
        raise RuntimeError(
            "Expected tensor for argument #1 'weight' to have the same type as tensor for argument #1 "
            f"'per_sample_weights'; but type {common.legacy_type_name(weight)} does not equal "
            f"{common.legacy_type_name(scales)} (while checking arguments for embedding_bag)"
        )
    if not size_guards.equal_shapes(scales.shape, indices.shape):
        raise RuntimeError("embedding_bag: per_sample_weights must have the same shape as the indices")


def _check_offsets(xp: Any, offsets: Array, count: int) -> None:
    if not offsets.size:
        return
    first, last = int(offsets[0]), int(offsets[-1])
    if first != 0:
        raise RuntimeError(
            "offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from position "
            f"0. However, got {first}"
        )
    if last > count:
        raise RuntimeError(
            f"offsets[-1] can not be greater than input's length {count} but got offsets[-1] of {last}"
        )
    if bool(xp.any(offsets[1:] < offsets[:-1])):
        raise RuntimeError("offsets have to be in ascending order")


def _first_maxima(xp: Any, rows: Array, first: Array, section: Array) -> Array:
    """Return, for each section and column of `rows`, the index of the first row with the largest element.

    Sections begin at the indices `first`, and `section` has the number of each row's section. As in PyTorch,
    a NaN is the maximum only if it is in the first row of its section.
    """
    is_first = (xp.arange(rows.shape[0]) == first[section])[:, None]
    comparable = xp.where(xp.isnan(rows) & ~is_first, -math.inf, rows)
    maxima = xp.maximum.reduceat(comparable, first, axis=0)[section]
    is_maximal = (comparable == maxima) | (xp.isnan(maxima) & is_first)
    order = xp.where(is_maximal, xp.arange(rows.shape[0])[:, None], rows.shape[0])
    position: Array = xp.minimum.reduceat(order, first, axis=0)
    return position


@op(
    "aten::_embedding_bag(Tensor weight, Tensor indices, Tensor offsets, bool scale_grad_by_freq=False, "
    "int mode=0, bool sparse=False, Tensor? per_sample_weights=None, bool include_last_offset=False, "
    "int padding_idx=-1) -> (Tensor, Tensor, Tensor, Tensor)",
    out="out",
    work=cost_model.of(cost_model.looked_up, 0.1),
)
@op(
    "aten::_embedding_bag_forward_only(Tensor weight, Tensor indices, Tensor offsets, bool "
    "scale_grad_by_freq=False, int mode=0, bool sparse=False, Tensor? per_sample_weights=None, bool "
    "include_last_offset=False, int padding_idx=-1) -> (Tensor, Tensor, Tensor, Tensor)",
    out="out",
    work=cost_model.of(cost_model.looked_up, 0.1),
)
@shared_fields(shape=_bag_shapes)
def _embedding_bag(
    xp: Any,
    weight: Array,
    indices: Array,
    offsets: Array,
    scale_grad_by_freq: bool = False,
    mode: int = SUM,
    sparse: bool = False,
    per_sample_weights: Array | None = None,
    include_last_offset: bool = False,
    padding_idx: int = -1,
) -> tuple[Array, Array, Array, Array]:
    _check_bags(weight, indices, offsets, mode, per_sample_weights)
    index_dtype = common.promote_types(indices.dtype, offsets.dtype)
    index, starts = indices.reshape(-1), offsets.astype(common.INT64)
    if include_last_offset and not starts.size:
        raise RuntimeError("include_last_offset: number of offset should be at least 1")
    _check_offsets(xp, starts, index.size)
    end = int(starts[-1]) if include_last_offset else index.size
    starts = starts[:-1] if include_last_offset else starts
    bags = starts.size
    rows, width = weight.shape
    bounds = common.extremes(xp, index)
    if bounds is not None and (bounds[0] < 0 or bounds[1] >= rows):
        at = int(xp.argmax((index < 0) | (index >= rows)))
        raise RuntimeError(
            f"Index {at} of input takes value {int(index[at])} which is not in the valid range [0, {rows})"
        )
    every = xp.searchsorted(starts, xp.arange(index.size), side="right") - 1  # bag number of each index
    is_valid = xp.arange(index.size) < end
    if padding_idx >= 0:
        is_valid &= index != padding_idx
    bag, selected_indices = every[is_valid], index[is_valid]
    counts = xp.bincount(bag, minlength=bags) if bags else xp.zeros(0, dtype=common.INT64)
    full = xp.flatnonzero(counts)
    first = (xp.cumsum(counts) - counts)[full]  # position of the first index of each nonempty bag
    selected_rows = common.cast(xp, weight[selected_indices], common.opmath(weight.dtype))
    if per_sample_weights is not None:
        scale = common.cast(xp, per_sample_weights.reshape(-1)[is_valid], selected_rows.dtype)
        selected_rows = selected_rows * scale[:, None]
    result = xp.zeros((bags, width), dtype=selected_rows.dtype)
    if full.size and mode != MAX:
        result[full] = xp.add.reduceat(selected_rows, first, axis=0)
    fills_offset2bag = _fills_offset2bag(weight, mode, padding_idx)
    owners = every.astype(index_dtype) if fills_offset2bag else xp.zeros(0, dtype=index_dtype)
    sizes = counts.astype(index_dtype)
    if mode == SUM:
        sizes = xp.zeros(offsets.size, dtype=index_dtype)
    best = sizes.copy()
    if mode == MEAN:
        result = result / xp.maximum(counts, 1).astype(result.dtype)[:, None]
    elif mode == MAX:
        best = xp.zeros((bags, width), dtype=index_dtype)
        if full.size:
            position = _first_maxima(xp, selected_rows, first, xp.cumsum(counts > 0)[bag] - 1)
            result[full] = xp.take_along_axis(selected_rows, position, 0)
            best[full] = selected_indices[position]
    return common.cast(xp, result, weight.dtype), owners, sizes, best


@op(
    "aten::embedding_bag(Tensor weight, Tensor indices, Tensor offsets, bool scale_grad_by_freq=False, "
    "int mode=0, bool sparse=False, Tensor? per_sample_weights=None, bool include_last_offset=False) -> "
    "(Tensor, Tensor, Tensor, Tensor)",
    work=cost_model.of(cost_model.looked_up, 0.1),
)
@op(
    "aten::embedding_bag.padding_idx(Tensor weight, Tensor indices, Tensor offsets, bool "
    "scale_grad_by_freq, int mode, bool sparse, Tensor? per_sample_weights, bool include_last_offset, "
    "int? padding_idx) -> (Tensor, Tensor, Tensor, Tensor)",
    work=cost_model.of(cost_model.looked_up, 0.1),
)
@shared_fields(shape=_public_bag_shapes)
def _public_embedding_bag(
    xp: Any,
    weight: Array,
    indices: Array,
    offsets: Array,
    scale_grad_by_freq: bool = False,
    mode: int = SUM,
    sparse: bool = False,
    per_sample_weights: Array | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> tuple[Array, Array, Array, Array]:
    return _embedding_bag(
        xp, weight, indices, offsets, scale_grad_by_freq, mode, sparse, per_sample_weights,
        include_last_offset, padding_row(weight.shape[0], padding_idx),
    )  # fmt: skip


# -------------------------------------------------------------------------------- pruned and saturated tables


@op(
    "aten::_rowwise_prune(Tensor weight, Tensor mask, ScalarType compressed_indices_dtype) -> (Tensor, "
    "Tensor)",
    layout=("contiguous", "contiguous"),
    shape=depends("_rowwise_prune"),
)
def _rowwise_prune(xp: Any, weight: Array, mask: Array, compressed_indices_dtype: int) -> tuple[Array, Array]:
    """Return the rows whose mask is true, and the new index of each row (-1 for a removed row)."""
    if mask.size != weight.shape[0]:
        raise RuntimeError(
            "Number of elements in 'mask' should be equivalent to the number of rows in 'weights'."
        )
    dtype = common.dtype_from(compressed_indices_dtype)
    if dtype not in (common.INT32, common.INT64):
        raise RuntimeError("compressed_indices_dtype should be either int(int32) or long(int64).")
    if weight.dtype == common.BOOL or weight.dtype.kind == "c":
        common.raise_unsupported_dtype("rowwise_prune_helper", weight.dtype)
    retained = mask.reshape(-1) != 0
    return weight[retained], xp.where(retained, xp.cumsum(retained) - 1, -1).astype(dtype)


@op("aten::_saturate_weight_to_fp16(Tensor weight) -> Tensor", side_effect=True, shape=itself)
def _saturate_weight(xp: Any, weight: Array) -> Array:
    """Clamp `weight` in place to the float16 range, although the schema declares no mutation."""
    if weight.dtype != common.FLOAT:
        raise RuntimeError(f"expected scalar type Float but found {common.NAME_OF[weight.dtype]}")
    largest = float(dtypes.finfo(dtypes.float16).max)
    weight[...] = xp.clip(weight, -largest, largest)
    return weight
