"""ChannelShuffle: interleaves the channels of several groups."""

from __future__ import annotations

from ts._core.tensor.tensor import Tensor
from ts.nn import functional as F
from ts.nn.modules.module import Module
from ts.nn.modules.ntuple import constructor_text


class ChannelShuffle(Module):
    """Interleaves the channels of `groups` groups."""

    __constants__ = ["groups"]
    groups: int

    def __init__(self, groups: int) -> None:
        super().__init__()
        self.groups = groups

    def forward(self, input: Tensor) -> Tensor:
        return F.channel_shuffle(input, self.groups)

    def extra_repr(self) -> str:
        return constructor_text(self, "groups")
