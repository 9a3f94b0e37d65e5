"""Loop unrolling: counted loops with small bodies do several iterations a turn.

    for i in range(n):              for j in range(n // 8):        eight copies of the body,
        y -= i               =>         y -= 8 * j ...             the counter added up
                                    for i in range(n % 8):         the rest
                                        y -= i

A loop with a constant trip count below `_MOST_COPIES` becomes its iterations. Inner loops are unrolled first;
a loop around a loop stays.
"""

from __future__ import annotations

from typing import Final

from ts.ir.graph import Block, Graph, Node, Value
from ts.passes.control_flow import LOOP_INPUTS, NOT_CONSTANT, LoopKind, constant_value, loop_kind
from ts.passes.dce import eliminate_dead_code
from ts.passes.log import optimization_allowed, update

_FACTOR: Final = 8
_LARGEST_BODY: Final = 32  # nodes
_MOST_COPIES: Final = 64


def unroll_loops(graph: Graph) -> bool:
    """Unroll the innermost counted loops."""
    changed = _visit(graph.block())
    if changed:
        eliminate_dead_code(graph)
    return changed


def unroll_constant_loops(graph: Graph) -> bool:
    """Replace small loops with a constant trip count by their iterations."""
    return _visit(graph.block(), constant_only=True)


def _visit(block: Block, constant_only: bool = False) -> bool:
    changed = False
    for node in list(block.nodes()):
        for inner in node.blocks():
            changed |= _visit(inner, constant_only)
        if node.kind() == "prim::Loop" and _may_unroll(node) and optimization_allowed("loop_unrolling"):
            changed |= _unroll(node, constant_only)
    return changed


def _may_unroll(loop: Node) -> bool:
    return loop_kind(loop) is LoopKind.FOR and _size(loop.blocks()[0]) <= _LARGEST_BODY


def _size(block: Block) -> int:
    """How many nodes a body has, those of its branches included; a loop in it is too many."""
    size = 0
    for node in block.nodes():
        if node.kind() == "prim::Loop":
            return _LARGEST_BODY + 1
        if node.kind() != "prim::Constant":
            size += 1 + sum(map(_size, node.blocks()))
    return size


def _unroll(loop: Node, constant_only: bool) -> bool:
    trips = constant_value(loop.inputs()[0])
    if trips is not NOT_CONSTANT and trips < _MOST_COPIES:
        update("loop_unrolling", "Unrolling {} iterations of {}", trips, loop)
        _replace_by_iterations(loop, trips)
        return True
    if constant_only:
        return False
    update("loop_unrolling", "Unrolling by {}: {}", _FACTOR, loop)
    _unroll_by_factor(loop)
    return True


def _replace_by_iterations(loop: Node, trips: int) -> None:
    graph = loop.owning_graph()
    with graph.inserting_before(loop):
        zero = graph.insert_constant(0)
        results = _copy_iterations(graph, loop.blocks()[0], zero, loop.inputs()[LOOP_INPUTS:], trips)
    for output, result in zip(loop.outputs(), results, strict=True):
        output.replace_all_uses_with(result)
    loop.destroy()


def _unroll_by_factor(loop: Node) -> None:
    graph = loop.owning_graph()
    trips = loop.inputs()[0]
    body = loop.blocks()[0]
    with graph.inserting_before(loop):
        factor = graph.insert_constant(_FACTOR)
        turns = graph.insert("aten::__round_to_zero_floordiv", [trips, factor])
        done = graph.insert("aten::mul", [turns, factor])
        left = graph.insert("aten::sub", [trips, done])
        unrolled = graph.create_loop(turns, loop.inputs()[1], loop.inputs()[LOOP_INPUTS:])
        graph.insert_node(unrolled)
    inside = unrolled.blocks()[0]
    with graph.inserting_before(inside):
        start = inside.inputs()[0]
        if body.inputs()[0].has_uses():
            start = graph.insert("aten::mul", [start, graph.insert_constant(_FACTOR)])
        again = graph.insert_constant(True)
        results = _copy_iterations(graph, body, start, inside.inputs()[1:], _FACTOR)
    for value in (again, *results):
        inside.register_output(value)
    # The loop itself does what is left.
    for i, output in enumerate(unrolled.outputs()):
        loop.replace_input(i + LOOP_INPUTS, output)
    loop.replace_input(0, left)
    if body.inputs()[0].has_uses():
        first = next(iter(body.nodes()), body.return_node())
        with graph.inserting_before(first):
            counter = graph.insert("aten::add", [body.inputs()[0], done])
        body.inputs()[0].replace_all_uses_after_node_with(counter.node(), counter)


def _copy_iterations(
    graph: Graph, body: Block, start: Value, carried: list[Value], count: int
) -> list[Value]:
    """Insert `count` copies of a body, each with the results of the one before; the counter begins at
    `start`."""
    counts = body.inputs()[0].has_uses()
    for i in range(count):
        index = start
        if counts and i > 0:
            index = graph.insert("aten::add", [start, graph.insert_constant(i)])
        values = _Values(zip(body.inputs(), [index, *carried], strict=True))
        for node in body.nodes():
            copy = graph.insert_node(graph.create_clone(node, values))
            values.update(zip(node.outputs(), copy.outputs(), strict=True))
        carried = [values[value] for value in body.outputs()[1:]]
    return list(carried)


class _Values(dict[Value, Value]):
    """From the values of a body to those of its copy; values from outside are themselves."""

    def __missing__(self, value: Value) -> Value:
        return value
