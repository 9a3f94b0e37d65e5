"""Decompositions of indexing operators to `index.Tensor`, `index_put`, `gather`, `where`."""

from __future__ import annotations

from typing import Any

import ts
from ts._core.tensor.tensor import Tensor
from ts.export.decompositions.decomposition_table import decomposes, register_composed
from ts.export.decompositions.view_ops import broadcast, flatten

aten = ts.ops.aten

register_composed(
    "aten::take_along_dim aten::cross aten::embedding_bag.padding_idx aten::embedding_bag "
    "aten::trapezoid.dx aten::trapz.dx"
)


def _along(x: Tensor, dim: int, index: Tensor) -> list[Tensor | None]:
    """Return the index list of `index.Tensor` that applies `index` along `dim`.

    The list contains None, which selects all elements, for each dimension before `dim`.
    """
    return [None] * (dim % max(x.dim(), 1)) + [index]


@decomposes("aten::index_add")
def index_add(x: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: Any = 1) -> Tensor:
    """Return `x` with slice i of `source`, times `alpha`, added to slice index[i] along `dim`."""
    source = source if alpha == 1 else aten.mul.Tensor(source, alpha)
    return aten.index_put(x, _along(x, dim, index), source, True)


@decomposes("aten::index_copy")
def index_copy(x: Tensor, dim: int, index: Tensor, source: Tensor) -> Tensor:
    """Return `x` with slice index[i] along `dim` replaced by slice i of `source`."""
    return aten.index_put(x, _along(x, dim, index), source)


@decomposes("aten::index_fill.int_Scalar")
def index_fill(x: Tensor, dim: int, index: Tensor, value: Any) -> Tensor:
    """Return `x` with the slices `index` along `dim` filled with the number `value`."""
    return _fill_index(x, dim, index, aten.scalar_tensor(value, dtype=x.dtype, device=x.device))


@decomposes("aten::index_fill.int_Tensor")
def index_fill_tensor(x: Tensor, dim: int, index: Tensor, value: Tensor) -> Tensor:
    """Return `x` with the slices `index` along `dim` filled with the 0-d tensor `value`."""
    return _fill_index(x, dim, index, value)


def _fill_index(x: Tensor, dim: int, index: Tensor, value: Tensor) -> Tensor:
    shape = list(x.shape)
    shape[dim % x.dim()] = index.numel()
    return aten.index_put(x, _along(x, dim, index), aten.expand(value, shape))


@decomposes("aten::take")
def take(x: Tensor, index: Tensor) -> Tensor:
    """Return elements of the flattened `x` at the indices `index`."""
    return aten.index.Tensor(aten.view(x, [-1]) if x.is_contiguous() else flatten(x), [index])


@decomposes("aten::argwhere", implicit=True)
def argwhere(x: Tensor) -> Tensor:
    """Return a matrix whose rows are the indices of the nonzero elements of `x`."""
    return aten.nonzero(x)


@decomposes("aten::linalg_cross")
def cross(x: Tensor, other: Tensor, *, dim: int = -1) -> Tensor:
    """Compute the cross product of vectors of size 3 along `dim`."""
    shape = broadcast([list(x.shape), list(other.shape)])
    x = x if list(x.shape) == shape else aten.expand(x, shape)
    other = other if list(other.shape) == shape else aten.expand(other, shape)
    indices = aten.arange(3, device=x.device)

    def turned(v: Tensor, offset: int) -> Tensor:
        return aten.index_select(v, dim, aten.remainder.Scalar(aten.add.Tensor(indices, offset), 3))

    first = aten.mul.Tensor(turned(x, 1), turned(other, 2))
    second = aten.mul.Tensor(turned(x, 2), turned(other, 1))
    return aten.sub.Tensor(first, second)


@decomposes("aten::item", implicit=True)
def item(x: Tensor) -> Any:
    """Return the single element of `x` as a number."""
    return aten._local_scalar_dense(x)
