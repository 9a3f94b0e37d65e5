"""Fractional max pooling: maxima of windows whose positions are random."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import InitVar
from typing import Any, ClassVar

from ts._core.tensor.tensor import Tensor
from ts.nn import functional as F
from ts.nn.modules.hyperparameters import hyperparameters
from ts.nn.modules.module import Module
from ts.nn.modules.ntuple import to_ntuple


@hyperparameters
class _FractionalMaxPool(Module):
    """Base class of fractional max pooling: output size or ratio, and optional random numbers."""

    _pool: ClassVar[Callable[..., Any]]
    _ndim: ClassVar[int]
    kernel_size: Any
    output_size: Any = None
    output_ratio: Any = None
    return_indices: bool = False
    _random_samples: InitVar[Tensor | None] = None

    def __post_init__(self, _random_samples: Tensor | None) -> None:
        self.register_buffer("_random_samples", _random_samples)
        self.kernel_size = to_ntuple(self.kernel_size, self._ndim)
        output_size, output_ratio = self.output_size, self.output_ratio
        if output_size is None and output_ratio is None:
            raise ValueError(
                f"{type(self).__name__} requires specifying either an output size, or a pooling ratio"
            )
        if output_size is not None and output_ratio is not None:
            raise ValueError("only one of output_size and output_ratio may be specified")
        if output_size is not None:
            self.output_size = to_ntuple(output_size, self._ndim)
        else:
            self.output_ratio = to_ntuple(output_ratio, self._ndim)
            if not all(0 < ratio < 1 for ratio in self.output_ratio):
                raise ValueError(f"output_ratio must be between 0 and 1 (got {output_ratio})")

    def forward(self, input: Tensor):  # type: ignore[no-untyped-def]  # `return_indices` determines the result type
        return self._pool(
            input,
            self.kernel_size,
            self.output_size,
            self.output_ratio,
            self.return_indices,
            _random_samples=self._random_samples,
        )


class FractionalMaxPool2d(_FractionalMaxPool):
    """Fractional max pooling of images, with random window positions."""

    _ndim = 2
    _pool = staticmethod(F.fractional_max_pool2d)


class FractionalMaxPool3d(_FractionalMaxPool):
    """Fractional max pooling of volumes, with random window positions."""

    _ndim = 3
    _pool = staticmethod(F.fractional_max_pool3d)
