"""Constant pooling (constant deduplication), which moves merged constants to the start.

A constant that the program may write to or return is not merged. The constants end up in reverse order. This
example shows a graph before and after the pass:

    block0():                                        %1 : int = prim::Constant[value=2]()
      %5 : int = prim::Constant[value=2]()           block0():
      %6 : int = aten::add(%x, %5)             =>      %6 : int = aten::add(%x, %1)
    block1():                                        block1():
      %8 : int = prim::Constant[value=2]()             %9 : int = aten::mul(%x, %1)
      %9 : int = aten::mul(%x, %8)
"""

from __future__ import annotations

from typing import Any

from ts.analysis.alias import AliasDb
from ts.analysis.mutation import IDENTITY, is_only_read
from ts.ir.graph import Block, Graph, Node
from ts.ir.types import ClassType, ListType
from ts.passes.constant_propagation import constant_key, list_key


def constant_pooling(graph: Graph) -> bool:
    """Merge equal constants and move them to the start of the graph."""
    return _ConstantTable(graph).visit(graph.block())


class _ConstantTable:
    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._constants: dict[tuple[Any, ...], Node] = {}
        self._first = next(iter(graph.block().nodes()), None)
        self._only_read: set[Node] = set()  # pooled constants that are known to be only read
        self._aliases: AliasDb | None = None

    def visit(self, block: Block) -> bool:
        changed = False
        for node in list(block.nodes()):  # a copy of the list, because nodes move to the front
            if node.kind() != "prim::Constant":
                for inner in node.blocks():
                    changed |= self.visit(inner)
                continue
            existing = self._constants.setdefault(list_key(node) or constant_key(node), node)
            if existing is node:
                if self._first is not None and node is not self._first:
                    node.move_before(self._first)
                    self._first = node
                    changed = True
            elif self._may_merge(node, existing):
                node.output().replace_all_uses_with(existing.output())
                node.destroy()
                changed = True
        return changed

    def _may_merge(self, node: Node, existing: Node) -> bool:
        type = node.output().type()
        if not type.mutable or isinstance(type, ClassType):
            return True  # the values are immutable and equal, or the same object
        if _is_read(node) and (existing in self._only_read or _is_read(existing)):
            self._only_read.add(existing)  # the uses of `node` that `existing` gets are reads, too
            return True
        self._only_read.discard(existing)
        if isinstance(type, ListType):
            return False  # `is` must not find that two lists are the same object
        if self._aliases is None:
            self._aliases = self._graph.analysis(AliasDb)
        return self._aliases.safe_to_change_aliasing_relationship(node.outputs(), existing.outputs())


def _is_read(node: Node) -> bool:
    """Return whether a constant is only read, and only by operators that ignore object identity."""
    output = node.output()
    return is_only_read(output) and all(use.user.kind() not in IDENTITY for use in output.uses())
