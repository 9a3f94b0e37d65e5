"""`lint(graph)`: check a graph's invariants; raises `InternalError` with the graph's text where one is
broken.

The checks are `ts.ir.verifier`'s. This is their name among the passes.
"""

from __future__ import annotations

from ts.ir.graph import Graph
from ts.ir.verifier import verify


def lint(graph: Graph) -> bool:
    """Check `graph`; it is never changed."""
    verify(graph)
    return False
