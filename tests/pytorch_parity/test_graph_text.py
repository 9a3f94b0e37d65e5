"""Graph text, source text and quoted source equal PyTorch's, on graphs that PyTorch created."""

import enum
import math
from typing import Dict, List, Optional, Tuple

import pytest

torch = pytest.importorskip("torch")

import ts  # noqa: E402
from ts.ir import Source, parse_ir, parse_schema, verify  # noqa: E402
from ts.ir.node import OperatorLookup  # noqa: E402
from ts.ir.python_print import to_source  # noqa: E402


class Color(enum.Enum):
    RED = 1
    BLUE = 2


def control(x, y: int, z: Optional[int] = None, w: float = 2.5):
    if z is not None:
        y = y + z
    a, b = x.max(dim=0)
    c = [a, b]
    for i in range(y):
        x = x + i
    d = {"a": 1}
    d["b"] = y
    p, q = (x, y)
    return p.sum() * 2 + c[0], d, q // 3, x[0, 1:3], w**2, -y, not (y > 3), ~x, x % 3, y if y > 2 else 7


def exits(n: int):
    while True:
        n -= 1
        if n < 3:
            if n == 2:
                return "a"
            continue
        if n == 10:
            raise ValueError("x")
    return "b"


def lists(x: List[int], s: str) -> int:
    r = 0
    for v in x:
        if v < 0:
            break
        r += v
    for c in s:
        r += ord(c)
    x.append(r)
    x[0] = 3
    assert r > 0
    return len(x) + int(math.floor(2.5)) + min(r, 2)  # noqa: RUF046 -- the cast is part of the program


def optionals(x: Optional[int], n: int):
    if n > 2:
        y = x
    else:
        y = None
    while n > 0:
        n -= 1
        if n == 4:
            y = n
    return y


def strings(x: List[float], s: str):
    t = 0.0
    for i, v in enumerate(x):
        t += v * i
    for a, b in zip(x, x):
        t += a * b
    w = s.split(",")
    d: Dict[str, int] = {}
    for c in w:
        if c in d:
            d[c] += 1
        else:
            d[c] = 1
    for k, v2 in d.items():
        t += v2
    last = (s.upper().lower().strip().replace("a", "b").startswith("c") and t > 2.0) or len(w) == 3
    return t, last, w[1:-1], s[0], s[1:], (x, s)[1], 1e-5, 1e100, float("inf"), 3j, "a\n\"b'\t"


def nested(x, y: Tuple[int, Tuple[float, str]]) -> None:
    a, (b, c) = y
    print(a, b, c, x + a)


def cell(x, h, c, w_ih, w_hh, b_ih, b_hh):
    gates = torch.mm(x, w_ih.t()) + torch.mm(h, w_hh.t()) + b_ih + b_hh
    i, f, g, o = gates.chunk(4, 1)
    c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
    return torch.sigmoid(o) * torch.tanh(c), c


def inlining(x, y):
    return torch.neg(x), torch.relu(torch.sigmoid(torch.tanh(torch.neg(torch.exp(x + 12345))))) + y


def enums(x, c: Color):
    if c == Color.RED:
        print("red", x)
    return Color.BLUE, c.name


PROGRAMS = [control, exits, lists, optionals, strings, nested, cell, inlining, enums]


class PyTorchOperator:
    """Stand-in for an operator record with the schema, which is all that printing needs."""

    def __init__(self, schema):
        self.schema = schema


def schemas_of(graph):
    """Return the schemas that PyTorch finds for the nodes, in order."""
    found = []

    def walk(block):
        for node in block.nodes():
            text = node.schema()
            found.append(None if "(no schema)" in text else PyTorchOperator(parse_schema(text)))
            for inner in node.blocks():
                walk(inner)

    walk(graph)
    return found


@pytest.mark.parametrize("program", PROGRAMS, ids=[p.__name__ for p in PROGRAMS])
def test_graph_and_source(program, monkeypatch):
    """A graph is parsed back to the same text, is valid, and prints the same source."""
    scripted = torch.jit.script(program)
    graph = parse_ir(str(scripted.graph))
    assert str(graph) == str(scripted.graph)
    verify(graph)
    operators = dict(zip(graph.all_nodes(), schemas_of(scripted.graph), strict=True))
    monkeypatch.setattr(OperatorLookup, "find", operators.get)
    graph.has_textual_names = False  # print it as a program's graph, whose variables have names
    assert to_source(graph, program.__name__, parse_schema(str(scripted.schema))) == scripted.code
    torch._C._jit_pass_inline(scripted.graph)
    torch._C._jit_pass_constant_propagation(scripted.graph)
    assert str(parse_ir(str(scripted.graph))) == str(scripted.graph)


def test_copy_names_and_numbers():
    """A copied graph has PyTorch's value numbers."""
    for program in PROGRAMS:
        theirs = torch.jit.script(program).graph
        assert str(parse_ir(str(theirs)).copy()) == str(theirs.copy())


def test_fork_prints_a_subgraph():
    """Subgraphs are printed after the graph, under the name of their node."""

    def body(x):
        return torch.jit.wait(torch.jit.fork(cell_like, x))

    text = str(torch.jit.script(body).inlined_graph)
    assert "with prim::fork" in text
    assert str(parse_ir(text)) == text


def cell_like(x):
    return x + 1


def test_trace_with_tensors():
    """Tensor constants and refined types are parsed from graph text."""
    traced = torch.jit.trace(lambda x: x + torch.arange(3.0) * torch.tensor([[1, 2, 3]]), torch.zeros(3))
    assert str(parse_ir(str(traced.graph))) == str(traced.graph)


@pytest.mark.parametrize(("start", "end"), [(15, 16), (15, 40), (4, 30), (52, 58), (26, 34), (60, 99)])
def test_highlight(start, end):
    """Quoted source of one line and of several lines equals PyTorch's."""
    text = "def f(x):\n    y = x + 1\n    z = y(\n      3 * 4)\n\n    a = 1\n    return g(x,\n       y)\n"
    factory = torch._C._jit_tree_views.SourceRangeFactory(text, "a.py", 7, 0)

    def place(offset):
        return text.count("\n", 0, offset) + 1, offset - (text.rfind("\n", 0, offset) + 1)

    line, column = place(start)
    begin = sum(len(part) + 1 for part in text.split("\n")[: line - 1])
    length = min(end, text.find("\n", start)) - start if "\n" in text[start:end] else end - start
    theirs = factory.make_range(line, column, column + length)
    ours = Source(text, "a.py", 7).range_at(line, column, line, column + length)
    assert begin + column == start
    assert ours.highlight() == theirs.highlight()


NAMED_TEXT = """graph(%x.1 : Tensor, %7 : int, %3 : Tensor):
  %20 : int = prim::Constant[value=1]()
  %y : Tensor = aten::add(%x.1, %3, %20) # a.py:1:2
  %5 : bool = prim::Constant[value=1]()
  %z.2 : Tensor = prim::If(%5)
    block0():
      %q.1 : Tensor = aten::relu(%y)
      -> (%q.1)
    block1():
      %99 : Tensor = aten::neg(%y)
      -> (%99)
  %1 : Tensor, %w.1 : Tensor = prim::unknown[a=1](%z.2)
  %o = prim::Loop(%7, %5, %z.2)
    block0(%i : int, %100 : Tensor):
      %2 : Tensor = aten::mul(%100, %100)
      -> (%5, %2)
  return (%o, %1)"""


def test_parsed_graphs_have_pytorchs_names():
    """`torch._C.parse_ir` numbers the results of nodes; parameters of graphs and blocks keep their names."""
    ours, theirs = ts._C.parse_ir(NAMED_TEXT), torch._C.parse_ir(NAMED_TEXT)
    assert str(ours) == str(theirs) == str(ts._C.parse_ir(str(theirs)))
    names = [[value.debugName() for node in graph.nodes() for value in node.outputs()] for graph in (ours, theirs)]
    assert names[0] == names[1]


def negative_literals(x, n: int = -1, m: float = -2.5):
    items = [-1, 2, -3]
    for i in range(5, -5, -1):
        n = n + i - -2
    q = x[-1] + x[:, -1].transpose(-1, 0)
    if n > -1:
        q = q * -0.5
    elif n == -4:
        q = -q
    return q - -1, items, (-1, -m), {"a": -1}, n**-1, [-i for i in items]


@pytest.mark.parametrize("library_code", [True, False], ids=["function", "string"])
def test_negative_literals_take_pytorchs_numbers(library_code):
    """The numbers of values after a negative literal are those of PyTorch."""
    source = "def f(x, n: int = -1):\n    while n > -5:\n        n += -1\n    return x.sum(-1) - -2.5 + [-1, n][0], -n\n"
    graphs = [
        str(library.jit.script(negative_literals).graph if library_code else library.jit.CompilationUnit(source).f.graph)
        for library in (ts, torch)
    ]
    assert graphs[0] == graphs[1]
