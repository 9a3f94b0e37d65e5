"""Canonicalization (normal form of graphs) by numbering and order that give equal programs equal text.

`canonicalize(graph)` returns a copy whose values are numbered in the order of definition.
`canonicalize_outputs` sorts outputs of ifs and loops by their first use, in place. Unused outputs are last.
This example shows a graph before and after `canonicalize_outputs`:

    %a : int, %b : int = prim::If(%c)          %b : int, %a : int = prim::If(%c)
      block0(): -> (%1, %2)              =>      block0(): -> (%2, %1)
      block1(): -> (%3, %4)                      block1(): -> (%4, %3)
    %5 : int = aten::sub(%b, %a)               %5 : int = aten::sub(%b, %a)
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cmp_to_key

from ts.ir.graph import Block, Graph, Node, Use, Value
from ts.passes.pass_utils import BODY_INPUTS, LOOP_INPUTS, applies_to, walk_nodes


def canonicalize(graph: Graph, keep_unique_names: bool = True) -> Graph:
    """Return a copy of `graph` with values numbered from 0.

    Without `keep_unique_names`, only inputs of nested blocks keep their names.
    """
    copy = graph.copy()
    if keep_unique_names:
        return copy
    for value in copy.inputs():
        value.set_debug_name("")
    for node in walk_nodes(copy.block()):
        for value in node.outputs():
            value.set_debug_name("")
    return copy


@applies_to("prim::If", "prim::Loop")
def canonicalize_outputs(graph: Graph) -> bool:
    """Order the outputs of ifs and loops by first use."""
    return _visit(graph.block())


def _visit(block: Block) -> bool:
    """Sort the outputs of ifs and loops in `block`, last node first.

    The order of a node's outputs depends on their first uses in later nodes. Later nodes must therefore be
    sorted first.
    """
    changed = False
    for node in reversed(block.nodes_with_blocks()):
        kind = node.kind()
        if kind in ("prim::If", "prim::Loop") and len(node.outputs()) > 1:
            order = _order_by_first_use(node.outputs())
            if order != list(range(len(order))):
                _permute_if(node, order) if kind == "prim::If" else _permute_loop(node, order)
                changed = True
        for inner in node.blocks():
            changed |= _visit(inner)
    return changed


def _order_by_first_use(values: Sequence[Value]) -> list[int]:
    first_uses = [_first_use(value) for value in values]

    def compare(i: int, j: int) -> int:
        first, second = first_uses[i], first_uses[j]
        if first is None or second is None:
            return (first is None) - (second is None) or i - j
        return -1 if _is_before(first, second) else 1

    return sorted(range(len(values)), key=cmp_to_key(compare))


def _first_use(value: Value) -> Use | None:
    first: Use | None = None
    for use in value.uses():
        if first is None or _is_before(use, first):
            first = use
    return first


def _is_before(first: Use, second: Use) -> bool:
    if first.user is second.user:
        return first.offset < second.offset
    return _node_is_before(first.user, second.user)


def _node_is_before(first: Node, second: Node) -> bool:
    """Return whether `first` precedes `second` in program order. A node precedes the nodes in its blocks."""
    first_path, second_path = _path(first), _path(second)
    for a, b in zip(first_path, second_path, strict=False):
        if a is not b:
            if a.owning_block() is b.owning_block():
                return a.is_before(b)
            # If `a` and `b` are in different blocks of one node, compare the indices of these blocks.
            owner = a.owning_block().owning_node()
            assert owner is not None
            blocks = owner.blocks()
            return blocks.index(a.owning_block()) < blocks.index(b.owning_block())
    return len(first_path) < len(second_path)


def _path(node: Node) -> list[Node]:
    """Return the nodes whose blocks contain `node`, outermost first, followed by `node`."""
    path = [node]
    while (owner := path[-1].owning_block().owning_node()) is not None:
        path.append(owner)
    path.reverse()
    return path


def _permute_if(node: Node, order: Sequence[int]) -> None:
    node.permute_outputs(order)
    for block in node.blocks():
        block.permute_outputs(order)


def _permute_loop(node: Node, order: Sequence[int]) -> None:
    node.permute_outputs(order)
    node.permute_inputs([*range(LOOP_INPUTS), *(i + LOOP_INPUTS for i in order)])
    body = node.blocks()[0]
    body.permute_inputs([*range(BODY_INPUTS), *(i + BODY_INPUTS for i in order)])
    body.permute_outputs([0, *(i + 1 for i in order)])
