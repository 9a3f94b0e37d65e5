"""Fusion rules: conditions under which a node may be a member of a fusion group.

`operands` returns the operands of a node in the group, or the reason why the node cannot be fused. Each line
shows a node and this result:

    %c = aten::mul(%a, %b)           [%a, %b]
    %c = aten::add(%a, %b, %2)       "it scales its second operand"

The fields of an operator's `OperatorRecord` determine whether the operator is fusible. Pointwise operators
have the field `ufunc`, `tile` or `converts`. Operators with per-channel vectors have the field `channels`.
"""

from __future__ import annotations

from typing import Final

import ts.ops.node_schema  # noqa: F401 -- makes Node.operator() work
from ts.fusion.program import ARGUMENT, NUMBER, OTHER, TENSOR, FusedOp, FusedProgram, ViewInput
from ts.ir import types
from ts.ir.graph import Graph, Node, Value
from ts.ops.operator_record import OperatorRecord
from ts.ops.registry import lookup

_NUMBERS: Final = frozenset({"IntType", "FloatType"})
CALLS: Final = frozenset({"prim::CallFunction", "prim::CallMethod", "prim::PythonOp"})
MIN_GROUP_OPERATORS: Final = 2  # fusion saves memory accesses between operators, so one operator is no group
MAX_INPUTS: Final = 24
MAX_ROWS: Final = 48
MAX_EPILOGUES: Final = 4
MAX_ROW_STEPS: Final = 8  # maximal number of epilogues of a group that continues after epilogues


def operands(node: Node) -> list[Value] | str:
    """Return the operands of `node` as an operation of a fusion group, or the reason why it cannot be one."""
    record = _record(node)
    if record is None or record.variant or not _is_fused_operation(record):
        return _rejection_reason(node, record)
    if len(node.outputs()) != 1 or not is_tensor(node.output()):
        return "it does not return a single tensor"
    values: list[Value] = node.inputs()
    if record.channels:
        training = values[[x.name for x in record.schema.arguments].index("training")].node()
        is_off = training.get("value") is False
        return values[:1] if is_off else "`training` may be True (freezing the module sets it to False)"
    if record.converts:
        return _conversion_operands(values, record)
    if record.tile:
        if all(is_tensor(value) or is_number(value) or is_constant(value) for value in values):
            return list(values)
        return "an argument is neither a tensor nor a number"
    if len(values) == 3:
        if values[2].node().get("value") != 1 or isinstance(values[2].node().get("value"), bool):
            return "it scales its second operand"
        values = values[:2]
    if not 1 <= len(values) <= 2 or not is_tensor(values[0]):
        return "its first operand is not a tensor"
    if not all(is_tensor(value) or is_number(value) for value in values):
        return "an operand is neither a tensor nor a number"
    return list(values)


def _rejection_reason(node: Node, record: OperatorRecord | None) -> str:
    """Return the reason why no fusion group contains `node`, a node without a fusible operator."""
    if node.kind() in CALLS:
        return "it is a call"
    if record is not None and record.variant:
        return "it writes to its argument"
    if record is not None and record.view_input:
        return "it is a view that no group reads"
    if record is not None and record.epilogue:
        return "it reads rows of an input that no group computes"
    return "it is not a pointwise operator on tensors"


def is_conversion(node: Node) -> bool:
    """Return whether `node` converts a tensor to a dtype. The node may return the tensor itself."""
    record = _record(node)
    return record is not None and record.converts


def is_fusible(node: Node) -> bool:
    """Return whether the operator of `node` is fusible for some arguments."""
    record = _record(node)
    return record is not None and (record.epilogue or _is_fused_operation(record))


def _record(node: Node) -> OperatorRecord | None:
    operator = None if node.blocks() else node.operator()
    return None if operator is None else operator.record


def _is_fused_operation(record: OperatorRecord) -> bool:
    return bool(record.ufunc or record.tile or record.converts or record.channels)


def extra_inputs(node: Node) -> list[Value]:
    """Return `node.inputs()[1:]` for per-channel operators, epilogues and views, else []."""
    record = _record(node)
    return (
        node.inputs()[1:]
        if record is not None and (record.channels or record.epilogue or record.view_input)
        else []
    )


def view_node_of(value: Value) -> Node | None:
    """Return the node whose operator computes the view `value`, or None if groups cannot read this view.

    `value` may also be an element of a list of views that the node returns.
    """
    node = value.node()
    if node.kind() == "prim::ListUnpack":
        node = node.input().node()
    record = _record(node)
    return node if record is not None and record.view_input and not record.variant else None


def is_epilogue(node: Node) -> bool:
    """Return whether the node may be an epilogue: its operator reads whole rows of the first argument."""
    record = _record(node)
    return record is not None and record.epilogue and not record.variant


def reads_all_dims(node: Node) -> bool:
    """Return whether epilogue `node` has neither the argument `dim` nor `normalized_shape`."""
    record = _record(node)
    return record is not None and not {"dim", "normalized_shape"} & {x.name for x in record.schema.arguments}


def reads_last_dim(node: Node) -> bool:
    """Return whether epilogue `node` may read its operand along the last dimension, but not as a whole."""
    record = _record(node)
    names = [] if record is None else [argument.name for argument in record.schema.arguments]
    if "normalized_shape" in names:
        return True
    if "dim" not in names:
        return False
    dim = node.inputs()[names.index("dim")].node().get("value")
    dims = [dim] if isinstance(dim, int) else dim
    return bool(dims) and (-1 in dims or all(d > 0 for d in dims))


def _conversion_operands(values: list[Value], record: OperatorRecord) -> list[Value] | str:
    """Return the operands of a dtype conversion, or the reason why the conversion is not fusible.

    The operands are the tensor, and the dtype or a tensor with this dtype.
    """
    if not is_tensor(values[0]) or not (is_tensor(values[1]) or is_number(values[1])):
        return "its target is not a dtype"
    for value, argument in zip(values[2:], record.schema.arguments[2:], strict=True):
        if value.node().kind() != "prim::Constant" or value.node().get("value") != argument.default:
            return "it has arguments other than a dtype"
    return list(values[:2])


def program_of_graph(subgraph: Graph) -> tuple[FusedProgram, list[Value]]:
    """Return the fused program of the nodes of `subgraph`, and the values that are inputs of the program.

    The inputs are the inputs of `subgraph`, constant operands, and the arguments after the first one of
    views, epilogues and per-channel operations.
    """
    operands_of: dict[Node, list[Value]] = {}
    epilogues: list[Node] = []
    for node in subgraph.nodes():
        if is_epilogue(node):
            epilogues.append(node)
        elif isinstance(values_read := operands(node), list):
            operands_of[node] = values_read
    all_operands = dict.fromkeys(value for values_read in operands_of.values() for value in values_read)
    all_operands |= dict.fromkeys(node.inputs()[0] for node in epilogues)
    plain_inputs = [value for value in subgraph.inputs() if value in all_operands]
    plain_inputs += [value for value in all_operands if value.node().kind() == "prim::Constant"]
    viewed = {
        value: view
        for value in all_operands
        if value.node() not in operands_of and (view := view_node_of(value))
    }
    values = [*plain_inputs, *viewed]
    letters = [TENSOR if is_tensor(v) else NUMBER if is_number(v) else OTHER for v in values]
    index_of = {value: i for i, value in enumerate(values)}
    arguments: list[Value] = []
    extra_numbers: dict[Node, tuple[int, ...]] = {}
    for node in (*dict.fromkeys(viewed.values()), *operands_of, *epilogues):
        arguments += extra_inputs(node)
        end = len(values) + len(arguments)
        extra_numbers[node] = tuple(range(end - len(extra_inputs(node)), end))
    for i, node in enumerate([*operands_of, *epilogues], len(values) + len(arguments)):
        index_of[node.output()] = i
    view_inputs = []
    for value, node in viewed.items():
        values[index_of[value]] = node.inputs()[0]
        result_count = 0 if value.node() is node else len(value.node().outputs())
        result_index = value.node().outputs().index(value)
        view_inputs.append(
            ViewInput(node.operator(), index_of[value], extra_numbers[node], result_index, result_count)
        )
    operations = [
        FusedOp(lookup("aten::square")[0], (index_of[values_read[0]],))
        if _is_square(n)
        else FusedOp(n.operator(), (*(index_of[value] for value in values_read), *extra_numbers[n]))
        for n, values_read in operands_of.items()
    ]
    fused_epilogues = [
        FusedOp(node.operator(), (index_of[node.inputs()[0]], *extra_numbers[node])) for node in epilogues
    ]
    outputs = tuple(index_of[value] for value in subgraph.outputs())
    inputs = "".join(letters) + ARGUMENT * len(arguments)
    return FusedProgram(
        inputs, tuple(operations), outputs, tuple(fused_epilogues), tuple(view_inputs)
    ), values + arguments


def _is_square(node: Node) -> bool:
    """Return whether `node` is `x ** 2` with a constant exponent."""
    if node.kind() != "aten::pow" or not is_tensor(node.inputs()[0]):
        return False
    exponent = node.inputs()[1].node().get("value")
    return isinstance(exponent, (int, float)) and not isinstance(exponent, bool) and exponent == 2


def is_tensor(value: Value) -> bool:
    """Return whether the type of a value is a tensor."""
    return value.type().is_subtype_of(types.TENSOR)


def is_number(value: Value) -> bool:
    """Return whether the type of a value is int or float."""
    return value.type().kind() in _NUMBERS


def is_constant(value: Value) -> bool:
    """Return whether a value is a constant of immutable type: a number, None, a bool or a string."""
    return value.node().kind() == "prim::Constant" and not value.type().mutable
