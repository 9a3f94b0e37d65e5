"""Number of threads of CPU operators: `ts.set_num_threads` and `ts.get_num_threads`.

The number limits the threads that run the partitions of kernels (`ts.backends.cpu.thread_pool`). Forked tasks
(`ts.jit.fork`) run on other threads (`ts.set_num_interop_threads`).

The number does not apply to BLAS and LAPACK. An operator calls BLAS and LAPACK with one thread. The program's
own NumPy calls use the number of threads that BLAS and LAPACK are configured for.
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
