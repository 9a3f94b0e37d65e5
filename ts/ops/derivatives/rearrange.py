"""Derivatives of concatenation, repetition and rearrangement, by the inverse rearrangement."""

from __future__ import annotations

import ts
from ts import Tensor
from ts.ops.derivatives.common import underivable
from ts.ops.derivatives.formula_registry import LINEAR, compose, derive

# ---------------------------------------------------------------------------------------- concatenation


def cat_tensors_backward(grad: Tensor, sizes: list[list[int]], dim: int) -> list[Tensor]:
    """Return the gradients of the tensors that `cat` has concatenated.

    `cat` skips tensors of shape (0,). The gradient of such a tensor is an empty tensor.
    """
    slices: list[Tensor] = []
    at = 0
    for size in sizes:
        if size == [0]:
            slices.append(grad.new_zeros([0]))
        else:
            slices.append(grad.narrow(dim, at, size[dim]))
            at += size[dim]
    return slices


derive("aten::cat", tensors="cat_tensors_backward(grad, tensors.size(), dim)", result=LINEAR)
derive("aten::_chunk_cat", tensors="[underivable('aten::_chunk_cat')]")
derive("aten::stack aten::_stack", tensors="grad.unbind(dim)", result=LINEAR, name="StackBackward0")


def side_by_side(tensors: list[Tensor]) -> Tensor:
    """Compute `hstack`: concatenate along dimension 1, or along dimension 0 for vectors."""
    rows = ts.atleast_1d(tensors)
    return ts.cat(rows, 0 if rows[0].dim() == 1 else 1)


compose("aten::hstack", "side_by_side(tensors)")
compose("aten::vstack", "ts.cat(ts.atleast_2d(tensors), 0)")
compose("aten::dstack", "ts.cat(ts.atleast_3d(tensors), 2)")
compose(
    "aten::column_stack", "ts.cat([x.reshape([x.numel(), 1]) if x.dim() <= 1 else x for x in tensors], 1)"
)


def with_min_rank(x: Tensor, rank: int) -> Tensor:
    """Return `x`, or a view of `x` with `rank` (1, 2 or 3) dimensions if it has fewer."""
    if x.dim() == 0:
        return x.reshape([1] * rank)
    if x.dim() == 1 and rank > 1:
        x = x.unsqueeze(0)
    return x.unsqueeze(-1) if x.dim() == 2 and rank == 3 else x


for _rank in (1, 2, 3):
    compose(f"aten::atleast_{_rank}d", f"with_min_rank(self, {_rank})")
    compose(f"aten::atleast_{_rank}d.Sequence", f"[with_min_rank(x, {_rank}) for x in tensors]")


def broadcast_shape(first: list[int], second: list[int]) -> list[int]:
    """Return the common shape of two shapes. Raise RuntimeError if there is none."""
    rank = max(len(first), len(second))
    a = [1] * (rank - len(first)) + first
    b = [1] * (rank - len(second)) + second
    for k in range(rank):
        i = rank - 1 - k
        if a[i] == 1:
            a[i] = b[i]
        elif b[i] != 1 and a[i] != b[i]:
            raise RuntimeError(
                f"The size of tensor a ({a[i]}) must match the size of tensor b ({b[i]}) at non-singleton "
                f"dimension {i}"
            )
    return a


def broadcast(tensors: list[Tensor]) -> list[Tensor]:
    """Expand tensors to their common shape. A tensor of this shape is returned itself.

    The shape is computed from sizes only, because an operator on the tensors would have derivatives too.
    """
    shape: list[int] = []
    for x in tensors:
        shape = broadcast_shape(shape, x.size())
    return [x if x.size() == shape else x.expand(shape) for x in tensors]


compose("aten::broadcast_tensors", "broadcast(tensors)")


def grids(tensors: list[Tensor], indexing: str) -> list[Tensor]:
    """Compute `meshgrid`: each vector is expanded along all dimensions except its own.

    With indexing "xy", the first two dimensions are exchanged.
    """
    is_xy = indexing == "xy" and len(tensors) > 1
    if is_xy:
        tensors = [tensors[1], tensors[0]] + tensors[2:]
    sizes = [x.numel() for x in tensors]
    expanded: list[Tensor] = []
    for i, x in enumerate(tensors):
        shape = [1] * len(tensors)
        shape[i] = -1
        expanded.append(x.reshape(shape).expand(sizes))
    return [expanded[1], expanded[0]] + expanded[2:] if is_xy else expanded


compose("aten::meshgrid", "grids(tensors, 'ij')")
compose("aten::meshgrid.indexing", "grids(tensors, indexing)")


def blocks(grad: Tensor, sizes: list[list[int]]) -> list[Tensor]:
    """Return the gradients of `block_diag`: the diagonal block of `grad` for each tensor."""
    gradients: list[Tensor] = []
    row, column = 0, 0
    for size in sizes:
        rows = size[0] if len(size) == 2 else 1
        columns = size[-1] if len(size) > 0 else 1
        gradients.append(grad.narrow(0, row, rows).narrow(1, column, columns).reshape(size))
        row, column = row + rows, column + columns
    return gradients


derive("aten::block_diag", tensors="blocks(grad, tensors.size())", result=LINEAR)


def pairs(tensors: list[Tensor]) -> Tensor:
    """Return the Cartesian product of vectors."""
    for x in tensors:
        if x.dim() != 1:
            raise RuntimeError(f"Expect a 1D vector, but got shape {x.size()}")
    if len(tensors) == 1:
        return tensors[0]
    return ts.stack([grid.reshape(-1) for grid in grids(tensors, "ij")], 1)


def choices(x: Tensor, r: int, with_replacement: bool) -> Tensor:
    """Return all combinations of r elements of a vector, one per row."""
    positions = ts.combinations(ts.arange(x.size(0), device=x.device), r, with_replacement)
    return x.index_select(0, positions.reshape(-1)).reshape(positions.size())


compose("aten::cartesian_prod", "pairs(tensors)")
compose("aten::combinations", "choices(self, r, with_replacement)")

# ---------------------------------------------------------------------------------------- repetition


def of_repeated(grad: Tensor, sizes: list[int], repeats: list[int]) -> Tensor:
    """Return the gradient of `repeat`: the sum over all copies."""
    times = [1] * (len(sizes) - len(repeats)) + repeats
    lengths = [1] * (len(times) - len(sizes)) + sizes
    if len(times) == 0:
        return grad
    apart: list[int] = []
    for count, n in zip(times, lengths):
        apart += [count, n]
    return grad.reshape(apart).sum([2 * i for i in range(len(times))]).reshape(sizes)


def repeat_elements(x: Tensor, repeats: int, dim: int | None) -> Tensor:
    """Repeat each element `repeats` times consecutively along `dim`."""
    x = x.flatten() if dim is None or x.dim() == 0 else x
    at = 0 if dim is None else dim % x.dim()
    apart = list(x.size())
    apart.insert(at + 1, repeats)
    expanded = x.unsqueeze(at + 1).expand(apart)
    return expanded.clone(memory_format=ts.contiguous_format).flatten(at, at + 1)


def repeat_interleaved(x: Tensor, repeats: Tensor, dim: int | None, output_size: int | None) -> Tensor:
    """Repeat each element as often as `repeats` says at its index."""
    x = x.flatten() if dim is None or x.dim() == 0 else x
    at = 0 if dim is None else dim
    if repeats.dim() == 0 or repeats.size(0) == 1:
        repeats = repeats.reshape([1]).expand([x.size(at)])
    return x.index_select(at, ts.repeat_interleave(repeats, output_size=output_size))


derive("aten::repeat", self="of_repeated(grad, self.size(), repeats)", result=LINEAR)
derive("aten::tile", self="of_repeated(grad, self.size(), dims)", result=LINEAR, name="RepeatBackward0")
compose("aten::repeat_interleave.self_int", "repeat_elements(self, repeats, dim)")
compose("aten::repeat_interleave.self_Tensor", "repeat_interleaved(self, repeats, dim, output_size)")

# ---------------------------------------------------------------------------------------- rearrangement

derive("aten::flip", self="grad.flip(dims)", result=LINEAR)
derive("aten::fliplr", self="grad.fliplr()", result=LINEAR, name="FlipBackward0")
derive("aten::flipud", self="grad.flipud()", result=LINEAR, name="FlipBackward0")
derive("aten::roll", self="grad.roll([-n for n in shifts], dims)", result=LINEAR)
derive("aten::rot90", self="grad.rot90(-k, dims)", result=LINEAR)
derive("aten::tril", self="grad.tril(diagonal)", result=LINEAR)
derive("aten::triu", self="grad.triu(diagonal)", result=LINEAR)
compose(
    "aten::diag",
    "self.diag_embed(diagonal) if self.dim() == 1 else "
    "self.diagonal(diagonal).clone(memory_format=ts.contiguous_format)",
)
compose("aten::diagflat", "self.reshape(-1).diag_embed(offset)")
derive("aten::diag_embed", self="grad.diagonal(offset, dim1, dim2)", result=LINEAR)
derive(
    "aten::channel_shuffle aten::native_channel_shuffle",
    self="ts.channel_shuffle(grad, self.size(1) // groups)",
    result=LINEAR,
    name="ChannelShuffleBackward0",
)
derive("aten::pixel_shuffle", self="ts.pixel_unshuffle(grad, upscale_factor)", result=LINEAR)
derive("aten::pixel_unshuffle", self="ts.pixel_shuffle(grad, downscale_factor)", result=LINEAR)


def kronecker_product(a: Tensor, b: Tensor) -> Tensor:
    """Return the Kronecker product of `a` and `b`."""
    rank = max(a.dim(), b.dim())
    a_sizes = [1] * (rank - a.dim()) + list(a.size())
    b_sizes = [1] * (rank - b.dim()) + list(b.size())
    a_shape: list[int] = []
    b_shape: list[int] = []
    for n, m in zip(a_sizes, b_sizes):
        a_shape += [n, 1]
        b_shape += [1, m]
    return (a.reshape(a_shape) * b.reshape(b_shape)).reshape([n * m for n, m in zip(a_sizes, b_sizes)])


compose("aten::kron", "kronecker_product(self, other)")
