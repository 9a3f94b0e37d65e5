"""Dead code elimination without marking: numbers of uses suffice in graphs without loops and unused writes."""

import pytest

from tests.jit_helpers import needs_interpreted_compiler
from ts.ir.graph_parser import parse_ir
from ts.passes import dce

HEAD = "graph(%x : Tensor, %c : bool, %n : int):\n  %1 : int = prim::Constant[value=1]()\n"


@pytest.mark.parametrize(
    "body, result, is_marked",
    [
        ("%a : int = aten::add(%n, %1)\n  %b : int = aten::mul(%a, %a)", "%n", False),
        (
            "%a : int, %b : int = prim::If(%c)\n    block0():\n      %d : int = aten::mul(%n, %1)\n"
            "      -> (%n, %d)\n    block1():\n      -> (%1, %n)",
            "%a",
            False,
        ),
        ("%a : Tensor = aten::relu(%x)\n  %b : Tensor = aten::neg_(%a)", "%x", True),
        ("%a : Tensor = aten::relu(%x)\n  %b : Tensor = aten::neg_(%a)", "%a", True),
        ("%a : Tensor = aten::relu(%x)\n  %b : Tensor = aten::neg_(%a)", "%b", False),
        (
            "%a : int = prim::Loop(%n, %c, %n)\n    block0(%i : int, %d : int):\n"
            "      %e : int = aten::mul(%d, %d)\n      -> (%c, %e)",
            "%n",
            True,
        ),
    ],
)
@needs_interpreted_compiler
def test_marking(monkeypatch, body, result, is_marked):
    """Marking runs only if numbers of uses do not decide, and removes the same nodes."""
    text = f"{HEAD}  {body}\n  return ({result})\n"
    marked = []
    mark = dce._Eliminator._mark_and_sweep

    def count(eliminator):
        marked.append(eliminator)
        mark(eliminator)

    monkeypatch.setattr(dce._Eliminator, "_mark_and_sweep", count)
    graph = parse_ir(text)
    dce.eliminate_dead_code(graph)
    assert bool(marked) == is_marked
    expected = parse_ir(text)
    mark(dce._Eliminator(expected, keep_failing=False))
    assert str(graph) == str(expected)
    graph.lint()


def test_if_with_an_effect_in_a_branch():
    """An `if` without results remains if one of its blocks has a node with side effects."""
    body = "prim::If(%c)\n    block0():\n       = prim::Print(%n)\n      -> ()\n    block1():\n      -> ()"
    graph = parse_ir(f"{HEAD}   = {body}\n  return (%n)\n")
    assert dce.eliminate_dead_code(graph)  # the constant
    assert graph.find_node("prim::Print") and not graph.find_node("prim::Constant")
