"""Context in which the kernels divide also small inputs among threads."""

import contextlib

from ts.backends.cpu.kernels import parallel_for


@contextlib.contextmanager
def divided_work(threads, min_work=1):
    """Set the number of threads, and the minimal work of a partition in units of 0.5 ns."""
    before = parallel_for.count(), parallel_for.min_work()
    parallel_for.set_count(threads)
    parallel_for.set_min_work(min_work)
    try:
        yield
    finally:
        parallel_for.set_count(before[0])
        parallel_for.set_min_work(before[1])
