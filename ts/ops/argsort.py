"""Where elements come in order: the one part of sorting, selection and medians.

In: an array and a dimension; out: places along it.  NaN counts as the largest, -0.0 as 0.0.  On the CPU equal
elements end where PyTorch's algorithms leave them (`ts.backends.cpu.kernels.sort`), elsewhere they keep
their order.

    argsort(np, [2, 1, 2], axis=0, descending=True, stable=True)     [0, 2, 1]
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ts.backends.cpu.kernels import sort as order
from ts.ops import rules

Array = rules.Array
_MOST = (1 << 63) - 1


def _keys(self: NDArray[Any], axis: int, descending: bool) -> NDArray[np.int64]:
    """64-bit numbers in the order of the elements, one row for each line along `axis`."""
    x = np.moveaxis(self, axis, -1)
    if rules.CATEGORY_OF[self.dtype] == rules.FLOATING:
        wide = x.astype(np.float64) + 0.0
        bits = wide.view(np.int64)
        # The bits of a negative number count backwards.
        found = np.where(bits < 0, bits ^ _MOST, bits)
        found[wide != wide] = _MOST
    elif self.dtype == rules.UINT64:
        found = (x ^ np.uint64(1 << 63)).view(np.int64)
    else:
        found = x.astype(np.int64)
    if descending:
        found = ~found
    n = x.shape[-1]
    return np.ascontiguousarray(found).reshape(x.size // n if n else 0, n)


def _in_place(rows: NDArray[np.int64], self: NDArray[Any], axis: int) -> NDArray[np.int64]:
    """Rows of results as an array like `self`, whose length along `axis` is theirs."""
    shape = (*self.shape[:axis], *self.shape[axis + 1 :], rows.shape[-1])
    return np.moveaxis(rows.reshape(shape), -1, axis)


def argsort(xp: Any, self: Array, axis: int, descending: bool, stable: bool) -> Array:
    """The order of the elements along `axis`."""
    if isinstance(self, np.ndarray) and not stable and self.size:
        return _in_place(order.argsort(_keys(self, axis, descending)), self, axis)
    x = rules.cast(xp, self, rules.FLOAT) if self.dtype == rules.BFLOAT16 else self
    if not descending:
        return xp.argsort(x, axis=axis, kind="stable")
    # Sorted backwards from the end: equal elements keep their order.
    turned = xp.argsort(xp.flip(x, axis), axis=axis, kind="stable")
    return self.shape[axis] - 1 - xp.flip(turned, axis)


def first_places(xp: Any, self: Array, axis: int, k: int, largest: bool, ordered: bool) -> Array:
    """The places of the k smallest or largest elements along `axis`."""
    if isinstance(self, np.ndarray) and self.size:
        return _in_place(order.smallest(_keys(self, axis, largest), k, ordered), self, axis)
    return argsort(xp, self, axis, largest, True)[(slice(None),) * axis + (slice(k),)]


def nth_place(xp: Any, self: Array, axis: int, k: Array) -> Array:
    """The places of the k-th smallest elements along `axis`, from 0; k has length 1 there, as the result."""
    if isinstance(self, np.ndarray) and self.size:
        wanted = np.ascontiguousarray(np.moveaxis(k, axis, -1), dtype=np.int64).reshape(-1)
        return _in_place(order.nth(_keys(self, axis, False), wanted)[:, None], self, axis)
    return xp.take_along_axis(argsort(xp, self, axis, False, True), k, axis)


def nth_place_in_order(xp: Any, self: Array, axis: int, k: Array) -> Array:
    """As `nth_place`, of equal elements the one that a stable sort leaves there."""
    if not (isinstance(self, np.ndarray) and self.size):
        return xp.take_along_axis(argsort(xp, self, axis, False, True), k, axis)
    keys = _keys(self, axis, False)
    wanted = np.ascontiguousarray(np.moveaxis(k, axis, -1), dtype=np.int64).reshape(-1)
    rows = np.arange(len(keys))
    found = keys[rows, order.nth(keys, wanted)][:, None]
    before = wanted - (keys < found).sum(axis=1)
    count = np.cumsum(keys == found, axis=1)
    places = (count > before[:, None]).argmax(axis=1)
    return _in_place(places[:, None], self, axis)
