"""PyTorch's OpenMP query: `ts` has its own thread pool (`ts.set_num_threads`).

ts.backends.openmp.is_available()         False
"""

from __future__ import annotations


def is_available() -> bool:
    """Return False: operators run on the thread pool of `ts`, not OpenMP's."""
    return False
