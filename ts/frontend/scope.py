"""Lexical scoping of variables (variable scope, symbol table) in one graph block during emission.

The statement `x = x + 1` becomes these nodes, until the conversion to SSA removes `prim::Load` and
`prim::Store`:

    %x : int = prim::Load[name="x"]()
    %2 : int = aten::add(%x, %1)
     = prim::Store[name="x"](%2)

Each block (branch, loop body) has a scope, in which the variables of enclosing blocks are visible. Names of
modules and functions exist only in the scope, because such objects have no graph value. A loaded value gets
the name of the variable. An earlier value with this name is renamed, for example to `%x.1`.

A `prim::Load` is inserted only if several assignments may reach it, as in loops and after an `if`. For other
loads, the scope knows the assigned value (local value numbering). Such a load is only a `Value`, which
`LoadedValues.resolve` replaces by the assigned value at the end of the function. A `prim::Store` is inserted
only before a nested block, at the end of a nested block, and before a `prim::Load` of its variable.
"""

from __future__ import annotations

from typing import Any

from ts.errors import CompilationError
from ts.frontend.hints import reassignment
from ts.frontend.schema_matching import convert_to_type
from ts.frontend.sugared_values.sugared import SimpleValue, SugaredValue
from ts.ir.graph import Block, Graph
from ts.ir.node import Node
from ts.ir.source import SourceRange
from ts.ir.types import ListType, Type, erase_shape
from ts.ir.value import Value, is_program_name


class LoadedValues:
    """Values of the loads in one function that have no `prim::Load`.

    Until `resolve` is called, each of them is different from the assigned value: the emitter must not see the
    node that computes the assigned value, and the loaded value has a number and a name of its own, as in
    PyTorch.
    """

    def __init__(self) -> None:
        # loaded value -> assigned value, or None if only the type of the loaded value is needed
        self._assigned: dict[Value, Value | None] = {}

    def add(self, loaded: Value, assigned: Value | None) -> None:
        """Record that `loaded` is the value `assigned`."""
        self._assigned[loaded] = assigned

    def assigned(self, value: Value) -> Value:
        """Return the assigned value of a loaded value, and any other value unchanged."""
        return self._assigned.get(value) or value

    def count(self) -> int:
        """Return the number of loaded values."""
        return len(self._assigned)

    def discard_after(self, count: int) -> None:
        """Discard the loaded values after the first `count`. The nodes that used them are destroyed."""
        while len(self._assigned) > count:
            loaded, _ = self._assigned.popitem()
            loaded.set_debug_name("")

    def resolve(self) -> None:
        """Replace the uses of each loaded value by the assigned value."""
        for loaded, assigned in self._assigned.items():
            if assigned is not None and loaded.has_uses():
                loaded.replace_all_uses_with(assigned)


class Scope:
    """Variables and other names assigned in one block."""

    __slots__ = (
        "_load_node",
        "_not_stored",
        "assigned",
        "block",
        "errors",
        "graph",
        "inserts_all",
        "loaded",
        "parent",
        "sees_parent",
        "types",
        "values",
    )

    def __init__(self, graph: Graph, block: Block, parent: Scope | None) -> None:
        self.graph = graph
        self.block = block
        self.parent = parent
        self.types: dict[str, Type] = {}  # variable -> its type
        self.values: dict[str, SugaredValue] = {}  # name -> module, function or class
        # Name that is undefined after an `if` -> (reason why it is undefined, source range). All scopes of a
        # function share this dict, because an `if` in a loop or branch is also the reason why the name is
        # undefined after the loop or branch.
        self.errors: dict[str, tuple[str, SourceRange]] = {} if parent is None else parent.errors
        self.loaded: LoadedValues = LoadedValues() if parent is None else parent.loaded
        # Variable that this block assigns -> the assigned value, or None if several assignments may reach the
        # current position, because a nested block assigns the variable.
        self.assigned: dict[str, Value | None] = {}
        # True if the block runs at most once after the code before it, so that the values that `parent` has
        # assigned are the values of its variables in this block. The body of a loop may run again.
        owner = block.owning_node()
        self.sees_parent = owner is not None and owner.kind() == "prim::If"
        # True if each load and assignment inserts a node. This is the case for the debugger, and for a block
        # that is copied before the conversion to SSA, because the copy of a load has a number of its own.
        self.inserts_all: bool = parent is not None and parent.inserts_all
        self._not_stored: dict[str, Value] = {}  # assigned values for which no `prim::Store` is inserted yet
        if parent is not None and owner is not None:
            parent.insert_stores(owner)
        self._load_node: Node | None = None

    # ---- lookup of names -----------------------------------------------------------------------------

    def find(self, name: str) -> SugaredValue | None:
        """Resolve a name in this scope and enclosing scopes. Emit a load for a variable."""
        scope: Scope | None = self
        while scope is not None:
            value = scope.values.get(name)
            if value is not None:
                return value
            type = scope.types.get(name)
            if type is not None:
                return SimpleValue(self._load(name, type))
            scope = scope.parent
        return None

    def lookup_type(self, name: str) -> Type | SugaredValue | None:
        """Resolve a name like `find`, but return the type of a variable instead of a value."""
        scope: Scope | None = self
        while scope is not None:
            value = scope.values.get(name)
            if value is not None:
                return value if value.simple is None else value.simple.type()
            type = scope.types.get(name)
            if type is not None:
                # the load gets a number and a name, as in PyTorch, although its value is not used
                self.loaded.add(self._load_without_node(name, type), None)
                return type
            scope = scope.parent
        return None

    def is_defined(self, name: str) -> bool:
        """Return whether the name is defined, without inserting a load."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.values or name in scope.types:
                return True
            scope = scope.parent
        return False

    def defined_variables(self) -> list[str]:
        """Variables assigned in this block, sorted."""
        return sorted(self.types)

    def type_error(self, name: str) -> str | None:
        """Return the reason why `name`, which a branch of an `if` assigns, is undefined after the `if`.

        Return None if no reason is recorded for `name`.
        """
        if name not in self.errors:
            return None
        message, range = self.errors[name]
        return f"{message}:\n{range.highlight()}"

    def _load(self, name: str, type: Type) -> Value:
        assigned = None if self.inserts_all else self._assigned_value(name)
        if assigned is not None and assigned._type is type:
            value = self._load_without_node(name, type)
            self.loaded.add(value, assigned)
            return value
        if name in self._not_stored:
            self.store(name, self._not_stored.pop(name))
        node = self.graph.insert_node(self.graph.create("prim::Load"))
        node.set("name", name, "s")
        value = node.output().set_type(type)
        if is_program_name(name):
            value.set_debug_name(name)
        return value

    def _load_without_node(self, name: str, type: Type) -> Value:
        """Return a new value for variable `name`. Its node is not inserted, and is shared by such loads."""
        if self._load_node is None:
            self._load_node = self.block.create_unlisted_node("prim::Load")
        value = self.graph.create_value(self._load_node, type)
        if is_program_name(name):
            value.set_debug_name(name)
        return value

    def _assigned_value(self, name: str) -> Value | None:
        """Return the value that variable `name` has at the current position, or None if it is unknown."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.assigned:
                return scope.assigned[name]
            scope = scope.parent if scope.sees_parent else None
        return None

    # ---- assignment of names -------------------------------------------------------------------------

    def merge(self, inner: Scope) -> None:
        """Note that a nested block, which has the scope `inner`, may have assigned its variables."""
        self.assigned.update(dict.fromkeys(inner.assigned))

    def insert_stores(self, before: Node | None = None) -> None:
        """Insert the missing `prim::Store` nodes before a node, or by default at the insertion point."""
        if self._not_stored:
            with self.graph.inserting_before(before or self.graph.insert_point()):
                for name, value in self._not_stored.items():
                    self.store(name, value)
            self._not_stored.clear()

    def store(self, name: str, value: Value) -> None:
        """Insert a `prim::Store`. The caller records the type of the variable."""
        self.graph.insert_node(self.graph.create("prim::Store", (value,), 0)).set("name", name, "s")

    def set(
        self, range: SourceRange, name: str, assigned: Value | SugaredValue, annotated: Type | None = None
    ) -> None:
        """Assign to a name.

        At the top level of a function, an assignment may change the type of a variable. In a branch or loop,
        the variable must keep its type in the enclosing scope. Otherwise, its type after the block would
        depend on the executed path.
        """
        value = assigned if isinstance(assigned, Value) else assigned.simple
        if (
            value is not None
            and not value.has_debug_name()
            and is_program_name(name)
            and value.node().owning_block() is self.block
        ):
            value.set_debug_name(name)
        outer = None if self.parent is None else self.parent.lookup_type(name)
        if outer is not None:
            value = self._check_reassignment(range, name, assigned, value, outer, annotated)
        if value is None:
            assert not isinstance(assigned, Value)
            self.types.pop(name, None)
            self.assigned[name] = None
            self.values[name] = assigned
            return
        if annotated is not None:
            if value.node().kind() == "prim::EmptyListLiteral":
                value = convert_to_type(range, self.graph, annotated, value, False)
            if not value.type().is_subtype_of(annotated):
                raise CompilationError(
                    f"Variable '{name}' is annotated with type {annotated.repr_str} "
                    f"but is being assigned to a value of type {value.type().repr_str}",
                    range,
                )
        self.values.pop(name, None)
        self.assigned[name] = self._not_stored[name] = self.loaded.assigned(value)
        if self.inserts_all:
            self.insert_stores()
        self.types[name] = annotated or value.type()

    def _check_reassignment(
        self,
        range: SourceRange,
        name: str,
        assigned: Any,
        value: Value | None,
        outer: Type | SugaredValue,
        annotated: Type | None,
    ) -> Value:
        if annotated is not None:
            raise CompilationError(
                f"Attempting to declare and annotate the type of variable '{name}' "
                "but it is already defined in an outer block",
                range,
            )
        if value is None:
            raise CompilationError(
                f"Cannot re-assign '{name}' to a value of type {assigned.kind} because {name} is not a "
                "first-class value.  Only reassignments to first-class values are allowed",
                range,
            )
        if isinstance(outer, SugaredValue):
            raise CompilationError(
                f"Cannot re-assign '{name}' because it has type {outer.kind} and {name} is not a "
                "first-class value.  Only reassignments to first-class values are allowed",
                range,
            )
        expected = erase_shape(outer)
        value = convert_to_type(range, self.graph, expected, value, True)
        if not value.type().is_subtype_of(expected):
            message = (
                f"Variable '{name}' previously had type {outer.repr_str} "
                f"but is now being assigned to a value of type {value.type().repr_str}"
            )
            if isinstance(expected, ListType) and isinstance(value.type(), ListType):
                message += (
                    "\nEmpty lists default to List[Tensor]. Add a variable annotation to the assignment to "
                    "create an empty list of another type (torch.jit.annotate(List[T, []]) where T is the "
                    "type of elements in the list for Python 2)"
                )
            raise CompilationError(f"{message}\n", range, reassignment(name, outer, value.type()))
        return value

    def remove(self, name: str) -> bool:
        """Remove a name from this scope and the enclosing scopes, and return whether it was defined."""
        is_removed = False
        scope: Scope | None = self
        while scope is not None:
            is_removed |= scope.types.pop(name, None) is not None
            scope.assigned[name] = None
            is_removed |= scope.values.pop(name, None) is not None
            scope = scope.parent
        return is_removed
