"""Instruction selection, the lowering of operators to their opcodes, or to calls of their kernels.

Examples of nodes and their instructions:

    %y : int = aten::add(%a, %b)                           ADD_I64        %y, %a, %b
    %y : Tensor = aten::relu(%x)                           CALL_OPERATOR  relu, [%x, %y]
    %f : Future[int] = prim::fork(%x)                      FORK f, function, x
    %y : int = aten::wait(%f)                              WAIT y, f, int
    %y : Tensor = prim::rpc_sync(%to, %name, %args)        CALL_OPERATOR f, to, name, args
                                                           WAIT y, f, Tensor

In the last example, the first instruction starts the call. Other operators with `OperatorRecord.begins`
(`aten::to_here`) are lowered in the same way.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from typing import Any

from ts._core.assembler.instruction import Instruction, Label
from ts._core.dispatch.operator import Operator
from ts._core.vm.python_call import PythonOperator, WarnOperator
from ts.bytecode.deferred_conditions import operator_of
from ts.bytecode.lower_containers import as_float
from ts.bytecode.lowering import LOWER_CONTAINER, OPERATOR, Lowering, lowers
from ts.bytecode.opcodes import BY_NAME, BY_OPERATOR, Opcode, register_format
from ts.bytecode.subgraph_functions import SubgraphFunction
from ts.bytecode.typespec import register_class, type_spec
from ts.errors import FrontendError
from ts.ir.attributes import REMOTE_CALLS
from ts.ir.graph import Node, Value
from ts.ir.types import ANY, FLOAT, INT, FutureType, NoneType, TupleType, Type
from ts.ops.operator_record import OperatorRecord
from ts.ops.rpc_ops import SYNC, RpcCallRecord

MIXED = ("int_float", "float_int")


def _find_opcode(operator: Any, node: Node) -> Opcode | None:
    """Return the opcode of `operator`, or None for an operator without opcode.

    The opcode of a `Scalar` overload with one input depends on the type of this input.
    """
    inputs = node.inputs()
    if operator.overload == "Scalar" and len(inputs) == 1:
        return BY_OPERATOR.get(f"{operator.name}.{inputs[0].type().str()}")
    return BY_OPERATOR.get(operator.key)


@lowers(OPERATOR)
def _lower_operator(low: Lowering, node: Node) -> None:
    """Lower an operator node to its opcode, or to a call of its kernel."""
    operator = operator_of(node)
    if operator.record is not None and operator.record.begins is not None:
        _lower_beginning(low, node, operator)
        return
    opcode = _find_opcode(operator, node)
    inputs = node.inputs()
    if opcode is not None and _lower_by_opcode(low, opcode.name, low.use_all(inputs), node):
        return
    if _lower_mixed(low, operator, node):
        return
    lower_container = LOWER_CONTAINER.get(operator.name)
    if lower_container is not None and lower_container(low, node):
        return
    arguments = low.use_all(inputs)
    if operator.schema.is_vararg:
        fixed = operator.nargs - 1
        tuple_register = low.new_register("o")
        rest = TupleType([v.type() for v in inputs[fixed:]])
        low.emit("TUPLE_NEW", tuple_register, low.types.index(rest), register_list=arguments[fixed:])
        arguments = [*arguments[:fixed], tuple_register]
    results, casts = [], []
    for value, type in zip_longest(node.outputs()[: operator.nrets], _declared_types(operator, inputs)):
        if value is not None and (type is not ANY or value.type() is ANY):
            results.append(low.define(value))
            continue
        # use register class "x" (any value), because the schema does not declare the type of the result
        results.append(low.new_register("x"))
        if value is not None:
            casts.append((value, results[-1]))
    low.call_operator(operator, arguments, results, "CALL_SCALAR" if operator.scalar else "CALL_OPERATOR")
    for value, source in casts:
        low.emit("CAST_TO", low.define(value), source, low.types.index(value.type()))


def _declared_types(operator: Any, inputs: Sequence[Value]) -> list[Type]:
    """Return the result types of an operator call, with Any for types that are known only at run time."""
    types = [returned.type for returned in operator.schema.returns]
    for i, type in enumerate(types):
        # an argument None does not determine the type variables of the schema
        if type.has_free_variables() and any(isinstance(value.type(), NoneType) for value in inputs):
            types[i] = ANY
    return types + [ANY] * (operator.nrets - len(types))


def _lower_by_opcode(low: Lowering, name: str, arguments: Sequence[int], node: Node) -> bool:
    """Emit opcode `name` if its operand formats match the register classes of the arguments and the result.

    Return whether the opcode was emitted.
    """
    result, *formats = BY_NAME[name].operands
    if name.startswith("IS_"):
        return _lower_identity(low, name, node)
    for format, argument in zip(formats, arguments, strict=False):
        if register_format(format) != low.registers.classes[argument]:
            return False
    if result[-1] != register_class(node.output().type()):
        return False
    b, c = [*arguments, 0][:2]
    name, c = _reduce_strength(low, name, c)
    low.emit(name, low.define(node.output()), b, c)
    return True


def _reduce_strength(low: Lowering, name: str, c: int) -> tuple[str, int]:
    """Return the opcode and operand `c` after strength reduction.

    Floor division by a power of two becomes a right shift, and the remainder a bit mask.  Like Python's
    operators, both round towards minus infinity.
    """
    divisor = low.registers.constant_values.get(c) if name in ("MOD_I64", "FLOORDIV_I64") else None
    if divisor is None or divisor <= 0 or divisor & (divisor - 1):
        return name, c
    if name == "MOD_I64":
        return "AND_I64", low.constant(divisor - 1, "i")
    return "SHR_I64", low.constant(divisor.bit_length() - 1, "i")


def _lower_identity(low: Lowering, name: str, node: Node) -> bool:
    """Lower `x is None` if `x` has an Optional type. Otherwise, emit no code and return False."""
    values = [v for v in node.inputs() if not isinstance(v.type(), NoneType)]
    if len(values) != 1 or register_class(values[0].type()) != "x":
        return False
    low.emit(name, low.define(node.output()), low.use(values[0]))
    return True


def _lower_mixed(low: Lowering, operator: Any, node: Node) -> bool:
    """Lower an operator that converts an int operand to a float to the opcode for floats.

    Return False, without emitting code, for other operators.
    """
    inputs, opcode = node.inputs(), BY_OPERATOR.get(f"{operator.name}.float")
    if opcode is None or len(inputs) != 2:
        return False
    converts = operator.overload in MIXED or (
        not operator.overload
        and {v.type() for v in inputs} == {INT, FLOAT}
        and [x.type for x in operator.schema.returns] == [FLOAT]
    )
    if not converts:
        return False
    return _lower_by_opcode(low, opcode.name, [as_float(low, v) for v in inputs], node)


@lowers("prim::TupleIndex")
def _lower_tuple_index(low: Lowering, node: Node) -> None:
    """Lower `prim::TupleIndex` to a load if the index is a valid constant, else to an operator call."""
    index = node.input(1).to_ivalue()
    type = node.input().type()
    size = len(type.elems) if isinstance(type, TupleType) else 0
    # an index that is not constant, or out of range, requires the operator
    if not isinstance(index, int) or not -size <= index < size:
        _lower_operator(low, node)
        return
    low.emit("TUPLE_GET", low.define(node.output()), low.use(node.input()), index % size)


@lowers("prim::PythonOp")
def _lower_python_call(low: Lowering, node: Node) -> None:
    """Lower a call of a Python function to a call of a `PythonOperator`."""
    if not node.has_attribute("function"):
        name = node.get("name")
        raise FrontendError(f"the Python function '{name}' is unavailable: the graph was read from text")
    if node.get("inplace"):
        raise FrontendError(f"inplace {node.get('name')} not supported in the JIT")
    inputs, result = low.use_all(node.inputs()), node.output()
    if result.has_uses():
        target, spec = low.define(result), type_spec(result.type())
    else:
        # Accept any type of an unused result, because a function without annotations may return any value.
        target, spec = low.new_register("x"), type_spec(ANY)
    low.call_operator(PythonOperator(node.get("function"), len(inputs), spec), inputs, [target])


@lowers("aten::warn")
def _lower_warn(low: Lowering, node: Node) -> None:
    """Lower a warning. A register records that it was issued, so that a run issues it at most once."""
    key = node.get("warn_id", node)
    flag = low.warned.get(key)
    if flag is None:
        flag = low.warned[key] = low.new_register("b")
        low.code.insert(0, Instruction("MOVE", flag, low.constant(False, "b")))
    source_range = node.range
    if source_range is None:
        operator = operator_of(node)
    else:
        operator = WarnOperator(source_range.source.filename or "<string>", source_range.line)
    end = Label()
    low.emit("JUMP_IF", end, flag)
    low.call_operator(operator, low.use_all(node.inputs()))
    low.emit("MOVE", flag, low.constant(True, "b"))
    low.bind_label(end)


@lowers("prim::HasElements")
def _lower_has_elements(low: Lowering, node: Node) -> None:
    """Lower the check that the dtype, rank and layout of a tensor allow element access."""
    encoded = node.get("dtype") | node.get("rank") << 8 | node.get("written") << 16
    low.emit("HAS_ELEMENTS", low.define(node.output()), low.use(node.input()), encoded)


@lowers("prim::LoadElement")
def _lower_load_element(low: Lowering, node: Node) -> None:
    name = "LOAD_INT" if register_class(node.output().type()) == "i" else "LOAD_FLOAT"
    registers = low.use_all(node.inputs())
    low.emit(name, low.define(node.output()), 0, node.get("dtype"), register_list=registers)


@lowers("prim::StoreElement")
def _lower_store_element(low: Lowering, node: Node) -> None:
    value_register, *operands = low.use_all(node.inputs())
    name = "STORE_INT" if low.registers.classes[value_register] == "i" else "STORE_FLOAT"
    low.emit(name, 0, value_register, node.get("dtype"), register_list=operands)


@lowers("prim::RoundFloat32")
def _lower_round(low: Lowering, node: Node) -> None:
    low.emit("ROUND_F32", low.define(node.output()), low.use(node.input()))


@lowers("prim::fork")
def _lower_fork(low: Lowering, node: Node) -> None:
    function = SubgraphFunction(node.get("Subgraph"), low.prepare, "<forked function>")
    future, index = low.define(node.output()), low.functions.index(function)
    low.emit("FORK", future, index, register_list=low.use_all(node.inputs()))


@lowers("aten::wait")
def _lower_wait(low: Lowering, node: Node) -> None:
    _wait(low, node, low.use(node.input()))


def _wait(low: Lowering, node: Node, future: int) -> None:
    """Emit a WAIT, which suspends the frame until the future has a value for the node's output."""
    output = node.output()
    low.emit("WAIT", low.define(output), future, low.types.index(output.type()))


def _begin_and_wait(low: Lowering, node: Node, operator: Operator) -> None:
    """Emit a call of `operator`, which returns a future, and wait for the future."""
    future = low.new_register("o")
    low.call_operator(operator, low.use_all(node.inputs()), [future])
    _wait(low, node, future)


@lowers(*REMOTE_CALLS)
def _lower_remote_call(low: Lowering, node: Node) -> None:
    """Lower an RPC to an operator that starts the call. For `rpc_sync`, wait for the result."""
    kind, output = node.kind(), node.output()
    record = RpcCallRecord(kind, node.get("callee"), len(node.inputs()))
    operator = Operator(record.schema_text, record)
    if kind == SYNC:
        _begin_and_wait(low, node, operator)
        return
    is_future = isinstance(output.type(), FutureType)
    result = low.define(output) if is_future else low.new_register("x")
    low.call_operator(operator, low.use_all(node.inputs()), [result])
    if not is_future:
        low.emit("CAST_TO", low.define(output), result, low.types.index(output.type()))


def _lower_beginning(low: Lowering, node: Node, operator: Any) -> None:
    """Lower `operator` to a call of the operator that starts its work (`OperatorRecord.begins`).

    Add a WAIT for the result.
    """
    start_operator = low.beginnings.get(operator.key)
    if start_operator is None:
        record: OperatorRecord = operator.record
        schema_text = f"{record.schema_text.partition(' -> ')[0]} -> Future(Any)"
        assert record.begins is not None
        start_record = OperatorRecord(
            schema_text, record.begins, record.family, where="", tensor_kernel=True, side_effect=True
        )
        start_operator = low.beginnings[operator.key] = Operator(schema_text, start_record)
    _begin_and_wait(low, node, start_operator)
