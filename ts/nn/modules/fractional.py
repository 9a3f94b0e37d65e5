"""Fractional max pooling: maxima of windows whose positions are random."""

from __future__ import annotations

from typing import Any

from ts._core.tensor.tensor import Tensor
from ts.nn import functional as F
from ts.nn.modules.module import Module
from ts.nn.modules.ntuple import to_ntuple


class _FractionalMaxPool(Module):
    """Base class of fractional max pooling: output size or ratio, and optional random numbers."""

    __constants__ = ["kernel_size", "return_indices", "output_size", "output_ratio"]
    kernel_size: tuple[int, ...]
    return_indices: bool
    output_size: tuple[int, ...] | None
    output_ratio: tuple[float, ...] | None
    _ndim: int

    def __init__(
        self,
        kernel_size: Any,
        output_size: Any = None,
        output_ratio: Any = None,
        return_indices: bool = False,
        _random_samples: Tensor | None = None,
    ) -> None:
        super().__init__()
        n = type(self)._ndim
        self.kernel_size = to_ntuple(kernel_size, n)
        self.return_indices = return_indices
        self.register_buffer("_random_samples", _random_samples)
        self.output_size = None if output_size is None else to_ntuple(output_size, n)
        self.output_ratio = None if output_ratio is None else to_ntuple(output_ratio, n)
        if output_size is None and output_ratio is None:
            raise ValueError(
                f"{type(self).__name__} requires specifying either an output size, or a pooling ratio"
            )
        if output_size is not None and output_ratio is not None:
            raise ValueError("only one of output_size and output_ratio may be specified")
        if self.output_ratio is not None and not all(0 < ratio < 1 for ratio in self.output_ratio):
            raise ValueError(f"output_ratio must be between 0 and 1 (got {output_ratio})")


class FractionalMaxPool2d(_FractionalMaxPool):
    """Fractional max pooling of images, with random window positions."""

    _ndim = 2

    def forward(self, input: Tensor):  # type: ignore[no-untyped-def]  # `return_indices` determines the result
        return F.fractional_max_pool2d(
            input,
            self.kernel_size,
            self.output_size,
            self.output_ratio,
            self.return_indices,
            _random_samples=self._random_samples,
        )


class FractionalMaxPool3d(_FractionalMaxPool):
    """Fractional max pooling of volumes, with random window positions."""

    _ndim = 3

    def forward(self, input: Tensor):  # type: ignore[no-untyped-def]  # `return_indices` determines the result
        return F.fractional_max_pool3d(
            input,
            self.kernel_size,
            self.output_size,
            self.output_ratio,
            self.return_indices,
            _random_samples=self._random_samples,
        )
