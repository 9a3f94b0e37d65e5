"""Sorting functions of the CPU namespace, which are its attribute `xp.ranking`.

Input: an array and a dimension. Output: the indices of the sorted elements along the dimension.

Equal elements have the same order as in PyTorch.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ts import dtypes

from .kernels import sort

Indices = NDArray[np.int64]
_INT64_MAX = (1 << 63) - 1


def _keys(self: NDArray[Any], axis: int, descending: bool) -> NDArray[np.int64]:
    """Return int64 keys that sort like the elements, as a matrix with one row per slice along `axis`."""
    x = np.moveaxis(self, axis, -1)
    if dtypes.from_numpy_dtype(self.dtype).is_floating_point:
        wide = x.astype(np.float64) + 0.0
        bits = wide.view(np.int64)
        # In negative numbers, flip all bits except the sign bit. The int64 keys then have the order of the
        # floats.
        keys = np.where(bits < 0, bits ^ _INT64_MAX, bits)
        keys[wide != wide] = _INT64_MAX
    elif self.dtype == np.uint64:
        keys = (x ^ np.uint64(1 << 63)).view(np.int64)
    else:
        keys = x.astype(np.int64)
    if descending:
        keys = ~keys
    n = x.shape[-1]
    return np.ascontiguousarray(keys).reshape(x.size // n if n else 0, n)


def _in_place(rows: NDArray[np.int64], self: NDArray[Any], axis: int) -> NDArray[np.int64]:
    """Reshape a matrix to an array with the rank of `self`: row i becomes slice i along `axis`."""
    shape = (*self.shape[:axis], *self.shape[axis + 1 :], rows.shape[-1])
    return np.moveaxis(rows.reshape(shape), -1, axis)


def argsort(self: NDArray[Any], axis: int, descending: bool) -> Indices:
    """Return the indices that sort the elements along `axis`."""
    return _in_place(sort.argsort(_keys(self, axis, descending)), self, axis)


def first_indices(self: NDArray[Any], axis: int, k: int, largest: bool, ordered: bool) -> Indices:
    """Return the indices of the k smallest or largest elements along `axis` (top-k, partial sort).

    If `ordered`, the indices are in the sorted order of their elements.
    """
    return _in_place(sort.smallest(_keys(self, axis, largest), k, ordered), self, axis)


def nth_index(self: NDArray[Any], axis: int, k: Indices) -> Indices:
    """Return the index of the k-th smallest element (nth element) of each slice, by quickselect.

    Each slice has its own k.
    """
    return _in_place(sort.nth(_keys(self, axis, False), _rows(k, axis))[:, None], self, axis)


def nth_index_in_order(self: NDArray[Any], axis: int, k: Indices) -> Indices:
    """Return the index of the k-th smallest element of each slice in the order of a stable sort.

    If there are equal elements, `nth_index` may return the index of another one.
    """
    keys, ranks = _keys(self, axis, False), _rows(k, axis)
    rows = np.arange(len(keys))
    kth = keys[rows, sort.nth(keys, ranks)][:, None]
    before = ranks - (keys < kth).sum(axis=1)
    count = np.cumsum(keys == kth, axis=1)
    indices = (count > before[:, None]).argmax(axis=1)
    return _in_place(indices[:, None], self, axis)


def _rows(k: Indices, axis: int) -> Indices:
    """Flatten `k`, which has one number for each slice along `axis`, in the order of the rows of `_keys`."""
    return np.ascontiguousarray(np.moveaxis(k, axis, -1), dtype=np.int64).reshape(-1)
