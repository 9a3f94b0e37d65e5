"""Graphs and blocks.

A `Graph` is a typed SSA program with one top block. Nodes in this block may own further blocks
(``prim::If``, ``prim::Loop``). New nodes are inserted at the insertion point::

    >>> g = Graph()
    >>> x = g.add_input("x")
    >>> one = g.insert_constant(1)
    >>> y = g.insert_node(g.create("aten::add", [x, x, one])).output()
    >>> g.register_output(y)
    0
    >>> print(g, end="")
    graph(%x : Tensor):
      %1 : int = prim::Constant[value=1]()
      %2 : Tensor = aten::add(%x, %x, %1)
      return (%2)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from typing import Any, ClassVar, TypeVar, cast

from ts._core.thread.deadline import charge
from ts.errors import InternalError
from ts.ir.attributes import type_of_constant
from ts.ir.block import Block, ValueMap
from ts.ir.camel_case_aliases import add_camel_case_aliases
from ts.ir.clone_graph import copy_block
from ts.ir.insert_point import GraphSetting
from ts.ir.iterable_list import IterableList
from ts.ir.node import NODE_BYTES, NODE_NS, CallStack, Node, OperatorLookup, foreign_value_error
from ts.ir.source import SourceRange
from ts.ir.types import DEVICE, INT, TENSOR, TupleType, Type, match_type_variables, substitute
from ts.ir.value import Use, Value

__all__ = ["Block", "CallStack", "Graph", "Node", "OperatorLookup", "Use", "Value"]

Result = TypeVar("Result")


class Graph:
    """Typed SSA program. New nodes get the graph's current `range`, `callstack` and `scope`."""

    __deletable__ = ("_block", "_insert_before")  # for mypyc: `free` deletes these attributes
    __slots__ = (
        "__weakref__",
        "_block",
        "_insert_before",
        "_kinds",
        "_name_suffixes",
        "_names",
        "_next_unique",
        "analyses",
        "callstack",
        "has_textual_names",
        "range",
        "scope",
        "stored_copy",
        "version",
    )

    alias_db: ClassVar[Callable[[Graph], Any]]  # creates an alias analysis, set by `ts.analysis.alias`

    def __init__(self) -> None:
        # (copy of the graph, hash), stored by the pass `preserve_raising_code`
        self.stored_copy: Any = None
        self.version = 0  # increases with each change of nodes, uses, types and attributes
        # Cache: analysis function -> (`version` at the time of the analysis, result of the analysis). The
        # cache is None if no pass pipeline is running.
        self.analyses: dict[Callable[[Graph], Any], tuple[int, Any]] | None = None
        self.has_textual_names = False  # True if names come from graph text instead of a program
        self._next_unique = 0
        self._names: dict[str, Value] = {}
        self._name_suffixes: dict[str, int] = {}
        # Kinds of all nodes that were ever created in this graph. Some of the nodes may be removed.
        self._kinds: set[str] = set()
        self._block = Block(self, None)
        self._insert_before: Node = self._block._return
        self.range: SourceRange | None = None
        self.callstack: CallStack = ()
        self.scope = ""

    def free(self) -> None:
        """Remove all nodes and values, so that reference counts free them. Do not use the graph afterwards.

        Without this, the reference cycles between nodes, values and blocks wait for the garbage collector.
        Graphs in attributes of nodes, such as the subgraph of a fusion group, are not freed.
        """
        blocks = [self._block]
        while blocks:
            block = blocks.pop()
            nodes = [block._param, block._return]
            while (following := nodes[-1]._next) is not block._return:
                nodes.append(following)
            for node in nodes:
                blocks.extend(node._blocks)
                node._release()
            block._with_blocks.clear()
        self._names.clear()
        self.stored_copy = self.analyses = None
        del self._block, self._insert_before

    # --- queries of the graph ---

    def block(self) -> Block:
        """Return the top block, which contains all other blocks."""
        return self._block

    def inputs(self) -> IterableList[Value]:
        """Return the inputs of the top block, as a list that is also an iterator."""
        return IterableList(self._block.inputs())

    def outputs(self) -> IterableList[Value]:
        """Return the outputs of the top block, as a list that is also an iterator."""
        return IterableList(self._block.outputs())

    def nodes(self) -> Iterator[Node]:
        """Yield the nodes of the top block in order. Nodes in nested blocks are not included."""
        return self._block.nodes()

    def all_nodes(self) -> Iterator[Node]:
        """Yield all nodes, including nested ones, in pre-order."""
        stack = [self._block.nodes()]
        while stack:
            nodes = stack.pop()
            for node in nodes:
                yield node
                if node._blocks:
                    stack.append(nodes)
                    stack.extend(block.nodes() for block in reversed(node._blocks))
                    break

    def param_node(self) -> Node:
        """Return the `prim::Param` node of the top block, whose outputs are the graph's inputs."""
        return self._block._param

    def return_node(self) -> Node:
        """Return the `prim::Return` node of the top block, whose inputs are the graph's outputs."""
        return self._block._return

    def kinds(self) -> Set[str]:
        """Return the kinds of all nodes that were ever created in the graph, including destroyed nodes."""
        return self._kinds

    def find_node(self, kind: str, recurse: bool = True) -> Node | None:
        """Return the first node of kind `kind`, or None if no node matches.

        This is fast if the graph never had a node of this kind.
        """
        return self._block.find_node(kind, recurse) if kind in self._kinds else None

    def find_all_nodes(self, kind: str, recurse: bool = True) -> list[Node]:
        """Return the nodes of a kind, in program order. The list is empty if there are none."""
        return self._block.find_all_nodes(kind, recurse) if kind in self._kinds else []

    # --- inputs and outputs ---

    def add_input(self, name: str | None = None, type: Type = TENSOR) -> Value:
        """Append an input of type `type` and return its value."""
        return self._block._param.add_output(name, type)

    def insert_input(self, i: int, name: str | None = None, type: Type = TENSOR) -> Value:
        """Insert an input before input `i` and return its value."""
        return self._block.insert_input(i, name, type)

    def erase_input(self, i: int) -> None:
        """Remove input `i`. Raise InternalError if it has uses."""
        self._block.erase_input(i)

    def permute_inputs(self, order: Iterable[int]) -> None:
        """Reorder the inputs: new input `i` is the old input `order[i]`."""
        self._block.permute_inputs(order)

    def register_output(self, value: Value) -> int:
        """Append `value` to the graph's outputs, and return its index."""
        return self._block.register_output(value)

    def erase_output(self, i: int) -> None:
        """Remove output `i` of the graph. The value and its node remain."""
        self._block.erase_output(i)

    # --- creating nodes ---

    def _new_block(self, owner: Node) -> Block:
        return Block(self, owner)

    def create(self, kind: str, inputs: Iterable[Value] | int = (), num_outputs: int = 1) -> Node:
        """Create a node, not yet in any block, with the graph's current source range."""
        charge(NODE_NS, NODE_BYTES)
        if kind not in self._kinds:
            if "::" not in kind:
                raise RuntimeError(
                    f"all symbols must have a namespace, <namespace>::<string>, but found: {kind}"
                )
            self._kinds.add(kind)
        values: Iterable[Value] = ()
        if isinstance(inputs, int):  # called as create(kind, num_outputs)
            num_outputs = inputs
        else:
            values = inputs
        node = Node(self, kind, self.range, self.callstack, self.scope)
        for i, value in enumerate(values):
            if value._node._graph is not self:
                raise foreign_value_error(kind, value)
            node._input_uses.append(value._new_use(node, i))
            node._inputs.append(value)
        for i in range(num_outputs):
            node._outputs.append(Value(node, i, self._next_unique))
            self._next_unique += 1
        return node

    def create_value(self, node: Node, type: Type) -> Value:
        """Return a new value that `node` computes, but that is not in the list of its outputs."""
        value = Value(node, 0, self._next_unique, type)
        self._next_unique += 1
        return value

    def remove_names(self, kind: str) -> None:
        """Remove the names of all values that nodes of kind `kind` compute."""
        for value in [value for value in self._names.values() if value._node._kind == kind]:
            value.set_debug_name("")

    def create_clone(
        self, source: Node, value_map: ValueMap | Mapping[Value, Value], copy_blocks: bool = True
    ) -> Node:
        """Return a copy of node `source`, which may belong to another graph. The copy is in no block yet.

        `value_map` maps each input of `source` to the corresponding input of the copy.
        """
        lookup = value_map.__getitem__ if isinstance(value_map, Mapping) else value_map
        node = self._clone_node(source, lookup)
        if copy_blocks:
            for block in source._blocks:
                node.add_block().clone_from(block, lookup)
        return node

    def _clone_node(self, source: Node, lookup: ValueMap) -> Node:
        """Return a copy of node `source` without blocks. `lookup` maps old inputs to inputs of the copy."""
        charge(NODE_NS, NODE_BYTES)
        self._kinds.add(source._kind)
        node = Node(self, source._kind, source.range, source.callstack, source.scope)
        for value in source._outputs:
            copy = Value(node, value._offset, self._next_unique, value._type)
            self._next_unique += 1
            node._outputs.append(copy)
            if value._name:
                copy.set_debug_name(value._name)
        if source._attributes is not None:
            node.copy_attributes(source)
        node.needs_type_check = source.needs_type_check
        for i, value in enumerate(source._inputs):
            mapped = lookup(value)
            node._input_uses.append(mapped._new_use(node, i))
            node._inputs.append(mapped)
        node._operator = source._operator
        return node

    def create_if(self, condition: Value, num_outputs: int = 0) -> Node:
        """Create a ``prim::If`` with two empty blocks."""
        node = self.create("prim::If", (condition,), num_outputs)
        node.add_block()
        node.add_block()
        return node

    def create_loop(
        self,
        max_trip_count: Value,
        condition: Value,
        carried: Sequence[Value] = (),
        num_outputs: int | None = None,
    ) -> Node:
        """Create a ``prim::Loop``. The inputs of its body are the iteration number and the carried values."""
        count = len(carried) if num_outputs is None else num_outputs
        node = self.create("prim::Loop", (max_trip_count, condition, *carried), count)
        body = node.add_block()
        body.add_input(type=INT)
        for value in carried:
            body.add_input(type=value._type)
        for output, value in zip(node._outputs, carried, strict=False):
            output._type = value._type
        return node

    def insert_node(self, node: Node) -> Node:
        """Insert a new node at the insertion point."""
        return node.insert_after(self._insert_before._prev)

    def append_node(self, node: Node) -> Node:
        """Insert a node after the last node of the top block, and return it."""
        return self._block.append_node(node)

    def prepend_node(self, node: Node) -> Node:
        """Insert a node before the first node of the top block, and return it."""
        return self._block.prepend_node(node)

    def insert(self, kind: str, inputs: Sequence[Any] = (), type: Type | None = None) -> Value:
        """Insert a node that calls operator `kind`, and return its output.

        `inputs` are values or Python constants. Without `type`, the schema of the overload that matches the
        inputs determines the defaults of omitted arguments and the type of the output.
        """
        values = [v if isinstance(v, Value) else self.insert_constant(v) for v in inputs]
        if type is None and OperatorLookup.with_defaults is not None:
            missing = OperatorLookup.with_defaults(kind, values)
            if missing is None:
                argument_types = ", ".join(value._type.str() for value in values)
                raise RuntimeError(f"No operator {kind} takes the arguments ({argument_types})")
            values += [self.insert_constant(default) for default in missing]
        node = self.insert_node(self.create(kind, values))
        if type is not None:
            return node.output().set_type(type)
        schema = node.schema()
        if schema is not None and schema.returns:
            env: dict[str, Type] = {}
            for argument, value in zip(schema.arguments, values, strict=False):
                match_type_variables(argument.type, value._type, env)
            result = substitute(schema.returns[0].type, env)
            if result is not None:
                node.output()._type = result
        return node.output()

    def insert_constant(
        self, value: Any, range: SourceRange | None = None, type: Type | None = None
    ) -> Value:
        """Insert a ``prim::Constant`` and return its output.

        Raise TypeError if a graph cannot hold `value`.
        """
        result = self.try_insert_constant(value, range, type)
        if result is None:
            raise TypeError(
                f"insertConstant(): a {value.__class__.__name__} cannot be a constant of a graph; "
                "supported are numbers, strings, tensors, devices, None, enum members, and lists, tuples and "
                "dicts of them"
            )
        return result

    def try_insert_constant(
        self, value: Any, range: SourceRange | None = None, type: Type | None = None
    ) -> Value | None:
        """Insert a constant like `insert_constant`. Return None if a graph cannot hold `value`."""
        if type is None:
            type = type_of_constant(value)
            if type is None:
                return None
        node = self.create("prim::Constant")
        if type is DEVICE:
            value = str(value)  # a device constant is a string attribute, as in PyTorch
        if value is not None:
            node.set("value", value, "ival" if isinstance(value, (list, tuple, dict)) else None)
        if range is not None:
            node.range = range
        node._outputs[0]._type = type
        return self.insert_node(node)._outputs[0]

    # --- cached analyses ---

    def analysis(self, analyse: Callable[[Graph], Result]) -> Result:
        """Return `analyse(self)`, for example an `AliasDb`.

        While a pass pipeline runs, the result is cached until the graph changes.
        """
        version, result = (self.analyses or {}).get(analyse, (-1, None))
        if version != self.version or result is None:
            result = analyse(self)
            if self.analyses is not None:
                self.analyses[analyse] = self.version, result
        return cast("Result", result)

    # --- ids and names of values ---

    def numbered(self) -> int:
        """Return the number of value ids that are allocated so far. Each new value increases this number."""
        return self._next_unique

    def skip_numbers(self, count: int) -> None:
        """Give the next `count` value ids to no value."""
        self._next_unique += count

    # --- the insertion point ---

    def insert_point(self) -> Node:
        """Return the node before which new nodes are inserted."""
        return self._insert_before

    def set_insert_point(self, position: Node | Block) -> None:
        """Set the insertion point before a node, or at the end of a block."""
        self._insert_before = position._return if isinstance(position, Block) else position

    def inserting_before(self, position: Node | Block) -> GraphSetting:
        """Return a context manager in which new nodes are inserted before a node or at the end of a block."""
        before = position._return if isinstance(position, Block) else position
        return GraphSetting(self, "_insert_before", before)

    def inserting_at_end(self, block: Block) -> GraphSetting:
        """Return a context manager in which new nodes are inserted at the end of `block`."""
        return self.inserting_before(block)

    def inserting_at_start(self) -> GraphSetting:
        """Return a context manager in which new nodes are inserted before the first node of the graph."""
        return self.inserting_before(self._block._return._next)

    def at_range(self, range: SourceRange | None) -> GraphSetting:
        """Return a context manager that sets the source range of new nodes."""
        return GraphSetting(self, "range", range)

    # --- copies, texts and diagrams of the graph ---

    def copy(self) -> Graph:
        """Return a deep copy of the graph."""
        graph = Graph()
        graph._kinds |= self._kinds
        graph.has_textual_names = self.has_textual_names
        copy_block(graph, self._block, graph._block, {})
        return graph

    def insert_graph(self, callee: Graph, inputs: Sequence[Value]) -> list[Value]:
        """Insert copies of `callee`'s nodes at the insertion point, and return the copies of its outputs."""
        if len(inputs) != len(callee.inputs()):
            raise InternalError(f"graph takes {len(callee.inputs())} inputs, got {len(inputs)}")
        mapped: dict[Value, Value] = dict(zip(callee.inputs(), inputs, strict=True))
        for node in callee.nodes():
            copy = self.insert_node(self.create_clone(node, mapped))
            mapped.update(zip(node._outputs, copy._outputs, strict=True))
        return [mapped[value] for value in callee.outputs()]

    def lint(self) -> None:
        """Raise `InternalError` if the graph violates an invariant (`ts.ir.verifier`)."""
        from ts.ir.verifier import verify

        verify(self)

    def str(self, print_source_ranges: bool = True) -> Any:
        """Return the graph text.

        If `print_source_ranges`, each node has a comment with its source location.
        """
        from ts.ir.graph_printer import to_text

        return to_text(self, print_source_ranges)

    def make_multi_output_into_tuple(self) -> None:
        """Pack several graph outputs into one tuple."""
        values = list(self.outputs())
        if len(values) == 1:
            return
        node = self._block.append_node(self.create("prim::TupleConstruct", values))
        node.output().set_type(TupleType([value._type for value in values]))
        for i in reversed(range(len(values))):
            self.erase_output(i)
        self.register_output(node.output())

    def draw(self, path: Any) -> None:
        """Write a diagram of the graph: ``.svg`` with a layout, ``.dot`` or ``.gv`` for Graphviz.

        Boxes represent nodes, and their colour depends on the kind of the node. Constants and attributes are
        written in the boxes that use them. The tooltip of a box shows the node's text and its source line.
        """
        from ts.ir.visualization import draw

        draw(self, path)

    def __str__(self) -> Any:
        return self.str()

    def _repr_html_(self) -> Any:
        """Return the text for notebooks, with the kinds of nodes in bold."""
        import html
        import re

        highlighted = re.sub(r"\b((?:aten|prim|ts)::\w+)", r"<b>\1</b>", html.escape(str(self)))
        return f'<pre class="ts-graph">{highlighted}</pre>'

    def __repr__(self) -> Any:
        return self.str()


add_camel_case_aliases(
    Graph,
    addInput="add_input",
    eraseInput="erase_input",
    permuteInputs="permute_inputs",
    registerOutput="register_output",
    eraseOutput="erase_output",
    createClone="create_clone",
    appendNode="append_node",
    prependNode="prepend_node",
    insertNode="insert_node",
    insertConstant="insert_constant",
    insertPoint="insert_point",
    setInsertPoint="set_insert_point",
    insert_point_guard="inserting_before",
    insertGraph="insert_graph",
    makeMultiOutputIntoTuple="make_multi_output_into_tuple",
    findNode="find_node",
    findAllNodes="find_all_nodes",
)
