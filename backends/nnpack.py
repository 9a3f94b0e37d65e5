"""PyTorch's NNPACK setting. It has no effect, because `ts` does not use NNPACK."""

from __future__ import annotations

from contextlib import AbstractContextManager

from .flags import flags_of

enabled = True


def is_available() -> bool:
    """Return False, because `ts` does not use NNPACK."""
    return False


def set_flags(_enabled: bool) -> tuple[bool]:
    """Set `enabled` and return a tuple with its previous value."""
    global enabled
    before, enabled = enabled, _enabled
    return (before,)


def flags(enabled: bool = False) -> AbstractContextManager[None]:
    """Return a context manager that sets `enabled` temporarily."""
    return flags_of(__name__, enabled=enabled)
