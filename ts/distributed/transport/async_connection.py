"""Asynchronous connection (asyncio, non-blocking socket) for bidirectional messages.

The main methods of a connection `stream`:

    stream.send(message)                     sends as much as the socket accepts, and queues the rest
    stream.post(message)                     like `send`, but from any thread
    await stream.flushed()                   waits until all data is sent and its memory may be modified
    await stream.receive()                   returns the next message
    stream.deliver(each, ended)              instead of `receive`: passes each message to `each`

The class reads and writes the socket itself, because the alternatives are slower. asyncio's transports copy
data that a socket does not accept immediately (until Python 3.12). tornado's streams take twice as long for a
small message.
"""

from __future__ import annotations

import asyncio
import itertools
import socket
import ssl
import threading
from collections import deque
from collections.abc import Callable
from typing import Any, Final

from ts.distributed.transport.message_codec import MalformedMessageError, MessageDecoder, MessageEncoder
from ts.distributed.transport.socket_io import NOT_NOW, SYSCALLS_PER_CONNECTION, Outgoing, may_contain_data

# Reading from the socket pauses if this number of received messages, or this number of bytes in them, is
# unread.
_UNREAD_MESSAGES: Final = 64
_UNREAD_BYTES: Final = 1 << 26
# Received messages are delivered in batches of at most this number. Then `_is_receiver_full` is called.
_MAX_MESSAGES_PER_WAKEUP: Final = 1024
_SHM_POLL_INTERVAL: Final = 0.001  # seconds between two checks whether the peer has read shared memory


class AsyncConnection:
    """One end of a connection that an event loop serves."""

    def __init__(self, sock: socket.socket, reader: MessageDecoder, writer: MessageEncoder) -> None:
        self._socket, self._is_tls = sock, isinstance(sock, ssl.SSLSocket)
        self._loop = asyncio.get_running_loop()
        self._reader, self._writer = reader, writer
        self._reading = False
        self._writing = False
        self._messages: deque[Any] = deque()
        # bytes of the received messages that the program has not read, including bytes in shared memory
        self._unread = 0
        self._receiver: asyncio.Future[None] | None = None
        self._on_message: Callable[[Any], None] | None = None
        self._on_end: Callable[[Exception], None] | None = None
        self._is_receiver_full: Callable[[], bool] | None = None
        self._lock = threading.Lock()  # lock for the attributes below and for writes to the socket
        self._outgoing = Outgoing()
        self._is_batching = False  # True while outgoing messages are only queued, to be sent together
        self._flushers: list[asyncio.Future[None]] = []
        # reason why the connection is closed, or None while it is open
        self._error: ConnectionError | None = None
        self._resume_reading()

    @property
    def closed(self) -> bool:
        """Return True if the connection has ended."""
        return self._error is not None

    @property
    def stopped(self) -> bool:
        """Return True if reading is paused because too many messages are unread."""
        return not self._reading

    @property
    def unsent(self) -> int:
        """Number of bytes that the socket has not accepted yet."""
        return self._outgoing.size

    def send(self, message: Any) -> int:
        """Send a message, and return its size in bytes. Queue the part that the socket does not accept yet.

        The memory of the message must not change until the whole message is sent.
        """
        self._check()
        buffers = self._writer.pack(message)
        with self._lock:
            at_once = not self._outgoing and not self._is_batching
            self._outgoing.add(buffers)
        if at_once:
            self._send()
        return sum(map(len, buffers))

    def post(self, message: Any, at_once: bool = False) -> None:
        """Send a message, from any thread.

        The event loop sends all queued messages together. If `at_once` is True, no other message is queued
        and the socket does not use TLS, the calling thread sends the message instead.
        """
        self._check()
        buffers = self._writer.pack(message)
        with self._lock:
            if self._error is not None:
                raise self._broken()
            first = not self._outgoing and not self._is_batching
            self._outgoing.add(buffers)
            if not first:
                # The event loop is already scheduled to send the queue.
                return
            if at_once and not self._is_tls:  # only the event loop's thread may use a TLS socket
                try:
                    self._outgoing.send(self._socket, SYSCALLS_PER_CONNECTION)
                    return
                except OSError as error:
                    if not isinstance(error, NOT_NOW):
                        self._loop.call_soon_threadsafe(self.close, error)
                        raise ConnectionError(str(error)) from error
        self._loop.call_soon_threadsafe(self._send)

    async def flushed(self) -> None:
        """Wait until the socket has accepted all queued messages."""
        self._check()
        with self._lock:
            if not self._outgoing:
                return
        # future that the event loop completes when all queued data is sent
        flusher = self._loop.create_future()
        self._flushers.append(flusher)
        await flusher

    async def wait_until_consumed(self) -> None:
        """Wait until the peer has read all shared memory segments that were sent."""
        while not self.closed and self._writer.has_unconsumed_segments:
            await asyncio.sleep(_SHM_POLL_INTERVAL)

    async def receive(self) -> Any:
        """Wait for the next message."""
        while not self._messages:
            self._check()
            if self._receiver is not None:
                raise RuntimeError("another task already receives from this connection")
            self._receiver = self._loop.create_future()
            try:
                await self._receiver
            finally:
                self._receiver = None
        message = self._messages.popleft()
        if not self._messages:
            self._unread = 0
        self._resume_reading()
        return message

    def deliver(
        self,
        each: Callable[[Any], None],
        ended: Callable[[Exception], None],
        full: Callable[[], bool] | None = None,
    ) -> None:
        """Call `each` with every received message. When the connection ends, call `ended` with the reason.

        If the memory of a message cannot be allocated, `each` receives a `MessageTooLargeError` instead.
        Reading pauses while `full` returns True.
        """
        while self._messages:
            each(self._messages.popleft())
        if self._error is not None:
            ended(self._error)
            return
        self._on_message, self._on_end, self._is_receiver_full = each, ended, full
        self._reader.spares = True
        self._resume_reading()

    def resume_reading(self) -> None:
        """Resume reading, unless `full` returns True. This method may be called from any thread."""
        self._loop.call_soon_threadsafe(self._resume_reading)

    def detach(self) -> tuple[socket.socket, MessageDecoder, MessageEncoder]:
        """Return the socket, decoder and encoder for another connection class, and stop using them.

        Raise RuntimeError while a message is being sent or received.
        """
        self._check()
        if self._outgoing or self._messages or not self._reader.is_between_messages:
            raise RuntimeError("a message is being sent or received")
        with self._lock:
            self._error = ConnectionError("the socket was transferred to another connection")
            self._loop.remove_reader(self._socket)
            self._loop.remove_writer(self._socket)
        ended, self._on_message, self._on_end, self._is_receiver_full = self._on_end, None, None, None
        if ended is not None:
            ended(self._error)
        return self._socket, self._reader, self._writer

    def close(self, error: Exception | None = None) -> None:
        """Close the connection immediately."""
        if self._error is not None:
            return
        # The lock excludes later writes by other threads: the system may reuse the file descriptor.
        with self._lock:
            # Store only the text of `error`, because its traceback would keep this connection and its data
            # alive.
            self._error = ConnectionError(str(error or "the connection was closed"))
            self._loop.remove_reader(self._socket)
            self._loop.remove_writer(self._socket)
            self._socket.close()
            self._outgoing.clear()
        self._reader.close()
        self._writer.close()
        for waiter in [*self._flushers, self._receiver]:
            if waiter is not None and not waiter.done():
                waiter.set_exception(self._broken())
        self._flushers.clear()
        # Callbacks may refer to this connection. Their removal breaks the reference cycles.
        ended, self._on_message, self._on_end, self._is_receiver_full = self._on_end, None, None, None
        if ended is not None:
            ended(self._error)

    def close_soon(self) -> None:
        """Close the connection. This method may be called from any thread."""
        if not self.closed and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self.close)

    # ---- callbacks of the event loop -----------------------------------------------------------------

    def _readable(self) -> None:
        if not self._reading or self.closed:
            return
        messages: list[Any] = []
        before = self._reader.shared_bytes
        try:
            for calls in itertools.count(1):
                target = self._reader.target()
                count = self._socket.recv_into(target)
                if not count:
                    raise ConnectionError("the other end has closed the connection")
                shared_before = self._reader.shared_bytes
                messages += self._reader.received(count)
                self._unread += count + self._reader.shared_bytes - shared_before
                if not may_contain_data(self._socket, count < len(target), calls):
                    break
                if self._reader.shared_bytes - before >= _UNREAD_BYTES:
                    break
                if self._on_message is None and messages and self._unread >= _UNREAD_BYTES:
                    break  # `_process_received` pauses reading until the program has received a message
                if len(messages) >= _MAX_MESSAGES_PER_WAKEUP:
                    self._schedule_buffered_read()
                    break
        except NOT_NOW:
            pass  # the event loop calls this method again when the socket is readable
        except (OSError, MalformedMessageError) as error:
            self._process_received(messages)
            self.close(error)
            return
        self._process_received(messages)

    def _process_received(self, messages: list[Any]) -> None:
        if not messages:
            return
        if self._on_message is not None:
            self._dispatch(messages, self._on_message)
        else:
            self._messages += messages
            if self._receiver is not None and not self._receiver.done():
                self._receiver.set_result(None)
        if self._is_over_limit() and not self.closed:
            self._loop.remove_reader(self._socket)
            self._reading = False

    def _dispatch(self, messages: list[Any], each: Callable[[Any], None]) -> None:
        self._is_batching = True
        try:
            for message in messages:
                each(message)
        except BaseException as error:
            self.close(ConnectionError(f"a message could not be handled: {error}"))
            raise
        finally:
            self._is_batching = False
        self._send()

    def _send(self) -> None:
        if self.closed:
            return
        try:
            with self._lock:
                self._outgoing.send(self._socket, SYSCALLS_PER_CONNECTION)
        except NOT_NOW:
            if not self._writing:
                self._loop.add_writer(self._socket, self._send)
                self._writing = True
            return
        except OSError as error:
            self.close(error)
            return
        if self._writing:
            self._loop.remove_writer(self._socket)
            self._writing = False
        for flusher in self._flushers:
            if not flusher.done():
                flusher.set_result(None)
        self._flushers.clear()
        self._resume_reading()

    def _resume_reading(self) -> None:
        if not self._reading and not self.closed and not self._is_over_limit():
            self._loop.add_reader(self._socket, self._readable)
            self._reading = True
            self._schedule_buffered_read()

    def _schedule_buffered_read(self) -> None:
        """Schedule another read for data that the TLS socket has buffered.

        The event loop does not report buffered data as readable.
        """
        if self._is_tls:
            self._loop.call_soon(self._readable)

    def _is_over_limit(self) -> bool:
        """Return True if reading must pause.

        If the caller of `deliver` has given `full`, its result decides. Otherwise, reading pauses if the
        unread messages are too many or too large.
        """
        if self._is_receiver_full is not None:
            return self._is_receiver_full()
        unread = len(self._messages)
        return unread >= _UNREAD_MESSAGES or (unread > 0 and self._unread >= _UNREAD_BYTES)

    def _check(self) -> None:
        if self._error is not None:
            raise self._broken()

    def _broken(self) -> ConnectionError:
        return ConnectionError(str(self._error))
