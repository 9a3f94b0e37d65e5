"""Remote reference (`RRef`) to a value in the worker that owns it."""

from __future__ import annotations

from collections.abc import Callable
from types import GenericAlias
from typing import TYPE_CHECKING, Any, NoReturn, Self

from ts._core.vm.future import Future
from ts.distributed.dist_autograd import engine
from ts.distributed.rpc.options import UNSET_RPC_TIMEOUT
from ts.distributed.rpc.rpc_future import RpcFuture, copy_outcome, map_future
from ts.distributed.rpc.state import current
from ts.distributed.rpc.wait_all import add_to_wait_all
from ts.ops.rpc_ops import RRefValue, WorkerInfo

if TYPE_CHECKING:
    from ts.distributed.rpc.agent import RpcAgent
    from ts.distributed.rpc.peers import Peer
    from ts.distributed.wire_values import WireContext


class RRef(RRefValue):
    """Remote reference to a value. The constructor creates a reference to a value of this process.

    value       the value
    type_hint   type of the value, which is only stored
    """

    # allows the type annotation `RRef[T]`, which scripts use
    __class_getitem__: Any = classmethod(GenericAlias)
    _agent: RpcAgent
    _peer: Peer
    _identity: tuple[int, int]
    _fork: tuple[int, int]
    # codec for the classes in the signature of the callee that computes the value, or None without callee
    _wire_context: WireContext | None = None
    # future of the type of the value, or None before the type is requested
    _type: Future[Any] | None = None
    # Future that is done when the owner has started to compute the value. It is None if the value already
    # existed or its computation had started when this RRef was created.
    _created: Future[Any] | None = None

    def __init__(self, value: Any, type_hint: Any = None) -> None:
        rref = current().rrefs.create_owned(value)
        self.__dict__.update(rref.__dict__, type_hint=type_hint)
        # This RRef takes over the fork of `rref`. Clear the attributes of `rref`, so that `rref.__del__` does
        # not drop the fork.
        rref.__dict__.clear()

    @classmethod
    def _handle(cls, agent: RpcAgent, peer: Peer, identity: tuple[int, int], fork: tuple[int, int]) -> Self:
        rref = cls.__new__(cls)
        rref._agent, rref._peer, rref._identity, rref._fork = agent, peer, identity, fork
        return rref

    def __del__(self) -> None:
        agent = self.__dict__.get("_agent")
        if agent is None or agent.closed:
            return
        if self.is_owner():
            agent.rrefs.drop(self._identity, self._fork)
        else:
            agent.endpoint.send_reliably_later(self._peer, ["drop", list(self._identity), list(self._fork)])

    def is_owner(self) -> bool:
        """Return True if this process owns the value."""
        return self._peer.info == self._agent.info

    def owner(self) -> WorkerInfo:
        """Return the WorkerInfo of the owner."""
        return self._peer.info

    def confirmed_by_owner(self) -> bool:
        """Return True if the owner has confirmed the creation of the value."""
        return self.is_owner() or self._created is None or self._created.done()

    def to_here(self, timeout: float = UNSET_RPC_TIMEOUT) -> Any:
        """Return the value, or a copy if another process owns it.

        Raise the exception of the call that computed the value, and RuntimeError after `timeout` seconds or
        if the owner is unavailable.
        """
        if self.is_owner():
            return self.local_value()
        self._check_created()
        agent = self._agent
        return agent.endpoint.call(self._peer, self._fetch(), agent.timeout(timeout), self._wire_context)

    def _fetch(self) -> list[Any]:
        return ["fetch", list(self._identity), self._agent.codec.context_for(self._peer.info.id)]

    def local_value(self) -> Any:
        """Return the value without a copy. Raise RuntimeError if another process owns it."""
        return self.own_value().wait()

    def own_value(self) -> Future[Any]:
        """Return a future of the value. Raise RuntimeError if another process owns it."""
        if not self.is_owner():
            raise RuntimeError(
                f"For {self!r}, can't call localValue() on user {self._agent.info}. Call it on owner "
                f"{self.owner()}"
            )
        self._check_created()
        return self._agent.rrefs.owner_of(self._identity).value

    def fetch_async(self, timeout: float = UNSET_RPC_TIMEOUT) -> Future[Any]:
        """Return a future of the value that `to_here` would return."""
        if self.is_owner():
            return self.own_value()
        agent, fetched, message = self._agent, RpcFuture(self._agent.pool), self._fetch()

        def fetch(created: Future[Any]) -> None:
            error = created.exception()
            if error is not None:
                fetched.set_exception(error)
                return
            response = agent.endpoint.submit(self._peer, message, agent.timeout(timeout), self._wire_context)
            response.add_done_callback(lambda future: copy_outcome(future, fetched))

        self._get_future().add_done_callback(fetch)
        return fetched

    def backward(self, dist_autograd_ctx_id: int = -1, retain_graph: bool = False) -> None:
        """Run `dist_autograd.backward` from the value, a scalar tensor, in its owner.

        Without a context, which is only possible in the owner, run `value.backward()`.
        """
        agent, context_id = self._agent, dist_autograd_ctx_id
        if self.is_owner():
            engine.backward_of(agent.contexts, self.local_value(), context_id, retain_graph)
            return
        if context_id == -1:
            raise RuntimeError("User RRefs require 'dist_autograd_ctx_id' to be specified")
        self._check_created()
        message = ["backward", "value", context_id, list(self._identity), retain_graph]
        agent.endpoint.call(self._peer, message, agent.timeout(UNSET_RPC_TIMEOUT))

    def _check_created(self) -> None:
        """Wait until the owner has started to compute the value. Raise the error if starting failed."""
        if self._created is not None:
            self._created.wait()

    def _get_future(self) -> Future[Any]:
        """Return a future that finishes when the owner has started to compute the value."""
        if self._created is None:
            self._created = Future()
            self._created.set_result(None)
        return self._created

    def _get_type(self, timeout: float = UNSET_RPC_TIMEOUT, blocking: bool = True) -> Any:
        """Return the class of the value. If `blocking` is False, return a future of the class."""
        if self._type is None:
            self._type = self._ask_type(timeout)
        return self._type.wait() if blocking else self._type

    def _ask_type(self, timeout: float) -> Future[Any]:
        if self.is_owner():
            return map_future(self._agent.pool, self.own_value(), type)
        self._check_created()
        agent = self._agent
        name = agent.endpoint.submit(self._peer, ["type", list(self._identity)], agent.timeout(timeout))
        return map_future(agent.pool, name, agent.executor.received_code.type_of)

    def rpc_sync(self, timeout: float = UNSET_RPC_TIMEOUT) -> Proxy:
        """Return a proxy: `ref.rpc_sync().method(x)` calls a method in the owner and returns its result."""
        return Proxy(self, lambda future: future.wait(), timeout)

    def rpc_async(self, timeout: float = UNSET_RPC_TIMEOUT) -> Proxy:
        """Return a proxy whose method calls return futures."""
        return Proxy(self, add_to_wait_all, timeout)

    def remote(self, timeout: float = UNSET_RPC_TIMEOUT) -> Proxy:
        """Return a proxy whose method calls return an `RRef` to a result that the owner keeps."""
        return Proxy(self, None, timeout)

    def __repr__(self) -> str:
        rref_id = "GloballyUniqueId(created_on={}, local_id={})".format(*self._identity)
        if self.is_owner():
            return f"OwnerRRef({rref_id})"
        fork = "GloballyUniqueId(created_on={}, local_id={})".format(*self._fork)
        return f"UserRRef(RRefId = {rref_id}, ForkId = {fork})"

    def __reduce__(self) -> NoReturn:
        raise RuntimeError("Can not pickle rref in python pickler, rref can only be pickled when using RPC")


class Proxy:
    """Proxy of an RRef's value: its attributes are remote methods."""

    def __init__(
        self, handle: RRef, convert_future: Callable[[Future[Any]], Any] | None, timeout: float
    ) -> None:
        self._handle, self._convert_future, self._timeout = handle, convert_future, timeout

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("__"):
            raise AttributeError(name)

        def call(*args: Any, **kwargs: Any) -> Any:
            handle = self._handle
            agent = handle._agent
            if self._convert_future is None:
                return agent.remote_method(handle, name, args, kwargs, self._timeout)
            return self._convert_future(agent.method(handle, name, args, kwargs, self._timeout))

        return call


PyRRef = RRef
