"""Modules that wrap functions, for exports of short functions."""

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


def module_of(function, args):
    """Return a module that runs a function of one or two arguments."""
    return (FunctionOfOne if len(args) == 1 else Function)(function)


def add_one_if_asserted(x, n):
    """Return x + 1; assert that x is positive. (pytest rewrites `assert` in test files.)"""
    assert n.item() > 0
    return x + 1
