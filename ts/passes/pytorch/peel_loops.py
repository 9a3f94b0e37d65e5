"""Loop peeling: move the first iterations before the loop.

The pass replaces the loop on the left by the nodes on the right:

    %y : T = prim::Loop(%n, %c, %x)          %k : int = prim::min(%n, %one)
      block0(%i : int, %a : T):              %y1 : T, %c1 : bool = prim::Loop(%k, %c, %x, %c)
        ...                           =>       block0(%i : int, %a : T, %d : bool):
                                                 ... -> (%again, %b, %again)
        -> (%again, %b)                      %m : int = aten::sub(%n, %k)
                                             %y : T = prim::Loop(%m, %c1, %y1)
                                               block0(%j : int, %a : T):
                                                 %i : int = aten::add(%j, %k) ...

Analyses can then infer more precise types in the first iteration. If %n is constant, `unroll_constant_loops`
unrolls the first loop.
"""

from __future__ import annotations

from collections.abc import Callable

from ts.ir.graph import Block, Graph, Node
from ts.ir.types import BOOL
from ts.passes.pass_logging import optimization_allowed, update
from ts.passes.pass_utils import LOOP_INPUTS


def peel_loops(graph: Graph, times: int = 1, accept: Callable[[Node], bool] = lambda loop: True) -> bool:
    """Peel `times` iterations off the loops for which `accept` is true, inner loops first."""
    return _visit(graph.block(), times, accept)


def peel_loops_with_profiles(graph: Graph) -> bool:
    """Peel one iteration off loops with profile nodes, because later iterations often have other types."""
    return peel_loops(graph, accept=lambda loop: loop.blocks()[0].find_node("prim::profile") is not None)


def _visit(block: Block, times: int, accept: Callable[[Node], bool]) -> bool:
    changed = False
    for node in list(block.nodes()):
        for inner in node.blocks():
            changed |= _visit(inner, times, accept)
        if node.kind() == "prim::Loop" and accept(node) and optimization_allowed("peel_loops"):
            update("peel_loops", "Peeling {} iterations of {}", times, node)
            _peel(node, times)
            changed = True
    return changed


def _peel(loop: Node, times: int) -> None:
    graph = loop.owning_graph()
    trips, condition = loop.inputs()[:LOOP_INPUTS]
    with graph.inserting_before(loop):
        first_trips = graph.insert("prim::min", [trips, times])
        first = graph.insert_node(graph.create_clone(loop, lambda value: value))
        first.replace_input(0, first_trips)
        first.add_input(condition)
        continue_output = first.add_output(type=BOOL)
        body = first.blocks()[0]
        body.add_input(type=BOOL)
        body.register_output(body.outputs()[0])
        remaining_trips = graph.insert("aten::sub", [trips, first_trips])
    loop.replace_input(0, remaining_trips)
    loop.replace_input(1, continue_output)
    for i, output in enumerate(first.outputs()[:-1]):
        loop.replace_input(LOOP_INPUTS + i, output)
    rest = loop.blocks()[0]
    index = rest.inputs()[0]
    if index.has_uses():
        uses = list(index.uses())
        with graph.inserting_before(next(iter(rest.nodes()), rest.return_node())):
            shifted = graph.insert("aten::add", [index, first_trips])
        for use in uses:
            use.user.replace_input(use.offset, shifted)
