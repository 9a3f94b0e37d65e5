"""Sugared values of the names in printed source, that is, in `fn.code` and archives.

`SerializedResolver` calls its function `find` for names that begin with `__torch__.` or `^`. Each line shows
source and its meaning:

    CONSTANTS.c0                     a constant of the archive
    torch.add(x, 1)                  the operator aten::add
    ops.prim.max(a, b)               the operator prim::max
    __torch__.model.helper(x, )      a function or class returned by `find`
    unchecked_cast(int, x)           x with static type int
    uninitialized(int)               a value that is never read
    __torch__.C.__new__(__torch__.C) an object without attributes
    ^log()(x)                        a call of the Python function `find("^log")`
    def task(): ... ; fork(task)     a forked task, which may use the variables of the enclosing function
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Sequence
from typing import Any

from ts.errors import CompilationError
from ts.frontend.enums import EnumClassValue
from ts.frontend.ir_emitter import calls
from ts.frontend.ir_emitter.emitter import Emitter
from ts.frontend.load_policy import UNRESTRICTED, LoadPolicy
from ts.frontend.schema_matching import Actual
from ts.frontend.serialized_resolver import Find, SerializedResolver, constant_by_name
from ts.frontend.sugared_values.python_functions import PythonFunction
from ts.frontend.sugared_values.sugared import (
    BuiltinFunction,
    FunctionValue,
    Kwargs,
    NamedTupleConstructor,
    SimpleValue,
    SpecialForm,
    SugaredValue,
    WarnFunction,
    insert_actual,
)
from ts.frontend.upgraders import LegacyOperator, find_upgraders
from ts.ir.attributes import REMOTE_CALLS, type_of_constant
from ts.ir.node import Node
from ts.ir.source import SourceRange
from ts.ir.types import OBJECT_TYPES, ClassType, EnumType, TupleType, erase_shape
from ts.ir.value import Value


def sugared_values(names: SerializedResolver) -> dict[str, SugaredValue]:
    """Return the sugared values of the names that all printed source can use."""
    return {
        "torch": Operators("aten", names.version, names.policy),
        "ops": Operators(""),
        "CONSTANTS": Constants(names.constants),
        "__torch__": Namespace("__torch__", names.find),
        "fork": Fork(),
        **{form: SpecialForm(form) for form in ("annotate", "unchecked_cast", "uninitialized")},
    }


class Operators(SugaredValue):
    """Operator namespace: `torch`, `ops`, `ops.prim`."""

    kind = "module"

    def __init__(self, space: str, version: int = sys.maxsize, policy: LoadPolicy = UNRESTRICTED) -> None:
        self.space = space
        self.version = version
        self.policy = policy

    def attr(self, em: Emitter, range: SourceRange, name: str) -> SugaredValue:
        """Return the namespace, operator or special form `name`.

        For an old archive, `name` may denote an operator with the semantics of the archive's version.
        """
        if not self.space:
            return Operators(name)
        if self.space == "aten" and name == "autograd":  # `torch.autograd.grad` is printed for aten::grad
            return self
        if f"{self.space}::{name}" in REMOTE_CALLS:
            return SpecialForm(name)
        kind = WarnFunction if name == "warn" and self.space == "aten" else BuiltinFunction
        operator = kind(f"{self.space}::{name}")
        functions = find_upgraders(name, self.version) if self.space == "aten" else ()
        return LegacyOperator(operator, functions, self.policy) if functions else operator


class Constants(SugaredValue):
    """Sugared value of the name `CONSTANTS`: the tensors and objects without a literal."""

    kind = "module"

    def __init__(self, values: Sequence[object]) -> None:
        self.values = values

    def attr(self, em: Emitter, range: SourceRange, name: str) -> SugaredValue:
        """Emit the constant with this name, such as `c0`. Raise CompilationError for unknown names."""
        try:
            value = constant_by_name(self.values, name)
        except KeyError:
            raise CompilationError(f"unknown constant CONSTANTS.{name}", range) from None
        if type_of_constant(value) is None:
            raise CompilationError(f"the value of CONSTANTS.{name} is not supported as a constant", range)
        constant = em.constant(value, range)
        # Remove the dtype and shape of a tensor from the type of the constant, because the code had types
        # without dtype and shape when it was saved.
        return SimpleValue(constant.set_type(erase_shape(constant.type())))


class Namespace(SugaredValue):
    """Namespace `__torch__` or a module in it."""

    kind = "module"

    def __init__(self, name: str, find: Find) -> None:
        self.name = name
        self.find = find

    def attr(self, em: Emitter, range: SourceRange, name: str) -> SugaredValue:
        """Return the class, enum or function with this qualified name, or else a nested namespace."""
        from ts.frontend.sugared_values.python_objects import to_sugared

        qualified_name = f"{self.name}.{name}"
        definition = self.find(qualified_name)
        if definition is None:
            return Namespace(qualified_name, self.find)
        if isinstance(definition, TupleType):
            return NamedTupleConstructor(definition)
        if isinstance(definition, EnumType) and definition.python_class is not None:
            return EnumClassValue(definition.python_class)
        if isinstance(definition, ClassType):
            return Class(definition, qualified_name, self.find)
        return to_sugared(em, definition, range, qualified_name)


class Class(SugaredValue):
    """Class in printed source, where an object is created by `__new__`, followed by a call of `__init__`."""

    kind = "class"

    def __init__(self, type: ClassType, name: str, find: Find) -> None:
        self.type = type
        self.name = name
        self.find = find

    def attr(self, em: Emitter, range: SourceRange, name: str) -> SugaredValue:
        """Return `__new__` as a special form, or the function `name` of the class, called without an object.

        Raise CompilationError if there is no such function.
        """
        if name == "__new__":
            return SpecialForm("__new__")
        function = self.find(f"{self.name}.{name}")  # for example the forward hook of a module
        if function is None:
            raise CompilationError(
                f"{self.type.annotation_str} has no attribute '{name}'; other attributes require an object",
                range,
            )
        return FunctionValue(function)


# ---- functions of Python -----------------------------------------------------------------------------


class PythonCall(SugaredValue):
    """Python function in printed source, called twice: `^log()` returns it, and the second call runs it."""

    kind = "python call"

    def __init__(self, function: Callable[..., Any], is_prepared: bool = False) -> None:
        self.function = function
        self.is_prepared = is_prepared

    def call(
        self, em: Emitter, range: SourceRange, args: Sequence[Actual], kwargs: Kwargs, n_binders: int
    ) -> SugaredValue:
        """Return a prepared `PythonCall` for the first call. For the second call, emit the function call."""
        if not self.is_prepared:
            return PythonCall(self.function, True)
        receiver = args[0] if args else None
        if not (isinstance(receiver, Value) and isinstance(receiver.type(), OBJECT_TYPES)):
            receiver = None  # the first argument is not an object, so it is not the receiver
        arguments = args if receiver is None else args[1:]
        return PythonFunction(self.function, receiver).call(em, range, arguments, kwargs, n_binders)


# ---- forked tasks ------------------------------------------------------------------------------------


class Task(SugaredValue):
    """Sugared value of a nested function in printed source, which is an argument of `fork`."""

    kind = "function"

    def __init__(self, closure: Node) -> None:
        self.closure = closure

    def as_value(self, em: Emitter, range: SourceRange) -> Value:
        """Return the value of the `prim::Closure` node."""
        return self.closure.output()


def emit_task(em: Emitter, node: ast.FunctionDef) -> None:
    """Emit the body of a task as a `prim::Closure`, which a later pass converts to a separate graph."""
    range = em.range(node)
    *body, last = node.body
    if not isinstance(last, ast.Return) or last.value is None:
        raise CompilationError("a task must end with a return statement", range)
    closure = em.insert("prim::Closure", (), 1, range)
    with em.in_block(closure.add_block()) as scope:
        em.statements(body)
        scope.block.register_output(em.expr(last.value))
    em.scope.set(range, node.name, Task(closure))


class Fork(SugaredValue):
    """Sugared value of the name `fork` in printed source."""

    kind = "fork"

    def call(
        self, em: Emitter, range: SourceRange, args: Sequence[Actual], kwargs: Kwargs, n_binders: int
    ) -> SugaredValue:
        """Emit `prim::fork` of a closure. Raise CompilationError for any other argument."""
        closure = insert_actual(em, args[0]) if args else None
        if closure is None or closure.node().kind() != "prim::Closure":
            raise CompilationError("fork requires a function that is defined before the call", range)
        return SimpleValue(calls.emit_fork_closure(em, range, closure.node()))
