"""What programs import from `functorch.experimental`."""

from ts.functorch.experimental import control_flow

__all__ = ["control_flow"]
