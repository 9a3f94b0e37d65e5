"""The other processes, and the connections to them.

    peer.send(message, done)              from any thread, at once; the loop calls done(answer, error)
    peer.channel(how, 1.0).call(...)      this thread's own connection, which it waits on

Messages to a process that there is no connection to yet wait for one, in order.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any, Final

from ts.distributed.comm import Channel
from ts.distributed.comm.backend import connect
from ts.distributed.comm.calls import Calls, Done
from ts.distributed.loop import loop
from ts.ops.rref import WorkerInfo

_PATIENCE: Final = 10.0  # seconds in which another process accepts a connection

How = Callable[[], dict[str, Any]]  # what a connection is made with


class Gone(RuntimeError):
    """Another process is no longer there, or cannot be reached."""


class Peer:
    """Another process, or this one: where it listens, and what it has been sent."""

    def __init__(self, info: WorkerInfo, address: str, here: int, how: How) -> None:
        self.info = info
        self.codes: set[str] = set()  # digests of the code that it has
        self.address = address
        self._hello = ["hello", here]
        self._how = how
        self._calls: Calls | None = None
        self._lock = threading.Lock()  # of what follows
        self._waiting: list[tuple[Any, Done]] = []
        self._connecting = False
        self._channels = threading.local()

    def send(self, message: Any, done: Done) -> None:
        """Send a message, as soon as there is a connection."""
        calls = self._calls
        if calls is None or calls.closed:
            with self._lock:
                calls = self._calls
                if calls is None or calls.closed:
                    self._waiting.append((message, done))
                    if not self._connecting:
                        self._connecting = True
                        asyncio.run_coroutine_threadsafe(self._connect(), loop())
                    return
        _submit(calls, message, done)

    async def _connect(self) -> None:
        calls: Calls | None = None
        error: Exception | None = None
        try:
            async with asyncio.timeout(_PATIENCE):
                calls = Calls(await connect(self.address, **self._how()))
            calls.submit(self._hello, _ignore)
        except (OSError, TimeoutError) as failure:
            error = failure if str(failure) else TimeoutError(f"it does not answer in {_PATIENCE:.0f} s")
        with self._lock:
            self._calls, self._connecting = calls, False
            waiting, self._waiting = self._waiting, []
            if calls is not None:
                for message, done in waiting:
                    _submit(calls, message, done)
        if error is not None:
            for _, done in waiting:
                done(None, error)

    def channel(self, timeout: float | None) -> Channel:
        """This thread's connection. OSError where there is none in `timeout` seconds."""
        channel = getattr(self._channels, "channel", None)
        if channel is None or channel.closed:
            patience = _PATIENCE if timeout is None else min(timeout, _PATIENCE)
            channel = self._channels.channel = Channel(self.address, timeout=patience, **self._how())
            channel.call([0, self._hello], patience)
        return channel  # type: ignore[no-any-return]

    def close(self) -> None:
        """Let go of the connection that calls share."""
        with self._lock:
            self._calls = None


def _submit(calls: Calls, message: Any, done: Done) -> None:
    try:
        calls.submit(message, done)
    except OSError as error:
        loop().call_soon_threadsafe(done, None, error)


def _ignore(answered: Any, error: Exception | None) -> None:
    """Nobody waits for this answer."""
