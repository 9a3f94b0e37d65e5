"""Modules of functions, for exports of few lines."""

from ts import nn


class FunctionOfOne(nn.Module):
    """A module whose `forward` is a function of one argument."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x):
        return self.function(x)


class Function(nn.Module):
    """A module whose `forward` is a function of two arguments."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, a, b):
        return self.function(a, b)
