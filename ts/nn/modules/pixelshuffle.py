"""PixelShuffle and PixelUnshuffle: rearrange channels to pixels, and pixels to channels."""

from __future__ import annotations

from ts._core.tensor.tensor import Tensor
from ts.nn import functional as F
from ts.nn.modules.hyperparameters import PrintedModule, hyperparameters


@hyperparameters
class PixelShuffle(PrintedModule):
    """Rearranges channels to pixels: (N, C r r, H, W) to (N, C, H r, W r)."""

    upscale_factor: int

    def forward(self, input: Tensor) -> Tensor:
        return F.pixel_shuffle(input, self.upscale_factor)


@hyperparameters
class PixelUnshuffle(PrintedModule):
    """Rearranges pixels to channels: (N, C, H r, W r) to (N, C r r, H, W)."""

    downscale_factor: int

    def forward(self, input: Tensor) -> Tensor:
        return F.pixel_unshuffle(input, self.downscale_factor)
