"""Hoisting of size queries out of specialized loop versions (`loop_versioning`).

The pass moves `aten::size` before the loop:

    %ok : bool = prim::HasElements[dtype=7, rank=2, written=0](%a)
     = prim::If(%ok)
        block0():                                              block0():
           = prim::Loop(%m, %true)                               %n : int = aten::size(%a, %one)
            block0(%i : int):                              =>     = prim::Loop(%m, %true)
              %sizes : int[] = aten::size(%a)                       block0(%i : int):
              %n : int = aten::__getitem__(%sizes, %one)               = prim::Loop(%n, %true)
               = prim::Loop(%n, %true)                                  ...

A loop version never changes the shape of a tensor, and ranks are known. The hoisted queries therefore cannot
fail and return the same sizes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ts.ir.graph import Graph, Node, Value
from ts.passes.pass_utils import constant_value, walk_nodes


def hoist_size_queries(graph: Graph, loop: Node, ranks: Mapping[Value, int]) -> None:
    """Hoist size queries on tensors of known rank out of a loop."""
    sizes: dict[tuple[Value, int], Value] = {}
    for node in list(walk_nodes(loop.blocks()[0])):
        if not node.inputs() or node.input(0) not in ranks:
            continue
        tensor = node.input(0)
        for query, k in list(_size_queries(node, ranks[tensor])):
            if (tensor, k) not in sizes:
                with graph.inserting_before(loop), graph.at_range(node.range):
                    sizes[tensor, k] = graph.insert("aten::size", [tensor, k])
            query.output().replace_all_uses_with(sizes[tensor, k])
            query.destroy()
        if node.kind() == "aten::size" and not node.has_uses():
            node.destroy()


def _size_queries(node: Node, rank: int) -> Iterator[tuple[Node, int]]:
    """Yield (query, dimension) for each query of one size of the tensor that `node` reads."""
    if node.kind() == "aten::len" and rank:
        yield node, 0
    elif node.kind() == "aten::size" and len(node.inputs()) == 1:
        for use in node.output().uses():
            k = _dimension(use.user, rank) if use.offset == 0 else None
            if k is not None and use.user.kind() == "aten::__getitem__":
                yield use.user, k
    elif node.kind() == "aten::size":
        k = _dimension(node, rank)
        if k is not None:
            yield node, k


def _dimension(node: Node, rank: int) -> int | None:
    """Return the constant dimension argument of a node as a nonnegative index, or None if unknown."""
    k = constant_value(node.input(1)) if len(node.inputs()) == 2 else None
    return k % rank if isinstance(k, int) and -rank <= k < rank else None
