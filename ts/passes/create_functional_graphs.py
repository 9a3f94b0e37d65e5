"""Parts of a program in which nobody writes become graphs of their own, and back.

    %a : Tensor = aten::mul(%x, %y)                  %b : Tensor = prim::FunctionalGraph_0(%x, %y)
    %b : Tensor = aten::add(%a, %y, %one)      =>    with prim::FunctionalGraph_0 = graph(%x, %y):
                                                       %a : Tensor = aten::mul(%x, %y) ...

A node belongs to such a part if it neither writes, nor acts outside, nor is written to, nor has results that
escape; nodes with blocks stay where they are. What depends on each other moves together as far as its order
with everything else allows (`ts.analysis.reorder`). `inline_functional_graphs` undoes it, in PyTorch's order.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final

from ts.analysis.alias import AliasDb
from ts.analysis.effects import has_side_effects, is_nondeterministic
from ts.ir.graph import Block, Graph, Node, Value
from ts.passes.constant_pooling import constant_pooling
from ts.passes.control_flow import nodes_of
from ts.passes.log import optimization_allowed, update

_KIND: Final = "prim::FunctionalGraph"
_FEWEST: Final = 6  # nodes of a part: smaller ones are left, as PyTorch leaves them


def create_functional_graphs(graph: Graph, fewest: int = _FEWEST) -> bool:
    """Make a graph of each part of at least `fewest` nodes."""
    return _visit(graph.block(), AliasDb(graph), fewest)


def inline_functional_graphs(graph: Graph) -> bool:
    """Put the nodes of such graphs back."""
    return inline_groups(graph, (_KIND,))


def inline_groups(graph: Graph, kinds: Collection[str]) -> bool:
    """Replace nodes of these kinds by the nodes of their graphs."""
    changed = False
    for node in list(nodes_of(graph.block())):
        wanted = node.kind() in kinds and node.has_attribute("Subgraph")
        if wanted and optimization_allowed("create_functional_graphs"):
            inline_group(node)
            changed = True
    if changed:
        constant_pooling(graph)
    return changed


def _visit(block: Block, aliases: AliasDb, fewest: int) -> bool:
    """From below: what a part reads joins it, where it can move to stand before it."""
    changed = False
    node = block.return_node().prev()
    while node is not block.return_node():
        for inner in node.blocks():
            changed |= _visit(inner, aliases, fewest)
        if _is_functional(node, aliases):
            node = _grown(node, aliases)
            count = sum(1 for _ in node["Subgraph"].nodes())
            if count < fewest or not optimization_allowed("create_functional_graphs"):
                node = _dissolved(node)
                changed |= count > 1  # they may have moved
            else:
                update("create_functional_graphs", "Joined what ends with {}", node)
                sink_constants(node)
                changed = True
        node = node.prev()
    return changed


def _grown(last: Node, aliases: AliasDb) -> Node:
    """A group of `last` and what it reads, and that reads, as far as it can move."""
    group = group_of(last, _KIND)
    refused: set[Node] = set()
    while True:
        makers = {value.node() for value in group.inputs()} - refused
        near = [node for node in makers if node.owning_block() is group.owning_block()]
        if not near:
            return group
        node = max(near, key=_place)
        if _is_functional(node, aliases) and aliases.move_before_topologically_valid(node, group):
            merge_into_group(node, group)
        else:
            refused.add(node)


def _dissolved(group: Node) -> Node:
    """The nodes of a group that is too small, in its place; gives the first one."""
    before = group.prev()
    inline_group(group)
    return before.next()


def _place(node: Node) -> int:
    return node._position


def _is_functional(node: Node, aliases: AliasDb) -> bool:
    if node.kind() in ("prim::Constant", "prim::Param") or node.blocks() or not node.outputs():
        return False
    if node.schema() is None or has_side_effects(node) or is_nondeterministic(node):
        return False
    if aliases.is_mutable(node) or aliases.has_writers(node):
        return False
    return not any(map(aliases.escapes, node.outputs()))


# -- groups of nodes ---------------------------------------------------------------------------------------


def group_of(node: Node, kind: str) -> Node:
    """A node of `kind` in the place of `node`, which is in its graph."""
    group = node.owning_graph().create(kind, (), 0).set("Subgraph", Graph(), "g")
    group.copy_metadata(node)
    group.insert_after(node)
    merge_into_group(node, group)
    return group


def merge_into_group(node: Node, group: Node) -> None:
    """Let `node`, which stands just before `group`, be the first one of its graph."""
    inner = group["Subgraph"]
    known = dict(zip(group.inputs(), inner.inputs(), strict=True))

    def lookup(value: Value) -> Any:
        if value not in known:
            group.add_input(value)
            known[value] = inner.add_input(type=value.type()).copy_metadata(value)
        return known[value]

    copy = inner.prepend_node(inner.create_clone(node, lookup))
    for output, inside in zip(node.outputs(), copy.outputs(), strict=True):
        if output in group.inputs():
            i = group.inputs().index(output)
            inner.inputs()[i].replace_all_uses_with(inside)
            inner.erase_input(i)
            group.remove_input(i)
        if output.has_uses():
            inner.register_output(inside)
            output.replace_all_uses_with(group.add_output(type=output.type()))
    node.destroy()


def sink_constants(group: Node) -> None:
    """Let constants that a group is given be constants of its graph."""
    inner = group["Subgraph"]
    for i in reversed(range(len(group.inputs()))):
        given = group.input(i).node()
        if given.kind() == "prim::Constant":
            constant = inner.prepend_node(inner.create_clone(given, {}))
            inner.inputs()[i].replace_all_uses_with(constant.output())
            inner.erase_input(i)
            group.remove_input(i)


def inline_group(group: Node) -> None:
    """Put the nodes of a group's graph in its place."""
    graph = group.owning_graph()
    with graph.inserting_before(group):
        results = graph.insert_graph(group["Subgraph"], group.inputs())
    for output, result in zip(group.outputs(), results, strict=True):
        output.replace_all_uses_with(result)
    group.destroy()
