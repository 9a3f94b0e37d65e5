"""Control flow under its names in `functorch.experimental.control_flow`."""

from ts._higher_order_ops import cond, map

__all__ = ["cond", "map"]
