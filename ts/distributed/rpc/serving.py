"""Threads for those who wait: a thread that waits for its answers is served by one that waits for its calls.

    caller's thread                           owner
    ("hello", process, "waits")    ──►        the loop gives the connection to a thread, which says so
    call                           ──►        that thread reads it, runs it, and writes the answer

A call over a connection of the loop is read by one thread and run by another, which costs a fifth of a small
one.  There are at most so many such threads; further connections stay with the loop.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, Final

from ts.distributed.comm.calls import Reply
from ts.distributed.comm.channel import Channel
from ts.distributed.comm.messages import TooLarge

_LOOK: Final = 1.0  # seconds between looks whether somebody still waits for an answer that takes long

_here = threading.local()

Handle = Callable[[Any, Reply], None]


def serves() -> bool:
    """Whether this thread runs what it reads."""
    return getattr(_here, "serves", False)


class Servers:
    """The threads of a process that serve."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._channels: set[Channel] = set()

    @property
    def full(self) -> bool:
        """Whether there are as many as there may be."""
        return len(self._channels) >= self._most

    def start(self, channel: Channel, greeting: Any, handle: Handle) -> Future[None]:
        """Serve a connection whose other end waits for a greeting; the future is finished when it ends."""
        over: Future[None] = Future()
        self._channels.add(channel)

        def run() -> None:
            _here.serves = True
            try:
                channel.send(greeting)
                while True:
                    _serve(channel, handle)
            except (OSError, ValueError, TypeError):
                channel.close()  # the other end has gone, or says what is no call
            finally:
                self._channels.discard(channel)
                over.set_result(None)

        threading.Thread(target=run, name="ts.rpc serves", daemon=True).start()
        return over

    def close(self) -> None:
        """End all connections."""
        for channel in list(self._channels):
            channel.hang_up()


def _serve(channel: Channel, handle: Handle) -> None:
    """Answer one call."""
    message = channel.next()
    if type(message) is TooLarge:
        (number, _), call = message.message, message
    else:
        number, call = message
    reply = _Waited(channel, number)
    handle(call, reply)
    reply.finish()


class _Waited(Reply):
    """The answer to a call, which the thread that serves writes, whoever gives it."""

    def __init__(self, channel: Channel, number: Any) -> None:
        self._channel, self._number = channel, number
        self._open = [number]
        self._server = threading.get_ident()
        self._sent = False
        self._result: Any = None
        self._given = threading.Lock()  # until another thread has given it
        self._given.acquire()

    def __call__(self, result: Any) -> None:
        """Give the answer; a second one is lost."""
        try:
            self._open.pop()
        except IndexError:
            return
        if threading.get_ident() == self._server:
            self._send(result)
        else:
            self._result = result
            self._given.release()

    def finish(self) -> None:
        """Wait until it is given, and write what another thread gave."""
        if self._sent:
            return
        while not self._given.acquire(timeout=_LOOK):
            if self._channel.ended:
                raise ConnectionError("nobody waits for the answer any more")
        self._send(self._result)

    def began(self) -> None:
        """There is one call at a time."""

    def ended(self) -> None:
        """As above."""

    def _send(self, result: Any) -> None:
        try:
            self._channel.send([self._number, result])
        except ValueError as error:  # it may not be sent
            self._channel.send([self._number, ["failed", "ValueError", str(error)]])
        self._sent = True
