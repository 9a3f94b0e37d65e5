"""Many calls over one connection: each has a number, and answers come in any order.

    calls = Calls(comm)
    calls.call(["add", 1, 2]).result()             from any thread
    await calls.ask(["add", 1, 2])                 in the loop
    calls.submit(["add", 1, 2], done)              from any thread; the loop calls done(3, None)

    await answer(comm, handle)                     the other end: handle(["add", 1, 2], reply) calls
    reply(3)                                       reply once, now or later, from any thread

What a call is, and how an answer says that it failed, is for those above.  A connection that breaks fails the
calls that wait, at once.  A call by itself leaves at once; those that come while others wait leave together.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable
from concurrent.futures import Future, InvalidStateError
from typing import Any

from ts.distributed.comm.backend import Comm

Done = Callable[[Any, Exception | None], None]
Reply = Callable[[Any], None]


class Calls:
    """The end that calls."""

    def __init__(self, comm: Comm) -> None:
        self._comm = comm  # which closes the connection when nobody holds it
        self._numbers = itertools.count()
        self._waiting: dict[int, Done] = {}
        self._error: Exception | None = None
        comm.stream.deliver(self._answered, self._ended)

    @property
    def closed(self) -> bool:
        """Whether the connection has ended."""
        return self._error is not None

    def submit(self, message: Any, done: Done) -> None:
        """Send a message; the loop calls `done` with its answer, or with None and why there is none."""
        number = next(self._numbers)
        alone = not self._waiting
        self._waiting[number] = done
        try:
            self._comm.stream.post([number, message], at_once=alone)
        except BaseException:
            if self._waiting.pop(number, None) is None:
                return  # `done` has been told
            raise
        if self._error is not None:  # whoever told the others may have come before
            self._ended(self._error)

    def call(self, message: Any) -> Future[Any]:
        """Send a message; the future has its answer, or a ConnectionError."""
        future: Future[Any] = Future()

        def done(answer: Any, error: Exception | None) -> None:
            try:
                future.set_result(answer) if error is None else future.set_exception(error)
            except InvalidStateError:
                return  # it was cancelled

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
        number, answer = message
        done = self._waiting.pop(number, None)
        if done is not None:
            done(answer, None)

    def _ended(self, error: Exception) -> None:
        self._error = error
        for number in list(self._waiting):
            done = self._waiting.pop(number, None)
            if done is not None:
                done(None, ConnectionError(str(error)))


async def answer(comm: Comm, handle: Callable[[Any, Reply], None]) -> None:
    """Answer calls until the connection ends."""
    over = asyncio.get_running_loop().create_future()
    open_calls: set[int] = set()

    def one(message: Any) -> None:
        number, call = message
        open_calls.add(number)
        handle(call, lambda result: reply(number, result))

    def reply(number: int, result: Any) -> None:
        open_calls.discard(number)
        try:
            comm.stream.post([number, result], at_once=not open_calls)
        except ConnectionError:
            return  # nobody waits for it any more

    def ended(error: Exception) -> None:
        if not over.done():
            over.set_result(None)

    comm.stream.deliver(one, ended)
    await over
