"""Dead code elimination.

A node remains if one of its outputs is needed or if it has side effects. A node that writes to memory also
remains if a needed value may read the memory. The pass also removes unused outputs of ifs and loops, and the
nodes that compute them.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from itertools import chain
from typing import Final

from ts.analysis.alias import AliasDb
from ts.analysis.effects import STRUCTURAL, has_side_effects, may_raise
from ts.analysis.mutation import writes_to_inputs, written_inputs
from ts.ir.graph import Block, Graph, Node, Value
from ts.passes.pass_logging import optimization_allowed, update
from ts.passes.pass_utils import BODY_INPUTS, LOOP_INPUTS, walk_nodes
from ts.passes.preserve_raising_code import store_copy


def eliminate_dead_code(graph: Graph) -> bool:
    """Remove nodes, and outputs of ifs and loops, that do not affect results and side effects."""
    return _Eliminator(graph, False).run()


def eliminate_unfailing_dead_code(graph: Graph) -> bool:
    """Eliminate dead code, but keep nodes that may raise.

    Python executes such nodes, although PyTorch removes them.
    """
    return _Eliminator(graph, True).run()


def _is_endless(loop: Node) -> bool:
    """Return whether `loop` is a `while True` without exit, which makes later code unreachable."""
    values = loop.inputs()[0], loop.inputs()[1], loop.blocks()[0].outputs()[0]
    if any(value.node().kind() != "prim::Constant" for value in values):
        return False
    return [value.to_ivalue() for value in values] == [sys.maxsize, True, True]


# Kinds of nodes whose outputs are marked as live individually. For other nodes, all outputs are live together
_BY_OUTPUT: Final = frozenset({"prim::Param", "prim::If", "prim::Loop"})


class _Eliminator:
    """Elimination by the numbers of uses, or by mark-and-sweep in graphs with loops or unused writes.

    Marking starts from the graph's outputs and side effects.
    """

    def __init__(self, graph: Graph, keep_failing: bool) -> None:
        self._graph = graph
        self._keep_failing = keep_failing
        self._live_nodes: set[Node] = set()
        self._live: set[Value] = set()
        self._added: list[Value] = []  # live values whose producers are not yet marked
        self._pending: list[Value] = []
        self._changed = False
        self._has_unused_writers = False

    def run(self) -> bool:
        if "prim::Loop" in self._graph.kinds():  # a carried value that only computes itself has uses
            self._mark_and_sweep()
            return self._changed
        self._remove_unused(self._graph.block())
        if self._has_unused_writers:
            self._mark_and_sweep()
        return self._changed

    def _mark_and_sweep(self) -> None:
        writers: list[Node] = []
        self._mark_effects(self._graph.block(), writers)
        self._mark_values(self._graph.outputs())
        self._propagate()
        if writers:
            self._mark_writers(writers)
        self._sweep(self._graph.block())

    # -- removal of unused nodes in graphs without loops -----------------------------------------------

    def _remove_unused(self, block: Block) -> None:
        """Remove the nodes without uses in reverse order, so that their inputs lose uses before their nodes.

        Nodes that write to their inputs remain, and set `_has_unused_writers`, because other nodes may read
        the memory.
        """
        for node in block.reverse_nodes():
            if node.blocks():
                if node.kind() == "prim::If":
                    self._remove_if_outputs(node)
                for inner in node.blocks():
                    self._remove_unused(inner)
            if node.has_uses() or self._has_effect(node):
                continue
            if not all(inner.is_empty() for inner in node.blocks()):
                continue
            if node.kind() not in STRUCTURAL and writes_to_inputs(node):
                self._has_unused_writers = True
            else:
                self._destroy(node)

    def _has_effect(self, node: Node) -> bool:
        return has_side_effects(node) or (self._keep_failing and may_raise(node))

    def _destroy(self, node: Node) -> None:
        if optimization_allowed("dce"):
            update("dce", "{} will be removed", node)
            if _contains_raising_code(node):
                store_copy(self._graph)
            node.destroy()
            self._changed = True

    # -- marking of live nodes and values --------------------------------------------------------------

    def _mark_effects(self, block: Block, writers: list[Node]) -> None:
        for node in block.nodes():
            kind = node.kind()
            if kind == "prim::Constant":
                continue
            if self._has_effect(node):
                self._mark_node(node)
            elif kind not in STRUCTURAL:
                if writes_to_inputs(node):
                    writers.append(node)
            elif kind == "prim::Loop":
                if _is_endless(node):
                    self._mark_node(node)
                self._mark_loop(node)
            for inner in node.blocks():
                self._mark_effects(inner, writers)

    def _mark_loop(self, loop: Node) -> None:
        """Mark the condition of `loop`, and the next value of each carried value that the body reads.

        If the body computes one of these next values, the loop itself becomes needed, as in PyTorch.
        """
        body = loop.blocks()[0]
        self._mark_value(body.outputs()[0])
        for i, carried in enumerate(body.inputs()[BODY_INPUTS:]):
            if carried.has_uses():
                self._mark_value(body.outputs()[i + 1])

    def _mark_writers(self, writers: list[Node]) -> None:
        """Mark nodes that write to memory visible outside the graph or reachable from a needed value."""

        def is_directly_observed(node: Node) -> bool:
            return any(value in self._live or self._is_outside(value) for value in written_inputs(node))

        pending = self._mark_writers_if(is_directly_observed, writers[::-1])
        # Usually no unmarked writers remain, because most nodes that write change a live value or a buffer of
        # a module.
        if not pending:
            return
        aliases = self._graph.analysis(AliasDb)
        self._added = []
        memory = aliases.memory_of(self._live)

        def is_observed(node: Node) -> bool:
            nonlocal memory
            memory |= aliases.memory_of(self._added)
            self._added.clear()
            return aliases.writes_to_wildcard(node) or aliases.writes_to_memory(node, memory)

        self._mark_writers_if(is_observed, pending)

    def _is_outside(self, value: Value) -> bool:
        """Return whether a value is a graph input or an input's attribute."""
        while value.node().kind() == "prim::GetAttr":
            value = value.node().input()
        return value.node() is self._graph.param_node()

    def _mark_writers_if(self, is_observed: Callable[[Node], bool], writers: list[Node]) -> list[Node]:
        """Mark the writers for which `is_observed` is true, until it is false for all unmarked writers.

        A mark can make `is_observed` true for other writers. Return the unmarked writers.
        """
        changed = True
        while changed:
            changed = False
            rest = []
            for node in writers:
                if node in self._live_nodes:
                    continue
                if is_observed(node):
                    self._mark_node(node)
                    self._propagate()
                    changed = True
                else:
                    rest.append(node)
            writers = rest
        return writers

    def _mark_node(self, node: Node | None) -> None:
        """Mark `node` and the nodes that contain `node` as needed, and the inputs of all these nodes."""
        while node is not None and node not in self._live_nodes:
            self._live_nodes.add(node)
            # If `node` is a loop, all initial values of carried values are marked, even if the carried value
            # is not live. A later run of the pass removes the unneeded ones.
            self._mark_values(node.inputs())
            if node.kind() not in _BY_OUTPUT:
                for inner in node.blocks():
                    self._mark_values(inner.outputs())
            node = node.owning_block().owning_node()

    def _mark_values(self, values: list[Value]) -> None:
        live = self._live
        for value in values:
            if value not in live:
                live.add(value)
                self._pending.append(value)

    def _mark_value(self, value: Value) -> None:
        if value not in self._live:
            self._live.add(value)
            self._pending.append(value)

    def _propagate(self) -> None:
        pending, live_nodes = self._pending, self._live_nodes
        for value in pending:  # the loop appends to `pending`
            node = value.node()
            kind = node.kind()
            if kind not in _BY_OUTPUT:
                if node not in live_nodes:
                    self._mark_node(node)
                continue
            if kind == "prim::Param":
                self._mark_carried(value, node.owning_block())
                continue
            self._mark_node(node)
            if kind == "prim::If":
                for block in node.blocks():
                    self._mark_value(block.outputs()[value.offset()])
            else:
                self._mark_value(node.blocks()[0].outputs()[value.offset() + 1])
        self._added += pending
        pending.clear()

    def _mark_carried(self, value: Value, block: Block) -> None:
        owner = block.owning_node()
        if owner is not None and owner.kind() == "prim::Loop" and value.offset() >= BODY_INPUTS:
            self._mark_value(block.outputs()[value.offset() - BODY_INPUTS + 1])

    # -- removal of unmarked nodes ---------------------------------------------------------------------

    def _sweep(self, block: Block) -> None:
        """Remove unmarked nodes in reverse order, so that uses are removed before their definitions."""
        for node in block.reverse_nodes():
            if node not in self._live_nodes:
                self._destroy(node)
                continue
            blocks = node.blocks()
            if not blocks:
                continue
            if node.kind() == "prim::If":
                self._remove_if_outputs(node)
            elif node.kind() == "prim::Loop":
                self._remove_loop_outputs(node)
            for inner in blocks:
                self._sweep(inner)

    def _remove_if_outputs(self, node: Node) -> None:
        for i in reversed(range(len(node.outputs()))):
            if not node.outputs()[i].has_uses():
                node.erase_output(i)
                for block in node.blocks():
                    block.erase_output(i)
                self._changed = True

    def _remove_loop_outputs(self, node: Node) -> None:
        body = node.blocks()[0]
        for i in reversed(range(len(node.outputs()))):
            if not node.outputs()[i].has_uses() and not body.inputs()[i + BODY_INPUTS].has_uses():
                remove_carried(node, i)
                self._changed = True


def _contains_raising_code(node: Node) -> bool:
    return may_raise(node) or any(map(may_raise, chain.from_iterable(map(walk_nodes, node.blocks()))))


def remove_carried(loop: Node, i: int) -> None:
    """Remove carried variable `i` of a loop. The variable's output and body input must have no uses."""
    body = loop.blocks()[0]
    loop.erase_output(i)
    loop.remove_input(i + LOOP_INPUTS)
    body.erase_input(i + BODY_INPUTS)
    body.erase_output(i + 1)
