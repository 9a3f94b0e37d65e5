"""Implementation of the script operators `prim::rpc_async`, `rpc_sync` and `rpc_remote`."""

from __future__ import annotations

from typing import Any

from ts.distributed.rpc.state import current
from ts.ops.rpc_ops import REMOTE, RpcHook


def start_call(kind: str, to: Any, callee: Any, args: Any, kwargs: Any, timeout: float) -> Any:
    """Start a call. Return a future of the result, or for kind REMOTE an RRef to the result."""
    agent = current()
    start = agent.remote if kind == REMOTE else agent.call
    return start(to, callee, tuple(args), kwargs, float(timeout))


RpcHook.begin = start_call
