"""Bindings of the script operators `prim::rpc_async`, `rpc_sync` and `rpc_remote` to `Calls`."""

from __future__ import annotations

from typing import Any

from ts.distributed.rpc.state import current
from ts.ops.rpc_ops import REMOTE, Calls


def start_call(kind: str, to: Any, callee: Any, args: Any, kwargs: Any, timeout: float) -> Any:
    """Start a call of kind `kind`; return a future of its result, or an RRef to it for REMOTE."""
    agent = current()
    start = agent.remote if kind == REMOTE else agent.call
    return start(to, callee, tuple(args), kwargs, float(timeout))


Calls.begin = start_call
