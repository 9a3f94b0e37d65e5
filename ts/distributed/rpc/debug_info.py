"""Debug counters of RPC under PyTorch's names: active calls, threads, RRefs.

rpc._get_debug_info()       {"agent.client_active_calls": "2", "num_owner_rrefs": "1", ...}
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ts.distributed.rpc.state import current

if TYPE_CHECKING:
    from ts.distributed.rpc.agent import RpcAgent


def agent_counts(agent: RpcAgent) -> dict[str, str]:
    """Return the numbers of active calls and of idle threads. A suspended script occupies no thread."""
    counts_by_event, threads = agent.executor.event_counts, agent.options.num_worker_threads
    active = counts_by_event["begun"] - counts_by_event["done"]
    counts = {
        "client_active_calls": agent.active_calls(),
        "server_active_calls": active,
        "server_active_async_calls": counts_by_event["parked"] - counts_by_event["resumed"],
        "thread_pool_size": threads,
        "num_idle_threads": max(threads - active + counts_by_event["parked"] - counts_by_event["resumed"], 0),
    }
    return {f"agent.{name}": str(count) for name, count in counts.items()}


def _rref_context_get_debug_info() -> dict[str, str]:
    """Return the numbers of values that this process owns and of RRefs to them."""
    return {name: str(count) for name, count in current().rref_context.debug_counts().items()}


def _get_debug_info() -> dict[str, str | int]:
    """Return the counters of the RRef context, the agent and distributed autograd."""
    return {
        **_rref_context_get_debug_info(),
        **agent_counts(current()),
        **current().contexts.debug_counts(),
    }
