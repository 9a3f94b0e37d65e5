"""Padding modules (constant, reflection, replication, circular padding) for one to three dimensions."""

from __future__ import annotations

from typing import Any

from ts._core.tensor.tensor import Tensor
from ts.nn import functional as F
from ts.nn.modules.module import Module
from ts.nn.modules.ntuple import to_ntuple


class _Padding(Module):
    """Base class of padding modules. `padding` has two amounts for each dimension, last dimension first."""

    __constants__ = ["padding"]
    ndim: int

    def __init__(self, padding: Any) -> None:
        super().__init__()
        self.padding = to_ntuple(padding, 2 * self.ndim)

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
    """Padding of 1 dimension by a constant."""

    ndim = 1


class ConstantPad2d(_ConstantPadNd):
    """Padding of 2 dimensions by a constant."""

    ndim = 2


class ConstantPad3d(_ConstantPadNd):
    """Padding of 3 dimensions by a constant."""

    ndim = 3


class ZeroPad1d(_ZeroPadNd):
    """Zero padding of 1 dimension."""

    ndim = 1


class ZeroPad2d(_ZeroPadNd):
    """Zero padding of 2 dimensions."""

    ndim = 2


class ZeroPad3d(_ZeroPadNd):
    """Zero padding of 3 dimensions."""

    ndim = 3


class ReflectionPad1d(_ReflectionPadNd):
    """Reflection padding of 1 dimension at the edges."""

    ndim = 1


class ReflectionPad2d(_ReflectionPadNd):
    """Reflection padding of 2 dimensions at the edges."""

    ndim = 2


class ReflectionPad3d(_ReflectionPadNd):
    """Reflection padding of 3 dimensions at the edges."""

    ndim = 3


class ReplicationPad1d(_ReplicationPadNd):
    """Padding of 1 dimension by repetition of the edge elements."""

    ndim = 1


class ReplicationPad2d(_ReplicationPadNd):
    """Padding of 2 dimensions by repetition of the edge elements."""

    ndim = 2


class ReplicationPad3d(_ReplicationPadNd):
    """Padding of 3 dimensions by repetition of the edge elements."""

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
