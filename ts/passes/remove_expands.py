"""Removal of `expand` nodes that a tracer inserted, because operators broadcast implicitly.

    %y : Tensor = aten::expand(%x, %sizes, %true)        => %x    (`implicit`)
    %z : Tensor = aten::expand(%x, %sizes, %false)       remains: a call in the program

An inserted `expand` has the sizes of the traced run, which may be wrong for other inputs.
"""

from __future__ import annotations

from ts.ir.graph import Graph, Node
from ts.passes.pass_logging import optimization_allowed, update
from ts.passes.pass_utils import constant_value


def remove_expands(graph: Graph) -> bool:
    """Replace the results of `expand` nodes with `implicit=True` by their inputs."""
    changed = False
    for node in list(graph.all_nodes()):
        if _is_implicit(node) and optimization_allowed("remove_expands"):
            update("remove_expands", "Removing {}", node)
            node.output().replace_all_uses_with(node.input())
            node.destroy()
            changed = True
    return changed


def _is_implicit(node: Node) -> bool:
    return node.kind() == "aten::expand" and len(node.inputs()) == 3 and constant_value(node.input(2)) is True
