"""Pass pipelines (pass manager, phase ordering): the order of passes, and the function that runs them.

A pass is a function `run(graph) -> bool`, which returns whether it changed the graph. There are two main
pipelines:

    run_pipeline(graph, FRONTEND)      passes after the emitter. `fn.graph` then has PyTorch's text
    run_pipeline(copy, OPTIMIZE)       passes before bytecode generation, on a copy of the graph

Passes that take long or change results run only on request (`ts._C`).

The passes of a pipeline share analyses, such as `graph.analysis(AliasDb)`, until the graph changes.
`@preserves(AliasDb)` marks a pass that changes the graph, but not the result of this analysis. With
TS_JIT_VERIFY=1, the graph is verified after each pass.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Final

from ts._core.dispatch.profiler_recorder import Stage
from ts._core.thread import deadline
from ts.errors import InternalError, TsError
from ts.ir.graph import Graph
from ts.ir.verifier import verify
from ts.passes import pass_logging
from ts.passes.canonicalize import canonicalize_outputs
from ts.passes.canonicalize_loops import canonicalize_modified_loops
from ts.passes.constant_pooling import constant_pooling
from ts.passes.constant_propagation import constant_propagation_immutable_types, fold_constants
from ts.passes.convert_to_ssa import convert_to_ssa
from ts.passes.create_autodiff_subgraphs import create_autodiff_subgraphs
from ts.passes.cse import eliminate_common_subexpressions
from ts.passes.dce import eliminate_unfailing_dead_code
from ts.passes.empty_lists import replace_empty_list_literals
from ts.passes.graph_fuser import fuse_graph
from ts.passes.hoist_loop_views import hoist_loop_views
from ts.passes.inline import inline_for_execution, inline_if_everything
from ts.passes.licm import hoist_loop_invariants
from ts.passes.lift_closures import lift_closures
from ts.passes.lower_tuples import bypass_tuples, lower_simple_tuples
from ts.passes.normalize_ops import normalize_ops
from ts.passes.pass_utils import preserved_analyses, relevant_node_kinds
from ts.passes.peephole import simplify
from ts.passes.preserve_raising_code import finish_watching, watch_raising_code
from ts.passes.scalarize_loops import version_element_loops
from ts.passes.unwrap_numbers import unwrap_numbers

Pass = Callable[[Graph], bool]

FRONTEND: Final[Sequence[Pass]] = (
    convert_to_ssa,
    lift_closures,
    inline_if_everything,
    replace_empty_list_literals,
    canonicalize_modified_loops,
    normalize_ops,
    watch_raising_code,
    lower_simple_tuples,
    constant_propagation_immutable_types,
    constant_pooling,
    canonicalize_outputs,
    finish_watching,
)


# The passes of FRONTEND except clean-up passes, because clean-up would remove variables that the debugger
# shows.
STEPPING: Final[Sequence[Pass]] = (
    convert_to_ssa,
    lift_closures,
    replace_empty_list_literals,
    canonicalize_modified_loops,
    normalize_ops,
)


# Passes before the generation of bytecode. Dead code is eliminated only near the end, and nodes that may
# raise an error remain.
OPTIMIZE: Final[Sequence[Pass]] = (
    inline_for_execution,
    unwrap_numbers,
    bypass_tuples,
    simplify,
    fold_constants,
    eliminate_common_subexpressions,
    hoist_loop_invariants,
    constant_pooling,
    eliminate_unfailing_dead_code,
    version_element_loops,
    hoist_loop_views,
    fuse_graph,
)

# Passes before the specialization to argument types. All specializations of a function share their result.
BEFORE_SPECIALIZING: Final[Sequence[Pass]] = OPTIMIZE[: OPTIMIZE.index(fold_constants)]

# Passes for calls that record gradients. Differentiable graphs are created before fusion groups. A fusion
# group is thus either inside or outside of a differentiable graph, never both.
DIFFERENTIATE: Final[Sequence[Pass]] = (
    *OPTIMIZE[: OPTIMIZE.index(fuse_graph)],
    create_autodiff_subgraphs,
    fuse_graph,
)

# Nanoseconds charged to `ts.limits` before each pass, large enough that the limits are checked each time
_CLOCK_INTERVAL_NS: Final = 1e5
_always_verify = os.environ.get("TS_JIT_VERIFY", "") not in ("", "0")


def run_pipeline(
    graph: Graph, passes: Sequence[Pass], check: bool | None = None, until_unchanged: bool = False
) -> bool:
    """Run `passes` in order.

    If `until_unchanged`, repeat until no pass changes the graph. Return whether a pass changed it.

    A pass is skipped if its last run changed nothing and the graph is still the same, or if the graph has no
    node of the kinds that the pass applies to (`pass_utils.applies_to`). `check` determines whether the graph
    is verified after each pass. The default is the variable `TS_JIT_VERIFY`.
    """
    unchanged_versions: dict[Pass, int] = {}
    has_changed, repeats = False, True
    graph.analyses = {}
    try:
        while repeats:
            repeats = False
            for run in passes:
                if unchanged_versions.get(run) == graph.version or not _has_relevant_nodes(graph, run):
                    continue
                if run_pass(graph, run, check):
                    has_changed, repeats = True, until_unchanged
                else:
                    unchanged_versions[run] = graph.version
    finally:
        graph.analyses = None
    return has_changed


def _has_relevant_nodes(graph: Graph, run: Pass) -> bool:
    kinds = relevant_node_kinds(run)
    return kinds is None or not graph.kinds().isdisjoint(kinds) or pass_logging.is_configured()


def run_pass(graph: Graph, run: Pass, check: bool | None = None) -> bool:
    """Run one pass. The message of an internal error contains the pass name and the graph."""
    name = pass_name(run)
    version = graph.version
    deadline.charge(_CLOCK_INTERVAL_NS)
    try:
        with Stage(f"pass: {name}"):
            changed = run(graph)
        if _always_verify if check is None else check:
            verify(graph)
    except InternalError as error:
        error.pass_name = error.pass_name or name
        error.graph_text = error.graph_text or str(graph)
        raise
    except (TsError, RecursionError):
        raise
    except Exception as error:
        raise InternalError(f"{type(error).__name__}: {error}", name, str(graph)) from error
    if changed:
        graph.version += 1  # the pass may have changed only a subgraph, which has its own version
        _keep_analyses(graph, run, version)
    pass_logging.dump(name, "After {}:\n{}", run.__name__, graph)
    return changed


def _keep_analyses(graph: Graph, run: Pass, version: int) -> None:
    """Mark the analyses that the pass `run` preserves as valid for the current graph.

    Analyses that were computed before the graph had the version `version` are not marked.
    """
    analyses = graph.analyses or {}
    for analyse in preserved_analyses(run):
        if analyse in analyses and analyses[analyse][0] >= version:
            analyses[analyse] = graph.version, analyses[analyse][1]


def pass_name(run: Pass) -> str:
    """Return the name of a pass in environment variables: the name of its module."""
    return run.__module__.rpartition(".")[2]
