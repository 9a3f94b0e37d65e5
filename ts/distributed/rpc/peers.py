"""The other processes, and the connections to them.

    peer.send(message, done)              from any thread, at once; the loop calls done(answer, error)
    peer.channel(1.0).call(...)           this thread's own connection, which it waits on

Messages to a process that there is no connection to yet wait for one, in order.  A connection that breaks is
made again, if the process is there: else the other one would take this one for gone, and forget its handles.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any, Final
from weakref import WeakSet

from ts.distributed.comm import Channel
from ts.distributed.comm.backend import connect
from ts.distributed.comm.calls import Calls, Done
from ts.distributed.loop import loop
from ts.distributed.rpc.posts import Posts
from ts.ops.rref import WorkerInfo

_PATIENCE: Final = 10.0  # seconds in which another process accepts a connection
_AGAIN: Final = (0.2, 1.0, 4.0, 8.0, 12.0)  # seconds until a connection that broke is made again

How = Callable[[], dict[str, Any]]  # what a connection is made with


class Peer:
    """Another process, or this one: where it listens, and what it has been sent."""

    def __init__(self, info: WorkerInfo, address: str, here: int, how: How) -> None:
        self.info = info
        self.codes: set[str] = set()  # digests of the code that it has
        self.address = address
        self._hello = ["hello", here, info.id]  # another that listens there by now hangs up
        self._how = how
        self._calls: Calls | None = None
        self.posts = Posts(self.send)
        self._lock = threading.Lock()  # of what follows
        self._waiting: list[tuple[Any, Done]] = []
        self._connecting = False
        self._closed = False
        self._channels = threading.local()
        self._all_channels: WeakSet[Channel] = WeakSet()

    def send(self, message: Any, done: Done) -> None:
        """Send a message, as soon as there is a connection."""
        calls = self._calls
        if calls is None or calls.closed:
            with self._lock:
                calls = self._calls
                if self._closed:
                    loop().call_soon_threadsafe(done, None, ConnectionAbortedError("this process has left"))
                    return
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
                calls = Calls(await connect(self.address, **self._how()), self._broken)
            calls.submit(self._hello, _ignore)
        except Exception as failure:  # for whoever waits
            error = failure if str(failure) else TimeoutError(f"it does not answer in {_PATIENCE:.0f} s")
        with self._lock:
            self._calls, self._connecting = calls, False
            if calls is not None and self._closed:
                calls.close()
            waiting, self._waiting = self._waiting, []
            if calls is not None:
                for message, done in waiting:
                    _submit(calls, message, done)
        if error is not None:
            for _, done in waiting:
                done(None, error)

    def _broken(self) -> None:
        loop().call_later(_AGAIN[0], self._connect_again, 0)

    def _connect_again(self, turn: int) -> None:
        """Make a connection that broke once more, unless somebody has, or the process is gone."""

        def done(answered: Any, error: Exception | None) -> None:
            if error is not None and not isinstance(error, ConnectionRefusedError) and turn + 1 < len(_AGAIN):
                loop().call_later(_AGAIN[turn + 1], self._connect_again, turn + 1)

        if not self._closed and (self._calls is None or self._calls.closed):
            self.send(self._hello, done)

    def channel(self, timeout: float | None) -> Channel:
        """This thread's connection. OSError where there is none in `timeout` seconds."""
        channel = getattr(self._channels, "channel", None)
        if channel is None or channel.closed or channel.stale:
            patience = _PATIENCE if timeout is None else min(timeout, _PATIENCE)
            channel = self._channels.channel = Channel(self.address, timeout=patience, **self._how())
            with self._lock:
                self._all_channels.add(channel)
            channel.call([0, [*self._hello, "waits"]], patience)
        return channel  # type: ignore[no-any-return]

    def close(self) -> None:
        """Let go of all connections; who waits on one gets an error."""
        self.posts.closed = True
        with self._lock:
            self._closed = True
            if self._calls is not None:
                self._calls.close()
            for channel in self._all_channels:
                channel.hang_up()
        own = getattr(self._channels, "channel", None)
        if own is not None:
            own.close()


def _submit(calls: Calls, message: Any, done: Done) -> None:
    try:
        calls.submit(message, done)
    except OSError as error:
        loop().call_soon_threadsafe(done, None, error)


def _ignore(answered: Any, error: Exception | None) -> None:
    """Nobody waits for this answer."""
