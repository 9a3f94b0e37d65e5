"""Lowering of futures: starting asynchronous calls and waiting for their results.

%f : Future[int] = prim::fork(%x)                      FORK f, function, x
%y : int = aten::wait(%f)                              WAIT y, f, int

%y : Tensor = prim::rpc_sync(%to, %name, %args)        CALL_OPERATOR f, to, name, args       starts the call
                                                       WAIT y, f, Tensor
%y : Tensor = aten::to_here(%r, %timeout)              the same, for operators with `OperatorRecord.begins`
"""

from __future__ import annotations

from typing import Any

from ts._core.dispatch.operator import Operator
from ts.bytecode.lowering import Lowering, lowers
from ts.bytecode.subgraph_functions import SubgraphFunction
from ts.ir.attributes import REMOTE_CALLS
from ts.ir.graph import Node
from ts.ir.types import FutureType
from ts.ops.registry import OperatorRecord
from ts.ops.rpc_ops import SYNC, RpcCallRecord


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


def lower_beginning(low: Lowering, node: Node, operator: Any) -> None:
    """Lower `operator` to a call of the operator that starts it (`OperatorRecord.begins`), and a WAIT."""
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
