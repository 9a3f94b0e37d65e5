"""Which nodes may join a group.

In: a node.  Out: the values that its row reads, or the reason why it has none.

    operands(%c = aten::mul(%a, %b))       [%a, %b]
    operands(%c = aten::add(%a, %b, %2))   "it scales its second operand"

An operator belongs into groups if its record says so (`Record.ufunc`, `Record.tile`, `Record.converts`): it
computes each element from the elements beside it.
"""

from __future__ import annotations

from typing import Final

import ts.ops.node_operator  # noqa: F401 -- makes Node.operator() work
from ts.fusion.program import NUMBER, OTHER, TENSOR, Program, Row
from ts.ir import types
from ts.ir.graph import Graph, Node, Value
from ts.ops.registry import Record

_NUMBERS: Final = frozenset({"IntType", "FloatType"})
LEAST: Final = 2  # rows of a group; one alone is an operator
MOST_INPUTS: Final = 24
MOST_ROWS: Final = 48


def operands(node: Node) -> list[Value] | str:
    """The values that a row for `node` reads; a text says why it can have no row."""
    operator = node.operator()
    record = None if operator is None or node.blocks() else operator.record
    if record is None or not (record.ufunc or record.tile or record.converts) or record.variant:
        return "it is no operator on the elements of tensors"
    if len(node.outputs()) != 1 or not is_tensor(node.output()):
        return "it gives something else than a tensor"
    values = node.inputs()
    if record.converts:
        return _of_conversion(values, record)
    if record.tile:
        if all(is_tensor(value) or is_number(value) or is_constant(value) for value in values):
            return list(values)
        return "an argument is neither a tensor nor a number"
    if len(values) == 3:
        if values[2].node().get("value") != 1 or isinstance(values[2].node().get("value"), bool):
            return "it scales its second operand"
        values = values[:2]
    if not 1 <= len(values) <= 2 or not is_tensor(values[0]):
        return "its first operand is no tensor"
    if not all(is_tensor(value) or is_number(value) for value in values):
        return "an operand is neither a tensor nor a number"
    return list(values)


def converts(node: Node) -> bool:
    """Whether it gives elements in another dtype, or its operand itself."""
    operator = node.operator()
    return operator is not None and bool(operator.record.converts)


def _of_conversion(values: list[Value], record: Record) -> list[Value] | str:
    """The tensor, and the dtype or another that has it."""
    if not is_tensor(values[0]) or not (is_tensor(values[1]) or is_number(values[1])):
        return "what it converts to is no dtype"
    for value, argument in zip(values[2:], record.schema.arguments[2:], strict=True):
        if value.node().kind() != "prim::Constant" or value.node().get("value") != argument.default:
            return "it says more than a dtype"
    return list(values[:2])


def program_of_graph(subgraph: Graph) -> tuple[Program, list[Value]]:
    """The program of a group's nodes, and its inputs: the graph's, then numbers that stand in the code."""
    read: dict[Node, list[Value]] = {}
    number: dict[Value, int] = {value: i for i, value in enumerate(subgraph.inputs())}
    for node in subgraph.nodes():
        if node.kind() != "prim::Constant":
            found = operands(node)
            assert not isinstance(found, str), found
            read[node] = found
            for value in found:
                if value.node().kind() == "prim::Constant":
                    number.setdefault(value, len(number))
    values = list(number)
    inputs = "".join(TENSOR if is_tensor(v) else NUMBER if is_number(v) else OTHER for v in values)
    for node in read:
        number[node.output()] = len(number)
    rows = [Row(node.operator(), tuple(number[value] for value in found)) for node, found in read.items()]
    return Program(inputs, tuple(rows), tuple(number[value] for value in subgraph.outputs())), values


def is_tensor(value: Value) -> bool:
    """Whether a value is always a tensor."""
    return value.type().is_subtype_of(types.TENSOR)


def is_number(value: Value) -> bool:
    """Whether it is a number that has a register of its own class."""
    return value.type().kind() in _NUMBERS


def is_constant(value: Value) -> bool:
    """Whether it stands in the code: None, a bool or a text that an operator reads beside its tensors."""
    return value.node().kind() == "prim::Constant" and not value.type().mutable
