"""Sorting permutation of array elements, used by the operators sort, topk and median.

Input: an array and a dimension. Output: the indices of the sorted elements along the dimension. NaN is
greater than all other values, and -0.0 equals 0.0. Equal elements keep their order, unless the device has its
own algorithm (`xp.ranking`). The algorithm of the CPU orders equal elements as PyTorch does.

For example, `argsort(xp, [2, 1, 2], axis=0, descending=True, stable=True)` returns [0, 2, 1].
"""

from __future__ import annotations

from typing import Any

from ts import dtypes
from ts.ops import common

Array = common.Array


def argsort(xp: Any, self: Array, axis: int, descending: bool, stable: bool) -> Array:
    """Return the indices that sort the elements along `axis`.

    If `stable`, equal elements keep their order. If not, their order is as in the module docstring.
    """
    if xp.ranking is not None and not stable and self.size:
        return xp.ranking.argsort(self, axis, descending)
    x = common.cast(xp, self, common.FLOAT) if dtypes.is_bfloat16(self.dtype) else self
    if x.dtype == common.BOOL:
        # cast to 0 and 1, because the bytes of True in a bool array may have different nonzero values
        x = common.cast(xp, self, common.UINT8)
    if not descending:
        return xp.argsort(x, axis=axis, kind="stable")
    # Sort the reversed array and reverse the result, so that equal elements are in their original order.
    turned = xp.argsort(xp.flip(x, axis), axis=axis, kind="stable")
    return self.shape[axis] - 1 - xp.flip(turned, axis)


def first_indices(xp: Any, self: Array, axis: int, k: int, largest: bool, ordered: bool) -> Array:
    """Return the indices of the `k` smallest (or `largest`) elements along `axis`."""
    if xp.ranking is not None and self.size:
        return xp.ranking.first_indices(self, axis, k, largest, ordered)
    return argsort(xp, self, axis, largest, True)[(slice(None),) * axis + (slice(k),)]


def nth_index(xp: Any, self: Array, axis: int, k: Array) -> Array:
    """Return the index of the k-th smallest element of each row along `axis`.

    `k` is an array with one number for each row, where 0 means the smallest element. `k` and the result have
    length 1 along `axis`.
    """
    if xp.ranking is not None and self.size:
        return xp.ranking.nth_index(self, axis, k)
    return xp.take_along_axis(argsort(xp, self, axis, False, True), k, axis)


def nth_index_in_order(xp: Any, self: Array, axis: int, k: Array) -> Array:
    """Return the same as `nth_index`, but order equal elements as a stable sort does."""
    if xp.ranking is not None and self.size:
        return xp.ranking.nth_index_in_order(self, axis, k)
    return xp.take_along_axis(argsort(xp, self, axis, False, True), k, axis)
