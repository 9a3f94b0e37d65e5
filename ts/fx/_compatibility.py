"""PyTorch's decorator that marks backward-compatible functions, which has no effect here."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def compatibility(is_backward_compatible: bool) -> Callable[[T], T]:
    """Return a decorator that returns its argument unchanged."""
    return lambda marked: marked
