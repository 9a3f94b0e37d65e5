"""Loop unrolling: replicate small bodies of counted loops, to reduce the number of iterations.

The pass replaces the loop on the left by the two loops on the right. The second loop continues with the
value of k:

    for i in range(n):              for j in range(n // 8):
        y -= i               =>         y -= k; k += 1 ...         eight copies of the body
                                    for i in range(n % 8):         remaining iterations
                                        y -= k; k += 1

If the trip count is constant and less than `_MAX_FULL_UNROLL_ITERATIONS`, copies of the body replace the
loop. Only innermost loops are unrolled. An outer loop becomes innermost if its inner loops are replaced.
"""

from __future__ import annotations

from typing import Final

from ts.ir.graph import Block, Graph, Node, Value
from ts.ir.types import INT
from ts.passes.dce import eliminate_dead_code
from ts.passes.pass_logging import optimization_allowed, update
from ts.passes.pass_utils import LOOP_INPUTS, NOT_CONSTANT, LoopKind, constant_value, loop_kind

_UNROLL_FACTOR: Final = 8
_MAX_BODY_NODES: Final = 32
_MAX_FULL_UNROLL_ITERATIONS: Final = 64


def unroll_loops(graph: Graph) -> bool:
    """Unroll the innermost counted loops."""
    changed = _visit(graph.block())
    if changed:
        eliminate_dead_code(graph)
    return changed


def unroll_constant_loops(graph: Graph) -> bool:
    """Replace small loops with a constant trip count by copies of their bodies."""
    changed = _visit(graph.block(), constant_only=True)
    if changed:
        eliminate_dead_code(graph)
    return changed


def _visit(block: Block, constant_only: bool = False) -> bool:
    changed = False
    for node in list(block.nodes()):
        for inner in node.blocks():
            changed |= _visit(inner, constant_only)
        if node.kind() == "prim::Loop" and _may_unroll(node) and optimization_allowed("loop_unrolling"):
            changed |= _unroll(node, constant_only)
    return changed


def _may_unroll(loop: Node) -> bool:
    return loop_kind(loop) is LoopKind.FOR and _size(loop.blocks()[0]) <= _MAX_BODY_NODES


def _size(block: Block) -> int:
    """Return the number of nodes of a loop body.

    If the body contains a loop, return a number above `_MAX_BODY_NODES`.
    """
    size = 0
    for node in block.nodes():
        if node.kind() == "prim::Loop":
            return _MAX_BODY_NODES + 1
        if node.kind() != "prim::Constant":
            size += 1 + sum(map(_size, node.blocks()))
    return size


def _unroll(loop: Node, constant_only: bool) -> bool:
    trips = constant_value(loop.inputs()[0])
    if trips is not NOT_CONSTANT and trips < _MAX_FULL_UNROLL_ITERATIONS:
        update("loop_unrolling", "Unrolling {} iterations of {}", trips, loop)
        _carry_counter(loop)
        _replace_by_iterations(loop, trips)
        return True
    if constant_only:
        return False
    update("loop_unrolling", "Unrolling by {}: {}", _UNROLL_FACTOR, loop)
    _carry_counter(loop)
    _unroll_by_factor(loop)
    return True


def _carry_counter(loop: Node) -> None:
    """Replace the iteration number in the body by a loop-carried counter, which each copy increments."""
    graph, body = loop.owning_graph(), loop.blocks()[0]
    trip = body.inputs()[0]
    if not trip.has_uses():
        return
    with graph.inserting_before(loop):
        loop.insert_input(LOOP_INPUTS, graph.insert_constant(0))
    loop.insert_output(0, type=INT)
    counter = body.insert_input(1, type=INT)
    trip.replace_all_uses_with(counter)
    with graph.inserting_at_end(body):
        next_counter = graph.insert("aten::add", [counter, graph.insert_constant(1)])
    body.insert_output(1, next_counter)


def _replace_by_iterations(loop: Node, trips: int) -> None:
    graph = loop.owning_graph()
    with graph.inserting_before(loop):
        results = _copy_iterations(graph, loop.blocks()[0], loop.inputs()[LOOP_INPUTS:], trips)
    for output, result in zip(loop.outputs(), results, strict=True):
        output.replace_all_uses_with(result)
    loop.destroy()


def _unroll_by_factor(loop: Node) -> None:
    graph = loop.owning_graph()
    trips = loop.inputs()[0]
    body = loop.blocks()[0]
    with graph.inserting_before(loop):
        turns = graph.insert("aten::__round_to_zero_floordiv", [trips, _UNROLL_FACTOR])
        done = graph.insert("aten::mul", [turns, _UNROLL_FACTOR])
        remaining_trips = graph.insert("aten::sub", [trips, done])
        unrolled = graph.create_loop(turns, loop.inputs()[1], loop.inputs()[LOOP_INPUTS:])
        graph.insert_node(unrolled)
    unrolled_body = unrolled.blocks()[0]
    for copy, original in zip(unrolled.outputs(), loop.outputs(), strict=True):
        copy.copy_metadata(original)
    for copy, original in zip(unrolled_body.inputs(), body.inputs(), strict=True):
        copy.copy_metadata(original)
    with graph.inserting_at_end(unrolled_body):
        results = _copy_iterations(graph, body, unrolled_body.inputs()[1:], _UNROLL_FACTOR)
    for value in (loop.inputs()[1], *results):
        unrolled_body.register_output(value)
    # The original loop runs the remaining iterations.
    for i, output in enumerate(unrolled.outputs()):
        loop.replace_input(i + LOOP_INPUTS, output)
    loop.replace_input(0, remaining_trips)


def _copy_iterations(graph: Graph, body: Block, carried: list[Value], count: int) -> list[Value]:
    """Insert `count` copies of `body`, each reading the results of the previous copy.

    Return the results of the last copy.

    The body must not read the iteration number.
    """
    for _ in range(count):
        values = _Values(zip(body.inputs()[1:], carried, strict=True))
        for node in body.nodes():
            copy = graph.insert_node(graph.create_clone(node, values))
            values.update(zip(node.outputs(), copy.outputs(), strict=True))
        carried = [values[value] for value in body.outputs()[1:]]
    return list(carried)


class _Values(dict[Value, Value]):
    """Map from values of a loop body to values of a copy. Values from outside the body map to themselves."""

    def __missing__(self, value: Value) -> Value:
        return value
