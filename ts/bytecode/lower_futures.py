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
from ts.bytecode.lower_containers import ContainerLowering
from ts.bytecode.subgraph_functions import Prepare, SubgraphFunction
from ts.ir.graph import Node
from ts.ir.types import FutureType
from ts.ops.registry import OperatorRecord
from ts.ops.rpc_ops import SYNC, RpcCallRecord


class FutureLowering(ContainerLowering):
    """Lowering of futures, the base class of `lower.Lowering`."""

    prepare: Prepare
    # key of an operator -> operator that starts the same work and returns a future without waiting
    beginnings: dict[str, Operator]

    def lower_fork(self, node: Node) -> None:
        """Lower `prim::fork`."""
        function = SubgraphFunction(node.get("Subgraph"), self.prepare, "<forked function>")
        index, _ = self.functions.setdefault(id(function), (len(self.functions), function))
        self.emit(
            "FORK", self.define(node.output()), index, register_list=[self.use(v) for v in node.inputs()]
        )

    def lower_wait(self, node: Node) -> None:
        """Lower `aten::wait`."""
        self.wait(node, self.use(node.input()))

    def wait(self, node: Node, future: int) -> None:
        """Emit a WAIT, which suspends the frame until the future has a value for the node's output."""
        output = node.output()
        self.emit("WAIT", self.define(output), future, self.type_index(output.type()))

    def lower_remote_call(self, node: Node) -> None:
        """Lower an RPC to an operator that starts the call. For `rpc_sync`, wait for the result."""
        kind = node.kind()
        record = RpcCallRecord(kind, node.get("callee"), len(node.inputs()))
        operator = Operator(record.schema_text, record)
        if kind == SYNC:
            self.wait(node, self.begin(node, operator))
            return
        output = node.output()
        if isinstance(output.type(), FutureType):
            self.begin(node, operator, self.define(output))
        else:
            reference = self.begin(node, operator, self.new_register("x"))
            self.emit("CAST_TO", self.define(output), reference, self.type_index(output.type()))

    def lower_beginning(self, node: Node, operator: Any) -> None:
        """Lower `operator` to a call of the operator that starts it (`OperatorRecord.begins`), and a WAIT."""
        start_operator = self.beginnings.get(operator.key)
        if start_operator is None:
            record: OperatorRecord = operator.record
            schema_text = f"{record.schema_text.partition(' -> ')[0]} -> Future(Any)"
            assert record.begins is not None
            start_record = OperatorRecord(
                schema_text, record.begins, record.family, where="", tensor_kernel=True, side_effect=True
            )
            start_operator = self.beginnings[operator.key] = Operator(schema_text, start_record)
        self.wait(node, self.begin(node, start_operator))

    def begin(self, node: Node, operator: Operator, result: int | None = None) -> int:
        """Emit a call of `operator`, which starts an operation, with the inputs of `node`.

        Return the register of the future: `result`, or a new register if `result` is None.
        """
        if result is None:
            result = self.new_register("o")
        registers = [*(self.use(v) for v in node.inputs()), result]
        self.emit("CALL_OPERATOR", self.operator_index(operator), register_list=registers, results=1)
        return result
