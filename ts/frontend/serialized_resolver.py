"""Resolver of the names in printed source, that is, in `fn.code` and archives.

It evaluates types and constants without the emitter, so that the code of an archive can be loaded from the
code cache without importing the emitter:

    List[__torch__.model.Color]      a type with a class returned by `find`
    CONSTANTS.c0                     a constant of the archive
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Sequence
from math import inf, nan
from typing import TYPE_CHECKING, Any, Final

from ts.devices import device
from ts.frontend import parse
from ts.frontend.load_policy import UNRESTRICTED, LoadPolicy
from ts.frontend.parse import ParsedFunction
from ts.frontend.resolve import Resolver
from ts.ir.types import NONE, NUMBER, ClassType, EnumType, TupleType, Type

if TYPE_CHECKING:
    from ts.ir.graph import Graph

Find = Callable[[str], Any]
"""Function that resolves a name.

It returns the function, type or class called `__torch__.…`, or None for a namespace. For `^name`, it returns
a Python function.
"""

NUMBERS: Final = {"inf": inf, "nan": nan, "infj": complex(0, inf), "nanj": complex(0, nan)}
_TYPES: dict[str, Type] = {"number": NUMBER, "NoneType": NONE, "Tuple[]": TupleType([])}


def printed_defs(
    source_text: str, names: SerializedResolver, self_type: ClassType | None = None
) -> dict[str, ParsedFunction]:
    """Parse printed source, and return its definitions by name.

    If `self_type` is set, the definitions are methods of this class.
    """
    definitions = parse.module_defs(source_text, names, printed=True)
    for definition in definitions:
        definition.self_type = self_type
    return {definition.name: definition for definition in definitions}


def constant_by_name(constants: Sequence[object], name: str) -> object:
    """Return the constant called `name`, such as `c0`. Raise KeyError if unknown."""
    index = name.removeprefix("c")
    if not (index.isdecimal() and len(index) < 10 and int(index) < len(constants)):
        raise KeyError(name)
    return constants[int(index)]


class SerializedResolver(Resolver):
    """Resolver limited to the names of printed source."""

    def __init__(
        self,
        constants: Sequence[object] = (),
        find: Find | None = None,
        version: int = sys.maxsize,
        policy: LoadPolicy = UNRESTRICTED,
    ) -> None:
        """Set up the names of an archive.

        `version` is the operator version of the archive, `policy` the policy with the allowed operators.
        """
        super().__init__()
        self.policy = policy
        self.version = version
        self.find = find or (lambda name: None)
        self.constants = constants
        self._names: dict[str, object] | None = None  # sugared values of names, created at the first lookup

    def lookup(self, name: str) -> object:
        """Return the sugared value or constant of a name. Raise KeyError for unknown names."""
        # imported here, because only the emitter, which loaded code does not need, looks up sugared values
        from ts.frontend import serialized_names

        if name.startswith("^"):
            function = self.find(name)
            if function is None:
                raise KeyError(name)
            return serialized_names.PythonCall(function)
        if self._names is None:
            self._names = {**NUMBERS, **serialized_names.sugared_values(self)}
        return self._names[name]

    def admit(self, graph: Graph) -> None:
        """Raise CompilationError if the load policy forbids an operator of a compiled graph."""
        self.policy.admit(graph)

    def evaluate(self, node: ast.expr) -> object:
        """Return the type, enum member or constant that an expression denotes.

        Raise KeyError for an unknown name or an unsupported expression.
        """
        match node:
            case ast.Constant(value=value):
                return value
            case ast.Name(id=name) if name in NUMBERS:
                return NUMBERS[name]
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                operand_value = self.evaluate(operand)
                if not isinstance(operand_value, int | float | complex):
                    raise KeyError("-")
                return -operand_value
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                return tuple(map(self.evaluate, elements))
            case ast.Attribute(value=ast.Name(id="CONSTANTS"), attr=name):
                return constant_by_name(self.constants, name)
            case ast.Call(func=ast.Attribute(attr="device"), args=[ast.Constant(value=str(name))]):
                try:
                    return device(name)
                except RuntimeError:  # the device type does not exist
                    raise KeyError(name) from None
            case ast.Call(func=ast.Name(id="annotate"), args=[_, value]):
                return self.evaluate(value)
        name = ast.unparse(node)
        definition: object = _TYPES.get(name)
        if definition is None and name.startswith("__torch__."):
            definition = self.find(name)
            if definition is None:
                enum, _, member = name.rpartition(".")
                enum_type = self.find(enum)
                if isinstance(enum_type, EnumType) and enum_type.python_class is not None:
                    cls: Any = enum_type.python_class
                    definition = cls.__members__.get(member)
        if definition is None:
            raise KeyError(name)
        return definition
