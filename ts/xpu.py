"""Intel GPUs, which are not supported, because no backend exists.

ts.xpu.is_available()            False
"""

from __future__ import annotations

from ts.unsupported import names_for


def is_available() -> bool:
    """Return False, because no backend for Intel GPUs exists."""
    return False


def device_count() -> int:
    """Return 0, because no backend for Intel GPUs exists."""
    return 0


def is_initialized() -> bool:
    """Return False, because no backend for Intel GPUs exists."""
    return False


__getattr__ = names_for(__name__)
