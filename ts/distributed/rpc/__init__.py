"""Remote procedure calls (RPC) and remote references, under the names of `torch.distributed.rpc`.

The example calls functions in another process, synchronously, asynchronously, and with a remote result:

    rpc.init_rpc("worker0", rank=0, world_size=2)
    rpc.rpc_sync("worker1", torch.add, args=(x, 1))
    rpc.rpc_async("worker1", scripted, args=(x,)).wait()
    rpc.remote("worker1", scripted, args=(x,)).to_here()
    rpc.shutdown()

Modules:

    api                   public functions, and RPC operators of scripts
    agent                 RPC agent of this process, which connects the next three parts
    endpoint              requests to other workers, and the connections that they open
    call_executor         execution of incoming calls
    rref_store            values of this process and their reference counts
    call_counts           counters of calls
    peers                 other workers and the connections to them
    reliable_delivery     one-way messages to a peer
    worker_directory      workers by name and id, for a fixed set of workers
    cluster_membership    workers by name and id, for a cluster
    callable_registry     names of callees, whose code is sent as archives
    connection_threads    server threads for blocking callers
    responses             encoding of results and errors
    type_signatures       serialization of objects of scripted classes
    rref                  remote references
    rpc_future            futures of results
    functions             `async_execution`
    wait_all              `_wait_all`
    all_gather            values that are gathered in this process
    optimizers            optimizers of the parameters of this process
    distributed_map       `ts.distributed.map`
    retries               repetition of idempotent calls
    call_profiling        events of calls in profiles and on dashboards
    options               timeouts, threads, secret, permissions

Without the extra `rpc`, all names exist, but raise ImportError when they are called.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ts.distributed.missing_extra import has_rpc_extra, missing_module, placeholder
from ts.unsupported import names_for

if TYPE_CHECKING or has_rpc_extra():
    from ts.distributed.rpc import functions
    from ts.distributed.rpc.api import _get_current_rpc_agent as _get_current_rpc_agent
    from ts.distributed.rpc.api import _get_debug_info as _get_debug_info
    from ts.distributed.rpc.api import _is_current_rpc_agent_set as _is_current_rpc_agent_set
    from ts.distributed.rpc.api import _rref_context_get_debug_info as _rref_context_get_debug_info
    from ts.distributed.rpc.api import _set_rpc_timeout as _set_rpc_timeout
    from ts.distributed.rpc.api import (
        get_rpc_timeout,
        get_worker_info,
        init_rpc,
        remote,
        rpc_async,
        rpc_sync,
        shutdown,
    )
    from ts.distributed.rpc.options import BackendType, RpcBackendOptions, TensorPipeRpcBackendOptions
    from ts.distributed.rpc.rref import PyRRef, RRef
    from ts.ops.rpc_ops import WorkerInfo

__all__ = [
    "BackendType",
    "PyRRef",
    "RRef",
    "RpcBackendOptions",
    "TensorPipeRpcBackendOptions",
    "WorkerInfo",
    "functions",
    "get_rpc_timeout",
    "get_worker_info",
    "init_rpc",
    "is_available",
    "remote",
    "rpc_async",
    "rpc_sync",
    "shutdown",
]


def is_available() -> bool:
    """Return True if processes can call each other: the packages of the extra `rpc` are installed."""
    return has_rpc_extra()


_find = names_for(__name__)


def _find_or_raise(name: str) -> Any:
    if name == "api" and not has_rpc_extra():
        return missing_module("torch.distributed.rpc.api")
    if name in __all__ and not has_rpc_extra():
        return placeholder("torch.distributed.rpc", name)
    return _find(name)


if not TYPE_CHECKING:
    __getattr__ = _find_or_raise
