"""Specialization to argument types: chains of tests for None need linear work."""

from collections import Counter

import ts
from tests.jit_helpers import needs_interpreted_compiler
from ts.ir.types import NONE
from ts.passes.rewriter import Rewriter
from ts.passes.specialize_to_arguments import specialize_to_arguments


def visited_nodes(monkeypatch, n):
    """Return how many nodes are visited to remove `n` tests of an argument, each in a later `if`."""
    lines = "    if b is not None:\n        x = x + b\n" * n
    source = f"def f(x: Tensor, b: Optional[Tensor]):\n{lines}    return x\n"
    graph = ts.jit.CompilationUnit(source).f.graph.copy()
    visits = Counter()
    visit = Rewriter._visit

    def count(rewriter, node):
        visits["nodes"] += 1
        return visit(rewriter, node)

    monkeypatch.setattr(Rewriter, "_visit", count)
    assert specialize_to_arguments(graph, {1: NONE})
    monkeypatch.undo()
    assert graph.find_node("prim::If") is None
    return visits["nodes"]


@needs_interpreted_compiler
def test_linear_work_for_tests_of_an_argument(monkeypatch):
    """An `if` is removed before later nodes are visited, so that one traversal decides all tests."""
    small = visited_nodes(monkeypatch, 10)
    assert small < 10 * 10
    assert visited_nodes(monkeypatch, 80) < 9 * small
