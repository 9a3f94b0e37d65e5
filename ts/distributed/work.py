"""Asynchronous work handles (`Work`), and the ordered execution of a group's collectives.

In the example, `wait` returns True or raises the error of the collective:

    work = all_reduce(tensor, async_op=True)
    work.wait()

The calls of a group run in the order in which they were started. A call runs in the caller's thread if no
calls are queued, otherwise in the group's thread.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future as _Future
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from ts.distributed.collective_call import CollectiveCall

if TYPE_CHECKING:
    from ts.distributed.peer_links import PeerConnections, Request

Body = Callable[[CollectiveCall], None]


class Work:
    """Handle of an asynchronous operation."""

    def __init__(self, result: Any = None) -> None:
        self._result = result

    def wait(self, timeout: timedelta | None = None) -> bool:
        """Wait until the operation has finished. Raise its error if it failed."""
        raise NotImplementedError

    def is_completed(self) -> bool:
        """Return True if the work has completed."""
        raise NotImplementedError

    def exception(self) -> BaseException | None:
        """Return the error of a finished operation, or None."""
        raise NotImplementedError

    def is_success(self) -> bool:
        """Return True if the work has completed without an error."""
        return self.is_completed() and self.exception() is None

    def result(self) -> Any:
        """Wait until the operation has finished, and return its output tensors."""
        self.wait()
        return self._result

    def synchronize(self) -> None:
        """Wait until the operation has finished."""
        self.wait()

    def get_future(self) -> Any:
        """Return a `ts.futures.Future` of the result."""
        raise NotImplementedError


class Collective(Work):
    """Handle of an asynchronous collective."""

    def __init__(self, future: _Future[None], result: Any) -> None:
        super().__init__(result)
        self._future = future

    def wait(self, timeout: timedelta | None = None) -> bool:
        """Wait until the call has finished. Raise its error if it failed."""
        try:
            self._future.result(None if not timeout else timeout.total_seconds())
        except TimeoutError:
            raise RuntimeError("Work::wait timed out") from None
        return True

    def is_completed(self) -> bool:
        """Return True if the work has completed."""
        return self._future.done()

    def exception(self) -> BaseException | None:
        """Return the error of the finished call, or None."""
        return self._future.exception() if self._future.done() else None

    def get_future(self) -> Any:
        """Return a `ts.futures.Future` of the result tensors."""
        from ts.futures import Future

        future: Any = Future()

        def done(ended: _Future[None]) -> None:
            error = ended.exception()
            future.set_result(self._result) if error is None else future.set_exception(error)

        self._future.add_done_callback(done)
        return future


class Transfer(Work):
    """Handle of an asynchronous send or receive."""

    def __init__(
        self, links: PeerConnections, request: Request, wait: Callable[[float | None], None], result: Any
    ) -> None:
        super().__init__(result)
        self._links, self.request, self._wait = links, request, wait
        self._ended = False

    def wait(self, timeout: timedelta | None = None) -> bool:
        """Wait until the transfer has completed. Raise its error if it failed."""
        if not self._ended:
            self._wait(timeout.total_seconds() if timeout else None)
            self._ended = True
        return True

    def is_completed(self) -> bool:
        """Return True if the transfer has completed."""
        if not self._links.poll(self.request):
            return False
        if self.request.error is None:
            self.wait()
        return True

    def exception(self) -> BaseException | None:
        """Return the error of a transfer that has failed, otherwise None."""
        return self.request.error

    def _source_rank(self) -> int:
        """Return the rank that sent the received tensor."""
        assert self.request.source is not None
        return self.request.source

    source_rank = _source_rank


class CollectiveQueue:
    """Queue that runs the collective calls of one group in order."""

    def __init__(self) -> None:
        self._lock = threading.Lock()  # held while a collective call runs in the thread of its caller
        self._thread: ThreadPoolExecutor | None = None
        self._queued_count = 0

    def run(self, make: Callable[[], CollectiveCall], body: Body) -> None:
        """Create a call, and run it after all queued calls.

        If no calls are queued, the call runs in the calling thread, else in the thread of the group.
        """
        if self._queued_count or not self._lock.acquire(blocking=False):
            self.start(make, body).result()
            return
        try:
            _run(make(), body)
        finally:
            self._lock.release()

    def start(self, make: Callable[[], CollectiveCall], body: Body) -> _Future[None]:
        """Create a call and queue it for the thread of the group."""
        if self._thread is None:
            self._thread = ThreadPoolExecutor(1, "ts.distributed group")
        call = make()
        self._queued_count += 1

        def run_collective() -> None:
            with self._lock:
                _run(call, body)

        future = self._thread.submit(run_collective)
        future.add_done_callback(self._ended)
        return future

    def close(self) -> None:
        """Stop the thread of the group."""
        if self._thread is not None:
            self._thread.shutdown(wait=False, cancel_futures=True)

    def _ended(self, future: _Future[None]) -> None:
        self._queued_count -= 1


def _run(call: CollectiveCall, body: Body) -> None:
    try:
        body(call)
    except BaseException as error:
        call.fail(error)
        raise
