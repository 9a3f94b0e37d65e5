"""Removal of dropout outside of training.

%y : Tensor = aten::dropout(%x, %p, %false)      =>      %x instead of %y
"""

from __future__ import annotations

from typing import Final

from ts.ir.graph import Graph
from ts.passes.pass_logging import optimization_allowed, update
from ts.passes.pass_utils import constant_value, walk_nodes

_DROPOUT: Final = ("aten::dropout", "aten::dropout_", "aten::feature_dropout", "aten::feature_dropout_")


def remove_dropout(graph: Graph) -> bool:
    """Replace the results of dropout outside of training by its input."""
    changed = False
    for node in list(walk_nodes(graph.block())):
        if node.kind() not in _DROPOUT or constant_value(node.inputs()[2]) is not False:
            continue
        if optimization_allowed("remove_dropout"):
            update("remove_dropout", "Removing {}", node)
            node.output().replace_all_uses_with(node.input(0))
            node.destroy()
            changed = True
    return changed
