"""PyTorch's Metal (MPS) queries: `ts` has no Metal backend.

ts.backends.mps.is_available()            False
"""

from __future__ import annotations


def is_available() -> bool:
    """Return False: `ts` supports no Metal device."""
    return False


def is_built() -> bool:
    """Return False: `ts` has no Metal backend."""
    return False
