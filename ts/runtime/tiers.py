"""Tiers of compiled code (tiered compilation): when a function runs baseline code, and when it is optimized.

The first calls of a function run baseline code, which is lowered from the graph as written:

    f(x)    compiles baseline code        f.graph -> bytecode, and its callees at their first calls
    f(x)    runs it
    ...     after 50 ms of run time or 2,000 calls: optimizes and specializes the graph
    f(x)    runs optimized code

Both tiers compute the same bits and raise the same errors. These functions are optimized at the first call:

    functions with a hot loop (`passes.hot_loops`), because the first call may be the only one
    functions in the code cache (archives, Python functions), unless TS_CACHE=0, because their optimized code
        is stored, and later processes need neither tier

The variable TS_TIER selects one tier for all calls: `optimized` or `written` (baseline).
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from ts._core.late_binding import resolve
from ts._core.vm.function import set_baseline_limits
from ts.runtime.graph_variants import GraphVariant, has_autocast, unoptimized_graph

if TYPE_CHECKING:
    from ts.runtime.function import ScriptFunction

_TIERS: Final = ("", "optimized", "written")
_DEFAULT_CALLS: Final = 2_000  # calls of baseline code before a function is optimized
_DEFAULT_NS: Final = 50_000_000  # run time of baseline code before a function is optimized, in nanoseconds
_NO_LIMIT: Final = (1 << 63) - 1
_tier = os.environ.get("TS_TIER", "")
if _tier not in _TIERS:
    raise ValueError(f"TS_TIER must be 'optimized' or 'written', not {_tier!r}")


def set_baseline_calls(calls: int | None) -> None:
    """Set the number of calls that run baseline code before a function is optimized. None sets the default.

    With TS_TIER=written, functions are never optimized.
    """
    if _tier == "written":
        set_baseline_limits(_NO_LIMIT, _NO_LIMIT)
    else:
        set_baseline_limits(_DEFAULT_CALLS if calls is None else calls, _DEFAULT_NS)


set_baseline_calls(None)


def begins_with_baseline(function: ScriptFunction, variant: GraphVariant) -> bool:
    """Return True if the first calls of `function` run baseline code, and not the code of `variant`."""
    if _tier == "optimized" or (_tier != "written" and _uses_code_cache(function, variant)):
        return False
    graph = function.as_compiled()
    if function.holds_breakpoint or has_autocast(graph):
        return False
    return not has_hot_loop(function)


def has_hot_loop(function: ScriptFunction) -> bool:
    """Return True if the graph of `function` contains a loop that runs many times faster when optimized.

    With TS_TIER=written, return False.
    """
    if _tier == "written":
        return False
    graph = unoptimized_graph(function.as_compiled())
    if "prim::Loop" not in graph.kinds():
        return False
    from ts.passes import hot_loops  # imported here, as most programs have no loop

    return hot_loops.has_hot_loop(graph)


def _uses_code_cache(function: ScriptFunction, variant: GraphVariant) -> bool:
    """Return True if the code cache is enabled and stores the code of `function`."""
    if function.unit is None and function.digest is None:
        return False
    return resolve("executor").cache_entry(function, variant) is not None
