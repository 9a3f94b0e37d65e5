"""Assembler of bytecode: collects virtual registers, instructions and tables for a `Code`.

In: values of a graph, and instructions in their order.  Out: a verified `Code`, returned by `assemble()`:

    builder.emit("ADD_I64", builder.define(sum), builder.use(a), builder.use(b))
    builder.emit("RETURN", builder.use(sum))
    builder.assemble([INT, INT], INT)

Each value has a register. The type of the value determines the class of the register: i(nt), f(loat), b(ool),
o(bject), or x for values of any class. Registers of constants are initialized before the code runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

from ts._core.value.ivalue import to_core
from ts._core.value.spec import TypeSpec
from ts._core.vm.code import Code
from ts.bytecode.bytecode_peephole import optimize_bytecode
from ts.bytecode.instruction import SCALARS, Instruction, Label
from ts.bytecode.opcodes import BY_NAME, NUMBER, register_format
from ts.bytecode.register_allocation import RegisterAllocator
from ts.bytecode.serialized_code import SerializedCode
from ts.bytecode.typespec import register_class, type_spec
from ts.errors import CompilationError, InternalError
from ts.ir.graph import Graph, Node, Value
from ts.ir.types import STR, Type


@cache
def _operand_kinds(name: str) -> tuple[str, ...]:
    """Return the kinds (`_operand_kind`) of the operands of the opcode `name`."""
    return tuple(map(_operand_kind, BY_NAME[name].operands))


def _operand_kind(format: str) -> str:
    """Return the kind of an operand: "register", "label", or "pool" for an offset in the operand pool.

    Return "" for a plain number or table index, which is encoded unchanged.
    """
    if register_format(format):
        return "register"
    return "label" if format in "<>" else "pool" if format == "P" else ""


class Handler(NamedTuple):
    """Region of a `with` statement: `function` is called if an instruction in the region fails.

    `register` contains the context object, which is passed to `function`.
    """

    register: int
    function: Any
    start: Label
    end: Label


class CodeBuilder:
    """Builder of the code of one graph, the base class of `BranchLowering` and `lower.Lowering`."""

    def __init__(self, graph: Graph, name: str) -> None:
        self.graph = graph
        self.name = name
        self.code: list[Instruction] = []
        self.line: Any = None
        self.depth = 0
        # True after an unconditional jump or the function's end: the next instruction is unreachable
        self.terminated = False
        self.classes: list[str] = []  # number of a virtual register -> register class
        self.register: dict[Value, int] = {}
        self.constants: dict[Any, int] = {}
        self.constant_values: dict[int, Any] = {}
        # registers of strings. They need no DROP, because strings may stay until the frame ends.
        self.strings: set[int] = set()
        self.uninitialized: set[int] = set()  # registers of the results of `prim::Uninitialized`
        self.operators: dict[int, tuple[int, Any]] = {}
        self.functions: dict[int, tuple[int, Any]] = {}
        self.types: dict[Type, int] = {}
        # handlers of the `with` statements around the next instruction, outermost first
        self.active_handlers: list[Handler] = []
        self.handlers: list[Handler] = []
        self.program: SerializedCode | None = None  # the assembled code, or None before `assemble`

    # ---- registers of values and constants -------------------------------------------------------------

    def new_register(self, kind: str) -> int:
        """Return a new virtual register of the given class."""
        self.classes.append(kind)
        return len(self.classes) - 1

    def define(self, value: Value) -> int:
        """Return the register that the next instruction writes for `value`, created on first use."""
        register = self.register.get(value)
        if register is None:
            register = self.register[value] = self.new_register(register_class(value.type()))
            if value.type().kind() == "StringType":
                self.strings.add(register)
        return register

    def use(self, value: Value) -> int:
        """Return the register from which an instruction can read `value`.

        A constant gets its register at the first use. Raise InternalError for other values without register.
        """
        register = self.register.get(value)
        if register is None:
            node = value.node()
            if node.kind() != "prim::Constant":
                message = f"%{value.debug_name()} is read before it is computed"
                raise InternalError(message, "lowering", str(self.graph))
            register = self.register[value] = self.constant_of(node)
        return register

    def constant_of(self, node: Node) -> int:
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
        register = self.constants.get(key)
        if register is None:
            register = self.constants[key] = self.new_register(kind)
            self.constant_values[register] = value
        return register

    def is_constant(self, value: Value) -> bool:
        """Return whether a value is the output of a constant node."""
        return value.node().kind() == "prim::Constant"

    def constant_value(self, value: Value) -> Any:
        """Return a constant's value, or None if `value` is no constant."""
        return value.node().get("value") if self.is_constant(value) else None

    # ---- emission of instructions ----------------------------------------------------------------------

    def emit(
        self,
        name: str,
        a: Any = 0,
        b: Any = 0,
        c: Any = 0,
        register_list: list[int] | None = None,
        results: int = 0,
    ) -> Instruction:
        """Append an instruction with the current source line, and return it."""
        instruction = Instruction(name, a, b, c, register_list, results, self.line, self.depth)
        if self.active_handlers:
            instruction.keeps = tuple(context.register for context in self.active_handlers)
        instruction.refresh()
        self.code.append(instruction)
        self.terminated = name in ("RETURN", "RAISE")
        return instruction

    def move(self, target: int, source: int) -> None:
        """Emit `target := source`, with a conversion between register classes if necessary."""
        a, b = self.classes[target], self.classes[source]
        # A copy of an uninitialized number is omitted, because no instruction uses the value.
        if target == source or (source in self.uninitialized and a in SCALARS):
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

    def bind_label(self, label: Label) -> None:
        """Bind a label to the current end of the code."""
        self.code.append(Instruction("", label, depth=self.depth))
        self.terminated = False

    # ---- tables of types, functions and operators ------------------------------------------------------

    def type_index(self, type: Type) -> int:
        """Return the index of a type in the type table, adding it if necessary."""
        return self.types.setdefault(type, len(self.types))

    def function_index(self, function: Any) -> int:
        """Return the index of a function in the function table, adding it if necessary."""
        index, _ = self.functions.setdefault(id(function), (len(self.functions), function))
        return index

    def operator_index(self, operator: Any) -> int:
        """Return the index of an operator in the operator table, adding it if necessary."""
        index, _ = self.operators.setdefault(id(operator), (len(self.operators), operator))
        return index

    def stack_of(self, line: Any) -> tuple[tuple[str, Any], ...]:
        """Return the script's call stack at a node: (function, source range), outermost first.

        A node stores its inlined calls as (callee, range of the call).
        """
        if line is None:
            return ((self.name, None),)
        calls, source_range = line
        if not calls:
            return ((self.name, source_range),)
        names = [self.name, *(callee for callee, _ in calls)]
        ranges = [*(call_range for _, call_range in calls), source_range]
        return tuple(zip(names, ranges, strict=True))

    def assemble(self, parameters: Sequence[TypeSpec], result: TypeSpec) -> Code:
        """Allocate registers, resolve labels and operand pool offsets, and return the verified `Code`.

        `parameters` and `result` are the types of the function's signature.
        """
        constants = set(self.constant_values)
        allocator = RegisterAllocator(self.code, self.classes, len(parameters), constants, self.strings)
        real_register, real = allocator.run()
        code = optimize_bytecode(self.code, real_register)
        used_constants = sorted({r for i in code for r in i.reads if r in constants})
        for index, register in enumerate(used_constants, len(real)):
            real_register[register] = index
        target: dict[int, int] = {}
        position = 0
        for instruction in code:
            if instruction.name:
                position += 1
            else:
                target[id(instruction.a)] = position
        rows, lines = [], []
        operand_pool: list[int] = []
        pool_offsets: dict[tuple[int, ...], int] = {}
        line, stack = None, self.stack_of(None)
        for instruction in code:
            if not instruction.name:
                continue
            encoded = [NUMBER[instruction.name]]
            operands = (instruction.a, instruction.b, instruction.c)
            for operand, kind in zip(operands, _operand_kinds(instruction.name), strict=True):
                if kind == "register":
                    operand = real_register[operand] if operand >= 0 else ~operand
                elif kind == "label":
                    operand = target[id(operand)]
                elif kind == "pool":
                    items = tuple([real_register[r] for r in instruction.register_list or ()])
                    if items not in pool_offsets:
                        pool_offsets[items] = len(operand_pool)
                        operand_pool += [len(items), *items]
                    operand = pool_offsets[items]
                encoded.append(operand)
            rows.append(tuple(encoded))
            if instruction.line is not line:
                line = instruction.line
                stack = self.stack_of(line)
            lines.append(stack)
        self.program = SerializedCode(
            self.name,
            rows,
            "".join(real) + "".join(self.classes[r] for r in used_constants),
            parameters,
            [self.constant_values[r] for r in used_constants],
            operand_pool,
            [operator for _, operator in self.operators.values()],
            [function for _, function in self.functions.values()],
            [type_spec(type) for type in self.types],
            lines,
            [
                (target[id(h.start)], target[id(h.end)], real_register[h.register], h.function)
                for h in self.handlers[::-1]
                if h.register in real_register
            ],
            result,
        )
        return self.program.code()
