"""NNPACK, which is not used: its switch is remembered."""

from __future__ import annotations

from contextlib import AbstractContextManager

from .flags import flags_of

enabled = True


def is_available() -> bool:
    """Whether convolutions can run in NNPACK: no."""
    return False


def set_flags(_enabled: bool) -> tuple[bool]:
    """Set the switch; what it was."""
    global enabled
    before, enabled = enabled, _enabled
    return (before,)


def flags(enabled: bool = False) -> AbstractContextManager[None]:
    """The block in which the switch is this."""
    return flags_of(__name__, enabled=enabled)
