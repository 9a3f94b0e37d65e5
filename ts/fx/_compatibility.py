"""Marks of what stays as it is: PyTorch's decorator, which says so in its documentation only."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def compatibility(is_backward_compatible: bool) -> Callable[[T], T]:
    """A decorator that gives back what it marks."""
    return lambda marked: marked
