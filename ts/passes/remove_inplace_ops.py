"""Unconditional replacement of in-place operators by their functional forms, ignoring aliases.

    %2 : Tensor = aten::add_(%x, %y, %1)      =>      %2 : Tensor = aten::add(%x, %y, %1)

Use it for export to formats without in-place operators. Unlike this pass, `remove_mutation` checks first that
the program cannot observe the difference.
"""

from __future__ import annotations

from ts.ir.graph import Graph
from ts.passes.remove_mutation import functional_variant


def remove_inplace_ops(graph: Graph) -> bool:
    """Replace in-place operators; later readers of the written tensor read the new tensor."""
    changed = False
    for node in list(graph.all_nodes()):
        record = getattr(node.operator(), "record", None)
        name = functional_variant(node) if record is not None and record.elementwise else None
        if name is None:
            continue
        with graph.inserting_before(node):
            new_node = graph.insert_node(graph.create(name, list(node.inputs())))
        new_node.range = node.range
        new_node.output().copy_metadata(node.output())
        node.output().replace_all_uses_with(new_node.output())
        node.input().replace_all_uses_after_node_with(node, new_node.output())
        node.destroy()
        changed = True
    return changed
