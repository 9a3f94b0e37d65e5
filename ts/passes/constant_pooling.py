"""Constant pooling: each constant once, at the start of the graph.

    block0():                                        %1 : int = prim::Constant[value=2]()
      %5 : int = prim::Constant[value=2]()           block0():
      %6 : int = aten::add(%x, %5)             =>      %6 : int = aten::add(%x, %1)
    block1():                                        block1():
      %8 : int = prim::Constant[value=2]()             %9 : int = aten::mul(%x, %1)
      %9 : int = aten::mul(%x, %8)

The last constant found comes first: each is moved before those already there. A constant that the program
may write to, or return, stays apart.
"""

from __future__ import annotations

from typing import Any

from ts.analysis.alias import AliasDb
from ts.analysis.writes import is_only_read
from ts.ir.graph import Block, Graph, Node
from ts.ir.types import ClassType, Type
from ts.passes.constant_propagation import constant_key


def constant_pooling(graph: Graph) -> bool:
    """Merge equal constants and move them to the start of the graph."""
    return _Pool(graph).visit(graph.block())


class _Pool:
    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._constants: dict[tuple[Any, ...], Node] = {}
        self._first = next(iter(graph.block().nodes()), None)
        self._only_read: set[Node] = set()  # of those that others were merged into
        self._aliases: AliasDb | None = None

    def visit(self, block: Block) -> bool:
        changed = False
        for node in list(block.nodes()):  # nodes move to the front
            if node.kind() != "prim::Constant":
                for inner in node.blocks():
                    changed |= self.visit(inner)
                continue
            existing = self._constants.setdefault(constant_key(node), node)
            if existing is node:
                if self._first is not None and node is not self._first:
                    node.move_before(self._first)
                    self._first = node
                    changed = True
            elif _is_the_same(node.output().type()) or self._may_merge(node, existing):
                node.output().replace_all_uses_with(existing.output())
                node.destroy()
                changed = True
        return changed

    def _may_merge(self, node: Node, existing: Node) -> bool:
        if is_only_read(node.output()) and (existing in self._only_read or is_only_read(existing.output())):
            self._only_read.add(existing)  # and stays so: its uses are not asked for again and again
            return True
        self._only_read.discard(existing)
        if self._aliases is None:
            self._aliases = AliasDb(self._graph)
        return self._aliases.safe_to_change_aliasing_relationship(node.outputs(), existing.outputs())


def _is_the_same(type: Type) -> bool:
    """Whether equal constants of the type are one value: objects are equal to themselves only."""
    return not type.mutable or isinstance(type, ClassType)
