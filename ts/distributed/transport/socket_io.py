"""Reading and writing of sockets, for blocking and asynchronous connections, with and without TLS."""

from __future__ import annotations

import socket
import ssl
from collections import deque
from collections.abc import Iterable
from itertools import count, islice
from typing import Final

from ts.distributed.transport.message_codec import Buffer

NOT_NOW: Final = (BlockingIOError, InterruptedError, ssl.SSLWantReadError, ssl.SSLWantWriteError)
_LIVENESS: Final = {
    "TCP_KEEPIDLE": 20, "TCP_KEEPINTVL": 5, "TCP_KEEPCNT": 8, "TCP_USER_TIMEOUT": 60_000,
}  # fmt: skip
_MAX_SYSCALL_BUFFERS: Final = 64
# One call sends at most 1 GiB in total, which every operating system accepts.
_MAX_BUFFER_BYTES: Final = (1 << 30) // _MAX_SYSCALL_BUFFERS
# Maximum number of consecutive system calls for one connection. Then other connections are served.
SYSCALLS_PER_CONNECTION: Final = 16


def tune(sock: socket.socket) -> None:
    """Set the options TCP_NODELAY (no Nagle's algorithm) and keepalive (failure detection) of a socket.

    Keepalive detects a dead peer within a minute.
    """
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in _LIVENESS.items():
        if hasattr(socket, name):
            sock.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)


def may_contain_data(sock: socket.socket, is_short_read: bool, calls: int) -> bool:
    """Return True if a non-blocking socket should be read again after `calls` reads.

    A plain socket is empty after a read that did not fill the buffer. A TLS socket has an internal buffer. It
    must be read until this buffer is empty, because a selector does not report buffered data.
    """
    if isinstance(sock, ssl.SSLSocket):
        return calls < SYSCALLS_PER_CONNECTION or sock.pending() > 0
    return not is_short_read and calls < SYSCALLS_PER_CONNECTION


class Outgoing:
    """Queue of buffers to send by vectored I/O (scatter-gather I/O), without copies of the buffers."""

    def __init__(self) -> None:
        self._buffers: deque[Buffer] = deque()
        self.size = 0  # number of bytes in the queue
        self.sent = 0  # number of bytes that were sent so far

    def __bool__(self) -> bool:
        return bool(self._buffers)

    def add(self, buffers: Iterable[Buffer]) -> None:
        """Append buffers to the queue."""
        for buffer in buffers:
            size = len(buffer)
            self.size += size
            if size <= _MAX_BUFFER_BYTES:
                self._buffers.append(buffer)
            else:
                view, step = memoryview(buffer), _MAX_BUFFER_BYTES
                self._buffers.extend(view[at : at + step] for at in range(0, size, step))

    def clear(self) -> None:
        """Discard all unsent data."""
        self._buffers.clear()
        self.size = 0

    def copy_buffers(self) -> None:
        """Copy the unsent data, so that the memory of its buffers may change."""
        self._buffers = deque(map(bytes, self._buffers))

    def send(self, sock: socket.socket, max_calls: int | None = None) -> None:
        """Send all buffers.

        If the socket would block, or after `max_calls` system calls, raise one of the exceptions NOT_NOW.
        """
        buffers = self._buffers
        for calls in count():
            if not buffers:
                return
            if calls == max_calls:
                raise BlockingIOError
            if len(buffers) == 1 or isinstance(sock, ssl.SSLSocket):
                sent = sock.send(buffers[0])
            else:
                sent = sock.sendmsg(islice(buffers, _MAX_SYSCALL_BUFFERS))
            self.size -= sent
            self.sent += sent
            while buffers and sent >= len(buffers[0]):
                sent -= len(buffers.popleft())
            if sent:
                buffers[0] = memoryview(buffers[0])[sent:]
