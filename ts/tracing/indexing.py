"""Indexing in traces: `x[...]` and `x[...] = value` as recorded operators.

Input: a tensor and an index, while a trace is recorded. Output: the result of the indexing, computed by calls
of operators:

    x[0, 1:]                 x.select(0, 0), then slice(dim=0, start=1, end=maxint, step=1) of that
    x[mask] = y              x.index_put_((mask,), y)

An index or bound that is an integer tensor with one element, such as a size in a trace, remains a value of
the trace.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from ts import dtypes
from ts._core.dispatch.overloads import overloads
from ts._core.tensor import factories, size_guards
from ts._core.tensor.indexing import stands_for_tuple
from ts._core.tensor.sym_types import SymNumber
from ts._core.tensor.tensor import Tensor
from ts._core.thread.context import current_tracer

_MAX_INDEX = sys.maxsize


def get_index(
    x: Tensor,
    index: Any,
    skip_whole: bool = False,
    to_number: Callable[[Tensor], Any] | None = None,
    several: Callable[[Tensor], bool] | None = None,
) -> Tensor:
    """Return x[index], computed by operators.

    skip_whole    True if slices `:` within a tuple are not recorded
    to_number     function that converts a 0-dimensional tensor, used as an index or bound, to a number. If it
                  is given, omitted bounds of slices with a symbolic bound are passed to operators as None
    several       function that returns True if a 0-dimensional index tensor has a different value for each
                  batch element of `vmap`, so that it must be passed to `aten::index` as a tensor
    """
    skip = skip_whole and isinstance(index, tuple)
    view, indices = _apply(x, index, skip, to_number, to_number is not None, several)
    if any(i is not None for i in indices):
        return overloads("index")(view, indices)  # type: ignore[no-any-return]
    return overloads("alias")(x) if view is x else view


def put_index(
    x: Tensor,
    index: Any,
    value: Any,
    skip_whole: bool = False,
    to_number: Callable[[Tensor], Any] | None = None,
    several: Callable[[Tensor], bool] | None = None,
) -> None:
    """Execute x[index] = value as calls of traced ATen operators (`slice`, `select`, `index_put_` ...).

    With `skip_whole`, no `aten::slice` is recorded for a full slice `:`.
    """
    if not isinstance(value, Tensor):
        value = _constant(value, x.dtype, x.device)
    view, indices = _apply(x, index, skip_whole, to_number, several=several)
    if any(i is not None for i in indices):
        overloads("index_put_")(view, indices, _without_leading_ones(value), False)
    elif value.ndim == 0 < view.ndim:
        overloads("fill_")(view, value)
    else:
        view.copy_(_without_leading_ones(value) if value.ndim > view.ndim else value)  # type: ignore[attr-defined]


def _without_leading_ones(x: Tensor) -> Tensor:
    lengths = x.array.shape
    first = next((i for i, n in enumerate(lengths) if not size_guards.hinted(n) or n != 1), len(lengths))
    return overloads("view")(x, list(lengths[first:])) if first else x  # type: ignore[no-any-return]


def _apply(
    x: Tensor,
    index: Any,
    skip_whole: bool,
    to_number: Callable[[Tensor], Any] | None = None,
    keep_missing: bool = False,
    several: Callable[[Tensor], bool] | None = None,
) -> tuple[Tensor, list[Tensor | None]]:
    """Apply the items of an index that are no index tensors.

    Return the resulting view, and for each dimension of the view the index tensor, or None.
    """
    several_items = isinstance(index, tuple) or stands_for_tuple(index)
    items = [_item(item) for item in (index if several_items else (index,))]
    indexed_dims = sum(_dimensions(item) for item in items)
    if indexed_dims > x.ndim:
        raise IndexError(f"too many indices for tensor of dimension {x.ndim}")
    view, dim, covered = x, 0, 0
    symbolic = any(map(_is_symbolic, items))
    indices: list[Tensor | None] = []  # index tensors or None for the first `covered` dimensions of the view

    def at(tensor: Tensor, dimensions: int = 1) -> None:
        nonlocal dim, covered
        indices.extend([None] * (dim - covered))
        indices.append(tensor)
        dim = covered = dim + dimensions

    for item in items:
        if item is Ellipsis:
            dim += x.ndim - indexed_dims
        elif item is None:
            view = overloads("unsqueeze")(view, dim)
            dim += 1
        elif isinstance(item, bool):
            view = overloads("unsqueeze")(view, dim)
            at(_constant([item]))
        elif (
            skip_whole
            and isinstance(item, slice)
            and _covers_dimension(item, view.array.shape[dim], symbolic)
        ):
            dim += 1
        elif isinstance(item, slice):
            start, stop = item.start, item.stop
            if to_number is not None:
                start, stop = (to_number(n) if isinstance(n, Tensor) else n for n in (start, stop))
            if not keep_missing or not (isinstance(start, SymNumber) or isinstance(stop, SymNumber)):
                start = 0 if start is None else start
                stop = _MAX_INDEX if stop is None else stop
            view = overloads("slice")(view, dim, start, stop, 1 if item.step is None else item.step)
            dim += 1
        # `item` is a 0-dimensional mask, which selects the whole tensor or nothing.
        elif isinstance(item, Tensor) and item.ndim == 0 and not _is_integer(item):
            view = overloads("unsqueeze")(view, dim)
            at(overloads("unsqueeze")(item, 0))
        elif isinstance(item, Tensor) and not _is_integer(item):
            at(item, _dimensions(item))
        elif isinstance(item, Tensor) and several is not None and several(item):
            at(item)
        else:
            position = to_number(item) if to_number is not None and isinstance(item, Tensor) else item
            view = overloads("select")(view, dim, position)
    return view, indices


def _constant(data: Any, dtype: Any = None, device: Any = None, is_index: bool = False) -> Tensor:
    """Create a tensor and record it as a constant of the trace."""
    tracer = current_tracer()
    constant = tracer.unrecorded(lambda: factories.tensor(data, dtype=dtype, device=device))
    literal = tracer.literal(constant)
    if literal is None and is_index:
        tracer.record_constructed(constant, "index")
    return constant if literal is None else literal  # type: ignore[no-any-return]


def _index_constant(data: Any, dtype: Any = None) -> Tensor:
    """Record an index that is a list or an array as a constant index tensor."""
    return _constant(data, dtype, is_index=True)


def _item(item: Any) -> Any:
    """Convert a list, range or NumPy array in an index to a tensor, and a NumPy integer to an int."""
    if isinstance(item, list | tuple | range):
        return _index_constant(list(item), None if len(item) else dtypes.int64)
    if isinstance(item, np.ndarray):
        return _index_constant(item)
    if isinstance(item, np.integer):
        return int(item)
    return item


def _is_symbolic(item: Any) -> bool:
    """Return True if an index is symbolic, or is a slice with a symbolic bound."""
    bounds = (item.start, item.stop, item.step) if isinstance(item, slice) else (item,)
    return any(isinstance(bound, SymNumber) for bound in bounds)


def _covers_dimension(item: slice, length: Any, symbolic: bool) -> bool:
    """Return True if a slice covers a whole dimension. With `symbolic`, only the slice `:` does."""
    if symbolic:
        return item.start is item.stop is item.step is None
    bounds = (item.start or 0, _MAX_INDEX if item.stop is None else item.stop, item.step or 1)
    if not all(type(n) is int for n in bounds):
        return False
    start, stop, step = bounds
    return start == 0 and step == 1 and size_guards.certain(length <= stop)


def _is_integer(x: Tensor) -> bool:
    return x.ndim == 0 and x.dtype.category == dtypes.INTEGRAL and x.dtype is not dtypes.uint8


def _dimensions(item: Any) -> int:
    """Return the number of dimensions that an index consumes."""
    if item is None or item is Ellipsis or isinstance(item, bool):
        return 0
    if isinstance(item, Tensor) and item.dtype in (dtypes.bool_, dtypes.uint8):
        return int(item.ndim)
    return 1
