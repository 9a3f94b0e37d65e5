"""Graph executor with lazy compilation: copies, optimizes and lowers a graph to executable code.

The first call of a `ScriptFunction` creates its `Code` in these steps:

    graph -> a copy -> passes.pipelines.OPTIMIZE -> bytecode.lower -> Code

`f.graph` remains the output of the frontend. Two variants of a function have separate code. `Unoptimized`
runs within `optimized_execution(False)`, and `Differentiated` runs while autograd records.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from ts._core.dispatch.profiler_recorder import Stage
from ts._core.late_binding import resolve
from ts._core.thread.context import is_grad_enabled
from ts._core.vm.function import Function, args_require_grad, is_optimizing, last_executed, set_optimizing
from ts.bytecode.native import background_compilation
from ts.runtime.gc_pause import gc_disabled
from ts.runtime.graph_variants import (
    CompiledCode,
    GraphVariant,
    copy_unoptimized,
    has_autocast,
    load_or_compile,
    lower_temporary_graph,
    prepare_graph,
    run_early_passes,
    run_late_passes,
    transform_graph,
    within_policy,
)
from ts.runtime.python_frame_stack import preallocate_frames
from ts.runtime.tiers import begins_with_baseline, has_hot_loop

if TYPE_CHECKING:
    from ts.bytecode.serialized_code import SerializedCode
    from ts.ir.graph import Graph
    from ts.runtime.code_cache import Entry
    from ts.runtime.function import ScriptFunction


background_compilation.start_background_compilation()

Strategy = list[tuple[str, int]]
_strategy: Strategy = [("STATIC", 2), ("DYNAMIC", 10)]  # PyTorch's default, see `set_fusion_strategy`


@contextmanager
def optimized_execution(should_optimize: bool) -> Iterator[None]:
    """Context in which calls of this thread run optimized if `should_optimize` is true, else unoptimized.

    An unoptimized function calls the unoptimized variants of its callees.
    """
    before = set_optimizing(should_optimize)
    try:
        yield
    finally:
        set_optimizing(before)


def set_fusion_strategy(strategy: Sequence[tuple[str, int]]) -> Strategy:
    """Set the fusion strategy and return the previous one, for compatibility with PyTorch.

    The strategy is a list of pairs such as ("STATIC", 2) or ("DYNAMIC", 10). It has no effect, because a
    fusion group checks sizes at run time. Raise TypeError if `strategy` is not a list of pairs of a str and a
    non-negative int, and ValueError for other names.
    """
    global _strategy
    if isinstance(strategy, str | bytes) or not isinstance(strategy, Sequence):
        raise TypeError(
            f'a fusion strategy must be a list such as [("STATIC", 2), ("DYNAMIC", 10)], got {strategy!r}'
        )
    checked = []
    for entry in strategy:
        if isinstance(entry, str | bytes) or not isinstance(entry, Sequence) or len(entry) != 2:
            raise TypeError(f'a fusion strategy must consist of pairs such as ("STATIC", 2), found {entry!r}')
        kind, count = entry
        if not isinstance(kind, str):
            raise TypeError(f"a fusion strategy must be 'STATIC' or 'DYNAMIC', found {kind!r}")
        if not isinstance(count, int) or not 0 <= count < 1 << 64:
            raise TypeError(
                f"a fusion strategy needs a non-negative number of plans for {kind!r}, found {count!r}"
            )
        if kind not in ("STATIC", "DYNAMIC"):
            raise ValueError(f"a fusion strategy must be 'STATIC' or 'DYNAMIC', found {kind!r}")
        checked.append((kind, int(count)))
    before, _strategy = _strategy, checked
    return before


def graph_for(function: ScriptFunction, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Graph:
    """Return the graph that runs for the given arguments, annotated with tensor types."""
    # imported here, as it is needed for inspection only
    from ts.passes.shape_analysis import propagate_shapes

    inputs = function.bind(args, kwargs)
    with_gradients = is_grad_enabled() and args_require_grad(tuple(inputs))
    variant = GraphVariant.DIFFERENTIATED if with_gradients else GraphVariant.OPTIMIZED
    graph = executed_graph_for(function, variant if is_optimizing() else GraphVariant.WRITTEN, inputs)
    return propagate_shapes(graph, inputs, with_grad=with_gradients)


def executed_graph(function: ScriptFunction) -> Graph:
    """Return a copy of the graph that runs for arguments without a specialization.

    The copy is optimized unless this thread has disabled optimization.
    """
    return transform_graph(
        function.as_compiled(), GraphVariant.OPTIMIZED if is_optimizing() else GraphVariant.WRITTEN
    )


def executed_graph_for(function: ScriptFunction, variant: GraphVariant, inputs: Sequence[Any]) -> Graph:
    """Return a copy of the graph of `function`, transformed for `variant` and specialized to `inputs`.

    The graph is not specialized if `variant` is WRITTEN, or if the function has breakpoints or autocast
    blocks.
    """
    if variant is GraphVariant.WRITTEN or function.holds_breakpoint or has_autocast(function.as_compiled()):
        return transform_graph(function.as_compiled(), variant)
    from ts.passes.specialize_to_arguments import queried_arguments

    graph = copy_unoptimized(function.as_compiled())
    run_early_passes(graph)
    tested_arguments = queried_arguments(graph)
    if tested_arguments:
        from ts.runtime.specialization import ArgumentSignature

        ArgumentSignature.of((i, inputs[i]) for i in tested_arguments).specialize(graph)
    run_late_passes(graph, variant)
    return graph


def last_executed_optimized_graph() -> Graph | None:
    """Return the executed graph of the last function called from Python, or None before the first call.

    The graph has the nodes of PyTorch's executor: type checks, fusion groups and fallback functions.
    """
    function: Any = last_executed()
    if function is None:
        return None
    variant = function.variant if isinstance(function, FunctionVariant) else GraphVariant.OPTIMIZED
    original = function.original if isinstance(function, FunctionVariant) else function
    code = function.available_code
    plans = function.plans if variant is not GraphVariant.WRITTEN else None
    if plans is not None:
        from ts.runtime.specialization import specializer_of

        graph, code = specializer_of(plans).last_execution(plans)
    elif (as_written := getattr(original, "graph", None)) is not None:
        graph = transform_graph(as_written, variant)
    else:
        return None
    if code is None or variant is GraphVariant.WRITTEN:
        return graph
    from ts.runtime.executor_graph import add_executor_nodes  # imported here, as only inspection needs it

    return add_executor_nodes(graph, code)


class FunctionVariant(Function):
    """Variant of the function `original` with the same signature.

    A variant calls the same variant of each callee.
    """

    variant: GraphVariant

    def __init__(self, original: ScriptFunction) -> None:
        original.ensure_compiled()
        self._become(original)

    def _become(self, original: ScriptFunction) -> None:
        name, arguments, declaration = original.name, original.arguments, original.declaration
        super().__init__(name, arguments, declaration, original.by_name, original.result)
        self.original = original

    def _prepare(self) -> Any:
        with gc_disabled():
            return preallocate_frames(prepare, self.original, self.variant)


class Unoptimized(FunctionVariant):
    """Variant of a function that runs without optimization."""

    variant = GraphVariant.WRITTEN


class Baseline(FunctionVariant):
    """Variant that the first calls of a function run. A function with a hot loop runs its optimized code."""

    variant = GraphVariant.BASELINE

    def _prepare(self) -> Any:
        if has_hot_loop(self.original):
            return self.original.available_code or prepare(self.original)
        return super()._prepare()


class Differentiated(FunctionVariant):
    """Variant that runs while autograd records.

    If its graph has no tensors, it runs the code of the optimized variant.
    """

    variant = GraphVariant.DIFFERENTIATED

    def __init__(self, original: ScriptFunction) -> None:
        self._cached_code = _load_cached_code(original)
        if self._cached_code is None:
            original.ensure_compiled()
        self._become(original)

    def _begins_with_baseline(self) -> bool:
        return self._cached_code is None and begins_with_baseline(self.original, self.variant)

    def baseline(self) -> Unoptimized:
        """Return the variant that the first calls run."""
        return self.original.without_optimisation()

    def _prepare(self) -> Any:
        if self._cached_code is not None:
            return self._cached_code
        if _has_tensors(self.original.as_compiled()):
            return super()._prepare()
        return self.original.compiled_code


def _load_cached_code(function: ScriptFunction) -> Any:
    """Return the cached code of the differentiated variant, and set the signature, or return None."""
    if function.unit is None and function.digest is None:
        return None
    entry = cache_entry(function, GraphVariant.DIFFERENTIATED)
    if entry is None:
        return None
    if function.cached_code is not None and function.cached_code[0] == entry.path:
        return function.cached_code[1]
    with function.policy.within(), gc_disabled():
        return entry.read()


def _has_tensors(graph: Graph) -> bool:
    """Return True if a graph may compute tensors."""
    from ts.ir.types import TENSOR  # imported here, as cached code does not need it

    kinds = graph.kinds()
    if not kinds.isdisjoint(("prim::CallFunction", "prim::CallMethod", "prim::fork")):
        return True
    return any(value.type().is_subtype_of(TENSOR) for node in graph.all_nodes() for value in node.outputs())


def prepare(function: ScriptFunction, variant: GraphVariant = GraphVariant.OPTIMIZED) -> Any:
    """Return the code of a function, or the code that selects one of its specializations."""
    if function.holds_breakpoint and os.environ.get("PYTHONBREAKPOINT") != "0":
        return resolve("breakpoint_hook").prepare_with_breakpoints(function)
    if not variant.is_optimized:
        return prepare_graph(function.as_compiled(), function.name, function.policy, variant)
    entry = None if function.unit is None and function.digest is None else cache_entry(function, variant)
    return load_or_compile(function, entry, lambda: _compile_code(function, variant))


def cache_entry(function: ScriptFunction, variant: GraphVariant = GraphVariant.OPTIMIZED) -> Entry | None:
    """Return the cache file for a function's code, or None for uncached functions."""
    # imported here: only functions of archives and Python functions need it
    from ts.runtime.code_cache import entry_of

    def plans(*described: Any) -> Any:
        from ts.runtime.specialization import Specializer

        return Specializer(function, variant).plans(*described)

    return entry_of(function, partial(prepare_graph, policy=function.policy), variant.value, plans)


def _compile_code(function: ScriptFunction, variant: GraphVariant) -> CompiledCode:
    """Return the code of a function, and its program if the code can be serialized.

    If the function has specializations, its code contains only the selection of a specialization.
    """
    graph, name = function.as_compiled(), function.name
    # The program is None, because the code refers to the class `_Block`, which other processes do not have.
    if has_autocast(graph):
        return prepare_graph(graph, name, function.policy, variant), None

    def run() -> CompiledCode:
        with Stage("compile: optimise", name):
            ready = copy_unoptimized(graph)
            run_early_passes(ready)
            entry_program = _entry_program(function, variant, ready)
            if entry_program is not None:
                return entry_program.code(), entry_program
            run_late_passes(ready, variant)
        return lower_temporary_graph(ready, name, function.policy, variant)

    return within_policy(run, graph, name, function.policy)


def _entry_program(function: ScriptFunction, variant: GraphVariant, graph: Graph) -> SerializedCode | None:
    """Return the program that selects a specialization.

    Return None if no branch of the function depends on the arguments.
    """
    from ts.passes.peephole_types import may_query_types

    if not may_query_types(graph):
        return None
    from ts.passes.specialize_to_arguments import queried_arguments

    tested_arguments = queried_arguments(graph)
    if not tested_arguments:
        return None
    from ts.runtime.specialization import Specializer  # imported here, as few functions need it

    return Specializer(function, variant, graph).entry_program(tested_arguments)
