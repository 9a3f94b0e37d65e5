"""Derivatives of copies and of strided views."""

from __future__ import annotations

import ts
from ts import Tensor
from ts.ops.derivatives.common import underivable  # the formulas below contain this name
from ts.ops.derivatives.formula_registry import LINEAR, compose, derive, reject_grad

derive("aten::clone aten::_lazy_clone", self="grad", result=LINEAR)


def laid(x: Tensor, memory_format: int) -> Tensor:
    """Return the tensor in `memory_format`, copied if necessary."""
    return x if x.is_contiguous(memory_format=memory_format) else x.clone(memory_format=memory_format)


compose("aten::contiguous", "laid(self, memory_format)")
derive("aten::lift_fresh_copy", self="grad", result=LINEAR)


def storage_extent(sizes: list[int], strides: list[int]) -> int:
    """Return the number of storage elements from a tensor's first to its last element."""
    last = 0
    for n, step in zip(sizes, strides):
        if n == 0:
            return 0
        last += (n - 1) * step
    return last + 1


def of_storage(
    grad: Tensor, base_layout: tuple[list[int], list[int], int], view: tuple[list[int], list[int], int]
) -> Tensor:
    """Return the gradient of the input of `as_strided`.

    `base_layout` and `view` are the layouts (sizes, strides, storage offset) of the input and of the result.
    The gradient of a storage location is the sum of `grad` over the result's elements at this location. If
    the input has several elements at a location, each of them gets an equal part.
    """
    first = min(base_layout[2], view[2])
    count = (
        max(
            base_layout[2] + storage_extent(base_layout[0], base_layout[1]),
            view[2] + storage_extent(view[0], view[1]),
        )
        - first
    )
    positions = ts.arange(count, device=grad.device)
    viewed = positions.as_strided(view[0], view[1], view[2] - first).reshape(-1)
    storage_grad = grad.new_zeros([count]).index_add(0, viewed, grad.reshape(-1))
    base_positions = positions.as_strided(base_layout[0], base_layout[1], base_layout[2] - first)
    shares = ts.bincount(base_positions.reshape(-1), minlength=count).clamp(min=1)
    return (storage_grad / shares)[base_positions]


_START = "self.storage_offset() if storage_offset is None else storage_offset"
_MINE = "(self.size(), self.stride(), self.storage_offset())"
derive(
    "aten::as_strided aten::as_strided_", self=f"of_storage(grad, {_MINE}, (size, stride, {_START}))",
    result=LINEAR, inplace_name="AsStridedBackward1",
)  # fmt: skip


def in_storage(grad: Tensor, sizes: list[int], strides: list[int]) -> Tensor:
    """Return a copy of `grad` in a new storage, with the given sizes and strides and storage offset 0."""
    return grad.new_empty_strided(sizes, strides).copy_(grad)


_HELD = "in_storage(grad, self.size(), self.stride())"
_AT = f"({_START}) - self.storage_offset()"
derive(
    "aten::as_strided_scatter",
    self=f"{_HELD}.as_strided_scatter(grad.new_zeros(size), size, stride, {_AT})",
    src=f"{_HELD}.as_strided(size, stride, {_AT})",
    result=LINEAR,
)
for _name in ("resize", "resize_as", "set", "set.source_Tensor", "slice_inverse"):
    derive(f"aten::{_name}", self=f"underivable('aten::{_name}')")
reject_grad("aten::resize_ aten::resize_as_", "cannot resize variables that require grad")
