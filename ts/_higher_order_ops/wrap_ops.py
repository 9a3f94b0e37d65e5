"""Operators that run a graph in a grad mode or autocast mode, for `with` blocks in exported graphs.

Each operator on the left corresponds to the `with` block on the right:

    operators.wrap_with_set_grad_enabled(False, graph, x)                     with ts.no_grad():
    operators.wrap_with_autocast("cpu", ts.bfloat16, True, False, graph, x)   with ts.autocast("cpu"):

During an export, such an operator runs its function within this block. The tracer records the operators of
the function as nodes of the block.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ts._higher_order_ops.operator import HigherOrderOperator
from ts.amp.autocast_mode import autocast
from ts.autograd.grad_mode import set_grad_enabled


class _WrapWithSetGradEnabled(HigherOrderOperator):
    """Higher-order operator that calls a function with gradients enabled or disabled."""

    name = "wrap_with_set_grad_enabled"

    def run(self, enabled: bool, function: Callable[..., Any], *operands: Any) -> Any:
        """Return `function(*operands)`, called with gradients enabled or disabled."""
        with set_grad_enabled(enabled):
            return function(*operands)


class _WrapWithAutocast(HigherOrderOperator):
    """Higher-order operator that calls a function within an autocast block."""

    name = "wrap_with_autocast"

    def run(
        self,
        device_type: str,
        dtype: Any,
        enabled: bool,
        cache_enabled: bool | None,
        function: Callable[..., Any],
        *operands: Any,
    ) -> Any:
        """Return `function(*operands)`, called within an autocast block."""
        with autocast(device_type, dtype, enabled, cache_enabled):
            return function(*operands)


set_grad_op = _WrapWithSetGradEnabled()
autocast_op = _WrapWithAutocast()

__all__ = ["autocast_op", "set_grad_op"]
