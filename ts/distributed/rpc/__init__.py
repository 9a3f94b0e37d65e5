"""`torch.distributed.rpc`: functions that run in other processes, and values that stay there.

    rpc.init_rpc("worker0", rank=0, world_size=2)
    rpc.rpc_sync("worker1", torch.add, args=(x, 1))            a tensor
    rpc.rpc_async("worker1", scripted, args=(x,)).wait()
    ref = rpc.remote("worker1", scripted, args=(x,));  ref.to_here()
    rpc.shutdown()

    api           what programs call
    agent         this process: it asks, and is asked
    peers         the others, and connections to them
    members       whom one may call: all who met, or (membership) those of a cluster
    callees       what runs, by name; code travels as archives
    running       the calls of others, as they run here
    answers       results and errors
    signatures    objects of scripted classes, by the types that a callee's signature names
    rref, table   handles on values of other processes, and who needs what; posts: what has to be told of them
    functions     results that come later
    scripts       the same calls, made by scripts
    timing        the same calls in profiles
    retries       calls that may be made again
    figures       what a process has to do with others just now, in numbers
    kinds         types of values of other processes
    waiting       calls that a block waits for at its end
    gathering     values of several processes, which each of them gets
    serving       threads for threads of others that wait
    options       time limits, threads, secret, and what others may have run here

Needs the extra `rpc`; without it, all names exist and raise ImportError when they are called.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ts.absent import names_for
from ts.distributed.missing_extra import has_rpc_extra, missing_module, placeholder

if TYPE_CHECKING or has_rpc_extra():
    from ts.distributed.rpc import functions
    from ts.distributed.rpc import scripts as scripts
    from ts.distributed.rpc.api import _get_current_rpc_agent as _get_current_rpc_agent
    from ts.distributed.rpc.api import (
        _is_current_rpc_agent_set as _is_current_rpc_agent_set,
    )
    from ts.distributed.rpc.api import (
        _set_rpc_timeout as _set_rpc_timeout,
    )
    from ts.distributed.rpc.api import (
        get_rpc_timeout,
        get_worker_info,
        init_rpc,
        remote,
        rpc_async,
        rpc_sync,
        shutdown,
    )
    from ts.distributed.rpc.figures import _get_debug_info as _get_debug_info
    from ts.distributed.rpc.figures import _rref_context_get_debug_info as _rref_context_get_debug_info
    from ts.distributed.rpc.options import BackendType, RpcBackendOptions, TensorPipeRpcBackendOptions
    from ts.distributed.rpc.rref import PyRRef, RRef
    from ts.ops.rref import WorkerInfo

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
    """Return whether processes can call each other: whether the extra is installed."""
    return has_rpc_extra()


_find = names_for(__name__)


def _find_or_refuse(name: str) -> Any:
    if name == "api" and not has_rpc_extra():
        return missing_module("torch.distributed.rpc.api")
    if name in __all__ and not has_rpc_extra():
        return placeholder("torch.distributed.rpc", name)
    return _find(name)


if not TYPE_CHECKING:
    __getattr__ = _find_or_refuse
