"""Context managers for the insertion point and the source range of new nodes.

with graph.inserting_before(node), graph.at_range(range):
    graph.insert_constant(1)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ts.ir.source import SourceRange

if TYPE_CHECKING:
    from ts.ir.graph import Block, Graph
    from ts.ir.node import Node


class InsertPoint:
    """Context manager that sets a graph's insertion point and restores it at exit."""

    __slots__ = ("_graph", "_position", "_saved")

    def __init__(self, graph: Graph, position: Node | Block) -> None:
        self._graph = graph
        self._position = position

    def __enter__(self) -> Graph:
        self._saved = self._graph._insert_before
        self._graph.set_insert_point(self._position)
        return self._graph

    def __exit__(self, *error: object) -> None:
        self._graph._insert_before = self._saved


class SourceRangeScope:
    """Context manager that sets the source range of new nodes and restores it at exit."""

    __slots__ = ("_graph", "_range", "_saved")

    def __init__(self, graph: Graph, range: SourceRange | None) -> None:
        self._graph = graph
        self._range = range

    def __enter__(self) -> Graph:
        self._saved = self._graph.range
        self._graph.range = self._range
        return self._graph

    def __exit__(self, *error: object) -> None:
        self._graph.range = self._saved
