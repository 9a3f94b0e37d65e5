"""Pooling of floating and integer arrays on the CPU, by `ts.backends.cpu.kernels.pooling_windows`.

Input: an array and its windows, checked by `ts.ops.pooling`. Output: maxima with or without indices, or
means.

16-bit floats are computed in float32, and maxima of integers in int64. For means of integers, the operator's
Python kernel runs.
"""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ts.backends.cpu.kernels.pooling_windows import Table, max_of_windows, mean_of_windows

from ..base import Kernel, default_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ts.ops.pooling_geometry import Windows

    Array = NDArray[Any]

_MAX_PLANE_ELEMENTS = 1 << 30  # planes with this many elements or more are not supported


def _planes(x: Array, n: int, dtype: Any) -> Array:
    """Return the array viewed as (planes, depth, height, width), contiguous and aligned."""
    sizes = (1,) * (3 - n) + x.shape[-n:]
    lead = 1
    for length in x.shape[:-n]:
        lead *= length
    return np.require(x, dtype, ["C", "A"]).reshape(lead, *sizes)


def _table(w: Windows, planes: Array, n: int) -> Table:
    if w.table is None:
        zero, one = np.zeros(1, np.int64), np.ones(1, np.int64)
        more = 3 - n
        w.table = Table(
            planes.shape[1:], (zero,) * more + w.begin, (one,) * more + w.stop, (1,) * more + w.dilation
        )
    table: Table = w.table
    return table


def _has_empty_window(w: Windows) -> bool:
    """Return True if a window has no elements, because it is entirely in the padding."""
    return any(bool((begin >= stop).any()) for begin, stop in zip(w.begin, w.stop, strict=True))


def maxima(general: Kernel, xp: Any, x: Array, w: Windows, with_indices: bool) -> Any:
    """Return the maxima of all windows, or (maxima, indices) if `with_indices`.

    For empty or very large inputs, the kernel `general` runs.
    """
    n = len(w.output_size)
    if x.size == 0 or math.prod(x.shape[-n:]) >= _MAX_PLANE_ELEMENTS:
        return general(xp, x, w, with_indices)
    wide = x.dtype if x.dtype.char in "fd" else np.dtype(np.int64 if x.dtype.kind in "iu" else np.float32)
    planes = _planes(x, n, wide)
    table = _table(w, planes, n)
    out = np.empty((len(planes), *table.output_size()), wide)
    index = np.empty(out.shape, np.int64) if with_indices else None
    max_of_windows(table, planes, out, index)
    shape = (*x.shape[:-n], *w.output_size)
    if x.dtype.kind in "iu" and x.dtype.itemsize < wide.itemsize and _has_empty_window(w):
        # A window entirely in the padding has the lowest int64, which `astype` would convert to 0.
        np.maximum(out, np.iinfo(x.dtype).min, out=out)
    result = out.reshape(shape).astype(x.dtype, copy=False)
    return (result, index.reshape(shape)) if index is not None else result


def means(general: Kernel, xp: Any, x: Array, w: Windows, divisor: Any) -> Array:
    """Return the sum of each window, divided by `divisor`: a number, or an array with one number per window.

    For integers, and for empty or very large inputs, the kernel `general` runs.
    """
    n = len(w.output_size)
    if x.size == 0 or x.dtype.kind in "iu" or math.prod(x.shape[-n:]) >= _MAX_PLANE_ELEMENTS:
        result: Array = general(xp, x, w, divisor)
        return result
    wide = x.dtype if x.dtype.char in "fd" else np.dtype(np.float32)
    planes = _planes(x, n, wide)
    if w.output_size == (1,) * n and int(w.counts.item()) == math.prod(x.shape[-n:]):  # one window per plane
        rows = planes.reshape(len(planes), -1)
        averages = (rows @ np.ones(rows.shape[1], wide)) / wide.type(np.asarray(divisor).item())
        return averages.reshape(*x.shape[:-n], *w.output_size).astype(x.dtype, copy=False)
    table = _table(w, planes, n)
    out = np.empty((len(planes), *table.output_size()), wide)
    each = np.empty(w.output_size, wide)
    each[...] = divisor
    mean_of_windows(table, planes, out, each)
    return out.reshape(*x.shape[:-n], *w.output_size).astype(x.dtype, copy=False)


def kernel(record: Any) -> Kernel:
    """Return the Python kernel of a pooling operator, which calls `means` or `maxima` of this module."""
    mine = means if "avg" in record.name else maxima
    return partial(record.kernel, compute=partial(mine, default_of(record.kernel, "compute")))
