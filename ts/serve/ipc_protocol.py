"""Inter-process communication (IPC) between the HTTP process and worker processes by framed messages.

A message consists of a JSON header and binary parts. `pack({"status": 200}, [b"abc"])` returns these bytes:

    | header length: 4 bytes, big-endian | header: JSON, with "sizes": [3] | parts: "abc" |

Only the parts contain untrusted data, because both processes run code of `ts`.
"""

from __future__ import annotations

import asyncio
import json
import socket
import struct
from collections.abc import Callable, Sequence
from typing import Any, Final

_HEADER_LENGTH: Final = struct.Struct(">I")

Message = tuple[dict[str, Any], list[bytes]]


def pack(header: dict[str, Any], buffers: Sequence[bytes] = ()) -> bytes:
    """Serialize a message. The sizes of the parts are added to the header."""
    encoded = json.dumps(header | {"sizes": [len(buffer) for buffer in buffers]}).encode()
    return b"".join([_HEADER_LENGTH.pack(len(encoded)), encoded, *buffers])


class IpcChannel(asyncio.Protocol):
    """End of a `socketpair` in the HTTP process: it sends a request and then receives a response."""

    def __init__(self) -> None:
        self._transport: asyncio.Transport | None = None
        self._buffer = bytearray()
        self._header: dict[str, Any] = {}
        # size in bytes of the message being received, or 0 until its header has arrived
        self._message_size = 0
        self._buffers_offset = 0
        self._on_message: Callable[[Message | None], None] | None = None

    @classmethod
    async def connect(cls, end: socket.socket) -> IpcChannel:
        """Return a channel over one end of a socket pair."""
        end.setblocking(False)
        _, channel = await asyncio.get_running_loop().create_connection(cls, sock=end)
        return channel

    def request(self, message: bytes, on_response: Callable[[Message | None], None]) -> None:
        """Send a message. Call `on_response` with the response, or with None if the peer disconnects."""
        if self._transport is None:
            asyncio.get_running_loop().call_soon(on_response, None)
            return
        self._on_message = on_response
        self._transport.write(message)

    async def receive(self) -> Message | None:
        """Receive a message that the peer sends without a request. Return None if the peer disconnects."""
        future: asyncio.Future[Message | None] = asyncio.get_running_loop().create_future()
        self.request(b"", lambda message: None if future.done() else future.set_result(message))
        return await future

    def close(self) -> None:
        """Close the connection."""
        if self._transport is not None:
            self._transport.close()

    # ---- methods of asyncio.Protocol -----------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Store the transport of the new connection."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Append data to the buffer. When the message is complete, deliver it to its receiver."""
        self._buffer += data
        if not self._message_size:
            if len(self._buffer) < _HEADER_LENGTH.size:
                return
            start = _HEADER_LENGTH.size + _HEADER_LENGTH.unpack_from(self._buffer)[0]
            if len(self._buffer) < start:
                return
            self._header = json.loads(self._buffer[_HEADER_LENGTH.size : start])
            self._buffers_offset, self._message_size = start, start + sum(self._header["sizes"])
        if len(self._buffer) >= self._message_size:
            message = self._header, _split_buffers(self._buffer, self._buffers_offset, self._header["sizes"])
            self._buffer, self._message_size = bytearray(), 0
            self._deliver(message)

    def connection_lost(self, error: Exception | None) -> None:
        """Deliver None to the pending request, if any."""
        self._transport = None
        self._deliver(None)

    def _deliver(self, message: Message | None) -> None:
        on_message, self._on_message = self._on_message, None
        if on_message is not None:
            on_message(message)


def receive(end: socket.socket) -> Message | None:
    """Wait for a complete message and return it, or None if the peer disconnects."""
    prefix = _read_exactly(end, _HEADER_LENGTH.size)
    if prefix is None:
        return None
    encoded = _read_exactly(end, _HEADER_LENGTH.unpack(prefix)[0])
    if encoded is None:
        return None
    header = json.loads(encoded)
    data = _read_exactly(end, sum(header["sizes"]))
    if data is None:
        return None
    return header, _split_buffers(data, 0, header["sizes"])


def _split_buffers(data: bytearray, offset: int, sizes: Sequence[int]) -> list[bytes]:
    buffers = []
    for size in sizes:
        buffers.append(bytes(data[offset : offset + size]))
        offset += size
    return buffers


def _read_exactly(end: socket.socket, size: int) -> bytearray | None:
    data = bytearray(size)
    view, offset = memoryview(data), 0
    while offset < size:
        try:
            count = end.recv_into(view[offset:])
        except ConnectionError:
            return None
        if not count:
            return None
        offset += count
    return data
