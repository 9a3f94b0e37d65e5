"""Common subexpression elimination: results that escape, and linear work."""

from collections import Counter

import ts
from ts.analysis.alias import AliasDb
from ts.passes import cse


def test_results_that_escape_share_no_memory():
    """Of equal nodes, only one whose result escapes is replaced by a node whose result does not escape."""
    source = """
def f(x: Tensor):
    a = torch.relu(x)
    d = a + 1
    b = torch.relu(x)
    c = torch.relu(x)
    return d, b, c
"""
    f = ts.jit.CompilationUnit(source).f
    for _ in range(3):
        _, b, c = f(ts.ones(2))
        b.zero_()
        assert c.tolist() == [1.0, 1.0]
    graph = f.graph.copy()
    cse.eliminate_common_subexpressions(graph)
    assert len(graph.find_all_nodes("aten::relu")) == 2


def escape_queries(monkeypatch, n):
    lines = "    y = y + x[0]\n" * n
    graph = ts.jit.CompilationUnit(f"def f(x: Tensor, y: Tensor):\n{lines}    return y\n").f.graph.copy()
    queries = Counter()
    escapes = AliasDb.escapes

    def count(aliases, value):
        queries["escapes"] += 1
        return escapes(aliases, value)

    monkeypatch.setattr(AliasDb, "escapes", count)
    cse.eliminate_common_subexpressions(graph)
    monkeypatch.undo()
    return queries["escapes"]


def test_linear_work_for_equal_nodes_that_escape(monkeypatch):
    """A node is compared with one equal node, also if neither can replace the other."""
    for n in (10, 80):
        assert 0 < escape_queries(monkeypatch, n) <= 2 * n
