"""Admission control of TCP connections by a connection limit and round robin over client addresses.

The example accepts at most 1024 connections at a time:

    acceptor = await ConnectionAcceptor.open("127.0.0.1", 8000, factory, max_connections=1024)
    acceptor.close()

Between two admissions, the event loop serves the established connections. A flood of new connections
therefore cannot starve them.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from typing import Final

from ts.serve.fair_queue import ClientUsage, FairQueue

_LISTEN_BACKLOG: Final = 1024
_ADMITS_PER_TICK: Final = 1  # connections admitted per iteration of the event loop
_MAX_ACCEPTS_PER_EVENT: Final = 64  # maximum number of connections that are accepted per readiness event


class ConnectionAcceptor:
    """Listening sockets, and accepted connections that wait for admission."""

    def __init__(
        self, listeners: list[socket.socket], factory: Callable[[], asyncio.Protocol], max_connections: int
    ) -> None:
        self._listeners = listeners
        self._factory = factory
        self._max_connections = max_connections
        self._admitted_count = 0
        self._pending: FairQueue[socket.socket] = FairQueue(ClientUsage())
        self._is_admitting = False
        self._tasks: set[asyncio.Task[None]] = set()
        self.port: int = listeners[0].getsockname()[1]
        for listener in listeners:
            asyncio.get_running_loop().add_reader(listener, self._accept_pending, listener)

    @classmethod
    async def open(
        cls, host: str, port: int, factory: Callable[[], asyncio.Protocol], max_connections: int
    ) -> ConnectionAcceptor:
        """Listen on all addresses of `host`. Raise OSError if one is unavailable."""
        addresses = await asyncio.get_running_loop().getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
        listeners: list[socket.socket] = []
        try:
            for family, address in dict.fromkeys((family, address[:2]) for family, *_, address in addresses):
                listeners.append(socket.create_server(address, family=family, backlog=_LISTEN_BACKLOG))
                listeners[-1].setblocking(False)
        except OSError:
            for listener in listeners:
                listener.close()
            raise
        return cls(listeners, factory, max_connections)

    def close(self) -> None:
        """Stop listening, and close connections that wait for admission."""
        for listener in self._listeners:
            asyncio.get_running_loop().remove_reader(listener)
            listener.close()
        while self._pending:
            self._pending.pop().close()

    def on_disconnect(self) -> None:
        """Record the end of an admitted connection."""
        self._admitted_count -= 1

    def _accept_pending(self, listener: socket.socket) -> None:
        for _ in range(_MAX_ACCEPTS_PER_EVENT):
            try:
                connection, address = listener.accept()
            except OSError:  # no connection is pending, or no file descriptor is free
                break
            if self._admitted_count + len(self._pending) >= self._max_connections:
                connection.close()
                continue
            connection.setblocking(False)
            self._pending.put(str(address[0]), connection)
        if self._pending and not self._is_admitting:
            self._is_admitting = True
            self._admit()

    def _admit(self) -> None:
        loop = asyncio.get_running_loop()
        for _ in range(min(_ADMITS_PER_TICK, len(self._pending))):
            connection = self._pending.pop()
            self._admitted_count += 1
            task = loop.create_task(self._connect(connection))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        self._is_admitting = len(self._pending) > 0
        if self._is_admitting:
            loop.call_soon(self._admit)

    async def _connect(self, connection: socket.socket) -> None:
        try:
            await asyncio.get_running_loop().connect_accepted_socket(self._factory, connection)
        except OSError:  # the client has disconnected
            connection.close()
            self._admitted_count -= 1
