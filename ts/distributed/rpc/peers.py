"""Peer workers and the connections to them (persistent connections, reconnection).

Examples of an asynchronous and a synchronous call:

    peer.send(message, done)              returns at once. The event loop later calls done(response, error)
    peer.channel(1.0).call(...)           waits for the response

Messages that are sent before the connection exists are queued in order. A broken connection is opened again,
because the peer drops the RRefs of processes that stay disconnected.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any, Final
from weakref import WeakSet

from ts.distributed.event_loop import loop
from ts.distributed.rpc.reliable_delivery import ReliableOutbox
from ts.distributed.transport import BlockingConnection
from ts.distributed.transport.multiplexing import Done, RequestMultiplexer
from ts.distributed.transport.transport import connect
from ts.ops.rpc_ops import WorkerInfo

_CONNECT_TIMEOUT_SECONDS: Final = 10.0
_RECONNECT_BACKOFF_SECONDS: Final = (0.2, 1.0, 4.0, 8.0, 12.0)

# function that returns keyword arguments for `transport.connect`
ConnectionArguments = Callable[[], dict[str, Any]]


class Peer:
    """Worker (or this process) as an RPC peer: its address, connections and unacknowledged messages."""

    def __init__(
        self, info: WorkerInfo, address: str, own_id: int, connection_arguments: ConnectionArguments
    ) -> None:
        self.info = info
        self.codes: set[str] = set()  # digests of the archives of code that the peer has received
        self.address = address
        # First message of a connection. If another worker now listens at this address, it rejects the message
        # and closes the connection.
        self._hello = ["hello", own_id, info.id]
        self._connection_arguments = connection_arguments
        self._calls: RequestMultiplexer | None = None
        self.outbox = ReliableOutbox(self.send)
        self._lock = threading.Lock()  # protects the attributes below
        self._unsent: list[tuple[Any, Done]] = []
        self._connecting = False
        self._closed = False
        self._channels = threading.local()
        self._all_channels: WeakSet[BlockingConnection] = WeakSet()

    def send(self, message: Any, done: Done) -> None:
        """Send a message when the connection is established. The event loop calls `done(response, error)`."""
        calls = self._calls
        if calls is None or calls.closed:
            with self._lock:
                calls = self._calls
                if self._closed:
                    loop().call_soon_threadsafe(
                        done, None, ConnectionAbortedError("this process has shut RPC down")
                    )
                    return
                if calls is None or calls.closed:
                    self._unsent.append((message, done))
                    if not self._connecting:
                        self._connecting = True
                        asyncio.run_coroutine_threadsafe(self._connect(), loop())
                    return
        _submit(calls, message, done)

    async def _connect(self) -> None:
        calls: RequestMultiplexer | None = None
        error: Exception | None = None
        try:
            async with asyncio.timeout(_CONNECT_TIMEOUT_SECONDS):
                calls = RequestMultiplexer(
                    await connect(self.address, **self._connection_arguments()), self._on_connection_lost
                )
            calls.submit(self._hello, _ignore)
        except Exception as failure:
            timed_out = TimeoutError(f"no response within {_CONNECT_TIMEOUT_SECONDS:.0f} s")
            error = failure if str(failure) else timed_out
        with self._lock:
            self._calls, self._connecting = calls, False
            if calls is not None and self._closed:
                calls.close()
            waiting, self._unsent = self._unsent, []
            if calls is not None:
                for message, done in waiting:
                    _submit(calls, message, done)
        if error is not None:
            for _, done in waiting:
                done(None, error)

    def _on_connection_lost(self) -> None:
        loop().call_later(_RECONNECT_BACKOFF_SECONDS[0], self._reconnect, 0)

    def _reconnect(self, attempt: int) -> None:
        """Open a broken connection again, unless it has been opened already.

        Do not try again if the peer refuses the connection.
        """

        def done(response: Any, error: Exception | None) -> None:
            if (
                error is not None
                and not isinstance(error, ConnectionRefusedError)
                and attempt + 1 < len(_RECONNECT_BACKOFF_SECONDS)
            ):
                loop().call_later(_RECONNECT_BACKOFF_SECONDS[attempt + 1], self._reconnect, attempt + 1)

        if not self._closed and (self._calls is None or self._calls.closed):
            self.send(self._hello, done)

    def channel(self, timeout: float | None) -> BlockingConnection:
        """Return the blocking connection of this thread.

        Raise OSError if no connection can be established within `timeout` seconds.
        """
        channel = getattr(self._channels, "channel", None)
        if channel is None or channel.closed or channel.is_stale:
            connect_timeout = (
                _CONNECT_TIMEOUT_SECONDS if timeout is None else min(timeout, _CONNECT_TIMEOUT_SECONDS)
            )
            channel = self._channels.channel = BlockingConnection(
                self.address, timeout=connect_timeout, **self._connection_arguments()
            )
            with self._lock:
                self._all_channels.add(channel)
            channel.call([0, [*self._hello, "waits"]], connect_timeout)
        return channel  # type: ignore[no-any-return]

    def close(self) -> None:
        """Close all connections. Calls that wait on them raise an error."""
        self.outbox.closed = True
        with self._lock:
            self._closed = True
            if self._calls is not None:
                self._calls.close()
            for channel in self._all_channels:
                channel.hang_up()
        own_channel = getattr(self._channels, "channel", None)
        if own_channel is not None:
            own_channel.close()


def _submit(calls: RequestMultiplexer, message: Any, done: Done) -> None:
    try:
        calls.submit(message, done)
    except OSError as error:
        loop().call_soon_threadsafe(done, None, error)


def _ignore(response: Any, error: Exception | None) -> None:
    """Ignore the response to a hello message, because a peer that rejects it closes the connection."""
