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

from ts.fusion.fusion_rules import is_tensor
from ts.ir.graph import Graph, Node, Value
from ts.passes.element_access_analysis import READS_NUMBER, ROLE, SELECTION
from ts.passes.pass_utils import NOT_CONSTANT, constant_value, walk_nodes

_MIN_TRIP_COUNT: Final = 64  # constant trip counts below this number do not make a loop hot
# Operators that access elements of a tensor or query a tensor, besides those with the field `element_role`
_ACCESSES: Final = frozenset(
    {
        SELECTION,
        "aten::copy_",
        "aten::fill_",
        "aten::size",
        "aten::numel",
        "aten::dim",
        "aten::len",
        "prim::NumToTensor",
        "prim::dtype",
        "prim::device",
        "aten::tensor",
        "aten::append",
    }
)
_LENGTHS: Final = frozenset({"aten::len", "aten::dim"})  # small trip counts, except the length of a tensor
_ARITHMETIC: Final = frozenset(
    {
        "aten::add",
        "aten::sub",
        "aten::mul",
        "aten::floordiv",
        "aten::__range_length",
        "prim::min",
        "prim::max",
    }
)
_CONTROL_FLOW: Final = frozenset({"prim::If", "prim::Loop", "prim::Constant", "prim::Uninitialized"})


def has_hot_loop(graph: Graph) -> bool:
    """Return True if `graph` contains a hot loop, see the module's description."""
    loops = graph.find_all_nodes("prim::Loop")
    return any(_has_many_iterations(loop.input(0)) and _is_scalar(loop) for loop in loops)


def _is_scalar(loop: Node) -> bool:
    """Return True if the body computes no tensors, or only reads and writes single elements of tensors."""
    selects = computes = False
    for node in walk_nodes(loop.blocks()[0]):
        kind = node.kind()
        if kind in _CONTROL_FLOW or not any(map(is_tensor, (*node.inputs(), *node.outputs()))):
            continue
        if kind == SELECTION and constant_value(node.input(2)) is NOT_CONSTANT:
            selects = True
        elif READS_NUMBER[kind]:
            continue
        elif kind in _ACCESSES or ROLE[kind]:
            computes = True
        else:
            return False
    return selects or not computes


def _has_many_iterations(trip_count: Value) -> bool:
    """Return False if the trip count is a small constant, or the length of a list or of a shape."""
    count = constant_value(trip_count)
    if count is not NOT_CONSTANT:
        return bool(count >= _MIN_TRIP_COUNT)
    node = trip_count.node()
    if node.kind() in _ARITHMETIC:
        return any(
            _has_many_iterations(value) for value in node.inputs() if value.node().kind() != "prim::Constant"
        )
    return node.kind() not in _LENGTHS or (node.kind() == "aten::len" and is_tensor(node.input()))
