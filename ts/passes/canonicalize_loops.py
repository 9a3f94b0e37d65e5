"""Conversion of `for` loops with a `break` to `while` loops.

The interpreter has loops with a trip count (`for`) and loops with a condition (`while`). A `for` loop with a
`break` has a trip count and a condition. The pass adds a counter, and a condition that tests the counter.
This example shows a loop before and after the pass. %k is the counter:

    %y : int = prim::Loop(%n, %true, %x)         %more : bool = aten::gt(%n, %zero)
      block0(%i : int, %a : int):                %y : int, %end : int = prim::Loop(%forever, %more, %x, %zero)
        ...                                  =>    block0(%trip : int, %a : int, %k : int):
        -> (%again, %b)                              ...  (%k instead of %i)
                                                     %next : int = aten::add(%k, %one)
                                                     %in : bool = aten::lt(%next, %n)
                                                     %go : bool = aten::__and__(%in, %again)
                                                     -> (%go, %b, %next)
"""

from __future__ import annotations

from ts.ir.graph import Block, Graph, Node, Value
from ts.ir.types import BOOL, INT, Type
from ts.passes.pass_utils import INT64_MAX, LoopKind, applies_to, constant_value, loop_kind


@applies_to("prim::Loop")
def canonicalize_modified_loops(graph: Graph) -> bool:
    """Convert loops with a trip count and a condition to loops with a condition only."""
    return _visit(graph, graph.block())


def _visit(graph: Graph, block: Block) -> bool:
    changed = False
    for node in block.nodes_with_blocks():
        for inner in node.blocks():
            changed |= _visit(graph, inner)
        if node.kind() == "prim::Loop" and loop_kind(node) is LoopKind.MODIFIED:
            _to_while(graph, node)
            changed = True
    return changed


def _to_while(graph: Graph, loop: Node) -> None:
    body = loop.blocks()[0]
    trips, condition = loop.inputs()[:2]

    def call(kind: str, first: Value, second: Value, type: Type) -> Value:
        node = graph.create(kind, (first, second), 1)
        graph.insert_node(node)
        return node.output().set_type(type)

    with graph.inserting_before(loop):
        zero = graph.insert_constant(0)
        one = graph.insert_constant(1)
        enters = call("aten::gt", trips, zero, BOOL)
        loop.replace_input(0, graph.insert_constant(INT64_MAX))
        if constant_value(condition) is not True:
            enters = call("aten::__and__", enters, condition, BOOL)
        loop.replace_input(1, enters)
    loop.add_output().set_type(INT)
    loop.add_input(zero)
    counter = body.add_input().set_type(INT)
    trip = body.inputs()[0]
    trip.set_debug_name("")
    trip.replace_all_uses_with(counter)
    with graph.inserting_at_end(body):
        next_counter = call("aten::add", counter, one, INT)
        body.register_output(next_counter)
        is_below_trip_count = call("aten::lt", next_counter, trips, BOOL)
        continue_condition = call("aten::__and__", is_below_trip_count, body.outputs()[0], BOOL)
    body.replace_output(0, continue_condition)
