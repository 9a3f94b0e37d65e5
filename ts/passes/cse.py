"""Common subexpression elimination (global value numbering), which computes equal nodes once.

Equal nodes have the same kind, inputs, attributes and result types. They are deterministic and have no side
effects, and nothing writes to their inputs and results. If a node reads a number or string from a mutable
object (`path[-1]`), only writes between equal nodes matter.

This example shows nodes before and after the pass:

    %a : int = aten::mul(%x, %y)               %a : int = aten::mul(%x, %y)
    %b : int = aten::mul(%x, %y)         =>    %c : int = aten::add(%a, %a)
    %c : int = aten::add(%a, %b)
"""

from __future__ import annotations

from typing import Any

from ts.analysis.alias import AliasDb
from ts.analysis.autocast_regions import autocast_blocks
from ts.analysis.effects import has_side_effects, is_nondeterministic
from ts.analysis.mutation import any_mutable, may_write, writes_to_inputs
from ts.ir.graph import Block, Graph, Node
from ts.passes.constant_propagation import constant_key
from ts.passes.pass_logging import optimization_allowed, update

_NodeByKey = dict[tuple[Any, ...], Node]


def eliminate_common_subexpressions(graph: Graph) -> bool:
    """Replace nodes by equal earlier nodes.

    Graphs with autocast blocks are skipped, because equal nodes may have results of different dtypes there.
    """
    return not autocast_blocks(graph) and _Eliminator(graph).visit(graph.block(), [])


class _Eliminator:
    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._written = True  # False if it is known that no node of the graph writes to memory
        self._aliases: AliasDb | None = None
        self._escaping: set[Node] = set()  # nodes that replace a node whose memory escapes

    def visit(self, block: Block, outer: list[_NodeByKey]) -> bool:
        changed = False
        seen: _NodeByKey = {}
        scopes = [seen, *outer]
        # Dict from key to an earlier node that reads a number or string from a mutable object. Nodes with
        # equal keys read the same item. A node that writes clears the dict.
        attribute_reads: dict[tuple[Any, ...], Node] = {}
        for node in block.nodes():
            blocks = node.blocks()
            if blocks:
                for inner in blocks:
                    changed |= self.visit(inner, scopes)
                attribute_reads.clear()
                continue
            has_effects = has_side_effects(node)
            if has_effects or writes_to_inputs(node):
                attribute_reads.clear()
            if not node.outputs() or node.kind() == "prim::Uninitialized":
                continue
            if has_effects or is_nondeterministic(node):
                continue
            key = node_key(node)
            only_reads = any_mutable(node.inputs()) and not any_mutable(node.outputs())
            existing, may_share = attribute_reads.setdefault(key, node) if only_reads else node, True
            for scope in scopes if existing is node else ():
                if key in scope:
                    may_share = self._may_share(node)
                    if may_share and self._may_share(scope[key]) and self._equal(node, scope[key]):
                        existing = scope[key]
                    if existing is not node or not may_share:
                        break
            if existing is node:
                # One node per key suffices: if the earlier node may share memory but cannot replace `node`,
                # both escape, and the earlier node can replace the same nodes as `node`.
                if may_share and (key not in seen or not self._may_share(seen[key])):
                    seen[key] = node
            elif optimization_allowed("cse"):
                update("cse", "Replacing {}", node)
                node.replace_all_uses_with(existing)
                node.destroy()
                changed = True
                if only_reads:
                    attribute_reads[key] = existing
        return changed

    def _may_share(self, node: Node) -> bool:
        """Return whether no node of the graph writes to the inputs and outputs of `node`."""
        if any_mutable(node.inputs()) or any_mutable(node.outputs()):
            return not self._has_writers(node)
        return True

    def _has_writers(self, node: Node) -> bool:
        if self._aliases is None and self._written:
            self._written = may_write(self._graph)
        return self._written and self._alias_db().has_writers(node)

    def _equal(self, node: Node, existing: Node) -> bool:
        """Return whether `existing`, a node with the key of `node`, can replace `node`.

        No node writes to inputs and outputs of both nodes. A replacement is impossible if both nodes allocate
        new memory that escapes from the function.
        """
        if not any_mutable(node.outputs()) or not self._escapes(node):
            return True
        if self._escapes(existing):
            return False
        self._escaping.add(existing)  # because it gets the uses of `node`
        return True

    def _escapes(self, node: Node) -> bool:
        return node in self._escaping or any(map(self._alias_db().escapes, node.outputs()))

    def _alias_db(self) -> AliasDb:
        # The alias analysis stays valid after a replacement, because `node` and `existing` have the same
        # aliases. Only their escape may differ (`_escaping`).
        if self._aliases is None:
            self._aliases = self._graph.analysis(AliasDb)
        return self._aliases


def node_key(node: Node) -> tuple[Any, ...]:
    """Return a key that is equal for nodes with the same kind, inputs, attributes and output types."""
    kind = node.kind()
    if kind == "prim::Constant":
        return (kind, *constant_key(node))
    names = node.attribute_names()
    attributes = tuple((name, _hashable(node.get(name))) for name in names) if names else ()
    return (kind, tuple(map(id, node.inputs())), attributes, tuple(value.type() for value in node.outputs()))


def _hashable(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return tuple(map(_hashable, value))
    return (type(value), value) if isinstance(value, (bool, int, float, str)) else id(value)
