"""Derivatives of copies, and of views by strides."""

from __future__ import annotations

import ts
from ts import Tensor
from ts.ops.derivatives.rows import LINEAR, compose, derive

derive("aten::clone aten::_lazy_clone", self="grad", result=LINEAR)


def contiguous(x: Tensor, memory_format: int) -> Tensor:
    """A tensor that lies so: itself, or a copy."""
    return x if x.is_contiguous(memory_format=memory_format) else x.clone(memory_format=memory_format)


compose("aten::contiguous", "contiguous(self, memory_format)")
derive("aten::lift_fresh_copy", self="grad", result=LINEAR)


def reach(sizes: list[int], strides: list[int]) -> int:
    """The places from the first element to the last one."""
    last = 0
    for n, step in zip(sizes, strides):
        if n == 0:
            return 0
        last += (n - 1) * step
    return last + 1


def of_storage(grad: Tensor, sizes: list[int], strides: list[int], offset: int, x: Tensor) -> Tensor:
    """The gradient of a tensor that was looked at in its storage, by other strides.

    A place that several elements of the view have gets the sum; where several elements of the tensor have
    one, each gets its share.
    """
    own = x.storage_offset()
    first = min(own, offset)
    count = max(own + reach(x.size(), x.stride()), offset + reach(sizes, strides)) - first
    places = ts.arange(count, device=grad.device)
    seen = places.as_strided(sizes, strides, offset - first).reshape(-1)
    held = grad.new_zeros([count]).index_add(0, seen, grad.reshape(-1))
    mine = places.as_strided(x.size(), x.stride(), own - first).reshape(-1)
    if not x.is_contiguous():
        held = held / ts.bincount(mine, minlength=count).clamp(min=1)
    return held.index_select(0, mine).reshape(x.size())


def from_start(x: Tensor, offset: int | None) -> int:
    """An offset in the storage, which is that of the tensor where none is given."""
    return x.storage_offset() if offset is None else offset


derive(
    "aten::as_strided", self="of_storage(grad, size, stride, from_start(self, storage_offset), self)",
    result=LINEAR,
)  # fmt: skip
derive(
    "aten::as_strided_scatter",
    self="grad.as_strided_scatter(grad.new_zeros(size), size, stride, from_start(self, storage_offset))",
    src="grad.contiguous().as_strided(size, stride, from_start(self, storage_offset))",
    result=LINEAR,
)
