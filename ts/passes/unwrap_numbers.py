"""Conversion of traced number constants from tensors back to numbers, for type promotion.

The pass replaces the trace of `x * 2` on the left by the graph on the right:

    %1 : Long() = prim::Constant[value={2}]()                 %1 : int = prim::Constant[value=2]()
    %2 : Tensor = aten::mul(%x, %1)                     =>    %2 : Tensor = aten::mul(%x, %1)

`x * 2` has the dtype of `x`. A product of `x` and an int64 tensor may have another dtype. The tracer and
the archive reader mark number constants by the tensor attribute `is_wrapped_number`.
"""

from __future__ import annotations

from typing import Any

from ts._core.tensor.tensor import Tensor
from ts.ir.graph import Graph, Node


def as_number(value: Any) -> Any:
    """Return `value`.

    If it is a 0-dim tensor, mark it as a wrapped number, that is, as a tensor that stands for a number.
    """
    if isinstance(value, Tensor) and not value.ndim:
        value.is_wrapped_number = True  # type: ignore[attr-defined]
    return value


def unwrap_numbers(graph: Graph) -> bool:
    """Replace tensor constants that stand for numbers.

    If the operator has an overload for numbers, a number replaces the tensor.
    """
    changed = False
    for node in graph.find_all_nodes("prim::Constant"):
        if getattr(node.get("value"), "is_wrapped_number", False):
            changed |= _unwrap(graph, node)
    for fork in graph.find_all_nodes("prim::fork"):
        changed |= unwrap_numbers(fork.get("Subgraph"))
    return changed


def _unwrap(graph: Graph, constant: Node) -> bool:
    tensor = constant.output()
    with graph.inserting_before(constant):
        scalar = graph.insert_constant(constant.get("value").item(), constant.range)
    for use in tensor.uses():
        use.user.replace_input(use.offset, scalar)
        if use.user.schema() is None:
            use.user.replace_input(use.offset, tensor)
    if not tensor.has_uses():
        constant.destroy()
    if scalar.has_uses():
        return True
    scalar.node().destroy()
    return False
