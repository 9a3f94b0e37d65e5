"""Intel GPUs, unsupported: no backend exists.

ts.xpu.is_available()            False
"""

from __future__ import annotations

from ts.unsupported import names_for


def is_available() -> bool:
    """Return False: no Intel GPU backend exists."""
    return False


def device_count() -> int:
    """Return 0: no Intel GPU backend exists."""
    return 0


def is_initialized() -> bool:
    """Return False: no Intel GPU backend exists."""
    return False


__getattr__ = names_for(__name__)
