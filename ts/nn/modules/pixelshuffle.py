"""PixelShuffle and PixelUnshuffle: rearrange channels to pixels, and pixels to channels."""

from __future__ import annotations

from ts._core.tensor.tensor import Tensor
from ts.nn import functional as F
from ts.nn.modules.module import Module
from ts.nn.modules.ntuple import constructor_text


class PixelShuffle(Module):
    """Rearranges channels to pixels: (N, C r r, H, W) to (N, C, H r, W r)."""

    __constants__ = ["upscale_factor"]
    upscale_factor: int

    def __init__(self, upscale_factor: int) -> None:
        super().__init__()
        self.upscale_factor = upscale_factor

    def forward(self, input: Tensor) -> Tensor:
        return F.pixel_shuffle(input, self.upscale_factor)

    def extra_repr(self) -> str:
        return constructor_text(self, "upscale_factor")


class PixelUnshuffle(Module):
    """Rearranges pixels to channels: (N, C, H r, W r) to (N, C r r, H, W)."""

    __constants__ = ["downscale_factor"]
    downscale_factor: int

    def __init__(self, downscale_factor: int) -> None:
        super().__init__()
        self.downscale_factor = downscale_factor

    def forward(self, input: Tensor) -> Tensor:
        return F.pixel_unshuffle(input, self.downscale_factor)

    def extra_repr(self) -> str:
        return constructor_text(self, "downscale_factor")
