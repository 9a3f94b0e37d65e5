"""Pooling modules (max pooling, average pooling, Lp pooling, adaptive pooling).

The class attribute `_pool` is the function of `ts.nn.functional` that `forward` calls.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from ts._core.tensor.tensor import Tensor
from ts.nn import functional as F
from ts.nn.modules.hyperparameters import PrintedModule, hyperparameters
from ts.nn.modules.module import Module
from ts.nn.modules.ntuple import constructor_text, to_ntuple


@hyperparameters
class _MaxPoolNd(Module):
    _pool: ClassVar[Callable[..., Any]]
    kernel_size: Any
    stride: Any = None
    padding: Any = 0
    dilation: Any = 1
    return_indices: bool = False
    ceil_mode: bool = False

    def __post_init__(self) -> None:
        if self.stride is None:
            self.stride = self.kernel_size

    def forward(self, input: Tensor):  # type: ignore[no-untyped-def]  # `return_indices` determines the result
        return self._pool(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.dilation,
            ceil_mode=self.ceil_mode,
            return_indices=self.return_indices,
        )

    def extra_repr(self) -> str:
        return constructor_text(self, "kernel_size", "stride", "padding", "dilation", "ceil_mode")


class MaxPool1d(_MaxPoolNd):
    """Maximum of every window over one dimension."""

    _pool = staticmethod(F.max_pool1d)


class MaxPool2d(_MaxPoolNd):
    """Maximum of every window over two dimensions."""

    _pool = staticmethod(F.max_pool2d)


class MaxPool3d(_MaxPoolNd):
    """Maximum of every window over three dimensions."""

    _pool = staticmethod(F.max_pool3d)


class _MaxUnpoolNd(Module):
    _unpool: ClassVar[Callable[..., Tensor]]
    _ndim: ClassVar[int]

    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0) -> None:
        super().__init__()
        self.kernel_size = to_ntuple(kernel_size, self._ndim)
        self.stride = to_ntuple(kernel_size if stride is None else stride, self._ndim)
        self.padding = to_ntuple(padding, self._ndim)

    def forward(self, input: Tensor, indices: Tensor, output_size: list[int] | None = None) -> Tensor:
        return self._unpool(input, indices, self.kernel_size, self.stride, self.padding, output_size)

    def extra_repr(self) -> str:
        return constructor_text(self, "kernel_size", "stride", "padding")


class MaxUnpool1d(_MaxUnpoolNd):
    """Partial inverse of max pooling over one dimension."""

    _unpool = staticmethod(F.max_unpool1d)
    _ndim = 1


class MaxUnpool2d(_MaxUnpoolNd):
    """Partial inverse of max pooling over two dimensions."""

    _unpool = staticmethod(F.max_unpool2d)
    _ndim = 2


class MaxUnpool3d(_MaxUnpoolNd):
    """Partial inverse of max pooling over three dimensions."""

    _unpool = staticmethod(F.max_unpool3d)
    _ndim = 3


class _AvgPool(Module):
    def extra_repr(self) -> str:
        return constructor_text(self, "kernel_size", "stride", "padding")


class AvgPool1d(_AvgPool):
    """Mean of every window over one dimension."""

    __constants__ = ["kernel_size", "stride", "padding", "ceil_mode", "count_include_pad"]
    ceil_mode: bool
    count_include_pad: bool

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> None:
        super().__init__()
        self.kernel_size = to_ntuple(kernel_size, 1)
        self.stride = to_ntuple(stride if stride is not None else kernel_size, 1)
        self.padding = to_ntuple(padding, 1)
        self.ceil_mode = ceil_mode
        self.count_include_pad = count_include_pad

    def forward(self, input: Tensor) -> Tensor:
        return F.avg_pool1d(
            input, self.kernel_size, self.stride, self.padding, self.ceil_mode, self.count_include_pad
        )


@hyperparameters
class _AvgPoolNd(_AvgPool):
    _pool: ClassVar[Callable[..., Tensor]]
    kernel_size: Any
    stride: Any = None
    padding: Any = 0
    ceil_mode: bool = False
    count_include_pad: bool = True
    divisor_override: int | None = None

    def __post_init__(self) -> None:
        if self.stride is None:
            self.stride = self.kernel_size

    def forward(self, input: Tensor) -> Tensor:
        return self._pool(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.ceil_mode,
            self.count_include_pad,
            self.divisor_override,
        )


class AvgPool2d(_AvgPoolNd):
    """Mean of every window over two dimensions."""

    _pool = staticmethod(F.avg_pool2d)


class AvgPool3d(_AvgPoolNd):
    """Mean of every window over three dimensions."""

    _pool = staticmethod(F.avg_pool3d)


@hyperparameters
class _LPPoolNd(PrintedModule):
    _pool: ClassVar[Callable[..., Tensor]]
    norm_type: float
    kernel_size: Any
    stride: Any = None
    ceil_mode: bool = False

    def forward(self, input: Tensor) -> Tensor:
        return self._pool(input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode)


class LPPool1d(_LPPoolNd):
    """p-norm of every window over one dimension."""

    _pool = staticmethod(F.lp_pool1d)


class LPPool2d(_LPPoolNd):
    """p-norm of every window over two dimensions."""

    _pool = staticmethod(F.lp_pool2d)


class LPPool3d(_LPPoolNd):
    """p-norm of every window over three dimensions."""

    _pool = staticmethod(F.lp_pool3d)


@hyperparameters
class _AdaptiveMaxPoolNd(Module):
    _pool: ClassVar[Callable[..., Any]]
    output_size: Any
    return_indices: bool = False

    def forward(self, input: Tensor):  # type: ignore[no-untyped-def]  # `return_indices` determines the result
        return self._pool(input, self.output_size, self.return_indices)

    def extra_repr(self) -> str:
        return constructor_text(self, "output_size")


class AdaptiveMaxPool1d(_AdaptiveMaxPoolNd):
    """Adaptive max pooling over one dimension: `output_size` windows."""

    _pool = staticmethod(F.adaptive_max_pool1d)


class AdaptiveMaxPool2d(_AdaptiveMaxPoolNd):
    """Adaptive max pooling over two dimensions: `output_size` windows."""

    _pool = staticmethod(F.adaptive_max_pool2d)


class AdaptiveMaxPool3d(_AdaptiveMaxPoolNd):
    """Adaptive max pooling over three dimensions: `output_size` windows."""

    _pool = staticmethod(F.adaptive_max_pool3d)


@hyperparameters
class _AdaptiveAvgPoolNd(PrintedModule):
    _pool: ClassVar[Callable[..., Tensor]]
    output_size: Any

    def forward(self, input: Tensor) -> Tensor:
        return self._pool(input, self.output_size)


class AdaptiveAvgPool1d(_AdaptiveAvgPoolNd):
    """Adaptive average pooling over one dimension: `output_size` windows."""

    _pool = staticmethod(F.adaptive_avg_pool1d)


class AdaptiveAvgPool2d(_AdaptiveAvgPoolNd):
    """Adaptive average pooling over two dimensions: `output_size` windows."""

    _pool = staticmethod(F.adaptive_avg_pool2d)


class AdaptiveAvgPool3d(_AdaptiveAvgPoolNd):
    """Adaptive average pooling over three dimensions: `output_size` windows."""

    _pool = staticmethod(F.adaptive_avg_pool3d)
