"""Preservation of unused code that may raise: PyTorch removes it from the graph, Python executes it.

For example, `fn.graph` does not contain an unused `aten::floordiv(%a, %b)`, but a call raises if %b is 0.

`store_raising_code` stores a copy of the graph before the frontend's passes. If a pass removes a node that
may raise, the stored copy is executed (`graph_to_execute(graph)`). If the program then edits the graph, the
edited graph is executed.
"""

from __future__ import annotations

from ts.analysis.effects import FAILING, may_raise
from ts.ir.graph import Graph


def store_raising_code(graph: Graph) -> bool:
    """Store a copy of `graph` if it contains nodes that may raise. `graph` does not change."""
    if _count(graph):
        graph.stored_copy = graph.copy(), None
    return False


def discard_raising_code(graph: Graph) -> bool:
    """Discard the stored copy if `graph` still contains all nodes that may raise."""
    if graph.stored_copy is not None:
        before, _ = graph.stored_copy
        if _count(before) != _count(graph):
            graph.stored_copy = before, _shape(graph)
        else:
            graph.stored_copy = None
            before.free()
    return False


def set_graph_to_execute(graph: Graph, runs: Graph) -> None:
    """Let the executor run the graph `runs` in place of `graph`, until `graph` is edited."""
    graph.stored_copy = runs, _shape(graph)


def graph_to_execute(graph: Graph) -> Graph:
    """Return the graph that runs for `graph`.

    This is its stored copy if one exists and `graph` was not edited since, else `graph`.
    """
    if graph.stored_copy is None:
        return graph
    before: Graph
    before, shape = graph.stored_copy
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
