"""Intel's MKL, which multiplies matrices where it is installed (`pip install 'torchscript-ts[mkl]'`).

ts.backends.mkl.is_available()
"""

from __future__ import annotations

from ts.backends.cpu import blas


def is_available() -> bool:
    """Whether matrix products run in MKL."""
    found = blas.library()
    return found is not None and "mkl" in found.name.lower()
