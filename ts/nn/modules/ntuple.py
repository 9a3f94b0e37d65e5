"""Conversion of hyperparameters to tuples with one number for each dimension.

For example, `to_ntuple(3, 2)` returns `(3, 3)`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


def to_ntuple(value: Any, n: int) -> tuple[Any, ...]:
    """Return a tuple with one number for each of `n` dimensions."""
    return tuple(value) if isinstance(value, Iterable) else (value,) * n


def constructor_text(module: Any, *names: str) -> str:
    """Return `name=value` pairs of the given attributes as text for `extra_repr`."""
    return ", ".join(f"{name}={getattr(module, name)}" for name in names)
