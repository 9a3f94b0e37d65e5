"""Global state of RPC: the current agent of this process."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING

from ts.ops.rpc_ops import NOT_INITIALIZED

if TYPE_CHECKING:
    from ts.distributed.rpc.agent import RpcAgent

lock = threading.Lock()  # held while the agent of this process is created or shut down
agent: RpcAgent | None = None


def current() -> RpcAgent:
    """Return the agent of this process. Raise RuntimeError if RPC is not initialized."""
    if agent is None:
        raise RuntimeError(NOT_INITIALIZED)
    return agent


def _reset_after_fork() -> None:
    """Discard the agent in a forked child process: its connections belong to the parent."""
    global agent, lock
    lock = threading.Lock()
    if agent is not None:
        agent.endpoint.closed = True
        agent = None


os.register_at_fork(after_in_child=_reset_after_fork)
