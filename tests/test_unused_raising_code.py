"""Expressions without uses that raise errors: they run, except in an edited graph."""

import pytest

import ts
from tests.jit_helpers import needs_interpreted_compiler
from ts.ir.graph import Graph


def divided():
    return ts.jit.CompilationUnit("def f(a: int, b: int):\n    q = a // b\n    return a + b\n").f


def test_not_in_the_graph_but_run():
    """A division without uses is not in the graph, as in PyTorch, but raises its error."""
    f = divided()
    assert "floordiv" not in str(f.graph)
    assert f(6, 3) == 9
    with pytest.raises(RuntimeError, match="division"):
        f(1, 0)


def test_edited_graph_runs():
    """An edited `fn.graph` runs as edited if the edit precedes the first call."""
    f = divided()
    total = f.graph.find_node("aten::add")
    with f.graph.inserting_before(total):
        product = f.graph.insert("aten::mul", f.graph.inputs())
    total.output().replace_all_uses_with(product)
    assert f(5, 0) == 0


def test_items_of_another_list():
    """An index into another list than the iterated one keeps its bounds check."""
    unit = ts.jit.CompilationUnit("""
def f(xs: List[int], ys: List[int]):
    for i, x in enumerate(xs):
        y = ys[i]
    return len(xs)

def g(xs: List[int], ys: List[int]):
    for i in range(len(xs)):
        y = ys[i]
    return len(xs)

def h(xs: List[int], ys: List[int]):
    for x, y in zip(xs, ys):
        z = x
    return len(xs)
""")
    for function in (unit.f, unit.g):
        assert function([1, 2], [1, 2, 3]) == 2
        with pytest.raises(RuntimeError, match="out of range"):
            function([1, 2, 3], [1, 2])
    assert unit.h([1, 2, 3], [1, 2]) == 3


@needs_interpreted_compiler
def test_copy_only_before_a_removal(monkeypatch):
    """The compiler copies the graph only if it removes a node that may raise an error."""
    copied = []
    copy = Graph.copy
    monkeypatch.setattr(Graph, "copy", lambda graph: copied.append(graph) or copy(graph))
    used = ts.jit.CompilationUnit("def f(xs: List[int], b: int):\n    y = b + 1\n    return xs[0] // b\n").f
    assert used.graph.find_node("aten::floordiv") and not copied
    assert divided().graph and len(copied) == 1


def test_unused_loop():
    """A loop without results runs if a node in its body may raise an error."""
    source = "def f(a: int, bs: List[int]):\n    for b in bs:\n        q = a // b\n    return a\n"
    f = ts.jit.CompilationUnit(source).f
    assert f.graph.find_node("prim::Loop") is None
    assert f(6, [3]) == 6
    with pytest.raises(RuntimeError, match="division"):
        f(1, [1, 0])
