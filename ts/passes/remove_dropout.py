"""Removal of dropout outside of training.

%y : Tensor = aten::dropout(%x, %p, %false)      =>      %x instead of %y
"""

from __future__ import annotations

from typing import Any, Final

from ts.ir.graph import Graph
from ts.passes.pass_logging import optimization_allowed, update
from ts.passes.pass_utils import constant_value, run_on_methods, walk_nodes

_DROPOUT: Final = ("aten::dropout", "aten::dropout_", "aten::feature_dropout", "aten::feature_dropout_")


def remove_dropout(target: Graph | Any) -> bool:
    """Replace the result of each dropout node outside of training by the node's input.

    `target` is a graph or, as in PyTorch, a handle of a module, whose method graphs are changed. Raise
    RuntimeError for a module in training mode.
    """
    if isinstance(target, Graph):
        return _remove_from_graph(target)
    if target.hasattr("training") and target.getattr("training"):
        raise RuntimeError("Dropout removal module in training mode is not yet supported")
    run_on_methods(target, _remove_from_graph)
    return True


def _remove_from_graph(graph: Graph) -> bool:
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
