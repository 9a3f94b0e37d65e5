"""Upsample, UpsamplingNearest2d and UpsamplingBilinear2d."""

from __future__ import annotations

from typing import Any

from ts._core.tensor.tensor import Tensor
from ts.nn import functional as F
from ts.nn.modules.hyperparameters import hyperparameters
from ts.nn.modules.module import Module


@hyperparameters
class Upsample(Module):
    """Resamples its input to a given size or by a scale factor."""

    __constants__ = ["size", "scale_factor", "mode", "align_corners", "name", "recompute_scale_factor"]
    size: Any = None
    scale_factor: Any = None
    mode: str = "nearest"
    align_corners: bool | None = None
    recompute_scale_factor: bool | None = None

    def __post_init__(self) -> None:
        self.name = type(self).__name__
        factor = self.scale_factor
        if isinstance(factor, tuple):
            self.scale_factor = tuple(float(each) for each in factor)
        else:
            self.scale_factor = float(factor) if factor else None

    def forward(self, input: Tensor) -> Tensor:
        return F.interpolate(
            input,
            self.size,
            self.scale_factor,
            self.mode,
            self.align_corners,
            recompute_scale_factor=self.recompute_scale_factor,
        )

    def extra_repr(self) -> str:
        target = f"size={self.size}" if self.scale_factor is None else f"scale_factor={self.scale_factor}"
        return f"{target}, mode={self.mode!r}"


class UpsamplingNearest2d(Upsample):
    """Upsamples images to the nearest pixel."""

    def __init__(self, size: Any = None, scale_factor: Any = None) -> None:
        super().__init__(size, scale_factor, mode="nearest")


class UpsamplingBilinear2d(Upsample):
    """Upsamples images bilinearly, with aligned corners."""

    def __init__(self, size: Any = None, scale_factor: Any = None) -> None:
        super().__init__(size, scale_factor, mode="bilinear", align_corners=True)
