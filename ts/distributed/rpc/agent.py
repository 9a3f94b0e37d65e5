"""RPC agent of this process: sends requests to other workers and handles requests from them.

    request                                        action of the receiver               sent by
    ("call", callee, arguments, code)              call, respond with the result        rpc_sync, rpc_async
    ("remote", callee, arguments, code, value)     respond, then call, own the result   remote
    ("method", owner, name, arguments)             call a method of an owned value      RRef.rpc_sync
    ("remote_method", ...)                         as "remote", for such a method      RRef.remote
    ("fetch", value, context) and others           see `rref_context`                   RRef.to_here
    ("backward", ...), ("optimizer", ...)          see `dist_autograd.rpc_handlers`     dist_autograd.backward
    ("gather", names, number, value)               see `all_gather`                     _all_gather

A broken connection fails its pending calls immediately. Each blocking caller thread has its own connection,
which has the lowest latency. The asynchronous calls to a worker share one connection. Incoming calls run in
the server thread of a blocking caller (`connection_threads`) or in a thread pool, never in the event loop.
"""

from __future__ import annotations

import asyncio
import functools
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Future as ConcurrentFuture
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

from distributed.comm.core import listen

from ts.distributed.dist_autograd import rpc_handlers, send_recv_nodes
from ts.distributed.dist_autograd.contexts import DistAutogradContainer, current_id
from ts.distributed.errors import WorkerUnavailableError
from ts.distributed.event_loop import call_later, loop, on_event_loop, run
from ts.distributed.rpc import debug_info
from ts.distributed.rpc.all_gather import AllGatherState
from ts.distributed.rpc.call_executor import CallExecutor
from ts.distributed.rpc.call_profiling import Timing, start_timing
from ts.distributed.rpc.callable_registry import Name, SentCode, describe_callee
from ts.distributed.rpc.connection_threads import ConnectionThreads
from ts.distributed.rpc.options import NO_TIMEOUT, UNSET_RPC_TIMEOUT, RpcBackendOptions, seconds
from ts.distributed.rpc.peers import Peer
from ts.distributed.rpc.responses import UNKNOWN_CODE, ResponseWriter, decode_response
from ts.distributed.rpc.rpc_future import RpcFuture
from ts.distributed.rpc.rref import RRef
from ts.distributed.rpc.rref_context import RRefContext, parse_id
from ts.distributed.rpc.worker_directory import WorkerDirectory
from ts.distributed.transport import BlockingConnection, Comm
from ts.distributed.transport.addresses import join_host_port
from ts.distributed.transport.credentials import Credentials
from ts.distributed.transport.message_codec import MessageTooLargeError
from ts.distributed.transport.multiplexing import Reply, answer
from ts.distributed.wire_values import EncodedValue, WireContext
from ts.runtime.function import ScriptFunction

# the state of a worker (RRefs, contexts) is discarded if the worker is disconnected for longer than this
RECONNECT_TIMEOUT_SECONDS = 30.0
_HELLO_RESPONSE: Final = ["value", None, ()]
# kinds of requests that contain a callee, whose code the receiver may lack
_MESSAGES_WITH_CALLEE: Final = ("call", "remote")


class RpcAgent:
    """RPC agent of this process: listener, connections to workers, executor of calls, and RRefs."""

    def __init__(
        self, create_directory: Callable[[RpcAgent], WorkerDirectory], options: RpcBackendOptions
    ) -> None:
        """Start the agent. `create_directory` starts its listener and registers it with the other workers."""
        self.options = options
        self.closed = False
        self.executor = CallExecutor(self, options)
        self.pool = self.executor.pool
        self.backward_pool = ThreadPoolExecutor(
            options.num_worker_threads, "ts.rpc.passes"
        )  # threads that run backward passes requested by other workers
        self._sent_code = SentCode(options.allow_python)
        self._unfinished_calls: set[RpcFuture] = set()  # asynchronous calls of this process
        threads = options.num_worker_threads
        self._loop = loop()
        self._connection_threads = ConnectionThreads(threads if threads > 1 else 0)
        # number of calls of other workers that run or are queued here, plus number of calls of this process
        # that are unfinished
        self._active_call_count = 0
        self._idle_condition = threading.Condition()
        self._comms: set[Comm] = set()  # connections that other workers opened
        # id of a worker -> number of open connections from it
        self._connection_counts: Counter[int] = Counter()
        # id of a worker -> number of connections that it has opened so far, including closed ones
        self._hello_counts: Counter[int] = Counter()
        self._listener: Any = None
        # set after the attributes that the handlers of requests use are initialized
        self._ready = asyncio.Event()
        try:
            self.directory = create_directory(self)
        except BaseException:
            self.close()
            raise
        self.info = self.directory.info
        self.peer = self.directory.peer
        self.rref_context = RRefContext(self)
        self.contexts = DistAutogradContainer(self)
        self.all_gather_state = AllGatherState(self)
        loop().call_soon_threadsafe(self._ready.set)

    def timeout(self, requested: float) -> float:
        """Return the timeout of a call in seconds: `requested`, or the default for UNSET_RPC_TIMEOUT.

        0 means no timeout.
        """
        return self.options.rpc_timeout if requested == UNSET_RPC_TIMEOUT else seconds(requested)

    # ---- outgoing requests

    def call(self, to: Any, callee: Any, args: Any, kwargs: Any, timeout: float) -> RpcFuture:
        """Call a function in worker `to`, and return a future of the result."""
        peer, wire_context = self.peer(to), self.rref_context.wire_context_for(callee)
        message = ["call", *self._encode_call(peer, callee, args, kwargs, wire_context), None]
        timing = start_timing("rpc_async", callee, self.directory, peer, message)
        return self.submit(peer, message, self.timeout(timeout), wire_context, timing)

    def call_and_wait(self, to: Any, callee: Any, args: Any, kwargs: Any, timeout: float) -> Any:
        """Call a function in worker `to`, wait, and return the result."""
        peer, wire_context = self.peer(to), self.rref_context.wire_context_for(callee)
        message = ["call", *self._encode_call(peer, callee, args, kwargs, wire_context), None]
        timing = start_timing("rpc_sync", callee, self.directory, peer, message)
        return self.call_peer(peer, message, self.timeout(timeout), wire_context, timing)

    def remote(self, to: Any, callee: Any, args: Any, kwargs: Any, timeout: float) -> RRef:
        """Call a function in worker `to`, which keeps the result, and return an RRef to the result."""
        peer, wire_context = self.peer(to), self.rref_context.wire_context_for(callee)
        message = ["remote", *self._encode_call(peer, callee, args, kwargs, wire_context), None]
        timing = start_timing("rpc_remote", callee, self.directory, peer, message)
        return self._submit_remote(peer, message, timeout, wire_context, timing)

    def method(self, handle: RRef, name: str, args: Any, kwargs: Any, timeout: float) -> RpcFuture:
        """Call a method of the value of an RRef in its owner, and return a future of the result."""
        handle._check_created()
        message = ["method", list(handle._identity), name, *self.serialize(handle._peer, (args, kwargs))]
        timing = start_timing("rpc_async", name, self.directory, handle._peer, message)
        return self.submit(handle._peer, message, self.timeout(timeout), timing=timing)

    def remote_method(self, handle: RRef, name: str, args: Any, kwargs: Any, timeout: float) -> RRef:
        """Call a method of the value of an RRef in its owner, which keeps the result.

        Return an RRef to the result.
        """
        handle._check_created()
        message = [
            "remote_method",
            list(handle._identity),
            name,
            *self.serialize(handle._peer, (args, kwargs)),
        ]
        timing = start_timing("rpc_remote", name, self.directory, handle._peer, message)
        return self._submit_remote(handle._peer, message, timeout, None, timing)

    def _submit_remote(
        self,
        peer: Peer,
        message: list[Any],
        timeout: float,
        wire_context: WireContext | None,
        timing: Timing | None,
    ) -> RRef:
        identity, fork = self.rref_context.new(), self.rref_context.new()
        rref = RRef._handle(self, peer, identity, fork)
        rref._wire_context = wire_context
        message += [list(identity), list(fork), self.info.id]
        rref._created = self.submit(peer, message, self.timeout(timeout), timing=timing)
        return rref

    def _encode_call(
        self, peer: Peer, callee: Any, args: Any, kwargs: Any, wire_context: WireContext
    ) -> list[Any]:
        name = list(self._sent_code.name(callee))
        arguments = tuple(args or ()), dict(kwargs or {})
        if isinstance(callee, ScriptFunction):
            arguments = callee.bind(*arguments), {}
        return [name, *self.serialize(peer, arguments, wire_context)]

    def serialize(self, peer: Peer, value: Any, wire_context: WireContext | None = None) -> EncodedValue:
        """Serialize a value for a peer. In a distributed autograd context, record its tensors."""
        return send_recv_nodes.pack(value, self, current_id(), peer, wire_context)

    def deserialize(self, encoded: EncodedValue) -> Any:
        """Deserialize a received value."""
        return send_recv_nodes.unpack(encoded, self)[0]

    def name_callee(self, callee: Any) -> Name:
        """Return the name of a callee in messages."""
        return self._sent_code.name(callee)

    def find_callee(self, name: Any) -> Callable[..., Any]:
        """Return the callee for a name in a message."""
        return self.executor.received_code.find(name)

    def call_peer(
        self,
        peer: Peer,
        message: list[Any],
        timeout: float,
        wire_context: WireContext | None = None,
        timing: Timing | None = None,
    ) -> Any:
        """Send a request, wait, and return the value in the response, or raise the exception in it.

        wire_context  context for deserializing the value
        timing        measurement of the call, if profiled
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
                return decode_response(response, self, wire_context)
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
        """Send a request without blocking, and return a future of the value that `call_peer` would return."""
        future = RpcFuture(self)
        self._attach_code(peer, message)
        sent = message if timing is None else timing.wrap_request(message)

        def done(response: Any, error: Exception | None) -> None:
            if error is None and response[0] == UNKNOWN_CODE and future in self._unfinished_calls:
                self._attach_code(peer, message, again=True)
                peer.send(sent, done)
                return
            if timing is not None:
                timing.finish(response)
            if not self._finish(future):
                return  # the call timed out before the response arrived
            if timer is not None:
                timer.cancel()
            try:
                if error is not None:
                    raise _unavailable_error(peer, message, error)
                value = decode_response(response, self, wire_context)
            except Exception as raised:
                future.set_exception(raised)
            else:
                future.set_result(value)

        def time_out() -> None:
            if self._finish(future):
                future.set_exception(_timeout_error(timeout))

        self.count_call()
        self._unfinished_calls.add(future)
        timer = None if timeout == NO_TIMEOUT else call_later(timeout, time_out)
        peer.send(sent, done)
        return future

    def _finish(self, future: RpcFuture) -> bool:
        """Count an asynchronous call of this process as finished. Return False if it was finished before."""
        try:
            self._unfinished_calls.remove(future)
        except KeyError:
            return False
        self.finish_call()
        return True

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

        Finalizers use this, as their thread may hold any lock.
        """
        self._loop.call_soon_threadsafe(self.send_reliably, peer, message)

    def _attach_code(self, peer: Peer, message: list[Any], again: bool = False) -> None:
        """Add the callee's code to a request if the peer lacks this code or `again` is True."""
        if message[0] in _MESSAGES_WITH_CALLEE and message[1][0] == "code":
            digest = message[1][1]
            message[4] = self._sent_code.archive(digest) if again or digest not in peer.codes else None
            peer.codes.add(digest)

    # ---- incoming requests

    def listen(self, security: Credentials, host: str) -> str:
        """Start the listener on the host of the options or else on `host`, and return its address."""
        return run(self._start(security, self.options.host or host))

    async def _start(self, security: Credentials, host: str) -> str:
        host_and_port = join_host_port(host, 0)
        address = f"{security.scheme('worker')}://{host_and_port}"
        self._listener = listen(address, self._serve, **security.get_listen_args("worker"))
        await self._listener.start()
        return str(self._listener.contact_address)

    async def _serve(self, comm: Comm) -> None:
        caller = -1
        # future of the thread that serves this connection, or an empty list if the event loop serves it
        thread_futures: list[ConcurrentFuture[None]] = []

        def hand_over_connection(reply: Reply) -> None:
            try:
                channel = BlockingConnection.from_stream(comm.stream)
            except (RuntimeError, ConnectionError):
                # the connection cannot be handed over to a thread, because a message is being sent or it is
                # closed
                reply(_HELLO_RESPONSE)
            else:
                handle = functools.partial(self._handle, caller=caller)
                thread_futures.append(self._connection_threads.start(channel, [0, _HELLO_RESPONSE], handle))

        def handle(message: Any, reply: Reply) -> None:
            nonlocal caller
            match message:
                case _ if comm.closed():
                    # Ignore messages on a closed connection. A connection is closed after a rejected hello
                    # message.
                    return
                case ("hello", int(process), int(receiver), *flags) if caller in (
                    -1,
                    process,
                ) and self.directory.can_have_id(process):
                    if receiver != self.info.id:
                        comm.abort()  # the message is for another worker, which had this address before
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

        self._comms.add(comm)
        try:
            await self._ready.wait()
            if not self.closed:
                await answer(comm, handle)
            if thread_futures:
                await asyncio.wrap_future(thread_futures[0])
        finally:
            self._comms.discard(comm)
        if caller >= 0:
            self._connection_counts[caller] -= 1
            if not self.closed:
                loop().call_later(RECONNECT_TIMEOUT_SECONDS, self._forget, caller, self._hello_counts[caller])

    def _forget(self, process: int, hello_count: int | None = None) -> None:
        """Discard the state of a disconnected worker.

        Keep the state if the worker is connected, or if it has opened more than `hello_count` connections."""
        if not self._connection_counts[process] and hello_count in (None, self._hello_counts[process]):
            del self._connection_counts[process]
            self.rref_context.forget(process)
            self.all_gather_state.forget(process)
            self.contexts.forget(process)

    def _handle(self, message: Any, reply: Reply, caller: int) -> None:
        response = ResponseWriter(self, reply)
        try:
            match message:
                case ("timed", tuple(message)):
                    response.arrived = time.perf_counter_ns()
            match message:
                case MessageTooLargeError():
                    raise message.error()
                case _ if caller < 0:
                    raise ValueError("expected a hello message before the first request")
                case ("call", name, data, memory, code):
                    self.executor.begin(self.executor.run, name, (data, memory), code, response)
                case ("remote", name, data, memory, code, identity, fork, int(process)) if process == caller:
                    arguments = name, (data, memory), code
                    self.executor.run_and_store(
                        response, identity, fork, process, self.executor.run, *arguments
                    )
                case ("method", identity, str(name), data, memory):
                    # Look up the value before the call is queued: its last RRef may be dropped before the
                    # call runs.
                    owned = self.rref_context.owner_of(parse_id(identity))
                    self.executor.begin(self.executor.run_method, owned, name, (data, memory), response)
                case ("remote_method", owner, str(name), data, memory, identity, fork, int(process)) if (
                    process == caller
                ):
                    owned = self.rref_context.owner_of(parse_id(owner))
                    call = self.executor.run_method, owned, name, (data, memory)
                    self.executor.run_and_store(response, identity, fork, process, *call)
                case ("gather", names, int(sequence_number), data, memory):
                    self.all_gather_state.receive(names, sequence_number, (data, memory), response, caller)
                case ("backward", "value", context_id, identity, bool(keep)):
                    owned = self.rref_context.owner_of(parse_id(identity))
                    self.backward_pool.submit(
                        rpc_handlers.backward_of, self, owned.value, context_id, keep, response
                    )
                case (("backward" | "optimizer") as about, str(kind), *rest):
                    self.executor.begin(rpc_handlers.handle, self, about, kind, tuple(rest), response)
                case (str(kind), *rest):
                    self.rref_context.handle_message(kind, rest, response, caller)
                case _:
                    raise ValueError("malformed request: expected a sequence that begins with its kind")
        except Exception as error:
            response.fail(error)

    # ---- shutdown

    def active_calls(self) -> int:
        """Return the number of unfinished asynchronous calls of this process."""
        return len(self._unfinished_calls)

    def get_debug_info(self) -> dict[str, str]:
        """Return the debug counters of the agent, which `debug_info` defines."""
        return debug_info.agent_counts(self)

    def count_call(self) -> None:
        """Count a call that has begun as active."""
        with self._idle_condition:
            self._active_call_count += 1

    def finish_call(self) -> None:
        """Count an active call as ended, and wake threads in `wait_until_idle`."""
        with self._idle_condition:
            self._active_call_count -= 1
            self._idle_condition.notify_all()

    def _stop_listening(self) -> None:
        """Stop the listener and close the connections that other workers opened, whose calls then fail."""
        self._listener.stop()
        self._ready.set()
        self._connection_threads.close()
        for comm in self._comms:
            comm.abort()

    def wait_until_idle(self, timeout: float | None, own_calls_only: bool = False) -> None:
        """Wait until no calls are active or, if `own_calls_only`, until this process's calls are finished."""
        with self._idle_condition:
            self._idle_condition.wait_for(
                lambda: not (self._unfinished_calls if own_calls_only else self._active_call_count), timeout
            )

    def leave(self, timeout: float | None) -> None:
        """Wait until this process may leave, as defined by `WorkerDirectory.leave`."""
        deadline = None if timeout is None else time.monotonic() + timeout
        self.directory.leave(lambda: None if deadline is None else max(deadline - time.monotonic(), 0))

    def close(self) -> None:
        """Stop the listener, the thread pools and all connections."""
        self.closed = True
        if self._listener is not None:
            loop().call_soon_threadsafe(self._stop_listening)
        for pool in (self.pool, self.backward_pool):
            pool.shutdown(wait=False, cancel_futures=True)
        directory = getattr(self, "directory", None)
        if directory is not None:
            directory.close()


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
