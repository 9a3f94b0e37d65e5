"""Mutation analysis (mod-ref queries) that needs only types and schemas, no alias analysis.

Each query returns a bool:

    any_mutable(node.inputs())      whether a value has a mutable type
    writes_to_inputs(node)          whether an operator writes to its inputs
    is_written_by(value, use)       whether a use of a value writes to the value
    is_directly_written(value)      whether any use of a value writes to it
    may_write(graph)                whether any node of a graph writes
    is_only_read(value)             whether all uses only read the value, and keep no reference

A graph without writes needs no alias analysis.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from ts._core.builtin_ops.properties import names_with
from ts.analysis.effects import has_side_effects, may_return_self, updates_moments
from ts.ir.graph import Graph, Node, Use, Value
from ts.ir.schema import Argument

_MOMENTS: Final = ("running_mean", "running_var")
# Operators whose results depend on the identity of objects, such as `is`
IDENTITY: Final = names_with("reads_identity")
# Nodes without a schema that never write to their inputs
ONLY_READING: Final = ("prim::Print", "prim::RaiseException", "prim::Breakpoint")


def any_mutable(values: Iterable[Value]) -> bool:
    """Return whether any value has a mutable type."""
    for value in values:  # noqa: SIM110 -- called for every node by every pass; `any` takes twice the time
        if value.type().mutable:
            return True
    return False


def writes_to_inputs(node: Node) -> bool:
    """Return whether the operator `node` writes to one of its inputs."""
    operator = node.operator()
    if operator is None:
        return False
    if not operator.schema.is_mutable and (operator.record is None or not updates_moments(node)):
        return False
    return any_mutable(node.inputs())


def is_written_by(value: Value, use: Use) -> bool:
    """Return whether the operator in `use`, a use of `value`, writes to `value`."""
    node = use.user
    return writes_to_inputs(node) and any(value is input_value for input_value in written_inputs(node))


def is_directly_written(value: Value) -> bool:
    """Return whether a node that has `value` as an input writes to `value`.

    Writes through aliases do not count.
    """
    return any(is_written_by(value, use) for use in value.uses())


def written_inputs(node: Node) -> list[Value]:
    """Return the inputs that `node` writes to.

    A list counts if the list itself is modified. Writes to the elements of a list do not count.
    """
    schema = node.schema()
    assert schema is not None
    updates = updates_moments(node)
    return [
        value
        for argument, value in zip(schema.arguments, node.inputs(), strict=False)
        if is_written(argument, updates) and value.type().mutable
    ]


def is_written(argument: Argument, updates: bool) -> bool:
    """Return whether an operator writes to `argument`.

    Schemas do not mark the writes of normalizations to running statistics. If `updates`, these writes count,
    too.
    """
    if argument.alias is not None:
        return argument.alias.is_write
    return updates and argument.name in _MOMENTS


def may_write(graph: Graph) -> bool:
    """Return whether a node of `graph` may write to memory. False makes an alias analysis unnecessary."""
    return any(
        (has_side_effects(node) and node.kind() not in ONLY_READING)
        or (writes_to_inputs(node) if not node.blocks() else node.kind() not in ("prim::If", "prim::Loop"))
        for node in graph.all_nodes()
    )


def is_only_read(value: Value) -> bool:
    """Return whether all users of `value` are operators that read it without keeping a reference.

    True for the list of a convolution's strides, for example. False means unknown, because the check does
    not use alias analysis.
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
    if may_return_self(node):
        return False
    return argument.alias is None and not is_written(argument, updates_moments(node))
