"""Number of threads of CPU operators: `ts.set_num_threads` and `ts.get_num_threads`.

    ts.set_num_threads(1)            matrix products, convolutions, fusion groups ... run on one thread
    ts.get_num_threads()             1

The number limits the threads of `ts.backends.cpu.thread_pool`, which run the partitions of kernels. It does
not apply to BLAS and LAPACK: a BLAS or LAPACK call inside of an operator uses one thread
(`ts.backends.cpu.kernels.blas_thread_limit`), and the program's own NumPy calls use the number that the
library is configured for. Forked tasks (`ts.jit.fork`) run on other threads (`ts.set_num_interop_threads`).
"""

from __future__ import annotations

from ts.backends.cpu import thread_pool


def set_num_threads(count: int) -> None:
    """Set the number of threads per CPU operator."""
    if not isinstance(count, int) or isinstance(count, bool):
        raise RuntimeError(f"set_num_threads expects an int, but got {type(count).__name__}")
    if count <= 0:
        raise RuntimeError("set_num_threads expects a positive integer")
    thread_pool.set_count(count)


def get_num_threads() -> int:
    """Return the number of threads per CPU operator."""
    return int(thread_pool.count())
