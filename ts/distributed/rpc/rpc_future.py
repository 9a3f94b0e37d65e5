"""Futures (promises) of RPC results."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor
from typing import Any

from ts._core.vm.execution import ScriptCoroutine
from ts._core.vm.future import Future
from ts.distributed.event_loop import non_blocking, on_event_loop


class RpcFuture(Future[Any]):
    """Future of an RPC result. Its callbacks run in a pool thread, so they may block and call workers."""

    def __init__(self, pool: Executor) -> None:
        super().__init__()
        self._pool = pool

    def call(self, callback: Callable[[Any], Any]) -> None:
        """Run a callback.

        In the thread of the event loop, a callback that may block is submitted to the thread pool instead.
        """
        wakes = isinstance(getattr(callback, "__self__", None), ScriptCoroutine)
        if on_event_loop() and not wakes and not isinstance(callback, non_blocking):
            self._pool.submit(super().call, callback)
        else:
            super().call(callback)


def copy_outcome(finished: Future[Any], to: Future[Any]) -> None:
    """Set the value or exception of the finished future on the future `to`."""
    error = finished.exception()
    if error is None:
        to.set_result(finished.value())
    else:
        to.set_exception(error)


def map_future(pool: Executor, future: Future[Any], convert: Callable[[Any], Any]) -> RpcFuture:
    """Return a future of `convert(value of future)`.

    If `future` has an exception, the result has the same exception.
    """
    result = RpcFuture(pool)

    def set_converted(finished: Future[Any]) -> None:
        try:
            value = convert(finished.value())
        except Exception as error:
            result.set_exception(error)
        else:
            result.set_result(value)

    future.add_done_callback(set_converted)
    return result
