"""Functions of `torch.func` that `ts` does not support."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def functionalize(func: Callable[..., Any], *, remove: str = "mutations") -> Callable[..., Any]:
    """Raise NotImplementedError, because removing in-place writes from a function requires its graph."""
    raise NotImplementedError(
        "functionalize is not supported: create a graph with `ts.jit.trace` or `ts.jit.script`, and remove "
        "mutations with `ts.passes`"
    )
