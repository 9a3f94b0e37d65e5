"""What nodes do to memory, as far as it is seen without an analysis: by types and schemas alone.

any_mutable(node.inputs())      whether there is memory that somebody may write to
writes_to_inputs(node)          whether an operator does
is_written_by(value, use)       whether one that uses the value does
is_plainly_written(value)       whether any of them does
may_write(graph)                whether anything in the graph does: else `ts.analysis.alias` is not needed
is_only_read(value)             whether all users read the value and keep nothing of it
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from ts.analysis.effects import has_side_effects, may_give_self, updates_moments
from ts.ir.graph import Graph, Node, Use, Value
from ts.ir.schema import Argument

_MOMENTS: Final = ("running_mean", "running_var")
IDENTITY: Final = ("aten::__is__", "aten::__isnot__", "prim::id")  # tell memory from equal memory
ONLY_READING: Final = ("prim::Print", "prim::RaiseException", "prim::Breakpoint")  # their effects are others


def any_mutable(values: Iterable[Value]) -> bool:
    """Whether one of the values is, or holds, memory that somebody may write to."""
    for value in values:  # noqa: SIM110 -- asked for every node by every pass: a generator doubles its time
        if value.type().mutable:
            return True
    return False


def writes_to_inputs(node: Node) -> bool:
    """Whether `node`, an operator, writes to one of its inputs."""
    operator = node.operator()
    if operator is None:
        return False
    if not operator.schema.is_mutable and (operator.record is None or not updates_moments(node)):
        return False
    return any_mutable(node.inputs())


def is_written_by(value: Value, use: Use) -> bool:
    """Whether a use of a value is an operator's that writes to it."""
    node = use.user
    return writes_to_inputs(node) and any(value is written for written in written_inputs(node))


def is_plainly_written(value: Value) -> bool:
    """Whether one of the nodes that use a value writes to it; others may still, by other names of it."""
    return any(is_written_by(value, use) for use in value.uses())


def written_inputs(node: Node) -> list[Value]:
    """The inputs that `node`, an operator, writes to; not those that it reaches through them."""
    schema = node.schema()
    assert schema is not None
    updates = updates_moments(node)
    return [
        value
        for argument, value in zip(schema.arguments, node.inputs(), strict=False)
        if is_written(argument, updates) and value.type().mutable
    ]


def is_written(argument: Argument, updates: bool) -> bool:
    """Whether an operator writes to this argument; `updates`: its running moments, too."""
    if argument.alias is not None:
        return argument.alias.is_write
    return updates and argument.name in _MOMENTS


def may_write(graph: Graph) -> bool:
    """Whether a node of `graph` may write to memory: where none does, there is nothing to analyse."""
    return any(
        (has_side_effects(node) and node.kind() not in ONLY_READING)
        or (writes_to_inputs(node) if not node.blocks() else node.kind() not in ("prim::If", "prim::Loop"))
        for node in graph.all_nodes()
    )


def is_only_read(value: Value) -> bool:
    """Whether all users of `value` are operators that read it and keep nothing of it.

    What needs no analysis to be seen, as of the sizes of a convolution. False says nothing.
    """
    if not value.type().mutable:
        return True
    if any(element.mutable for element in value.type().contained_types()):
        return False
    return all(_reads(use.user, use.offset) for use in value.uses())


def _reads(node: Node, i: int) -> bool:
    schema = None if node.blocks() else node.schema()
    if schema is None or i >= len(schema.arguments):
        return False
    argument = schema.arguments[i]
    if may_give_self(node):
        return False
    return argument.alias is None and not is_written(argument, updates_moments(node))
