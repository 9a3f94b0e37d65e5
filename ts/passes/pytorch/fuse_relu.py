"""Fusion of an addition and the following ReLU into one operator.

The pass replaces the nodes on the left by the node on the right:

    %2 : Tensor = aten::add(%x, %y, %1)
    %3 : Tensor = aten::relu(%2)              =>      %3 : Tensor = aten::_add_relu(%x, %y, %1)
"""

from __future__ import annotations

from typing import Final

from ts.ir.graph import Graph
from ts.passes.subgraph_rewrite import rewrite

_PATTERNS: Final = (
    ("add", "relu", "_add_relu"),
    ("add_", "relu_", "_add_relu_"),
    ("add", "relu_", "_add_relu"),
)


def fuse_add_relu(graph: Graph) -> bool:
    """Fuse each addition with the ReLU that reads the sum, if no other node reads the sum."""
    changed = False
    for add, relu, fused in _PATTERNS:
        changed |= rewrite(
            f"graph(%a, %b, %alpha):\n  %sum = aten::{add}(%a, %b, %alpha)\n  %r = aten::{relu}(%sum)\n"
            "  return (%r)",
            f"graph(%a, %b, %alpha):\n  %r = aten::{fused}(%a, %b, %alpha)\n  return (%r)",
            graph,
        )
    return changed
