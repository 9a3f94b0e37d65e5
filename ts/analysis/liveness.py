"""Liveness analysis (live-variable analysis) of graphs, which finds the last uses of values.

Input: a graph. Output: for each node, the values of its block that are dead after the node.

A read in a nested block counts as a read by the node that contains the block. Therefore, an outer value that
a loop body reads is live until the loop ends. The inputs of a block belong to this block. The right column
shows the values that die at each node:

    graph(%a : int):                         dying
      %b : int = aten::add(%a, %a)           %a
      %c : int = prim::If(%p)                %b      (only a branch reads %b)
        block0():
          %d : int = aten::neg(%b)           -       (%b belongs to the outer block)
          -> (%d)                            -       (outputs do not die in their block)
        block1(): ...
      return (%c)
"""

from __future__ import annotations

from collections.abc import Sequence

from ts.ir.graph import Block, Graph, Node, Value


class Liveness:
    """Last uses of all values of a graph, valid until the graph changes."""

    def __init__(self, graph: Graph) -> None:
        self._last_use: dict[Value, Node] = {}
        self._dying: dict[Node, list[Value]] = {}
        self._outer: dict[Block, dict[Value, None]] = {}
        self._visit(graph.block())

    def last_use(self, value: Value) -> Node | None:
        """Return the last node in the block of `value` that reads `value`, directly or in a nested block.

        Returns the block's return node for outputs of the block, None for unused values.
        """
        return self._last_use.get(value)

    def dying(self, node: Node) -> Sequence[Value]:
        """Return the values in the block of `node` that are dead after it, including its unused outputs."""
        return self._dying.get(node, ())

    def _visit(self, block: Block) -> None:
        """Record last uses in `block` by a backward traversal of its nodes."""
        outer: dict[Value, None] = {}
        self._outer[block] = outer
        defined = set(block.inputs())
        nodes = list(block.nodes())
        for node in nodes:
            defined.update(node.outputs())
        last_use = self._last_use
        nodes.append(block.return_node())
        for node in reversed(nodes):
            read_values = list(node.inputs())
            for inner in node.blocks():
                self._visit(inner)
                read_values += self._outer[inner]
            dying = []
            for value in read_values:
                if value not in defined:
                    outer[value] = None
                elif value not in last_use:
                    last_use[value] = node
                    dying.append(value)
            dying += [value for value in node.outputs() if value not in last_use]
            if dying and node is not nodes[-1]:
                self._dying[node] = dying
