"""Code that may raise and whose results nobody reads: PyTorch drops it from the graph, Python runs it.

    %q : int = aten::floordiv(%a, %b)        (gone from `fn.graph`, as in PyTorch)
    return (%a)                              (raises when %b is 0, as in Python)

The frontend's passes run between `remember_failing_code` and `settle_failing_code`.  If they dropped such a
node, the graph as it was before them is what runs: `faithful(graph)`.
"""

from __future__ import annotations

from weakref import WeakKeyDictionary

from ts.analysis.effects import may_raise
from ts.ir.graph import Graph

_before: WeakKeyDictionary[Graph, Graph] = WeakKeyDictionary()


def remember_failing_code(graph: Graph) -> bool:
    """Keep a copy of a graph with nodes that may raise; the graph itself does not change."""
    if _count(graph):
        _before[graph] = graph.copy()
    return False


def settle_failing_code(graph: Graph) -> bool:
    """Forget the copy if all such nodes are still there."""
    before = _before.get(graph)
    if before is not None and _count(before) == _count(graph):
        del _before[graph]
    return False


def faithful(graph: Graph) -> Graph:
    """What to run for a function with this graph."""
    return _before.get(graph, graph)


def _count(graph: Graph) -> int:
    return sum(map(may_raise, graph.all_nodes()))
