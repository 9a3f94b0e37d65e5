"""Number of threads of CPU operators: `ts.set_num_threads` and `ts.get_num_threads`.

Input: a number. Output: the number of threads that CPU kernels use (matrix products, convolutions, pooling),
in `ts.backends.cpu.thread_pool`:

    ts.set_num_threads(1)            matrix products and convolutions run on one thread
    ts.get_num_threads()             1

In operators, NumPy's linear algebra runs on one thread (`ts.backends.cpu.kernels.blas_thread_limit`).
Elsewhere, it uses the number of threads that its library is configured for. Forked tasks have separate
threads, whose number `ts.set_num_interop_threads` sets.
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
