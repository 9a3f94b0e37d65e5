"""Trace guards, which check that values read by Python code are the same as in the recording.

A guard is inserted when a tensor is converted to a Python value during tracing. If the value differs in a
later call, the traced function raises an error or warns. The example shows a test and its guard:

    if x.sum() > 0: ...       %1 : bool = aten::Bool(%sum)
                               = prim::If(%1)
                                block0(): -> ()
                                block1():  = prim::RaiseException("...")

Tensors from outside the trace and random numbers need no guard. A test in a function of `ts` needs no guard
if another value would only raise an error.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ts._core.tensor.tensor import Tensor
from ts.ir.graph import Graph, Node, Value
from ts.ir.types import BOOL, STR
from ts.tracing import messages
from ts.tracing.source_location import expression, is_error_check, program_frame
from ts.tracing.types import CONVERSIONS, NUMBER_TYPES

if TYPE_CHECKING:
    from ts.tracing.tracer import Tracer


def guard_python_value(tracer: Tracer, x: Tensor, kind: str, python_value: Any) -> None:
    """Warn that a tensor is converted to a Python value, and insert a guard into the trace."""
    if is_error_check(program_frame()):
        return
    if kind in messages.ESCAPES:
        tracer.warn(messages.ESCAPES[kind])
    value = tracer.find(x)
    # If the tensor is from outside the trace, `value` is None. Such a tensor is the same in later calls.
    if value is None or not has_guards(tracer):
        return
    graph = tracer.graph
    with graph.at_range(tracer.source_range()):
        if kind == "length":
            guard(tracer, graph.insert("aten::size", [value, 0]), python_value)
        elif type(python_value) in (bool, int, float) and python_value == python_value:
            number_type = NUMBER_TYPES[type(python_value)]
            guard(tracer, graph.insert(CONVERSIONS[number_type], [value], number_type), python_value)
        else:
            with tracer.paused():
                recorded_tensor = x.clone()
            same = graph.insert(
                "aten::equal", [value, tracer.insert_tensor(recorded_tensor, tracer.source_range())], BOOL
            )
            guard(tracer, same, True, ("a tensor", "another one"))


def has_guards(tracer: Tracer) -> bool:
    """Return True if the trace has guards for values that are converted to Python."""
    return FAILURES[tracer.options.guards] is not None


def guard(tracer: Tracer, value: Value, expected: Any, descriptions: tuple[str, str] | None = None) -> None:
    """Insert a check into the trace.

    When the trace runs, the check fails if `value` differs from the recorded value.

    The message contains the recorded and the actual value. If these are no numbers, `descriptions` contains
    their texts.
    """
    fail = FAILURES[tracer.options.guards]
    if fail is None or _depends_on_random_numbers(value, tracer.deterministic_nodes):
        return
    graph = tracer.graph
    source_range = tracer.source_range()
    then, now = descriptions or (str(expected), str(not expected) if isinstance(expected, bool) else None)
    with graph.at_range(source_range):
        condition = value
        if not isinstance(expected, bool):
            condition = graph.insert("aten::eq", [value, expected], BOOL)
        elif not expected:
            condition = graph.insert("aten::__not__", [value], BOOL)
        node = graph.insert_node(graph.create_if(condition))
        with graph.inserting_at_end(node.blocks()[1]):
            source = expression(program_frame())
            what = f"`{source}`" if source else "a value of Python"
            message = messages.GUARD.format(what, then, source_range.location())
            if now is None:
                begin = graph.insert("aten::add", [message, graph.insert("aten::str", [value], STR)], STR)
                fail(graph, graph.insert("aten::add", [begin, messages.ADVICE], STR))
            else:
                fail(graph, graph.insert_constant(message + now + messages.ADVICE))


def _depends_on_random_numbers(value: Value, deterministic: set[Node]) -> bool:
    """Return True if a recorded value is computed from random numbers.

    `deterministic` holds nodes that are known not to depend on random numbers. If the result is False, the
    nodes that compute `value` are added to this set.
    """
    pending, visited = [value.node()], set[Node]()
    while pending:
        node = pending.pop()
        if node in visited or node in deterministic:
            continue
        if node.is_nondeterministic() and not _has_dropout_of_zero(node):
            return True
        visited.add(node)
        pending += [each.node() for each in node.inputs()]
    deterministic |= visited
    return False


def _has_dropout_of_zero(node: Node) -> bool:
    """Return True if a node has a dropout probability that is the constant 0."""
    schema = node.schema()
    return schema is not None and any(
        argument.name in ("p", "dropout_p", "dropout") and _is_zero(value.to_ivalue())
        for argument, value in zip(schema.arguments, node.inputs(), strict=True)
    )


def _is_zero(constant: object) -> bool:
    return isinstance(constant, int | float) and constant == 0


def _raise(graph: Graph, message: Value) -> None:
    graph.insert_node(graph.create("prim::RaiseException", (message, graph.insert_constant(None)), 0))


def _warn(graph: Graph, message: Value) -> None:
    graph.insert_node(graph.create("aten::warn", (message, graph.insert_constant(2)), 0))


FAILURES: Final = {"raise": _raise, "warn": _warn, "off": None}
"""Functions that insert the failure branch of a guard, by the value of the option `guards`."""
