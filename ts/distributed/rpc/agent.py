"""RPC agent of this process, which calls functions in other workers and handles their requests.

An `RpcAgent` has these attributes:

    endpoint     connections and messages to other workers
    executor     threads, permissions and limits of incoming calls
    rrefs        values that this process owns, reference counts
    contexts     contexts of distributed autograd, which use the agent as their `Messenger`
    codec        serialization of arguments and results
    directory    names, ids and addresses of the workers

Each request is a tuple. The table shows the action of the receiver, and the function that sends the request:

    request                                        action of the receiver               sent by
    ("call", callee, arguments, code)              call, respond with the result        rpc_sync, rpc_async
    ("remote", callee, arguments, code, value)     respond, then call, own the result   remote
    ("method", owner, name, arguments)             call a method of an owned value      RRef.rpc_sync
    ("remote_method", ...)                         as "remote", for such a method      RRef.remote
    ("fetch", value, context) and others           see `rref_store`                     RRef.to_here
    ("backward", ...)                              see `dist_autograd.rpc_handlers`     dist_autograd.backward
    ("optimizer", ...)                             see `optimizers`                     DistributedOptimizer
    ("gather", names, number, value)               see `all_gather`                     _all_gather

Handlers that may block run in a thread of the executor, never in the event loop.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from typing import Any

from ts._core.vm.future import Future
from ts.distributed.dist_autograd import rpc_handlers
from ts.distributed.dist_autograd.contexts import DistAutogradContainer, current_id
from ts.distributed.dist_autograd.send_recv_nodes import GradientCodec
from ts.distributed.rpc.all_gather import AllGatherState
from ts.distributed.rpc.call_executor import CallExecutor
from ts.distributed.rpc.call_profiling import Timing, start_timing
from ts.distributed.rpc.endpoint import Endpoint
from ts.distributed.rpc.options import UNSET_RPC_TIMEOUT, RpcBackendOptions, seconds
from ts.distributed.rpc.peers import Peer
from ts.distributed.rpc.responses import ResponseWriter, respond
from ts.distributed.rpc.rpc_future import RpcFuture
from ts.distributed.rpc.rref import RRef
from ts.distributed.rpc.rref_store import RRefStore, parse_id
from ts.distributed.rpc.worker_directory import WorkerDirectory
from ts.distributed.transport.message_codec import MessageTooLargeError
from ts.distributed.transport.multiplexing import Reply
from ts.distributed.wire_values import EncodedValue, WireContext
from ts.runtime.function import ScriptFunction

# arguments of `Endpoint.call` and `Endpoint.submit`
_Request = tuple[Peer, list[Any], float, WireContext | None, Timing | None]


class RpcAgent:
    """RPC agent of this process, which connects its parts."""

    def __init__(
        self, create_directory: Callable[[Endpoint], WorkerDirectory], options: RpcBackendOptions
    ) -> None:
        """Start the agent.

        `create_directory` starts the listener of the agent and registers the agent with the other workers.
        """
        self.options = options
        self.pool = ThreadPoolExecutor(options.num_worker_threads, "ts.rpc")
        self.backward_pool = ThreadPoolExecutor(
            options.num_worker_threads, "ts.rpc.passes"
        )  # threads that run backward passes requested by other workers
        self.endpoint = Endpoint(options, self.pool, self._handle, self._forget)
        try:
            self.directory = create_directory(self.endpoint)
        except BaseException:
            self.close()
            raise
        self.info = self.directory.info
        self.peer = self.directory.peer
        self.rrefs = RRefStore(self.endpoint, self.directory, functools.partial(RRef._handle, self))
        self.contexts = DistAutogradContainer(self)
        self.codec = GradientCodec(self.contexts, self.rrefs.wire_context)
        self.executor = CallExecutor(
            options, self.pool, self.endpoint.calls, self.rrefs, self.codec, self.info
        )
        self.all_gather_state = AllGatherState(self.directory, self.codec)

    def open(self) -> None:
        """Begin to send and to handle requests. Called functions may use the agent of this process."""
        self.endpoint.open(self.directory, self.codec)

    @property
    def closed(self) -> bool:
        """True after RPC was shut down in this process."""
        return self.endpoint.closed

    def timeout(self, requested: float) -> float:
        """Return the timeout of a call in seconds: `requested`, or the default for UNSET_RPC_TIMEOUT.

        0 means no timeout.
        """
        return self.options.rpc_timeout if requested == UNSET_RPC_TIMEOUT else seconds(requested)

    # ---- calls of functions and methods in other workers

    def call(self, to: Any, callee: Any, args: Any, kwargs: Any, timeout: float) -> RpcFuture:
        """Call a function in worker `to`, and return a future of the result."""
        return self.endpoint.submit(*self._call_request("rpc_async", to, callee, args, kwargs, timeout))

    def call_and_wait(self, to: Any, callee: Any, args: Any, kwargs: Any, timeout: float) -> Any:
        """Call a function in worker `to`, wait, and return the result."""
        return self.endpoint.call(*self._call_request("rpc_sync", to, callee, args, kwargs, timeout))

    def remote(self, to: Any, callee: Any, args: Any, kwargs: Any, timeout: float) -> RRef:
        """Call a function in worker `to`. The worker keeps the result. Return an RRef to the result."""
        return self._submit_remote(*self._call_request("rpc_remote", to, callee, args, kwargs, timeout))

    def method(self, handle: RRef, name: str, args: Any, kwargs: Any, timeout: float) -> RpcFuture:
        """Call a method on the value of an RRef in the process that owns it.

        Return a future of the result.
        """
        return self.endpoint.submit(*self._method_request("rpc_async", handle, name, args, kwargs, timeout))

    def remote_method(self, handle: RRef, name: str, args: Any, kwargs: Any, timeout: float) -> RRef:
        """Call a method on the value of an RRef in the process that owns the value.

        The owner keeps the result. Return an RRef to the result.
        """
        return self._submit_remote(*self._method_request("rpc_remote", handle, name, args, kwargs, timeout))

    def _call_request(
        self, form: str, to: Any, callee: Any, args: Any, kwargs: Any, timeout: float
    ) -> _Request:
        peer, wire_context = self.peer(to), self.rrefs.wire_context_for(callee)
        name = list(self.name_callee(callee))
        arguments = tuple(args or ()), dict(kwargs or {})
        if isinstance(callee, ScriptFunction):
            arguments = callee.bind(*arguments), {}
        kind = "remote" if form == "rpc_remote" else "call"
        message = [kind, name, *self.serialize(peer, arguments, wire_context), None]
        timing = start_timing(form, callee, self.directory, peer, message)
        return peer, message, self.timeout(timeout), wire_context, timing

    def _method_request(
        self, form: str, handle: RRef, name: str, args: Any, kwargs: Any, timeout: float
    ) -> _Request:
        handle._check_created()
        peer, kind = handle._peer, "remote_method" if form == "rpc_remote" else "method"
        message = [kind, list(handle._identity), name, *self.serialize(peer, (args, kwargs))]
        timing = start_timing(form, name, self.directory, peer, message)
        return peer, message, self.timeout(timeout), None, timing

    def _submit_remote(
        self,
        peer: Peer,
        message: list[Any],
        timeout: float,
        wire_context: WireContext | None,
        timing: Timing | None,
    ) -> RRef:
        identity, fork = self.rrefs.new(), self.rrefs.new()
        rref = RRef._handle(self, peer, identity, fork)
        rref._wire_context = wire_context
        message += [list(identity), list(fork), self.info.id]
        rref._created = self.endpoint.submit(peer, message, timeout, timing=timing)
        return rref

    def serialize(self, peer: Peer, value: Any, wire_context: WireContext | None = None) -> EncodedValue:
        """Serialize a value for a peer. In a distributed autograd context, record its tensors."""
        return self.codec.pack(value, current_id(), peer.info.id, wire_context)

    def name_callee(self, callee: Any) -> tuple[str, ...]:
        """Return the name of a callee in messages."""
        return self.endpoint.sent_code.name(callee)

    # ---- `Messenger` of distributed autograd

    @property
    def worker_id(self) -> int:
        """Id of this process."""
        return self.info.id

    def can_have_id(self, worker_id: int) -> bool:
        """Return True if `worker_id` may be the id of a worker."""
        return self.directory.can_have_id(worker_id)

    def request(self, process: int, message: list[Any]) -> Future[Any]:
        """Send a request with the default timeout, and return a future of the value in the response."""
        return self.endpoint.submit(self.peer(process), message, self.options.rpc_timeout)

    def notify(self, process: int, message: list[Any]) -> None:
        """Send a message that arrives at least once, unless the worker has left."""
        self.endpoint.send_reliably(self.peer(process), message)

    def within(self) -> AbstractContextManager[Any]:
        """Return a context that applies the limits of incoming calls."""
        return self.executor.within()

    # ---- requests of other workers

    def _handle(self, message: Any, reply: Reply, caller: int) -> None:
        response = ResponseWriter(self.codec, reply, self.endpoint.calls.count_failure)
        executor = self.executor
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
                    executor.begin(executor.run, name, (data, memory), code, response)
                case ("remote", name, data, memory, code, identity, fork, int(process)) if process == caller:
                    arguments = name, (data, memory), code
                    executor.run_and_store(response, identity, fork, process, executor.run, *arguments)
                case ("method", identity, str(name), data, memory):
                    # Look up the value before the call is queued: its last RRef may be dropped before the
                    # call runs.
                    owned = self.rrefs.owner_of(parse_id(identity))
                    executor.begin(executor.run_method, owned, name, (data, memory), response)
                case ("remote_method", owner, str(name), data, memory, identity, fork, int(process)) if (
                    process == caller
                ):
                    owned = self.rrefs.owner_of(parse_id(owner))
                    call = executor.run_method, owned, name, (data, memory)
                    executor.run_and_store(response, identity, fork, process, *call)
                case ("gather", names, int(sequence_number), data, memory):
                    self.all_gather_state.receive(names, sequence_number, (data, memory), response, caller)
                case ("backward", "value", context_id, identity, bool(keep)):
                    value = self.rrefs.owner_of(parse_id(identity)).value
                    backward = rpc_handlers.backward_of, self.contexts, value, context_id, keep
                    self.backward_pool.submit(respond, *backward, response)
                case ("backward", str(kind), *rest):
                    executor.begin(respond, rpc_handlers.handle, self.contexts, kind, tuple(rest), response)
                case ("optimizer", str(kind), *rest):
                    executor.begin(respond, self._handle_optimizer, kind, tuple(rest), response)
                case (str(kind), *rest):
                    self.rrefs.handle_message(kind, rest, response, caller, self.codec)
                case _:
                    raise ValueError("malformed request: expected a sequence that begins with its kind")
        except Exception as error:
            response.fail(error)

    def _handle_optimizer(self, kind: str, encoded: Any, response: ResponseWriter) -> None:
        # imported at first use, because it imports `ts.optim`
        from ts.distributed.rpc import optimizers

        arguments, _ = self.codec.unpack(encoded)
        find_callee, create_owned = self.executor.received_code.find, self.rrefs.create_owned
        response.result(optimizers.handle(self.contexts, find_callee, create_owned, kind, arguments))

    def _forget(self, process: int) -> None:
        """Discard the state of a worker that has left."""
        self.rrefs.forget(process)
        self.all_gather_state.forget(process)
        self.contexts.forget(process)

    # ---- state and shutdown

    def get_debug_info(self) -> dict[str, str]:
        """Return the numbers of active calls and of idle threads, under PyTorch's names.

        A suspended script occupies no thread.
        """
        calls, threads = self.endpoint.calls, self.options.num_worker_threads
        active, suspended = calls.executing, calls.events["parked"] - calls.events["resumed"]
        counts = {
            "client_active_calls": len(calls.unfinished),
            "server_active_calls": active,
            "server_active_async_calls": suspended,
            "thread_pool_size": threads,
            "num_idle_threads": max(threads - active + suspended, 0),
        }
        return {f"agent.{name}": str(count) for name, count in counts.items()}

    def leave(self, timeout: float | None) -> None:
        """Wait until this process may leave, as defined by `WorkerDirectory.leave`."""
        deadline = None if timeout is None else time.monotonic() + timeout
        self.directory.leave(lambda: None if deadline is None else max(deadline - time.monotonic(), 0))

    def close(self) -> None:
        """Stop the listener, the thread pools and all connections."""
        self.endpoint.close()
        for pool in (self.pool, self.backward_pool):
            pool.shutdown(wait=False, cancel_futures=True)
        directory = getattr(self, "directory", None)
        if directory is not None:
            directory.close()
