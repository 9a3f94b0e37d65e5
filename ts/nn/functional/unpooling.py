"""Max unpooling, the partial inverse of max pooling.

The result contains each maximum at its index in the input of the pooling, and zeros elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import ts
from ts._core.tensor.tensor import Tensor
from ts.frontend.compile_directives import BroadcastingList1, BroadcastingList2, BroadcastingList3


def _repeat_numbers(n: int, *values: Any) -> Any:
    """Convert each number in `values` to a list `[number] * n`.

    Only Python calls this function, because scripts convert such arguments implicitly.
    """
    return (
        list(value) if isinstance(value, Iterable) else value if value is None else [value] * n
        for value in values
    )


def _unpooled_size(
    input: Tensor,
    kernel_size: list[int],
    stride: list[int] | None,
    padding: list[int],
    output_size: list[int] | None,
) -> list[int]:
    """Return the size of the tensor before max pooling.

    This is `output_size` if it is not None and is possible. Otherwise, it is the smallest size that pooling
    reduces to the size of `input`.
    """
    steps = kernel_size
    if stride is not None and len(stride) > 0:
        steps = stride
    n = len(kernel_size)
    usual: list[int] = []
    for d in range(n):
        usual.append((input.size(d - n) - 1) * steps[d] + kernel_size[d] - 2 * padding[d])
    size = usual
    if output_size is not None:
        size = output_size
        if len(size) == n + 2:
            size = size[2:]
        if len(size) != n:
            raise ValueError(
                f"output_size should be a sequence containing {n} or {n + 2} elements, but it has a length "
                f"of '{len(size)}'"
            )
        for d in range(n):
            low = usual[d] - steps[d]
            high = usual[d] + steps[d]
            if size[d] <= low or size[d] >= high:
                raise ValueError(f'invalid output_size "{size}" (dim {d} must be between {low} and {high})')
    for d in range(n):
        if size[d] < 0:
            raise ValueError(
                "max_unpooling: output_size must contain non-negative spatial dimensions, but got "
                f"output_size[{d}]={size[d]}"
            )
    return size


def max_unpool1d(
    input: Tensor,
    indices: Tensor,
    kernel_size: BroadcastingList1[int],
    stride: BroadcastingList1[int] | None = None,
    padding: BroadcastingList1[int] = 0,
    output_size: BroadcastingList1[int] | None = None,
) -> Tensor:
    """Invert `max_pool1d` partially: place the maxima at `indices`, and zeros elsewhere."""
    if not ts.jit.is_scripting():
        kernel_size, stride, padding = _repeat_numbers(1, kernel_size, stride, padding)
    size = _unpooled_size(input, kernel_size, stride, padding, output_size)
    size = [size[0], 1]
    return ts.max_unpool2d(input.unsqueeze(-1), indices.unsqueeze(-1), size).squeeze(-1)


def max_unpool2d(
    input: Tensor,
    indices: Tensor,
    kernel_size: BroadcastingList2[int],
    stride: BroadcastingList2[int] | None = None,
    padding: BroadcastingList2[int] = 0,
    output_size: BroadcastingList2[int] | None = None,
) -> Tensor:
    """Invert `max_pool2d` partially: place the maxima at `indices`, and zeros elsewhere."""
    if not ts.jit.is_scripting():
        kernel_size, stride, padding = _repeat_numbers(2, kernel_size, stride, padding)
    size = _unpooled_size(input, kernel_size, stride, padding, output_size)
    return ts.max_unpool2d(input, indices, size)


def max_unpool3d(
    input: Tensor,
    indices: Tensor,
    kernel_size: BroadcastingList3[int],
    stride: BroadcastingList3[int] | None = None,
    padding: BroadcastingList3[int] = 0,
    output_size: BroadcastingList3[int] | None = None,
) -> Tensor:
    """Invert `max_pool3d` partially: place the maxima at `indices`, and zeros elsewhere."""
    if not ts.jit.is_scripting():
        kernel_size, stride, padding = _repeat_numbers(3, kernel_size, stride, padding)
    size = _unpooled_size(input, kernel_size, stride, padding, output_size)
    steps = kernel_size
    if stride is not None:
        steps = stride
    return ts.max_unpool3d(input, indices, size, steps, padding)
