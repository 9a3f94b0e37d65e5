"""Intel MKL, which computes matrix products if installed (`pip install 'torchscript-ts[mkl]'`).

ts.backends.mkl.is_available()
"""

from __future__ import annotations

from typing import Final

from ts.backends.cpu import blas

from .flags import Verbose as verbose

__all__ = ["VERBOSE_OFF", "VERBOSE_ON", "is_available", "verbose"]

VERBOSE_OFF: Final = 0
VERBOSE_ON: Final = 1


def is_available() -> bool:
    """Return whether MKL computes the matrix products of `ts`."""
    loaded = blas.library()
    return loaded is not None and "mkl" in loaded.name.lower()
