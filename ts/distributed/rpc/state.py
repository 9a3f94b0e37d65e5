"""The agent of this process, while there is one."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING

from ts.ops.rref import NOT_INITIALIZED

if TYPE_CHECKING:
    from ts.distributed.rpc.agent import Agent

lock = threading.Lock()  # of what follows
agent: Agent | None = None


def current() -> Agent:
    """The agent of this process; RuntimeError where there is none."""
    if agent is None:
        raise RuntimeError(NOT_INITIALIZED)
    return agent


def _forget() -> None:
    """A forked process is none of those that call each other: the connections are its parent's."""
    global agent, lock
    lock = threading.Lock()
    if agent is not None:
        agent.closed = True
        agent = None


os.register_at_fork(after_in_child=_forget)
