"""Graph cloning: copies of whole graphs.

The copy has separate nodes and values, with the names of the original values. `Block.clone_from` copies into
a graph that already has values, and may have to rename the copies.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ts._core.thread.deadline import charge
from ts.ir.node import NODE_BYTES, NODE_NS, POSITION_INTERVAL, Node
from ts.ir.value import Value

if TYPE_CHECKING:
    from ts.ir.graph import Block, Graph


def copy_block(graph: Graph, source: Block, block: Block, copies: dict[Value, Value]) -> None:
    """Copy `source` into the empty `block` of a new graph, recording the copy of each value in `copies`."""
    _copy_outputs(graph, source._param, block._param, copies)
    end = source._return
    last, position = block._return, 0
    node = end._next
    while node is not end:
        charge(NODE_NS, NODE_BYTES)
        copy = Node(graph, node._kind, node.range, node.callstack, node.scope)
        if node._attributes is not None:
            copy.copy_attributes(node)
        copy.needs_type_check = node.needs_type_check
        _copy_outputs(graph, node, copy, copies)
        _copy_inputs(node, copy, copies)
        copy._operator = node._operator
        copy._block = block
        for inner in node._blocks:
            copy_block(graph, inner, copy.add_block(), copies)
        copy._position = position
        position += POSITION_INTERVAL
        copy._prev, last._next = last, copy
        last = copy
        node = node._next
    last._next, block._return._prev = block._return, last
    _copy_inputs(end, block._return, copies)


def _copy_outputs(graph: Graph, source: Node, node: Node, copies: dict[Value, Value]) -> None:
    for value in source._outputs:
        copy = copies[value] = Value(node, value._offset, graph._next_unique, value._type)
        graph._next_unique += 1
        node._outputs.append(copy)
        if value._name:
            copy._name = value._name
            graph._names[value._name] = copy


def _copy_inputs(source: Node, node: Node, copies: dict[Value, Value]) -> None:
    for value in source._inputs:
        copy = copies[value]
        node._input_uses.append(copy._new_use(node, len(node._inputs)))
        node._inputs.append(copy)
