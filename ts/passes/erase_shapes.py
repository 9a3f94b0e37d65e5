"""Removal of dtypes and shapes from tensor types of traces.

Dtypes and shapes in a trace are valid only for the example inputs. This example shows a node before and after
the pass:

    %2 : Float(2, 3, strides=[3, 1]) = aten::neg(%x)    =>    %2 : Tensor = aten::neg(%x)
"""

from __future__ import annotations

from ts.ir.graph import Block, Graph, Value
from ts.ir.types import erase_shape


def erase_shape_information(graph: Graph) -> bool:
    """Replace all tensor types by plain Tensor."""
    changed = _erase(graph.block())
    for fork in graph.find_all_nodes("prim::fork"):
        changed |= erase_shape_information(fork.get("Subgraph"))
    return changed


def _erase(block: Block) -> bool:
    changed = False
    for value in block.inputs():
        changed |= _erase_value_shape(value)
    for node in block.nodes():
        for value in node.outputs():
            changed |= _erase_value_shape(value)
        for inner in node.blocks():
            changed |= _erase(inner)
    return changed


def _erase_value_shape(value: Value) -> bool:
    before = value.type()
    after = erase_shape(before)
    if after == before:
        return False
    value.set_type(after)
    return True
