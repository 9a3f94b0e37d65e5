"""Nodes of PyTorch's executor in graph text can be executed."""

import pytest

import ts
from ts.ir.graph_parser import parse_ir
from ts.passes.pytorch import guards
from ts.passes.pytorch.lower_executor_nodes import lower_executor_nodes

FLOAT = "Float(2, 3, strides=[3, 1], requires_grad=0, device=cpu)"


def function_of(text):
    return ts.jit.create_function_from_graph("f", parse_ir(text.replace("FLOAT", FLOAT)))


CHECK = """graph(%x : Tensor, %y : Tensor):
  %a : FLOAT, %b : TYPE, %ok : bool = prim::TypeCheck[types=[FLOAT, TYPE]](%x, %y)
  %r : (Tensor, Tensor, bool) = prim::TupleConstruct(%a, %b, %ok)
  return (%r)
"""


@pytest.mark.parametrize(
    "type, make, holds",
    [
        ("FLOAT", lambda: ts.ones(2, 3), True),
        ("FLOAT", lambda: ts.ones(3, 2), False),
        ("FLOAT", lambda: ts.ones(3, 2).t(), False),
        ("FLOAT", lambda: ts.ones(6), False),
        ("FLOAT", lambda: ts.ones(2, 3, dtype=ts.float64), False),
        ("FLOAT", lambda: ts.ones(2, 3, requires_grad=True), False),
        ("FLOAT", lambda: ts.ones(2, 3, device="meta"), False),
        ("Tensor", lambda: ts.ones(1, dtype=ts.int32), True),
        ("Float(*, *)", lambda: ts.ones(3, 2), True),
        ("Float(*, *)", lambda: ts.ones(6), False),
        ("Float(2, *, device=cpu)", lambda: ts.ones(2, 7), True),
        ("Float(2, *, device=cpu)", lambda: ts.ones(3, 7), False),
    ],
)
def test_type_check(type, make, holds):
    """`prim::TypeCheck` forwards the tensors and returns a bool for all types."""
    x, y = ts.ones(2, 3), make()
    a, b, ok = function_of(CHECK.replace("TYPE", type))(x, y)
    assert a is x
    assert b is y
    assert ok is holds
    assert function_of(CHECK.replace("TYPE", "Tensor"))(y, y)[2] is (type == "FLOAT" and holds)


def test_requires_grad_checks():
    """`RequiresGradCheck` checks the tensor's `requires_grad`; `TypeCheck` also depends on grad mode."""
    checks_requires_grad, checks_no_grad = (
        function_of(
            f"""graph(%x : Tensor):
  %a : Tensor, %ok : bool = prim::RequiresGradCheck[types=[Float(2, 3, requires_grad={flag})]](%x)
  return (%ok)
"""
        )
        for flag in (1, 0)
    )
    x = ts.ones(5, requires_grad=True)
    assert checks_requires_grad(x)
    assert not checks_no_grad(x)
    assert not checks_requires_grad(ts.ones(5))
    assert checks_no_grad(ts.ones(5))
    check = function_of(CHECK.replace("TYPE", "Float(requires_grad=1)"))
    scalar = ts.ones((), requires_grad=True)
    assert check(ts.ones(2, 3), scalar)[2]
    with ts.no_grad():
        assert checks_requires_grad(x)
        assert not check(ts.ones(2, 3), scalar)[2]


def test_profile_nodes_forward_values():
    """`prim::profile` nodes forward their input or, without results, do nothing; the function's graph is
    unchanged."""
    f = function_of(
        """graph(%x : Tensor, %n : int[]):
  %a : Tensor = prim::profile[profiled_type=FLOAT, seen_none=0](%x)
  %m : int[] = prim::profile_ivalue(%n)
  %b : Tensor = aten::neg(%a)
   = prim::profile()
  %r : (Tensor, int[]) = prim::TupleConstruct(%b, %m)
  return (%r)
"""
    )
    total, numbers = f(ts.ones(2, 3), [1, 2])
    assert total[0].tolist() == [-1.0] * 3
    assert numbers == [1, 2]
    assert "prim::profile[" in str(f.graph)
    assert "prim::profile" not in str(f.graph_for(ts.ones(2, 3), [1]))


def test_guards():
    """A guard raises an error for a tensor of another type."""
    f = function_of(
        """graph(%x : Tensor):
  %a : FLOAT = prim::Guard[profiled_type=FLOAT](%x)
  %b : Tensor = aten::neg(%a)
  return (%b)
"""
    )
    assert f(ts.ones(2, 3))[1].tolist() == [-1.0] * 3
    with pytest.raises(ts.jit.Error, match="a tensor is not Float"):
        f(ts.ones(3))


BAIL_OUT = """graph(%x : Tensor, %p : bool):
  %1 : int = prim::Constant[value=1]()
  %r : Tensor = prim::If(%p)
    block0():
      %a : FLOAT = prim::BailOut_0[index=0](%x, %1)
      %b : Tensor = aten::add(%a, %a, %1)
      -> (%b)
    block1():
      -> (%x)
  %z : Tensor = aten::neg(%r)
  return (%z)
with prim::BailOut_0 = graph(%y : Tensor, %n : int):
  %c : Tensor = aten::sub(%y, %n, %n)
  %g : Tensor = prim::FallbackGraph_0(%c)
  return (%g)
with prim::FallbackGraph_0 = graph(%y : Tensor):
  %z : Tensor = aten::exp(%y)
  return (%z)
"""


def test_bail_outs_run_their_graph():
    """A bail-out runs its graph, the rest of the function, for a tensor of another type, even inside a
    branch."""
    f = function_of(BAIL_OUT)
    assert f(ts.ones(2, 3), True)[0].tolist() == [-2.0] * 3
    assert f(ts.ones(2), True).tolist() == [1.0, 1.0]
    assert f(ts.ones(2), False).tolist() == [-1.0, -1.0]
    with ts.jit.optimized_execution(False):
        assert function_of(BAIL_OUT)(ts.ones(2), True).tolist() == [1.0, 1.0]


@pytest.mark.parametrize(
    "kind",
    "FusionGroup TensorExprGroup TensorExprDynamicGroup CudaFusionGroup oneDNNFusionGroup StaticSubgraph "
    "DifferentiableGraph FunctionalGraph FallbackGraph".split(),
)
def test_groups_run_their_graphs(kind):
    """Groups with guard and fallback, as in graphs of PyTorch's fuser, run their subgraphs."""
    f = function_of(
        f"""graph(%x : Tensor, %y : Tensor):
  %1 : int = prim::Constant[value=1]()
  %a : FLOAT, %b : FLOAT, %ok : bool = prim::TypeCheck[types=[FLOAT, FLOAT]](%x, %y)
  %z : Tensor = prim::If(%ok)
    block0():
      %g : FLOAT = prim::{kind}_0(%a, %b)
      -> (%g)
    block1():
      %s : Tensor = aten::sub(%x, %y, %1)
      -> (%s)
  return (%z)
with prim::{kind}_0 = graph(%x : Tensor, %y : Tensor):
  %1 : int = prim::Constant[value=1]()
  %p : Tensor = aten::mul(%x, %y)
  %s : Tensor = aten::add(%p, %y, %1)
  return (%s)
"""
    )
    x = ts.full((2, 3), 3.0)
    assert f(x, x)[0].tolist() == [12.0] * 3
    assert f(x[0], x[0]).tolist() == [0.0] * 3


@pytest.mark.parametrize(
    "line, message",
    [
        ("%a : Tensor, %ok : bool = prim::TypeCheck[types=[Tensor, Tensor]](%x)", "one type for each tensor"),
        ("%a : Tensor = prim::FusionGroup(%x)", "has no graph"),
        ("%a : Tensor = prim::BailOut[index=0](%x)", "no fallback graph"),
        ("%a : Tensor = prim::Guard[profiled_type=int](%x)", "requires a tensor type"),
    ],
)
def test_invalid_nodes_are_rejected(line, message):
    """An invalid executor node raises an error with the missing attribute."""
    with pytest.raises(ts.errors.CompilationError, match=message):
        function_of(f"graph(%x : Tensor):\n  {line}\n  return (%a)\n")


def test_graphs_without_executor_nodes_are_unchanged():
    """The pass `lower_executor_nodes` does not change graphs without executor nodes."""
    graph = parse_ir("graph(%x : Tensor):\n  %y : Tensor = aten::neg(%x)\n  return (%y)\n")
    assert not lower_executor_nodes(graph)


def test_nodes_inserted_by_a_pass_run():
    body = "def f(a, b, c, d):\n  return torch.mm(a, b) + torch.mm(c, d) + torch.mm(a, d) + torch.mm(c, b)\n"
    f = ts.jit.CompilationUnit(body).f
    assert ts._C._jit_pass_batch_mm(f.graph)
    assert "prim::MMTreeReduce" in str(f.graph)
    assert f(*[ts.ones(2, 2)] * 4).tolist() == [[8, 8], [8, 8]]


def test_bail_outs_after_guards_are_eliminated():
    """Types derived from a guard are invalid in the graph of its bail-out, and no pass removes the bail-out
    as unused."""
    seen = "profiled_type=Float(2, 3, strides=[3, 1], requires_grad=0, device=cpu)"
    graph = parse_ir(f"""graph(%x : Tensor):
  %a : Tensor = prim::profile[{seen}](%x)
  %m : Tensor = aten::tanh(%a)
  %b : Tensor = prim::profile[{seen}](%m)
  %n : int = aten::dim(%b)
  return (%n)""")
    guards.insert_guards(graph)
    guards.eliminate_guards(graph)
    guards.insert_bail_outs(graph)
    ts._C._jit_pass_peephole(graph)
    ts._C._jit_pass_dce(graph)
    assert graph.find_node("prim::BailOut") is not None and graph.find_node("aten::dim") is None
    f = ts.jit.create_function_from_graph("f", graph)
    assert [f(ts.ones(2, 3)), f(ts.ones(3)), f(ts.ones(1, 2, 3))] == [2, 1, 3]
