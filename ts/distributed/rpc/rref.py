"""`RRef`: a handle on a value that stays in the process that owns it."""

from __future__ import annotations

from collections.abc import Callable
from types import GenericAlias
from typing import TYPE_CHECKING, Any, NoReturn, Self

from ts._core.vm.future import Future
from ts.distributed.gradients import engine, recording
from ts.distributed.rpc.futures import RpcFuture, mapped, pass_on
from ts.distributed.rpc.options import UNSET_RPC_TIMEOUT
from ts.distributed.rpc.state import current
from ts.distributed.rpc.waiting import noted
from ts.ops.rref import Reference, WorkerInfo

if TYPE_CHECKING:
    from ts.distributed.rpc.agent import Agent
    from ts.distributed.rpc.peers import Peer
    from ts.distributed.values import Travel


class RRef(Reference):
    """A handle on a value of this process, which can be passed to others.

    value       the value
    type_hint   its type, which is kept for who reads it
    """

    __class_getitem__: Any = classmethod(GenericAlias)  # RRef[T] is a type of scripts
    _agent: Agent
    _peer: Peer
    _identity: tuple[int, int]
    _fork: tuple[int, int]
    _travel: Travel | None = None  # of the callee that makes the value
    _type: Future[Any] | None = None  # of the value, once it was asked for
    _created: Future[Any] | None = None  # finished when the owner has begun to make the value

    def __init__(self, value: Any, type_hint: Any = None) -> None:
        made = current().references.own(value)
        self.__dict__.update(made.__dict__, type_hint=type_hint)
        made.__dict__.clear()

    @classmethod
    def _handle(cls, agent: Agent, peer: Peer, identity: tuple[int, int], fork: tuple[int, int]) -> Self:
        made = cls.__new__(cls)
        made._agent, made._peer, made._identity, made._fork = agent, peer, identity, fork
        return made

    def __del__(self) -> None:
        agent = self.__dict__.get("_agent")
        if agent is None or agent.closed:
            return
        if self.is_owner():
            agent.references.drop(self._identity, self._fork)
        else:
            agent.post_later(self._peer, ["drop", list(self._identity), list(self._fork)])

    # ---- where the value is

    def is_owner(self) -> bool:
        """Whether the value is in this process."""
        return self._peer.info == self._agent.info

    def owner(self) -> WorkerInfo:
        """The process that has the value."""
        return self._peer.info

    def confirmed_by_owner(self) -> bool:
        """Whether the owner is known to have the value, or to make it."""
        return self.is_owner() or self._created is None or self._created.done()

    # ---- the value

    def to_here(self, timeout: float = UNSET_RPC_TIMEOUT) -> Any:
        """The value, or a copy of it where another process owns it.

        Raises what was raised where it was made; RuntimeError after `timeout` seconds, and where the owner is
        gone.
        """
        if self.is_owner():
            return self.local_value()
        self._check_created()
        agent = self._agent
        return agent.ask(self._peer, self._fetch(), agent.timeout(timeout), self._travel)

    def _fetch(self) -> list[Any]:
        return ["fetch", list(self._identity), recording.context_for(self._peer, self._agent)]

    def local_value(self) -> Any:
        """The value itself; RuntimeError in a process that does not own it."""
        return self.own_value().wait()

    def own_value(self) -> Future[Any]:
        """A future of it."""
        if not self.is_owner():
            raise RuntimeError(
                f"For {self!r}, can't call localValue() on user {self._agent.info}. Call it on owner "
                f"{self.owner()}"
            )
        self._check_created()
        return self._agent.references.owner_of(self._identity).value

    def fetching(self, timeout: float = UNSET_RPC_TIMEOUT) -> Future[Any]:
        """A future of what `to_here` gives."""
        if self.is_owner():
            return self.own_value()
        agent, fetched, message = self._agent, RpcFuture(self._agent), self._fetch()

        def fetch(created: Future[Any]) -> None:
            error = created.exception()
            if error is not None:
                fetched.set_exception(error)
                return
            asked = agent.submit(self._peer, message, agent.timeout(timeout), self._travel)
            asked.add_done_callback(lambda future: pass_on(future, fetched))

        self._get_future().add_done_callback(fetch)
        return fetched

    def backward(self, dist_autograd_ctx_id: int = -1, retain_graph: bool = False) -> None:
        """Find the gradients of the value, a number, as `dist_autograd.backward` does from where it is.

        Without a context, which only the owner may leave out, as `value.backward()`.
        """
        agent, context_id = self._agent, dist_autograd_ctx_id
        if self.is_owner():
            engine.backward_of(agent, self.local_value(), context_id, retain_graph)
            return
        if context_id == -1:
            raise RuntimeError("User RRefs require 'dist_autograd_ctx_id' to be specified")
        self._check_created()
        message = ["backward", "value", context_id, list(self._identity), retain_graph]
        agent.ask(self._peer, message, agent.timeout(UNSET_RPC_TIMEOUT))

    def _check_created(self) -> None:
        """Raise what kept the owner from beginning to make the value."""
        if self._created is not None:
            self._created.wait()

    def _get_future(self) -> Future[Any]:
        """Finished when the owner has begun to make the value."""
        if self._created is None:
            self._created = Future()
            self._created.set_result(None)
        return self._created

    def _get_type(self, timeout: float = UNSET_RPC_TIMEOUT, blocking: bool = True) -> Any:
        """The class of the value, or, in a process that does not own it, a future of it if not `blocking`."""
        if self._type is None:
            self._type = self._ask_type(timeout)
        return self._type.wait() if blocking else self._type

    def _ask_type(self, timeout: float) -> Future[Any]:
        if self.is_owner():
            return mapped(self._agent, self.own_value(), type)
        self._check_created()
        agent = self._agent
        name = agent.submit(self._peer, ["type", list(self._identity)], agent.timeout(timeout))
        return mapped(agent, name, agent.running.known.type_of)

    # ---- calls of its methods

    def rpc_sync(self, timeout: float = UNSET_RPC_TIMEOUT) -> Proxy:
        """`ref.rpc_sync().method(x)` calls a method of the value where it is, and waits for the result."""
        return Proxy(self, lambda future: future.wait(), timeout)

    def rpc_async(self, timeout: float = UNSET_RPC_TIMEOUT) -> Proxy:
        """As `rpc_sync`; the result is a future."""
        return Proxy(self, noted, timeout)

    def remote(self, timeout: float = UNSET_RPC_TIMEOUT) -> Proxy:
        """As `rpc_sync`; the result stays where it is, and is an `RRef`."""
        return Proxy(self, None, timeout)

    def __repr__(self) -> str:
        text = "GloballyUniqueId(created_on={}, local_id={})".format(*self._identity)
        if self.is_owner():
            return f"OwnerRRef({text})"
        fork = "GloballyUniqueId(created_on={}, local_id={})".format(*self._fork)
        return f"UserRRef(RRefId = {text}, ForkId = {fork})"

    def __reduce__(self) -> NoReturn:
        raise RuntimeError("Can not pickle rref in python pickler, rref can only be pickled when using RPC")


class Proxy:
    """The methods of a value that is elsewhere."""

    def __init__(self, handle: RRef, then: Callable[[Future[Any]], Any] | None, timeout: float) -> None:
        self._handle, self._then, self._timeout = handle, then, timeout

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("__"):
            raise AttributeError(name)

        def call(*args: Any, **kwargs: Any) -> Any:
            handle = self._handle
            agent = handle._agent
            if self._then is None:
                return agent.remote_method(handle, name, args, kwargs, self._timeout)
            return self._then(agent.method(handle, name, args, kwargs, self._timeout))

        return call


PyRRef = RRef
