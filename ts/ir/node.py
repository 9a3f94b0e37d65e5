"""Nodes, the operator applications of a graph.

A `Node` has a kind (``aten::add``), inputs, outputs, attributes, blocks, and a location in the user's source.
Change nodes only by methods, because the methods also update the uses of values::

    >>> from ts.ir.graph import Graph
    >>> g = Graph()
    >>> x = g.add_input("x")
    >>> n = g.insert_node(g.create("aten::neg", [x]))
    >>> x.uses()[0].user is n, n.output().node() is n
    (True, True)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import inf
from typing import TYPE_CHECKING, Any, ClassVar, Final

from ts.errors import InternalError, TsError
from ts.ir.attributes import KINDS, kind_of_value
from ts.ir.camel_case_aliases import add_camel_case_aliases
from ts.ir.iterable_list import IterableList, ValueList
from ts.ir.schema import parse_schema
from ts.ir.source import SourceRange
from ts.ir.types import TENSOR, NoneType, Type
from ts.ir.value import Use, Value

if TYPE_CHECKING:
    from ts.ir.graph import Block, Graph
    from ts.ir.schema import FunctionSchema

CallStack = tuple[tuple[str, SourceRange | None], ...]
"""(name of the called function, source range of the call) for every inlined call, outermost call first."""

# Time and memory charged to `ts.limits` at the creation of a node, so that every pass obeys the limits.
NODE_NS: Final = 1_000
NODE_BYTES: Final = 800
POSITION_INTERVAL: Final = 1 << 20  # initial difference of the positions of adjacent nodes
_PYTHON_CALL: Final = ("name", "function")  # attributes of `prim::PythonOp` that graph text omits
_UNSET = object()
_NO_BLOCKS: IterableList[Any] = IterableList()


def foreign_value_error(kind: str, value: Value) -> RuntimeError:
    """Return the error for a node of kind `kind` that gets the input `value` from another graph."""
    return RuntimeError(
        f"a node {kind} cannot take the value %{value.debug_name()}, which belongs to another graph"
    )


class OperatorLookup:
    """Hooks that find operator records and insert default arguments.

    The operator registry sets them, because `ts.ir` does not import the operators.
    """

    find: ClassVar[Callable[[Node], Any] | None] = None
    with_defaults: ClassVar[Callable[[str, list[Value]], list[Any] | None] | None] = None


class Node:
    """Application of an operator. `Graph.create` creates the node, `insert_before` adds it to a block."""

    __deletable__ = ("_next", "_prev")  # for mypyc: `free` deletes these attributes
    __slots__ = (
        "_attributes",
        "_block",
        "_blocks",
        "_destroyed",
        "_graph",
        "_input_uses",
        "_inputs",
        "_kind",
        "_next",
        "_operator",
        "_outputs",
        "_position",
        "_prev",
        "callstack",
        "needs_type_check",
        "range",
        "scope",
    )
    _prev: Node
    _next: Node

    def __init__(
        self,
        graph: Graph,
        kind: str,
        range: SourceRange | None = None,
        callstack: CallStack = (),
        scope: str = "",
    ) -> None:
        self._graph = graph
        self._kind = kind
        self._inputs: ValueList[Value] = ValueList()
        self._input_uses: list[Use] = []  # for each input, the `Use` registered with its value
        self._outputs: ValueList[Value] = ValueList()
        self._blocks: list[Block] = []
        self._block: Block | None = None
        self._position = 0
        self._destroyed = False
        self._attributes: dict[str, tuple[str, Any]] | None = None
        self._operator: Any = _UNSET
        self.range = range
        self.callstack = callstack
        self.scope = scope
        self.needs_type_check = False  # True if the declared type of the output must be checked at run time

    # --- queries of the node ---

    def kind(self) -> str:
        """Return the qualified name of the operator, such as `aten::add` or `prim::If`."""
        return self._kind

    def inputs(self) -> ValueList[Value]:
        """Return the list of input values, which only methods of the node may change."""
        values = self._inputs
        values._position = 0
        return values

    def outputs(self) -> ValueList[Value]:
        """Return the list of output values, which only methods of the node may change."""
        values = self._outputs
        values._position = 0
        return values

    def input(self, i: int = 0) -> Value:
        """Return input `i`. Raise IndexError if there is no such input."""
        return self._inputs[i]

    def output(self, i: int = 0) -> Value:
        """Return output `i`. Raise IndexError if there is no such output."""
        return self._outputs[i]

    def inputs_size(self) -> int:
        """Return the number of inputs."""
        return len(self._inputs)

    def outputs_size(self) -> int:
        """Return the number of outputs."""
        return len(self._outputs)

    def has_multiple_outputs(self) -> bool:
        """Return True if the node has two or more outputs."""
        return len(self._outputs) > 1

    def blocks(self) -> IterableList[Block]:
        """Return the nested blocks, such as the two branches of an `if`. Most nodes have none."""
        return IterableList(self._blocks) if self._blocks else _NO_BLOCKS

    def owning_block(self) -> Block:
        """Return the block that contains the node. Raise InternalError if the node is in no block."""
        if self._block is None:
            raise InternalError(f"node {self._kind} does not belong to a block")
        return self._block

    def owning_graph(self) -> Graph:
        """Return the graph that created the node, also before it is inserted."""
        return self._graph

    def in_block(self) -> bool:
        """Return True if the node is in a block (neither fresh nor destroyed)."""
        return self._block is not None

    def next(self) -> Node:
        """Return the next node of the block, or the return node after the last one."""
        return self._next

    def prev(self) -> Node:
        """Return the previous node of the block, or the return node before the first one."""
        return self._prev

    def has_uses(self) -> bool:
        """Return True if any output is the input of a node or the output of a block."""
        return any(v._uses for v in self._outputs)

    def must_be_none(self) -> bool:
        """Return True for a constant None and `prim::AutogradZero`, whose value is always None."""
        return self._kind == "prim::AutogradZero" or (
            self._kind == "prim::Constant"
            and not self._attributes
            and isinstance(self._outputs[0]._type, NoneType)
        )

    def operator(self) -> Any:
        """Return the operator's record, or None for kinds without one (``prim::If``)."""
        if self._operator is _UNSET:
            find = OperatorLookup.find
            self._operator = None if find is None else find(self)
        return self._operator

    def set_operator(self, operator: Any) -> Node:
        """Store the operator record that overload resolution selected for this node."""
        self._operator = operator
        return self

    def forget_operator(self) -> None:
        """Discard the stored operator record. The caller has changed the type of an input."""
        self._operator = _UNSET

    def schema(self) -> FunctionSchema | None:
        """Return the schema of the operator, or None for kinds without a record, such as `prim::If`."""
        operator = self.operator()
        return None if operator is None else operator.schema

    def matches(self, schema: str) -> bool:
        """Return whether the node's operator has the schema whose text is `schema`."""
        actual, expected = self.schema(), parse_schema(schema)
        return actual is not None and actual.key == expected.key and str(actual) == str(expected)

    def named_input(self, name: str) -> Value:
        """Return the input for the schema's argument `name`."""
        schema = self.schema()
        if schema is None:
            raise InternalError(f"node {self._kind} has no schema")
        value: Value = self._inputs[schema.argument_index(name)]
        return value

    def scope_name(self) -> str:
        """Return the module path under which a trace recorded the node."""
        return self.scope

    def source_range(self) -> str:
        """Return the source lines around the node's range, underlined, or "" if the node has no range."""
        return "" if self.range is None else self.range.highlight()

    def is_nondeterministic(self) -> bool:
        """Return True if the operator draws random numbers.

        Return False for an operator whose argument `train` is the constant False, such as dropout.
        """
        record = getattr(self.operator(), "record", None)
        if not getattr(record, "nondeterministic", False):
            return False
        schema = self.schema()
        is_dropout = schema is not None and any(argument.name == "train" for argument in schema.arguments)
        return not (is_dropout and self.named_input("train").to_ivalue() is False)

    # --- calls of Python functions ---

    def pyname(self) -> str:
        """Return the name of the function that a `prim::PythonOp` calls."""
        return str(self._python_attribute("name", ""))

    def pyobj(self) -> Any:
        """Return the function that a `prim::PythonOp` calls."""
        function = self._python_attribute("function", None)
        return getattr(function, "function", function)

    def scalar_args(self) -> list[Any]:
        """Return the arguments of a `prim::PythonOp` that the node stores as Python objects.

        The other arguments are inputs of the node.
        """
        return list(getattr(self._python_attribute("function", None), "scalars", ()))

    def cconv(self) -> str:
        """Return the calling convention of a `prim::PythonOp`, a string with one letter for each argument.

        The letter is `d` for an input of the node, and `c` for an argument in `scalar_args`.
        """
        function = self._python_attribute("function", None)
        return getattr(function, "calling_convention", "d" * len(self._inputs))

    def _python_attribute(self, name: str, default: Any) -> Any:
        if self._kind != "prim::PythonOp":
            raise RuntimeError(f"expected a prim::PythonOp but found a {self._kind}")
        return self.get(name, default)

    # --- attributes of the node ---

    def has_attribute(self, name: str) -> bool:
        """Return True if the node has an attribute of this name."""
        return self._attributes is not None and name in self._attributes

    def has_attributes(self) -> bool:
        """Return True if the node has any attribute."""
        return bool(self._attributes)

    def attribute_names(self) -> list[str]:
        """Return the attribute names, without `name` and `function` of a `prim::PythonOp`."""
        if self._attributes is None:
            return []
        internal_names = _PYTHON_CALL if self._kind == "prim::PythonOp" else ()
        return [name for name in self._attributes if name not in internal_names]

    def kind_of(self, name: str) -> str:
        """Return the kind of attribute `name`, one of `ts.ir.attributes.KINDS`."""
        return self._attribute(name)[0]

    def get(self, name: str, default: Any = None) -> Any:
        """Return the value of attribute `name`, or `default` if the attribute is not set."""
        if self._attributes is None:
            return default
        attribute = self._attributes.get(name)
        return default if attribute is None else attribute[1]

    def set(self, name: str, value: Any, kind: str | None = None) -> Node:
        """Set attribute `name` to `value`. Without `kind`, the value determines the attribute's kind."""
        if self._attributes is None:
            self._attributes = {}
        self._attributes[name] = (kind or kind_of_value(value), value)
        self._graph.version += 1
        return self

    def remove_attribute(self, name: str) -> Node:
        """Remove an attribute if it is set, and return the node."""
        if self._attributes is not None:
            self._attributes.pop(name, None)
            self._graph.version += 1
        return self

    def copy_attributes(self, other: Node) -> Node:
        """Copy all attributes of node `other` to this node. Copy a subgraph, because passes may change it."""
        self._attributes = None if other._attributes is None else dict(other._attributes)
        if self._attributes is not None and "Subgraph" in self._attributes:
            self.set("Subgraph", self["Subgraph"].copy(), "g")
        return self

    def _attribute(self, name: str) -> tuple[str, Any]:
        if self._attributes is None or name not in self._attributes:
            raise RuntimeError(f"required keyword attribute '{name}' is undefined")
        return self._attributes[name]

    def __getitem__(self, name: str) -> Any:
        return self._attribute(name)[1]

    def copy_metadata(self, other: Node) -> Node:
        """Copy the source range, call stack and scope of `other`."""
        self.range = other.range
        self.callstack = other.callstack
        self.scope = other.scope
        return self

    # --- changes of inputs ---

    def add_input(self, value: Value) -> Value:
        """Append an input and return it. Raise InternalError for a value of another graph."""
        if value._node._graph is not self._graph:
            raise foreign_value_error(self._kind, value)
        self._input_uses.append(value._new_use(self, len(self._inputs)))
        self._inputs.append(value)
        self._operator = _UNSET
        self._graph.version += 1
        return value

    def insert_input(self, i: int, value: Value) -> Value:
        """Insert `value` before input `i` and return it."""
        self._inputs.insert(i, value)
        self._input_uses.insert(i, value._new_use(self, i))
        self._renumber_inputs(i + 1)
        self._graph.version += 1
        return value

    def replace_input(self, i: int, new: Value) -> Value:
        """Replace input `i` by `new`, and return the old input."""
        old = self._inputs[i]
        old._remove_use(self._input_uses[i])
        self._inputs[i] = new
        self._input_uses[i] = new._new_use(self, i)
        if new._type is not old._type:
            self._operator = _UNSET
        return old

    def replace_input_with(self, old: Value, new: Value) -> None:
        """Replace every input that is `old` by `new`."""
        for i, value in enumerate(self._inputs):
            if value is old:
                self.replace_input(i, new)

    def remove_input(self, i: int) -> None:
        """Remove input `i`. The indices of later inputs decrease by one."""
        self._inputs.pop(i)._remove_use(self._input_uses.pop(i))
        self._renumber_inputs(i)

    def remove_all_inputs(self) -> None:
        """Remove all inputs and their uses, for example before the node is destroyed."""
        for value, use in zip(self._inputs, self._input_uses, strict=True):
            del value._uses[id(use)]
        self._graph.version += 1
        self._inputs.clear()
        self._input_uses.clear()
        self._operator = _UNSET

    def _renumber_inputs(self, start: int) -> None:
        for i in range(start, len(self._inputs)):
            self._input_uses[i].offset = i
        self._operator = _UNSET

    # --- changes of outputs and blocks ---

    def add_output(self, name: str | None = None, type: Type = TENSOR) -> Value:
        """Append an output of type `type` and return its value."""
        graph = self._graph
        value = Value(self, len(self._outputs), graph._next_unique, type)
        graph._next_unique += 1
        graph.version += 1
        self._outputs.append(value)
        self._operator = _UNSET
        if name:
            value.set_debug_name(name)
        return value

    def insert_output(self, i: int, name: str | None = None, type: Type = TENSOR) -> Value:
        """Insert an output before output `i` and return its value."""
        value = self.add_output(name, type)
        self._outputs.insert(i, self._outputs.pop())
        self._renumber_outputs(i)
        return value

    def erase_output(self, i: int) -> None:
        """Remove output `i`. Raise InternalError if it has uses."""
        value = self._outputs[i]
        if value._uses:
            raise InternalError(f"output {i} of {self._kind} is erased, but has uses")
        value.set_debug_name("")
        del self._outputs[i]
        self._graph.version += 1
        self._renumber_outputs(i)
        self._operator = _UNSET

    def _renumber_outputs(self, start: int = 0) -> None:
        for i in range(start, len(self._outputs)):
            self._outputs[i]._offset = i

    def permute_outputs(self, order: Iterable[int]) -> None:
        """Reorder the outputs: the new output ``i`` is the old output ``order[i]``."""
        self._outputs[:] = [self._outputs[i] for i in order]
        self._graph.version += 1
        self._renumber_outputs()

    def permute_inputs(self, order: Iterable[int]) -> None:
        """Reorder the inputs: the new input ``i`` is the old input ``order[i]``."""
        values = [self._inputs[i] for i in order]
        self.remove_all_inputs()
        for value in values:
            self.add_input(value)

    def add_block(self) -> Block:
        """Append an empty nested block and return it."""
        block = self._graph._new_block(self)
        self._blocks.append(block)
        if self._block is not None:
            self._block._with_blocks[self] = None
        return block

    def erase_block(self, i: int) -> None:
        """Remove nested block `i` and destroy its nodes."""
        self._blocks.pop(i).destroy()
        if not self._blocks and self._block is not None:
            del self._block._with_blocks[self]

    def replace_all_uses_with(self, other: Node) -> None:
        """Replace all uses of each output by the corresponding output of `other`."""
        for old, new in zip(self._outputs, other._outputs, strict=True):
            old.replace_all_uses_with(new)

    # --- position in the block ---

    def insert_before(self, node: Node) -> Node:
        """Insert this fresh node before `node`."""
        return self.insert_after(node._prev)

    def insert_after(self, node: Node) -> Node:
        """Insert this fresh node after `node`."""
        if self._block is not None:
            raise InternalError(f"node {self._kind} is inserted, but already in a block")
        if node._graph is not self._graph:
            raise RuntimeError(f"a node {self._kind} of another graph cannot be inserted into this one")
        block = self._block = node.owning_block()
        self._graph.version += 1
        if self._blocks:
            block._with_blocks[self] = None
        following = node._next
        self._prev = node
        self._next = following
        node._next = self
        following._prev = self
        end = block._return
        # If this node is first or last in the block, its position differs by POSITION_INTERVAL from the
        # position of its neighbor. Otherwise, its position is the mean of the positions of its neighbors.
        if following is end:
            self._position = 0 if node is end else node._position + POSITION_INTERVAL
        elif node is end:
            self._position = following._position - POSITION_INTERVAL
        else:
            self._position = (node._position + following._position) // 2
            if self._position == node._position:
                _make_index_gap(self, end)
        return self

    def move_before(self, node: Node) -> Node:
        """Move this node to the position before `node`, possibly in another block. Return this node."""
        self._unlink()
        return self.insert_before(node)

    def move_after(self, node: Node) -> Node:
        """Move this node to the position after `node`, possibly in another block. Return this node."""
        self._unlink()
        return self.insert_after(node)

    def _unlink(self) -> None:
        # The removed node keeps the references to its neighbors, so that an iteration can continue from it.
        self._graph.version += 1
        self._prev._next = self._next
        self._next._prev = self._prev
        if self._blocks and self._block is not None:
            del self._block._with_blocks[self]
        self._block = None

    def destroy(self) -> None:
        """Remove the node from the graph. Its outputs must have no uses."""
        names = self._graph._names
        for value in self._outputs:
            if value._uses:
                raise InternalError(f"{self._kind} is destroyed, but its output {value._offset} has uses")
            if value._name:
                del names[value._name]
                value._name = ""
        self._outputs.clear()
        while self._blocks:
            self.erase_block(len(self._blocks) - 1)
        if self._inputs:
            self.remove_all_inputs()
        if self._block is not None:
            self._unlink()
        self._destroyed = True

    def _release(self) -> None:
        """Drop the references to other nodes, values and blocks, when the block or the graph is freed."""
        self._inputs.clear()
        self._input_uses.clear()
        self._outputs.clear()
        self._blocks.clear()
        self._block = None
        self._destroyed = True
        del self._prev, self._next

    def is_before(self, other: Node) -> bool:
        """Return True if this node precedes `other` in program order. Both nodes may be in nested blocks."""
        if self is other:
            return False
        return self._is_adjacent(other, lambda a, b: a._position_in_block() < b._position_in_block())

    def is_after(self, other: Node) -> bool:
        """Return True if this node follows `other` in program order, also if nested in different blocks."""
        if self is other:
            return False
        return self._is_adjacent(other, lambda a, b: a._position_in_block() > b._position_in_block())

    def _position_in_block(self) -> float:
        block = self.owning_block()
        if self is block.return_node():
            return inf
        return -inf if self is block.param_node() else self._position

    def _is_adjacent(self, other: Node, compare: Callable[[Node, Node], bool]) -> bool:
        left: Node | None = self
        while left is not None:
            right: Node | None = other
            while right is not None:
                if left._block is right._block:
                    return compare(left, right)
                right = right.owning_block().owning_node()
            left = left.owning_block().owning_node()
        raise InternalError("nodes of different graphs are compared")

    def path(self) -> tuple[float, ...]:
        """Return the position in the graph as a tuple. These tuples compare in program order.

        The tuple alternates node positions and block indices, from the top block to this node.
        """
        block = self.owning_block()
        owner = block.owning_node()
        block_path = () if owner is None else (*owner.path(), owner.blocks().index(block))
        return (*block_path, self._position_in_block())

    def find_node(self, kind: str, recurse: bool = True) -> Node | None:
        """Return the first node of a kind in the nested blocks, or None if no node matches."""
        return next((n for b in self._blocks for n in b.find_all_nodes(kind, recurse)), None)

    def find_all_nodes(self, kind: str, recurse: bool = True) -> list[Node]:
        """Return the nodes of a kind in the nested blocks, in program order."""
        return [n for b in self._blocks for n in b.find_all_nodes(kind, recurse)]

    def __str__(self) -> str:
        from ts.ir.graph_printer import node_to_text

        if self._destroyed:
            raise TsError(f"this object has been invalidated: its node {self._kind} is no longer in a graph")

        return node_to_text(self)

    def __repr__(self) -> str:
        return str(self)


add_camel_case_aliases(
    Node,
    inputsAt="input",
    outputsAt="output",
    inputsSize="inputs_size",
    outputsSize="outputs_size",
    hasMultipleOutputs="has_multiple_outputs",
    owningBlock="owning_block",
    hasUses="has_uses",
    mustBeNone="must_be_none",
    namedInput="named_input",
    sourceRange="source_range",
    scopeName="scope_name",
    isNondeterministic="is_nondeterministic",
    hasAttribute="has_attribute",
    hasAttributes="has_attributes",
    attributeNames="attribute_names",
    kindOf="kind_of",
    removeAttribute="remove_attribute",
    copyAttributes="copy_attributes",
    copyMetadata="copy_metadata",
    addInput="add_input",
    replaceInput="replace_input",
    replaceInputWith="replace_input_with",
    removeInput="remove_input",
    removeAllInputs="remove_all_inputs",
    addOutput="add_output",
    eraseOutput="erase_output",
    addBlock="add_block",
    replaceAllUsesWith="replace_all_uses_with",
    insertBefore="insert_before",
    insertAfter="insert_after",
    moveBefore="move_before",
    moveAfter="move_after",
    isBefore="is_before",
    isAfter="is_after",
    findNode="find_node",
    findAllNodes="find_all_nodes",
)


def _make_index_gap(node: Node, end: Node) -> None:
    """Respace the positions of nodes around `node`, whose position equals the position of a neighbour.

    Respace the nodes in the smallest aligned range of positions that contains few enough nodes. The sizes of
    the ranges are powers of two. The allowed density of nodes decreases with the size of the range.
    Therefore, the amortized cost of an insertion is O(log n).
    """
    position = node._position
    first = last = node
    count = 1
    size, capacity = 1, 1.0
    while True:
        start = position & -size
        while first._prev is not end and first._prev._position >= start:
            first = first._prev
            count += 1
        while last._next is not end and last._next._position < start + size:
            last = last._next
            count += 1
        if count <= capacity and size >= 2 * count:
            break
        size, capacity = 2 * size, 1.5 * capacity
    step = size // count
    for i in range(count):
        first._position = start + i * step
        first = first._next


def _typed_accessors(kind: str) -> None:
    """Define the accessors of attribute kind `kind`: ``node.i("value")`` and ``node.i_("value", 3)``."""

    def read(self: Node, name: str) -> Any:
        return self[name]

    def write(self: Node, name: str, value: Any) -> Node:
        return self.set(name, value, kind)

    setattr(Node, kind, read)
    setattr(Node, kind + "_", write)


for _kind in KINDS:
    _typed_accessors(_kind)
