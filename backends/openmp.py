"""PyTorch's query about OpenMP. `ts` uses another thread pool (`ts.set_num_threads`).

ts.backends.openmp.is_available()         False
"""

from __future__ import annotations


def is_available() -> bool:
    """Return False, because operators run on the thread pool of `ts`, not on OpenMP's."""
    return False
