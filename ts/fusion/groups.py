"""Which nodes may join a group.

In: a node.  Out: the values that its row reads, or the reason why it has none.

    operands(%c = aten::mul(%a, %b))       [%a, %b]
    operands(%c = aten::add(%a, %b, %2))   "it scales its second operand"

An operator belongs into groups if its record says so (`Record.ufunc`, `Record.tile`, `Record.converts`): it
computes each element from the elements beside it, perhaps from numbers for its channel (`Record.channels`).
One that reads whole rows may end a group (`Record.ends`).
"""

from __future__ import annotations

from typing import Final

import ts.ops.node_operator  # noqa: F401 -- makes Node.operator() work
from ts.fusion.program import ARGUMENT, NUMBER, OTHER, TENSOR, Program, Row
from ts.ir import types
from ts.ir.graph import Graph, Node, Value
from ts.ops.registry import Record

_NUMBERS: Final = frozenset({"IntType", "FloatType"})
LEAST: Final = 2  # rows of a group; one alone is an operator
MOST_INPUTS: Final = 24
MOST_ROWS: Final = 48
MOST_ENDS: Final = 4


def operands(node: Node) -> list[Value] | str:
    """The values that a row for `node` reads; a text says why it can have no row."""
    operator = node.operator()
    record = None if operator is None or node.blocks() else operator.record
    if record is None or record.variant or not _has_row(record):
        return "it is no operator on the elements of tensors"
    if len(node.outputs()) != 1 or not is_tensor(node.output()):
        return "it gives something else than a tensor"
    values = node.inputs()
    if record.channels:
        training = values[[x.name for x in record.schema.arguments].index("training")].node()
        return values[:1] if training.get("value") is False else "it may find moments of its own"
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


def _has_row(record: Record) -> bool:
    return bool(record.ufunc or record.tile or record.converts or record.channels)


def taken(node: Node) -> list[Value]:
    """What a node of a group takes beside the elements, or rows, that it reads."""
    operator = node.operator()
    record = None if operator is None else operator.record
    return node.inputs()[1:] if record is not None and (record.channels or record.ends) else []


def ends(node: Node) -> bool:
    """Whether it may end a group: it reads rows of its first argument, and whatever else beside it."""
    operator = node.operator()
    record = None if operator is None else operator.record
    return record is not None and record.ends and not record.variant


def _of_conversion(values: list[Value], record: Record) -> list[Value] | str:
    """The tensor, and the dtype or another that has it."""
    if not is_tensor(values[0]) or not (is_tensor(values[1]) or is_number(values[1])):
        return "what it converts to is no dtype"
    for value, argument in zip(values[2:], record.schema.arguments[2:], strict=True):
        if value.node().kind() != "prim::Constant" or value.node().get("value") != argument.default:
            return "it says more than a dtype"
    return list(values[:2])


def program_of_graph(subgraph: Graph) -> tuple[Program, list[Value]]:
    """The program of a group's nodes, and its inputs: the graph's, numbers in the code, what ends take."""
    read: dict[Node, list[Value]] = {}
    last: list[Node] = []
    for node in subgraph.nodes():
        if ends(node):
            last.append(node)
        elif node.kind() != "prim::Constant":
            found = operands(node)
            assert not isinstance(found, str), found
            read[node] = found
    own = dict.fromkeys(value for found in read.values() for value in found)
    values = [value for value in subgraph.inputs() if value in own]
    values += [value for value in own if value.node().kind() == "prim::Constant"]
    arguments = [value for node in (*read, *last) for value in taken(node)]
    letters = [TENSOR if is_tensor(v) else NUMBER if is_number(v) else OTHER for v in values]
    number = {value: i for i, value in enumerate(values)}
    for i, node in enumerate([*read, *last], len(values) + len(arguments)):
        number[node.output()] = i
    own_inputs = iter(range(len(values), len(values) + len(arguments)))

    def row(node: Node, found: list[Value]) -> Row:
        reads = [*(number[value] for value in found), *(next(own_inputs) for _ in taken(node))]
        return Row(node.operator(), tuple(reads))

    rows = [row(node, found) for node, found in read.items()]
    tails = [row(node, node.inputs()[:1]) for node in last]
    outputs = tuple(number[value] for value in subgraph.outputs())
    program = Program("".join(letters) + ARGUMENT * len(arguments), tuple(rows), outputs, tuple(tails))
    return program, values + arguments


def is_tensor(value: Value) -> bool:
    """Whether a value is always a tensor."""
    return value.type().is_subtype_of(types.TENSOR)


def is_number(value: Value) -> bool:
    """Whether it is a number that has a register of its own class."""
    return value.type().kind() in _NUMBERS


def is_constant(value: Value) -> bool:
    """Whether it stands in the code: None, a bool or a text that an operator reads beside its tensors."""
    return value.node().kind() == "prim::Constant" and not value.type().mutable
