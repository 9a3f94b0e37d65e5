"""Metal, for which there is no backend.

ts.backends.mps.is_available()            False
"""

from __future__ import annotations


def is_available() -> bool:
    """Whether there is a Metal device to use: no."""
    return False


def is_built() -> bool:
    """Whether a backend for Metal is part of this: no."""
    return False
