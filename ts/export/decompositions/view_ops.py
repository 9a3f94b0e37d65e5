"""Decompositions of views and shape operators to `view`, `permute`, `slice`, `expand`, `cat` ..."""

from __future__ import annotations

import math
from typing import Any

import ts
from ts._core.dispatch_layers import dispatch_modes
from ts._core.tensor.size_guards import evaluate_guard, is_provably_equal, known_one
from ts._core.tensor.tensor import Tensor
from ts._core.thread.context import TracingScope, current_tracer
from ts.export.decompositions.decomposition_table import decomposes, register_composed

aten = ts.ops.aten

register_composed(
    "aten::contiguous aten::tensor_split.sections aten::tensor_split.indices aten::hstack aten::vstack "
    "aten::dstack aten::column_stack aten::repeat_interleave.self_int "
    "aten::repeat_interleave.self_Tensor aten::meshgrid aten::meshgrid.indexing aten::cartesian_prod "
    "aten::diag aten::diagflat aten::positive aten::atleast_1d aten::atleast_2d aten::atleast_3d "
    "aten::atleast_1d.Sequence aten::atleast_2d.Sequence aten::atleast_3d.Sequence aten::hsplit.int "
    "aten::hsplit.array aten::vsplit.int aten::vsplit.array aten::dsplit.int aten::dsplit.array"
)


def _dim(x: Tensor, dim: int) -> int:
    return dim % x.dim() if x.dim() else 0


def swapped(x: Tensor, first: int, second: int) -> Tensor:
    """Swap the dimensions `first` and `second`."""
    dims = list(range(x.dim()))
    if len(dims) < 2:
        return aten.alias(x)
    first, second = _dim(x, first), _dim(x, second)
    dims[first], dims[second] = dims[second], dims[first]
    return aten.permute(x, dims)


@decomposes("aten::t")
@decomposes("aten::numpy_T", "aten::matrix_H", implicit=True)
def t(x: Tensor) -> Tensor:
    """Reverse the dimension order, which transposes a matrix."""
    return aten.permute(x, list(range(x.dim()))[::-1]) if x.dim() > 1 else aten.alias(x)


@decomposes("aten::mT", "aten::mH", implicit=True)
def mT(x: Tensor) -> Tensor:
    """Swap the last two dimensions."""
    return swapped(x, -2, -1)


@decomposes("aten::transpose.int")
def transpose(x: Tensor, dim0: int, dim1: int) -> Tensor:
    """Swap the dimensions `dim0` and `dim1`."""
    return swapped(x, dim0, dim1)


@decomposes("aten::movedim.intlist", implicit=True)
def movedim(x: Tensor, source: list[int], destination: list[int]) -> Tensor:
    """Move the dimensions `source` to the positions `destination`. Other dimensions keep their order."""
    source_dims = {_dim(x, d): _dim(x, s) for s, d in zip(source, destination, strict=True)}
    rest = iter(d for d in range(x.dim()) if d not in source_dims.values())
    return aten.permute(x, [source_dims[d] if d in source_dims else next(rest) for d in range(x.dim())])


@decomposes("aten::movedim.int", implicit=True)
def movedim_one(x: Tensor, source: int, destination: int) -> Tensor:
    """Move the dimension `source` to the position `destination`."""
    return movedim(x, [source], [destination])


@decomposes("aten::flatten.using_ints", implicit=True)
def flatten(x: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """Merge the dimensions from `start_dim` to `end_dim` into one."""
    if x.dim() == 0:
        return aten.reshape(x, [1])
    start, end = _dim(x, start_dim), _dim(x, end_dim)
    if start == end:
        return x
    shape = list(x.shape)
    return aten.reshape(x, [*shape[:start], math.prod(shape[start : end + 1]), *shape[end + 1 :]])


@decomposes("aten::ravel", implicit=True)
def ravel(x: Tensor) -> Tensor:
    """Flatten `x` to one dimension."""
    return aten.view(aten.contiguous(x), [-1])


@decomposes("aten::unflatten.int", implicit=True)
def unflatten(x: Tensor, dim: int, sizes: list[int]) -> Tensor:
    """Split the dimension `dim` into dimensions of the sizes `sizes`."""
    dim = _dim(x, dim)
    shape = list(x.shape)
    sizes = resolved(sizes, shape[dim])
    return aten.view(x, [*shape[:dim], *sizes, *shape[dim + 1 :]])


def resolved(shape: list[Any], count: Any) -> list[Any]:
    """Return `shape` with -1 replaced by the size that gives the shape `count` elements."""
    if not any(isinstance(n, int) and n == -1 for n in shape):
        return list(shape)
    others = [n for n in shape if not (isinstance(n, int) and n == -1)]
    rest = count // math.prod(others) if others else count
    return [rest if isinstance(n, int) and n == -1 else n for n in shape]


@decomposes("aten::_unsafe_view", "aten::_reshape_alias")
@decomposes("aten::reshape", "aten::reshape_as", "aten::view_as", implicit=True)
def reshape(x: Tensor, shape: Any, stride: Any = None) -> Tensor:
    """Return a view of `x` with the shape `shape`.

    If the strides of `x` do not allow a view, return a view of a contiguous copy.
    """
    requested = list(shape.shape if isinstance(shape, Tensor) else shape)
    is_explicit = not any(isinstance(n, int) and n == -1 for n in requested)
    shape = requested if is_explicit else resolved(requested, math.prod(x.shape))
    if can_view(x, shape):
        return aten.view(x, requested)
    return aten.view(aten.clone(x, memory_format=ts.contiguous_format), shape)


def can_view(x: Tensor, shape: list[Any]) -> bool:
    """Return True if `view` can give `x` the shape `shape` without copying."""
    recorder = current_tracer()
    if recorder is None or not recorder.is_decomposition:
        with TracingScope(None), dispatch_modes.without_all():
            return _can_view(x, shape)
    with recorder.guessing():
        return recorder.unrecorded(_can_view, x, shape)  # type: ignore[no-any-return]


def _can_view(x: Tensor, shape: list[Any]) -> bool:
    try:
        ts.empty_strided(list(x.shape), list(x.stride()), dtype=x.dtype, device="meta").view(shape)
    except RuntimeError:
        return False
    return True


@decomposes("aten::squeeze")
def squeeze(x: Tensor) -> Tensor:
    """Remove all dimensions of size 1."""
    return aten.squeeze.dims(x, list(range(x.dim())))


@decomposes("aten::squeeze.dim")
def squeeze_dim(x: Tensor, dim: int) -> Tensor:
    """Remove the dimension `dim` if its size is 1."""
    return aten.squeeze.dims(x, [dim])


@decomposes("aten::expand_as", implicit=True)
def expand_as(x: Tensor, other: Tensor) -> Tensor:
    """Expand `x` to the shape of `other`."""
    return aten.expand(x, list(other.shape))


@decomposes("aten::broadcast_to", implicit=True)
def broadcast_to(x: Tensor, size: list[int]) -> Tensor:
    """Broadcast `x` to the shape `size` by `expand`."""
    return aten.expand(x, size)


@decomposes("aten::broadcast_tensors", implicit=True)
def broadcast_tensors(tensors: list[Tensor]) -> list[Tensor]:
    """Broadcast tensors to their common shape."""
    shape = broadcast([list(x.shape) for x in tensors])
    return [x if list(x.shape) == shape else aten.expand(x, shape) for x in tensors]


def broadcast(shapes: list[list[Any]]) -> list[Any]:
    """Return the common shape to which `shapes` broadcast."""
    result: list[Any] = [1] * max(map(len, shapes))
    for shape in shapes:
        for d in range(1, len(shape) + 1):
            is_equal = is_provably_equal(shape[-d], result[-d])
            if not is_equal and (known_one(result[-d]) or not evaluate_guard(shape[-d] == 1)):
                result[-d] = shape[-d]
    return result


@decomposes("aten::narrow", implicit=True)
def narrow(x: Tensor, dim: int, start: Any, length: Any) -> Tensor:
    """Return `length` elements along `dim`, from the index `start`."""
    if evaluate_guard(start < 0):
        start = start + x.shape[dim]
    # Keep the operator if the end is out of range, because `narrow` then raises an error, but `slice` does
    # not.
    if not evaluate_guard(start + length <= x.shape[dim]):
        return NotImplemented
    return aten.slice.Tensor(x, dim, start, start + length)


@decomposes("aten::split.Tensor", "aten::unsafe_split.Tensor")
def split(x: Tensor, split_size: Any, dim: int = 0) -> list[Tensor]:
    """Split `x` along `dim` into parts of `split_size` elements. The last part may be smaller."""
    size = x.shape[dim]
    if evaluate_guard(split_size == 0):
        return [aten.alias(x)]
    count = max(int((size + split_size - 1) // split_size), 1)
    sizes = [split_size] * (count - 1) + [split_size - (split_size * count - size)]
    return aten.split_with_sizes(x, sizes, dim)


@decomposes("aten::unsafe_split_with_sizes")
@decomposes("aten::split.sizes", implicit=True)
def split_sizes(x: Tensor, sizes: list[Any], dim: int = 0) -> list[Tensor]:
    """Split `x` along `dim` into parts of the sizes `sizes`."""
    return aten.split_with_sizes(x, sizes, dim)


@decomposes("aten::chunk", "aten::unsafe_chunk", implicit=True)
def chunk(x: Tensor, chunks: int, dim: int = 0) -> list[Tensor]:
    """Split `x` along `dim` into at most `chunks` parts of equal size. The last part may be smaller."""
    size = x.shape[dim]
    return split(x, (size + chunks - 1) // chunks, dim)


@decomposes("aten::unbind.int")
def unbind(x: Tensor, dim: int = 0) -> list[Tensor]:
    """Return the slices of `x` along `dim`, without this dimension."""
    chunks = [aten.slice.Tensor(x, dim, k, k + 1) for k in range(int(x.shape[dim]))]
    return [aten.squeeze.dim(chunk, dim) for chunk in chunks]


@decomposes("aten::stack")
def stack(tensors: list[Tensor], dim: int = 0) -> Tensor:
    """Concatenate tensors along the new dimension `dim`."""
    first = tensors[0]
    dim = dim % (first.dim() + 1)
    if dim == first.dim():
        return aten.cat([aten.unsqueeze(x, dim) for x in tensors], dim)
    shape = list(first.shape)
    return aten.view(aten.cat(tensors, dim), [*shape[:dim], len(tensors), *shape[dim:]])


@decomposes("aten::tile", implicit=True)
def tile(x: Tensor, dims: list[int]) -> Tensor:
    """Repeat `x` along each dimension.

    `dims` contains the numbers of repetitions. If it is shorter than the shape, it applies to the last
    dimensions.
    """
    return aten.repeat(x, [1] * (x.dim() - len(dims)) + list(dims))


@decomposes("aten::rot90")
def rot90(x: Tensor, k: int = 1, dims: tuple[int, int] = (0, 1)) -> Tensor:
    """Rotate `x` by `k` quarter turns in the plane of the dimensions `dims`."""
    first, second = dims
    if k % 4 == 1:
        return swapped(aten.flip(x, [second]), first, second)
    if k % 4 == 2:
        return aten.flip(x, [first, second])
    if k % 4 == 3:
        return swapped(aten.flip(x, [first]), first, second)
    return aten.clone(x, memory_format=ts.contiguous_format)


@decomposes("aten::fliplr", implicit=True)
def fliplr(x: Tensor) -> Tensor:
    """Reverse the order of the columns (dimension 1)."""
    return aten.flip(x, [1])


@decomposes("aten::flipud", implicit=True)
def flipud(x: Tensor) -> Tensor:
    """Reverse the order of the rows (dimension 0)."""
    return aten.flip(x, [0])


@decomposes("aten::diag_embed")
def diag_embed(x: Tensor, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """Create matrices whose diagonals are the rows of `x` and whose other elements are 0."""
    n = x.dim() + 1
    first, second = dim1 % n, dim2 % n
    if first > second:
        first, second, offset = second, first, -offset
    size = x.shape[-1] + abs(offset)
    if offset:
        zeros = aten.full([*x.shape[:-1], abs(offset)], 0, dtype=x.dtype, device=x.device)
        x = aten.cat([zeros, x] if offset > 0 else [x, zeros], -1)
    expanded = aten.unsqueeze(x, first)
    order = list(range(expanded.dim()))
    order.remove(expanded.dim() - 1)
    order.insert(second, expanded.dim() - 1)
    expanded = aten.permute(expanded, order)
    columns = aten.arange(0, size, dtype=ts.int64, device=x.device)
    rows = aten.arange(0, size, dtype=ts.int64, device=x.device)
    if offset:
        rows = aten.add.Tensor(rows, offset)
    on_diagonal = aten.eq.Tensor(columns, aten.unsqueeze(rows, -1))
    shape = [size if d in (first, second) else 1 for d in range(n)]
    return aten.where.self(aten.view(on_diagonal, shape), expanded, zero_of(x))


def zero_of(x: Tensor, value: Any = 0) -> Tensor:
    """Create a 0-d tensor of `value` with the dtype and device of `x`."""
    return aten.scalar_tensor(value, dtype=x.dtype, device=x.device)


@decomposes("aten::linalg_diagonal", implicit=True)
def linalg_diagonal(x: Tensor, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """Return the diagonals of the matrices in the dimensions `dim1` and `dim2`."""
    return aten.diagonal(x, offset, dim1, dim2)


@decomposes("aten::roll")
def roll(x: Tensor, shifts: list[int], dims: list[int] = ()) -> Tensor:  # type: ignore[assignment]
    """Shift the elements of `x` cyclically by `shifts` along the dimensions `dims`."""
    if not dims:
        return aten.view(roll(flatten(x), shifts, [0]), list(x.shape))
    for shift, dim in zip(shifts, dims, strict=True):
        size = x.shape[dim]
        if not evaluate_guard(size != 0):
            return NotImplemented
        indices = aten.add.Tensor(aten.arange(size, device=x.device), (size - shift) % size)
        x = aten.index_select(x, dim, aten.fmod.Scalar(indices, size))
    return x


@decomposes("aten::channel_shuffle")
@decomposes("aten::native_channel_shuffle", implicit=True)
def channel_shuffle(x: Tensor, groups: int) -> Tensor:
    """Split the channels into `groups` groups and interleave the groups."""
    n, channels, *rest = list(x.shape)
    grouped = aten.view(x, [n, groups, channels // groups, *rest])
    return aten.reshape(swapped(grouped, 1, 2), list(x.shape))


@decomposes("aten::pixel_shuffle")
def pixel_shuffle(x: Tensor, factor: int) -> Tensor:
    """Rearrange blocks of factor² channels to an image that is `factor` times as high and wide."""
    *batch, channels, height, width = list(x.shape)
    n = len(batch)
    blocks = aten.view(x, [*batch, channels // factor**2, factor, factor, height, width])
    blocks = aten.permute(blocks, [*range(n), n, n + 3, n + 1, n + 4, n + 2])
    return _in_order(aten.reshape(blocks, [*batch, channels // factor**2, height * factor, width * factor]))


@decomposes("aten::pixel_unshuffle")
def pixel_unshuffle(x: Tensor, factor: int) -> Tensor:
    """Rearrange blocks of `factor` x `factor` pixels to channels."""
    *batch, channels, height, width = list(x.shape)
    n = len(batch)
    blocks = aten.view(x, [*batch, channels, height // factor, factor, width // factor, factor])
    blocks = aten.permute(blocks, [*range(n), n, n + 2, n + 4, n + 1, n + 3])
    return _in_order(aten.reshape(blocks, [*batch, channels * factor**2, height // factor, width // factor]))


def _in_order(x: Tensor) -> Tensor:
    return aten.clone(x, memory_format=ts.contiguous_format)


@decomposes("aten::block_diag")
def block_diag(tensors: list[Tensor]) -> Tensor:
    """Create a matrix with the matrices `tensors` along the diagonal and 0 in the other elements."""
    matrices = [x if x.dim() == 2 else aten.view(x, [1, -1]) for x in tensors]
    width = sum(x.shape[1] for x in matrices)
    rows, before = [], 0
    for x in matrices:
        n, m = x.shape
        left = aten.full([n, before], 0, dtype=x.dtype, device=x.device)
        right = aten.full([n, width - before - m], 0, dtype=x.dtype, device=x.device)
        rows.append(aten.cat([left, x, right], 1))
        before += m
    return aten.cat(rows)
