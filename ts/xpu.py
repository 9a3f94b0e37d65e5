"""Intel's GPUs, for which there is no backend.

ts.xpu.is_available()            False
"""

from __future__ import annotations

from ts.unsupported import names_for


def is_available() -> bool:
    """Whether there is a device to use: no."""
    return False


def device_count() -> int:
    """How many there are: none."""
    return 0


def is_initialized() -> bool:
    """Whether one was used: no."""
    return False


__getattr__ = names_for(__name__)
