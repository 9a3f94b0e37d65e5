"""Messages between the process that talks HTTP and its children: a head of JSON, then bytes.

    pack({"sizes": [3]}, [b"abc"])       4 bytes of length, the head, "abc"

Both ends are `ts`; what strangers wrote is in the bytes only.
"""

from __future__ import annotations

import asyncio
import json
import socket
import struct
from collections.abc import Callable, Sequence
from typing import Any, Final

_LENGTH: Final = struct.Struct(">I")

Message = tuple[dict[str, Any], list[bytes]]


def pack(head: dict[str, Any], parts: Sequence[bytes] = ()) -> bytes:
    """One message."""
    text = json.dumps(head | {"sizes": [len(part) for part in parts]}).encode()
    return b"".join([_LENGTH.pack(len(text)), text, *parts])


class Channel(asyncio.Protocol):
    """The parent's end: a message there, a message back."""

    def __init__(self) -> None:
        self._transport: asyncio.Transport | None = None
        self._data = bytearray()
        self._head: dict[str, Any] = {}
        self._need = 0  # bytes of the message, as soon as its head is there
        self._start = 0  # of its parts
        self._told: Callable[[Message | None], None] | None = None

    @classmethod
    async def over(cls, end: socket.socket) -> Channel:
        """A channel over one end of a pair of sockets."""
        end.setblocking(False)
        _, channel = await asyncio.get_running_loop().create_connection(cls, sock=end)
        return channel

    def ask(self, message: bytes, told: Callable[[Message | None], None]) -> None:
        """Say something; `told` gets what is said back, or None if the other end is gone."""
        if self._transport is None:
            asyncio.get_running_loop().call_soon(told, None)
            return
        self._told = told
        self._transport.write(message)

    async def hear(self) -> Message | None:
        """What the other end says unasked; None if it is gone."""
        heard: asyncio.Future[Message | None] = asyncio.get_running_loop().create_future()
        self.ask(b"", lambda message: None if heard.done() else heard.set_result(message))
        return await heard

    def close(self) -> None:
        """Let the other end go."""
        if self._transport is not None:
            self._transport.close()

    # ---- what the loop calls -------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """It begins."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """A piece of a message."""
        self._data += data
        if not self._need:
            if len(self._data) < _LENGTH.size:
                return
            start = _LENGTH.size + _LENGTH.unpack_from(self._data)[0]
            if len(self._data) < start:
                return
            self._head = json.loads(self._data[_LENGTH.size : start])
            self._start, self._need = start, start + sum(self._head["sizes"])
        if len(self._data) >= self._need:
            message = self._head, _cut(self._data, self._start, self._head["sizes"])
            self._data, self._need = bytearray(), 0
            self._tell(message)

    def connection_lost(self, error: Exception | None) -> None:
        """It has ended; whoever waits is told."""
        self._transport = None
        self._tell(None)

    def _tell(self, message: Message | None) -> None:
        told, self._told = self._told, None
        if told is not None:
            told(message)


def receive(end: socket.socket) -> Message | None:
    """The next message, for a child, which waits for it; None if nobody asks any more."""
    prefix = _exactly(end, _LENGTH.size)
    if prefix is None:
        return None
    text = _exactly(end, _LENGTH.unpack(prefix)[0])
    if text is None:
        return None
    head = json.loads(text)
    data = _exactly(end, sum(head["sizes"]))
    if data is None:
        return None
    return head, _cut(data, 0, head["sizes"])


def _cut(data: bytearray, at: int, sizes: Sequence[int]) -> list[bytes]:
    parts = []
    for size in sizes:
        parts.append(bytes(data[at : at + size]))
        at += size
    return parts


def _exactly(end: socket.socket, size: int) -> bytearray | None:
    data = bytearray(size)
    view, at = memoryview(data), 0
    while at < size:
        try:
            count = end.recv_into(view[at:])
        except ConnectionError:
            return None
        if not count:
            return None
        at += count
    return data
