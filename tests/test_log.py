"""Log levels and limits of passes."""

import io

import pytest

from ts.ir.read import parse_ir
from ts.passes import guards, log
from ts.passes.pipelines import run_pass
from ts.passes.peephole import simplify

TEXT = """graph(%x : int):
  %0 : int = prim::Constant[value=0]()
  %1 : int = aten::add(%x, %0)
  %2 : int = aten::add(%1, %0)
  return (%2)"""


@pytest.fixture
def configured():
    """`configure` for one test."""
    yield log.configure
    log.configure()


def test_levels(configured):
    """A name logs graphs and changes; `>` before it adds a pass's reasoning; other passes are silent."""
    stream = io.StringIO()
    configured("peephole:>cse", stream=stream)
    assert log.enabled("peephole", log.DUMP) and log.enabled("peephole", log.UPDATE)
    assert not log.enabled("peephole", log.DEBUG) and log.enabled("cse", log.DEBUG)
    assert not log.enabled("dce", log.DUMP)
    run_pass(parse_ir(TEXT), simplify)
    lines = stream.getvalue().splitlines()
    assert lines[0].startswith("[UPDATE peephole] Replacing %1 : int = aten::add(%x, %0)")
    assert "[DUMP peephole]   return (%x)" in lines


def test_names_of_pytorch(configured):
    """PyTorch's file names mean the same passes."""
    configured("dead_code_elimination.cpp", "common_subexpression_elimination=1")
    assert log.enabled("dce") and log.optimization_allowed("cse") and not log.optimization_allowed("cse")


def test_each_name_of_pytorch_means_a_pass(configured, recwarn):
    """PyTorch has guards in three files; one name of ts logs what they do."""
    for name in log._ALIASES:
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
    """At most so many changes: with a limit of one, the second addition stays."""
    configured(limits="peephole=1")
    graph = parse_ir(TEXT)
    simplify(graph)
    assert graph.outputs()[0].node().kind() == "aten::add"
    with pytest.raises(ValueError, match="a limit reads pass=number"):
        configured(limits="peephole")
