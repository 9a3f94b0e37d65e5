"""Strides in elements, for memory formats and for copies that preserve the dimension order (stride order).

    >>> contiguous((2, 3, 4)), channels_last((2, 3, 4, 5))
    ((12, 4, 1), (60, 1, 15, 3))

A copy of a tensor with strides (1, 4) has the same dimension order, but no gaps:

    >>> preserve_format_strides((2, 3), (1, 4))
    (1, 2)
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ts import dtypes

Shape = tuple[int, ...]

# number of dimensions -> the dimensions, ordered from outermost to innermost in memory
_CHANNELS_LAST = {4: (0, 2, 3, 1), 5: (0, 2, 3, 4, 1)}
_RANK = {dtypes.channels_last: 4, dtypes.channels_last_3d: 5}


def strides_in_order(shape: Sequence[int], order: Iterable[int]) -> Shape:
    """Return strides without gaps for a dimension order. `order` lists the outermost dimension first."""
    strides = [1] * len(shape)
    step = 1
    for dim in reversed(tuple(order)):
        strides[dim] = step
        step *= max(shape[dim], 1)
    return tuple(strides)


def contiguous(shape: Sequence[int]) -> Shape:
    """Return the row-major strides of a shape."""
    return strides_in_order(shape, range(len(shape)))


def channels_last(shape: Sequence[int]) -> Shape:
    """Return the channels-last strides (dimension 1 innermost) of a 4-D or 5-D shape."""
    return strides_in_order(shape, _CHANNELS_LAST[len(shape)])


def of_format(shape: Sequence[int], memory_format: dtypes.memory_format) -> Shape:
    """Return the strides of a shape in a memory format, or raise RuntimeError for a wrong rank."""
    rank = _RANK.get(memory_format)
    if rank is None:
        return contiguous(shape)
    if len(shape) != rank:
        raise RuntimeError(f"required rank {rank} tensor to use {memory_format.name} format")
    return channels_last(shape)


def has_format(shape: Sequence[int], strides: Sequence[int], memory_format: dtypes.memory_format) -> bool:
    """Return whether strides match a memory format. Dimensions of length 1 are ignored."""
    rank = _RANK.get(memory_format, len(shape))
    if len(shape) != rank:
        return False
    if 0 in shape:
        return memory_format not in _RANK or len(shape) == rank
    order = _CHANNELS_LAST[rank] if memory_format in _RANK else tuple(range(rank))
    step = 1
    for dim in reversed(order):
        if shape[dim] != 1:
            if strides[dim] != step:
                return False
            step *= shape[dim]
    return True


def dense(shape: Sequence[int], strides: Sequence[int]) -> bool:
    """Return whether the elements fill a memory block without gaps or overlap."""
    if 0 in shape:
        return True
    step = 1
    for stride, length in sorted((s, n) for s, n in zip(strides, shape, strict=True) if n != 1):
        if stride != step:
            return False
        step *= length
    return True


def preserve_format_strides(shape: Sequence[int], strides: Sequence[int]) -> Shape:
    """Return the strides of a copy: `strides` if they are dense, else dense strides with the same order."""
    if dense(shape, strides):
        return tuple(strides)
    return strides_in_order(shape, reversed(_inner_first(shape, strides)))


def of_result(shape: Sequence[int], *operands: Sequence[int]) -> Shape:
    """Return dense strides with the dimension order of the first operand.

    If two dimensions have equal strides in an operand, the next operand determines their order.
    """
    return strides_in_order(shape, reversed(_inner_first(shape, *operands)))


def _inner_first(shape: Sequence[int], *operands: Sequence[int]) -> list[int]:
    """Return the dimensions, sorted by increasing stride.

    Dimensions with stride 0 keep their row-major order.
    """
    order = list(reversed(range(len(shape))))
    for i in range(1, len(order)):
        at = i
        for before in range(i - 1, -1, -1):
            swap = _compared(shape, operands, order[before], order[at])
            if swap > 0:
                order[before], order[at] = order[at], order[before]
                at = before
            elif swap < 0:
                break
    return order


def _compared(shape: Sequence[int], operands: Sequence[Sequence[int]], a: int, b: int) -> int:
    """Return 1 if dimension `a` is outside of dimension `b` in memory, -1 if it is inside of `b`.

    Return 0 if the strides do not determine the order, because they are equal or zero.
    """
    for strides in operands:
        if not strides[a] or not strides[b]:
            continue
        if strides[a] != strides[b]:
            return 1 if strides[a] > strides[b] else -1
        if shape[a] > shape[b]:
            return 1
    return 0


def is_view_of_empty_array(array: Any) -> bool:
    """Return whether `array` and its bases have no elements. The result is False for meta arrays.

    The strides of other empty views, such as results of `expand`, and of meta arrays are correct.
    """
    if hasattr(array, "offset"):  # a meta array
        return False
    while array is not None:
        if getattr(array, "size", 0) != 0:
            return False
        array = getattr(array, "base", None)
    return True
