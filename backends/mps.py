"""PyTorch's queries about Metal (MPS), for which `ts` has no backend.

ts.backends.mps.is_available()            False
"""

from __future__ import annotations


def is_available() -> bool:
    """Return False, because `ts` supports no Metal devices."""
    return False


def is_built() -> bool:
    """Return False, because `ts` has no Metal backend."""
    return False
