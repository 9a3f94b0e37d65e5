"""What is not there, by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def functionalize(func: Callable[..., Any], *, remove: str = "mutations") -> Callable[..., Any]:
    """NotImplementedError: who takes writes in place out of a function needs its graph."""
    raise NotImplementedError(
        "functionalize is not supported: `ts.jit.trace` or `ts.jit.script` give a graph, whose passes remove "
        "mutations"
    )
