"""Graph text and source text are formats: what they show reads back, for every function of the programs."""

import re

import pytest

import ts
from tests.program_files import all_programs, read
from ts.frontend import parse
from ts.frontend.printed import PrintedNames
from ts.ir.print import to_text
from ts.ir.python_print import to_source
from ts.ir.read import parse_ir
from ts.runtime.function import ScriptFunction, declare_functions

PROGRAMS = [path for path in all_programs() if not read(path).compile_error and not read(path).scripts_itself]
# A module that is called `elif`, an index that is wrong for sure, a union that branches make beside another variable.
NO_SOURCE = {"elif.py", "tuple_index.py", "union_members.py"}
# What follows a `raise` at the end returns a value that nobody reads: not the one that was written. And the
# order of a loop's variables that nobody reads after it is that of their names.
OTHER_TEXT = {"assertion.py", "return_in_swapping_loop.py"}


def functions(path):
    """The scripted `main` of a program, and the functions that it calls."""
    found, pending = [], [ts.jit.script(read(path).load())]
    while pending:
        function = pending.pop()
        if function not in found:
            found.append(function)
            called = [
                getattr(node.output().type(), "function", None)
                for node in function.graph.find_all_nodes("prim::Constant")
            ]
            pending += [callee for callee in called if isinstance(callee, ScriptFunction)]
    return found


def described(graph):
    """The text of a graph with its constants in place, and other values numbered in order of appearance."""
    text = to_text(graph, show_ranges=False)
    constants = {}

    def note(line):
        constants[line[1]] = f"<{line[2]}>"
        return ""

    text = re.sub(
        r"^ *%([\w.]+) : (.* = prim::(?:Constant|Uninitialized).*)\n", note, text, flags=re.MULTILINE
    )
    numbers = {}
    return re.sub(
        r"%([\w.]+)",
        lambda name: constants.get(name[1]) or f"%{numbers.setdefault(name[1], len(numbers))}",
        text,
    )


def named_things(graph):
    """The functions, classes and named tuples of a graph by the names that source text has for them."""
    things = {}
    values = [*graph.inputs(), *(value for node in graph.all_nodes() for value in node.outputs())]
    for value in values:
        for type in (value.type(), *value.type().contained_types()):
            if type.annotation_str.startswith("__torch__."):
                things[type.annotation_str] = getattr(type, "function", type)
    return things


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_graph_text(path):
    """`parse_ir` gives a graph of the same text."""
    for function in functions(path):
        text = str(function.graph)
        assert str(parse_ir(text)) == text


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_source_text(path):
    """Compiling the source that a function shows gives its graph again, and that shows the same source."""
    if path.name in NO_SOURCE or path.parent.name in ("async", "python"):  # no syntax yet for tasks, calls of Python
        pytest.skip("calls what has no source text")
    for function in functions(path):
        constants = []
        source = to_source(function.graph, function.name, function.schema, constants)
        names = PrintedNames(constants, named_things(function.graph).get)
        again = declare_functions(parse.module_defs(source, names))[function.name]
        if path.name not in OTHER_TEXT:
            assert described(again.graph) == described(function.graph), source
            assert to_source(again.graph, function.name, again.schema, []) == source
