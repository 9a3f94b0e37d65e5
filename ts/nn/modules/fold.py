"""Conversion of sliding windows of images to columns (im2col), and of columns to images (col2im)."""

from __future__ import annotations

from typing import Any

from ts._core.tensor.tensor import Tensor
from ts.nn import functional as F
from ts.nn.modules.hyperparameters import PrintedModule, hyperparameters


@hyperparameters
class Fold(PrintedModule):
    """Combines columns of sliding windows into images, in which overlapping elements are added."""

    output_size: Any
    kernel_size: Any
    dilation: Any = 1
    padding: Any = 0
    stride: Any = 1

    def forward(self, input: Tensor) -> Tensor:
        return F.fold(input, self.output_size, self.kernel_size, self.dilation, self.padding, self.stride)


@hyperparameters
class Unfold(PrintedModule):
    """Converts the sliding windows of images to columns."""

    kernel_size: Any
    dilation: Any = 1
    padding: Any = 0
    stride: Any = 1

    def forward(self, input: Tensor) -> Tensor:
        return F.unfold(input, self.kernel_size, self.dilation, self.padding, self.stride)
