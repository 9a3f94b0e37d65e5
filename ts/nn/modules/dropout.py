"""Dropout of elements, of channels, and alpha dropout for self-normalizing networks."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from ts._core.tensor.tensor import Tensor
from ts.nn import functional as F
from ts.nn.modules.hyperparameters import PrintedModule, hyperparameters


@hyperparameters
class _DropoutNd(PrintedModule):
    _dropout: ClassVar[Callable[..., Tensor]]
    p: float = 0.5
    inplace: bool = False

    def __post_init__(self) -> None:
        if self.p < 0 or self.p > 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {self.p}")

    def forward(self, input: Tensor) -> Tensor:
        return self._dropout(input, self.p, self.training, self.inplace)


class Dropout(_DropoutNd):
    """Sets elements to zero with probability `p` in training."""

    _dropout = staticmethod(F.dropout)


class Dropout1d(_DropoutNd):
    """Sets channels of (N, C, L) to zero with probability `p` in training."""

    _dropout = staticmethod(F.dropout1d)


class Dropout2d(_DropoutNd):
    """Sets channels of (N, C, H, W) to zero with probability `p` in training."""

    _dropout = staticmethod(F.dropout2d)


class Dropout3d(_DropoutNd):
    """Sets channels of (N, C, D, H, W) to zero with probability `p` in training."""

    _dropout = staticmethod(F.dropout3d)


class AlphaDropout(_DropoutNd):
    """Sets elements to the negative limit of SELU with probability `p` in training.

    The other elements are scaled and shifted, so that mean and variance remain the same.
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.alpha_dropout(input, self.p, self.training)


class FeatureAlphaDropout(_DropoutNd):
    """AlphaDropout of whole channels."""

    def forward(self, input: Tensor) -> Tensor:
        return F.feature_alpha_dropout(input, self.p, self.training)
