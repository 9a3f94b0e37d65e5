"""`last_executed_optimized_graph` shows type checks, fusion groups and fallback functions as PyTorch's executor."""

import pytest

import ts


def last_graph(source, *args):
    f = ts.jit.CompilationUnit(source).f
    results = f(*args)
    return ts.jit.last_executed_optimized_graph(), f, results


CHAIN = "def f(a, b):\n  c = a * b\n  return c * b + a\n"
CHECKED = (
    "prim::TypeCheck[types=[",
    "Tensor = prim::If(",
    "prim::TensorExprGroup_0(",
    'Function = prim::Constant[name="fallback_function", fallback=1]()',
    "prim::CallFunction",
    "prim::TupleUnpack",
    "with prim::TensorExprGroup_0 = graph(",
)


def check_order(graph, *parts):
    """Assert that the graph text contains `parts` in this order."""
    text, at = str(graph), 0
    for part in parts:
        assert part in text[at:], f"{part!r} is not in the rest of\n{text}"
        at = text.index(part, at) + len(part)


@pytest.mark.parametrize(
    "make, type",
    [
        (lambda: ts.ones(3), "Float(3, strides=[1], requires_grad=0, device=cpu)"),
        (lambda: ts.ones(2, 3, dtype=ts.float64).t(), "Double(3, 2, strides=[1, 3], requires_grad=0, device=cpu)"),
        (lambda: ts.ones(4, dtype=ts.int64), "Long(4, strides=[1], requires_grad=0, device=cpu)"),
    ],
)
def test_types_of_a_fusion_group(make, type):
    """Inputs, results and inner values of a group have the dtypes, sizes and strides of the first call."""
    graph, *_ = last_graph(CHAIN, make(), make())
    check_order(graph, *CHECKED)
    (group,) = graph.findAllNodes("prim::TensorExprGroup")
    assert [value.type().str() for value in (*group.inputs(), *group.outputs())] == [type] * 3
    assert all(node.output().type().str() in (type, "int") for node in group.g("Subgraph").nodes())
    assert graph.findNode("prim::If").output().type().str() == "Tensor"


def test_types_follow_the_dtypes_of_the_last_call():
    _, f, _ = last_graph(CHAIN, ts.ones(3), ts.ones(3))
    f(ts.ones(3, dtype=ts.float64), ts.ones(3, dtype=ts.float64))
    assert "types=[Double(3," in str(ts.jit.last_executed_optimized_graph())
    f(ts.ones(5), ts.ones(5))
    assert "types=[Float(3," in str(ts.jit.last_executed_optimized_graph())


@pytest.mark.parametrize("args", [(ts.arange(3.0), ts.rand(3)), (ts.arange(6).reshape(2, 3), ts.rand(3))])
def test_the_graph_can_run(args):
    """The graph computes the same results, also with arguments for which the check fails."""
    graph, f, _ = last_graph(CHAIN, ts.rand(3), ts.rand(3))
    copy = ts.jit.create_function_from_graph("copy", graph)
    assert ts.equal(copy(*args), f(*args))


def test_groups_that_did_not_run_are_shown_as_nodes():
    source = "def f(a, b, c: bool):\n  if c:\n    return a * b + b\n  return (a - b) * a\n"
    graph, f, _ = last_graph(source, ts.ones(3), ts.ones(3), True)
    assert len(graph.findAllNodes("prim::TensorExprGroup")) == 1
    assert len(graph.findAllNodes("aten::sub")) == 1
    f(ts.ones(3), ts.ones(3), False)
    assert len(ts.jit.last_executed_optimized_graph().findAllNodes("prim::TensorExprGroup")) == 2


def test_write_between_groups():
    source = "def f(a, b):\n  c = a * b * b\n  c.add_(b)\n  return c * b + c\n"
    graph, *_ = last_graph(source, ts.ones(1), ts.ones(1))
    assert len(graph.findAllNodes("prim::TypeCheck")) == 2
    check_order(graph, "TensorExpr", "aten::add_", "TensorExpr")


def test_unfused_dtypes_are_shown_as_nodes():
    graph, *_ = last_graph(CHAIN, ts.ones(2, dtype=ts.complex64), ts.ones(2, dtype=ts.complex64))
    assert graph.findNode("prim::TensorExprGroup") is None
    assert len(graph.findAllNodes("aten::mul")) == 2


def test_differentiable_graph():
    a, b = ts.ones(3, requires_grad=True), ts.ones(3)
    graph, _, result = last_graph(CHAIN, a, b)
    flags = graph.findNode("prim::RequiresGradCheck")["types"]
    assert sorted(type.str() for type in flags) == ["Tensor(requires_grad=0)", "Tensor(requires_grad=1)"]
    check_order(graph, "prim::RequiresGradCheck", "prim::DifferentiableGraph_0(", "fallback_function")
    result.sum().backward()
    backward = ts.jit.last_executed_optimized_graph()
    check_order(backward, *CHECKED)
    assert [node.kind() for node in graph.nodes()] != [node.kind() for node in backward.nodes()]


def test_planning_of_a_differentiable_graph_is_no_execution():
    """The first call that records gradients runs the function of the graph to plan the backward graph."""
    _, f, _ = last_graph("def f(a, b):\n  print(1)\n  return (a * b).tanh()\n", ts.ones(2, requires_grad=True), ts.ones(2))
    assert "prim::Print" in str(ts.jit.last_executed_optimized_graph())
    with ts.jit.optimized_execution(False):
        f(ts.ones(2), ts.ones(2))
        assert "TypeCheck" not in str(ts.jit.last_executed_optimized_graph())
