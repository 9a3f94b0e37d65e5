"""Values, their definitions and their use lists (def-use chains, use-def chains).

A `Value` is an output of a node. A `Use` of the value is an input of another node. The methods of `Node`
update the uses::

    >>> from ts.ir.graph import Graph
    >>> x = Graph().add_input("x")
    >>> x.debug_name(), x.type().str(), x.uses()
    ('x', 'Tensor', [])
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ts.ir.camel_case_aliases import add_camel_case_aliases
from ts.ir.lexer import is_numeral
from ts.ir.types import TENSOR, NoneType, TensorType, Type

if TYPE_CHECKING:
    from ts.ir.graph import Block, Graph
    from ts.ir.node import Node


class Use:
    """Use of a value: it is input `offset` of node `user`."""

    __slots__ = ("offset", "user")

    def __init__(self, user: Node, offset: int) -> None:
        self.user = user
        self.offset = offset

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Use) and self.user is other.user and self.offset == other.offset

    def __hash__(self) -> int:
        return hash((id(self.user), self.offset))

    def __repr__(self) -> str:
        return f"Use({self.user.kind()}, {self.offset})"

    def is_after(self, other: Use) -> bool:
        """Return True if this use follows `other` in program order.

        The inputs of a node precede the uses in its nested blocks.
        """
        return (self.user.path(), self.offset) > (other.user.path(), other.offset)


add_camel_case_aliases(
    Use,
    isAfter="is_after",
)


class Value:
    """SSA value, which is an output of a node. Block inputs are outputs of the block's parameter node."""

    __slots__ = ("_name", "_node", "_offset", "_type", "_unique", "_uses")

    def __init__(self, node: Node, offset: int, unique: int, type: Type = TENSOR) -> None:
        self._node = node
        self._offset = offset
        self._unique = unique
        self._type = type
        self._uses: dict[int, Use] = {}  # id of a use -> use, in order of creation
        self._name = ""

    def node(self) -> Node:
        """Return the node with this output. For a block input, this is the block's parameter node."""
        return self._node

    def offset(self) -> int:
        """Return the index of this value among the outputs of `node()`."""
        return self._offset

    def unique(self) -> int:
        """Return the number of the value, unique in its graph. It is printed if the value has no name."""
        return self._unique

    def type(self) -> Type:
        """Return the static type, which is a tensor type unless another type was set."""
        return self._type

    def set_type(self, type: Type) -> Value:
        """Set the type and return the value. All nodes that use the value must select an overload again."""
        self._type = type
        self._node._graph.version += 1
        for use in self._uses.values():
            use.user.forget_operator()
        return self

    def uses(self) -> list[Use]:
        """Return a copy of the list of uses, in order of creation. A loop over the copy may change uses."""
        return list(self._uses.values())

    def has_uses(self) -> bool:
        """Return True if the value is the input of a node or the output of a block."""
        return bool(self._uses)

    def use_count(self) -> int:
        """Return the number of uses. A node that has the value as two inputs counts twice."""
        return len(self._uses)

    def _new_use(self, user: Node, offset: int) -> Use:
        """Register a use. `Node` calls this method when it adds the value to its inputs."""
        use = Use(user, offset)
        self._uses[id(use)] = use
        return use

    def _remove_use(self, use: Use) -> None:
        self._node._graph.version += 1
        del self._uses[id(use)]

    def owning_block(self) -> Block:
        """Return the block that contains `node()`, the node that computes the value."""
        return self._node.owning_block()

    def owning_graph(self) -> Graph:
        """Return the graph that contains `node()`, the node that computes the value."""
        return self._node._graph

    def debug_name(self) -> str:
        """Return the name printed after ``%``: the assigned name, else the unique number."""
        return self._name or str(self._unique)

    def has_debug_name(self) -> bool:
        """Return True if a name was set. Otherwise, `debug_name` returns the unique number."""
        return bool(self._name)

    def debug_name_base(self) -> str:
        """Return the name without a suffix ``.N``. The suffix only serves to make the name unique."""
        base, dot, suffix = self._name.rpartition(".")
        return base if dot and is_numeral(suffix) else self._name

    def set_debug_name(self, name: str) -> Value:
        """Name the value. Another value with this name is renamed to an unused ``name.N``."""
        names = self._node._graph._names
        if self._name:
            del names[self._name]
            self._name = ""
        if not name:
            return self
        if is_numeral(name):
            raise RuntimeError(
                f"Invalid name: {name!r}: names that are numbers are reserved for unnamed values"
            )
        if name in names:
            _release_name(self._node._graph, name)
        names[name] = self
        self._name = name
        return self

    def copy_metadata(self, other: Value) -> Value:
        """Copy the type and the name of `other` to this value, and return this value."""
        self._type = other._type
        self._node._graph.version += 1
        if other._name:
            self.set_debug_name(other._name)
        return self

    def replace_all_uses_with(self, new: Value) -> None:
        """Replace all uses of this value by `new`."""
        if new is self:
            return
        for use in self._uses.values():
            user = use.user
            user._inputs[use.offset] = new
            if new._type is not self._type:
                user.forget_operator()
        self._node._graph.version += 1
        new._uses.update(self._uses)
        self._uses.clear()

    def replace_all_uses_after_node_with(self, node: Node, new: Value) -> None:
        """Replace this value by `new` in all nodes after `node`."""
        for use in self.uses():
            if use.user.is_after(node):
                use.user.replace_input(use.offset, new)

    def must_be_none(self) -> bool:
        """Return True if the type is None or the node's result is always None."""
        return isinstance(self._type, NoneType) or self._node.must_be_none()

    def to_ivalue(self) -> Any:
        """Return a constant's value, or None for any other value."""
        return self._node.get("value") if self._node._kind == "prim::Constant" else None

    def is_complete_tensor(self) -> bool:
        """Return True if dtype, sizes, strides and device of a tensor are statically known."""
        t = self._type
        return isinstance(t, TensorType) and None not in (t.scalar_type, t.sizes(), t.strides(), t.device())

    def requires_grad(self) -> bool:
        """Return True unless the type excludes that the value is or contains a tensor that requires grad."""
        return self._type.requires_grad()

    def requiresGrad(self) -> bool | None:
        """Return `requires_grad` of a tensor type, or None if it is unknown."""
        return self._type._requires_grad if isinstance(self._type, TensorType) else None

    def infer_type_from(self, tensor: Any) -> Value:
        """Set the type of this value to the type of `tensor`, with sizes and strides. Return this value."""
        requires_grad = bool(tensor.requires_grad)
        sizes, strides = tuple(tensor.shape), tuple(tensor.stride())
        return self.set_type(TensorType(tensor.dtype.code, sizes, strides, str(tensor.device), requires_grad))

    def set_type_as(self, other: Value) -> Value:
        """Set the type of this value to the type of `other`, and return this value."""
        return self.set_type(other._type)

    def __repr__(self) -> str:
        return f"{self.debug_name()} defined in ({self._node})"


add_camel_case_aliases(
    Value,
    debugName="debug_name",
    debugNameBase="debug_name_base",
    setDebugName="set_debug_name",
    hasDebugName="has_debug_name",
    setType="set_type",
    setTypeAs="set_type_as",
    inferTypeFrom="infer_type_from",
    copyMetadata="copy_metadata",
    replaceAllUsesWith="replace_all_uses_with",
    replaceAllUsesAfterNodeWith="replace_all_uses_after_node_with",
    toIValue="to_ivalue",
    isCompleteTensor="is_complete_tensor",
)


def is_program_name(name: str) -> bool:
    """Return whether graph text shows the variable name `name`.

    It does not show internal names (`$...`), `_`, and names that consist of `_` and digits (`_1`).
    """
    if not name or name[0] == "$":
        return False
    return name[0] != "_" or not (name == "_" or name[1:].isdigit())


def _release_name(graph: Graph, name: str) -> None:
    """Rename the value that has the name `name` to an unused ``name.N``. Another value can then be `name`."""
    names, suffixes = graph._names, graph._name_suffixes
    base, dot, suffix = name.rpartition(".")
    if dot and is_numeral(suffix):
        index = int(suffix)
    else:
        base, index = name, 1
    if base in suffixes:
        index = max(index, suffixes[base] + 1)  # PyTorch skips one number at each rename
    while (free := f"{base}.{index}") in names:
        index += 1
    suffixes[base] = index + 1
    owner = names[free] = names[name]
    owner._name = free
