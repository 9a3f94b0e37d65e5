"""Preservation of unused code that may raise: PyTorch removes it from the graph, Python executes it.

For example, `fn.graph` does not contain an unused `aten::floordiv(%a, %b)`, but a call raises if %b is 0.

Dead code elimination stores a copy of the graph before it removes the first node that may raise, if
`watch_raising_code` ran before. The stored copy is executed (`graph_to_execute(graph)`). If the program then
edits the graph, the edited graph is executed.
"""

from __future__ import annotations

from typing import Final

from ts.analysis.effects import FAILING
from ts.ir.graph import Graph
from ts.passes.pass_utils import applies_to

_WATCHED: Final = object()  # value of `Graph.stored_copy` before a node that may raise is removed


@applies_to(*FAILING)
def watch_raising_code(graph: Graph) -> bool:
    """Let `store_copy` store a copy of `graph`. `graph` does not change."""
    graph.stored_copy = _WATCHED
    return False


def store_copy(graph: Graph) -> None:
    """Store a copy of a watched `graph`, from which a node that may raise will be removed."""
    if graph.stored_copy is _WATCHED:
        graph.stored_copy = graph.copy(), None


@applies_to(*FAILING)
def finish_watching(graph: Graph) -> bool:
    """Record the shape of `graph`, which detects edits, if a copy is stored."""
    if graph.stored_copy is _WATCHED:
        graph.stored_copy = None
    elif graph.stored_copy is not None:
        graph.stored_copy = graph.stored_copy[0], _shape(graph)
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
