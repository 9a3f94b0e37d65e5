"""Graph variants of functions (as written, optimized or differentiated) and their code.

Each variant is a transformed copy of the function's graph. The optimized variant is created in these steps:

    graph -> a copy -> passes.pipelines.OPTIMIZE -> bytecode.lower -> Code

`executor` selects the variant for a call. `specialization` specializes code to arguments.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from functools import partial
from operator import methodcaller
from typing import TYPE_CHECKING, Any, TypeVar

from ts._core.dispatch.op_log import PauseLogging
from ts._core.dispatch.profiler_recorder import Stage
from ts._core.thread.context import CompileTimeMode
from ts._core.value.build_lock import build_lock
from ts.errors import LimitExceeded
from ts.frontend.load_policy import UNRESTRICTED, LoadPolicy
from ts.runtime.deep_recursion import run_with_large_stack
from ts.runtime.gc_pause import gc_disabled

if TYPE_CHECKING:
    from ts.bytecode.serialized_code import SerializedCode
    from ts.ir.graph import Graph
    from ts.ir.source import SourceRange
    from ts.runtime.code_cache import Entry
    from ts.runtime.function import ScriptFunction

CompiledCode = tuple[Any, "SerializedCode | None"]  # (Code, program if the code can be cached)
AnyCompiledCode = TypeVar("AnyCompiledCode", bound=CompiledCode)


class GraphVariant(Enum):
    """Variant of a graph.

    The enum value is the name of the method of `ScriptFunction` that returns the variant of the function.
    """

    WRITTEN = "without_optimisation"  # not optimized
    BASELINE = "baseline"  # not optimized, except functions with hot loops; see `tiers`
    OPTIMIZED = ""
    DIFFERENTIATED = "with_gradients"

    @property
    def is_optimized(self) -> bool:
        """False for the variants that are lowered from the graph as written."""
        return self not in (GraphVariant.WRITTEN, GraphVariant.BASELINE)


def optimized(graph: Graph) -> Graph:
    """Return an optimized copy of a graph."""
    return transform_graph(graph, GraphVariant.OPTIMIZED)


def transform_graph(graph: Graph, variant: GraphVariant) -> Graph:
    """Return a copy of `graph`, transformed for `variant`. Graphs with autocast regions are not optimized."""
    graph = copy_unoptimized(graph)
    if not enter_autocast(graph) and variant.is_optimized:
        run_early_passes(graph)
        run_late_passes(graph, variant)
    return graph


def has_autocast(graph: Graph) -> bool:
    """Return True if a graph contains autocast regions."""
    if "prim::Enter" not in graph.kinds():
        return False
    from ts.analysis.autocast_regions import autocast_blocks  # imported here, as few programs need it

    return bool(autocast_blocks(graph))


def enter_autocast(graph: Graph) -> bool:
    """Make the autocast regions of a graph executable. Return True if there are such regions."""
    if not has_autocast(graph):
        return False
    from ts.runtime.autocast_blocks import enter_blocks

    enter_blocks(graph)
    return True


def run_early_passes(graph: Graph) -> None:
    """Run the passes that precede the specialization for arguments."""
    from ts.passes.pipelines import BEFORE_SPECIALIZING, run_pipeline

    run_pipeline(graph, BEFORE_SPECIALIZING)


def run_late_passes(graph: Graph, variant: GraphVariant) -> None:
    """Run the passes that follow the specialization for arguments."""
    from ts.passes.pipelines import BEFORE_SPECIALIZING, DIFFERENTIATE, OPTIMIZE, run_pipeline

    passes = DIFFERENTIATE if variant is GraphVariant.DIFFERENTIATED else OPTIMIZE
    run_pipeline(graph, passes[len(BEFORE_SPECIALIZING) :])


def unoptimized_graph(graph: Graph) -> Graph:
    """Return the graph to execute, before optimization.

    It includes unused code that may raise, which PyTorch's passes remove.
    """
    from ts.passes.preserve_raising_code import graph_to_execute  # imported here: not for cached code

    return graph_to_execute(graph)


def copy_unoptimized(graph: Graph) -> Graph:
    """Return a copy of `unoptimized_graph(graph)`."""
    return unoptimized_graph(graph).copy()


def load_or_compile(function: ScriptFunction, entry: Entry | None, make: Callable[[], CompiledCode]) -> Any:
    """Return the cached code of a function, or compile the function and store its code."""
    if entry is None:
        return make()[0]
    if function.cached_code is not None and function.cached_code[0] == entry.path:
        return function.cached_code[1]
    with function.policy.within():
        code = entry.read()
    if code is None:
        code, program = make()
        if program is not None:
            entry.store(program)
    return code


def lower_to_program(*args: Any) -> tuple[Any, SerializedCode]:
    """Lower a graph by `ts.bytecode.lower`, which is imported here since only compilations need it."""
    from ts.bytecode import lower

    return lower.lower_to_program(*args)


def _first_range(graph: Graph) -> SourceRange | None:
    """Return the first source range in a graph."""
    return next((node.range for node in graph.all_nodes() if node.range is not None), None)


def prepare_graph(
    graph: Graph, name: str, policy: LoadPolicy = UNRESTRICTED, variant: GraphVariant = GraphVariant.OPTIMIZED
) -> Any:
    """Compile a graph within the limits of `policy` and return its code."""
    return prepare_program(graph, name, policy, variant)[0]


def prepare_program(
    graph: Graph, name: str, policy: LoadPolicy, variant: GraphVariant = GraphVariant.OPTIMIZED
) -> tuple[Any, SerializedCode]:
    """Compile a graph within the limits of `policy`, and return the code and the program."""
    uses_autocast = has_autocast(graph)
    if uses_autocast:
        variant = GraphVariant.WRITTEN

    def run() -> tuple[Any, SerializedCode]:
        if not (variant.is_optimized or uses_autocast):
            return lower_graph(unoptimized_graph(graph), name, policy, variant)
        with Stage("compile: optimise", name):
            ready = transform_graph(graph, variant)
        return lower_temporary_graph(ready, name, policy, variant)

    return within_policy(run, graph, name, policy)


def lower_graph(
    graph: Graph, name: str, policy: LoadPolicy, variant: GraphVariant
) -> tuple[Any, SerializedCode]:
    """Return the code and the program of a graph that was transformed already."""
    select_variant = methodcaller(variant.value) if variant.value else None
    of_parts = partial(prepare_graph, policy=policy, variant=variant)
    of_ways = partial(prepare_graph, policy=policy)
    with Stage("compile: lower", name):
        return lower_to_program(graph, name, of_parts, select_variant, of_ways)


def lower_temporary_graph(
    graph: Graph, name: str, policy: LoadPolicy, variant: GraphVariant
) -> tuple[Any, SerializedCode]:
    """Return the code and the program of a graph, like `lower_graph`, and free the graph."""
    from ts.fusion.program import KIND as FUSION_GROUP  # imported here, as cached code needs no graph

    try:
        return lower_graph(graph, name, policy, variant)
    finally:
        for node in graph.find_all_nodes(FUSION_GROUP):
            node["Subgraph"].free()
        graph.free()


def within_policy(
    run: Callable[[], AnyCompiledCode], graph: Graph, name: str, policy: LoadPolicy
) -> AnyCompiledCode:
    """Return the result of `run`, a step of a compilation, under the build lock and within `policy`."""

    def located() -> AnyCompiledCode:
        try:
            return run()
        except LimitExceeded as error:
            error.stack = error.stack or [(name, _first_range(graph))]
            raise

    with policy.within(), build_lock(), gc_disabled(), CompileTimeMode(), PauseLogging():
        return run_with_large_stack(located)
