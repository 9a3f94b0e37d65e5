"""Emitter (visitor of the syntax tree): state of one function's emission, and dispatch by node class.

The emitter inserts nodes into `emitter.graph`, at the insertion point of this graph:

    emitter.statements(node.body)         emits statements
    emitter.expr(node)                    emits an expression, and returns its `Value`
    emitter.sugared(node)                 emits any expression, and returns its `SugaredValue`

Other modules of this package register an emitter function for each class of syntax nodes. Graph text contains
the numbers of values. Therefore, nodes are created in PyTorch's order.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from typing import Any, Final, TypeVar

from ts._core.thread import deadline
from ts.analysis.effects import has_side_effects
from ts.errors import CompilationError, FrontendError, LimitExceeded, NotSupportedError
from ts.frontend import hints
from ts.frontend.annotations import to_type
from ts.frontend.error_aggregation import FunctionErrors, calls_in
from ts.frontend.parse import ParsedFunction
from ts.frontend.schema_matching import construct_list, construct_tuple
from ts.frontend.scope import Scope
from ts.frontend.source_ranges import HiddenRange
from ts.frontend.sugared_values.python_objects import GLOBALS, to_sugared
from ts.frontend.sugared_values.sugared import CompileCallee, SimpleValue, SugaredValue
from ts.ir.graph import Block, Graph
from ts.ir.node import Node
from ts.ir.source import SourceRange
from ts.ir.types import ANY, Type
from ts.ir.value import Value

EmitStatement = Callable[["Emitter", Any], None]
EmitExpression = Callable[["Emitter", Any, Type | None], Value]
EmitSugared = Callable[["Emitter", Any, int, Type | None], SugaredValue]

STATEMENTS: Final[dict[type[ast.stmt], EmitStatement]] = {}
EXPRESSIONS: Final[dict[type[ast.expr], EmitExpression]] = {}
SUGARED: Final[dict[type[ast.expr], EmitSugared]] = {}

# Time and memory charged to `ts.limits` for each compiled statement and expression, because the limits
# include compilation.
_STATEMENT_NS: Final = 50_000
_STATEMENT_BYTES: Final = 2_000
_EXPRESSION_NS: Final = 10_000
_EXPRESSION_BYTES: Final = 1_000

_T = TypeVar("_T")
_S = TypeVar("_S", bound=EmitStatement)
_E = TypeVar("_E", bound=EmitExpression)
_V = TypeVar("_V", bound=EmitSugared)


def statement(*classes: type[ast.stmt]) -> Callable[[_S], _S]:
    """Return a decorator that registers a function as the emitter of statements of the given classes."""

    def enter(function: _S) -> _S:
        for cls in classes:
            STATEMENTS[cls] = function
        return function

    return enter


def expression(*classes: type[ast.expr]) -> Callable[[_E], _E]:
    """Return a decorator for emitters of expressions that always have a graph value."""

    def enter(function: _E) -> _E:
        for cls in classes:
            EXPRESSIONS[cls] = function
        return function

    return enter


def sugared(*classes: type[ast.expr]) -> Callable[[_V], _V]:
    """Return a decorator for emitters of expressions whose sugared values may lack a graph value."""

    def enter(function: _V) -> _V:
        for cls in classes:
            SUGARED[cls] = function
        return function

    return enter


class Emitter:
    """State for the emission of one function into one graph."""

    def __init__(self, parsed: ParsedFunction, compile_callee: CompileCallee) -> None:
        self.parsed = parsed
        self.resolver = parsed.resolver
        self.range = parsed.ranges.of
        self.graph = Graph()
        self.scope = Scope(self.graph, self.graph.block(), None)
        self.compile_callee = compile_callee
        self.declared_return: Type | None = None
        self.merged_return: Type | None = None
        self.merged_return_at: SourceRange | None = None  # range of the `return` with this type
        self.exits: set[Block] = set()  # blocks that end with return, raise, break or continue
        self.calling: ast.Call | None = None  # the innermost call being emitted
        self.lines = False  # True: emit a `prim::Line` before each statement, for the debugger
        self.holds_breakpoint = False
        self.warned = False
        self.noted = FunctionErrors()
        # names of variables that are undefined because the statement that assigns them did not compile
        self.failed_names: set[str] = set()
        self.loop: str | None = None  # kind of the innermost enclosing loop: "loop", "unrolled" or None
        self._number_constants: dict[str, Value] = {}
        self._temporaries = 0

    # ---- emission of statements and expressions ------------------------------------------------------

    def statements(self, body: Iterable[ast.stmt]) -> None:
        """Emit statements up to the first that leaves the block. The remaining statements are unreachable."""
        previous_range = self.graph.range
        for node in body:
            self.graph.range = HiddenRange(self.parsed.ranges, node)
            if self.lines and not isinstance(node, ast.While) and not _is_string(node):
                self.mark("line")
            try:
                deadline.charge(_STATEMENT_NS, bytes=_STATEMENT_BYTES)
                STATEMENTS[type(node)](self, node)
            except FrontendError as error:
                self._note(error, node)
            except LimitExceeded as error:
                if not error.stack:
                    error.stack = [(self.parsed.name, self.range(node))]
                raise
            if self.scope.block in self.exits:
                break
        self.graph.range = previous_range

    def _note(self, error: FrontendError, node: ast.stmt) -> None:
        """Record `error`, which statement `node` raised, and the errors of the functions that `node` calls.

        Add the variables that `node` assigns to `failed_names`.
        """
        if not error.has_caller:  # the error is in this function, and may have no location yet
            error.range = error.range or self.range(node)
        self.noted.add(error)
        names = (descendant for descendant in ast.walk(node) if isinstance(descendant, ast.Name))
        self.failed_names.update(name.id for name in names if isinstance(name.ctx, ast.Store))
        for call in calls_in(node):
            self.calling = call
            try:
                self.sugared(call.func).ensure_compiled(self, self.range(call))
            except FrontendError as further:
                self.noted.add(further)

    def expr(self, node: ast.expr, hint: Type | None = None) -> Value:
        """Emit an expression and return its graph value. `hint` is the type that the context expects."""
        deadline.charge(_EXPRESSION_NS, bytes=_EXPRESSION_BYTES)
        emit = EXPRESSIONS.get(type(node))
        if emit is not None:
            value = emit(self, node, hint)
        else:
            sugared = self.sugared(node, 1, hint)
            value = sugared.simple or sugared.as_value(self, self.range(node))
        if hint is ANY and value.type() is not ANY:
            value = self.unchecked_cast(value, hint)
        return value

    def sugared(self, node: ast.expr, n_binders: int = 1, hint: Type | None = None) -> SugaredValue:
        """Emit an expression that is assigned to `n_binders` variables, and return its sugared value."""
        emit = SUGARED.get(type(node))
        if emit is not None:
            return emit(self, node, n_binders, hint)
        plain = EXPRESSIONS.get(type(node))
        if plain is None:
            raise NotSupportedError(f"{type(node).__name__} isn't supported here", self.range(node))
        return SimpleValue(plain(self, node, hint))

    def emit_again(self, emit: Callable[[], _T]) -> _T:
        """Emit an operand a second time, so that later values have the same numbers as in PyTorch.

        If the additional nodes have side effects, remove them. In PyTorch, the effects occur twice:
        `xs.pop() % 2` pops two elements.
        """
        self.scope.insert_stores()
        loads = self.scope.loaded.count()
        marker = self.graph.insert_node(self.graph.create("prim::Marker", (), 0))
        value = emit()
        self.scope.insert_stores()
        nodes = []
        following = marker.next()
        while following is not self.graph.insert_point():
            nodes.append(following)
            following = following.next()
        marker.destroy()
        if any(_has_effects(emitted) for emitted in nodes):
            for emitted in reversed(nodes):
                emitted.destroy()
            self.scope.loaded.discard_after(loads)
        return value

    def type_of(self, annotation: ast.expr) -> Type:
        """Return the type of an annotation."""
        return to_type(annotation, self.resolver, self.parsed.ranges)

    # ---- resolution of names -------------------------------------------------------------------------

    def lookup(self, name: str, range: SourceRange, required: bool = True) -> SugaredValue | None:
        """Resolve a name to a variable, a builtin or an object from the enclosing Python scopes."""
        sugared = self.scope.find(name)
        # The assignment of the variable does not compile: report this instead of using a global of the same
        # name.
        if sugared is None and name in self.failed_names:
            raise CompilationError(f"undefined value {name}", range)
        if sugared is None:
            sugared = GLOBALS.get(name)
        if sugared is None:
            try:
                obj = self.resolver.lookup(name)
            except KeyError:
                if not required:
                    return None
                error = self.scope.type_error(name)
                if error is not None:
                    raise CompilationError(f"{error}and was used here", range) from None
                is_assigned = any(
                    isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store)
                    for node in ast.walk(self.parsed.node)
                )
                # a name that the function assigns is not misspelled
                hint = "" if is_assigned else hints.undefined(name, self.names(), self.attributes())
                raise CompilationError(f"undefined value {name}", range, hint) from None
            sugared = to_sugared(self, obj, range, name)
        return sugared

    def callee(self, node: ast.expr) -> SugaredValue:
        """Resolve the callee of a call. In printed source, a builtin name has precedence over a variable."""
        if self.parsed.printed and isinstance(node, ast.Name):
            variable = self.scope.find(node.id)
            if variable is None or variable.simple is not None:
                word = GLOBALS.get(node.id) or self.lookup_printed(node.id)
                if word is not None:
                    return word
        return self.sugared(node)

    def lookup_printed(self, name: str) -> SugaredValue | None:
        """Resolve a name in printed source to an object that is not a variable. Return None if undefined."""
        try:
            value = self.resolver.lookup(name)
        except KeyError:
            return None
        return value if isinstance(value, SugaredValue) else None

    def attributes(self) -> list[str]:
        """Return the attribute and method names of `self`. The list is empty outside of methods."""
        type: Any = self.parsed.self_type
        return [] if type is None else [*type.attributes, *type.methods]

    def names(self) -> set[str]:
        """Return all names that are visible in the current scope."""
        names = set(GLOBALS)
        for variables in self.resolver.scopes:
            names.update(variables)
        scope: Scope | None = self.scope
        while scope is not None:
            names.update(scope.types, scope.values)
            scope = scope.parent
        return names

    def variable(self, name: str, range: SourceRange) -> Value:
        """Resolve `name` and return its graph value. Raise CompilationError if it has none."""
        sugared = self.lookup(name, range)
        assert sugared is not None
        return sugared.as_value(self, range)

    def temporary(self, prefix: str) -> str:
        """Return a unique name that programs cannot use."""
        self._temporaries += 1
        return f"{prefix}{self._temporaries}"

    def in_block(self, block: Block) -> _BlockContext:
        """Return a context manager in which nodes are inserted at the end of `block`, with a new scope."""
        return _BlockContext(self, block)

    # ---- insertion of nodes --------------------------------------------------------------------------

    def insert(
        self, kind: str, inputs: Iterable[Value] = (), outputs: int = 1, range: SourceRange | None = None
    ) -> Node:
        """Create a node at the insertion point."""
        node = self.graph.create(kind, inputs, outputs)
        if range is not None:
            node.range = range
        return self.graph.insert_node(node)

    def mark(self, event: str, inputs: Iterable[Value] = (), range: SourceRange | None = None) -> None:
        """Insert a stop point of the debugger. The conversion to SSA adds the visible variables as inputs."""
        self.insert("prim::Line", inputs, 0, range).set("event", event)

    def constant(self, value: object, range: SourceRange | None = None, type: Type | None = None) -> Value:
        """Insert a constant at the insertion point."""
        return self.graph.insert_constant(value, range, type)

    def number(self, value: complex, range: SourceRange | None) -> Value:
        """Return an int, float or complex constant. Equal constants share a node at the graph's start."""
        key = repr(value)  # distinguishes -0.0 from 0.0
        constant = self._number_constants.get(key)
        if constant is None:
            with self.graph.inserting_at_start():
                constant = self._number_constants[key] = self.graph.insert_constant(value, range)
        return constant

    def unchecked_cast(self, value: Value, type: Type) -> Value:
        """Insert a `prim::unchecked_cast`, whose result is `value` with static type `type`."""
        return self.insert("prim::unchecked_cast", (value,)).output().set_type(type)

    def tuple(self, values: Iterable[Value]) -> Value:
        """Insert a tuple of values."""
        return construct_tuple(self.graph, list(values))

    def list(self, elem: Type, values: Iterable[Value]) -> Value:
        """Insert a list of values."""
        return construct_list(self.graph, elem, list(values))


class _BlockContext:
    """Context manager that sets the insertion point and the scope of an emitter, and restores both."""

    __slots__ = ("_block", "_emitter", "_insertion_point", "_outer")

    def __init__(self, emitter: Emitter, block: Block) -> None:
        self._emitter = emitter
        self._block = block

    def __enter__(self) -> Scope:
        emitter = self._emitter
        self._outer = emitter.scope
        scope = emitter.scope = Scope(emitter.graph, self._block, emitter.scope)
        self._insertion_point = emitter.graph.insert_point()
        emitter.graph.set_insert_point(self._block)
        return scope

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        emitter = self._emitter
        if kind is None:
            emitter.scope.insert_stores()
        emitter.graph.set_insert_point(self._insertion_point)
        self._outer.merge(emitter.scope)
        emitter.scope = self._outer


def _is_string(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _has_effects(node: Node) -> bool:
    """Return whether `node`, or a node in its blocks, has side effects or writes to its inputs."""
    schema = node.schema()
    if has_side_effects(node) or (schema is not None and schema.is_mutable):
        return True
    return any(_has_effects(inner) for block in node.blocks() for inner in block.nodes())
