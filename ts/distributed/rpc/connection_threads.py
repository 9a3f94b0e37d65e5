"""Server threads (thread per connection), one for each caller thread that blocks during its calls.

The caller sends two messages over its connection:

    ("hello", process, "waits")     starts a server thread for the connection, which responds
    a call                          is read, executed and answered by the server thread

Without a server thread, the event loop reads a call and another thread executes it. This thread switch takes
a fifth of the time of a small call. The number of server threads is limited. The event loop serves all other
connections.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, Final

from ts.distributed.transport.blocking_connection import BlockingConnection
from ts.distributed.transport.message_codec import MessageTooLargeError
from ts.distributed.transport.multiplexing import Reply

_LIVENESS_POLL_INTERVAL_SECONDS: Final = 1.0

_thread_state = threading.local()

Handle = Callable[[Any, Reply], None]


def is_server_thread() -> bool:
    """Return True in a server thread, which executes the calls that it reads."""
    return getattr(_thread_state, "is_server_thread", False)


class ConnectionThreads:
    """Server threads of this process, at most `max_threads`."""

    def __init__(self, max_threads: int) -> None:
        self._max_threads = max_threads
        self._channels: set[BlockingConnection] = set()

    @property
    def full(self) -> bool:
        """True if the number of server threads has reached the maximum."""
        return len(self._channels) >= self._max_threads

    def start(self, channel: BlockingConnection, greeting: Any, handle: Handle) -> Future[None]:
        """Send `greeting`, and serve the connection in a new thread.

        Return a future that is done when the thread ends.
        """
        finished: Future[None] = Future()
        self._channels.add(channel)

        def run() -> None:
            _thread_state.is_server_thread = True
            try:
                channel.send(greeting)
                while True:
                    _serve(channel, handle)
            except (OSError, ValueError, TypeError):
                # The peer has disconnected, or has sent a malformed call.
                channel.close()
            finally:
                self._channels.discard(channel)
                finished.set_result(None)

        threading.Thread(target=run, name="ts.rpc serves", daemon=True).start()
        return finished

    def close(self) -> None:
        """Close all connections."""
        for channel in list(self._channels):
            channel.hang_up()


def _serve(channel: BlockingConnection, handle: Handle) -> None:
    """Read one call, handle it, and write the response."""
    message = channel.next()
    if type(message) is MessageTooLargeError:
        (request_id, _), call = message.message, message
    else:
        request_id, call = message
    reply = _PendingReply(channel, request_id)
    handle(call, reply)
    reply.finish()


class _PendingReply(Reply):
    """Response to a call: any thread may set it, and the server thread writes it."""

    def __init__(self, channel: BlockingConnection, request_id: Any) -> None:
        self._channel, self._request_id = channel, request_id
        self._open = [request_id]
        self._server = threading.get_ident()
        self._sent = False
        self._result: Any = None
        self._reply_ready = threading.Lock()  # locked until another thread has set `_result`
        self._reply_ready.acquire()

    def __call__(self, result: Any) -> None:
        """Set the response. Later calls are ignored."""
        try:
            self._open.pop()
        except IndexError:
            return
        if threading.get_ident() == self._server:
            self._send(result)
        else:
            self._result = result
            self._reply_ready.release()

    def finish(self) -> None:
        """Wait for the response and write it. Raise ConnectionError if the caller has disconnected."""
        if self._sent:
            return
        while not self._reply_ready.acquire(timeout=_LIVENESS_POLL_INTERVAL_SECONDS):
            if self._channel.is_closed_by_peer:
                raise ConnectionError("the caller disconnected before its response was ready")
        self._send(self._result)

    def count_call(self) -> None:
        """Do nothing: a blocking connection has one call at a time, so calls need not be counted."""

    def finish_call(self) -> None:
        """Do nothing (see `count_call`)."""

    def _send(self, result: Any) -> None:
        try:
            self._channel.send([self._request_id, result])
        except ValueError as error:  # the result is larger than a message may be: send the error instead
            self._channel.send([self._request_id, ["failed", "ValueError", str(error)]])
        self._sent = True
