"""Round-trip checks of graph text and source text.

Input: a function to run. Output: the functions that it compiles (`compiled_by`), to be checked:

    for function in compiled_by(run):
        check(function)
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from ts.frontend.serialized_resolver import SerializedResolver, printed_defs
from ts.ir.graph import Graph
from ts.ir.graph_printer import to_text
from ts.ir.python_print import to_source
from ts.ir.graph_parser import parse_ir
from ts.ir.types import ClassType, EnumType, Type
from ts.passes.erase_shapes import erase_shape_information
from ts.runtime.function import ScriptFunction

# Functions of the programs whose printed source compiles to another graph, also in PyTorch.
OTHER_GRAPH = {
    "assertion.main": "what follows a `raise` returns a value that nobody reads, not the one that was printed",
    "return_in_swapping_loop.rotated": "a loop has its variables in the order of their names; these had none",
    "union_branches.known": "the type of `isinstance`'s argument is known, and the branch that is never taken is left out",
    "union_branches.appended": "the same",
    "union_branches.looped": "the same",
    "union_branches.which": "an optional of a union is read back as a union with None",
    "guide_ignored_method.M.forward": "a function of Python without annotations returns None where its result is "
    "not assigned, and printed source assigns it to `_0`",
}
# Operators whose source is rejected, also by PyTorch.
REJECTED = {
    "tuple_index.main": "the index is known to be wrong once constants have been propagated",
    "autograd_function.f": "source text names a Python function, whose results have no types there",
}

_CONSTANT = re.compile(r"^ *%([\w.]+) : (.* = prim::(?:Constant|Uninitialized).*)\n", re.MULTILINE)


@contextmanager
def record_compiled() -> Iterator[dict[ScriptFunction, str]]:
    """Record the functions compiled in the context, including callees, with the text of their graphs."""
    compiled: dict[ScriptFunction, str] = {}
    finish = ScriptFunction.finish

    def noted(function: ScriptFunction, graph: Graph, schema: Any) -> None:
        finish(function, graph, schema)
        compiled[function] = str(graph)

    ScriptFunction.finish = noted  # type: ignore[method-assign]
    try:
        yield compiled
    finally:
        ScriptFunction.finish = finish  # type: ignore[method-assign]


def compiled_by(run: Callable[[], object], may_fail: bool = False) -> list[ScriptFunction]:
    """Run a function and return the functions compiled during the run; derivative formulas are compiled at
    their first use."""
    with record_compiled() as compiled, suppress(*[Exception] * may_fail):
        run()
    return [f for f in compiled if not f.qualified_name.startswith("__torch__.torch.ops.derivatives.")]


def check(function: ScriptFunction) -> None:
    """Check that the graph text and the source text of a function can be parsed back."""
    check_graph_text(function)
    name = re.sub(r"___torch_mangle_\d+\.", "", function.qualified_name).removeprefix("__torch__.programs.")
    if name not in REJECTED:
        check_source_text(function, same_graph=name not in OTHER_GRAPH)


# ---- graph text ------------------------------------------------------------------------------------------


def check_graph_text(function: ScriptFunction) -> None:
    """Check that `parse_ir` returns a graph with equal text and types."""
    definitions = named_definitions(function.graph)
    text = str(function.graph)
    again = parse_ir(text, find_class=lambda name: definitions.get(name) or ClassType(name))
    assert str(again) == text
    for read, value in zip(_values(again), _values(function.graph), strict=True):
        if isinstance(value.type(), ClassType | EnumType):
            assert read.type() == value.type()


def _values(graph: Graph) -> list[Any]:
    return [*graph.inputs(), *(value for node in graph.all_nodes() for value in node.outputs())]


# ---- source text -----------------------------------------------------------------------------------------


def check_source_text(function: ScriptFunction, same_graph: bool = True) -> None:
    """Check that compiling a function's source returns its graph and the same source."""
    cls = class_of(function)
    constants: list[Any] = []
    source = to_source(function.graph, function.name, function.schema, constants, method=cls is not None)
    names = SerializedResolver(constants, named_definitions(function.graph).get)
    again = ScriptFunction(function.name, "", printed_defs(source, names, cls)[function.name])
    if not same_graph:
        return
    if described(again.graph) != described(function.graph):
        assert described(again.graph, fold_lists=True) == described(function.graph, fold_lists=True), source
    else:
        assert to_source(again.graph, function.name, again.schema, [], method=cls is not None) == source


def class_of(function: ScriptFunction) -> ClassType | None:
    """Return the class that a method belongs to."""
    inputs = function.graph.inputs()
    type = inputs[0].type() if inputs else None
    return type if isinstance(type, ClassType) and function in type.methods.values() else None


def named_definitions(graph: Graph) -> dict[str, Any]:
    """Return the functions, classes, enums and named tuples of a graph, by their names in its texts."""
    definitions: dict[str, Any] = {}

    def note(type: Type) -> None:
        if type.annotation_str not in definitions and type.annotation_str.startswith("__torch__."):
            definitions[type.annotation_str] = getattr(type, "function", type)
        for part in type.contained_types():
            note(part)

    for value in _values(graph):
        note(value.type())
    for node in graph.all_nodes():
        if node.kind() == "prim::PythonOp":
            definitions[f"^{node['name']}"] = node["function"]
        for type in node.get("types", ()):
            note(type)
        if node.has_attribute("Subgraph"):
            definitions |= named_definitions(node["Subgraph"])
    return definitions


def described(graph: Graph, fold_lists: bool = False) -> str:
    """Return the text of a graph with inlined constants and values numbered in order of appearance."""
    graph = graph.copy()
    erase_shape_information(graph)  # source text contains no shapes recorded by a trace
    _move_constants_into_tasks(graph)
    if fold_lists:
        _fold_lists(graph)
    # Source text contains neither warning ids nor module scopes of traces.
    text = re.sub(r"\[warn_id=\d+\]|, scope: \S+", "", to_text(graph, show_ranges=False))
    # Source text does not contain the field names of an operator's named results, also in PyTorch.
    text = re.sub(r"NamedTuple(\([^()]*\))", lambda match: re.sub(r"\w+ : ", "", match[1]), text)
    graphs = text.split("\nwith ")
    return "\nwith ".join(_described(text) for text in graphs)


def _move_constants_into_tasks(graph: Graph) -> None:
    """Move constants into the tasks that use them, because source text does not distinguish constants from
    task inputs."""
    for node in graph.find_all_nodes("prim::fork"):
        task = node["Subgraph"]
        for i, value in reversed(list(enumerate(node.inputs()))):
            if value.node().kind() == "prim::Constant":
                with task.inserting_before(next(iter(task.nodes()))):
                    copied = task.insert_node(task.create_clone(value.node(), lambda used: used)).output()
                task.inputs()[i].replace_all_uses_with(copied)
                task.erase_input(i)
                node.remove_input(i)
        _move_constants_into_tasks(task)


def _fold_lists(graph: Graph) -> None:
    """Fold lists of constants to constant lists, since an omitted argument is a constant list and an equal
    written one is not."""
    for node in graph.find_all_nodes("prim::ListConstruct"):
        if node.inputs() and all(value.node().kind() == "prim::Constant" for value in node.inputs()):
            with graph.inserting_before(node):
                folded = graph.insert_constant([value.to_ivalue() for value in node.inputs()])
            node.output().replace_all_uses_with(folded)
            node.destroy()


def _described(text: str) -> str:
    constants: dict[str, str] = {}
    numbers: dict[str, int] = {}

    def note(line: re.Match[str]) -> str:
        constants[line[1]] = f"<{line[2]}>"
        return ""

    def name(value: re.Match[str]) -> str:
        return constants.get(value[1]) or f"%{numbers.setdefault(value[1], len(numbers))}"

    return re.sub(r"%([\w.]+)", name, _CONSTANT.sub(note, text))
