"""Experimental package of `functorch`, which contains `control_flow`."""

from ts.functorch.experimental import control_flow

__all__ = ["control_flow"]
