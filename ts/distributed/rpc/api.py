"""`init_rpc`, calls, and the end: what programs say; the agent of this process does it."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from ts._core.vm.future import Future
from ts.distributed.comm import Security
from ts.distributed.comm.security import PLAIN, TLS
from ts.distributed.gradients.contexts import current_id
from ts.distributed.gradients.contexts import inside as inside_of
from ts.distributed.missing_extra import require_initialized as _require_initialized  # noqa: F401
from ts.distributed.rendezvous import meeting_place
from ts.distributed.rpc import state
from ts.distributed.rpc.agent import Agent
from ts.distributed.rpc.gathering import _all_gather as _all_gather
from ts.distributed.rpc.gathering import _barrier as _barrier
from ts.distributed.rpc.members import Fixed, Members
from ts.distributed.rpc.membership import Joined
from ts.distributed.rpc.options import (
    DEFAULT_RPC_TIMEOUT_SEC,
    UNSET_RPC_TIMEOUT,
    BackendType,
    RpcBackendOptions,
    seconds,
)
from ts.distributed.rpc.retries import Retried
from ts.distributed.rpc.rref import RRef
from ts.distributed.rpc.state import current
from ts.distributed.rpc.waiting import _wait_all as _wait_all
from ts.distributed.rpc.waiting import noted
from ts.frontend.markers import special_form
from ts.ops.rref import WorkerInfo


def _is_current_rpc_agent_set() -> bool:
    return state.agent is not None


_get_current_rpc_agent = current


def init_rpc(
    name: str,
    backend: BackendType | None = None,
    rank: int = -1,
    world_size: int | None = None,
    rpc_backend_options: RpcBackendOptions | None = None,
) -> None:
    """Become one of the processes that call each other; returns when all have come, or in a cluster at once.

    name                  by which others call this one; one of a kind
    rank, world_size      which of how many; without them, RANK and WORLD_SIZE of the environment; none in a
                          cluster (`init_method="ts://host:port"`), whose processes come and go
    rpc_backend_options   see `RpcBackendOptions`

    RuntimeError where this process is one already, or where the others do not come in `rpc_timeout` (at least
    60) seconds.
    """
    if backend is not None and not isinstance(backend, BackendType):
        raise TypeError("Argument backend must be a member of BackendType")
    options = RpcBackendOptions() if rpc_backend_options is None else rpc_backend_options
    if not isinstance(options, RpcBackendOptions):
        raise TypeError("Argument rpc_backend_options must be an instance of RpcBackendOptions")
    check_name(name)
    if state.agent is not None:  # before it is asked where to meet
        raise RuntimeError("RPC is already initialized")
    become(_way_to_meet(name, rank, -1 if world_size is None else world_size, options), options)


def become(meet: Callable[[Agent], Members], options: RpcBackendOptions) -> Agent:
    """Become one of the processes that call each other, in a way to meet them."""
    with state.lock:
        if state.agent is not None:
            raise RuntimeError("RPC is already initialized")
        state.agent = Agent(meet, options)
        return state.agent


def _way_to_meet(
    name: str, rank: int, world_size: int, options: RpcBackendOptions
) -> Callable[[Agent], Members]:
    if urlsplit(options.init_method).scheme in (PLAIN, TLS):
        if rank >= 0 or world_size >= 0:
            raise ValueError("a cluster gives out the numbers itself: leave out rank and world_size")
        return functools.partial(Joined, options.init_method, name, options)
    place = meeting_place(options.init_method, rank, world_size)
    security = options.security or (Security(secret=options.secret) if options.secret else None)
    timeout = max(options.rpc_timeout, DEFAULT_RPC_TIMEOUT_SEC)
    return functools.partial(Fixed, place, name, security, timeout)


def check_name(name: str) -> None:
    """RuntimeError for what is no name of a process."""
    usual = isinstance(name, str) and 0 < len(name) < 128
    if not usual or not all(c.isalnum() or c in "-_:" for c in name):
        raise RuntimeError(
            f"Worker name must match ^[A-Za-z0-9-_:]+$ and be shorter than 128 characters, but got {name!r}"
        )


def shutdown(graceful: bool = True, timeout: float = 0) -> None:
    """Leave; gracefully when all processes have called this, and all calls are over. Of a cluster one goes
    when one's own calls are over.

    `timeout` is the most seconds to wait for that; 0: any number.
    """
    agent = current()
    try:
        if graceful:
            agent.leave(timeout or None)
    finally:
        with state.lock:
            state.agent = None
        agent.close()


def get_worker_info(worker_name: str | None = None) -> WorkerInfo:
    """A process by its name; this one without."""
    agent = current()
    return agent.info if worker_name is None else agent.peer(worker_name).info


def get_rpc_timeout() -> float:
    """Seconds that a call may take, if it is not given others."""
    return current().options.rpc_timeout


def _set_rpc_timeout(timeout: float) -> None:
    current().options.rpc_timeout = seconds(timeout)


@special_form("rpc_sync")
def rpc_sync(
    to: str | int | WorkerInfo,
    func: Any,
    args: tuple[Any, ...] | None = None,
    kwargs: dict[str, Any] | None = None,
    timeout: float = UNSET_RPC_TIMEOUT,
    *,
    retryable: bool = False,
) -> Any:
    """Have another process run a function, and wait for its result.

    to            its name, number or WorkerInfo
    func          a scripted function or module, an operator, or, where both allow it, a function of Python
    timeout       seconds; 0: any number
    retryable     whether the function may run twice: then it is called again, until the time is over, where
                  the connection broke or the process is started again

    What the function raises is raised here.  RuntimeError after `timeout` seconds, and at once when the other
    process is gone.
    """
    if retryable:
        return rpc_async(to, func, args, kwargs, timeout, retryable=True).wait()
    return current().call_and_wait(to, func, args, kwargs, timeout)


@special_form("rpc_async")
def rpc_async(
    to: str | int | WorkerInfo,
    func: Any,
    args: tuple[Any, ...] | None = None,
    kwargs: dict[str, Any] | None = None,
    timeout: float = UNSET_RPC_TIMEOUT,
    *,
    retryable: bool = False,
) -> Future[Any]:
    """As `rpc_sync`, but returns at once: the future has the result."""
    agent = current()
    if not retryable:
        return noted(agent.call(to, func, args, kwargs, timeout))
    context_id = current_id()

    def begin(left: float) -> Future[Any]:
        with inside_of(context_id):
            return agent.call(to, func, args, kwargs, left)

    return noted(Retried(agent, begin, agent.timeout(timeout)).future)


@special_form("rpc_remote")
def remote(
    to: str | int | WorkerInfo,
    func: Any,
    args: tuple[Any, ...] | None = None,
    kwargs: dict[str, Any] | None = None,
    timeout: float = UNSET_RPC_TIMEOUT,
) -> RRef:
    """Have another process run a function and keep the result: the `RRef` refers to it. Returns at once."""
    return current().remote(to, func, args, kwargs, timeout)
