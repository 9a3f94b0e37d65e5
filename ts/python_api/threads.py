"""How many threads an operator may use: `ts.set_num_threads` and `ts.get_num_threads`.

In: a number.  Out: that of the threads of our own kernels (`ts.backends.cpu.thread_pool`: products of
matrices, convolutions, pooling):

    ts.set_num_threads(1)            matrix products and convolutions run on one thread
    ts.get_num_threads()             1

NumPy's linear algebra runs on one thread inside operators (`ts.backends.cpu.kernels.one_thread`), outside
of them on as many as the program has told it to.  Forked programs have threads of their own:
`ts.set_num_interop_threads`.
"""

from __future__ import annotations

from ts.backends.cpu import thread_pool


def set_num_threads(count: int) -> None:
    """Set how many threads an operator uses on the CPU."""
    if not isinstance(count, int) or isinstance(count, bool):
        raise RuntimeError(f"set_num_threads expects an int, but got {type(count).__name__}")
    if count <= 0:
        raise RuntimeError("set_num_threads expects a positive integer")
    thread_pool.set_count(count)


def get_num_threads() -> int:
    """How many threads an operator uses on the CPU."""
    return int(thread_pool.count())
