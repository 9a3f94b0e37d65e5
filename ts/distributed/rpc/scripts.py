"""Calls that scripts make: what `prim::rpc_async` and the like do when they run (`ts.ops.rref.Calls`)."""

from __future__ import annotations

from typing import Any

from ts.distributed.rpc.state import current
from ts.ops.rref import REMOTE, Calls


def begin(kind: str, to: Any, callee: Any, args: Any, kwargs: Any, timeout: float) -> Any:
    """Begin a call; a future of its result, or a reference to it."""
    agent = current()
    ask = agent.remote if kind == REMOTE else agent.call
    return ask(to, callee, tuple(args), kwargs, float(timeout))


Calls.begin = begin
