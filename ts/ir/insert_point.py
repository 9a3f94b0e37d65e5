"""Context managers for the insertion point and the source range of new nodes.

This example inserts a constant before a node, with the source range `range`:

    with graph.inserting_before(node), graph.at_range(range):
        graph.insert_constant(1)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ts.ir.graph import Graph


class GraphSetting:
    """Context manager that sets an attribute of a graph, and restores it at exit."""

    __slots__ = ("_field", "_graph", "_saved", "_value")

    def __init__(self, graph: Graph, attribute: str, value: Any) -> None:
        self._graph = graph
        self._field = attribute
        self._value = value

    def __enter__(self) -> Graph:
        self._saved = getattr(self._graph, self._field)
        setattr(self._graph, self._field, self._value)
        return self._graph

    def __exit__(self, *error: object) -> None:
        setattr(self._graph, self._field, self._saved)
