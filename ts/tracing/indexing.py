"""Indexing as traces record it: `x[...]` and `x[...] = value` taken apart into operators.

In: a tensor and whatever stands in the brackets, while a trace is recorded.  Out: the same as without a
trace, by calls of operators that are recorded:

    x[0, 1:]                 x.select(0, 0), then slice(dim=0, start=1, end=maxint, step=1) of that
    x[mask] = y              x.index_put_((mask,), y)

A bound or an index that is a tensor of one integer (a size, in a trace) stays a value of the trace.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from ts import dtypes
from ts._core.dispatch.overloads import overloads
from ts._core.tensor import construct
from ts._core.tensor.tensor import Tensor
from ts._core.thread.context import current_tracer

_LARGEST = sys.maxsize


def get_index(x: Tensor, index: Any, skip_whole: bool = False) -> Tensor:
    """x[index]; `skip_whole`: the slices `:` among several are no operators."""
    view, indices = _apply(x, index, skip_whole and isinstance(index, tuple))
    if any(i is not None for i in indices):
        return overloads("index")(view, indices)  # type: ignore[no-any-return]
    return overloads("alias")(x) if view is x else view


def put_index(x: Tensor, index: Any, value: Any, skip_whole: bool = False) -> None:
    """x[index] = value; `skip_whole`: slices `:` are no operators."""
    view, indices = _apply(x, index, skip_whole)
    if not isinstance(value, Tensor):
        value = _constant(value, x.dtype, x.device)
    if any(i is not None for i in indices):
        overloads("index_put_")(view, indices, _without_leading_ones(value), False)
    elif value.ndim == 0 < view.ndim:
        overloads("fill_")(view, value)
    else:
        view.copy_(_without_leading_ones(value) if value.ndim > view.ndim else value)  # type: ignore[attr-defined]


def _without_leading_ones(x: Tensor) -> Tensor:
    lengths = x.array.shape
    first = next((i for i, length in enumerate(lengths) if length != 1), len(lengths))
    return overloads("view")(x, list(lengths[first:])) if first else x  # type: ignore[no-any-return]


def _apply(x: Tensor, index: Any, skip_whole: bool) -> tuple[Tensor, list[Tensor | None]]:
    """The view by everything but index tensors, and the index tensors by dimension of it."""
    items = [_item(item) for item in (index if isinstance(index, tuple) else (index,))]
    taken = sum(_dimensions(item) for item in items)
    if taken > x.ndim:
        raise IndexError(f"too many indices for tensor of dimension {x.ndim}")
    view, dim, covered = x, 0, 0
    indices: list[Tensor | None] = []  # they are of the first `covered` dimensions of the view

    def at(tensor: Tensor, dimensions: int = 1) -> None:
        nonlocal dim, covered
        indices.extend([None] * (dim - covered))
        indices.append(tensor)
        dim = covered = dim + dimensions

    for item in items:
        if item is Ellipsis:
            dim += x.ndim - taken
        elif item is None:
            view = overloads("unsqueeze")(view, dim)
            dim += 1
        elif isinstance(item, bool):
            view = overloads("unsqueeze")(view, dim)
            at(_constant([item]))
        elif skip_whole and isinstance(item, slice) and item.start is item.stop is item.step is None:
            dim += 1
        elif isinstance(item, slice):
            start = 0 if item.start is None else item.start
            stop = _LARGEST if item.stop is None else item.stop
            view = overloads("slice")(view, dim, start, stop, 1 if item.step is None else item.step)
            dim += 1
        elif isinstance(item, Tensor) and item.ndim == 0 and not _is_integer(item):  # a mask of everything
            view = overloads("unsqueeze")(view, dim)
            at(overloads("unsqueeze")(item, 0))
        elif isinstance(item, Tensor) and not _is_integer(item):
            at(item, _dimensions(item))
        else:
            view = overloads("select")(view, dim, item)
    return view, indices


def _constant(data: Any, dtype: Any = None, device: Any = None) -> Tensor:
    """A tensor that is a constant of the trace."""
    return current_tracer().unrecorded(lambda: construct.tensor(data, dtype=dtype, device=device))  # type: ignore[no-any-return]


def _item(item: Any) -> Any:
    """An index as the operators take it."""
    if isinstance(item, list | tuple | range):
        return _constant(list(item), None if len(item) else dtypes.int64)
    if isinstance(item, np.ndarray):
        return _constant(item)
    if isinstance(item, np.integer):
        return int(item)
    return item


def _is_integer(x: Tensor) -> bool:
    return x.ndim == 0 and x.dtype.category == dtypes.INTEGRAL and x.dtype is not dtypes.uint8


def _dimensions(item: Any) -> int:
    """How many dimensions an index takes."""
    if item is None or item is Ellipsis or isinstance(item, bool):
        return 0
    if isinstance(item, Tensor) and item.dtype in (dtypes.bool_, dtypes.uint8):
        return int(item.ndim)
    return 1
