"""Graph verification (`ts.ir.verifier`) as a pass.

`lint(graph)` raises `InternalError` with the graph's text if the graph is invalid.
"""

from __future__ import annotations

from ts.ir.graph import Graph
from ts.ir.verifier import verify


def lint(graph: Graph) -> bool:
    """Verify `graph` and return False, because the graph does not change."""
    verify(graph)
    return False
