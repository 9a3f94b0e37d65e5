"""What programs import from `functorch.experimental`."""

from ts._functorch.experimental import control_flow

__all__ = ["control_flow"]
