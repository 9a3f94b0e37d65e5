"""Messages between the process that talks HTTP and its children: a head of JSON, then bytes.

    pack({"sizes": [3]}, [b"abc"])       4 bytes of length, the head, "abc"

Both ends are `ts`; what strangers wrote is in the bytes only.
"""

from __future__ import annotations

import asyncio
import json
import socket
import struct
from collections.abc import Sequence
from typing import Any, Final

_LENGTH: Final = struct.Struct(">I")


def pack(head: dict[str, Any], parts: Sequence[bytes] = ()) -> bytes:
    """One message."""
    text = json.dumps(head | {"sizes": [len(part) for part in parts]}).encode()
    return b"".join([_LENGTH.pack(len(text)), text, *parts])


async def receive(reader: asyncio.StreamReader) -> tuple[dict[str, Any], list[bytes]]:
    """The next message; IncompleteReadError if there is none any more."""
    (length,) = _LENGTH.unpack(await reader.readexactly(_LENGTH.size))
    head = json.loads(await reader.readexactly(length))
    return head, [await reader.readexactly(size) for size in head["sizes"]]


def receive_blocking(end: socket.socket) -> tuple[dict[str, Any], list[bytes]] | None:
    """The same for a child; None if nobody asks any more."""
    prefix = _exactly(end, _LENGTH.size)
    if prefix is None:
        return None
    text = _exactly(end, _LENGTH.unpack(prefix)[0])
    if text is None:
        return None
    head = json.loads(text)
    parts = [_exactly(end, size) for size in head["sizes"]]
    return None if any(part is None for part in parts) else (head, [bytes(part or b"") for part in parts])


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
