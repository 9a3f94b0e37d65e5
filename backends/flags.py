"""Switches of other libraries that programs set at their top, for a block.

    with ts.backends.cudnn.flags(enabled=False):       the module's `enabled` is False inside

In: a module of settings and values; out: the context in which it has them.  What is set is remembered and
changes nothing: operators here are deterministic and compute float32 in full, whatever is asked for.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Self


@contextmanager
def flags_of(module: str, **values: Any) -> Iterator[None]:
    """Let the module's attributes be these for the block."""
    attributes = vars(sys.modules[module])
    before = {name: attributes[name] for name in values}
    attributes.update(values)
    try:
        yield
    finally:
        attributes.update(before)


class Verbose:
    """The block in which another library would print what it does: it is not used, and nothing is printed."""

    def __init__(self, enable: int) -> None:
        self.enable = enable

    def __enter__(self) -> Self | None:
        return self if self.enable else None

    def __exit__(self, *error: object) -> None:
        """Nothing was asked for."""
