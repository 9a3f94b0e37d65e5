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
from functools import partial
from typing import TYPE_CHECKING, Any

from ts._core.dispatch.recorder import Stage
from ts._core.thread.context import is_grad_enabled
from ts._core.value.values import register_script_text
from ts._core.vm.function import Function, is_optimizing, last_executed, set_optimizing, wants_gradients
from ts.bytecode.native import worker
from ts.runtime.forms import (
    Form,
    Made,
    begin_forming,
    finish_forming,
    formed,
    has_autocast,
    kept_or_made,
    lowered,
    prepare_graph,
    unoptimized,
    within_terms,
)
from ts.runtime.frames import with_room
from ts.runtime.garbage import no_collection

if TYPE_CHECKING:
    from ts.bytecode.program import Program
    from ts.ir.graph import Graph
    from ts.runtime.code_cache import Entry
    from ts.runtime.function import ScriptFunction


def _script_text(value: object) -> str:
    from ts.runtime.text import script_text  # few programs print tensors

    return script_text(value)


register_script_text(_script_text)
worker.attend()

Strategy = list[tuple[str, int]]
_strategy: Strategy = [("STATIC", 2), ("DYNAMIC", 10)]  # PyTorch's


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
    wanted = is_grad_enabled() and wants_gradients(tuple(inputs))
    form = Form.DIFFERENTIATED if wanted else Form.OPTIMIZED
    graph = runs_for(function, form if is_optimizing() else Form.WRITTEN, inputs)
    return propagate_shapes(graph, inputs, with_grad=wanted)


def runs(function: ScriptFunction) -> Graph:
    """The graph that runs whatever the arguments are: a copy, optimised unless the thread wants none."""
    return formed(function.as_compiled(), Form.OPTIMIZED if is_optimizing() else Form.WRITTEN)


def runs_for(function: ScriptFunction, form: Form, inputs: Sequence[Any]) -> Graph:
    """The graph that runs for these arguments: a copy, specialised to their kind where that is done."""
    if form is Form.WRITTEN or function.holds_breakpoint or has_autocast(function.as_compiled()):
        return formed(function.as_compiled(), form)
    from ts.passes.specialize_to_arguments import asked_arguments

    graph = unoptimized(function.as_compiled())
    begin_forming(graph)
    asked = asked_arguments(graph)
    if asked:
        from ts.runtime.specialized import Kind

        Kind.of((i, inputs[i]) for i in asked).decide_in(graph)
    finish_forming(graph, form)
    return graph


def last_executed_optimized_graph() -> Graph | None:
    """The graph of the function that Python has called last, as it ran; None if there is none."""
    function: Any = last_executed()
    if function is None:
        return None
    form = function.form if isinstance(function, Twin) else Form.OPTIMIZED
    original = function.original if isinstance(function, Twin) else function
    plans = function.plans if form is not Form.WRITTEN else None
    if plans is not None:
        from ts.runtime.specialized import specializer_of

        return specializer_of(plans).graph_of_last(plans)
    graph = getattr(original, "graph", None)
    return None if graph is None else formed(graph, form)


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
    """The code of a function: that of its plans where its arguments' kinds decide something in it."""
    if function.holds_breakpoint and os.environ.get("PYTHONBREAKPOINT") != "0":
        from ts.debugger.process import prepare_with_breakpoints

        return prepare_with_breakpoints(function)
    if form is Form.WRITTEN:
        return prepare_graph(function.as_compiled(), function.name, function.terms, form)
    entry = None if function.unit is None and function.digest is None else kept_entry(function, form)
    return kept_or_made(function, entry, lambda: _prepared(function, form))


def kept_entry(function: ScriptFunction, form: Form = Form.OPTIMIZED) -> Entry | None:
    """Where the code of a function is kept, if it is."""
    from ts.runtime.code_cache import entry_of  # only archives and functions of Python need it

    def plans(*described: Any) -> Any:
        from ts.runtime.specialized import Specializer

        return Specializer(function, form).plans(*described)

    return entry_of(function, partial(prepare_graph, terms=function.terms), form.value, plans)


def _prepared(function: ScriptFunction, form: Form) -> Made:
    """The code of a function and what it is made from: it may be the entrance to plans."""
    graph, name = function.as_compiled(), function.name
    if has_autocast(graph):  # whose class no other process has
        return prepare_graph(graph, name, function.terms, form), None

    def run() -> Made:
        with Stage("compile: optimise", name):
            ready = unoptimized(graph)
            begin_forming(ready)
            entrance = _entrance(function, form, ready)
            if entrance is not None:
                return entrance.code(), entrance
            finish_forming(ready, form)
        return lowered(ready, name, function.terms, form)

    return within_terms(run, graph, name, function.terms)


def _entrance(function: ScriptFunction, form: Form, graph: Graph) -> Program | None:
    """What enters the plans of a function whose graph asks what its arguments are; None where it does not."""
    from ts.passes.peephole_types import may_ask

    if not may_ask(graph):
        return None
    from ts.passes.specialize_to_arguments import asked_arguments

    asked = asked_arguments(graph)
    if not asked:
        return None
    from ts.runtime.specialized import Specializer  # which few functions need

    return Specializer(function, form, graph).entrance(asked)
