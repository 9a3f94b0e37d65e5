"""Backward-compatibility decorator with PyTorch's name; it has no effect."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def compatibility(is_backward_compatible: bool) -> Callable[[T], T]:
    """A decorator that gives back what it marks."""
    return lambda marked: marked
