"""Preservation of unused code that may raise: PyTorch removes it from the graph, Python executes it.

    %q : int = aten::floordiv(%a, %b)        (gone from `fn.graph`, as in PyTorch)
    return (%a)                              (raises when %b is 0, as in Python)

The frontend's passes run between `remember_failing_code` and `settle_failing_code`.  If they removed such
a node, the graph from before them is executed, `faithful(graph)`, until the function's graph is edited.
"""

from __future__ import annotations

from ts.analysis.effects import FAILING, may_raise
from ts.ir.graph import Graph


def remember_failing_code(graph: Graph) -> bool:
    """Keep a copy of a graph with nodes that may raise; the graph itself does not change."""
    if _count(graph):
        graph.remembered = graph.copy(), None
    return False


def settle_failing_code(graph: Graph) -> bool:
    """Discard the remembered copy if all raising nodes are still present."""
    if graph.remembered is not None:
        before, _ = graph.remembered
        graph.remembered = (before, _shape(graph)) if _count(before) != _count(graph) else None
    return False


def run_instead(graph: Graph, runs: Graph) -> None:
    """Execute `runs` instead of `graph`, until `graph` is edited."""
    graph.remembered = runs, _shape(graph)


def faithful(graph: Graph) -> Graph:
    """Return the graph to execute for `graph`: the remembered one, or `graph` itself after an edit."""
    if graph.remembered is None:
        return graph
    before: Graph
    before, shape = graph.remembered
    return before if shape == _shape(graph) else graph


def _shape(graph: Graph) -> int:
    """Return a hash of the graph's structure, which detects edits."""
    nodes = (*graph.all_nodes(), graph.return_node())
    return hash(
        tuple(
            (
                node.kind(),
                tuple((name, str(node.get(name))) for name in node.attribute_names()),
                tuple(value.unique() for value in node.inputs()),
                tuple(value.unique() for value in node.outputs()),
            )
            for node in nodes
        )
    )


def _count(graph: Graph) -> int:
    return 0 if graph.kinds().isdisjoint(FAILING) else sum(map(may_raise, graph.all_nodes()))
