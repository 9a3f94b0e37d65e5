"""Number of threads of the intra-op thread pool of the CPU.

The pool computes the partitions of a kernel in parallel (`kernels/thread_pool.h`). Results have the same bits
with every number of threads. The default number is OMP_NUM_THREADS, else the number of CPUs available to the
process. Example:

    set_count(4)
    partition_count(1 << 20)      4, because 2**20 units of 0.5 ns are enough work for four threads
"""

from __future__ import annotations

from .kernels.parallel_for import count, min_work, set_count

__all__ = ["count", "partition_count", "set_count"]


def partition_count(units: float) -> int:
    """Return the number of partitions (grain size) for work that takes about `units` * 0.5 ns, at least 1."""
    return max(1, min(count(), int(units // min_work())))
