"""Alias analysis (flow-insensitive points-to analysis), which finds values that may share memory.

An `AliasDb` answers three questions: Can two values alias? Is a value ever written? Can a node move past
another node? It stays valid if nodes move, or if a pass reports its new values (`replace_with_new_value`).
All other changes of the graph require a new `AliasDb`.

Memory is modelled by *locations*. A value points to a set of locations (a bit mask). An operator that returns
new memory creates a location. Graph inputs and results of calls point to the *wildcard* location of their
type, because any two of them may be the same object. The location of a container contains the locations of
its elements:

    graph(%a : Tensor, %b : Tensor):           points to         contains
      %c : Tensor = aten::add(%a, %b, %1)      {c}
      %v : Tensor = aten::view(%c, %s)         {c}                              a view, by its schema's (a)
      %l : Tensor[] = prim::ListConstruct(%c)  {l}               l: {c}
      %e : Tensor = aten::select(%l, %0)       {c}                              an element of the list
      %a and %b                                {any Tensor}                     may alias each other, not %c

The analysis repeats until a fixed point, because loops and containers feed values back. It uses the alias
annotations of schemas:

    (a)         values with this annotation share memory
    (a!)        the value is written to
    (*)         the value may be any memory reachable from outside or from the arguments
    (a -> *)    the value is stored into a container
    none        a result is new memory

A node without a schema may return any memory that it can reach. An operator that runs other programs may do
the same. If such a node has side effects, it may also write to this memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import product
from typing import Final

from ts._core.thread import deadline
from ts.analysis.alias_printer import AliasReport, to_graphviz, to_text
from ts.analysis.effects import GROUPS, calls_programs, has_side_effects, may_return_self, updates_moments
from ts.analysis.mutation import ONLY_READING, any_mutable, is_written
from ts.analysis.reorder import blocks_of, move
from ts.ir.graph import Block, Graph, Node, Value
from ts.ir.schema import AliasInfo, FunctionSchema
from ts.ir.types import Type

_NODE_NS: Final = 500  # nanoseconds that each visit of a node charges to `ts.limits`

# Kinds of static types that say nothing about the run-time type of their values. If a value from outside the
# graph has such a type, a single location represents all memory from outside.
_UNTYPED_KINDS: Final = frozenset(
    {"AnyType", "AnyListType", "AnyTupleType", "AnyClassType", "InterfaceType", "PyObjectType", "CapsuleType"}
)

# `_CONSTRUCTORS`: kinds of nodes that create a container of their inputs. `_ACCESSORS`: kinds of nodes that
# read items of a container.
_CONSTRUCTORS: Final = frozenset({"prim::ListConstruct", "prim::TupleConstruct", "prim::DictConstruct"})
_ACCESSORS: Final = frozenset(
    {
        "prim::ListUnpack",
        "prim::TupleUnpack",
        "prim::TupleIndex",
        "prim::TupleSlice",
        "prim::GetAttr",
        "prim::ModuleContainerIndex",
    }
)


class _AnyTypeError(Exception):
    """Raised if a value from outside may have any type.

    One wildcard must then represent the memory of all types.
    """


class AliasDb:
    """Alias database: points-to sets and writes of one graph."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._has_one_wildcard = False
        self._steps: list[tuple[Callable[[AliasDb, Node], None], Node]] = []
        self._collect(graph.block())
        try:
            self._analyse()
        except _AnyTypeError:
            self._has_one_wildcard = True
            self._analyse()

    def _analyse(self) -> None:
        self._points: dict[Value, int] = {}  # value -> set of locations to which it may point
        self._contents: list[int] = []  # index of a location -> set of locations that it may contain
        # set of the locations that contain other locations, which are the locations of containers and objects
        self._containers = 0
        # output of a node that creates memory -> the location of this memory
        self._fresh: dict[Value, int] = {}
        # Outputs of nodes that are the only reference to new memory so far. They need no location yet.
        self._unaliased: set[Value] = set()
        # type -> location that represents all memory of this type from outside the graph
        self._wildcards: dict[object, int] = {}
        # Cached results of `_reachable`. It is None as long as the points-to sets still change.
        self._closures: dict[int, int] | None = None
        self._outside = 0  # set of locations that code outside the graph can reach
        self._writes: dict[Node, int] = {}
        # node with blocks -> set of locations that the nodes in its blocks may read
        self._block_reads: dict[Node, int] = {}
        self._block_writes: dict[Node, int] = {}
        self._changed = True
        if self._has_one_wildcard:
            self._outside = self._new_location(contents=1)
        for value in self._graph.inputs():
            if value.type().mutable:
                self._points[value] = self._wildcard(value.type())
        while self._changed:
            self._changed = False
            for visit, node in self._steps:
                # A set of locations is a bit mask with one bit per location. With many locations, the masks
                # are long and each visit takes longer.
                deadline.charge(_NODE_NS + (len(self._contents) >> 4))
                visit(self, node)
        self._closures = {}
        self._returned = 0
        for value in self._graph.outputs():
            self._returned |= self._reachable(self._points_of(value))
        self._written = 0
        for locations in self._writes.values():
            self._written |= locations

    # -- queries of aliases and writes -----------------------------------------------------------------

    def may_alias(self, first: Value | Sequence[Value], second: Value | Sequence[Value]) -> bool:
        """Return whether a value of `first` and a value of `second` may share memory."""
        if isinstance(first, Value) and isinstance(second, Value):
            if first is second:
                return first in self._points or first in self._unaliased
            return bool(self._points.get(first, 0) & self._points.get(second, 0))
        pairs = product(_values(first), _values(second))
        return any(self.may_alias(one, other) for one, other in pairs)

    def may_contain_alias(self, first: Value | Sequence[Value], second: Value | Sequence[Value]) -> bool:
        """Return whether memory reachable from `first` may alias memory reachable from `second`."""
        if first is second and isinstance(first, Value):
            return self.may_alias(first, first)
        if self.memory_of(_values(first)) & self.memory_of(_values(second)):
            return True
        return any(value in self._unaliased for value in _values(first) if value in _values(second))

    def escapes(self, value: Value) -> bool:
        """Return whether code outside the function can reach the value, during the call or afterwards."""
        return bool(self._reachable_from(value) & (self._reachable(self._outside) | self._returned))

    def is_new(self, value: Value) -> bool:
        """Return whether the value is new memory, created by its node and unreachable from outside."""
        if value in self._unaliased:
            return True
        fresh = self._fresh.get(value)
        return (
            fresh is not None and self._points[value] == fresh and not self._reachable(self._outside) & fresh
        )

    def has_writers(self, item: Value | Node) -> bool:
        """Return whether a node of the graph writes to `item`.

        If `item` is a node, this means its inputs and outputs.
        """
        if isinstance(item, Value):
            return bool(self._reachable_from(item) & self._written)
        return any(self._reachable_from(value) & self._written for value in (*item.inputs(), *item.outputs()))

    def has_direct_writers(self, value: Value) -> bool:
        """Return whether any node of the graph writes to the value itself, not only to its elements."""
        return bool(self._points.get(value, 0) & self._written)

    def has_writes_between(self, values: Iterable[Value], first: Node, last: Node) -> bool:
        """Return whether a node between `first` and `last` writes to memory reachable from `values`."""
        memory = self.memory_of(values)
        node = first.next()
        while memory and node is not last:
            if self.writes_of(node) & memory:
                return True
            node = node.next()
        return False

    def is_mutable(self, node: Node) -> bool:
        """Return whether `node`, or a node in its blocks, writes to memory."""
        return bool(self.writes_of(node))

    def writes_to_alias(self, node: Node, values: Iterable[Value]) -> bool:
        """Return whether `node` itself writes to memory reachable from one of `values`."""
        return bool(self._writes.get(node, 0) & self.memory_of(values))

    def memory_of(self, values: Iterable[Value]) -> int:
        """Return the set of locations reachable from `values`, for repeated calls of `writes_to_memory`."""
        locations = 0
        for value in values:
            locations |= self._reachable_from(value)
        return locations

    def writes_to_memory(self, node: Node, memory: int) -> bool:
        """Return whether `node` itself writes to locations of the set `memory`."""
        return bool(self._writes.get(node, 0) & memory)

    def writes_to_wildcard(self, node: Node) -> bool:
        """Return whether `node` itself writes to memory that is visible from outside the function."""
        return bool(self._writes.get(node, 0) & self._reachable(self._outside))

    def safe_to_change_aliasing_relationship(self, first: Sequence[Value], second: Sequence[Value]) -> bool:
        """Return whether the results of the program stay the same if `first` and `second` share memory."""
        values = (*first, *second)
        if any(self.has_writers(value) for value in values):
            return False
        return not (any(map(self.escapes, first)) and any(map(self.escapes, second)))

    # -- moving nodes ----------------------------------------------------------------------------------

    def move_after_topologically_valid(self, node: Node, target: Node) -> bool:
        """Move `node` after `target`, together with nodes that depend on `node`.

        Return False if this is invalid.
        """
        return move(self, node, target, after=True)

    def move_before_topologically_valid(self, node: Node, target: Node) -> bool:
        """Move `node` before `target`, together with nodes on which `node` depends.

        Return False if this is invalid.
        """
        return move(self, node, target, after=False)

    def could_move_after_topologically(self, node: Node, target: Node) -> bool:
        """Return whether `move_after_topologically_valid` would succeed."""
        return move(self, node, target, after=True, dry=True)

    def could_move_before_topologically(self, node: Node, target: Node) -> bool:
        """Return whether `move_before_topologically_valid` would succeed."""
        return move(self, node, target, after=False, dry=True)

    def reads_of(self, node: Node) -> int:
        """Return the locations that `node` and the nodes in its blocks may read."""
        blocks = blocks_of(node)
        if not blocks:
            return self.memory_of(node.inputs())
        locations = self._block_reads.get(node)
        if locations is None:
            locations = self.memory_of(node.inputs())
            for block in blocks:
                for inner in block.nodes():
                    locations |= self.reads_of(inner)
                locations |= self.memory_of(block.outputs())
            self._block_reads[node] = locations
        return locations

    def writes_of(self, node: Node) -> int:
        """Return the locations that `node` and the nodes in its blocks may write to."""
        blocks = blocks_of(node)
        if not blocks:
            return self._writes.get(node, 0)
        locations = self._block_writes.get(node)
        if locations is None:
            locations = self._writes.get(node, 0)
            for block in blocks:
                for inner in block.nodes():
                    locations |= self.writes_of(inner)
            self._block_writes[node] = locations
        return locations

    # -- incremental updates ---------------------------------------------------------------------------

    def forget_group(self, group: Node) -> None:
        """Drop the cached reads and writes of the node `group` after a node was moved into its blocks."""
        self._block_reads.pop(group, None)
        self._block_writes.pop(group, None)

    def copy_value(self, source: Value, new: Value) -> None:
        """Record that `new` is an alias of `source`, for example a block input that receives `source`."""
        self._points[new] = self._points_of(source)
        self._closures = {}

    def replace_with_new_value(self, existing: Value, new: Value) -> None:
        """Record that `new` replaces `existing`, which is about to be removed."""
        for table in (self._points, self._fresh):
            if existing in table:
                table[new] = table.pop(existing)
        if existing in self._unaliased:
            self._unaliased.discard(existing)
            self._unaliased.add(new)

    # -- printing of the points-to sets ----------------------------------------------------------------

    def _report(self) -> AliasReport:
        names = {location: f"%{value.debug_name()}" for value, location in self._fresh.items()}
        for key, locations in self._wildcards.items():
            names |= {1 << bit: f"WILDCARD for type {key}" for bit in _bits(locations)}

        def names_of(locations: int) -> list[str]:
            return [names.get(1 << bit, "WILDCARD") for bit in _bits(locations)]

        points = {value: names_of(locations) for value, locations in self._points.items()}
        writes = {node: names_of(written_locations) for node, written_locations in self._writes.items()}
        return AliasReport(self._graph, points, writes)

    def __str__(self) -> str:
        return to_text(self._report())

    def to_graphviz_str(self) -> str:
        """Return the points-to graph in Graphviz' language."""
        return to_graphviz(self._report())

    # -- creation and contents of locations ------------------------------------------------------------

    def _new_location(self, contents: int = 0) -> int:
        location = 1 << len(self._contents)
        self._contents.append(contents)
        if contents:
            self._containers |= location
        return location

    def _wildcard(self, type: Type) -> int:
        """Return the wildcard locations of `type`: one for each member of a Union, else one.

        Wildcard locations are created when they are first needed.
        """
        if not type.mutable:
            return 0
        kind = type.kind()
        if kind in ("OptionalType", "UnionType"):
            bits = 0
            for alternative in type.contained_types():
                bits |= self._wildcard(alternative)
            return bits
        if self._has_one_wildcard:
            return 1
        if kind in _UNTYPED_KINDS:
            raise _AnyTypeError
        key = "Tensor" if kind == "TensorType" else type  # all tensor types share one wildcard
        bit = self._wildcards.get(key)
        if bit is None:
            bit = self._wildcards[key] = self._new_location()
            self._outside |= bit
            # the types of a container's elements, or of an object's attributes
            for inner in type.containedTypes():
                self._add_contents(bit, self._wildcard(inner))
        return bit

    def _add_contents(self, containers: int, contents: int) -> None:
        for i in _bits(containers):
            if contents & ~self._contents[i]:
                self._contents[i] |= contents
                self._containers |= 1 << i
                self._changed = True

    def _direct_contents(self, containers: int) -> int:
        """Return the locations that `containers` contain directly."""
        contents = 0
        for i in _bits(containers & self._containers):
            contents |= self._contents[i]
        return contents

    def _reachable(self, locations: int) -> int:
        """Return `locations` and all locations that they contain, directly or not (transitive closure)."""
        if self._closures is None:
            return self._compute_closure(locations)
        closure = self._closures.get(locations)
        if closure is None:
            closure = self._closures[locations] = self._compute_closure(locations)
        return closure

    def _compute_closure(self, locations: int) -> int:
        reached, pending = locations, locations
        while pending:
            pending = self._direct_contents(pending) & ~reached
            reached |= pending
        return reached

    def _reachable_from(self, value: Value) -> int:
        points = self._points.get(value)
        return self._reachable(points) if points else 0

    def _add(self, value: Value, locations: int) -> None:
        old = self._points.get(value, 0)
        if locations & ~old and value.type().mutable:
            self._points[value] = old | locations if old else locations
            self._changed = True

    def _points_of(self, value: Value) -> int:
        """Return the locations that `value` may point to.

        If `value` is in `_unaliased`, first create its location.
        """
        if value in self._unaliased:
            self._unaliased.discard(value)
            self._fresh[value] = self._points[value] = self._new_location()
            self._changed = True
        return self._points.get(value, 0)

    def _add_fresh(self, value: Value, contents: int = 0) -> None:
        """Record that `value` is new memory, which may contain the locations in `contents`."""
        if not value.type().mutable:
            return
        location = self._fresh.get(value)
        if location is None and not contents and value not in self._points:
            self._unaliased.add(value)
            return
        if location is None:
            self._unaliased.discard(value)
            location = self._fresh[value] = self._new_location()
        if contents:
            self._add_contents(location, contents)
        self._add(value, location)

    def _write(self, node: Node, locations: int) -> None:
        if locations:
            self._writes[node] = self._writes.get(node, 0) | locations

    def _escape(self, locations: int) -> None:
        """Mark `locations` and their contents as reachable from outside the function."""
        locations = self._reachable(locations)
        if locations & ~self._outside:
            self._outside |= locations
            self._changed = True

    # -- visits of nodes -------------------------------------------------------------------------------

    def _collect(self, block: Block) -> None:
        """Append (visit method, node) to `self._steps` for each node that has a mutable input or output."""
        steps = self._steps
        for node in block.nodes():
            blocks = node.blocks()
            if not blocks:
                if node.kind() in GROUPS and node.has_attribute("Subgraph"):
                    steps.append((AliasDb._enter_group, node))
                    self._collect(node["Subgraph"].block())
                    steps.append((AliasDb._leave_group, node))
                elif any_mutable(node.outputs()) or any_mutable(node.inputs()):
                    visit = _VISITS.get(node.kind(), AliasDb._visit_operator)
                    steps.append((visit, node))
                continue
            kind = node.kind()
            if kind == "prim::Loop":
                if any_mutable(node.outputs()):
                    steps.append((AliasDb._enter_loop, node))
                self._collect(blocks[0])
                if any_mutable(node.outputs()):
                    steps.append((AliasDb._leave_loop, node))
                continue
            for inner in blocks:
                self._collect(inner)
            if kind != "prim::If":
                steps.append((AliasDb._visit_unknown, node))
            elif any_mutable(node.outputs()):
                steps.append((AliasDb._visit_if, node))

    def _visit_if(self, node: Node) -> None:
        for block in node.blocks():
            for output, value in zip(node.outputs(), block.outputs(), strict=True):
                self._add(output, self._points_of(value))

    def _enter_group(self, node: Node) -> None:
        for inner, value in zip(node["Subgraph"].inputs(), node.inputs(), strict=True):
            self._add(inner, self._points_of(value))

    def _leave_group(self, node: Node) -> None:
        for output, value in zip(node.outputs(), node["Subgraph"].outputs(), strict=True):
            self._add(output, self._points_of(value))

    def _enter_loop(self, node: Node) -> None:
        carried = node.blocks()[0].inputs()[1:]
        for inner, initial in zip(carried, node.inputs()[2:], strict=True):
            self._add(inner, self._points_of(initial))

    def _leave_loop(self, node: Node) -> None:
        body = node.blocks()[0]
        for inner, output, result in zip(body.inputs()[1:], node.outputs(), body.outputs()[1:], strict=True):
            self._add(inner, self._points_of(result))
            self._add(output, self._points_of(inner) | self._points_of(result))

    def _visit_construct(self, node: Node) -> None:
        contents = 0
        for value in node.inputs():
            contents |= self._points_of(value)
        self._add_fresh(node.output(), contents)

    def _visit_new(self, node: Node) -> None:
        self._add_fresh(node.output())

    def _visit_constant(self, node: Node) -> None:
        """Visit a constant.

        If it is an object, it points to a wildcard, because all calls of the function share the object.
        """
        output = node.output()
        if output.type().kind() == "ClassType":
            self._add(output, self._wildcard(output.type()))
        else:
            self._add_fresh(output)

    def _visit_identity(self, node: Node) -> None:
        self._add(node.output(), self._points_of(node.inputs()[0]))

    def _visit_set_attribute(self, node: Node) -> None:
        target, value = (self._points_of(value) for value in node.inputs())
        self._add_contents(target, value)
        self._write(node, target)

    def _skip_node(self, node: Node) -> None:
        """Ignore a node that neither writes to memory nor returns aliases."""

    def _visit_accessor(self, node: Node) -> None:
        containers = self._points_of(node.input())
        contents = self._direct_contents(containers)
        from_outside = bool(containers & self._outside)
        for output in node.outputs():
            if output.type().mutable:
                self._add(
                    output, contents | (self._wildcard(output.type()) if from_outside or not contents else 0)
                )

    def _visit_unknown(self, node: Node) -> None:
        """Visit a node with unknown effects, such as a call.

        It may return any memory that its inputs reach.
        """
        reached = self._outside
        for value in node.inputs():
            reached |= self._points_of(value)
        if has_side_effects(node) or node.blocks():
            self._escape(reached)
            reached = self._reachable(self._outside)
            self._add_contents(reached & self._containers, reached)
            self._write(node, reached)
        for output in node.outputs():
            if output.type().mutable:
                self._add(output, reached | self._wildcard(output.type()))

    def _visit_operator(self, node: Node) -> None:
        """Apply the alias annotations of an operator's schema to the points-to sets."""
        schema = node.schema()
        if schema is None or calls_programs(node):
            self._visit_unknown(node)
            return
        if may_return_self(node):
            self._visit_identity(node)
            return
        sets: dict[str, int] = {}  # name of an alias set in the schema, such as `a` -> set of locations
        written_locations = stored = inner_contents = 0
        updates = updates_moments(node)
        for argument, value in zip(schema.arguments, node.inputs(), strict=False):
            alias = argument.alias
            # Skip a value that has no location, unless the operator writes to it or returns it.
            if alias is None and value in self._unaliased and not updates:
                continue
            points = self._points_of(value)
            if not points:
                continue
            contents = self._direct_contents(points)
            inner_contents |= contents
            if is_written(argument, updates):
                written_locations |= points
            if alias is None:
                continue
            for letter in alias.before:
                sets[letter] = sets.get(letter, 0) | points
            if "*" in alias.after:
                stored |= points
            contained_alias = _contained_alias(alias)
            if contained_alias is not None:
                for letter in contained_alias.before:
                    sets[letter] = sets.get(letter, 0) | contents
                if contained_alias.is_write:
                    written_locations |= contents
        if written_locations:
            self._write(node, written_locations)
            self._add_contents(
                self._containers_of_type(node, schema, written_locations), stored | inner_contents
            )
        for result, output in zip(schema.returns, node.outputs(), strict=False):
            if output.type().mutable:
                self._visit_result(output, result.alias, sets, stored, inner_contents)

    def _containers_of_type(self, node: Node, schema: FunctionSchema, written_locations: int) -> int:
        """Return the locations in `written_locations` that are containers.

        Tensors are left out, because they do not store references.
        """
        containers = 0
        for argument, value in zip(schema.arguments, node.inputs(), strict=False):
            if argument.alias is not None and argument.alias.is_write and value.type().kind() != "TensorType":
                containers |= self._points_of(value)
        return containers & written_locations

    def _visit_result(
        self, output: Value, alias: AliasInfo | None, sets: dict[str, int], stored: int, inner_contents: int
    ) -> None:
        is_container = output.type().kind() != "TensorType"
        if alias is None or not alias.before:
            contents = 0
            if is_container:
                contents = stored | inner_contents
                inner = None if alias is None else _contained_alias(alias)
                if inner is not None:
                    for letter in inner.before:
                        contents |= sets.get(letter, 0)
            self._add_fresh(output, contents)
            return
        points = 0
        for letter in alias.before:
            if letter == "*":
                points |= stored | inner_contents | self._wildcard(output.type())
            else:
                points |= sets.get(letter, 0)
        if points:
            self._add(output, points)
        else:
            self._add_fresh(output)


_VISITS: Final[dict[str, Callable[[AliasDb, Node], None]]] = {
    **dict.fromkeys(_CONSTRUCTORS, AliasDb._visit_construct),
    "prim::unchecked_cast": AliasDb._visit_identity,
    "prim::unchecked_unwrap_optional": AliasDb._visit_identity,
    "aten::_unwrap_optional": AliasDb._visit_identity,
    "prim::annotate": AliasDb._visit_identity,
    **dict.fromkeys(_ACCESSORS, AliasDb._visit_accessor),
    **dict.fromkeys(("prim::Uninitialized", "prim::CreateObject"), AliasDb._visit_new),
    "prim::Constant": AliasDb._visit_constant,
    **dict.fromkeys(ONLY_READING, AliasDb._skip_node),
    "prim::SetAttr": AliasDb._visit_set_attribute,
}


def _contained_alias(alias: AliasInfo) -> AliasInfo | None:
    """Return the alias annotation of container elements, such as (a) in `Tensor(a)[]`, or None."""
    contained = alias.contained
    if not contained:
        return None
    return contained[0] if isinstance(contained, (list, tuple)) else contained


def _values(item: Value | Sequence[Value]) -> Sequence[Value]:
    return (item,) if isinstance(item, Value) else item


def _bits(mask: int) -> Iterable[int]:
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


Graph.alias_db = lambda graph: AliasDb(graph)
