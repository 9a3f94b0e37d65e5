"""Thread pool (inter-op parallelism, task queue) of daemon threads for forked programs (fork-join).

The pool runs queued `ScriptCoroutine` objects. Each queued program starts a new thread until the pool has
`get_num_interop_threads()` threads. A waiting program occupies no thread. Therefore, one thread is sufficient
for any number of programs. A thread outside of the pool that waits for a queued program may run this program.
"""

from __future__ import annotations

import os
from queue import SimpleQueue
from threading import Lock, Thread
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ts._core.vm.execution import ScriptCoroutine

_queue: SimpleQueue[ScriptCoroutine] = SimpleQueue()
_starting = Lock()
_running = 0
_size = 0  # number of threads that was set by `set_num_interop_threads`, or 0 for the number of CPUs


def submit(program: ScriptCoroutine) -> None:
    """Queue a program for a thread of the pool, and start a thread if needed."""
    if _running < get_num_interop_threads():
        _start_thread()
    _queue.put(program)


def _start_thread() -> None:
    global _running
    with _starting:
        if _running < get_num_interop_threads():
            _running += 1
            Thread(target=_work, name=f"ts-{_running}", daemon=True).start()


def _work() -> None:
    while True:
        _queue.get().run_queued()


def get_num_interop_threads() -> int:
    """Return the maximal number of threads for forked programs."""
    return _size or os.cpu_count() or 1


def set_num_interop_threads(count: int) -> None:
    """Set the maximal number of threads for forked programs.

    Raise RuntimeError if a program has already been forked.
    """
    global _size
    if not isinstance(count, int):
        raise RuntimeError(f"set_num_interop_threads expects an int, but got {type(count).__name__}")
    if count <= 0:
        raise RuntimeError("set_num_interop_threads expects a positive integer")
    if _running or _size:
        raise RuntimeError(
            "Error: cannot set number of interop threads after parallel work has started or "
            "set_num_interop_threads called"
        )
    _size = count


def _forget_threads() -> None:
    """Reset the pool in a forked child process, which has no threads of the pool."""
    global _queue, _running, _starting
    _queue, _running, _starting = SimpleQueue(), 0, Lock()


os.register_at_fork(after_in_child=_forget_threads)
