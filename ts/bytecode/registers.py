"""Virtual registers of the values and constants of a graph.

    registers.define(value)          the register of a value, created at its first use
    registers.constant(1, "i")       the register of an int constant

The type of a value determines the class of its register: i(nt), f(loat), b(ool), o(bject), or x for values of
any class. Registers of constants are initialized before the code runs.
"""

from __future__ import annotations

from typing import Any

from ts._core.value.ivalue import to_core
from ts.bytecode.typespec import register_class, type_spec
from ts.errors import CompilationError, InternalError
from ts.ir.graph import Node, Value
from ts.ir.types import STR


class Registers:
    """Virtual registers, numbered in order of creation."""

    def __init__(self) -> None:
        self.classes: list[str] = []  # number of a virtual register -> register class
        self.values: dict[Value, int] = {}
        self._constants: dict[Any, int] = {}
        self.constant_values: dict[int, Any] = {}
        # registers of strings. They need no DROP, because strings may stay until the frame ends.
        self.strings: set[int] = set()
        self.uninitialized: set[int] = set()  # registers of the results of `prim::Uninitialized`

    def new(self, kind: str) -> int:
        """Return a new virtual register of the given class."""
        self.classes.append(kind)
        return len(self.classes) - 1

    def define(self, value: Value) -> int:
        """Return the register that the next instruction writes for `value`, created on first use."""
        register = self.values.get(value)
        if register is None:
            register = self.values[value] = self.new(register_class(value.type()))
            if value.type().kind() == "StringType":
                self.strings.add(register)
        return register

    def use(self, value: Value) -> int:
        """Return the register from which an instruction can read `value`.

        A constant gets its register at the first use. Raise InternalError for other values without register.
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
