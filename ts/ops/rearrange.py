"""Operators that rearrange elements (concatenation, stacking, tiling, flipping, rolling, triangles).

Input: one or several arrays. Output: a new array.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np

from ts._core.tensor import size_guards
from ts._core.tensor.unbacked_sizes import get_ctx
from ts._core.thread import deadline
from ts.ops import common, cost_model, result_strides
from ts.ops.out_variants import COPIED, COPIED_OUT, SAME_DTYPE_OUT, TypeErrorMessage
from ts.ops.registry import op, shared_fields
from ts.ops.shape_functions import ShapeAndDtype, new_size
from ts.ops.view import expand_kernel, unsqueeze_axis

Array = common.Array
_CAT_CAST_ERROR = TypeErrorMessage("torch.cat(): input types can't be cast to the desired output type {got}")
_CHUNK_ELEMENTS: Final = 1 << 16  # number of elements created between two checks of the deadline


def cast_to_common_dtype(xp: Any, tensors: Sequence[Array]) -> list[Array]:
    """Return the arrays, cast to their common dtype."""
    dtype = common.result_type(*tensors)
    return [common.cast(xp, t, dtype) for t in tensors]


def concatenate(xp: Any, tensors: Sequence[Array], dim: int) -> Array:
    """Concatenate arrays along `dim`. Empty 1-dim arrays are skipped, as in PyTorch.

    An element of `tensors` is None if it is an undefined tensor, such as the default value of a script
    parameter `x: Tensor = None`. Undefined tensors are also skipped, because they have the shape (0,) in
    PyTorch.
    """
    tensors = [t for t in tensors if t is not None] or tensors
    if not tensors:
        raise ValueError("torch.cat(): expected a non-empty list of Tensors")
    for i, t in enumerate(tensors):
        if t.ndim == 0:
            raise RuntimeError(f"zero-dimensional tensor (at position {i}) cannot be concatenated")
    arrays = cast_to_common_dtype(xp, tensors)
    nonempty = [t for t in arrays if t.shape != (0,)] or arrays[:1]
    axis = common.wrap_dim(dim, nonempty[0].ndim)
    for i, t in enumerate(nonempty[1:], 1):
        if t.ndim != nonempty[0].ndim:
            raise RuntimeError(
                f"Tensors must have same number of dimensions: got {nonempty[0].ndim} and {t.ndim}"
            )
        for d in range(t.ndim):
            if d != axis and not size_guards.equal(t.shape[d], nonempty[0].shape[d]):
                raise RuntimeError(
                    f"Sizes of tensors must match except in dimension {axis}. Expected size "
                    f"{nonempty[0].shape[d]} but got size {t.shape[d]} for tensor number {i} in the list."
                )
    return xp.concatenate(nonempty, axis=axis)


@op(
    "aten::cat(Tensor[] tensors, int dim=0) -> Tensor",
    out="out",
    out_cast_error=_CAT_CAST_ERROR,
    sparse="view_ops.cat",
    graph_autodiff=True,
)
@op(
    "aten::concat(Tensor[] tensors, int dim=0) -> Tensor",
    out="out",
    same_as="aten::cat",
    out_cast_error=_CAT_CAST_ERROR,
    sparse="view_ops.cat",
)
@op(
    "aten::concatenate(Tensor[] tensors, int dim=0) -> Tensor",
    out="out",
    same_as="aten::cat",
    out_cast_error=_CAT_CAST_ERROR,
    sparse="view_ops.cat",
)
@shared_fields(layout="all_channels", autocast={"cpu": "widest"})
def _cat(xp: Any, tensors: Sequence[Array], dim: int = 0) -> Array:
    return concatenate(xp, tensors, dim)


@op(
    "aten::_chunk_cat(Tensor[] tensors, int dim, int num_chunks) -> Tensor",
    out="out",
    out_cast_error=_CAT_CAST_ERROR,
)
def _chunk_cat(xp: Any, tensors: Sequence[Array], dim: int, num_chunks: int) -> Array:
    if num_chunks <= 0:
        raise RuntimeError("_chunk_cat expects positive num_chunks")
    if not tensors:
        raise RuntimeError("_chunk_cat expects a non-empty input tensor list")
    first = tensors[0]
    if any(t.dtype != first.dtype for t in tensors):
        raise RuntimeError("_chunk_cat expects all input tensors with the same dtype")
    if any(not t.size for t in tensors):
        raise RuntimeError("_chunk_cat expects non-empty tensor")
    if dim < 0 and any(t.ndim != first.ndim for t in tensors):
        raise RuntimeError("_chunk_cat expects non-negative dim when input tensors have different ndims")
    axis = common.wrap_dim(dim, first.ndim) if dim < 0 else dim
    if any(axis >= t.ndim for t in tensors):
        raise RuntimeError("_chunk_cat expects dim < ndim for all input tensors")
    if any(t.shape[:axis] != first.shape[:axis] for t in tensors):
        raise RuntimeError("_chunk_cat expects same sizes of 0,...,dim-1 dimensions for all tensors")
    rows = []
    # pad each tensor with zeros at the end of `axis`, and flatten it to `num_chunks` chunks
    for t in tensors:
        inner = math.prod(t.shape[axis + 1 :])
        length = -(-t.shape[axis] // num_chunks)
        row = xp.zeros((*t.shape[:axis], num_chunks * length * inner), dtype=t.dtype)
        row[..., : t.shape[axis] * inner] = t.reshape((*t.shape[:axis], -1))
        rows.append(row.reshape((*t.shape[:axis], num_chunks, length * inner)))
    return xp.concatenate(rows, axis=-1)


@op(
    "aten::_stack(Tensor[] tensors, int dim=0) -> Tensor",
    layout="contiguous",
    out="out",
    out_cast_error=_CAT_CAST_ERROR,
    sparse="view_ops.stack",
)
@op(
    "aten::stack(Tensor[] tensors, int dim=0) -> Tensor",
    out="out",
    layout="contiguous",
    out_cast_error=_CAT_CAST_ERROR,
    autocast={"cpu": "widest"},
    sparse="view_ops.stack",
    graph_autodiff=True,
)
def _stack(xp: Any, tensors: Sequence[Array], dim: int = 0) -> Array:
    if not tensors:
        raise RuntimeError("stack expects a non-empty TensorList")
    for i, t in enumerate(tensors):
        if not size_guards.equal_shapes(t.shape, tensors[0].shape):
            raise RuntimeError(
                f"stack expects each tensor to be equal size, but got {list(tensors[0].shape)} at entry 0 "
                f"and {list(t.shape)} at entry {i}"
            )
    return xp.stack(cast_to_common_dtype(xp, tensors), common.wrap_dim(dim, tensors[0].ndim + 1))


def _require_tensors(name: str, tensors: Sequence[Array]) -> None:
    if not tensors:
        raise RuntimeError(f"{name} expects a non-empty TensorList")


@op(
    "aten::hstack(Tensor[] tensors) -> Tensor",
    out="out",
    layout="all_channels",
    out_cast_error=_CAT_CAST_ERROR,
    autocast={"cpu": "widest"},
)
def _hstack(xp: Any, tensors: Sequence[Array]) -> Array:
    _require_tensors("hstack", tensors)
    arrays = [_at_least(xp, t, 1) for t in tensors]
    return concatenate(xp, arrays, 0 if arrays[0].ndim == 1 else 1)


@op("aten::vstack(Tensor[] tensors) -> Tensor", out="out", out_cast_error=_CAT_CAST_ERROR)
@op(
    "aten::row_stack(Tensor[] tensors) -> Tensor",
    out="out",
    same_as="aten::vstack",
    out_cast_error=_CAT_CAST_ERROR,
)
@shared_fields(layout="all_channels", autocast={"cpu": "widest"})
def _vstack(xp: Any, tensors: Sequence[Array]) -> Array:
    _require_tensors("vstack", tensors)
    return concatenate(xp, [_at_least(xp, t, 2) for t in tensors], 0)


@op(
    "aten::dstack(Tensor[] tensors) -> Tensor",
    out="out",
    layout="all_channels",
    out_cast_error=_CAT_CAST_ERROR,
    autocast={"cpu": "widest"},
)
def _dstack(xp: Any, tensors: Sequence[Array]) -> Array:
    _require_tensors("dstack", tensors)
    return concatenate(xp, [_at_least(xp, t, 3) for t in tensors], 2)


@op(
    "aten::column_stack(Tensor[] tensors) -> Tensor",
    out="out",
    layout="all_channels",
    out_cast_error=_CAT_CAST_ERROR,
    autocast={"cpu": "widest"},
)
def _column_stack(xp: Any, tensors: Sequence[Array]) -> Array:
    _require_tensors("column_stack", tensors)
    return concatenate(xp, [t.reshape(t.size, 1) if t.ndim <= 1 else t for t in tensors], 1)


def _at_least(xp: Any, x: Array, n: int) -> Array:
    if not x.ndim:
        return x.reshape((1,) * n)
    # Insert a first dimension if x is a vector. If n is 3, also append a last dimension to a vector or
    # matrix.
    for axis in (0, 2)[x.ndim - 1 : n - 1]:
        x = unsqueeze_axis(x, axis)
    return x


@op("aten::atleast_1d(Tensor self) -> Tensor", gives_self=True, composes_views=True)
def _atleast_1d(xp: Any, self: Array) -> Array:
    return _at_least(xp, self, 1)


@op("aten::atleast_2d(Tensor self) -> Tensor", gives_self=True, composes_views=True)
def _atleast_2d(xp: Any, self: Array) -> Array:
    return _at_least(xp, self, 2)


@op("aten::atleast_3d(Tensor self) -> Tensor", gives_self=True, composes_views=True)
def _atleast_3d(xp: Any, self: Array) -> Array:
    return _at_least(xp, self, 3)


def _with_deadline_checks(tensors: Sequence[Array]) -> Iterator[Array]:
    """Yield `tensors`. Before each section of 1024 tensors, check the time limit of `ts.limits`."""
    for start in range(0, len(tensors), 1024):
        piece = tensors[start : start + 1024]
        deadline.charge(500.0 * len(piece))
        yield from piece


@op("aten::atleast_1d.Sequence(Tensor[] tensors) -> Tensor[]", composes_views=True)
def _atleast_1d_all(xp: Any, tensors: Sequence[Array]) -> list[Array]:
    return [_at_least(xp, t, 1) for t in _with_deadline_checks(tensors)]


@op("aten::atleast_2d.Sequence(Tensor[] tensors) -> Tensor[]", composes_views=True)
def _atleast_2d_all(xp: Any, tensors: Sequence[Array]) -> list[Array]:
    return [_at_least(xp, t, 2) for t in _with_deadline_checks(tensors)]


@op("aten::atleast_3d.Sequence(Tensor[] tensors) -> Tensor[]", composes_views=True)
def _atleast_3d_all(xp: Any, tensors: Sequence[Array]) -> list[Array]:
    return [_at_least(xp, t, 3) for t in _with_deadline_checks(tensors)]


@op("aten::broadcast_tensors(Tensor[] tensors) -> Tensor[]", composes_views=True)
def _broadcast_tensors(xp: Any, tensors: Sequence[Array]) -> list[Array]:
    shape = common.broadcast_shapes(*(t.shape for t in _with_deadline_checks(tensors)))
    return [
        t if len(t.shape) == len(shape) and all(map(size_guards.is_provably_equal, t.shape, shape))
        else expand_kernel(xp, t, shape)
        for t in _with_deadline_checks(tensors)
    ]  # fmt: skip


def _check_same_dtype(tensors: Sequence[Array]) -> None:
    """Raise a RuntimeError if the tensors of `meshgrid` have several dtypes."""
    if any(t.dtype != tensors[0].dtype for t in tensors):
        raise RuntimeError("meshgrid expects all tensors to have the same dtype")


@op("aten::meshgrid(Tensor[] tensors) -> Tensor[]", composes_views=True)
@op("aten::meshgrid.indexing(Tensor[] tensors, *, str indexing) -> Tensor[]", composes_views=True)
def _meshgrid(xp: Any, tensors: Sequence[Array], indexing: str = "ij") -> list[Array]:
    if not tensors:
        raise RuntimeError("meshgrid expects a non-empty TensorList")
    for t in tensors:
        if t.ndim > 1:
            raise RuntimeError(
                f"torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got: shape {list(t.shape)}"
            )
    _check_same_dtype(tensors)
    if indexing not in ("ij", "xy"):
        raise RuntimeError(
            f'torch.meshgrid: indexing must be one of "xy" or "ij", but received: {indexing}'
        )
    return _grids(xp, tensors, indexing)


def _grids(xp: Any, tensors: Sequence[Array], indexing: str) -> list[Array]:
    """Expand each vector or 0-dim array along all dimensions except its own.

    With indexing "xy", the first two dimensions are exchanged.
    """
    order = list(range(len(tensors)))
    if indexing == "xy" and len(tensors) > 1:
        order[:2] = [1, 0]
    vectors = [tensors[i].reshape(-1) for i in order]
    shape = [x.shape[0] for x in vectors]
    grids = [
        expand_kernel(xp, x.reshape([-1 if d == i else 1 for d in range(len(vectors))]), shape)
        for i, x in enumerate(vectors)
    ]
    return [grids[i] for i in order]


@op("aten::block_diag(Tensor[] tensors) -> Tensor", **COPIED_OUT)
def _block_diag(xp: Any, tensors: Sequence[Array]) -> Array:
    if not tensors:
        return xp.zeros((1, 0), dtype=common.default_dtype())
    for i, t in enumerate(tensors):
        if t.ndim > 2:
            raise RuntimeError(
                f"torch.block_diag: Input tensors must have 2 or fewer dimensions. Input {i} has {t.ndim} "
                "dimensions"
            )
    blocks = [_at_least(xp, t, 2) for t in tensors]
    result = xp.zeros([sum(b.shape[i] for b in blocks) for i in (0, 1)], dtype=common.result_type(*tensors))
    row = column = 0
    for b in blocks:
        result[row : row + b.shape[0], column : column + b.shape[1]] = b
        row, column = row + b.shape[0], column + b.shape[1]
    return result


@op("aten::cartesian_prod(Tensor[] tensors) -> Tensor", autocast={"cpu": "widest"}, composes_views=True)
def _cartesian_prod(xp: Any, tensors: Sequence[Array]) -> Array:
    for t in tensors:
        if t.ndim != 1:
            raise RuntimeError(f"Expect a 1D vector, but got shape {list(t.shape)}")
    if len(tensors) == 1:
        return tensors[0]
    _check_same_dtype(tensors)
    return xp.stack([g.reshape(-1) for g in _grids(xp, tensors, "ij")], 1)


def _combinations_shape(self: Array, r: int = 2, with_replacement: bool = False) -> ShapeAndDtype:
    """Return shape and dtype of all r-combinations."""
    if self.ndim != 1:
        raise RuntimeError(f"Expect a 1D vector, but got shape {list(self.shape)}")
    if r < 0:
        raise RuntimeError(f"Expect a non-negative number, but got {r}")
    count = math.comb(self.size + r - 1 if with_replacement and self.size else self.size, r)
    return (0,) if r == 0 else (count, r), self.dtype


@op(
    "aten::combinations(Tensor self, int r=2, bool with_replacement=False) -> Tensor",
    shape=_combinations_shape,
)
def _combinations(xp: Any, self: Array, r: int = 2, with_replacement: bool = False) -> Array:
    _combinations_shape(self, r)
    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    count = math.comb(self.size + with_replacement * (r - 1), r) if r else 0
    if count == 0:
        return xp.empty((0,) if r == 0 else (0, r), dtype=self.dtype)
    common.check_sizes([count, r])
    indices = np.empty((count, r), np.int64)
    flat, size = indices.reshape(-1), count * r
    numbers = itertools.chain.from_iterable(choose(range(self.size), r))
    for start in range(0, size, _CHUNK_ELEMENTS):
        piece = min(_CHUNK_ELEMENTS, size - start)
        flat[start : start + piece] = np.fromiter(numbers, np.int64, piece)
        deadline.charge(20.0 * piece)
    return self[xp.asarray(indices)]


# ---------------------------------------------------------------------------- repetition, flips and rotations


@op(
    "aten::repeat(Tensor self, SymInt[] repeats) -> Tensor",
    where="m",
    work=cost_model.of(cost_model.repeated_elements, 0.1),
    **COPIED_OUT,
)
def _repeat(xp: Any, self: Array, repeats: Sequence[int]) -> Array:
    if len(repeats) < self.ndim:
        raise RuntimeError(
            "Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor"
        )
    return _tile(xp, self, repeats)


@op("aten::tile(Tensor self, SymInt[] dims) -> Tensor", work=cost_model.of(cost_model.repeated_elements, 0.1))
def _tile(xp: Any, self: Array, repeats: Sequence[int]) -> Array:
    lengths = (1,) * (len(repeats) - self.ndim) + self.shape
    padded = (1,) * (len(lengths) - len(repeats)) + tuple(repeats)
    common.check_sizes([n * count for n, count in zip(lengths, padded, strict=True)])
    return xp.tile(self, tuple(repeats)) if len(repeats) else self.copy()


@op(
    "aten::repeat_interleave.self_int(Tensor self, SymInt repeats, int? dim=None, *, SymInt? "
    "output_size=None) -> Tensor",
    work=cost_model.of(cost_model.repeated_elements, 0.1),
)
def _repeat_interleave(
    xp: Any, self: Array, repeats: int, dim: int | None = None, output_size: int | None = None
) -> Array:
    if isinstance(repeats, int) and repeats < 0:
        raise RuntimeError("Repeats must be non-negative")
    if dim is None:
        return _repeated(xp, self.reshape(-1), repeats, 0)
    return _repeated(xp, xp.atleast_1d(self), repeats, common.wrap_dim(dim, self.ndim))


def _repeated(xp: Any, x: Array, repeats: Any, axis: int) -> Array:
    """Call `xp.repeat`. Raise RuntimeError if the result's size overflows, which NumPy does not check."""
    if not xp.shapes_only:
        each = x.shape[axis] if isinstance(repeats, int) or repeats.ndim == 0 else 1
        total = each * (repeats if isinstance(repeats, int) else int(repeats.sum(dtype=common.DOUBLE)))
        common.check_storage((*x.shape[:axis], total, *x.shape[axis + 1 :]), x.dtype)
        if not x.size:
            return xp.empty((*x.shape[:axis], total, *x.shape[axis + 1 :]), dtype=x.dtype)
    return xp.repeat(x, repeats, axis=axis)


def _check_counts(self: Array, counts: Array, dim: int | None) -> None:
    """Raise RuntimeError unless there is one count, or one per element along `dim`."""
    length = self.size if dim is None else self.shape[common.wrap_dim(dim, self.ndim)] if self.ndim else 1
    if (
        counts.ndim == 1
        and not size_guards.known_one(counts.size)
        and not size_guards.equal(counts.size, length)
    ):
        raise RuntimeError(
            f"repeats must have the same size as input along dim, but got repeats.size(0) = {counts.size} "
            f"and input.size({0 if dim is None else dim}) = {length}"
        )


def _repeated_shape(
    self: Array, repeats: Array, dim: int | None = None, output_size: int | None = None
) -> ShapeAndDtype:
    """Return shape and dtype of the result of `repeat_interleave` with a tensor `self`.

    If `output_size` is None, the length of the repeated dimension is a new symbol.
    """
    return _counted_shape(repeats, output_size, self, dim)


def _counted_shape(
    repeats: Array, output_size: int | None = None, self: Array | None = None, dim: int | None = None
) -> ShapeAndDtype:
    """Return shape and dtype of repeated indices, or of repeated elements of `self`."""
    if output_size is None:
        if get_ctx().new_size is None:
            raise RuntimeError("cannot repeat_interleave a meta tensor without output_size")
        output_size = new_size()
    if self is not None:
        _check_counts(self, repeats, dim)
    if self is None:
        return (output_size,), common.INT64
    if dim is None or not self.ndim:
        return (output_size,), self.dtype
    axis = common.wrap_dim(dim, self.ndim)
    return (*self.shape[:axis], output_size, *self.shape[axis + 1 :]), self.dtype


@op(
    "aten::repeat_interleave.self_Tensor(Tensor self, Tensor repeats, int? dim=None, *, SymInt? "
    "output_size=None) -> Tensor",
    shape=_repeated_shape,
)
def _repeat_interleave_tensor(
    xp: Any, self: Array, repeats: Array, dim: int | None = None, output_size: int | None = None
) -> Array:
    if repeats.dtype not in (common.INT64, common.INT32):
        raise RuntimeError("repeats has to be Long or Int tensor")
    if repeats.ndim > 1:
        raise RuntimeError("repeats must be 0-dim or 1-dim tensor")
    repeats = common.copy_indices(repeats)
    counts = repeats if repeats.ndim == 0 or repeats.size != 1 else repeats.reshape(())
    if counts.size and int(counts.min()) < 0:
        raise RuntimeError("repeats can not be negative")
    _check_counts(self, counts, dim)
    return _repeat_interleave(xp, self, counts, dim)


@op(
    "aten::repeat_interleave.Tensor(Tensor repeats, *, SymInt? output_size=None) -> Tensor",
    out="Tensor_out",
    order="Tensor self_Tensor",
    shape=_counted_shape,
    **COPIED,
)
def _repeat_interleave_counts(xp: Any, repeats: Array, output_size: int | None = None) -> Array:
    if repeats.ndim != 1:
        raise RuntimeError("repeat_interleave only accept 1D vector as repeat")
    if repeats.dtype not in (common.INT64, common.INT32):
        common.raise_unsupported_dtype("repeat_interleave_cpu", repeats.dtype)
    repeats = common.copy_indices(repeats)
    if repeats.size and not xp.shapes_only and int(repeats.min()) < 0:
        raise RuntimeError("repeats can not be negative")
    return _repeated(xp, xp.arange(repeats.size), repeats, 0)


@op("aten::flip(Tensor self, int[] dims) -> Tensor", layout="like_first", **COPIED_OUT)
def _flip(xp: Any, self: Array, dims: Sequence[int]) -> Array:
    axes = common.wrap_dims(dims, self.ndim) if len(dims) else ()
    return xp.flip(self, axes).copy() if axes else self.copy()


for _name, _min_dims in (("fliplr", 2), ("flipud", 1)):

    @op(f"aten::{_name}(Tensor self) -> Tensor", layout="like_first")
    def _flip_matrix(xp: Any, self: Array, name: str = _name, min_dims: int = _min_dims) -> Array:
        if self.ndim < min_dims:
            raise RuntimeError(f"Input must be >= {min_dims}-d.")
        return getattr(xp, name)(self).copy()


@op("aten::roll(Tensor self, SymInt[1] shifts, int[1] dims=[]) -> Tensor", layout="channels", **COPIED_OUT)
def _roll(xp: Any, self: Array, shifts: Sequence[int], dims: Sequence[int] = ()) -> Array:
    if not len(shifts):
        raise RuntimeError("`shifts` required")
    if not len(dims) and len(shifts) == 1:
        return xp.roll(self, shifts[0])
    if len(shifts) != len(dims):
        raise RuntimeError(f"shifts and dimensions must align. shifts: {len(shifts)}, dims:{len(dims)}")
    if 0 in self.shape:
        return self.copy()
    if not self.ndim:
        raise IndexError(f"Dimension specified as {dims[0]} but tensor has no dimensions")
    return xp.roll(self, tuple(shifts), tuple(common.wrap_dim(d, self.ndim) for d in dims))


@op("aten::rot90(Tensor self, int k=1, int[] dims=[0, 1]) -> Tensor", **COPIED_OUT)
def _rot90(xp: Any, self: Array, k: int = 1, dims: Sequence[int] = (0, 1)) -> Array:
    if len(dims) != 2:
        raise RuntimeError(f"expected total rotation dims == 2, but got dims = {len(dims)}")
    if self.ndim < 2:
        raise RuntimeError(f"expected total dims >= 2, but got total dims = {self.ndim}")
    rotated = xp.rot90(self, k, tuple(dims))
    if k % 2 == 0:
        return result_strides.with_result_strides(
            xp, "like_first" if k % 4 else "contiguous", rotated.copy(), [self]
        )
    # For odd k, PyTorch flips a copy in the memory order of `self` and returns a transposed view of it.
    a, b = dims
    flipped = rotated.swapaxes(a, b).copy()
    return result_strides.with_result_strides(xp, "like_first", flipped, [self]).swapaxes(a, b)


# ------------------------------------------------------------------------------------ triangles and diagonals


def _triangle(xp: Any, name: str, self: Array, diagonal: int) -> Array:
    if self.ndim < 2:
        raise RuntimeError(f"{name}: input tensor must have at least 2 dimensions")
    return getattr(xp, name)(self, common.diagonal_within(diagonal, self.shape[-2], self.shape[-1]))


for _name in ("tril", "triu"):

    @op(
        f"aten::{_name}(Tensor self, SymInt diagonal=0) -> Tensor",
        inplace=True,
        overlap=2,
        layout="contiguous",
        **SAME_DTYPE_OUT,
    )
    def _one_triangle(xp: Any, self: Array, diagonal: int = 0, name: str = _name) -> Array:
        return _triangle(xp, name, self, diagonal)


@op("aten::diag(Tensor self, int diagonal=0) -> Tensor", **SAME_DTYPE_OUT)
def _diag(xp: Any, self: Array, diagonal: int = 0) -> Array:
    if self.ndim not in (1, 2):
        raise RuntimeError(f"diag(): Supports 1D or 2D tensors. Got {self.ndim}D")
    if self.ndim == 2:
        diagonal = common.diagonal_within(diagonal, *self.shape)
    else:
        common.check_storage([self.shape[0] + abs(diagonal)] * 2, self.dtype)
    return xp.diag(self, diagonal).copy()


@op("aten::diagflat(Tensor self, int offset=0) -> Tensor")
def _diagflat(xp: Any, self: Array, offset: int = 0) -> Array:
    return xp.diagflat(self, offset)


@op(
    "aten::diag_embed(Tensor self, int offset=0, int dim1=-2, int dim2=-1) -> Tensor",
    work=cost_model.of(cost_model.square_matrix_elements, 0.1),
    **COPIED_OUT,
)
def _diag_embed(xp: Any, self: Array, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Array:
    a, b = common.wrap_dim(dim1, self.ndim + 1), common.wrap_dim(dim2, self.ndim + 1)
    if a == b:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    n = self.shape[-1]
    result = xp.zeros((*self.shape[:-1], n + abs(offset), n + abs(offset)), dtype=self.dtype)
    diagonal_index = xp.arange(n)
    result[..., diagonal_index + max(-offset, 0), diagonal_index + max(offset, 0)] = self
    return xp.moveaxis(result, (-2, -1), (a, b))


@op("aten::channel_shuffle(Tensor self, SymInt groups) -> Tensor", **COPIED_OUT, always_copies=True)
@op("aten::native_channel_shuffle(Tensor self, SymInt groups) -> Tensor", where="f", always_copies=True)
@shared_fields(layout="channels")
def _channel_shuffle(xp: Any, self: Array, groups: int) -> Array:
    if self.ndim <= 2:
        raise RuntimeError(
            f"channel_shuffle expects input with > 2 dims, but got input with sizes {list(self.shape)}"
        )
    if groups <= 0:
        raise RuntimeError(
            f"Number of groups to divide channels in must be positive. Value of groups:{groups}"
        )
    if size_guards.evaluate_guard(self.shape[1] % groups != 0):
        raise RuntimeError(
            "Number of channels must be divisible by groups. "
            f"Got {self.shape[1]} channels and {groups} groups."
        )
    n, c, *rest = self.shape
    return self.reshape(n, groups, c // groups, *rest).swapaxes(1, 2).copy().reshape(self.shape)


@op(
    "aten::pixel_shuffle(Tensor self, int upscale_factor) -> Tensor", layout="channels", **COPIED_OUT,
    always_copies=True,
)  # fmt: skip
def _pixel_shuffle(xp: Any, self: Array, upscale_factor: int) -> Array:
    r = upscale_factor
    if self.ndim < 3:
        raise RuntimeError(
            f"pixel_shuffle expects input to have at least 3 dimensions, but got input with "
            f"{self.ndim} dimension(s)"
        )
    if r <= 0:
        raise RuntimeError(f"pixel_shuffle expects a positive upscale_factor, but got {r}")
    *batch, c, h, w = self.shape
    if size_guards.evaluate_guard(c % (r * r) != 0):
        raise RuntimeError(
            "pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of "
            f"upscale_factor, but input.size(-3)={c} is not divisible by {r * r}"
        )
    x = self.reshape(*batch, c // (r * r), r, r, h, w)
    k = len(batch)
    x = x.transpose(*range(k), k, k + 3, k + 1, k + 4, k + 2)
    # A copy, so that the result is never a view of the argument
    return x.copy().reshape(*batch, c // (r * r), h * r, w * r)


@op(
    "aten::pixel_unshuffle(Tensor self, int downscale_factor) -> Tensor",
    layout="channels",
    **COPIED_OUT,
    always_copies=True,
)
def _pixel_unshuffle(xp: Any, self: Array, downscale_factor: int) -> Array:
    r = downscale_factor
    if self.ndim < 3:
        raise RuntimeError(
            f"pixel_unshuffle expects input to have at least 3 dimensions, but got input with {self.ndim} "
            "dimension(s)"
        )
    if r <= 0:
        raise RuntimeError(f"pixel_unshuffle expects a positive downscale_factor, but got {r}")
    for dim, name in ((-2, "height"), (-1, "width")):
        if size_guards.evaluate_guard(self.shape[dim] % r != 0):
            raise RuntimeError(
                f"pixel_unshuffle expects {name} to be divisible by downscale_factor, but "
                f"input.size({dim})={self.shape[dim]} is not divisible by {r}"
            )
    *batch, c, h, w = self.shape
    x = self.reshape(*batch, c, h // r, r, w // r, r)
    k = len(batch)
    x = x.transpose(*range(k), k, k + 2, k + 4, k + 1, k + 3)
    return x.copy().reshape(*batch, c * r * r, h // r, w // r)


@op("aten::kron(Tensor self, Tensor other) -> Tensor", out="out", layout="like_all")
def _kron(xp: Any, self: Array, other: Array) -> Array:
    return xp.kron(*cast_to_common_dtype(xp, [self, other]))
