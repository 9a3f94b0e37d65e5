"""MIOpen, which is not used: its switch is remembered."""

from __future__ import annotations

from contextlib import AbstractContextManager

from .flags import flags_of

immediate = False


def flags(immediate: bool = False) -> AbstractContextManager[None]:
    """The block in which the switch is this."""
    return flags_of(__name__, immediate=immediate)
