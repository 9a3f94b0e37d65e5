"""Blocking connection of a single thread, without event loop.

The example sends a request and returns the response, here 1:

    channel = BlockingConnection("ts://127.0.0.1:4711", secret=secret)
    channel.call({"op": "echo", "data": 1})

The thread reads and writes the socket itself. Therefore, the latency is lower than with `AsyncConnection`.
"""

from __future__ import annotations

import socket
import ssl
import time
from collections import deque
from typing import Any, Final

from ts.distributed.transport import connection_setup
from ts.distributed.transport.addresses import TLS, split_address, split_host_port
from ts.distributed.transport.async_connection import AsyncConnection
from ts.distributed.transport.credentials import check_credentials
from ts.distributed.transport.message_codec import (
    Buffer,
    MalformedMessageError,
    MessageDecoder,
    MessageEncoder,
    MessageTooLargeError,
    TransportLimits,
)
from ts.distributed.transport.socket_io import NOT_NOW, Outgoing, tune
from ts.distributed.transport.transport import HELLO

# If a connection was used less than this time ago, the check for a disconnected peer is omitted.
_LIVENESS_CHECK_INTERVAL_SECONDS: Final = 0.01


class BlockingConnection:
    """Blocking connection for one thread at a time. The constructor connects to a listener."""

    _socket: socket.socket

    def __init__(
        self,
        address: str,
        *,
        secret: bytes | None = None,
        limits: TransportLimits | None = None,
        ssl_context: ssl.SSLContext | None = None,
        timeout: float | None = 10.0,
        **more: Any,
    ) -> None:
        scheme, location = split_address(address)
        check_credentials(scheme, secret, ssl_context)
        self._socket = socket.create_connection(split_host_port(location), timeout)
        try:
            tune(self._socket)
            if ssl_context is not None and scheme == TLS:
                self._socket = ssl_context.wrap_socket(self._socket)
            self._begin(*self._greet(connection_setup.connector(scheme, secret, limits)))
            self.send(HELLO)
            self.receive()
        except BaseException:
            self._socket.close()
            raise

    @classmethod
    def from_stream(cls, stream: AsyncConnection) -> BlockingConnection:
        """Return a blocking connection that takes over the socket of an accepted asynchronous connection."""
        connection = cls.__new__(cls)
        connection._socket, reader, writer = stream.detach()
        connection._begin(reader, writer)
        connection._socket.settimeout(None)
        return connection

    def _begin(self, reader: MessageDecoder, writer: MessageEncoder) -> None:
        self._reader, self._writer = reader, writer
        self._reader.spares = True
        self._messages: deque[Any] = deque()
        self._outgoing = Outgoing()
        self._deadline: float | None = None
        self._used = time.monotonic()

    def call(self, message: Any, timeout: float | None = None) -> Any:
        """Send a message and return the response. A timeout or any other error closes the connection."""
        buffers = self._writer.pack(message)
        self._deadline = None if timeout is None else time.monotonic() + timeout
        try:
            self._socket.settimeout(timeout)
            self._send(buffers)
            answer = self.receive()
            self._used = time.monotonic()
            return answer
        except BaseException:
            self.close()
            raise

    def send(self, message: Any) -> None:
        """Send a message. Raise ValueError if it exceeds the size limits."""
        self._send(self._writer.pack(message))

    def receive(self) -> Any:
        """Wait for a message. Raise MemoryError if the memory for the message cannot be allocated."""
        message = self.next()
        if type(message) is MessageTooLargeError:
            raise message.error()
        return message

    def next(self) -> Any:
        """Wait for a message.

        Return a `MessageTooLargeError` if the memory for the message cannot be allocated.
        """
        while not self._messages:
            if self._deadline is not None:
                self._socket.settimeout(max(self._deadline - time.monotonic(), 1e-6))
            count = self._socket.recv_into(self._reader.target())
            if not count:
                raise ConnectionError("the other end has closed the connection")
            try:
                self._messages += self._reader.received(count)
            except MalformedMessageError as error:
                raise ConnectionError(str(error)) from error
        return self._messages.popleft()

    @property
    def closed(self) -> bool:
        """Return True if this end of the connection is closed."""
        return self._socket.fileno() < 0

    @property
    def is_stale(self) -> bool:
        """Return True if the peer has closed this idle connection, or has sent data without a request."""
        if time.monotonic() < self._used + _LIVENESS_CHECK_INTERVAL_SECONDS:
            return False
        return self._peek() is not None

    @property
    def is_closed_by_peer(self) -> bool:
        """Return True if the peer has closed the connection."""
        next_byte = self._peek()
        self._socket.settimeout(None)
        return next_byte == b""

    def _peek(self) -> bytes | None:
        """Return the next received byte without consuming it.

        Return b"" if the peer has closed the connection, and None if no data has been received.
        """
        try:
            self._socket.setblocking(False)
            return self._socket.recv(1, socket.MSG_PEEK)
        except NOT_NOW:
            return None
        except (OSError, ValueError):
            return b""

    def hang_up(self) -> None:
        """Shut down the connection, from any thread. A thread that waits for a message raises an error."""
        try:
            self._socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            return  # the peer has already disconnected

    def close(self) -> None:
        """Close the connection and release its buffers."""
        self._outgoing.clear()
        self._socket.close()
        self._reader.close()
        self._writer.close()

    def _send(self, buffers: list[Buffer]) -> None:
        self._outgoing.add(buffers)
        self._outgoing.send(self._socket)

    def _greet(self, steps: connection_setup.HandshakeSteps) -> connection_setup.Codecs:
        data, expected_bytes = next(steps)
        while True:
            self._socket.sendall(data)
            try:
                data, expected_bytes = steps.send(self._exactly(expected_bytes))
            except StopIteration as end:
                codecs: connection_setup.Codecs = end.value
                return codecs

    def _exactly(self, count: int) -> bytes:
        data = b""
        while len(data) < count:
            more = self._socket.recv(count - len(data))
            if not more:
                raise ConnectionError(connection_setup.CLOSED)
            data += more
        return data
