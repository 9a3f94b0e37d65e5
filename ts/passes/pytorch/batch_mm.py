"""Batched matrix multiplication: many small matrix products become one large product.

The pass replaces the nodes on the left by the node on the right. Only the first products are shown:

    a sum of at least four products                  %s : Tensor = prim::MMTreeReduce(%a, %c..., %b, %d...)
      %x : Tensor = aten::mm(%a, %b)            =>      product of the left factors, concatenated by columns,
      %y : Tensor = aten::mm(%c, %d) ...                and the right factors, concatenated by rows
      %s : Tensor = aten::add(%x, %y, %one) ...
    at least eight products with one factor          %x : Tensor, %y : Tensor ... =
      %x : Tensor = aten::mm(%a, %b)            =>     prim::MMBatchSide[side=0](%a, %b, %c...)
      %y : Tensor = aten::mm(%a, %c) ...             (side=1: the right factor is the common one)

The pass is opt-in because it changes the summation order, and thereby rounding. A product is not batched if a
node writes to its inputs or result.
"""

from __future__ import annotations

from typing import Final

from ts.analysis.alias import AliasDb
from ts.ir.graph import Block, Graph, Node, Value
from ts.passes.dce import eliminate_dead_code
from ts.passes.pass_logging import optimization_allowed, update
from ts.passes.pass_utils import constant_value

_MIN_SUMMANDS: Final = 4
_MIN_SHARED_PRODUCTS: Final = 8


def batch_mm(graph: Graph) -> bool:
    """Replace sums of many `aten::mm`, and groups of `aten::mm` that share an operand, in each block.

    A sum is replaced by one `prim::MMTreeReduce`, a group by one `prim::MMBatchSide`.
    """
    changed = _visit(graph.block(), None)
    if changed:
        eliminate_dead_code(graph)
    return changed


def _visit(block: Block, aliases: AliasDb | None) -> bool:
    products = []
    changed = False
    for node in block.nodes():
        for inner in node.blocks():
            changed |= _visit(inner, aliases)
        if node.kind() == "aten::mm":
            products.append(node)
    if len(products) < _MIN_SUMMANDS:
        return changed
    aliases = aliases or block.owning_graph().analysis(AliasDb)
    products = [node for node in products if not aliases.has_writers(node)]
    changed |= _reduce_trees(block, aliases, products)
    products = [node for node in products if node.in_block() and node.has_uses()]
    for side in (0, 1):
        changed |= _batch_side(aliases, products, side)
    return changed


# -- sums of products --------------------------------------------------------------------------------------


def _reduce_trees(block: Block, aliases: AliasDb, products: list[Node]) -> bool:
    """Replace sums of matrix products by one `prim::MMTreeReduce` each.

    A sum is a tree of additions whose inner results have no other uses.
    """
    leaves: dict[Node, list[Node]] = {node: [node] for node in products}
    roots: dict[Node, list[Node]] = {}
    for node in block.nodes():
        if node.kind() != "aten::add" or not _is_plain_sum(node) or aliases.has_writers(node):
            continue
        addends = [value.node() for value in node.inputs()[:2]]
        if all(addend in leaves and addend.output().use_count() == 1 for addend in addends):
            leaves[node] = [leaf for addend in addends for leaf in leaves[addend]]
            roots[node] = leaves[node]
            for addend in addends:
                roots.pop(addend, None)
    changed = False
    for root, summands in roots.items():
        if len(summands) >= _MIN_SUMMANDS and optimization_allowed("batch_mm"):
            update("batch_mm", "Joining the {} products of {}", len(summands), root)
            factors = [leaf.input(0) for leaf in summands] + [leaf.input(1) for leaf in summands]
            _replace([root.output()], "prim::MMTreeReduce", factors, root)
            changed = True
    return changed


def _is_plain_sum(node: Node) -> bool:
    tensors = all(value.type().kind() == "TensorType" for value in node.inputs()[:2])
    return tensors and len(node.inputs()) == 3 and constant_value(node.input(2)) == 1


# -- products with a common factor -------------------------------------------------------------------------


def _batch_side(aliases: AliasDb, products: list[Node], side: int) -> bool:
    sharing: dict[Value, list[Node]] = {}
    for node in products:
        if node.in_block():
            sharing.setdefault(node.input(side), []).append(node)
    changed = False
    for common, group in sharing.items():
        first, *others = group
        batched_nodes = [first]
        if len(group) >= _MIN_SHARED_PRODUCTS and optimization_allowed("batch_mm"):
            batched_nodes += [node for node in others if aliases.move_before_topologically_valid(node, first)]
        if len(batched_nodes) < _MIN_SHARED_PRODUCTS:
            continue
        batched_nodes.sort(key=group.index)
        update("batch_mm", "Joining {} products with %{}", len(batched_nodes), common.debug_name())
        factors = [common, *(node.input(1 - side) for node in batched_nodes)]
        last = max(batched_nodes, key=lambda node: node._position)
        outputs = [node.output() for node in batched_nodes]
        _replace(outputs, "prim::MMBatchSide", factors, last).set("side", side)
        changed = True
    return changed


def _replace(outputs: list[Value], kind: str, inputs: list[Value], insertion_point: Node) -> Node:
    new_node = insertion_point.owning_graph().create(kind, inputs, len(outputs))
    new_node.copy_metadata(insertion_point)
    new_node.insert_after(insertion_point)
    for old, new in zip(outputs, new_node.outputs(), strict=True):
        new.set_type(old.type())
        old.replace_all_uses_with(new)
    for old in outputs:
        old.node().destroy()
    return new_node
