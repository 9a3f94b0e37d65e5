"""Conversion of the sliding windows of images to columns (im2col), and of columns to images (col2im)."""

from __future__ import annotations

import ts
from ts._core.tensor.tensor import Tensor
from ts.frontend.compile_directives import BroadcastingList2


def unfold(
    input: Tensor,
    kernel_size: BroadcastingList2[int],
    dilation: BroadcastingList2[int] = 1,
    padding: BroadcastingList2[int] = 0,
    stride: BroadcastingList2[int] = 1,
) -> Tensor:
    """Extract the sliding windows of images as columns."""
    return ts.im2col(input, kernel_size, dilation, padding, stride)


def fold(
    input: Tensor,
    output_size: BroadcastingList2[int],
    kernel_size: BroadcastingList2[int],
    dilation: BroadcastingList2[int] = 1,
    padding: BroadcastingList2[int] = 0,
    stride: BroadcastingList2[int] = 1,
) -> Tensor:
    """Combine columns of sliding windows into images, adding overlapping elements."""
    return ts.col2im(input, output_size, kernel_size, dilation, padding, stride)
