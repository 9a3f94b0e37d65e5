"""Lexical scoping of variables (variable scope, symbol table) in one graph block during emission.

The statement `x = x + 1` becomes these nodes, until the conversion to SSA removes `prim::Load` and
`prim::Store`:

    %x : int = prim::Load[name="x"]()
    %2 : int = aten::add(%x, %1)
     = prim::Store[name="x"](%2)

Each block (branch, loop body) has a scope, in which the variables of enclosing blocks are visible. Names of
modules and functions exist only in the scope, because such objects have no graph value. A loaded value gets
the name of the variable. An earlier value with this name is renamed, for example to `%x.1`.
"""

from __future__ import annotations

from typing import Any

from ts.errors import CompilationError
from ts.frontend.hints import reassignment
from ts.frontend.schema_matching import convert_to_type
from ts.frontend.sugared_values.sugared import SimpleValue, SugaredValue
from ts.ir.graph import Block, Graph
from ts.ir.source import SourceRange
from ts.ir.types import ListType, Type, erase_shape
from ts.ir.value import Value, is_program_name


class Scope:
    """Variables and other names assigned in one block."""

    __slots__ = ("block", "errors", "graph", "parent", "types", "values")

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
        found = self.find(name)
        return found if found is None or found.simple is None else found.simple.type()

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
        node = self.graph.insert_node(self.graph.create("prim::Load"))
        node.set("name", name, "s")
        value = node.output().set_type(type)
        if is_program_name(name):
            value.set_debug_name(name)
        return value

    # ---- assignment of names -------------------------------------------------------------------------

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
        self.store(name, value)
        self.values.pop(name, None)
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
            is_removed |= scope.values.pop(name, None) is not None
            scope = scope.parent
        return is_removed
