"""Text and Graphviz output of an alias analysis, such as `str(graph.alias_db())`.

Each line of the text states the memory to which a value may point. Example:

    %a.1 points to: WILDCARD for type Tensor
    %y.1 points to: %a.1
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from ts.ir.graph import Graph, Node, Value


class AliasReport(NamedTuple):
    """Results of an alias analysis for printing, with names such as `%a.1` for the locations."""

    graph: Graph
    points: Mapping[Value, Iterable[str]]  # value -> names of the locations to which it may point
    writes: Mapping[Node, Iterable[str]]  # node -> names of the locations to which it writes


def to_text(report: AliasReport) -> str:
    """Return the graph, the points-to sets and the writes, in PyTorch's layout."""
    lines = ["\n===1. GRAPH===", str(report.graph), "===2. ALIAS DB==="]
    lines += [f"%{v.debug_name()} points to: {', '.join(names)}" for v, names in report.points.items()]
    lines.append("\n===3. Writes===")
    for node, names in report.writes.items():
        lines += [str(node).splitlines()[0], f"  {', '.join(names)}"]
    return "\n".join(lines) + "\n"


def to_graphviz(report: AliasReport) -> str:
    """Return the points-to graph in Graphviz' language."""
    arrows = [
        f'  "%{value.debug_name()}" -> "{name}"'
        for value, names in report.points.items()
        for name in names
        if name != f"%{value.debug_name()}"
    ]
    return "\n".join(["digraph alias_db {", "  rankdir=LR", *arrows, "}"]) + "\n"
