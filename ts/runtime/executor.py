"""From a function's graph to the code that runs: copy, optimise, lower.

In: a `ScriptFunction`.  Out: its `Code`, once, when it is first called.

    graph -> a copy -> passes.pipelines.OPTIMIZE -> bytecode.lower -> Code

The function's own graph stays as the frontend left it: that is what `f.graph` shows.  Two twins of a function
have code of their own: `Unoptimized` runs inside of `optimized_execution(False)`, and `Differentiated` where
operations are recorded for gradients.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from enum import Enum
from functools import partial
from operator import methodcaller
from typing import TYPE_CHECKING, Any

from ts._core.dispatch.recorder import Stage
from ts._core.thread.context import is_grad_enabled
from ts._core.value.turns import my_turn
from ts._core.value.values import register_script_text
from ts._core.vm.function import Function, is_optimizing, last_executed, set_optimizing
from ts.bytecode.native import worker
from ts.errors import LimitExceeded
from ts.frontend.terms import ANY_TERMS, Terms
from ts.runtime.deep import with_deep_stack
from ts.runtime.frames import with_room
from ts.runtime.garbage import no_collection

if TYPE_CHECKING:
    from ts.bytecode.program import Program
    from ts.ir.graph import Graph
    from ts.ir.source import SourceRange
    from ts.runtime.code_cache import Entry
    from ts.runtime.function import ScriptFunction


def _script_text(value: object) -> str:
    from ts.runtime.text import script_text  # few programs print tensors

    return script_text(value)


register_script_text(_script_text)
worker.attend()

Strategy = list[tuple[str, int]]
_strategy: Strategy = [("STATIC", 2), ("DYNAMIC", 10)]  # PyTorch's


class Form(Enum):
    """What a function's graph becomes before it runs."""

    WRITTEN = "without_optimisation"  # what a function has as its twin
    OPTIMIZED = ""
    DIFFERENTIATED = "with_gradients"


def optimized(graph: Graph) -> Graph:
    """An optimised copy."""
    return formed(graph, Form.OPTIMIZED)


def formed(graph: Graph, form: Form) -> Graph:
    """A copy as it runs."""
    from ts.passes.pipelines import DIFFERENTIATE, OPTIMIZE, run_pipeline

    graph = unoptimized(graph)
    if form is not Form.WRITTEN:
        run_pipeline(graph, DIFFERENTIATE if form is Form.DIFFERENTIATED else OPTIMIZE)
    return graph


def unoptimized(graph: Graph) -> Graph:
    """A copy that does what the program does."""
    from ts.passes.failing_code import faithful

    return faithful(graph).copy()


@contextmanager
def optimized_execution(should_optimize: bool) -> Iterator[None]:
    """Whether the functions that this thread calls inside run optimised.

    Without, each runs as it is written, and so do those that it calls: a function has code for either.
    """
    before = set_optimizing(should_optimize)
    try:
        yield
    finally:
        set_optimizing(before)


def set_fusion_strategy(strategy: Sequence[tuple[str, int]]) -> Strategy:
    """How many versions PyTorch makes of a function for fixed sizes ("STATIC"), then for any ("DYNAMIC").

    It is kept, and what it was before comes back; nothing here depends on it, as groups have plans by
    dtypes and decide about sizes when they run.  TypeError for what is no list of pairs of a text and a
    number from 0 on, ValueError for another text.
    """
    global _strategy
    if isinstance(strategy, str | bytes) or not isinstance(strategy, Sequence):
        raise TypeError(f'a fusion strategy is a list as [("STATIC", 2), ("DYNAMIC", 10)], not {strategy!r}')
    checked = []
    for entry in strategy:
        if isinstance(entry, str | bytes) or not isinstance(entry, Sequence) or len(entry) != 2:
            raise TypeError(f'a fusion strategy has pairs such as ("STATIC", 2), but this one has {entry!r}')
        kind, count = entry
        if not isinstance(kind, str):
            raise TypeError(f"a fusion strategy has 'STATIC' and 'DYNAMIC', but this one has {kind!r}")
        if not isinstance(count, int) or not 0 <= count < 1 << 64:
            raise TypeError(f"a fusion strategy has a count of plans for {kind}, but this one has {count!r}")
        if kind not in ("STATIC", "DYNAMIC"):
            raise ValueError(f"a fusion strategy has 'STATIC' and 'DYNAMIC', but this one has {kind!r}")
        checked.append((kind, int(count)))
    before, _strategy = _strategy, checked
    return before


def graph_for(function: ScriptFunction, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Graph:
    """What runs for these arguments, with the types that its tensors then have."""
    from ts.passes.shape_analysis import propagate_shapes  # for who looks at it

    inputs = function.bind(args, kwargs)
    wanted = is_grad_enabled() and any(getattr(x, "requires_grad", False) for x in inputs)
    return propagate_shapes(runs(function, wanted), inputs, with_grad=wanted)


def runs(function: ScriptFunction, wanted: bool = False) -> Graph:
    """The graph that runs: a copy, inlined and optimised unless the thread wants none of that.

    `wanted`: as it is where somebody wants gradients.
    """
    form = Form.DIFFERENTIATED if wanted else Form.OPTIMIZED
    return formed(function.as_compiled(), form if is_optimizing() else Form.WRITTEN)


def last_executed_optimized_graph() -> Graph | None:
    """The graph of the function that Python has called last, optimised; None if there is none."""
    function: Any = last_executed()
    if isinstance(function, Twin):
        return formed(function.original.as_compiled(), function.form)
    graph = getattr(function, "graph", None)
    return None if graph is None else optimized(graph)


class Twin(Function):
    """A function in another form: it takes and gives what the original does, and calls such twins."""

    form: Form

    def __init__(self, original: ScriptFunction) -> None:
        original.ensure_compiled()
        self._become(original)

    def _become(self, original: ScriptFunction) -> None:
        name, arguments, declaration = original.name, original.arguments, original.declaration
        super().__init__(name, arguments, declaration, original.by_name, original.result)
        self.original = original

    def _prepare(self) -> Any:
        with no_collection():
            return with_room(prepare, self.original, self.form)


class Unoptimized(Twin):
    """A function as it is written."""

    form = Form.WRITTEN


class Differentiated(Twin):
    """A function of which parts are differentiated as one; the same code where there are no tensors."""

    form = Form.DIFFERENTIATED

    def __init__(self, original: ScriptFunction) -> None:
        self._kept_code = _kept_code(original)
        if self._kept_code is None:
            original.ensure_compiled()
        self._become(original)

    def _prepare(self) -> Any:
        if self._kept_code is not None:
            return self._kept_code
        if _has_tensors(self.original.as_compiled()):
            return super()._prepare()
        return self.original.compiled_code


def _kept_code(function: ScriptFunction) -> Any:
    """The code of a function's twin that another process has left; then the signature comes with it."""
    if function.unit is None and function.digest is None:
        return None
    entry = kept_entry(function, Form.DIFFERENTIATED)
    if entry is None:
        return None
    if function.kept is not None and function.kept[0] == entry.path:
        return function.kept[1]
    with function.terms.within(), no_collection():
        return entry.read()


def _has_tensors(graph: Graph) -> bool:
    """Whether anything in it may compute tensors."""
    from ts.ir.types import TENSOR  # which kept code does not need

    kinds = graph.kinds()
    if not kinds.isdisjoint(("prim::CallFunction", "prim::CallMethod", "prim::fork")):
        return True
    return any(value.type().is_subtype_of(TENSOR) for node in graph.all_nodes() for value in node.outputs())


def prepare(function: ScriptFunction, form: Form = Form.OPTIMIZED) -> Any:
    """The code of a function."""
    if function.holds_breakpoint and os.environ.get("PYTHONBREAKPOINT") != "0":
        from ts.debugger.process import prepare_with_breakpoints

        return prepare_with_breakpoints(function)
    if form is Form.WRITTEN or (function.unit is None and function.digest is None):
        return prepare_graph(function.as_compiled(), function.name, function.terms, form)
    entry = kept_entry(function, form)
    if entry is None:
        return prepare_graph(function.as_compiled(), function.name, function.terms, form)
    if function.kept is not None and function.kept[0] == entry.path:
        return function.kept[1]
    with function.terms.within():
        code = entry.read()
    if code is None:
        code, program = prepare_program(function.as_compiled(), function.name, function.terms, form)
        entry.keep(program)
    return code


def kept_entry(function: ScriptFunction, form: Form = Form.OPTIMIZED) -> Entry | None:
    """Where the code of a function is kept, if it is."""
    from ts.runtime.code_cache import entry_of  # only archives and functions of Python need it

    return entry_of(function, partial(prepare_graph, terms=function.terms), form.value)


def lower_to_program(*args: Any) -> tuple[Any, Program]:
    """`ts.bytecode.lower`, which programs need that compile something."""
    from ts.bytecode import lower

    return lower.lower_to_program(*args)


def _place(graph: Graph) -> SourceRange | None:
    """The first place in the source that a graph comes from."""
    return next((node.range for node in graph.all_nodes() if node.range is not None), None)


def prepare_graph(graph: Graph, name: str, terms: Terms = ANY_TERMS, form: Form = Form.OPTIMIZED) -> Any:
    """The code of a graph, and later of those in its nodes, made within the limits of its terms."""
    return prepare_program(graph, name, terms, form)[0]


def prepare_program(
    graph: Graph, name: str, terms: Terms, form: Form = Form.OPTIMIZED
) -> tuple[Any, Program]:
    """The same with what the code is made from."""
    twin = methodcaller(form.value) if form.value else None

    of_parts = partial(prepare_graph, terms=terms, form=form)
    of_ways = partial(prepare_graph, terms=terms)

    def optimize_and_lower() -> tuple[Any, Program]:
        try:
            with Stage("compile: optimise", name):
                ready = formed(graph, form)
            with Stage("compile: lower", name):
                return lower_to_program(ready, name, of_parts, twin, of_ways)
        except LimitExceeded as error:
            error.stack = error.stack or [(name, _place(graph))]
            raise

    with terms.within(), my_turn(), no_collection():
        return with_deep_stack(optimize_and_lower)
