"""Intra-op thread pool of the CPU, a parallel for loop with static scheduling of an operator's partitions.

`run` calls a function for each partition, and returns when all partitions have run. For bit-identical results
with every number of threads, elements must not depend on the division into partitions. The default number of
threads is OMP_NUM_THREADS, else the number of CPUs available to the process. Example:

    run(lambda i, n: fill(i, n), 2)      fill(0, 2) on this thread, fill(1, 2) on a worker thread
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from .kernels.parallel_for import count as count
from .kernels.parallel_for import set_count as set_count

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

# Minimal work of a partition, in units of 0.5 ns. It corresponds to about 65 us. Starting a thread takes
# about 30 us, so a thread for less work would not pay off.
MIN_WORK_PER_THREAD = 1 << 17
_pool: ThreadPoolExecutor | None = None
_size = 0  # number of threads in the pool


def partition_count(units: int) -> int:
    """Return the number of partitions (grain size) for work that takes about `units` * 0.5 ns, at least 1."""
    return max(1, min(count(), units // MIN_WORK_PER_THREAD))


def run(function: Callable[[int, int], None], partition_count: int) -> None:
    """Run partition 0 on this thread and the others on worker threads.

    Wait for all partitions, and raise the first exception. If no worker thread can be started, all partitions
    run on this thread. This happens during the shutdown of the interpreter, and if the system cannot create
    threads.
    """
    if partition_count == 1:
        function(0, 1)
        return
    futures, own = [], [0]
    for partition in range(1, partition_count):
        try:
            futures.append(_workers(partition_count - 1).submit(function, partition, partition_count))
        except RuntimeError:
            own.append(partition)
    try:
        for partition in own:
            function(partition, partition_count)
    finally:
        failures = [future.exception() for future in futures]
    for failure in failures:
        if failure is not None:
            raise failure


def _workers(min_threads: int) -> ThreadPoolExecutor:
    """Return a thread pool of at least `min_threads` threads."""
    global _pool, _size
    executor = _pool
    if executor is None or _size < min_threads:
        # imported here, because the import takes milliseconds
        from concurrent.futures import ThreadPoolExecutor

        executor = _pool = ThreadPoolExecutor(min_threads, "ts-worker")
        _size = min_threads
    return executor


def _drop_pool() -> None:
    """Drop the pool in a forked child (fork safety), because the pool's threads do not exist there."""
    global _pool
    _pool = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_drop_pool)
