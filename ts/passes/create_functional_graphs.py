"""Subgraph extraction (outlining) of the mutation-free parts of a program as functional graphs, and inlining.

A functional node has no side effects and does not write. Its results do not escape, and no node writes to
them. The pass moves functional nodes next to each other if dependencies allow it. `inline_functional_graphs`
is the inverse. This example shows nodes before and after the extraction:

    %a : Tensor = aten::mul(%x, %y)                  %b : Tensor = prim::FunctionalGraph_0(%x, %y)
    %b : Tensor = aten::add(%a, %y, %one)      =>    with prim::FunctionalGraph_0 = graph(%x, %y):
                                                       %a : Tensor = aten::mul(%x, %y) ...
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final

from ts.analysis.alias import AliasDb
from ts.analysis.effects import STRUCTURAL, has_side_effects
from ts.ir.graph import Block, Graph, Node, Value
from ts.passes.constant_pooling import constant_pooling
from ts.passes.pass_logging import optimization_allowed, update
from ts.passes.pass_utils import walk_nodes

_KIND: Final = "prim::FunctionalGraph"
_MIN_SUBGRAPH_NODES: Final = 6  # smaller graphs are not created, as in PyTorch


def create_functional_graphs(graph: Graph, fewest: int = _MIN_SUBGRAPH_NODES) -> bool:
    """Move functional nodes to functional graphs with at least `fewest` nodes each."""
    return _visit(graph.block(), AliasDb(graph), fewest)


def inline_functional_graphs(graph: Graph) -> bool:
    """Replace functional graphs by their nodes."""
    return inline_groups(graph, (_KIND,))


def inline_groups(graph: Graph, kinds: Collection[str]) -> bool:
    """Replace group nodes of the given `kinds` by the nodes of their subgraphs."""
    changed = False
    for node in list(walk_nodes(graph.block())):
        is_group = node.kind() in kinds and node.has_attribute("Subgraph")
        if is_group and optimization_allowed("create_functional_graphs"):
            inline_group(node)
            changed = True
    if changed:
        constant_pooling(graph)
    return changed


def _visit(block: Block, aliases: AliasDb, fewest: int) -> bool:
    """Create the functional graphs of `block`, beginning with the last node."""
    changed = False
    node = block.return_node().prev()
    while node is not block.return_node():
        if not _is_functional(node, aliases):
            for inner in node.blocks():
                changed |= _visit(inner, aliases, fewest)
        else:
            node = _grow_group(node, aliases)
            count = sum(1 for _ in node["Subgraph"].nodes())
            if _count_nodes(node["Subgraph"]) < fewest or not optimization_allowed(
                "create_functional_graphs"
            ):
                node = _inline_small_group(node)
                # The order of the nodes may have changed, because functional nodes were moved next to each
                # other.
                changed |= count > 1
            else:
                update("create_functional_graphs", "Created the functional graph that ends with {}", node)
                sink_constants(node)
                changed = True
        node = node.prev()
    return changed


def _grow_group(last: Node, aliases: AliasDb) -> Node:
    """Create a group of `last` and of the preceding functional nodes that can move next to `last`."""
    group = group_of(last, _KIND)
    node = group.prev()
    while node is not group.owning_block().return_node():
        before = node.prev()
        if _is_functional(node, aliases) and aliases.move_before_topologically_valid(node, group):
            merge_into_group(node, group)
            aliases.forget_group(group)
        node = before
    return group


def _inline_small_group(group: Node) -> Node:
    """Inline `group`, a functional graph with too few nodes, and return the first inlined node."""
    before = group.prev()
    inline_group(group)
    return before.next()


def _count_nodes(graph: Graph) -> int:
    """Return the number of nodes in a graph, including those in blocks, but without constants."""
    return sum(node.kind() != "prim::Constant" for node in graph.all_nodes())


def _position(node: Node) -> int:
    return node._position


def _is_functional(node: Node, aliases: AliasDb) -> bool:
    """Return whether a functional graph may contain `node`."""
    skipped = ("prim::Constant", "prim::Param", _KIND)
    return node.kind() not in skipped and _has_no_effects(node, aliases)


def _has_no_effects(node: Node, aliases: AliasDb) -> bool:
    """Return whether `node` is functional: no writes and side effects, and no result is written or escapes.

    The same must hold for the nodes in the blocks of `node`.
    """
    is_known = node.schema() is not None or node.kind() in STRUCTURAL or node.kind() == _KIND
    if not is_known:
        return False
    if has_side_effects(node) or aliases.is_mutable(node):
        return False
    if any(aliases.has_writers(value) or aliases.escapes(value) for value in node.outputs()):
        return False
    return all(_has_no_effects(inner, aliases) for block in node.blocks() for inner in block.nodes())


# -- groups of nodes ---------------------------------------------------------------------------------------


def group_of(node: Node, kind: str, aliases: AliasDb | None = None) -> Node:
    """Replace `node` by a group node of `kind` whose subgraph contains `node`, and update `aliases`."""
    group = node.owning_graph().create(kind, (), 0).set("Subgraph", Graph(), "g")
    group.copy_metadata(node)
    group.insert_after(node)
    merge_into_group(node, group, aliases)
    return group


def merge_into_group(node: Node, group: Node, aliases: AliasDb | None = None) -> None:
    """Move `node`, the immediate predecessor of `group`, to the start of the group's graph.

    If `aliases` is passed, record in it that the new results of the group are aliases of the node's results.
    """
    inner = group["Subgraph"]
    inner_values = dict(zip(group.inputs(), inner.inputs(), strict=True))

    def lookup(value: Value) -> Any:
        if value not in inner_values:
            group.add_input(value)
            inner_values[value] = inner.add_input(type=value.type()).copy_metadata(value)
        return inner_values[value]

    copy = inner.prepend_node(inner.create_clone(node, lookup))
    for output, inner_output in zip(node.outputs(), copy.outputs(), strict=True):
        if output in group.inputs():
            i = group.inputs().index(output)
            inner.inputs()[i].replace_all_uses_with(inner_output)
            inner.erase_input(i)
            group.remove_input(i)
        if output.has_uses():
            inner.register_output(inner_output)
            result = group.add_output(type=output.type()).copy_metadata(output)
            output.replace_all_uses_with(result)
            if aliases is not None:
                aliases.replace_with_new_value(output, result)
    node.destroy()


def sink_constants(group: Node) -> None:
    """Move constant inputs of a group into its graph."""
    inner = group["Subgraph"]
    for i in reversed(range(len(group.inputs()))):
        producer = group.input(i).node()
        if producer.kind() == "prim::Constant":
            constant = inner.prepend_node(inner.create_clone(producer, {}))
            inner.inputs()[i].replace_all_uses_with(constant.output())
            inner.erase_input(i)
            group.remove_input(i)


def inline_group(group: Node) -> None:
    """Replace a group by the nodes of its graph."""
    graph = group.owning_graph()
    with graph.inserting_before(group):
        results = graph.insert_graph(group["Subgraph"], group.inputs())
    for output, result in zip(group.outputs(), results, strict=True):
        output.replace_all_uses_with(result)
    group.destroy()
