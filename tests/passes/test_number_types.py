"""Tests of the pass `ts.passes.pytorch.erase_number_types`."""

import ts
from ts.ir import parse_ir
from ts.passes.pytorch.erase_number_types import erase_number_types


def test_numbers_are_tensors():
    """Number constants, results and block inputs become tensors; containers are unchanged."""
    graph = parse_ir("""graph(%x : Tensor, %n : int):
  %true : bool = prim::Constant[value=1]()
  %half : float = prim::Constant[value=0.5]()
  %y : Tensor = prim::Loop(%n, %true, %x)
    block0(%i : int, %z : Tensor):
      %next : Tensor = aten::add(%z, %half, %i)
      -> (%true, %next)
  %sizes : int[] = aten::size(%y)
  return (%y, %sizes)""")
    assert erase_number_types(graph)
    text = str(graph)
    assert text.count("Long(device=cpu)") == 2 and "%i : Long(device=cpu)" in text
    assert "Double(device=cpu) = prim::Constant[value={0.5}]" in text
    assert "Bool(device=cpu) = prim::Constant[value={1}]" in text
    assert "%sizes : int[] = aten::size(%y)" in text
    assert not erase_number_types(graph)


def test_constants_keep_their_kind():
    """A float constant becomes a float64 tensor, independent of the default dtype."""
    graph = ts.jit.CompilationUnit("def f(x):\n    return x * 1.5\n").f.graph
    erase_number_types(graph)
    assert graph.find_node("prim::Constant").get("value").dtype == ts.float64
