"""Which values may share memory, and which nodes write to it.

In: a graph. Out: an `AliasDb` that answers whether two values may alias, whether a value is written to
anywhere, and whether a node may move past another. It stays right while nodes move, and while a pass tells
it of the values that it makes (`replace_with_new_value`); any other change of the graph asks for a new one.

Memory is modelled by *locations*. Each operator that returns something new makes a fresh location; what
comes from outside (graph inputs, results of calls) lies in the *wildcard* location of its type, since of
two such values nobody knows whether they are one. A value points to a set of locations; a container's
location in turn contains locations:

    graph(%a : Tensor, %b : Tensor):           points to         contains
      %c : Tensor = aten::add(%a, %b, %1)      {c}
      %v : Tensor = aten::view(%c, %s)         {c}                              a view, by its schema's (a)
      %l : Tensor[] = prim::ListConstruct(%c)  {l}               l: {c}
      %e : Tensor = aten::select(%l, %0)       {c}                              what the list contains
      %a and %b                                {any Tensor}                     may alias each other, not %c

The sets are the bits of Python integers; memory that nothing else can be, which most results are, has no
location. The analysis does not look at the order of nodes: it collects what
may ever hold, repeating until nothing is added, as loops and containers feed values back. All of it follows
from the alias marks of the schemas: `(a)` shares, `(a!)` writes, `(*)` may be anything that was reachable
from outside or from the arguments, `(a -> *)` is stored into a container.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import product
from typing import Final

from ts._core.thread import deadline
from ts.analysis.alias_text import Findings, to_graphviz, to_text
from ts.analysis.effects import GROUPS, calls_programs, has_side_effects, may_give_self, updates_moments
from ts.analysis.reorder import blocks_of, move
from ts.analysis.writes import ONLY_READING, any_mutable, is_written
from ts.ir.graph import Block, Graph, Node, Value
from ts.ir.schema import AliasInfo, FunctionSchema
from ts.ir.types import Type

_STEP_NS: Final = 500  # what `ts.limits` count for a node, at least

# A value of these may be of any type: then all that comes from outside is one location.
_UNTYPED_KINDS: Final = frozenset(
    {"AnyType", "AnyListType", "AnyTupleType", "AnyClassType", "InterfaceType", "PyObjectType", "CapsuleType"}
)

# Results are their first argument, under another type.
_IDENTITIES: Final = frozenset(
    {"prim::unchecked_cast", "prim::unchecked_unwrap_optional", "aten::_unwrap_optional", "prim::annotate"}
)
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


class _AnyTypeFoundError(Exception):
    """Locations by type do not hold for this graph."""


class AliasDb:
    """The aliasing and mutation of one graph."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._one_wildcard = False
        self._steps: list[tuple[Callable[[Node], None], Node]] = []
        self._collect(graph.block())
        try:
            self._analyse()
        except _AnyTypeFoundError:
            self._one_wildcard = True
            self._analyse()

    def _analyse(self) -> None:
        self._points: dict[Value, int] = {}  # locations that a value may be
        self._contents: list[int] = []  # by location: the locations that it may contain
        self._containers = 0  # the locations that may contain any: a tensor's never does
        self._fresh: dict[Value, int] = {}  # the location that an output's node makes
        self._alone: set[Value] = set()  # new memory that nothing else has asked for yet: needs no location
        self._wildcards: dict[object, int] = {}  # the location of what comes from outside, by type
        self._closures: dict[int, int] | None = None  # what `_reach` found, once nothing changes any more
        self._outside = 0  # locations reachable from outside the function
        self._writes: dict[Node, int] = {}
        self._block_reads: dict[Node, int] = {}  # of nodes with blocks, with all that is in them
        self._block_writes: dict[Node, int] = {}
        self._changed = True
        if self._one_wildcard:
            self._outside = self._new_location(contents=1)
        for value in self._graph.inputs():
            if value.type().mutable:
                self._points[value] = self._wildcard(value.type())
        while self._changed:
            self._changed = False
            for visit, node in self._steps:
                deadline.spend(_STEP_NS + (len(self._contents) >> 4))  # sets are long where there are many
                visit(node)
        self._closures = {}
        self._returned = 0
        for value in self._graph.outputs():
            self._returned |= self._reach(self._points_of(value))
        self._written = 0
        for written in self._writes.values():
            self._written |= written

    # -- questions -------------------------------------------------------------------------------------

    def is_mutable_type(self, value: Value) -> bool:
        """Whether values of this type are memory that somebody may write to."""
        return value.type().mutable

    def may_alias(self, first: Value | Sequence[Value], second: Value | Sequence[Value]) -> bool:
        """Whether the two values may be, or be views of, the same memory; or one of each of two sequences."""
        if isinstance(first, Value) and isinstance(second, Value):
            if first is second:
                return first in self._points or first in self._alone
            return bool(self._points.get(first, 0) & self._points.get(second, 0))
        pairs = product(_values(first), _values(second))
        return any(self.may_alias(one, other) for one, other in pairs)

    def may_contain_alias(self, first: Value | Sequence[Value], second: Value | Sequence[Value]) -> bool:
        """Whether something reachable from `first` may alias something reachable from `second`."""
        if first is second and isinstance(first, Value):
            return self.may_alias(first, first)
        if self.memory_of(_values(first)) & self.memory_of(_values(second)):
            return True
        return any(one in self._alone for one in _values(first) if one in _values(second))

    def may_alias_wildcard(self, value: Value) -> bool:
        """Whether the value may be reachable from outside the function while it runs."""
        return bool(self._reached(value) & self._reach(self._outside))

    def escapes(self, value: Value) -> bool:
        """Whether the value is reachable from outside the function, during the run or through its result."""
        return bool(self._reached(value) & (self._reach(self._outside) | self._returned))

    def is_new(self, value: Value) -> bool:
        """Whether the value is memory that its node makes, which nothing outside the function can reach."""
        if value in self._alone:
            return True
        fresh = self._fresh.get(value)
        return fresh is not None and self._points[value] == fresh and not self._reach(self._outside) & fresh

    def has_writers(self, item: Value | Node) -> bool:
        """Whether any node of the graph writes to the value, or to an input or output of the node."""
        if isinstance(item, Value):
            return bool(self._reached(item) & self._written)
        return any(self._reached(value) & self._written for value in (*item.inputs(), *item.outputs()))

    def has_direct_writers(self, value: Value) -> bool:
        """Return whether any node of the graph writes to the value itself, not only to its elements."""
        return bool(self._points.get(value, 0) & self._written)

    def has_input_writers(self, node: Node) -> bool:
        """Whether any node of the graph writes to what `node` reads."""
        return any(self._reached(value) & self._written for value in node.inputs())

    def has_output_writers(self, node: Node) -> bool:
        """Whether any node of the graph writes to what `node` gives."""
        return any(self._reached(value) & self._written for value in node.outputs())

    def has_writes_between(self, values: Iterable[Value], first: Node, last: Node) -> bool:
        """Whether a node after `first` and before `last`, of one block, writes to what `values` may read."""
        memory = self.memory_of(values)
        node = first.next()
        while memory and node is not last:
            if self.writes_of(node) & memory:
                return True
            node = node.next()
        return False

    def is_mutable(self, node: Node) -> bool:
        """Whether `node`, or a node in its blocks, writes to memory."""
        return bool(self.writes_of(node))

    def writes_to_alias(self, node: Node, values: Iterable[Value]) -> bool:
        """Whether `node` itself writes to memory that one of `values` may read."""
        return bool(self._writes.get(node, 0) & self.memory_of(values))

    def memory_of(self, values: Iterable[Value]) -> int:
        """What `values` may read, for `writes_to_memory`, where many nodes are asked about many values."""
        read = 0
        for value in values:
            read |= self._reached(value)
        return read

    def writes_to_memory(self, node: Node, memory: int) -> bool:
        """Whether `node` itself writes to what `memory_of` gave."""
        return bool(self._writes.get(node, 0) & memory)

    def writes_to_wildcard(self, node: Node) -> bool:
        """Whether `node` itself writes to memory that is visible from outside the function."""
        return bool(self._writes.get(node, 0) & self._reach(self._outside))

    def safe_to_change_aliasing_relationship(self, first: Sequence[Value], second: Sequence[Value]) -> bool:
        """Whether nobody can notice that values become one, or stop being one."""
        values = (*first, *second)
        if any(self.has_writers(value) for value in values):
            return False
        return not (any(map(self.escapes, first)) and any(map(self.escapes, second)))

    # -- moving nodes ----------------------------------------------------------------------------------

    def move_after_topologically_valid(self, node: Node, target: Node) -> bool:
        """Move `node` to just after `target`, dependents along, where that changes nothing."""
        return move(self, node, target, after=True)

    def move_before_topologically_valid(self, node: Node, target: Node) -> bool:
        """Move `node` to just before `target`, its sources along, where that changes nothing."""
        return move(self, node, target, after=False)

    def could_move_after_topologically(self, node: Node, target: Node) -> bool:
        """Whether `move_after_topologically_valid` would move it."""
        return move(self, node, target, after=True, dry=True)

    def could_move_before_topologically(self, node: Node, target: Node) -> bool:
        """Whether `move_before_topologically_valid` would move it."""
        return move(self, node, target, after=False, dry=True)

    def reads_of(self, node: Node) -> int:
        """What `node` and the nodes in its blocks may read."""
        blocks = blocks_of(node)
        if not blocks:
            return self.memory_of(node.inputs())
        read = self._block_reads.get(node)
        if read is None:
            read = self.memory_of(node.inputs())
            for block in blocks:
                for inner in block.nodes():
                    read |= self.reads_of(inner)
                read |= self.memory_of(block.outputs())
            self._block_reads[node] = read
        return read

    def writes_of(self, node: Node) -> int:
        """What `node` and the nodes in its blocks may write to."""
        blocks = blocks_of(node)
        if not blocks:
            return self._writes.get(node, 0)
        written = self._block_writes.get(node)
        if written is None:
            written = self._writes.get(node, 0)
            for block in blocks:
                for inner in block.nodes():
                    written |= self.writes_of(inner)
            self._block_writes[node] = written
        return written

    # -- keeping up with a pass ------------------------------------------------------------------------

    def copy_value(self, source: Value, new: Value) -> None:
        """`new` is the same memory as `source`, as a parameter of a block that it is passed into."""
        self._points[new] = self._points_of(source)
        self._closures = {}

    def replace_with_new_value(self, existing: Value, new: Value) -> None:
        """`new` stands for `existing`, which goes away."""
        for known in (self._points, self._fresh):
            if existing in known:
                known[new] = known.pop(existing)
        if existing in self._alone:
            self._alone.discard(existing)
            self._alone.add(new)

    def create_value(self, value: Value) -> None:
        """`value` is new memory, which only its node makes."""
        if value.type().mutable:
            self._alone.add(value)

    # -- in words --------------------------------------------------------------------------------------

    def _findings(self) -> Findings:
        names = {location: f"%{value.debug_name()}" for value, location in self._fresh.items()}
        for key, locations in self._wildcards.items():
            names |= {1 << bit: f"WILDCARD for type {key}" for bit in _bits(locations)}

        def named(locations: int) -> list[str]:
            return [names.get(1 << bit, "WILDCARD") for bit in _bits(locations)]

        points = {value: named(locations) for value, locations in self._points.items()}
        return Findings(self._graph, points, {node: named(written) for node, written in self._writes.items()})

    def __str__(self) -> str:
        return to_text(self._findings())

    def to_graphviz_str(self) -> str:
        """The same as a picture."""
        return to_graphviz(self._findings())

    # -- locations -------------------------------------------------------------------------------------

    def _new_location(self, contents: int = 0) -> int:
        location = 1 << len(self._contents)
        self._contents.append(contents)
        if contents:
            self._containers |= location
        return location

    def _wildcard(self, type: Type) -> int:
        """The locations of unknown values of a type; all the types that they contain have theirs."""
        if not type.mutable:
            return 0
        kind = type.kind()
        if kind in ("OptionalType", "UnionType"):
            bits = 0
            for alternative in type.contained_types():
                bits |= self._wildcard(alternative)
            return bits
        if self._one_wildcard:
            return 1
        if kind in _UNTYPED_KINDS:
            raise _AnyTypeFoundError
        key = "Tensor" if kind == "TensorType" else type  # refined tensor types are one
        bit = self._wildcards.get(key)
        if bit is None:
            bit = self._wildcards[key] = self._new_location()
            self._outside |= bit
            for inner in type.containedTypes():  # of a class, the attributes
                self._contain(bit, self._wildcard(inner))
        return bit

    def _contain(self, containers: int, contents: int) -> None:
        for i in _bits(containers):
            if contents & ~self._contents[i]:
                self._contents[i] |= contents
                self._containers |= 1 << i
                self._changed = True

    def _contained(self, containers: int) -> int:
        """What the locations contain, one step."""
        found = 0
        for i in _bits(containers & self._containers):
            found |= self._contents[i]
        return found

    def _reach(self, locations: int) -> int:
        """The locations, and all that they contain at any depth."""
        if self._closures is None:
            return self._reach_now(locations)
        found = self._closures.get(locations)
        if found is None:
            found = self._closures[locations] = self._reach_now(locations)
        return found

    def _reach_now(self, locations: int) -> int:
        reached, pending = locations, locations
        while pending:
            pending = self._contained(pending) & ~reached
            reached |= pending
        return reached

    def _reached(self, value: Value) -> int:
        points = self._points.get(value)
        return self._reach(points) if points else 0

    def _add(self, value: Value, locations: int) -> None:
        old = self._points.get(value, 0)
        if locations & ~old and value.type().mutable:
            self._points[value] = old | locations if old else locations
            self._changed = True

    def _points_of(self, value: Value) -> int:
        """The locations that a value may be, for what another one or a write has to do with it."""
        if value in self._alone:
            self._alone.discard(value)
            self._fresh[value] = self._points[value] = self._new_location()
            self._changed = True
        return self._points.get(value, 0)

    def _add_fresh(self, value: Value, contents: int = 0) -> None:
        """`value` is new memory, which may contain `contents`."""
        if not value.type().mutable:
            return
        location = self._fresh.get(value)
        if location is None and not contents and value not in self._points:
            self._alone.add(value)
            return
        if location is None:
            self._alone.discard(value)
            location = self._fresh[value] = self._new_location()
        if contents:
            self._contain(location, contents)
        self._add(value, location)

    def _write(self, node: Node, locations: int) -> None:
        if locations:
            self._writes[node] = self._writes.get(node, 0) | locations

    def _escape(self, locations: int) -> None:
        """The locations become reachable from outside: whoever has them may store them into each other."""
        locations = self._reach(locations)
        if locations & ~self._outside:
            self._outside |= locations
            self._changed = True

    # -- nodes -----------------------------------------------------------------------------------------

    def _collect(self, block: Block) -> None:
        """List what the analysis repeats: the nodes that touch memory, each with the method for its kind."""
        steps = self._steps
        for node in block.nodes():
            blocks = node.blocks()
            if not blocks:
                if node.kind() in GROUPS and node.has_attribute("Subgraph"):
                    steps.append((self._enter_group, node))
                    self._collect(node["Subgraph"].block())
                    steps.append((self._leave_group, node))
                elif any_mutable(node.outputs()) or any_mutable(node.inputs()):
                    visit = _VISITS.get(node.kind(), AliasDb._visit_operator)
                    steps.append((visit.__get__(self), node))
                continue
            kind = node.kind()
            if kind == "prim::Loop":
                if any_mutable(node.outputs()):
                    steps.append((self._enter_loop, node))
                self._collect(blocks[0])
                if any_mutable(node.outputs()):
                    steps.append((self._leave_loop, node))
                continue
            for inner in blocks:
                self._collect(inner)
            if kind != "prim::If":
                steps.append((self._visit_unknown, node))
            elif any_mutable(node.outputs()):
                steps.append((self._visit_if, node))

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
        """An object keeps what is written to it from call to call: it is as if it came from outside."""
        output = node.output()
        if output.type().kind() == "ClassType":
            self._add(output, self._wildcard(output.type()))
        else:
            self._add_fresh(output)

    def _visit_identity(self, node: Node) -> None:
        self._add(node.output(), self._points_of(node.inputs()[0]))

    def _visit_set_attribute(self, node: Node) -> None:
        target, value = (self._points_of(value) for value in node.inputs())
        self._contain(target, value)
        self._write(node, target)

    def _visit_nothing(self, node: Node) -> None:
        """What reads memory at most."""

    def _visit_accessor(self, node: Node) -> None:
        containers = self._points_of(node.input())
        contents = self._contained(containers)
        from_outside = bool(containers & self._outside)
        for output in node.outputs():
            if output.type().mutable:
                self._add(
                    output, contents | (self._wildcard(output.type()) if from_outside or not contents else 0)
                )

    def _visit_unknown(self, node: Node) -> None:
        """A call: it may keep, write to, and return whatever it can reach."""
        reached = self._outside
        for value in node.inputs():
            reached |= self._points_of(value)
        if has_side_effects(node) or node.blocks():
            self._escape(reached)
            reached = self._reach(self._outside)
            self._contain(reached & self._containers, reached)
            self._write(node, reached)
        for output in node.outputs():
            if output.type().mutable:
                self._add(output, reached | self._wildcard(output.type()))

    def _visit_operator(self, node: Node) -> None:
        """Follow the alias marks of the schema."""
        schema = node.schema()
        if schema is None or calls_programs(node):
            self._visit_unknown(node)
            return
        if may_give_self(node):
            self._visit_identity(node)
            return
        sets: dict[str, int] = {}  # the locations of each letter
        written = stored = held = 0
        updates = updates_moments(node)
        for argument, value in zip(schema.arguments, node.inputs(), strict=False):
            alias = argument.alias
            if alias is None and value in self._alone and not updates:  # it holds nothing, nor becomes of it
                continue
            points = self._points_of(value)
            if not points:
                continue
            contents = self._contained(points)
            held |= contents
            if is_written(argument, updates):
                written |= points
            if alias is None:
                continue
            for letter in alias.before:
                sets[letter] = sets.get(letter, 0) | points
            if "*" in alias.after:
                stored |= points
            inner = _contained_alias(alias)
            if inner is not None:
                for letter in inner.before:
                    sets[letter] = sets.get(letter, 0) | contents
                if inner.is_write:
                    written |= contents
        if written:
            self._write(node, written)
            self._contain(self._containers_of_type(node, schema, written), stored | held)
        for result, output in zip(schema.returns, node.outputs(), strict=False):
            if output.type().mutable:
                self._visit_result(output, result.alias, sets, stored, held)

    def _containers_of_type(self, node: Node, schema: FunctionSchema, written: int) -> int:
        """The written locations that are containers: what is stored into a tensor is copied."""
        found = 0
        for argument, value in zip(schema.arguments, node.inputs(), strict=False):
            if argument.alias is not None and argument.alias.is_write and value.type().kind() != "TensorType":
                found |= self._points_of(value)
        return found & written

    def _visit_result(
        self, output: Value, alias: AliasInfo | None, sets: dict[str, int], stored: int, held: int
    ) -> None:
        is_container = output.type().kind() != "TensorType"
        if alias is None or not alias.before:
            contents = 0
            if is_container:
                contents = stored | held
                inner = None if alias is None else _contained_alias(alias)
                if inner is not None:
                    for letter in inner.before:
                        contents |= sets.get(letter, 0)
            self._add_fresh(output, contents)
            return
        points = 0
        for letter in alias.before:
            if letter == "*":
                points |= stored | held | self._wildcard(output.type())
            else:
                points |= sets.get(letter, 0)
        if points:
            self._add(output, points)
        else:
            self._add_fresh(output)


_VISITS: Final[dict[str, Callable[[AliasDb, Node], None]]] = {
    **dict.fromkeys(_CONSTRUCTORS, AliasDb._visit_construct),
    **dict.fromkeys(_IDENTITIES, AliasDb._visit_identity),
    **dict.fromkeys(_ACCESSORS, AliasDb._visit_accessor),
    **dict.fromkeys(("prim::Uninitialized", "prim::CreateObject"), AliasDb._visit_new),
    "prim::Constant": AliasDb._visit_constant,
    **dict.fromkeys(ONLY_READING, AliasDb._visit_nothing),
    "prim::SetAttr": AliasDb._visit_set_attribute,
}


def _contained_alias(alias: AliasInfo) -> AliasInfo | None:
    """The marks of a container's elements: those of `Tensor(a)[]`."""
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
