"""Passes over graphs: `torch.fx.passes`."""

from ts.absent import names_for

__getattr__ = names_for(__name__)
