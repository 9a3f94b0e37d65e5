"""OpenMP, which is not used: threads are Python's and our own (`ts.set_num_threads`).

ts.backends.openmp.is_available()         False
"""

from __future__ import annotations


def is_available() -> bool:
    """Whether operators run on OpenMP's threads: no."""
    return False
