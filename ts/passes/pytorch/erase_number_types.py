"""Type erasure of numbers: conversion to 0-dim tensors, for export formats without number types.

The pass replaces the types and the constant on the left by those on the right:

    %2 : int = prim::Constant[value=7]()          %2 : Long(device=cpu) = prim::Constant[value={7}]()
    %3 : int = aten::size(%x, %1)             =>  %3 : Long(device=cpu) = aten::size(%x, %1)

The resulting graph is for export and inspection. It cannot run.
"""

from __future__ import annotations

from typing import Final

from ts import dtypes
from ts._core.tensor.factories import tensor
from ts.ir.graph import Block, Graph, Node, Value
from ts.ir.types import TENSOR, TensorType

_NUMBERS: Final = {
    "IntType": TensorType(dtypes.int64.code, (), None, "cpu"),
    "FloatType": TensorType(dtypes.float64.code, (), None, "cpu"),
    "BoolType": TensorType(dtypes.bool_.code, (), None, "cpu"),
    "NumberType": TENSOR,
}


def erase_number_types(graph: Graph) -> bool:
    """Convert all numbers of the graph to tensors."""
    return _erase(graph.block())


def _erase(block: Block) -> bool:
    changed = _retype(block.inputs())
    for node in list(block.nodes()):
        if node.kind() == "prim::Constant" and node.output().type().kind() in _NUMBERS:
            _to_tensor(node)
            changed = True
            continue
        changed |= _retype(node.outputs())
        for inner in node.blocks():
            changed |= _erase(inner)
    return changed


def _retype(values: list[Value]) -> bool:
    number_values = [value for value in values if value.type().kind() in _NUMBERS]
    for value in number_values:
        value.set_type(_NUMBERS[value.type().kind()])
    return bool(number_values)


def _to_tensor(node: Node) -> None:
    graph, type = node.owning_graph(), _NUMBERS[node.output().type().kind()]
    dtype = None if type.scalar_type is None else dtypes.BY_CODE[type.scalar_type]
    with graph.inserting_before(node):
        constant = graph.insert_constant(tensor(node.get("value"), dtype=dtype))
    constant.set_type(type)
    node.output().replace_all_uses_with(constant)
    node.destroy()
