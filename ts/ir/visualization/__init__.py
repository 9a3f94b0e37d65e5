"""Graph visualization: diagrams of graphs.

Input: a graph. Output: SVG text, or DOT text for Graphviz. Example:

    picture = build_diagram(graph)      # boxes, wires and blocks, without positions (module `diagram`)
    arrange(picture)                    # assigns positions, in layers (module `layout`)
    svg(picture), dot(picture)          # the texts (modules `svg` and `dot`)

Output is deterministic. Graph texts are untrusted. Therefore, all texts are escaped, and a diagram contains
no scripts or external references.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ts.ir.visualization.diagram import Diagram, build_diagram
from ts.ir.visualization.dot import dot
from ts.ir.visualization.layout import arrange
from ts.ir.visualization.svg import STYLE, svg

if TYPE_CHECKING:
    from ts.ir.graph import Graph

__all__ = ["STYLE", "Diagram", "arrange", "build_diagram", "dot", "draw", "svg"]

_SUFFIXES: Final = (".svg", ".dot", ".gv")


def draw(graph: Graph, path: str | os.PathLike[str]) -> None:
    """Write a diagram of `graph` to a file. The suffix selects SVG or DOT."""
    target = Path(path)
    if target.suffix not in _SUFFIXES:
        raise ValueError(
            f"a picture of a graph is written to .svg, .dot or .gv, not to {target.name!r}; "
            "Graphviz (`dot -Tpng`) converts .dot and .gv to other formats"
        )
    diagram = build_diagram(graph)
    if target.suffix == ".svg":
        arrange(diagram)
        rendered = svg(diagram)
    else:
        rendered = dot(diagram)
    target.write_text(rendered, encoding="utf-8")
