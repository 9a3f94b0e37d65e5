"""PyTorch's decorator for backward-compatible functions. The decorator has no effect in `ts`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def compatibility(is_backward_compatible: bool) -> Callable[[T], T]:
    """Return a decorator that returns its argument unchanged."""
    return lambda marked: marked
