"""Helpers for `__torch_dispatch__`: calls without handlers, and comparison of modes.

In the block, `func` calls no handler of a class or mode:

    with no_dispatch():
        func(*args)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ts._core.dispatch_layers.level_stack import no_transforms as no_dispatch

__all__ = ["all_same_mode", "no_dispatch"]


def all_same_mode(modes: Sequence[Any]) -> bool:
    """Return True if all elements of `modes` are the same object."""
    return all(mode is modes[0] for mode in modes)
