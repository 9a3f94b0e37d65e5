"""`_wait_all`, a context manager that waits for all asynchronous calls made within it.

The end of the block waits for both calls, and raises the first error:

    with rpc.api._wait_all():
        rpc.rpc_async("worker1", torch.add, args=(x, 1))
        rpc.rpc_async("worker2", torch.add, args=(x, 1))
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ts._core.vm.future import Future
from ts.distributed.event_loop import non_blocking


class _PendingCalls(threading.local):
    """List of futures for each open `_wait_all` block of this thread, innermost last."""

    def __init__(self) -> None:
        self.calls: list[list[Future[Any]]] = []


_thread_state = _PendingCalls()


def add_to_wait_all(future: Future[Any]) -> Future[Any]:
    """Add a future to the innermost `_wait_all` block of this thread, if there is a block.

    Return the future.
    """
    if _thread_state.calls:
        _thread_state.calls[-1].append(future)
    return future


@contextmanager
def _wait_all() -> Iterator[None]:
    """Wait, at the end of the block, for all futures that `rpc_async` returned within it.

    Blocks may be nested.
    """
    _thread_state.calls.append([])
    try:
        yield
    finally:
        _wait(_thread_state.calls.pop())


def _wait(calls: list[Future[Any]]) -> None:
    """Wait until all calls are done, and raise the exception of the first call in the list that failed."""
    done: queue.SimpleQueue[None] = queue.SimpleQueue()
    for call in calls:
        call.add_done_callback(non_blocking(lambda _: done.put(None)))
    for _ in calls:
        done.get()
    for call in calls:
        call.wait()
