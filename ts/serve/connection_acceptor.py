"""New connections: as many as there may be, and one at a time.

    door = await Door.open("127.0.0.1", 8000, factory, most=1024)
    door.port
    door.close()

Those of whom the process that talks HTTP knows nothing yet do not keep it from those whom it talks with:
between two looks at these it lets in one, of each address in turn.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from typing import Final

from ts.serve.fair_queue import Shares, Turns

_BACKLOG: Final = 1024  # that the system keeps
_AT_ONCE: Final = 1  # that is let in before others have their turn
_TAKEN: Final = 64  # that are taken from the system meanwhile


class Door:
    """Where it listens, and who waits there."""

    def __init__(
        self, listening: list[socket.socket], factory: Callable[[], asyncio.Protocol], most: int
    ) -> None:
        self._listening = listening
        self._factory = factory
        self._most = most
        self._inside = 0
        self._waiting: Turns[socket.socket] = Turns(Shares())
        self._is_letting_in = False
        self._tasks: set[asyncio.Task[None]] = set()
        self.port: int = listening[0].getsockname()[1]
        for each in listening:
            asyncio.get_running_loop().add_reader(each, self._take, each)

    @classmethod
    async def open(cls, host: str, port: int, factory: Callable[[], asyncio.Protocol], most: int) -> Door:
        """Listen; OSError if that cannot be."""
        found = await asyncio.get_running_loop().getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
        listening: list[socket.socket] = []
        try:
            for family, address in dict.fromkeys((family, address[:2]) for family, *_, address in found):
                listening.append(socket.create_server(address, family=family, backlog=_BACKLOG))
                listening[-1].setblocking(False)
        except OSError:
            for each in listening:
                each.close()
            raise
        return cls(listening, factory, most)

    def close(self) -> None:
        """Let nobody in any more."""
        for each in self._listening:
            asyncio.get_running_loop().remove_reader(each)
            each.close()
        while self._waiting:
            self._waiting.pop().close()

    def left(self) -> None:
        """One that was let in has gone."""
        self._inside -= 1

    def _take(self, listening: socket.socket) -> None:
        for _ in range(_TAKEN):
            try:
                connection, address = listening.accept()
            except OSError:  # there is none, or no more can be had
                break
            if self._inside + len(self._waiting) >= self._most:
                connection.close()
                continue
            connection.setblocking(False)
            self._waiting.put(str(address[0]), connection)
        if self._waiting and not self._is_letting_in:
            self._is_letting_in = True
            self._let_in()

    def _let_in(self) -> None:
        loop = asyncio.get_running_loop()
        for _ in range(min(_AT_ONCE, len(self._waiting))):
            connection = self._waiting.pop()
            self._inside += 1
            task = loop.create_task(self._connect(connection))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        self._is_letting_in = len(self._waiting) > 0
        if self._is_letting_in:
            loop.call_soon(self._let_in)

    async def _connect(self, connection: socket.socket) -> None:
        try:
            await asyncio.get_running_loop().connect_accepted_socket(self._factory, connection)
        except OSError:  # it has gone
            connection.close()
            self._inside -= 1
