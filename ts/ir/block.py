"""Blocks: lists of nodes with block arguments and outputs.

Example of a block with two arguments, one node and one output::

    block0(%i : int, %x : Tensor):
      %y : Tensor = aten::add(%x, %x, %i)
      -> (%y)

A block also has a parameter node and a return node. The outputs of the parameter node are the arguments of
the block. The inputs of the return node are the outputs of the block.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from operator import attrgetter
from typing import TYPE_CHECKING, Final

from ts._core.thread.deadline import charge
from ts.ir.camel_case_aliases import add_camel_case_aliases
from ts.ir.node import Node
from ts.ir.types import TENSOR, Type
from ts.ir.value import Value

if TYPE_CHECKING:
    from ts.ir.graph import Graph

ValueMap = Callable[[Value], Value]

# time charged to `ts.limits` for each visited node, in nanoseconds
_VISIT_NS: Final = 300
_VISITS_PER_CHECK: Final = 64  # visited nodes between two checks of limits
_VISIT_RANGE: Final = range(_VISITS_PER_CHECK)
_MAX_FREE_VISITS: Final = 12  # an iteration over at most this number of nodes charges no time
_POSITION: Final = attrgetter("_position")


class Block:
    """List of nodes with block arguments and outputs.

    The block belongs to a node, or to the graph if it is the top block.
    """

    __slots__ = ("_graph", "_owner", "_param", "_return", "_with_blocks")

    def __init__(self, graph: Graph, owner: Node | None) -> None:
        self._with_blocks: dict[Node, None] = {}  # the nodes with blocks, in order of insertion
        self._graph = graph
        self._owner = owner
        self._param = Node(graph, "prim::Param")
        self._return = Node(graph, "prim::Return")
        for node in (self._param, self._return):
            node._block = self
            node._prev = node._next = node

    def inputs(self) -> list[Value]:
        """Return the list of input values in order. The block owns this list, which is not a copy."""
        return self._param._outputs

    def outputs(self) -> list[Value]:
        """Return the list of output values in order. The block owns this list, which is not a copy."""
        return self._return._inputs

    def nodes(self) -> Iterator[Node]:
        """Yield the nodes in order.

        The caller may destroy or move the current node. Nodes inserted behind the current node are visited.
        """
        end = self._return
        node = end._next
        while True:
            for visits in _VISIT_RANGE:
                if node is end:
                    if visits > _MAX_FREE_VISITS:
                        charge(visits * _VISIT_NS)
                    return
                following = node._next
                yield node
                if node._block is self:
                    node = node._next
                else:
                    while following._block is not self:
                        following = following._next
                    node = following
            charge(_VISITS_PER_CHECK * _VISIT_NS)

    def reverse_nodes(self) -> Iterator[Node]:
        """Yield the nodes from last to first. The current node may be destroyed during iteration."""
        end = self._return
        node = end._prev
        while node is not end:
            preceding = node._prev
            yield node
            if node._block is self:
                node = node._prev
            else:
                while preceding._block is not self:
                    preceding = preceding._prev
                node = preceding

    def nodes_with_blocks(self) -> list[Node]:
        """Return the nodes of this block that have nested blocks, such as `if` nodes and loops, in order."""
        return sorted(self._with_blocks, key=_POSITION)

    def is_empty(self) -> bool:
        """Return True if the block has no nodes. It may have inputs and outputs."""
        return self._return._next is self._return

    def param_node(self) -> Node:
        """Return the `prim::Param` node, whose outputs are the block's inputs."""
        return self._param

    def return_node(self) -> Node:
        """Return the `prim::Return` node, whose inputs are the block's outputs."""
        return self._return

    def owning_node(self) -> Node | None:
        """Return the `if`, loop or other node that contains the block, or None for a graph's top block."""
        return self._owner

    def owning_graph(self) -> Graph:
        """Return the graph that contains the block, directly or in a node."""
        return self._graph

    def add_input(self, name: str | None = None, type: Type = TENSOR) -> Value:
        """Append an input of type `type` and return its value."""
        return self._param.add_output(name, type)

    def insert_input(self, i: int, name: str | None = None, type: Type = TENSOR) -> Value:
        """Insert an input before input `i` and return its value."""
        return self._param.insert_output(i, name, type)

    def erase_input(self, i: int) -> None:
        """Remove input `i`. Raise InternalError if it has uses."""
        self._param.erase_output(i)

    def permute_inputs(self, order: Iterable[int]) -> None:
        """Reorder the inputs: new input `i` is the old input `order[i]`."""
        self._param.permute_outputs(order)

    def register_output(self, value: Value) -> int:
        """Append an output and return its index."""
        self._return.add_input(value)
        return len(self._return._inputs) - 1

    def insert_output(self, i: int, value: Value) -> int:
        """Insert `value` before output `i`, and return `i`."""
        self._return.insert_input(i, value)
        return i

    def replace_output(self, i: int, value: Value) -> None:
        """Replace output `i` by `value`."""
        self._return.replace_input(i, value)

    def erase_output(self, i: int) -> None:
        """Remove output `i` of the block. The value and its node remain."""
        self._return.remove_input(i)

    def permute_outputs(self, order: Iterable[int]) -> None:
        """Reorder the outputs: new output `i` is the old output `order[i]`."""
        self._return.permute_inputs(order)

    def append_node(self, node: Node) -> Node:
        """Insert a node at the end of the block, before the return node. Return the inserted node."""
        return node.insert_before(self._return)

    def prepend_node(self, node: Node) -> Node:
        """Insert a node at the start of the block, after the parameters. Return the inserted node."""
        return node.insert_after(self._return)

    def add_node(self, kind: str, inputs: Iterable[Value]) -> Node:
        """Create a node of kind `kind` with one output, append it to the block and return it."""
        return self.append_node(self._graph.create(kind, inputs))

    def create_unlisted_node(self, kind: str) -> Node:
        """Create a node of kind `kind` whose block is this block, but which `nodes()` does not yield."""
        node = Node(self._graph, kind)
        node._block = self
        return node

    def clone_from(self, source: Block, value_map: ValueMap | Mapping[Value, Value] | None = None) -> None:
        """Append copies of the inputs, nodes and outputs of `source`.

        A node in `source` may use values that are defined outside of `source`. `value_map` maps each of these
        values to the value that the copy of the node uses.
        """
        self._clone(source, {}, value_map.__getitem__ if isinstance(value_map, Mapping) else value_map)

    def _clone(self, source: Block, local: dict[Value, Value], outer: ValueMap | None) -> None:
        """Append copies of the inputs, nodes and outputs of `source`.

        `local` maps each copied value to its copy, and is shared with the calls for nested blocks. `outer`
        returns the new value for a value that is defined outside of `source`.
        """
        graph = self._graph

        def lookup(value: Value) -> Value:
            copied = local.get(value)
            if copied is not None:
                return copied
            return value if outer is None else outer(value)

        for value in source.inputs():
            local[value] = self.add_input().copy_metadata(value)
        for node in source.nodes():
            copy = graph._clone_node(node, lookup)
            for block in node._blocks:
                copy.add_block()._clone(block, local, outer)
            self.append_node(copy)
            for old, new in zip(node._outputs, copy._outputs, strict=True):
                if old._name:
                    # set the name again, which adds the number suffix that copies have in PyTorch
                    new.set_debug_name(old._name)
                local[old] = new
        for value in source.outputs():
            self.register_output(lookup(value))

    def sink_after(self, node: Node, i: int) -> Block:
        """Move the nodes after `node`, and the outputs of this block, into block `i` of `node`.

        This `Block` object keeps these nodes and becomes block `i` of `node`. A new block takes its previous
        place and gets `node` and the nodes before it. Return the new block. The method visits only the nodes
        that the new block gets.
        """
        graph, owner = self._graph, self._owner
        outer = Block(graph, owner)
        if owner is None:
            graph._block = outer
        else:
            owner._blocks[owner._blocks.index(self)] = outer
        outer._param, self._param = self._param, outer._param
        outer._param._block, self._param._block = outer, self
        for moved in self.nodes():
            moved.move_before(outer._return)
            if moved is node:
                break
        self._owner = node
        node._blocks[i] = self
        if graph._insert_before is self._return:
            graph._insert_before = outer._return
        return outer

    def clear(self) -> None:
        """Remove all outputs and nodes, but not the inputs."""
        self._return.remove_all_inputs()
        for node in self.reverse_nodes():
            node.destroy()

    def destroy(self) -> None:
        """Remove nodes, inputs and outputs of this block, before `Node.erase_block` removes the block."""
        self.clear()
        for i in reversed(range(len(self._param._outputs))):
            self._param.erase_output(i)
        self._param._release()
        self._return._release()

    def find_all_nodes(self, kind: str, recurse: bool = True) -> list[Node]:
        """Return the nodes of a kind in program order, including nested blocks if `recurse`."""
        nodes: list[Node] = []
        for node in self.nodes():
            if node._kind == kind:
                nodes.append(node)
            if recurse and node._blocks:
                nodes.extend(node.find_all_nodes(kind))
        return nodes

    def find_node(self, kind: str, recurse: bool = True) -> Node | None:
        """Return the first node of a kind in program order, or None if no node matches."""
        for node in self.nodes():
            if node._kind == kind:
                return node
            if recurse and node._blocks:
                match = node.find_node(kind)
                if match is not None:
                    return match
        return None


add_camel_case_aliases(
    Block,
    paramNode="param_node",
    returnNode="return_node",
    owningNode="owning_node",
    addInputToBlock="add_input",
    registerOutput="register_output",
    addNode="add_node",
    findNode="find_node",
    findAllNodes="find_all_nodes",
)
