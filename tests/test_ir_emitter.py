"""The emitter: schema matching, names and refinements, without running anything."""

from collections import Counter

import pytest

import ts
from tests.jit_helpers import needs_interpreted_compiler

from ts.errors import FrontendError
from ts.frontend import compile, parse
from ts.frontend.schema_matching import match_schemas
from ts.frontend.scope import Scope
from ts.ir.value import is_program_name
from ts.ir.graph import Graph
from ts.ir.schema import parse_schema
from ts.ir.types import FLOAT, INT, TENSOR, ListType, OptionalType


def compiled(text):
    """Return the graph of the first function of a text."""
    return compile.compile_function(parse.module_defs(text)[0])


@pytest.fixture
def graph():
    return Graph()


def test_unprintable_names():
    """Underscores, underscores with numbers and temporaries are not value names."""
    assert [name for name in ("x", "_", "_3", "_x", "$t", "") if is_program_name(name)] == ["x", "_x"]


def test_load_takes_the_name(graph):
    """The value that a variable is loaded as gets the variable's name, and the previous value is renamed."""
    scope = Scope(graph, graph.block(), None)
    x = graph.add_input("x", INT)
    scope.set(None, "x", x)
    loaded = scope.find("x").simple
    assert (loaded.debug_name(), x.debug_name()) == ("x", "x.1")


def variable_accesses(monkeypatch, text):
    """Return how many `prim::Load` and `prim::Store` nodes the compilation of a text creates."""
    created = Counter()
    create = Graph.create

    def count(graph, kind, *args):
        created[kind] += 1
        return create(graph, kind, *args)

    monkeypatch.setattr(Graph, "create", count)
    compiled(text)
    return created["prim::Load"], created["prim::Store"]


@needs_interpreted_compiler
def test_no_accesses_of_known_variables(monkeypatch):
    """Statements without control flow create no nodes for accesses of variables."""
    lines = "".join(f"    x = x + {i} * y\n    z = (x, y)\n" for i in range(20))
    assert variable_accesses(monkeypatch, f"def f(x: int, y: int):\n{lines}    return z\n") == (0, 0)


@needs_interpreted_compiler
def test_accesses_at_branches(monkeypatch):
    """A variable is stored once before an `if`, and loaded in its branches without a node."""
    lines = "    x = x + 1\n" * 20
    branch = "    if y > 1:\n        z = x + y\n    else:\n        z = x - y\n"
    loads, stores = variable_accesses(monkeypatch, f"def f(x: int, y: int):\n{lines}{branch}    return x\n")
    assert loads == 2  # `z` at the end of both branches
    assert stores == 5  # x, y, `z` in both branches and after the `if`


@pytest.mark.parametrize(
    "text, arguments, result",
    [
        ("y = x\nfor i in range(n):\n    y = y + x\n    x = y", (1, 3), (8, 8)),
        ("y = 0\nwhile y < n and x > 0:\n    y = y + x\n    x = x - 1", (3, 4), (5, 1)),
        ("y = n\nif x > 0:\n    y = x\n    x = n\nelse:\n    x = y\ny = y + x", (1, 5), (6, 5)),
        ("y = x\nif x > 0:\n    if n > 0:\n        y = n\n    y = y + y\ny = y - x", (1, 5), (9, 1)),
        ("y = [x for x in range(n)][-1]\ny = y + x", (1, 4), (4, 1)),
        ("y = x\ndel x\nx = n\ny = y + x", (1, 4), (5, 4)),
        ("y = 0\nfor i in range(n):\n    y = y + x\n    if y > 4:\n        x = y\n        break", (2, 9), (6, 6)),
        ("y: Optional[int] = x\nif y is not None:\n    x = y + n\ny = x if n > 0 else n", (1, 2), (3, 3)),
    ],
)
def test_values_of_variables(text, arguments, result):
    """A load returns the value of the last executed assignment."""
    body = "".join(f"    {line}\n" for line in text.split("\n"))
    f = ts.jit.CompilationUnit(f"def f(x: int, n: int):\n{body}    return y, x\n").f
    assert f(*arguments) == result


def test_first_without_conversions(graph):
    """A later overload without conversions is preferred to an earlier one with conversions."""
    x = graph.add_input("x", TENSOR)
    schemas = [parse_schema("t::f.int(int a) -> int"), parse_schema("t::f.Tensor(Tensor a) -> Tensor")]
    index, matched = match_schemas(schemas, graph, None, [x])
    assert index == 1 and matched.inputs == [x]


def test_number_for_fixed_size_list(graph):
    """A single int is accepted for `int[2]`, also if optional."""
    n = graph.add_input("n", INT)
    for text in ("t::f(int[2] s) -> int", "t::f(int[2]? s) -> int"):
        _, matched = match_schemas([parse_schema(text)], graph, None, [n])
        assert matched.inputs[0].node().inputs() == [n, n]


def test_trailing_arguments_as_list(graph):
    """`f(a, b)` is `f([a, b])` if the last positional parameter is a list."""
    n = graph.add_input("n", INT)
    _, matched = match_schemas([parse_schema("t::f(int[] size, *, int? k=None) -> int")], graph, None, [n, n])
    assert matched.inputs[0].type() == ListType(INT)


def test_type_variables(graph):
    """A generic result has the element type of the argument."""
    xs = graph.add_input("xs", ListType(FLOAT))
    _, matched = match_schemas([parse_schema("t::f(t[] l) -> t")], graph, None, [xs])
    assert matched.returns == [FLOAT]


def test_candidates_are_listed(graph):
    """The error lists each candidate with the reason for its rejection."""
    n = graph.add_input("n", FLOAT)
    schemas = [parse_schema("t::f.int(int a) -> int"), parse_schema("t::f.str(str a) -> str")]
    with pytest.raises(FrontendError, match="following variants are available") as error:
        match_schemas(schemas, graph, None, [n])
    assert "Expected a value of type 'int' for argument 'a' but instead found type 'float'" in str(
        error.value
    )


def test_refinement_by_assert():
    """`assert x is not None` refines x."""
    result = compiled("def f(x: Optional[int]):\n    assert x is not None\n    return x\n")
    assert result.schema.returns[0].type is INT
    assert result.schema.arguments[0].type == OptionalType(INT)


def test_static_condition_prunes():
    """A branch that is never taken need not compile."""
    result = compiled("def f(x: int):\n    if x is None:\n        return undefined\n    return x\n")
    assert result.graph.find_node("prim::If") is None


def test_not_on_all_paths():
    """A function with a declared return type must return on all paths."""
    with pytest.raises(FrontendError, match="does not return along all paths"):
        compiled("def f(x: int) -> int:\n    if x > 1:\n        return x\n")


def test_break_of_an_inner_function():
    """`break` outside of a loop is reported before the unsupported inner function."""
    source = "def f(n: int):\n  for i in range(n):\n    def g():\n      if n > 1:\n        break\n"
    with pytest.raises(ts.jit.FrontendError, match="SyntaxError: 'break' outside loop"):
        ts.jit.CompilationUnit(source)
