"""Detection of hot loops, which run many times faster when optimized, for the selection of a tier.

The baseline tier interprets each operator. Loops whose body computes only numbers, strings and single
elements of tensors gain most from the optimizer, which keeps numbers in registers and compiles loops to
machine code. Examples:

    for i in range(n): total += i * i             hot: only numbers
    for i in range(x.size(0)): y[i] = x[i] + 1    hot: elements of tensors
    for t in range(len(xs)): h = cell(xs[t], h)   not hot: the operators of a cell take longer than the loop

Loops with a small constant number of iterations are not hot, and neither are loops over the elements of a
list or the dimensions of a tensor.
"""

from __future__ import annotations

from typing import Final

from ts.analysis.mutation import writes_to_inputs
from ts.fusion.fusion_rules import is_tensor
from ts.ir.graph import Graph, Node, Value
from ts.passes.element_access_analysis import READS_NUMBER, ROLE, SELECTION
from ts.passes.pass_utils import NOT_CONSTANT, constant_value, walk_nodes

_MIN_TRIP_COUNT: Final = 64  # constant trip counts below this number do not make a loop hot
_CONTROL_FLOW: Final = frozenset({"prim::If", "prim::Loop", "prim::Constant", "prim::Uninitialized"})
_CALLS: Final = frozenset({"prim::CallFunction", "prim::CallMethod", "prim::PythonOp", "prim::fork"})


def has_hot_loop(graph: Graph) -> bool:
    """Return True if `graph` contains a hot loop, see the module's description."""
    loops = graph.find_all_nodes("prim::Loop")
    return any(_has_many_iterations(loop.input(0)) and _is_scalar(loop) for loop in loops)


def _is_scalar(loop: Node) -> bool:
    """Return True if the body has no tensors, or computes with single elements of tensors."""
    has_tensors = selects = computes = False
    for node in walk_nodes(loop.blocks()[0]):
        kind = node.kind()
        if kind in _CONTROL_FLOW or not any(map(is_tensor, (*node.inputs(), *node.outputs()))):
            continue
        if kind in _CALLS:
            return False
        has_tensors = True
        if not any(map(is_tensor, node.outputs())):  # a query of a tensor, or an element
            computes |= bool(READS_NUMBER[kind])
        elif kind == SELECTION and constant_value(node.input(2)) is NOT_CONSTANT:
            selects = True
        elif ROLE[kind] or writes_to_inputs(node):
            computes = True
        elif kind != SELECTION and not _converts_number(node):
            return False
    return (selects and computes) or not has_tensors


def _converts_number(node: Node) -> bool:
    """Return True for the conversion of a number to a 0-dim tensor."""
    return node.kind() == "prim::NumToTensor" or (
        node.kind() == "aten::tensor" and node.input(0).type().kind() in ("IntType", "FloatType", "BoolType")
    )


def _has_many_iterations(trip_count: Value) -> bool:
    """Return False if the trip count is a small constant, a rank, or the length of a list."""
    count = constant_value(trip_count)
    if count is not NOT_CONSTANT:
        return bool(count >= _MIN_TRIP_COUNT)
    node = trip_count.node()
    if node.kind() == "aten::dim":
        return False
    if node.kind() == "aten::len":
        return is_tensor(node.input())
    numbers = [value for value in node.inputs() if value.type().kind() == "IntType"]
    operands = [value for value in numbers if constant_value(value) is NOT_CONSTANT]
    return not operands or any(map(_has_many_iterations, operands))
