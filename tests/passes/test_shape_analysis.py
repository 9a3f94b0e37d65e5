"""Shape analysis: dtypes, numbers of dimensions and devices of tensors in graphs."""

import warnings

import pytest

import ts
from ts.ir import parse_ir
from ts.passes.shape_analysis import complete_shape_analysis, propagate_shapes, propagate_types

FLOATS = "Float(*, *, requires_grad=0, device=cpu)"


def types(function, *inputs):
    """Return the types of a function's results (a tuple or a single value) without changing its graph."""
    graph = ts.jit.script(function).graph
    before = str(graph)
    (result,) = propagate_shapes(graph, inputs).outputs()
    assert str(graph) == before
    results = result.node().inputs() if result.node().kind() == "prim::TupleConstruct" else [result]
    return [value.type().str() for value in results]


def test_operators():
    def f(x, y):
        z = ts.mm(x, y).relu()
        _, b = ts.max(z, dim=1)
        return z.view(-1), b, ts.cat([z, z]), z.unsqueeze(0).half(), z > 1, z.sum()

    assert types(f, ts.zeros(2, 3), ts.zeros(3, 4)) == [
        "Float(*, requires_grad=0, device=cpu)", "Long(*, requires_grad=0, device=cpu)", FLOATS,
        "Half(*, *, *, requires_grad=0, device=cpu)", "Bool(*, *, requires_grad=0, device=cpu)",
        "Float(requires_grad=0, device=cpu)",
    ]  # fmt: skip


def test_branches_merge_common_types():
    def f(x, y, z):
        if bool(x):
            x, y, z = x + 1, y, z
        else:
            x, y, z = x + 1, x, y
        return x, y, z

    either = FLOATS.replace("Float", "Tensor")
    assert types(f, ts.zeros(2, 2), ts.zeros(2, 4, dtype=ts.long), ts.zeros(2, 4)) == [FLOATS, either, either]


def test_unknown_shapes():
    """Sizes are unknown after unknown inputs, lists of two possible lengths, loops and computed sizes."""

    def f(x, y):
        c = [x, x]
        if bool(x.sum() < 1):
            c = [x]
        for _ in range(3):
            y = y + x
        return ts.cat(c), y, x + y, x.view(x.size(0), -1), x.squeeze()

    assert types(f, ts.zeros(2, 3), None) == ["Tensor"] * 5


def test_mutated_lists():
    def f(x):
        c = [x]
        c.append(x.double())
        return ts.cat(c)

    assert types(f, ts.zeros(2, 3)) == ["Tensor"]


@pytest.mark.parametrize("change", ["unsqueeze_(0)", "t_()", "squeeze_()"])
def test_reshaped_in_place(change):
    """Tensors that may share memory with a tensor reshaped in place have no known shape."""
    f = ts.jit.CompilationUnit(f"def f(x):\n    b = x + 1\n    c = b.{change}\n    return b, c, x + 2\n").f
    (result,) = propagate_shapes(f.graph, [ts.zeros(2, 3)]).outputs()
    assert [value.type().str() for value in result.node().inputs()] == ["Tensor", "Tensor", FLOATS]


def test_programs_do_not_run(capsys):
    """Shape analysis does not execute the program: no output, warnings or errors."""

    def f(x):
        print(x)
        warnings.warn("careful")
        if x.dim() == 2:
            raise ValueError("two dimensions")
        return x * 2

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert types(f, ts.zeros(2, 3)) == [FLOATS]
    assert capsys.readouterr().out == ""


def test_gradients():
    """`requires_grad` is part of the inferred types only on request."""

    def f(x):
        return x * 2

    x = ts.zeros(2, 3).requires_grad_()
    graph = ts.jit.script(f).graph
    assert propagate_shapes(graph, [x]).inputs()[0].type().str() == "Float(*, *, device=cpu)"
    assert "requires_grad=1" in propagate_shapes(graph, [x], True).inputs()[0].type().str()


def test_complete_shape_analysis_results():
    """Complete shape analysis infers sizes and strides; results of several tensors have no gradient
    information."""

    def f(a, b):
        return (a + b).t().contiguous()

    graph = ts.jit.script(f).graph
    complete_shape_analysis(graph, [ts.zeros(3, 1), ts.zeros(4)])
    assert [node.output().type().str() for node in graph.nodes() if node.kind() != "prim::Constant"] == [
        "Float(3, 4, strides=[4, 1], device=cpu)",
        "Float(4, 3, strides=[1, 4], device=cpu)",
        "Float(4, 3, strides=[3, 1], device=cpu)",
    ]


@pytest.mark.parametrize(
    ("step", "type"),
    [
        ("aten::relu(%carried)", "Float(2, 2, strides=[2, 1], requires_grad=0, device=cpu)"),
        ("aten::unsqueeze(%carried, %zero)", "FloatTensor(requires_grad=0, device=cpu)"),
        ("aten::gt(%carried, %zero)", "Tensor"),
    ],
)
def test_loops(step, type):
    """A loop-carried value has a type that is valid before every iteration."""
    graph = parse_ir(f"""graph(%x : Tensor):
  %true : bool = prim::Constant[value=1]()
  %two : int = prim::Constant[value=2]()
  %zero : int = prim::Constant[value=0]()
  %y : Tensor = prim::Loop(%two, %true, %x)
    block0(%i : int, %carried : Tensor):
      %next : Tensor = {step}
      -> (%true, %next)
  return (%y)""")
    complete_shape_analysis(graph, [ts.zeros(2, 2)])
    assert graph.outputs()[0].type().str() == type
    assert graph.find_node("prim::Loop").blocks()[0].inputs()[1].type().str() == type


def propagated(inputs, body, result="%y"):
    graph = parse_ir(f"graph({inputs}):\n  %one : int = prim::Constant[value=1]()\n"
        f"  %zero : int = prim::Constant[value=0]()\n{body}\n  return ({result})")
    propagate_types(graph)
    return graph, graph.outputs()[0].type().str()


@pytest.mark.parametrize(
    "inputs, operator, type",
    [
        ("%x : Float(2, *), %w : Float(*, 3)", "aten::mul(%x, %w)", "Float(*, *)"),
        ("%x : Float(2, *), %w : Float(1)", "aten::mul(%x, %w)", "Float(2, *)"),
        ("%x : Float(2, *), %w : Double(3)", "aten::mul(%x, %w)", "Float(*, *)"),
        ("%x : Float(2, *), %w : Float(*, 3)", "aten::t(%x)", "Float(*, 2)"),
        ("%x : Float(2, 4), %w : Float(4, *)", "aten::mm(%x, %w)", "Float(2, *)"),
        ("%x : Float(*, 4), %w : Float(4, 7)", "aten::matmul(%x, %w)", "Float(*, 7)"),
        ("%x : Float(2, *), %w : Tensor", "aten::gt(%x, %one)", "Bool(2, *)"),
        ("%x : Float(2, *), %w : Tensor", "aten::unsqueeze(%x, %one)", "Float(2, 1, *)"),
        ("%x : Float(*, 5), %w : Tensor", "aten::flatten(%x, %zero, %one)", "Float(*)"),
        ("%x : FloatTensor, %w : Tensor", "aten::neg(%x)", "Tensor"),
        ("%x : Float(2, 3, device=cpu), %w : Tensor", "aten::neg(%x)", "Float(2, 3, strides=[3, 1], device=cpu)"),
    ],
)
def test_types_with_unknown_sizes(inputs, operator, type):
    """Without example inputs, sizes copied from typed inputs are known and computed sizes are unknown."""
    _, found = propagated(inputs, f"  %y : Tensor = {operator}")
    if "Double" in inputs:
        type = type.replace("Float", "Double")
    assert found.replace(", device=cpu", "") == type.replace(", device=cpu", "")


LOOP = """  %true : bool = prim::Constant[value=1]()
  %y : Tensor = prim::Loop(%one, %true, %x)
    block0(%i : int, %carried : Tensor):
      %l : Tensor[] = prim::ListConstruct(%carried, %x)
      %next : Tensor = aten::cat(%l, %one)
      -> (%true, %next)"""


def test_loops_with_unknown_sizes():
    """A dimension that grows in a loop is unknown, other dimensions stay known; branches merge shapes in the
    same way."""
    graph, found = propagated("%x : Float(2, 3)", LOOP)
    body = graph.find_node("prim::Loop").blocks()[0]
    assert found.startswith("Float(*, *")
    assert body.inputs()[1].type().str().startswith("Float(*, *")
    _, found = propagated(
        "%x : Float(2, 3), %w : Float(2, 4), %p : bool",
        "  %z : Tensor = prim::If(%p)\n    block0():\n      -> (%x)\n    block1():\n      -> (%w)\n"
        "  %y : Tensor = aten::neg(%z)",
    )
    assert found.startswith("Float(2, *")


def types_for(function, *arguments):
    """Return the inferred types of the elements of a function's result tuple, for example arguments."""
    graph = ts.jit.script(function).graph.copy()
    complete_shape_analysis(graph, arguments, False)
    return [value.type().str() for value in graph.outputs()[0].node().inputs()]


def test_several_dtypes():
    """Two integer dtypes infer only the number of dimensions; two float dtypes infer the sizes, too."""

    def f(x, y):
        return x + y, x == y, x + 1

    x = ts.ones(2, 3)
    exact = "(2, 3, strides=[3, 1], device=cpu)"
    own = "(2, 3, strides=[3, 1], requires_grad=0, device=cpu)"
    assert types_for(f, x, x.int()) == ["Float(*, *, device=cpu)", "Bool(*, *, device=cpu)", f"Float{own}"]
    assert types_for(f, x.int(), x.long())[:2] == ["Long(*, *, device=cpu)", "Bool(*, *, device=cpu)"]
    assert types_for(f, x.half(), x.double())[:2] == [f"Double{exact}", f"Bool{exact}"]
    assert types_for(f, x, x)[:2] == [f"Float{exact}", f"Bool{exact}"]


def test_out_arguments():
    """Sizes are unknown for a tensor passed as `out=`, because the operator may resize it."""

    def f(x, y):
        z = ts.empty_like(x)
        ts.add(x, y, out=z)
        return z, z + 1, x + 1

    x = ts.ones(2)
    assert types_for(f, x, x) == ["Tensor", "Tensor", "Float(2, strides=[1], requires_grad=0, device=cpu)"]


def test_tuple_with_an_unknown_part():
    """A tuple type contains the types of its elements, including unknown types."""

    def f(x, m):
        return ts.masked_select(x, m), x[m], x.nonzero()

    graph = ts.jit.script(f).graph.copy()
    complete_shape_analysis(graph, (ts.ones(2, 3), ts.ones(2, 3) > 0), False)
    selected, indexed, nonzero = graph.outputs()[0].type().elements()
    assert selected.str() == "Float(*, requires_grad=0, device=cpu)" and indexed.str() == "Tensor"
    assert nonzero.str() == "Long(*, *, requires_grad=0, device=cpu)"
