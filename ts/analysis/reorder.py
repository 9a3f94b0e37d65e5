"""Code motion (reordering of nodes) in a block, subject to data dependences, memory dependences and effects.

`AliasDb` provides the dependences. A move returns False if it would change the program's results.

Nodes between the node and the target may depend on the node. They move together with it:

    move `node` after `target`:       node             dependents             node            node
                                      target    =>     target      or         dependents =>   target
                                      (before)         node                   target          dependents

In the second case, the node is already on the desired side of the target, and only its dependents move.
Writes to the same memory keep their order. Nodes with side effects keep their order too. Reads do not move
past writes to the same memory. The cost is linear in the number of nodes between node and target.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ts.analysis.effects import GROUPS, has_side_effects
from ts.ir.graph import Block, Node

if TYPE_CHECKING:
    from ts.analysis.alias import AliasDb


class MovableGroup:
    """Nodes of one block that move together, with their combined reads, writes and effects."""

    def __init__(self, aliases: AliasDb, first: Node, forward: bool) -> None:
        self.nodes: list[Node] = []
        self._aliases = aliases
        self._block = first.owning_block()
        self._forward = forward  # True if the target follows the group
        # Nodes that the group cannot pass. When the group moves forwards, these are the readers of its
        # results. When it moves backwards, these are the nodes that compute its inputs.
        self._dependencies: set[Node] = set()
        self._reads = 0
        self._writes = 0
        self._has_effects = False
        self.add(first)

    def add(self, node: Node) -> None:
        """Add `node` to the group."""
        self.nodes.append(node)
        self._reads |= self._aliases.reads_of(node)
        self._writes |= self._aliases.writes_of(node)
        self._has_effects = self._has_effects or has_effects(node)
        self._add_dependents(node)

    def conflicts_with(self, other: Node) -> bool:
        """Return whether `other` and the group must keep their order."""
        if other in self._dependencies or (self._has_effects and has_effects(other)):
            return True
        if not self._reads and not self._writes:
            return False
        written_locations = self._aliases.writes_of(other)
        if written_locations & (self._reads | self._writes):
            return True
        return bool(self._writes and self._writes & self._aliases.reads_of(other))

    def _add_dependents(self, node: Node) -> None:
        if not self._forward:
            self._add_sources(node)
            return
        for output in node.outputs():
            for use in output.uses():
                user = _within(use.user, self._block)
                if user is not None:
                    self._dependencies.add(user)

    def _add_sources(self, node: Node) -> None:
        for value in node.inputs():
            self._dependencies.add(value.node())
        # Nodes in the blocks of a node can read any value from outside. A subgraph reads only the inputs of
        # the node that contains it.
        for block in node.blocks():
            for inner in block.nodes():
                self._add_sources(inner)
            self._add_sources(block.return_node())


def move(aliases: AliasDb, node: Node, target: Node, after: bool, dry: bool = False) -> bool:
    """Move `node` after `target` if `after`, else before it.

    Return False if the move could change results.

    With `dry`, return whether the move is possible, and move nothing.
    """
    if node is target:
        return True
    block = node.owning_block()
    if block is not target.owning_block() or block.return_node() in (node, target):
        return False
    forward = node.is_before(target)
    is_in_place = forward != after  # True if `node` is already on the requested side of `target`
    if (node.next() if forward else node.prev()) is target and is_in_place:
        return True
    group = MovableGroup(aliases, node, forward)
    between = node.next() if forward else node.prev()
    while between is not target:
        if group.conflicts_with(between):
            group.add(between)
        between = between.next() if forward else between.prev()
    moving_nodes = group.nodes
    if is_in_place:
        moving_nodes = moving_nodes[1:]
        if moving_nodes:
            group = MovableGroup(aliases, moving_nodes[0], forward)
            for other in moving_nodes[1:]:
                group.add(other)
    if moving_nodes and group.conflicts_with(target):
        return False
    if not dry:
        _move_group(node, target, moving_nodes, forward, is_in_place)
    return True


def _move_group(node: Node, target: Node, moving_nodes: list[Node], forward: bool, is_in_place: bool) -> None:
    if forward:
        if is_in_place:
            node.move_before(target)
        anchor = target
        for node_to_move in moving_nodes:
            node_to_move.move_after(anchor)
            anchor = node_to_move
    else:
        if is_in_place:
            node.move_after(target)
        for node_to_move in reversed(moving_nodes):
            node_to_move.move_before(target)


def has_effects(node: Node) -> bool:
    """Return whether `node`, or a node in its blocks, has side effects."""
    return has_side_effects(node) or any(
        has_effects(inner) for block in blocks_of(node) for inner in block.nodes()
    )


def blocks_of(node: Node) -> Sequence[Block]:
    """Return the blocks executed by `node`: its own, or the block of its subgraph."""
    if node.kind() in GROUPS and node.has_attribute("Subgraph"):
        return (node["Subgraph"].block(),)
    return node.blocks()


def _within(node: Node, block: Block) -> Node | None:
    """Return the node of `block` that is or contains `node`, or None."""
    current: Node | None = node
    while current is not None and current.owning_block() is not block:
        current = current.owning_block().owning_node()
    return current
