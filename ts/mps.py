"""Metal devices, which are not supported, because no backend exists.

ts.mps.is_available()            False
"""

from __future__ import annotations

from ts.unsupported import names_for


def is_available() -> bool:
    """Return False, because no Metal backend exists."""
    return False


def device_count() -> int:
    """Return 0, because no Metal backend exists."""
    return 0


__getattr__ = names_for(__name__)
