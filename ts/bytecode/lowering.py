"""State of the lowering of one graph: registers, instructions and tables. Dispatch by node kind.

The modules `lower_*` register a function for each node kind. Such a function emits instructions with virtual
registers:

    low.emit("ADD_I64", low.define(sum), low.use(a), low.use(b))       appends an instruction
    low.lower_nodes(block)                                             lowers the nodes of a block
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, Final, NamedTuple, TypeVar

from ts._core.assembler.instruction import Instruction, Label
from ts._core.dispatch.operator import Operator
from ts._core.thread import deadline
from ts._core.value.ivalue import to_core
from ts._core.vm.code import Method
from ts.bytecode.deferred_conditions import DEFERRABLE, DeferredConditions
from ts.bytecode.subgraph_functions import Prepare
from ts.bytecode.typespec import SCALARS, register_class, type_spec
from ts.errors import CompilationError, InternalError
from ts.ir.graph import Block, Graph, Node, Value
from ts.ir.schema import FunctionSchema
from ts.ir.types import STR

LowerNode = Callable[["Lowering", Node], Any]
ReplaceFunction = Callable[[Any], Any]
_L = TypeVar("_L", bound=LowerNode)

OPERATOR: Final = "operator"  # key of `LOWER_NODE` for node kinds without an entry
LOWER_NODE: Final[dict[str, LowerNode]] = {}
# name of an operator on containers -> function that returns whether it has lowered the node
LOWER_CONTAINER: Final[dict[str, LowerNode]] = {}


def lowers(*kinds: str, table: dict[str, LowerNode] = LOWER_NODE) -> Callable[[_L], _L]:
    """Return a decorator that registers a function for nodes of the given kinds."""

    def enter(function: _L) -> _L:
        table.update(dict.fromkeys(kinds, function))
        return function

    return enter


class Handler(NamedTuple):
    """Region of a `with` statement: `function` is called if an instruction in the region fails.

    `register` contains the context object, which is passed to `function`.
    """

    register: int
    function: Any
    start: Label
    end: Label


class Registers:
    """Virtual registers of values and constants, numbered in order of creation.

    The type of a value determines the class of its register: i(nt), f(loat), b(ool), o(bject), or x for
    values of any class. Registers of constants are initialized before the code runs.
    """

    def __init__(self) -> None:
        self.classes: list[str] = []  # number of a virtual register -> register class
        self.values: dict[Value, int] = {}
        self._constants: dict[Any, int] = {}
        self.constant_values: dict[int, Any] = {}
        # Registers that hold strings. They need no DROP, because a string may stay alive until the frame
        # ends.
        self.strings: set[int] = set()
        self.uninitialized: set[int] = set()  # registers of the results of `prim::Uninitialized`

    def new(self, kind: str) -> int:
        """Return a new virtual register of the given class."""
        self.classes.append(kind)
        return len(self.classes) - 1

    def define(self, value: Value) -> int:
        """Return the register that an instruction writes to define `value`. Create it at the first call."""
        register = self.values.get(value)
        if register is None:
            type = value.type()
            register = self.values[value] = self.new(register_class(type))
            if type is STR:
                self.strings.add(register)
        return register

    def use(self, value: Value) -> int:
        """Return the register from which an instruction can read `value`.

        A constant gets its register at the first use. Raise InternalError for other values that have no
        register.
        """
        register = self.values.get(value)
        if register is None:
            node = value.node()
            if node.kind() != "prim::Constant":
                message = f"%{value.debug_name()} is read before it is computed"
                raise InternalError(message, "lowering", str(value.owning_graph()))
            register = self.values[value] = self._constant_of(node)
        return register

    def _constant_of(self, node: Node) -> int:
        """Return the register of the value of a constant node."""
        value, type = node.get("value"), node.output().type()
        kind = register_class(type)
        if value is None:
            return self.constant(None, "x")
        if kind == "b":
            return self.constant(bool(value), "b")
        if kind == "i" and isinstance(value, int):
            return self.constant(int(value), "i")
        if kind == "f":
            return self.constant(float(value), "f")
        if type is not STR or not isinstance(value, str):
            try:
                value = to_core(value, type_spec(type))
            except TypeError as error:
                message = f"a constant does not have its declared type {type.annotation_str}: {error}"
                raise CompilationError(message, node.range) from None
        return self.constant(value, kind)

    def constant(self, value: Any, kind: str) -> int:
        """Return the register of a constant. Equal numbers and strings share a register."""
        key = (kind, type(value), repr(value) if isinstance(value, int | float | str | None) else id(value))
        register = self._constants.get(key)
        if register is None:
            register = self._constants[key] = self.new(kind)
            self.constant_values[register] = value
        return register


class IndexTable:
    """Table of objects, without duplicates, to which instructions refer by index.

    The table compares objects by equality if `by_value` is True, else by identity.
    """

    def __init__(self, by_value: bool = False) -> None:
        self._by_value = by_value
        self._indices: dict[Hashable, int] = {}
        self.objects: list[Any] = []

    def index(self, obj: Any) -> int:
        """Return the index of an object, adding it if necessary."""
        index = self._indices.setdefault(obj if self._by_value else id(obj), len(self.objects))
        if index == len(self.objects):
            self.objects.append(obj)
        return index


class LineTable:
    """Source positions of instructions, as call stacks of (function, source range)."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.line: Any = None  # (stack of inlined calls, source range) of the next instruction
        # index of the last stop point of the debugger, and registers of the variables that are visible there
        self.stop_point: tuple[int, tuple[int, ...]] = -1, ()

    def position(self) -> Any:
        """Return the source position of the next instruction."""
        return self.line

    def stack_of(self, line: Any) -> tuple[tuple[str, Any], ...]:
        """Return the script's call stack at a position, outermost function first."""
        if line is None:
            return ((self.name, None),)
        calls, source_range = line
        if not calls:
            return ((self.name, source_range),)
        names = [self.name, *(callee for callee, _ in calls)]
        ranges = [*(call_range for _, call_range in calls), source_range]
        return tuple(zip(names, ranges, strict=True))


class Lowering:
    """State of the lowering of one graph.

    lines                    source positions of the instructions
    prepare                  compiles forked subgraphs when they first run
    replace_function         replace_function(f) returns the function to call instead of f
    prepare_differentiable   compiles the forward and backward graphs of differentiable graphs
    defers_conditions        False if the bool values of all conditions must be computed
    """

    def __init__(
        self,
        graph: Graph,
        lines: LineTable,
        prepare: Prepare,
        replace_function: ReplaceFunction | None = None,
        prepare_differentiable: Prepare | None = None,
        defers_conditions: bool = True,
    ) -> None:
        self.graph = graph
        self.lines = lines
        self.prepare = prepare
        self.prepare_differentiable = prepare_differentiable or prepare
        self.replace_function = replace_function
        self.code: list[Instruction] = []
        self.depth = 0  # number of branches and loops around the next instruction
        # True after an unconditional jump or the function's end: the next instruction is unreachable
        self.terminated = False
        self.deferred = DeferredConditions(defers_conditions)
        self.registers = Registers()
        self.new_register, self.constant = self.registers.new, self.registers.constant
        self.define, self.use = self.registers.define, self.registers.use
        self.operators, self.functions, self.types = IndexTable(), IndexTable(), IndexTable(by_value=True)
        # handlers of the `with` statements around the next instruction, outermost first
        self.active_handlers: list[Handler] = []
        self.handlers: list[Handler] = []
        # outputs of `__derive_index` (start + index * step) that are used as loop counters
        self.counters: set[Value] = set()
        # key of a warning -> bool register that is True after the warning was issued
        self.warned: dict[Any, int] = {}
        self.methods: dict[tuple[str, FunctionSchema], Method] = {}
        # key of an operator -> operator that starts the same work and returns a future without waiting
        self.beginnings: dict[str, Operator] = {}

    def lower_nodes(self, block: Block) -> None:
        """Lower the nodes of a block, up to a node that ends the control flow."""
        handler_count, stop_point = len(self.active_handlers), self.lines.stop_point
        for node in block.nodes():
            deadline.charge(5_000, bytes=500)
            if self.terminated:
                break
            kind = node.kind()
            if kind == "prim::Constant" or (kind in DEFERRABLE and self.deferred.is_deferred(node)):
                continue
            self.lines.line = line_of(node)
            (LOWER_NODE.get(kind) or LOWER_NODE[OPERATOR])(self, node)
        # end the `with` regions whose `__exit__` is unreachable
        while len(self.active_handlers) > handler_count:
            self.code.append(Instruction("", self.active_handlers.pop().end, depth=self.depth))
        self.lines.stop_point = stop_point

    def use_all(self, values: Iterable[Value]) -> list[int]:
        """Return the registers from which an instruction can read `values`."""
        return list(map(self.use, values))

    def function_index(self, function: Any) -> int:
        """Return the index of a function, or of its replacement, in the function table."""
        if self.replace_function is not None and isinstance(function, Method):
            function.twin_of = self.replace_function
        elif self.replace_function is not None:
            function = self.replace_function(function)
        return self.functions.index(function)

    def emit(
        self,
        name: str,
        a: Any = 0,
        b: Any = 0,
        c: Any = 0,
        *,
        register_list: Sequence[int] = (),
        results: int = 0,
    ) -> None:
        """Append an instruction with the current source line."""
        lines = self.lines
        keeps = lines.stop_point[1]
        if self.active_handlers:
            keeps += tuple(handler.register for handler in self.active_handlers)
        line = lines.position()
        self.code.append(Instruction(name, a, b, c, register_list, results, line, self.depth, keeps))
        self.terminated = name in ("RETURN", "RAISE")

    def call_operator(
        self, operator: Any, inputs: Sequence[int], outputs: Sequence[int] = (), name: str = "CALL_OPERATOR"
    ) -> None:
        """Emit a call of an operator with the given registers."""
        registers = [*inputs, *outputs]
        self.emit(name, self.operators.index(operator), register_list=registers, results=len(outputs))

    def move(self, target: int, source: int) -> None:
        """Emit `target := source`, with a conversion between register classes if necessary."""
        a, b = self.registers.classes[target], self.registers.classes[source]
        # A copy of an uninitialized number is omitted, because no instruction uses the value.
        if target == source or (source in self.registers.uninitialized and a in SCALARS):
            return
        if a in SCALARS and a == b:
            self.emit("MOVE", target, source)
        elif a == "f" and b == "i":
            self.emit("INT_TO_FLOAT", target, source)
        elif a in SCALARS and b == "x":
            self.emit("CAST", target, source)
        elif a == "o" and b == "x":
            self.emit("CAST_OBJECT", target, source)
        elif a == "x" or a == b:
            self.emit("COPY", target, source)
        else:
            message = f"cannot copy a register of class {b} to a register of class {a}"
            raise InternalError(message, "lowering", str(self.graph))

    def convert(self, register: int, kind: str) -> int:
        """Return `register` if its class is `kind`, else a new register of class `kind`.

        A new register gets the converted value.
        """
        if self.registers.classes[register] == kind:
            return register
        converted = self.new_register(kind)
        self.move(converted, register)
        return converted

    def bind_label(self, label: Label) -> None:
        """Bind a label to the current end of the code."""
        self.code.append(Instruction("", label, depth=self.depth))
        self.terminated = False


def line_of(node: Node) -> Any:
    """Return (stack of inlined calls, source range) of a node, or None if both are unknown."""
    return (node.callstack, node.range) if node.range is not None or node.callstack else None
