"""What a process has to do with others just now, in numbers, under PyTorch's names.

rpc._get_debug_info()       {"agent.client_active_calls": "2", "num_owner_rrefs": "1", ...}
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ts.distributed.rpc.state import current

if TYPE_CHECKING:
    from ts.distributed.rpc.agent import Agent


def of_agent(agent: Agent) -> dict[str, str]:
    """Calls of this process and of others. A script that waits is a call without a thread."""
    tally, threads = agent.running.tally, agent.options.num_worker_threads
    active = tally["begun"] - tally["done"]
    found = {
        "client_active_calls": agent.active_calls(),
        "server_active_calls": active,
        "server_active_async_calls": tally["parked"] - tally["resumed"],
        "thread_pool_size": threads,
        "num_idle_threads": max(threads - active + tally["parked"] - tally["resumed"], 0),
    }
    return {f"agent.{name}": str(number) for name, number in found.items()}


def _rref_context_get_debug_info() -> dict[str, str]:
    """Values that others refer to, and who refers to them."""
    return {name: str(number) for name, number in current().references.figures().items()}


def _get_debug_info() -> dict[str, str | int]:
    """All there is to tell."""
    return {
        **_rref_context_get_debug_info(),
        **of_agent(current()),
        **current().contexts.figures(),
    }
