"""This process among those that call each other: what it asks, and what it is asked.

    message                                        there                              asked by
    ("call", callee, arguments, code)              run it, answer with its result     rpc_sync, rpc_async
    ("remote", callee, arguments, code, value)     answer; run it, keep its result    remote
    ("method", owner, name, arguments)             as call, of a value that is there  RRef.rpc_sync
    ("remote_method", ...)                         as remote                          RRef.remote
    ("fetch", value, context) and others           see `table`                        RRef.to_here
    ("backward", ...), ("optimizer", ...)          see `gradients.service`            dist_autograd.backward
    ("gather", names, turn, value)                 see `gathering`                    _all_gather

A connection that breaks fails its calls at once.  Who waits has a connection for each thread, as that is
fastest; calls in flight share one.  Calls of others run in the thread that serves one that waits (`serving`),
or in a pool of threads, never in the loop.
"""

from __future__ import annotations

import asyncio
import functools
import math
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Future as Turn
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

from distributed.comm.addressing import unparse_host_port
from distributed.comm.core import listen

from ts.distributed.comm import Channel, Comm, Security
from ts.distributed.comm.calls import Reply, answer
from ts.distributed.comm.messages import TooLarge
from ts.distributed.errors import Gone
from ts.distributed.gradients import recording, service
from ts.distributed.gradients.contexts import Contexts, current_id
from ts.distributed.loop import inside, loop, run
from ts.distributed.rpc import figures
from ts.distributed.rpc.answers import UNKNOWN, Answer, value_of
from ts.distributed.rpc.callees import Name, Sent, told
from ts.distributed.rpc.futures import RpcFuture
from ts.distributed.rpc.gathering import Gatherings
from ts.distributed.rpc.members import Members
from ts.distributed.rpc.options import NO_TIMEOUT, UNSET_RPC_TIMEOUT, RpcBackendOptions, seconds
from ts.distributed.rpc.peers import Peer
from ts.distributed.rpc.rref import RRef
from ts.distributed.rpc.running import Running
from ts.distributed.rpc.serving import Servers
from ts.distributed.rpc.table import References, as_identity
from ts.distributed.rpc.timing import Timing, watched
from ts.distributed.values import Parcel, Travel
from ts.runtime.function import ScriptFunction

_SWEEP: Final = 0.02  # seconds between looks at the time limits of calls in flight
RETURN = 30.0  # seconds in which a process that lost its connections may come back
_HEARD: Final = ["value", None, ()]  # the answer to who says which process it is
_RUNS: Final = ("call", "remote")  # messages with a callee, whose code may be missing


class Agent:
    """See the file."""

    def __init__(self, meet: Callable[[Agent], Members], options: RpcBackendOptions) -> None:
        """`meet` has it listen, and makes it known to the others."""
        self.options = options
        self.closed = False
        self.running = Running(self, options)
        self.pool = self.running.pool
        self.passes = ThreadPoolExecutor(options.num_worker_threads, "ts.rpc.passes")  # of others
        self._sent = Sent(options.allow_python)
        self._deadlines: dict[RpcFuture, float] = {}
        self._sweeping = False
        threads = options.num_worker_threads
        self._loop = loop()
        self._servers = Servers(threads if threads > 1 else 0)
        self._open = 0  # calls of others that are to run or run, and own ones in flight
        self._quiet = threading.Condition()
        self._comms: set[Comm] = set()  # connections of others
        self._connections: Counter[int] = Counter()  # that others have to this process
        self._heard: Counter[int] = Counter()  # that each has made so far
        self._listener: Any = None
        self._ready = asyncio.Event()  # whether it is known who this process is
        try:
            self.members = meet(self)
        except BaseException:
            self.close()
            raise
        self.info = self.members.info
        self.peer = self.members.peer
        self.references = References(self)
        self.contexts = Contexts(self)
        self.gatherings = Gatherings(self)
        loop().call_soon_threadsafe(self._ready.set)

    def timeout(self, given: float) -> float:
        """How many seconds a call may take; 0: any number."""
        return self.options.rpc_timeout if given == UNSET_RPC_TIMEOUT else seconds(given)

    # ---- asking

    def call(self, to: Any, callee: Any, args: Any, kwargs: Any, timeout: float) -> RpcFuture:
        """Have a process run something; the future has the result."""
        peer, travel = self.peer(to), self.references.travel_of(callee)
        message = ["call", *self._named(peer, callee, args, kwargs, travel), None]
        timing = watched("rpc_async", callee, self.members, peer, message)
        return self.submit(peer, message, self.timeout(timeout), travel, timing)

    def call_and_wait(self, to: Any, callee: Any, args: Any, kwargs: Any, timeout: float) -> Any:
        """Have a process run something, and wait for the result."""
        peer, travel = self.peer(to), self.references.travel_of(callee)
        message = ["call", *self._named(peer, callee, args, kwargs, travel), None]
        timing = watched("rpc_sync", callee, self.members, peer, message)
        return self.ask(peer, message, self.timeout(timeout), travel, timing)

    def remote(self, to: Any, callee: Any, args: Any, kwargs: Any, timeout: float) -> RRef:
        """Have a process run something and keep the result."""
        peer, travel = self.peer(to), self.references.travel_of(callee)
        message = ["remote", *self._named(peer, callee, args, kwargs, travel), None]
        timing = watched("rpc_remote", callee, self.members, peer, message)
        return self._kept(peer, message, timeout, travel, timing)

    def method(self, handle: RRef, name: str, args: Any, kwargs: Any, timeout: float) -> RpcFuture:
        """Call a method of a value where it is."""
        handle._check_created()
        message = ["method", list(handle._identity), name, *self.packed(handle._peer, (args, kwargs))]
        timing = watched("rpc_async", name, self.members, handle._peer, message)
        return self.submit(handle._peer, message, self.timeout(timeout), timing=timing)

    def remote_method(self, handle: RRef, name: str, args: Any, kwargs: Any, timeout: float) -> RRef:
        """Call a method of a value where it is, and keep the result there."""
        handle._check_created()
        message = ["remote_method", list(handle._identity), name, *self.packed(handle._peer, (args, kwargs))]
        timing = watched("rpc_remote", name, self.members, handle._peer, message)
        return self._kept(handle._peer, message, timeout, None, timing)

    def _kept(
        self,
        peer: Peer,
        message: list[Any],
        timeout: float,
        travel: Travel | None,
        timing: Timing | None,
    ) -> RRef:
        identity, fork = self.references.new(), self.references.new()
        made = RRef._handle(self, peer, identity, fork)
        made._travel = travel
        message += [list(identity), list(fork), self.info.id]
        made._created = self.submit(peer, message, self.timeout(timeout), timing=timing)
        return made

    def _named(self, peer: Peer, callee: Any, args: Any, kwargs: Any, travel: Travel) -> list[Any]:
        name = list(self._sent.name(callee))
        given = tuple(args or ()), dict(kwargs or {})
        if isinstance(callee, ScriptFunction):
            given = callee.bind(*given), {}
        return [name, *self.packed(peer, given, travel)]

    def packed(self, peer: Peer, value: Any, travel: Travel | None = None) -> Parcel:
        """A value for a process, which takes part in the context that this thread is inside of."""
        return recording.pack(value, self, current_id(), peer, travel)

    def unpacked(self, parcel: Parcel) -> Any:
        """A value that came."""
        return recording.unpack(parcel, self)[0]

    def name_of(self, callee: Any) -> Name:
        """How other processes find what this one calls."""
        return self._sent.name(callee)

    def callee_of(self, name: Any) -> Callable[..., Any]:
        """What another process means by a name."""
        return self.running.known.find(name)

    def ask(
        self,
        peer: Peer,
        message: list[Any],
        timeout: float,
        travel: Travel | None = None,
        timing: Timing | None = None,
    ) -> Any:
        """Send a message, wait for its answer, and give the value in it. Raises what was raised there.

        travel      how the value does
        timing      the call's event in a profile
        """
        if inside():
            raise RuntimeError("a function that waits for the loop was called in it")
        deadline = None if timeout == NO_TIMEOUT else time.monotonic() + timeout
        self._with_code(peer, message)
        sent = message if timing is None else timing.asking(message)
        while True:
            left = None if deadline is None else max(deadline - time.monotonic(), 1e-3)
            try:
                _, answered = peer.channel(left).call([0, sent], left)
            except OSError as error:
                if timing is not None:
                    timing.over(None)
                late = deadline is not None and time.monotonic() >= deadline
                late = late and isinstance(error, TimeoutError)
                raise (_late(timeout) if late else _lost(peer, message, error)) from None
            if answered[0] != UNKNOWN:
                if timing is not None:
                    timing.over(answered)
                return value_of(answered, self, travel)
            if deadline is not None and time.monotonic() >= deadline:
                raise _late(timeout)
            self._with_code(peer, message, again=True)

    def submit(
        self,
        peer: Peer,
        message: list[Any],
        timeout: float,
        travel: Travel | None = None,
        timing: Timing | None = None,
    ) -> RpcFuture:
        """Send a message; the future has what `ask` gives."""
        future = RpcFuture(self)
        self._with_code(peer, message)
        sent = message if timing is None else timing.asking(message)

        def done(answered: Any, error: Exception | None) -> None:
            if error is None and answered[0] == UNKNOWN and future in self._deadlines:
                self._with_code(peer, message, again=True)
                peer.send(sent, done)
                return
            if timing is not None:
                timing.over(answered)
            if self._deadlines.pop(future, None) is None:
                return  # it was late
            self.ended()
            try:
                if error is not None:
                    raise _lost(peer, message, error)
                value = value_of(answered, self, travel)
            except Exception as raised:  # for whoever waits
                future.set_exception(raised)
            else:
                future.set_result(value)

        self.began()
        future.limit = timeout
        self._deadlines[future] = math.inf if timeout == NO_TIMEOUT else time.monotonic() + timeout
        if timeout != NO_TIMEOUT and not self._sweeping:
            self._sweeping = True
            loop().call_soon_threadsafe(self._sweep)
        peer.send(sent, done)
        return future

    def post(self, peer: Peer, message: list[Any], then: Callable[[], None] | None = None) -> None:
        """Send a message that nobody waits for, and do what is to be done when it was answered.

        It arrives unless the process has gone, see `posts`.
        """

        if not self.closed:
            peer.posts.post(message, then)

    def post_later(self, peer: Peer, message: list[Any]) -> None:
        """As `post`, for what is done when an object goes: in a thread that may hold any lock."""
        self._loop.call_soon_threadsafe(self.post, peer, message)

    def _with_code(self, peer: Peer, message: list[Any], again: bool = False) -> None:
        """Put the code into a message, unless the other process has it."""
        if message[0] in _RUNS and message[1][0] == "code":
            digest = message[1][1]
            message[4] = self._sent.archive(digest) if again or digest not in peer.codes else None
            peer.codes.add(digest)

    def _sweep(self) -> None:
        """Fail the calls that are late, and look again as long as there are others."""
        now = time.monotonic()
        for future, deadline in list(self._deadlines.items()):
            if deadline <= now and self._deadlines.pop(future, None) is not None:
                self.ended()
                future.set_exception(_late(future.limit))
        self._sweeping = not self.closed and any(map(math.isfinite, list(self._deadlines.values())))
        if self._sweeping:
            loop().call_later(_SWEEP, self._sweep)

    # ---- being asked

    def listen(self, security: Security, host: str) -> str:
        """Listen, as it is known now whom to let in, at a host if the options name none; the address."""
        return run(self._start(security, self.options.host or host))

    async def _start(self, security: Security, host: str) -> str:
        place = unparse_host_port(host, 0)
        address = f"{security.scheme('worker')}://{place}"
        self._listener = listen(address, self._serve, **security.get_listen_args("worker"))
        await self._listener.start()
        return str(self._listener.contact_address)

    async def _serve(self, comm: Comm) -> None:
        caller = -1
        given: list[Turn[None]] = []  # when the thread that has the connection is through

        def give(reply: Reply) -> None:
            try:
                channel = Channel.over(comm.stream)
            except (RuntimeError, ConnectionError):  # it does not wait
                reply(_HEARD)
            else:
                handle = functools.partial(self._handle, caller=caller)
                given.append(self._servers.start(channel, [0, _HEARD], handle))

        def handle(message: Any, reply: Reply) -> None:
            nonlocal caller
            match message:
                case _ if comm.closed():
                    return  # what came behind a greeting that is for another
                case ("hello", int(process), int(wanted), *how) if (
                    caller in (-1, process) and self.members.may_be(process)
                ):
                    if wanted != self.info.id:
                        comm.abort()  # who listened here before has gone
                        return
                    if caller < 0:
                        caller = process
                        self._connections[caller] += 1
                        self._heard[caller] += 1
                    if how == ["waits"] and not self._servers.full:
                        loop().call_soon(give, reply)
                    else:
                        reply(_HEARD)
                case _:
                    self._handle(message, reply, caller)

        self._comms.add(comm)
        try:
            await self._ready.wait()
            if not self.closed:
                await answer(comm, handle)
            if given:
                await asyncio.wrap_future(given[0])
        finally:
            self._comms.discard(comm)
        if caller >= 0:
            self._connections[caller] -= 1
            if not self.closed:
                loop().call_later(RETURN, self._forget, caller, self._heard[caller])

    def _forget(self, process: int, heard: int | None = None) -> None:
        """Forget a process, unless it has come back since it had made so many connections."""
        if not self._connections[process] and heard in (None, self._heard[process]):
            del self._connections[process]
            self.references.forget(process)
            self.gatherings.forget(process)
            self.contexts.forget(process)

    def _handle(self, message: Any, reply: Reply, caller: int) -> None:
        asked = Answer(self, reply)
        try:
            match message:
                case ("timed", tuple(message)):
                    asked.arrived = time.perf_counter_ns()
            match message:
                case TooLarge():
                    raise message.error()
                case _ if caller < 0:
                    raise ValueError("a message of a process that has not said which it is")
                case ("call", name, data, memory, code):
                    self.running.begin(self.running.run, name, (data, memory), code, asked)
                case ("remote", name, data, memory, code, identity, fork, int(process)) if process == caller:
                    given = name, (data, memory), code
                    self.running.keep(asked, identity, fork, process, self.running.run, *given)
                case ("method", identity, str(name), data, memory):
                    owned = self.references.owner_of(as_identity(identity))  # which may be dropped meanwhile
                    self.running.begin(self.running.run_method, owned, name, (data, memory), asked)
                case ("remote_method", owner, str(name), data, memory, identity, fork, int(process)) if (
                    process == caller
                ):
                    owned = self.references.owner_of(as_identity(owner))
                    call = self.running.run_method, owned, name, (data, memory)
                    self.running.keep(asked, identity, fork, process, *call)
                case ("gather", names, int(turn), data, memory):
                    self.gatherings.come(names, turn, (data, memory), asked, caller)
                case ("backward", "value", context_id, identity, bool(keep)):
                    owned = self.references.owner_of(as_identity(identity))
                    self.passes.submit(service.backward_of, self, owned.value, context_id, keep, asked)
                case (("backward" | "optimizer") as about, str(kind), *rest):
                    self.running.begin(service.handle, self, about, kind, tuple(rest), asked)
                case (str(kind), *rest):
                    self.references.handle(kind, rest, asked, caller)
                case _:
                    raise ValueError("a message that is none")
        except Exception as error:  # for whoever asked
            asked.failed(error)

    # ---- the end

    def active_calls(self) -> int:
        """How many calls of this process are in flight, of which none but futures wait."""
        return len(self._deadlines)

    def get_debug_info(self) -> dict[str, str]:
        """See `figures`."""
        return figures.of_agent(self)

    def began(self) -> None:
        """There is one more call that is to be waited for."""
        with self._quiet:
            self._open += 1

    def ended(self) -> None:
        """It is over."""
        with self._quiet:
            self._open -= 1
            self._quiet.notify_all()

    def _hang_up(self) -> None:
        """Listen no more; whoever waits for an answer learns at once that there is none."""
        self._listener.stop()
        self._ready.set()
        self._servers.close()
        for comm in self._comms:
            comm.abort()

    def wait_until_quiet(self, timeout: float | None, own: bool = False) -> None:
        """Wait until calls of this process and of others are over, or its `own` alone."""
        with self._quiet:
            self._quiet.wait_for(lambda: not (self._deadlines if own else self._open), timeout)

    def leave(self, timeout: float | None) -> None:
        """Wait until this process may go: see `members`."""
        until = None if timeout is None else time.monotonic() + timeout
        self.members.leave(lambda: None if until is None else max(until - time.monotonic(), 0))

    def close(self) -> None:
        """Listen no more, and let go of all connections."""
        self.closed = True
        if self._listener is not None:
            loop().call_soon_threadsafe(self._hang_up)
        for pool in (self.pool, self.passes):
            pool.shutdown(wait=False, cancel_futures=True)
        members = getattr(self, "members", None)
        if members is not None:
            members.close()


def _late(timeout: float) -> RuntimeError:
    return RuntimeError(
        f"RPCErr:1:RPC ran for more than set timeout ({timeout * 1000:.0f} ms) and will now be marked "
        "with an error"
    )


def _told(message: list[Any]) -> str:
    """A call, for who reads that it failed."""
    if message[0] in _RUNS:
        return told(message[1])
    return f"the method {message[2]}" if "method" in message[0] else "to_here"


def _lost(peer: Peer, message: list[Any], error: Exception) -> Exception:
    if isinstance(error, MemoryError):
        return error
    gone = Gone(f"{peer.info} is gone, or its connection broke, during {_told(message)}: {error}")
    gone.refused = isinstance(error, ConnectionRefusedError)
    return gone
