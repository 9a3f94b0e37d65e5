"""Endpoint of this process, which sends requests to other workers and accepts their connections.

There are three kinds of requests:

    endpoint.call(peer, ["fetch", identity, None], timeout)       returns the response or raises its exception
    endpoint.submit(peer, message, timeout)                       returns a future of the response
    endpoint.send_reliably(peer, ["drop", identity, fork])        sends a one-way message

Each caller thread that blocks has its own connection, for a low latency. All asynchronous calls to a worker
share one connection. A broken connection fails its pending calls immediately.
"""

from __future__ import annotations

import asyncio
import functools
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Executor
from concurrent.futures import Future as ConcurrentFuture
from typing import TYPE_CHECKING, Any, Final

from ts.distributed.dist_autograd.send_recv_nodes import GradientCodec
from ts.distributed.errors import WorkerUnavailableError
from ts.distributed.event_loop import call_later, cancel_timer, loop, on_event_loop, run
from ts.distributed.rpc.call_counts import CallCounts
from ts.distributed.rpc.call_profiling import Timing
from ts.distributed.rpc.callable_registry import SentCode, describe_callee
from ts.distributed.rpc.connection_threads import ConnectionThreads
from ts.distributed.rpc.options import NO_TIMEOUT, RpcBackendOptions
from ts.distributed.rpc.peers import Peer
from ts.distributed.rpc.responses import UNKNOWN_CODE, decode_response
from ts.distributed.rpc.rpc_future import RpcFuture
from ts.distributed.transport import BlockingConnection
from ts.distributed.transport.addresses import join_host_port
from ts.distributed.transport.credentials import Credentials
from ts.distributed.transport.multiplexing import Reply, answer
from ts.distributed.transport.transport import Connection, Listener
from ts.distributed.wire_values import WireContext

if TYPE_CHECKING:
    from ts.distributed.rpc.worker_directory import WorkerDirectory

# If a worker is disconnected for longer than this time, its state (RRefs, contexts) is discarded.
RECONNECT_TIMEOUT_SECONDS = 30.0
_HELLO_RESPONSE: Final = ["value", None, ()]
# kinds of requests that contain a callee, whose code the receiver may lack
_MESSAGES_WITH_CALLEE: Final = ("call", "remote")

# function (request, reply, id of the calling worker or -1 before its hello message)
HandleRequest = Callable[[Any, Reply, int], None]


class Endpoint:
    """Listener of this process, connections from other workers, and requests to them."""

    def __init__(
        self, options: RpcBackendOptions, pool: Executor, handle: HandleRequest, forget: Callable[[int], None]
    ) -> None:
        """Create the endpoint of a process. When another worker has left, `forget` is called with its id."""
        self.options, self.pool = options, pool
        self.closed = False
        self.calls = CallCounts()
        self.sent_code = SentCode(options.allow_python)
        self._handle, self._forget = handle, forget
        self._loop = loop()
        threads = options.num_worker_threads
        self._connection_threads = ConnectionThreads(threads if threads > 1 else 0)
        self._connections: set[Connection] = set()  # connections that other workers opened
        # id of a worker -> number of open connections from it
        self._connection_counts: Counter[int] = Counter()
        # id of a worker -> number of connections that this worker has opened so far, including closed ones
        self._hello_counts: Counter[int] = Counter()
        self._listener: Listener[Connection] | None = None
        self._ready = asyncio.Event()

    def listen(self, security: Credentials, host: str) -> str:
        """Start the listener on `options.host` or, if it is empty, on `host`, and return its address."""
        return run(self._start(security, self.options.host or host))

    async def _start(self, security: Credentials, host: str) -> str:
        address = f"{security.scheme('worker')}://{join_host_port(host, 0)}"
        self._listener = Listener(address, self._serve, **security.get_listen_args("worker"))
        await self._listener.start()
        return self._listener.contact_address

    def open(self, directory: WorkerDirectory, codec: GradientCodec) -> None:
        """Begin to send and to handle requests."""
        self._directory, self._codec = directory, codec
        loop().call_soon_threadsafe(self._ready.set)

    def close(self) -> None:
        """Stop the listener, and close the connections that other workers opened.

        Calls over these connections fail.
        """
        self.closed = True
        if self._listener is not None:
            loop().call_soon_threadsafe(self._stop, self._listener)

    def _stop(self, listener: Listener[Connection]) -> None:
        listener.stop()
        self._ready.set()
        self._connection_threads.close()
        for connection in self._connections:
            connection.abort()

    # ---- requests to other workers

    def call(
        self,
        peer: Peer,
        message: list[Any],
        timeout: float,
        wire_context: WireContext | None = None,
        timing: Timing | None = None,
    ) -> Any:
        """Send a request and wait for the response. Return the value in the response, or raise its exception.

        wire_context  context for deserializing the value
        timing        measurement of the call, or None if the call is not profiled
        """
        if on_event_loop():
            raise RuntimeError("a blocking function was called in the event loop's thread")
        deadline = None if timeout == NO_TIMEOUT else time.monotonic() + timeout
        self._attach_code(peer, message)
        sent = message if timing is None else timing.wrap_request(message)
        while True:
            remaining_seconds = None if deadline is None else max(deadline - time.monotonic(), 1e-3)
            try:
                _, response = peer.channel(remaining_seconds).call([0, sent], remaining_seconds)
            except OSError as error:
                if timing is not None:
                    timing.finish(None)
                late = deadline is not None and time.monotonic() >= deadline
                late = late and isinstance(error, TimeoutError)
                raise (
                    _timeout_error(timeout) if late else _unavailable_error(peer, message, error)
                ) from None
            if response[0] != UNKNOWN_CODE:
                if timing is not None:
                    timing.finish(response)
                return decode_response(response, self._codec, wire_context)
            if deadline is not None and time.monotonic() >= deadline:
                raise _timeout_error(timeout)
            self._attach_code(peer, message, again=True)

    def submit(
        self,
        peer: Peer,
        message: list[Any],
        timeout: float,
        wire_context: WireContext | None = None,
        timing: Timing | None = None,
    ) -> RpcFuture:
        """Send a request without blocking, and return a future of the value that `call` would return."""
        future = RpcFuture(self.pool)
        self._attach_code(peer, message)
        sent = message if timing is None else timing.wrap_request(message)

        def done(response: Any, error: Exception | None) -> None:
            if error is None and response[0] == UNKNOWN_CODE and future in self.calls.unfinished:
                self._attach_code(peer, message, again=True)
                peer.send(sent, done)
                return
            if timing is not None:
                timing.finish(response)
            if not self.calls.finish(future):
                return  # the call timed out before the response arrived
            if timer is not None:
                cancel_timer(timer)
            try:
                if error is not None:
                    raise _unavailable_error(peer, message, error)
                value = decode_response(response, self._codec, wire_context)
            except Exception as raised:
                future.set_exception(raised)
            else:
                future.set_result(value)

        def time_out() -> None:
            if self.calls.finish(future):
                future.set_exception(_timeout_error(timeout))

        self.calls.unfinished.add(future)
        timer = None if timeout == NO_TIMEOUT else call_later(timeout, time_out)
        peer.send(sent, done)
        return future

    def send_reliably(
        self, peer: Peer, message: list[Any], on_delivered: Callable[[], None] | None = None
    ) -> None:
        """Send a one-way message with at-least-once delivery (`reliable_delivery`).

        `on_delivered` is called when the peer has acknowledged the message. The message is lost only if the
        peer has left.
        """
        if not self.closed:
            peer.outbox.send(message, on_delivered)

    def send_reliably_later(self, peer: Peer, message: list[Any]) -> None:
        """Let the event loop call `send_reliably`.

        Finalizers use this method, because the thread in which a finalizer runs may hold any lock.
        """
        self._loop.call_soon_threadsafe(self.send_reliably, peer, message)

    def _attach_code(self, peer: Peer, message: list[Any], again: bool = False) -> None:
        """Add the code of the callee to a request if the peer lacks the code, or if `again` is True."""
        if message[0] in _MESSAGES_WITH_CALLEE and message[1][0] == "code":
            digest = message[1][1]
            message[4] = self.sent_code.archive(digest) if again or digest not in peer.codes else None
            peer.codes.add(digest)

    # ---- connections of other workers

    async def _serve(self, connection: Connection) -> None:
        caller = -1
        # Future of the thread that serves this connection. If the event loop serves the connection, the list
        # is empty.
        thread_futures: list[ConcurrentFuture[None]] = []

        def hand_over_connection(reply: Reply) -> None:
            try:
                channel = BlockingConnection.from_stream(connection.stream)
            except (RuntimeError, ConnectionError):
                # The connection is closed or is sending a message, so it cannot be handed over to a thread.
                reply(_HELLO_RESPONSE)
            else:
                thread = self._connection_threads.start(
                    channel, [0, _HELLO_RESPONSE], lambda message, reply: self._handle(message, reply, caller)
                )
                thread_futures.append(thread)

        def handle(message: Any, reply: Reply) -> None:
            nonlocal caller
            match message:
                case _ if connection.closed():
                    # Ignore messages on a closed connection. A connection is closed after a rejected hello
                    # message.
                    return
                case ("hello", int(process), int(receiver), *flags) if caller in (
                    -1,
                    process,
                ) and self._directory.can_have_id(process):
                    if receiver != self._directory.info.id:
                        connection.abort()  # the message is for another worker, which had this address before
                        return
                    if caller < 0:
                        caller = process
                        self._connection_counts[caller] += 1
                        self._hello_counts[caller] += 1
                    if flags == ["waits"] and not self._connection_threads.full:
                        loop().call_soon(hand_over_connection, reply)
                    else:
                        reply(_HELLO_RESPONSE)
                case _:
                    self._handle(message, reply, caller)

        self._connections.add(connection)
        try:
            await self._ready.wait()
            if not self.closed:
                await answer(connection, handle)
            if thread_futures:
                await asyncio.wrap_future(thread_futures[0])
        finally:
            self._connections.discard(connection)
        if caller >= 0:
            self._connection_counts[caller] -= 1
            if not self.closed:
                forget = functools.partial(self.forget_worker, caller, self._hello_counts[caller])
                call_later(RECONNECT_TIMEOUT_SECONDS, forget)

    def forget_worker(self, process: int, hello_count: int | None = None) -> None:
        """Discard the state of a disconnected worker.

        If `hello_count` is given and the worker has opened a different number of connections, keep the state.
        Also keep it if the worker is connected.
        """
        if not self._connection_counts[process] and hello_count in (None, self._hello_counts[process]):
            del self._connection_counts[process]
            self._forget(process)


def _timeout_error(timeout: float) -> RuntimeError:
    return RuntimeError(
        f"RPCErr:1:RPC ran for more than set timeout ({timeout * 1000:.0f} ms) and will now be marked "
        "with an error"
    )


def _describe_request(message: list[Any]) -> str:
    """Return the name of the function or method that a request calls, for error messages."""
    if message[0] in _MESSAGES_WITH_CALLEE:
        return describe_callee(message[1])
    return f"the method {message[2]}" if "method" in message[0] else "to_here"


def _unavailable_error(peer: Peer, message: list[Any], error: Exception) -> Exception:
    if isinstance(error, MemoryError):
        return error
    unavailable = WorkerUnavailableError(
        f"{peer.info} exited or its connection broke during {_describe_request(message)}: {error}"
    )
    unavailable.connection_refused = isinstance(error, ConnectionRefusedError)
    return unavailable
