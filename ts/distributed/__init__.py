"""Several processes: not there, and programs that ask run alone.

ts.distributed.is_available()         False
"""

from __future__ import annotations

from ts.absent import names_for


def is_available() -> bool:
    """Whether processes can form a group: no."""
    return False


def is_initialized() -> bool:
    """Whether this process is part of a group: no."""
    return False


__getattr__ = names_for(__name__)
