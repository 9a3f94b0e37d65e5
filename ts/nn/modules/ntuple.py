"""Hyperparameters that are one number for all dimensions, or one for each: `spread(3, 2)` is `(3, 3)`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


def spread(value: Any, n: int) -> tuple[Any, ...]:
    """Return a tuple with one number for each of `n` dimensions."""
    return tuple(value) if isinstance(value, Iterable) else (value,) * n


def constructor_text(module: Any, *names: str) -> str:
    """Return a text for `extra_repr` with the names and values of attributes."""
    return ", ".join(f"{name}={getattr(module, name)}" for name in names)
