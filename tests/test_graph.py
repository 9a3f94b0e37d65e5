"""Graphs: mutation updates uses, names follow PyTorch, graph text can be parsed, invalid graphs are found."""

import importlib.util

import pytest

import ts
from ts.errors import InternalError, ParseError
from ts.ir import Graph, Source, parse_ir, verify
from ts.ir.python_print import to_source
from ts.ir.lexer import quote, unquote
from ts.ir.types import BOOL, FLOAT, INT, ListType
from ts.ops import node_schema  # noqa: F401  (lets nodes find their schemas)

LOOP = """\
graph(%x.1 : Tensor,
      %n.1 : int):
  %2 : bool = prim::Constant[value=1]() # a.py:2:4
  %3 : int = prim::Constant[value=1]()
  %x : Tensor = prim::Loop(%n.1, %2, %x.1) # a.py:2:4
    block0(%i : int, %x.7 : Tensor):
      %x.3 : Tensor = aten::add(%x.7, %i, %3) # a.py:3:8
      -> (%2, %x.3)
   = prim::Print(%x)
  return (%x)
"""


def test_text_reads_back():
    """The text of a graph, and of its copy, can be parsed and printed without changes."""
    graph = parse_ir(LOOP)
    verify(graph)
    assert str(graph) == LOOP
    assert str(graph.copy()).count("\n") == LOOP.count("\n")


def test_nodes_with_blocks():
    """A block lists nodes with blocks in order, after insertion, moves, copies and removal."""
    graph = Graph()
    condition = graph.add_input("c", BOOL)
    first, second, third = (graph.insert_node(graph.create_if(condition)) for _ in range(3))
    graph.insert_constant(1)
    third.move_before(first)
    assert graph.block().nodes_with_blocks() == [third, first, second]
    inner = graph.create_if(condition)
    first.blocks()[1].append_node(inner)
    assert first.blocks()[1].nodes_with_blocks() == [inner]
    inner.move_after(second)
    assert graph.block().nodes_with_blocks() == [third, first, second, inner]
    assert len(graph.copy().block().nodes_with_blocks()) == 4
    verify(graph.copy())
    first.destroy()
    second.erase_block(1)
    second.erase_block(0)
    assert graph.block().nodes_with_blocks() == [third, inner]


@pytest.mark.parametrize(
    "constant",
    [
        'str = prim::Constant[value="a\\n\\"q\\""]',
        "float = prim::Constant[value=-inf]",
        "complex = prim::Constant[value=1.-2.j]",
        "int[] = prim::Constant[value=annotate(List[int], [])]",
        "Dict(str, int) = prim::Constant[value=annotate(Dict[str, int],{})]",
        '(int, (float, str)) = prim::Constant[value=(1, (2.5, "a"))]',
        "(int) = prim::Constant[value=(1,)]",
        "Tensor = prim::Constant[value={1}]",
        "Tensor = prim::Constant[value=<Tensor>]",
        "Long(3) = prim::Constant[value= 1  2  3 [ CPULongType{3} ]]",
        "Enum<__torch__.Color> = prim::Constant[value=__torch__.Color.RED]",
        'Function = prim::Constant[name="g"]',
        "NoneType = prim::Constant",
    ],
)
def test_constants_read_back(constant):
    """Constants of every type can be printed and parsed without changes."""
    text = f"graph():\n  %0 : {constant}()\n  return (%0)\n"
    assert str(parse_ir(text)) == text


@pytest.mark.parametrize(
    ("elements", "text"),
    [
        ([float("nan"), 1.0, float("inf")], "nan  1 inf [ CPUFloatType{3} ]"),
        ([0.05, 0.025], "0.01 *  5.0000  2.5000 [ CPUFloatType{2} ]"),
        ([1e-10, 1.0], " 1.0000e-10  1.0000e+00 [ CPUFloatType{2} ]"),
        ([[[1], [2]], [[3], [4]]], "(1,.,.) =   1   2  (2,.,.) =   3   4 [ CPULongType{2,2,1} ]"),
        ([], "[ CPUFloatType{0} ]"),
        ([[1 + 2j]], "{(1,2)}"),
        (float("inf"), "{inf}"),
        ([0.0] * 11, "<Tensor>"),
    ],
)
def test_tensors_in_attributes(elements, text):
    graph = Graph()
    graph.insert_constant(ts.tensor(elements))
    assert str(graph).partition("value=")[2] == f"{text}]()\n  return ()\n"


HALVES = ["\ud800", "a\udfffb", "\udc80", "\udcc3\udca9", "\ud83d\ude00", "é\ud800😀", "\\ud800", "\\\ud800\n", "\udc80\ud800"]


@pytest.mark.parametrize("text", HALVES, ids=ascii)
def test_halves_of_surrogate_pairs_read_back(text):
    """Unpaired surrogates have an ASCII literal that can be parsed back; an unescaped surrogate is accepted
    too."""
    literal = quote(text)
    assert literal.isascii() and unquote(literal) == text
    graph = parse_ir(f"graph():\n  %0 : str = prim::Constant[value={literal}]()\n  return (%0)\n")
    assert str(parse_ir(str(graph))) == str(graph) and next(iter(graph.nodes())).s("value") == text


def test_literals_of_bytes_are_pytorchs():
    assert quote("\udc80é") == r'"\200\303\251"' and unquote(r'"\u0041"') == "u0041" and unquote('"\ud800"') == "\ud800"


def test_names():
    """A name denotes the newest value; a previous value with this name gets a suffix."""
    graph = Graph()
    a, b, c = (graph.add_input() for _ in range(3))
    for value in (a, b, c):
        value.set_debug_name("x")
    assert [v.debug_name() for v in (a, b, c)] == ["x.1", "x.3", "x"]
    with pytest.raises(RuntimeError, match="Invalid name: '3': names that are numbers"):
        a.set_debug_name("3")


def test_kinds():
    """`kinds()` contains the node kinds of a graph, also in blocks and copies, and may contain removed ones."""
    graph = parse_ir(LOOP)
    kinds = {"prim::Constant", "prim::Loop", "aten::add", "prim::Print"}
    assert graph.kinds() == graph.copy().kinds() == kinds
    assert [node.kind() for node in graph.find_all_nodes("aten::add")] == ["aten::add"]
    assert graph.find_all_nodes("aten::mul") == [] and graph.find_node("aten::mul") is None
    graph.find_node("prim::Print").destroy()
    assert graph.kinds() == kinds and graph.find_node("prim::Print") is None


@pytest.mark.parametrize("suffix", ["²", "٣", "9" * 5000])
def test_non_decimal_suffixes(suffix):
    """A suffix of non-decimal digits is part of the name."""
    graph = Graph()
    a, b = graph.add_input(), graph.add_input()
    for value in (a, b):
        value.set_debug_name(f"x.{suffix}")
    assert [v.debug_name() for v in (a, b)] == [f"x.{suffix}.1", f"x.{suffix}"]
    assert str(parse_ir(str(graph))) == str(graph)
    text = f"graph(%{suffix} : int):\n  return (%{suffix})\n"
    assert str(parse_ir(text)) == text


@pytest.mark.parametrize("value", [Graph(), object(), int, b"a", [1, "a"], {1: object()}], ids=lambda v: type(v).__name__)
def test_other_values_are_no_constants(value):
    with pytest.raises(TypeError, match=rf"insertConstant\(\): a {type(value).__name__} cannot be a constant of a graph"):
        Graph().insertConstant(value)


def test_uses_follow_mutation():
    """Inserting, replacing and removing inputs updates the uses."""
    graph = Graph()
    x, y = graph.add_input("x"), graph.add_input("y")
    node = graph.insert_node(graph.create("foo::f", [x, x, y]))
    node.insert_input(1, y)
    assert node.inputs() == [x, y, x, y]
    node.remove_input(0)
    assert [(u.user, u.offset) for u in x.uses()] == [(node, 1)]
    y.replace_all_uses_with(x)
    assert not y.uses() and sorted(u.offset for u in x.uses()) == [0, 1, 2]
    verify(graph)
    node.destroy()
    assert not x.uses() and list(graph.nodes()) == []


def test_iteration_survives_destruction():
    """Iteration over the nodes continues if the current node is destroyed."""
    graph = Graph()
    for _ in range(5):
        graph.insert_constant(1)
    for node in graph.nodes():
        node.destroy()
    assert graph.block().is_empty()


def test_order_of_uses():
    """Uses are ordered by node, input and nesting."""
    graph = parse_ir(
        """graph(%x : Tensor, %c : bool):
          %a : Tensor = aten::neg(%x)
          %b : Tensor = prim::If(%c)
            block0():
              %d : Tensor = aten::mul(%x, %x)
              -> (%d)
            block1():
              -> (%x)
          return (%b)"""
    )
    neg, first, second, through = uses = graph.inputs()[0].uses()
    assert [use.is_after(neg) for use in uses] == [False, True, True, True]
    assert second.is_after(first) and not first.is_after(second) and through.is_after(second)
    (condition,) = graph.inputs()[1].uses()
    assert first.is_after(condition) and not condition.is_after(first) and not first.is_after(first)


def test_names_do_not_shadow_modules():
    """No submodule of `ts.ir` has the name of a public function, which its import would replace."""
    for name in ts.ir.__all__:
        assert importlib.util.find_spec(f"ts.ir.{name}") is None
        assert callable(getattr(ts.ir, name))


def test_operators_follow_types():
    """A node's operator is selected again when an input's type changes, and only then."""
    graph = Graph()
    x, y, z = graph.add_input("x", INT), graph.add_input("y", INT), graph.add_input("z", FLOAT)
    node = graph.insert_node(graph.create("aten::neg", [x]))
    chosen = object()
    node.set_operator(chosen)
    x.replace_all_uses_with(y)
    assert node.operator() is chosen
    node.replace_input(0, x)
    assert node.operator() is chosen
    node.replace_input(0, z)
    assert str(node.schema()) == "aten::neg.float(float a) -> float"
    z.replace_all_uses_with(x)
    assert str(node.schema()) == "aten::neg.int(int a) -> int"


def test_order():
    """`is_before` and `is_after` hold across blocks and after moves."""
    graph = parse_ir(LOOP)
    nodes = list(graph.nodes())
    inner = graph.find_node("aten::add")
    assert nodes[0].is_before(inner) and inner.is_after(nodes[0]) and inner.is_before(nodes[3])
    nodes[1].move_before(nodes[0])
    assert nodes[1].is_before(nodes[0])
    for _ in range(50):
        graph.create("foo::f", (), 0).insert_before(nodes[0])
    verify(graph)


def test_insertion_point():
    """New nodes are inserted at the insertion point, which is restored after `with`."""
    graph = Graph()
    last = graph.insert_constant(1).node()
    with graph.inserting_before(last):
        first = graph.insert_constant([1, 2]).node()
    assert list(graph.nodes()) == [first, last]
    assert first.output().type() == ListType(INT) and first.kind_of("value") == "ival"


def test_verifier_finds_faults():
    """The verifier reports uses before definitions and conditions that are not bools."""
    graph = parse_ir(LOOP)
    graph.find_node("prim::Loop").move_before(next(graph.nodes()))
    with pytest.raises(InternalError, match="not defined before"):
        verify(graph)
    graph = Graph()
    graph.insert_node(graph.create_if(graph.add_input("c", INT)))
    with pytest.raises(InternalError, match="condition"):
        verify(graph)
    graph.inputs()[0].set_type(BOOL)
    verify(graph)


def test_reader_errors():
    """The error for an unknown value contains its location."""
    with pytest.raises(ParseError, match="%y is not defined"):
        parse_ir("graph(%x : Tensor):\n  return (%y)\n")


def test_source_text():
    """A graph can be printed as source, without arguments that equal the schema's defaults."""
    assert to_source(parse_ir(LOOP), "f") == (
        "def f(x: Tensor,\n    n: int) -> Tensor:\n  _0 = x\n  for i in range(n):\n"
        "    _0 = torch.add(_0, i)\n  print(_0)\n  return _0\n"
    )


def test_highlight():
    """A source range is printed with two lines of context on each side and a caret line."""
    source = Source("def f(x):\n    y = x\n    return g(x,\n       y)\n", "a.py", 10)
    range = source.range_at(3, 11, 4, 9)
    assert range.location() == "a.py:12:11"
    assert range.highlight() == (
        '  File "a.py", line 12\ndef f(x):\n    y = x\n    return g(x,\n           ~~~~\n       y)\n       ~~ <--- HERE\n'
    )


def test_destroyed_node_is_invalidated():
    """Accessing a destroyed node raises RuntimeError."""
    graph = parse_ir("graph(%x : int):\n  %y : int = aten::neg(%x)\n  return (%x)\n")
    (node,) = graph.nodes()
    value = node.output()
    assert "aten::neg" in str(node) and "aten::neg" in str(value)
    node.destroy()
    for destroyed in (node, value):
        with pytest.raises(RuntimeError, match="invalidated"):
            str(destroyed)


def test_inputs_are_lists_and_iterators():
    """Inputs and outputs of a graph support indexing and `next`."""
    graph = parse_ir("graph(%a : int, %b : int):\n  return (%b, %a)\n")
    inputs = graph.inputs()
    assert [value.debugName() for value in inputs] == ["a", "b"] and inputs[1].debugName() == "b"
    assert [next(inputs).debugName(), next(inputs).debugName(), next(inputs, None)] == ["a", "b", None]
    assert next(graph.inputs()).debugName() == "a"  # each call of `inputs()` returns a new iterator
    assert next(graph.outputs()).debugName() == "b"
    inputs.clear()
    assert len(graph.inputs()) == 2


def test_next_of_inputs_and_outputs_of_nodes():
    """`next` of a node's inputs and outputs restarts at each access, as in PyTorch."""
    graph = parse_ir("graph(%x : int):\n  %y : int = aten::add(%x, %x)\n  return (%y)\n")
    node = graph.findNode("aten::add")
    assert next(node.inputs()) is next(node.inputs()) is graph.inputs()[0]
    assert next(node.outputs()).debugName() == "y" == next(node.outputs()).debugName()
    values = node.inputs()
    assert [next(values), next(values)] == [node.input(0), node.input(1)] and next(values, None) is None
    assert next(iter(graph.return_node().inputs())) is node.output()


def test_names_of_graph_text_are_no_variables():
    """The source of a parsed graph has variables only for inputs and for values with several uses."""
    text = "graph(%x.1 : int):\n  %val.1 : int = aten::neg(%x.1)\n  %y : int = aten::neg(%val.1)\n  return (%y)\n"
    graph = parse_ir(text)
    assert str(graph) == text and str(graph.copy()) == text
    assert "return torch.neg(torch.neg(x_1))" in ts.jit.create_function_from_graph("f", graph).code


def test_insert_matches_the_schema():
    graph = parse_ir("graph(%x : Tensor, %n : int):\n  return (%x)")
    x, n = graph.inputs()
    graph.set_insert_point(graph.return_node())
    node = graph.insert("aten::add", [x, x]).node()
    assert [value.type().str() for value in node.inputs()] == ["Tensor", "Tensor", "int"]
    assert node.inputs()[2].to_ivalue() == 1
    assert graph.insert("aten::sum", [x]).node().schema().overload_name == ""
    for kind, inputs in (("aten::mm", [x, n]), ("aten::foo", [x]), ("aten::add", [x, "a"])):
        with pytest.raises(RuntimeError, match=f"No operator {kind} takes the arguments"):
            graph.insert(kind, inputs)


def test_kinds_have_a_namespace():
    graph = Graph()
    for kind in ("relu", ""):
        with pytest.raises(RuntimeError, match="all symbols must have a namespace"):
            graph.create(kind)
    assert graph.create("my::operator", 2).outputs_size() == 2


def test_values_and_nodes_of_another_graph_are_rejected():
    graph, other = (parse_ir("graph(%x : Tensor):\n  return (%x)") for _ in range(2))
    x = other.inputs()[0]
    with pytest.raises(RuntimeError, match="belongs to another graph"):
        graph.create("aten::relu", [x])
    with pytest.raises(RuntimeError, match="belongs to another graph"):
        graph.register_output(x)
    with pytest.raises(RuntimeError, match="of another graph cannot be inserted"):
        graph.append_node(other.create("aten::relu", [x]))


def test_text_without_source_ranges():
    graph = ts.jit.script(add_one).graph
    assert "#" in graph.str() and "#" not in graph.str(print_source_ranges=False)


def add_one(x):
    return x + 1


def test_functions_of_graphs_in_compilation_units():
    unit = ts.jit.CompilationUnit("def f(x):\n  return x + 1\n")
    graph = parse_ir("graph(%x : Tensor):\n  %y : Tensor = aten::neg(%x)\n  return (%x, %y)")
    unit.create_function("g", graph)
    assert [each.tolist() for each in unit.g(ts.ones(1))] == [[1.0], [-1.0]]
    with pytest.raises(RuntimeError, match=r"method 'g' already defined\."):
        unit.create_function("g", graph)
    assert unit.get_class("f") is None and ts.jit.python_cu.find_function("nothing") is None


def test_the_compilation_unit_of_python_has_pytorchs_path():
    """`torch.jit._state._python_cu` finds compiled functions by qualified name."""
    unit = ts.jit._state._python_cu
    scripted = ts.jit.script(add_one)
    assert unit is ts.jit._recursive._python_cu is ts.jit.python_cu
    assert unit.find_function(scripted.qualified_name) is scripted
