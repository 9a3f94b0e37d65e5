"""Multiplexing of concurrent calls over one connection by request IDs, with out-of-order responses.

The caller may use any thread:

    calls = RequestMultiplexer(connection)
    calls.call(["add", 1, 2]).result()             waits for the response
    calls.submit(["add", 1, 2], done)              returns at once. The event loop later calls done(3, None)

The other end of the connection calls `handle(["add", 1, 2], reply)` for each request. `reply` sends the
response, now or later, from any thread:

    await answer(connection, handle)
    reply(3)

A broken connection fails all pending calls. Calls submitted while others are pending are sent in batches.

Backpressure: the server stops reading from a connection with MAX_PENDING_CALLS unfinished calls or
MAX_UNSENT_RESPONSE_BYTES of unread responses.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, InvalidStateError
from typing import Any, Final

from ts.distributed.transport.message_codec import MessageTooLargeError
from ts.distributed.transport.transport import Connection

MAX_PENDING_CALLS: Final = 4096  # maximum number of calls of one connection that have not been answered
# maximum size in bytes of the queued responses that a client has not read yet
MAX_UNSENT_RESPONSE_BYTES: Final = 1 << 26

Done = Callable[[Any, Exception | None], None]


class RequestMultiplexer:
    """Client end of a connection with concurrent calls."""

    def __init__(self, connection: Connection, broken: Callable[[], None] | None = None) -> None:
        """Create a client. The event loop calls `broken` when the connection ends."""
        self._connection = connection
        self._broken = broken
        self._request_ids = itertools.count()
        self._pending: dict[int, Done] = {}
        self._error: Exception | None = None
        connection.stream.deliver(self._answered, self._ended)

    @property
    def closed(self) -> bool:
        """Return True if the connection has ended."""
        return self._error is not None

    def close(self) -> None:
        """Close the connection, from any thread."""
        self._broken = None
        self._connection.stream.close_soon()

    def submit(self, message: Any, done: Done) -> None:
        """Send a request. The event loop calls `done(response, None)` or `done(None, error)`."""
        request_id = next(self._request_ids)
        is_only_request = not self._pending
        self._pending[request_id] = done
        try:
            self._connection.stream.post([request_id, message], at_once=is_only_request)
        except BaseException:
            if self._pending.pop(request_id, None) is None:
                return  # `done` was called already
            raise
        if self._error is not None:  # `_ended` may have run before `done` was stored
            self._ended(self._error)

    def call(self, message: Any) -> Future[Any]:
        """Send a request, and return a future of the response, or of a ConnectionError."""
        future: Future[Any] = Future()

        def done(answer: Any, error: Exception | None) -> None:
            try:
                future.set_result(answer) if error is None else future.set_exception(error)
            except InvalidStateError:
                return  # the caller cancelled the future

        self.submit(message, done)
        return future

    def _answered(self, message: Any) -> None:
        error = None
        if type(message) is MessageTooLargeError:
            message, error = message.message, message.error()
        request_id, answer = message
        done = self._pending.pop(request_id, None)
        if done is not None:
            done(None if error is not None else answer, error)

    def _ended(self, error: Exception) -> None:
        first, self._error = self._error is None, error
        for request_id in list(self._pending):
            done = self._pending.pop(request_id, None)
            if done is not None:
                done(None, ConnectionError(str(error)))
        if first and self._broken is not None:
            self._broken()


class Reply:
    """Function that sends the response to one call, from any thread."""

    def __init__(self, answering: _RequestServer, request_id: Any) -> None:
        self._answering, self._request_id = answering, request_id
        # list with the request id, which is emptied when the response is sent. `pop` is atomic, so only one
        # thread sends the response.
        self._open = [request_id]

    def __call__(self, result: Any) -> None:
        """Send the response. Further calls are ignored."""
        try:
            self._open.pop()
        except IndexError:
            return
        try:
            self._answering.reply(self._request_id, result)
        except BaseException:
            # The response could not be encoded. The handler may send another one.
            self._open.append(self._request_id)
            raise

    def count_call(self) -> None:
        """Count the call as unfinished until `finish_call` is called, even after the response was sent."""
        self._answering.unfinished.append(None)

    def finish_call(self) -> None:
        """Count the call as finished."""
        self._answering.finish_call()


class _RequestServer:
    """Server end of a connection with concurrent calls and flow control."""

    def __init__(self, connection: Connection, handle: Callable[[Any, Reply], None]) -> None:
        self.stream = connection.stream
        self.handle = handle
        # One element for each unfinished call. The length of a deque is a counter without a lock.
        self.unfinished: deque[None] = deque()

    def handle_message(self, message: Any) -> None:
        """Handle a received request."""
        if type(message) is MessageTooLargeError:
            (request_id, _), call = message.message, message
        else:
            request_id, call = message
        self.unfinished.append(None)
        self.handle(call, Reply(self, request_id))

    def reply(self, request_id: Any, result: Any) -> None:
        """Send a response, unless the client has disconnected."""
        with contextlib.suppress(ConnectionError):
            self.stream.post([request_id, result], at_once=len(self.unfinished) < 2)
        self.unfinished.pop()
        if self.stream.stopped and not self.stream.closed:
            self.stream.resume_reading()

    def finish_call(self) -> None:
        """Remove a call from the number of unfinished calls. Resume reading if it was paused."""
        self.unfinished.pop()
        if self.stream.stopped and not self.stream.closed:
            self.stream.resume_reading()

    def is_full(self) -> bool:
        """Return True if reading must pause (backpressure).

        Reading pauses while too many calls are unfinished, or too many bytes of responses are unread.
        """
        return len(self.unfinished) >= MAX_PENDING_CALLS or self.stream.unsent >= MAX_UNSENT_RESPONSE_BYTES


async def answer(connection: Connection, handle: Callable[[Any, Reply], None]) -> None:
    """Handle the requests of a connection until it ends."""
    finished = asyncio.get_running_loop().create_future()

    def ended(error: Exception) -> None:
        if not finished.done():
            finished.set_result(None)

    answering = _RequestServer(connection, handle)
    connection.stream.deliver(answering.handle_message, ended, answering.is_full)
    await finished
