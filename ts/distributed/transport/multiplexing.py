"""Concurrent calls over one connection: requests are numbered, responses arrive in any order.

    calls = RequestMultiplexer(connection)
    calls.call(["add", 1, 2]).result()             from any thread
    await calls.ask(["add", 1, 2])                 in the loop
    calls.submit(["add", 1, 2], done)              from any thread; the loop calls done(3, None)

    await answer(connection, handle)               at the other end: calls handle(["add", 1, 2], reply)
    reply(3)                                       once per request, now or later, from any thread

The meaning of messages and errors is defined by the caller.  A broken connection fails all pending calls at
once.  A single call is sent immediately; calls submitted while others are pending are sent in batches.

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

MAX_PENDING_CALLS: Final = 4096  # unfinished calls of a connection
MAX_UNSENT_RESPONSE_BYTES: Final = 1 << 26  # unread responses of a connection

Done = Callable[[Any, Exception | None], None]


class RequestMultiplexer:
    """Client end of a multiplexed connection."""

    def __init__(self, connection: Connection, broken: Callable[[], None] | None = None) -> None:
        """Initialize; the loop calls `broken` when the connection ends."""
        self._connection = connection
        self._broken = broken
        self._numbers = itertools.count()
        self._waiting: dict[int, Done] = {}
        self._error: Exception | None = None
        connection.stream.deliver(self._answered, self._ended)

    @property
    def closed(self) -> bool:
        """Return whether the connection has ended."""
        return self._error is not None

    def close(self) -> None:
        """Close the connection, from any thread."""
        self._broken = None
        self._connection.stream.close_soon()

    def submit(self, message: Any, done: Done) -> None:
        """Send a request; the loop calls `done` with the response, or with None and the error."""
        number = next(self._numbers)
        alone = not self._waiting
        self._waiting[number] = done
        try:
            self._connection.stream.post([number, message], at_once=alone)
        except BaseException:
            if self._waiting.pop(number, None) is None:
                return  # `done` has been called
            raise
        if self._error is not None:  # the connection may have ended before the request was registered
            self._ended(self._error)

    def call(self, message: Any) -> Future[Any]:
        """Send a message; the future has its answer, or a ConnectionError."""
        future: Future[Any] = Future()

        def done(answer: Any, error: Exception | None) -> None:
            try:
                future.set_result(answer) if error is None else future.set_exception(error)
            except InvalidStateError:
                return  # the call was cancelled

        self.submit(message, done)
        return future

    async def ask(self, message: Any) -> Any:
        """Send a message and wait for its answer, in the loop."""
        future = asyncio.get_running_loop().create_future()

        def done(answer: Any, error: Exception | None) -> None:
            if not future.done():
                future.set_result(answer) if error is None else future.set_exception(error)

        self.submit(message, done)
        return await future

    def _answered(self, message: Any) -> None:
        error = None
        if type(message) is MessageTooLargeError:
            message, error = message.message, message.error()
        number, answer = message
        done = self._waiting.pop(number, None)
        if done is not None:
            done(None if error is not None else answer, error)

    def _ended(self, error: Exception) -> None:
        first, self._error = self._error is None, error
        for number in list(self._waiting):
            done = self._waiting.pop(number, None)
            if done is not None:
                done(None, ConnectionError(str(error)))
        if first and self._broken is not None:
            self._broken()


class Reply:
    """Answers one call, once; from any thread."""

    def __init__(self, answering: _RequestServer, number: Any) -> None:
        self._answering, self._number = answering, number
        self._open = [number]  # emptied by the first response

    def __call__(self, result: Any) -> None:
        """Send the response; later ones are ignored."""
        try:
            self._open.pop()
        except IndexError:
            return
        try:
            self._answering.reply(self._number, result)
        except BaseException:
            self._open.append(self._number)  # encoding failed: another response may be sent
            raise

    def began(self) -> None:
        """Count an operation that continues after its response as pending until `ended`."""
        self._answering.under_way.append(None)

    def ended(self) -> None:
        """Record the end of the call."""
        self._answering.over()


class _RequestServer:
    """Server end of a multiplexed connection."""

    def __init__(self, connection: Connection, handle: Callable[[Any, Reply], None]) -> None:
        self.stream = connection.stream
        self.handle = handle
        self.under_way: deque[None] = deque()  # an element per unfinished call, as a counter without lock

    def one(self, message: Any) -> None:
        """Handle a received call."""
        if type(message) is MessageTooLargeError:
            (number, _), call = message.message, message
        else:
            number, call = message
        self.under_way.append(None)
        self.handle(call, Reply(self, number))

    def reply(self, number: Any, result: Any) -> None:
        """Send a response unless the caller has disconnected."""
        with contextlib.suppress(ConnectionError):
            self.stream.post([number, result], at_once=len(self.under_way) < 2)
        self.under_way.pop()
        if self.stream.stopped and not self.stream.closed:
            self.stream.go_on()

    def over(self) -> None:
        """Count down a pending operation that outlived its response."""
        self.under_way.pop()
        if self.stream.stopped and not self.stream.closed:
            self.stream.go_on()

    def is_full(self) -> bool:
        """Return whether reading is paused: too many pending calls or unsent response bytes."""
        return len(self.under_way) >= MAX_PENDING_CALLS or self.stream.unsent >= MAX_UNSENT_RESPONSE_BYTES


async def answer(connection: Connection, handle: Callable[[Any, Reply], None]) -> None:
    """Serve calls until the connection ends."""
    over = asyncio.get_running_loop().create_future()

    def ended(error: Exception) -> None:
        if not over.done():
            over.set_result(None)

    answering = _RequestServer(connection, handle)
    connection.stream.deliver(answering.one, ended, answering.is_full)
    await over
