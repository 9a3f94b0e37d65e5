"""Public RPC API (`init_rpc`, calls, `shutdown`), which calls the agent of this process."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any
from urllib.parse import urlsplit

from ts._core.vm.future import Future
from ts.distributed.dist_autograd.contexts import current_id
from ts.distributed.dist_autograd.contexts import entered_context as inside_of
from ts.distributed.missing_extra import require_initialized as _require_initialized  # noqa: F401
from ts.distributed.rendezvous import parse_init_method
from ts.distributed.rpc import state
from ts.distributed.rpc.agent import RpcAgent
from ts.distributed.rpc.cluster_membership import ClusterWorkerDirectory
from ts.distributed.rpc.endpoint import Endpoint
from ts.distributed.rpc.options import (
    DEFAULT_RPC_TIMEOUT_SEC,
    UNSET_RPC_TIMEOUT,
    BackendType,
    RpcBackendOptions,
    seconds,
)
from ts.distributed.rpc.retries import RetryingCall
from ts.distributed.rpc.rref import RRef
from ts.distributed.rpc.state import current
from ts.distributed.rpc.wait_all import _wait_all as _wait_all
from ts.distributed.rpc.wait_all import add_to_wait_all
from ts.distributed.rpc.worker_directory import StaticWorkerDirectory, WorkerDirectory
from ts.distributed.transport.addresses import PLAIN, TLS
from ts.distributed.transport.credentials import SharedSecret
from ts.frontend.compile_directives import special_form
from ts.ops.rpc_ops import REMOTE, RpcHook, WorkerInfo


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
    """Initialize RPC, and wait until all workers have joined. In a cluster, wait only for this process.

    name                  unique name of this worker
    rank, world_size      rank of this worker and number of workers (default: RANK and WORLD_SIZE of the
                          environment). Omit both in a cluster (`init_method="ts://host:port"`)
    rpc_backend_options   see `RpcBackendOptions`

    Raise RuntimeError if RPC is already initialized. Also raise it if not all workers have joined after
    `rpc_timeout` seconds (at least 60).
    """
    if backend is not None and not isinstance(backend, BackendType):
        raise TypeError("Argument backend must be a member of BackendType")
    options = RpcBackendOptions() if rpc_backend_options is None else rpc_backend_options
    if not isinstance(options, RpcBackendOptions):
        raise TypeError("Argument rpc_backend_options must be an instance of RpcBackendOptions")
    check_name(name)
    if state.agent is not None:  # checked first, because `_worker_directory_factory` may raise other errors
        raise RuntimeError("RPC is already initialized")
    start_agent(
        _worker_directory_factory(name, rank, -1 if world_size is None else world_size, options), options
    )


def start_agent(
    create_directory: Callable[[Endpoint], WorkerDirectory], options: RpcBackendOptions
) -> RpcAgent:
    """Create the agent of this process. `create_directory` creates the worker directory of the agent.

    Raise RuntimeError if this process already has an agent.
    """
    with state.lock:
        if state.agent is not None:
            raise RuntimeError("RPC is already initialized")
        state.agent = RpcAgent(create_directory, options)
        state.agent.open()
        return state.agent


def _worker_directory_factory(
    name: str, rank: int, world_size: int, options: RpcBackendOptions
) -> Callable[[Endpoint], WorkerDirectory]:
    if urlsplit(options.init_method).scheme in (PLAIN, TLS):
        if rank >= 0 or world_size >= 0:
            raise ValueError("the cluster assigns ranks: do not pass rank and world_size")
        return functools.partial(ClusterWorkerDirectory, options.init_method, name, options)
    endpoint = parse_init_method(options.init_method, rank, world_size)
    security = options.security or (SharedSecret(options.secret) if options.secret else None)
    timeout = max(options.rpc_timeout, DEFAULT_RPC_TIMEOUT_SEC)
    return functools.partial(StaticWorkerDirectory, endpoint, name, security, timeout)


def check_name(name: str) -> None:
    """Raise RuntimeError if `name` is not a valid worker name."""
    has_valid_length = isinstance(name, str) and 0 < len(name) < 128
    if not has_valid_length or not all(c.isalnum() or c in "-_:" for c in name):
        raise RuntimeError(
            f"Worker name must match ^[A-Za-z0-9-_:]+$ and be shorter than 128 characters, but got {name!r}"
        )


def shutdown(graceful: bool = True, timeout: float = 0) -> None:
    """Shut RPC down in this process.

    graceful    wait until all workers have called `shutdown` and all calls have finished. In a cluster, wait
                until the calls of this process have finished
    timeout     maximum wait in seconds (0: no limit)
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
    """Return the WorkerInfo of worker `worker_name`, or of this process if `worker_name` is None."""
    agent = current()
    return agent.info if worker_name is None else agent.peer(worker_name).info


def get_rpc_timeout() -> float:
    """Return the default timeout of calls in seconds."""
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
    """Call `func` in another process and return its result.

    to            name, id or WorkerInfo of the worker
    func          a scripted function or module, or an operator, or, if both processes set `allow_python`, a
                  Python function
    timeout       seconds (0: no timeout)
    retryable     repeat the call if the connection is lost or the worker restarts. The function may then run
                  twice

    Exceptions of the function are raised here. Raise RuntimeError after `timeout` seconds, or immediately if
    the worker becomes unavailable.
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
    """Start to call a function in another process, and return a future of the result. See `rpc_sync`."""
    agent = current()
    if not retryable:
        return add_to_wait_all(agent.call(to, func, args, kwargs, timeout))
    context_id = current_id()

    def begin(remaining: float) -> Future[Any]:
        with inside_of(context_id):
            return agent.call(to, func, args, kwargs, remaining)

    return add_to_wait_all(RetryingCall(agent, begin, agent.timeout(timeout)).future)


@special_form("rpc_remote")
def remote(
    to: str | int | WorkerInfo,
    func: Any,
    args: tuple[Any, ...] | None = None,
    kwargs: dict[str, Any] | None = None,
    timeout: float = UNSET_RPC_TIMEOUT,
) -> RRef:
    """Start to call a function in another process, which keeps the result. Return an `RRef` to it."""
    return current().remote(to, func, args, kwargs, timeout)


def _all_gather(
    obj: Any, worker_names: Iterable[str] | None = None, timeout: float = UNSET_RPC_TIMEOUT
) -> dict[str, Any]:
    """Gather a value from each worker of a group, and return a dict from worker names to values.

    All workers of the group must call this function, in the same order.

    worker_names    names of the group's workers (default: all workers)
    timeout         seconds after which missing values raise a RuntimeError
    """
    agent = current()
    if worker_names is None:
        worker_names = [agent.info.name, *(info.name for info in agent.directory.workers())]
    names = tuple(sorted(set(worker_names)))
    # look up all workers before anything is sent: an unknown name raises RuntimeError
    peers = [agent.peer(name) for name in names]
    if agent.info.name not in names:
        raise AssertionError(f"{agent.info.name} is not contained by {set(names)}.")
    message = [
        "gather",
        list(names),
        agent.all_gather_state.sequence_number(names),
        *agent.serialize(peers[0], obj),
    ]
    values: dict[str, Any] = agent.endpoint.submit(peers[0], message, agent.timeout(timeout)).wait()
    return values


def _barrier(worker_names: Iterable[str]) -> None:
    """Block until all workers of a group have called this function."""
    _all_gather(None, worker_names)


def _rref_context_get_debug_info() -> dict[str, str]:
    """Return the number of values that this process owns, and the number of RRefs to these values."""
    return {name: str(count) for name, count in current().rrefs.debug_counts().items()}


def _get_debug_info() -> dict[str, str | int]:
    """Return the counters of the RRef store, the agent and distributed autograd."""
    return {
        **_rref_context_get_debug_info(),
        **current().get_debug_info(),
        **current().contexts.debug_counts(),
    }


def _start_call(kind: str, to: Any, callee: Any, args: Any, kwargs: Any, timeout: float) -> Any:
    """Start the call of a script operator. Return an RRef if `kind` is REMOTE, otherwise a future."""
    agent = current()
    start = agent.remote if kind == REMOTE else agent.call
    return start(to, callee, tuple(args), kwargs, float(timeout))


RpcHook.begin = _start_call
