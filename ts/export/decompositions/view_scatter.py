"""View inverses (inverses of view operators for functionalization), and the `*_scatter` operators.

Input: the base tensor, the view operator, and new elements of the view. Output: a copy of the base tensor
with these elements.

Example: `unview(select, x, y, (0, 1), None)` returns a copy of x in which y replaces `x.select(0, 1)`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ts
from ts._core.tensor.size_guards import equal
from ts._core.tensor.tensor import Tensor
from ts.export.decompositions.decomposition_table import decomposes

aten = ts.ops.aten

_inverse: dict[str, Callable[..., Tensor]] = {}


def unview(op: Any, before: Tensor, value: Tensor, arguments: tuple[Any, ...], index: int | None) -> Tensor:
    """Return `before` with its view `op(before, *arguments)` replaced by `value`.

    If `op` returns several views, `index` is the index of the replaced view, else None.
    """
    inverse = _inverse.get(op.key)
    if inverse is None:
        raise RuntimeError(
            f"a write to a view created by {op.key} cannot be replaced by an operator without writes"
        )
    return inverse(before, value, *arguments) if index is None else inverse(before, value, index, *arguments)


def _registers_inverse(*keys: str) -> Callable[[Callable[..., Tensor]], Callable[..., Tensor]]:
    def register(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
        for key in keys:
            _inverse[key] = function
        return function

    return register


@_registers_inverse("aten::alias", "aten::detach", "aten::lift_fresh", "aten::_conj", "aten::_neg_view")
def _return_value(before: Tensor, value: Tensor) -> Tensor:
    return value


@_registers_inverse("aten::view", "aten::_unsafe_view", "aten::_reshape_alias", "aten::reshape")
def _view(before: Tensor, value: Tensor, *arguments: Any) -> Tensor:
    return aten.view(value, list(before.shape))


@_registers_inverse("aten::view.dtype")
def _view_dtype(before: Tensor, value: Tensor, dtype: Any) -> Tensor:
    return aten.view.dtype(value, before.dtype)


@_registers_inverse("aten::expand")
def _expand(before: Tensor, value: Tensor, *arguments: Any) -> Tensor:
    if len(before.shape) != len(value.shape) or not all(map(equal, before.shape, value.shape)):
        raise RuntimeError("a write to an expanded view cannot be replaced by an operator without writes")
    return value


@_registers_inverse("aten::permute")
def _permute(before: Tensor, value: Tensor, dims: list[int]) -> Tensor:
    normalized_dims = [d % len(dims) for d in dims]
    return aten.permute(value, [normalized_dims.index(d) for d in range(len(dims))])


@_registers_inverse("aten::unsqueeze")
def _unsqueeze(before: Tensor, value: Tensor, dim: int) -> Tensor:
    return aten.squeeze.dim(value, dim)


@_registers_inverse("aten::squeeze", "aten::squeeze.dim", "aten::squeeze.dims")
def _squeeze(before: Tensor, value: Tensor, dims: Any = None) -> Tensor:
    named = range(before.dim()) if dims is None else [dims] if isinstance(dims, int) else dims
    for dim in sorted({d % before.dim() for d in named}):
        if before.shape[dim] == 1:
            value = aten.unsqueeze(value, dim)
    return value


@_registers_inverse("aten::select.int")
def _select(before: Tensor, value: Tensor, dim: int, index: int) -> Tensor:
    return aten.select_scatter(before, value, dim, index)


@_registers_inverse("aten::slice.Tensor")
def _slice(before: Tensor, value: Tensor, *arguments: Any) -> Tensor:
    return aten.slice_scatter(before, value, *arguments)


@_registers_inverse("aten::split_with_sizes")
def _split(before: Tensor, value: Tensor, index: int, sizes: list[int], dim: int = 0) -> Tensor:
    start = sum(sizes[:index])
    return aten.slice_scatter(before, value, dim, start, start + sizes[index])


@_registers_inverse("aten::split.Tensor")
def _split_evenly(before: Tensor, value: Tensor, index: int, size: Any, dim: int = 0) -> Tensor:
    return aten.slice_scatter(before, value, dim, index * size, index * size + value.shape[dim])


@_registers_inverse("aten::chunk")
def _chunk(before: Tensor, value: Tensor, index: int, chunks: int, dim: int = 0) -> Tensor:
    return _split_evenly(before, value, index, -(-before.shape[dim] // chunks), dim)


@_registers_inverse("aten::tensor_split.sections")
def _tensor_split(before: Tensor, value: Tensor, index: int, sections: int, dim: int = 0) -> Tensor:
    size = before.shape[dim]
    start = index * (size // sections) + ts.sym_min(index, size % sections)
    return aten.slice_scatter(before, value, dim, start, start + value.shape[dim])


@_registers_inverse("aten::tensor_split.indices")
def _tensor_split_at(before: Tensor, value: Tensor, index: int, indices: list[Any], dim: int = 0) -> Tensor:
    start = indices[index - 1] if index else 0
    return aten.slice_scatter(before, value, dim, start, start + value.shape[dim])


@_registers_inverse("aten::unbind.int")
def _unbind(before: Tensor, value: Tensor, index: int, dim: int = 0) -> Tensor:
    return aten.select_scatter(before, value, dim, index)


@_registers_inverse("aten::narrow")
def _narrow(before: Tensor, value: Tensor, dim: int, start: Any, length: Any) -> Tensor:
    return aten.slice_scatter(before, value, dim, start, start + length)


@_registers_inverse("aten::diagonal")
def _diagonal(before: Tensor, value: Tensor, *arguments: Any) -> Tensor:
    return aten.diagonal_scatter(before, value, *arguments)


@_registers_inverse("aten::as_strided")
def _as_strided(before: Tensor, value: Tensor, *arguments: Any) -> Tensor:
    return aten.as_strided_scatter(before, value, *arguments)


@_registers_inverse("aten::view_as_real")
def _view_as_real(before: Tensor, value: Tensor) -> Tensor:
    return aten.view_as_complex(value)


@_registers_inverse("aten::view_as_complex")
def _view_as_complex(before: Tensor, value: Tensor) -> Tensor:
    return aten.view_as_real(value)


# ---- decompositions of `*_scatter` operators, which the inverses call


@decomposes("aten::select_scatter")
def select_scatter(x: Tensor, src: Tensor, dim: int, index: int) -> Tensor:
    """Return `x` with the slice at `index` along `dim` replaced by `src`."""
    dim = dim % x.dim()
    size = x.shape[dim]
    indices = aten.arange(size, device=x.device)
    indices = aten.view(indices, [-1 if d == dim else 1 for d in range(x.dim())])
    is_selected = aten.eq.Scalar(indices, index + size if index < 0 else index)
    expanded = aten.expand(aten.unsqueeze(src, dim), list(x.shape))
    return aten.where.self(is_selected, expanded, x)
