"""Calls that a block waits for at its end.

with rpc.api._wait_all():
    rpc.rpc_async("worker1", torch.add, args=(x, 1))
    rpc.rpc_async("worker2", torch.add, args=(x, 1))  # both are over at the end; what one raised is raised
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ts._core.vm.future import Future
from ts.distributed.loop import at_once


class _Blocks(threading.local):
    """The calls of each block that a thread is inside of."""

    def __init__(self) -> None:
        self.calls: list[list[Future[Any]]] = []


_blocks = _Blocks()


def noted(future: Future[Any]) -> Future[Any]:
    """The future of a call, which the innermost block of this thread waits for."""
    if _blocks.calls:
        _blocks.calls[-1].append(future)
    return future


@contextmanager
def _wait_all() -> Iterator[None]:
    """Wait at the end for all that `rpc_async` gave this thread inside; blocks may nest."""
    _blocks.calls.append([])
    try:
        yield
    finally:
        _wait(_blocks.calls.pop())


def _wait(calls: list[Future[Any]]) -> None:
    """Wait until all are over, and raise what the first of them raised that did."""
    done: queue.SimpleQueue[None] = queue.SimpleQueue()
    for call in calls:
        call.add_done_callback(at_once(lambda _: done.put(None)))
    for _ in calls:
        done.get()
    for call in calls:
        call.wait()
