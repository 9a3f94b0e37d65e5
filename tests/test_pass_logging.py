"""Log levels and limits of passes."""

import io

import pytest

import ts
from ts.autodiff import differentiable_plans
from ts.ir.graph_parser import parse_ir
from ts.passes import pass_logging
from ts.passes.pipelines import run_pass
from ts.passes.peephole import simplify
from ts.passes.pytorch import guards

TEXT = """graph(%x : int):
  %0 : int = prim::Constant[value=0]()
  %1 : int = aten::add(%x, %0)
  %2 : int = aten::add(%1, %0)
  return (%2)"""


@pytest.fixture
def configured():
    """Provide `pass_logging.configure` and reset it afterwards."""
    yield pass_logging.configure
    pass_logging.configure()


def test_levels(configured):
    """A pass name logs graphs and changes, `>` adds details; other passes are silent."""
    stream = io.StringIO()
    configured("peephole:>cse", stream=stream)
    assert pass_logging.enabled("peephole", pass_logging.DUMP) and pass_logging.enabled("peephole", pass_logging.UPDATE)
    assert not pass_logging.enabled("peephole", pass_logging.DEBUG) and pass_logging.enabled("cse", pass_logging.DEBUG)
    assert not pass_logging.enabled("dce", pass_logging.DUMP)
    run_pass(parse_ir(TEXT), simplify)
    lines = stream.getvalue().splitlines()
    assert lines[0].startswith("[UPDATE peephole] Replacing %1 : int = aten::add(%x, %0)")
    assert "[DUMP peephole]   return (%x)" in lines


def test_names_of_pytorch(configured):
    """PyTorch's file names select the equivalent passes."""
    configured("dead_code_elimination.cpp", "common_subexpression_elimination=1")
    assert pass_logging.enabled("dce") and pass_logging.optimization_allowed("cse") and not pass_logging.optimization_allowed("cse")


def test_pytorch_pass_names(configured, recwarn):
    """All pass names of PyTorch are accepted; several may select one pass."""
    for name in pass_logging._ALIASES:
        configured(f">{name}")
    assert not recwarn.list
    stream = io.StringIO()
    configured("guard_elimination", stream=stream)
    guards.remove_profiles(parse_ir("graph(%x : Tensor):\n  %p : Tensor = prim::profile(%x)\n  return (%p)"))
    guards.insert_guards(
        parse_ir("graph(%x : Tensor):\n  %p : Tensor = prim::profile[profiled_type=Float()](%x)\n  return (%p)")
    )
    assert stream.getvalue().startswith("[UPDATE guards] Guarding what")


def test_limit(configured):
    """A limit bounds the number of changes by a pass: with a limit of one, the second addition stays."""
    configured(limits="peephole=1")
    graph = parse_ir(TEXT)
    simplify(graph)
    assert graph.outputs()[0].node().kind() == "aten::add"
    with pytest.raises(ValueError, match="expected a limit of the form pass=number"):
        configured(limits="peephole")


def test_reasons_of_differentiable_graphs(configured, monkeypatch):
    """`>autodiff` prints why the operators of a differentiable graph run one by one."""

    def fail(planner):
        raise NotImplementedError("no derivative")

    stream = io.StringIO()
    configured(">autodiff", stream=stream)
    monkeypatch.setattr(differentiable_plans._Planner, "plan", fail)

    @ts.jit.script
    def f(x):
        return (x * 2).tanh() * x

    x = ts.ones(3, requires_grad=True)
    f(x).sum().backward()
    assert x.grad is not None
    assert "[DEBUG create_autodiff_subgraphs] operators run one by one: no derivative" in stream.getvalue()
