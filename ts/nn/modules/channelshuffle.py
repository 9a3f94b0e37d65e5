"""ChannelShuffle: interleaves the channels of several groups."""

from __future__ import annotations

from ts._core.tensor.tensor import Tensor
from ts.nn import functional as F
from ts.nn.modules.hyperparameters import PrintedModule, hyperparameters


@hyperparameters
class ChannelShuffle(PrintedModule):
    """Interleaves the channels of `groups` groups."""

    groups: int

    def forward(self, input: Tensor) -> Tensor:
        return F.channel_shuffle(input, self.groups)
