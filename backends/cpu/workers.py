"""The threads that share the work of one operator on the CPU.

In: a function of (part, parts); out: nothing, all parts have run.  Which elements a part computes must not
change their values, so that every number of threads gives the same bits.

    run(lambda part, parts: fill(part, parts), 2)      part 0 on this thread, part 1 on a worker

The number of threads is that of `ts.set_num_threads`; at the start OMP_NUM_THREADS, else the processors that
this process may use.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

LEAST = 1 << 17  # units of about 0.5 ns that are worth a thread: handing over takes some 30 us
_count = 0
_pool: ThreadPoolExecutor | None = None
_size = 0  # of the pool


def count() -> int:
    """How many threads an operator may use."""
    global _count
    if _count == 0:
        given = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0]
        _count = int(given) if given.isdecimal() and int(given) > 0 else _processors()
    return _count


def set_count(threads: int) -> None:
    """Let operators use this many threads."""
    global _count
    _count = threads


def _processors() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def parts(units: int) -> int:
    """Into how many parts to divide so much work."""
    return max(1, min(_count or count(), units // LEAST))


def run(function: Callable[[int, int], None], parts: int) -> None:
    """Run all parts on the worker threads and wait for them; then raise the first exception, if any.

    While the interpreter shuts down (a thread that outlives the main thread, an `atexit` handler) and when
    the system has no more threads, the parts that no worker takes run on the calling thread.
    """
    if parts == 1:
        function(0, 1)
        return
    waiting, own = [], [0]
    for part in range(1, parts):
        try:
            waiting.append(_workers(parts - 1).submit(function, part, parts))
        except RuntimeError:
            own.append(part)
    try:
        for part in own:
            function(part, parts)
    finally:
        failures = [future.exception() for future in waiting]
    for failure in failures:
        if failure is not None:
            raise failure


def _workers(least: int) -> ThreadPoolExecutor:
    """A pool of at least so many threads."""
    global _pool, _size
    pool = _pool
    if pool is None or _size < least:
        from concurrent.futures import ThreadPoolExecutor  # here: it takes milliseconds to import

        pool = _pool = ThreadPoolExecutor(least, "ts-worker")
        _size = least
    return pool


def _forget() -> None:
    """The threads of a process do not live in its forks."""
    global _pool
    _pool = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
