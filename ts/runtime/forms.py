"""Graphs in the forms in which they run, and their code.

In: a function's graph.  Out: a copy that is optimised, or as it is written; the `Code` of one.

    graph -> a copy -> passes.pipelines.OPTIMIZE -> bytecode.lower -> Code

`executor` says which form runs when; `specialized` has the code for arguments of one kind.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from functools import partial
from operator import methodcaller
from typing import TYPE_CHECKING, Any, TypeVar

from ts._core.dispatch.recorder import Stage
from ts._core.dispatch.writer import Unwritten
from ts._core.thread.context import Compiling
from ts._core.value.turns import my_turn
from ts.errors import LimitExceeded
from ts.frontend.terms import ANY_TERMS, Terms
from ts.runtime.deep import with_deep_stack
from ts.runtime.garbage import no_collection

if TYPE_CHECKING:
    from ts.bytecode.program import Program
    from ts.ir.graph import Graph
    from ts.ir.source import SourceRange
    from ts.runtime.code_cache import Entry
    from ts.runtime.function import ScriptFunction

Made = tuple[Any, "Program | None"]  # a Code, and what it is made from, where other processes can have it
AnyMade = TypeVar("AnyMade", bound=Made)


class Form(Enum):
    """What a function's graph becomes before it runs."""

    WRITTEN = "without_optimisation"  # what a function has as its twin
    OPTIMIZED = ""
    DIFFERENTIATED = "with_gradients"


def optimized(graph: Graph) -> Graph:
    """An optimised copy."""
    return formed(graph, Form.OPTIMIZED)


def formed(graph: Graph, form: Form) -> Graph:
    """A copy as it runs, whatever its arguments are: as it is written where it has blocks of autocast."""
    graph = unoptimized(graph)
    if not enter_autocast(graph) and form is not Form.WRITTEN:
        begin_forming(graph)
        finish_forming(graph, form)
    return graph


def has_autocast(graph: Graph) -> bool:
    """Whether a graph has blocks of autocast."""
    if "prim::Enter" not in graph.kinds():
        return False
    from ts.analysis.autocast import autocast_blocks  # which few programs need

    return bool(autocast_blocks(graph))


def enter_autocast(graph: Graph) -> bool:
    """Let the blocks of autocast of a graph that is to run switch; whether it has any."""
    if not has_autocast(graph):
        return False
    from ts.runtime.autocast import enter_blocks

    enter_blocks(graph)
    return True


def begin_forming(graph: Graph) -> None:
    """What is done for all kinds of arguments together, before a graph is specialised to one."""
    from ts.passes.pipelines import BEFORE_SPECIALIZING, run_pipeline

    run_pipeline(graph, BEFORE_SPECIALIZING)


def finish_forming(graph: Graph, form: Form) -> None:
    """The rest."""
    from ts.passes.pipelines import BEFORE_SPECIALIZING, DIFFERENTIATE, OPTIMIZE, run_pipeline

    passes = DIFFERENTIATE if form is Form.DIFFERENTIATED else OPTIMIZE
    run_pipeline(graph, passes[len(BEFORE_SPECIALIZING) :])


def unoptimized(graph: Graph) -> Graph:
    """A copy that does what the program does."""
    from ts.passes.failing_code import faithful

    return faithful(graph).copy()


def kept_or_made(function: ScriptFunction, entry: Entry | None, make: Callable[[], Made]) -> Any:
    """A code of a function that another process has left, or else one that is made, and kept for the next."""
    if entry is None:
        return make()[0]
    if function.kept is not None and function.kept[0] == entry.path:
        return function.kept[1]
    with function.terms.within():
        code = entry.read()
    if code is None:
        code, program = make()
        if program is not None:
            entry.keep(program)
    return code


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
    if has_autocast(graph):
        form = Form.WRITTEN

    def run() -> tuple[Any, Program]:
        with Stage("compile: optimise", name):
            ready = formed(graph, form)
        return lowered(ready, name, terms, form)

    return within_terms(run, graph, name, terms)


def lowered(graph: Graph, name: str, terms: Terms, form: Form) -> tuple[Any, Program]:
    """The code of a graph that is as it runs."""
    twin = methodcaller(form.value) if form.value else None
    of_parts = partial(prepare_graph, terms=terms, form=form)
    of_ways = partial(prepare_graph, terms=terms)
    with Stage("compile: lower", name):
        return lower_to_program(graph, name, of_parts, twin, of_ways)


def within_terms(run: Callable[[], AnyMade], graph: Graph, name: str, terms: Terms) -> AnyMade:
    """Compile something within the limits of its terms, one thread at a time."""

    def located() -> AnyMade:
        try:
            return run()
        except LimitExceeded as error:
            error.stack = error.stack or [(name, _place(graph))]
            raise

    with terms.within(), my_turn(), no_collection(), Compiling(), Unwritten():
        return with_deep_stack(located)
