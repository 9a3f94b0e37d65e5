"""Decomposition of `addmm` into `mm` and `add`, which other passes can optimize.

    %y : Tensor = aten::addmm(%b, %x, %w, %1, %1)    =>    %p : Tensor = aten::mm(%x, %w)
                                                           %y : Tensor = aten::add(%b, %p, %1)

The pass applies only if both scale factors, `beta` and `alpha`, are one.
"""

from __future__ import annotations

from ts.ir.graph import Block, Graph, Node
from ts.passes.dce import eliminate_dead_code
from ts.passes.pass_logging import optimization_allowed, update
from ts.passes.pass_utils import constant_value


def decompose_ops(graph: Graph) -> bool:
    """Decompose `addmm` into `mm` and `add`."""
    changed = _visit(graph.block())
    if changed:
        eliminate_dead_code(graph)
    return changed


def _visit(block: Block) -> bool:
    changed = False
    for node in block.nodes():
        for inner in node.blocks():
            changed |= _visit(inner)
        if _is_plain_addmm(node) and optimization_allowed("decompose_ops"):
            update("decompose_ops", "Decomposing {}", node)
            _decompose(node)
            changed = True
    return changed


def _is_plain_addmm(node: Node) -> bool:
    return node.kind() == "aten::addmm" and all(constant_value(value) == 1 for value in node.inputs()[3:5])


def _decompose(node: Node) -> None:
    graph = node.owning_graph()
    bias, left, right = node.inputs()[:3]
    with graph.inserting_before(node):
        product = graph.insert("aten::mm", [left, right])
        total = graph.insert("aten::add", [bias, product, graph.insert_constant(1)])
    for value in (product, total):
        value.node().copy_metadata(node)
    node.output().replace_all_uses_with(total)
    node.destroy()
