"""Whether nodes of one block may change places, and moving them with what has to come along.

In: an `AliasDb`, a node, and where it shall stand. Out: whether that changes nothing; then it stands there.

    move `node` after `target`:       node             dependents             node            node
                                      target    =>     target      or         dependents =>   target
                                      (before)         node                   target          dependents

What depends on the node on the way moves along. Where the node stays on its side of the target, only what
depends on it passes. Writes to one memory keep their order, no read passes a write to what it reads, and
what acts on the world outside keeps its order, too. A move costs steps in proportion to its way: the group
that moves is asked as one, by what it reads and writes all in all and by the nodes that use it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ts.analysis.effects import GROUPS, has_side_effects
from ts.ir.graph import Block, Node

if TYPE_CHECKING:
    from ts.analysis.alias import AliasDb


class Group:
    """Nodes of one block that move together, and all that they do."""

    def __init__(self, aliases: AliasDb, first: Node, forward: bool) -> None:
        self.nodes: list[Node] = []
        self._aliases = aliases
        self._block = first.owning_block()
        self._forward = forward  # whether the others come after the group
        self._tied: set[Node] = set()  # the nodes of the block that use the group, or that it uses
        self._reads = 0
        self._writes = 0
        self._acts = False
        self.add(first)

    def add(self, node: Node) -> None:
        """`node` moves along."""
        self.nodes.append(node)
        self._reads |= self._aliases.reads_of(node)
        self._writes |= self._aliases.writes_of(node)
        self._acts = self._acts or acts(node)
        self._tie(node)

    def holds_back(self, other: Node) -> bool:
        """Whether `other` may not run on the other side of the group."""
        if other in self._tied or (self._acts and acts(other)):
            return True
        if not self._reads and not self._writes:
            return False
        written = self._aliases.writes_of(other)
        if written & (self._reads | self._writes):
            return True
        return bool(self._writes and self._writes & self._aliases.reads_of(other))

    def _tie(self, node: Node) -> None:
        if not self._forward:
            self._tie_sources(node)
            return
        for output in node.outputs():
            for use in output.uses():
                user = _within(use.user, self._block)
                if user is not None:
                    self._tied.add(user)

    def _tie_sources(self, node: Node) -> None:
        for value in node.inputs():
            self._tied.add(value.node())
        for block in node.blocks():  # the graph of a group sees no values from outside
            for inner in block.nodes():
                self._tie_sources(inner)
            self._tie_sources(block.return_node())


def move(aliases: AliasDb, node: Node, target: Node, after: bool, dry: bool = False) -> bool:
    """Put `node` just after `target`, or just before it, where that changes nothing; `dry`: only say so."""
    if node is target:
        return True
    block = node.owning_block()
    if block is not target.owning_block() or block.return_node() in (node, target):
        return False
    forward = node.is_before(target)
    stays = forward != after  # on this side of the target
    if (node.next() if forward else node.prev()) is target and stays:
        return True
    group = Group(aliases, node, forward)
    between = node.next() if forward else node.prev()
    while between is not target:
        if group.holds_back(between):
            group.add(between)
        between = between.next() if forward else between.prev()
    passing = group.nodes
    if stays:
        passing = passing[1:]
        if passing:
            group = Group(aliases, passing[0], forward)
            for other in passing[1:]:
                group.add(other)
    if passing and group.holds_back(target):
        return False
    if not dry:
        _place(node, target, passing, forward, stays)
    return True


def _place(node: Node, target: Node, passing: list[Node], forward: bool, stays: bool) -> None:
    if forward:
        if stays:
            node.move_before(target)
        anchor = target
        for moved in passing:
            moved.move_after(anchor)
            anchor = moved
    else:
        if stays:
            node.move_after(target)
        for moved in reversed(passing):
            moved.move_before(target)


def acts(node: Node) -> bool:
    """Whether `node`, or a node in its blocks, acts on the world outside."""
    return has_side_effects(node) or any(acts(inner) for block in blocks_of(node) for inner in block.nodes())


def blocks_of(node: Node) -> Sequence[Block]:
    """The blocks that `node` runs: its own, or that of the graph of a group."""
    if node.kind() in GROUPS and node.has_attribute("Subgraph"):
        return (node["Subgraph"].block(),)
    return node.blocks()


def _within(node: Node, block: Block) -> Node | None:
    """The node of `block` that `node` is, or that has it in its blocks; None if there is none."""
    current: Node | None = node
    while current is not None and current.owning_block() is not block:
        current = current.owning_block().owning_node()
    return current
