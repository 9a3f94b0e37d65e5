"""Padding by a constant, by reflection, by replication, in circles, over one to three dimensions."""

from __future__ import annotations

from typing import Any

from ts._core.tensor.tensor import Tensor
from ts.nn import functional as F
from ts.nn.modules.module import Module
from ts.nn.modules.ntuple import spread


class _Padding(Module):
    """Base class of padding modules: amounts for both ends of each dimension, last dimension first."""

    __constants__ = ["padding"]
    ndim: int

    def __init__(self, padding: Any) -> None:
        super().__init__()
        self.padding = spread(padding, 2 * self.ndim)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class _ConstantPadNd(_Padding):
    __constants__ = ["padding", "value"]
    value: float

    def __init__(self, padding: Any, value: float) -> None:
        super().__init__(padding)
        self.value = value

    def forward(self, input: Tensor) -> Tensor:
        return F.pad(input, self.padding, "constant", self.value)

    def extra_repr(self) -> str:
        return f"padding={self.padding}, value={self.value}"


class _ZeroPadNd(_ConstantPadNd):
    def __init__(self, padding: Any) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class _ReflectionPadNd(_Padding):
    def forward(self, input: Tensor) -> Tensor:
        return F.pad(input, self.padding, "reflect")


class _ReplicationPadNd(_Padding):
    def forward(self, input: Tensor) -> Tensor:
        return F.pad(input, self.padding, "replicate")


class _CircularPadNd(_Padding):
    def forward(self, input: Tensor) -> Tensor:
        return F.pad(input, self.padding, "circular")


class ConstantPad1d(_ConstantPadNd):
    """1 dimension padded by a constant."""

    ndim = 1


class ConstantPad2d(_ConstantPadNd):
    """2 dimensions padded by a constant."""

    ndim = 2


class ConstantPad3d(_ConstantPadNd):
    """3 dimensions padded by a constant."""

    ndim = 3


class ZeroPad1d(_ZeroPadNd):
    """1 dimension padded by zeros."""

    ndim = 1


class ZeroPad2d(_ZeroPadNd):
    """2 dimensions padded by zeros."""

    ndim = 2


class ZeroPad3d(_ZeroPadNd):
    """3 dimensions padded by zeros."""

    ndim = 3


class ReflectionPad1d(_ReflectionPadNd):
    """1 dimension padded mirrored at the edges."""

    ndim = 1


class ReflectionPad2d(_ReflectionPadNd):
    """2 dimensions padded mirrored at the edges."""

    ndim = 2


class ReflectionPad3d(_ReflectionPadNd):
    """3 dimensions padded mirrored at the edges."""

    ndim = 3


class ReplicationPad1d(_ReplicationPadNd):
    """1 dimension padded repeated from the edges."""

    ndim = 1


class ReplicationPad2d(_ReplicationPadNd):
    """2 dimensions padded repeated from the edges."""

    ndim = 2


class ReplicationPad3d(_ReplicationPadNd):
    """3 dimensions padded repeated from the edges."""

    ndim = 3


class CircularPad1d(_CircularPadNd):
    """Circular padding of 1 dimension with elements of the opposite end."""

    ndim = 1


class CircularPad2d(_CircularPadNd):
    """Circular padding of 2 dimensions with elements of the opposite ends."""

    ndim = 2


class CircularPad3d(_CircularPadNd):
    """Circular padding of 3 dimensions with elements of the opposite ends."""

    ndim = 3
