"""Debug counters of RPC under PyTorch's names: active calls, threads, RRefs.

rpc._get_debug_info()       {"agent.client_active_calls": "2", "num_owner_rrefs": "1", ...}
"""

from __future__ import annotations

from ts.distributed.rpc.state import current


def _rref_context_get_debug_info() -> dict[str, str]:
    """Return the numbers of values that this process owns and of RRefs to them."""
    return {name: str(count) for name, count in current().rrefs.debug_counts().items()}


def _get_debug_info() -> dict[str, str | int]:
    """Return the counters of the RRef store, the agent and distributed autograd."""
    return {
        **_rref_context_get_debug_info(),
        **current().get_debug_info(),
        **current().contexts.debug_counts(),
    }
