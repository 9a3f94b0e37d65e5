"""Constructors and in-place operators for which a trace records special nodes.

The call on the left is recorded as the nodes on the right:

    torch.tensor([1, 2])      a constant, aten::to, aten::detach
    torch.from_numpy(a)       a constant, aten::lift_fresh
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ts import dtypes
from ts._core.tensor.tensor import Tensor
from ts.ir.types import DEVICE

if TYPE_CHECKING:
    from ts.ir.graph import Node, Value
    from ts.tracing.tracer import Tracer


def record_constructed(tracer: Tracer, x: Tensor, function: str) -> None:
    """Record `x`, a tensor that `function` constructed from Python values, as a constant.

    As in PyTorch, nodes `aten::to` and `aten::detach` are recorded after the constant. The trace uses the
    constant itself, or a copy if the traced function writes to the tensor.
    """
    with tracer.paused():
        elements = x.clone()  # the function may write to `x`
    value = tracer.insert_tensor(elements, tracer.source_range())
    if function == "array":
        node = _record(tracer, "aten::lift_fresh", [value], x)
    else:
        arguments = [tracer.constant(x.device, DEVICE), tracer.constant(x.dtype.code)]
        arguments += [tracer.constant(False), tracer.constant(False), tracer.constant(None)]
        node = _record(tracer, "aten::to", [value, *arguments], x)
        if function in ("tensor", "new_tensor"):
            _record(tracer, "aten::detach", [node.output()], x)
    tracer.shared_constants.append((x, node))


def _record(tracer: Tracer, kind: str, inputs: list[Value], result: Tensor) -> Node:
    """Record a node, and bind `result` to the output of the node."""
    node = tracer.graph.create(kind, inputs)
    node.range = tracer.source_range()
    tracer.bind(tracer.graph.insert_node(node).output(), result)
    return node


def functional_write(tracer: Tracer, op: Any, inputs: list[Value], values: list[Any]) -> Value | None:
    """Record a functional operator instead of `op`, an in-place operator such as `copy_` or `fill_`.

    These overwrite all elements, so that the old elements are not needed.

    Return the result of the functional operator, or None if no functional operator can replace this one.
    """
    written, *arguments = values
    filled_like = op.record.functional.filled_like
    if op.name == "aten::copy_" and isinstance(arguments[0], Tensor) and arguments[0].dtype is written.dtype:
        node = tracer.graph.create("aten::expand_as", (inputs[1], inputs[0]))
    elif filled_like and not any(isinstance(x, Tensor) for x in arguments):
        options = [tracer.constant(None), tracer.constant(dtypes.strided.code)]
        options += [tracer.constant(written.device, DEVICE), tracer.constant(False)]
        options.append(tracer.constant(dtypes.preserve_format.code))
        node = tracer.graph.create(filled_like, [*inputs[: len(values)], *options])
    else:
        return None
    node.range = tracer.source_range()
    return tracer.graph.insert_node(node).output()


def copy_written_constants(tracer: Tracer, written: Tensor) -> None:
    """Record copies of the constants that share memory with `written`, a tensor that an operator writes to.

    In PyTorch, a trace writes to the constant itself, so that the next run of the trace reads the changed
    constant.
    """
    shared = tracer.shared_constants
    tracer.shared_constants = []
    for x, node in shared:
        on_host = isinstance(x.array, np.ndarray) and isinstance(written.array, np.ndarray)
        if on_host and not np.may_share_memory(x.array, written.array):
            tracer.shared_constants.append((x, node))
        elif node.kind() == "aten::to":
            node.input(4).node().set("value", 1)
        else:
            copied = tracer.graph.create("aten::lift_fresh_copy", node.inputs()).insert_after(node)
            copied.range = node.range
            node.output().replace_all_uses_with(copied.output())
            tracer.set_value(x, copied.output().set_type(node.output().type()))
