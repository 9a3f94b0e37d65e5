"""Objects, enums and named tuples on their way: by the number of their type in a callee's signature.

    def join(p: Point, c: Color) -> Line           Point, Color, Line, and what their attributes are of
    signature = Signature(join.schema)
    signature.parts(Point(1, 2))                   0, [1, 2]
    signature.made(0, [1, 2])                      Point(1, 2)

Both sides have the callee, and so its types, each its own: nothing that travels names a class.
"""

from __future__ import annotations

from enum import Enum
from typing import Any

from ts._core.value.ivalue import new_object, object_get, object_set
from ts._core.value.objects import Object
from ts.bytecode.typespec import object_class
from ts.frontend.classes import ATTRIBUTE
from ts.frontend.naming import qualified_name
from ts.ir.schema import FunctionSchema
from ts.ir.types import ClassType, EnumType, TupleType, Type
from ts.runtime.objects import RecursiveScriptClass, instance_of

Nominal = ClassType | EnumType | TupleType


class Signature:
    """The types of a callee's arguments and results that have names."""

    def __init__(self, schema: FunctionSchema) -> None:
        self.types: list[Nominal] = []
        for part in (*schema.arguments, *schema.returns):
            self._note(part.type)

    def _note(self, type: Type) -> None:
        if isinstance(type, ClassType) and type.is_module():
            return  # modules stay where they are
        if isinstance(type, ClassType | EnumType) or (isinstance(type, TupleType) and type.name):
            if any(_is_same(type, known) for known in self.types):
                return
            self.types.append(type)
        inside = type.attributes.values() if isinstance(type, ClassType) else type.contained_types()
        for each in inside:
            self._note(each)

    def parts(self, x: Any) -> tuple[int, list[Any]] | None:
        """The number of a value's type, and what the value consists of; None for one of another type."""
        if isinstance(x, RecursiveScriptClass):
            x = x._c
        for number, type in enumerate(self.types):
            found = _parts(x, type)
            if found is not None:
                return number, found
        return None

    def made(self, number: Any, parts: list[Any]) -> Any:
        """The value of a type by its number; raises what says that it is none."""
        type = self.types[_index(number)]
        if isinstance(type, EnumType):
            (name,) = parts
            members: Any = type.python_class
            return members[name]
        if isinstance(type, TupleType):
            if len(parts) != len(type.elems):
                raise ValueError(f"{len(parts)} elements for a {type.name}")
            return type.python_class(*parts) if type.python_class is not None else tuple(parts)
        made = new_object(object_class(type))
        if len(parts) != len(made.cls.names):
            raise ValueError(f"{len(parts)} attributes for a {made.cls.name}")
        for slot, part in enumerate(parts):
            object_set(made, slot, part)
        return instance_of(made)


def _is_same(a: Type, b: Type) -> bool:
    """Whether two types are one: of a named tuple there may be several objects, on one side or the other."""
    return a is b or (isinstance(a, TupleType) and a == b)


def _index(number: Any) -> int:
    if type(number) is not int or number < 0:
        raise ValueError(f"no type {number!r}")
    return number


def _parts(x: Any, type: Nominal) -> list[Any] | None:
    """What a value of a type consists of; None for one of another type."""
    if isinstance(type, EnumType):
        return [x.name] if isinstance(x, Enum) and x.__class__ is type.python_class else None
    if isinstance(type, TupleType):
        return [*x] if _is_named_tuple(x, type) else None
    if isinstance(x, Object):
        return [object_get(x, slot) for slot in range(len(x.cls.names))] if x.cls.type is type else None
    return [getattr(x, name) for name in type.attributes] if _is_of(x.__class__, type) else None


def _is_of(cls: Any, type: ClassType) -> bool:
    """Whether a class of Python is a type's; that of a type that was read from an archive has its name."""
    if type.python_class is not None:
        return cls is type.python_class
    own = vars(cls).get(ATTRIBUTE)  # several classes of one name have types of different ones
    name = own.qualified_name() if isinstance(own, ClassType) else qualified_name(cls)
    return name == type.qualified_name()


def _is_named_tuple(x: Any, type: TupleType) -> bool:
    fields = getattr(x, "_fields", None)
    name = (type.name or "").rpartition(".")[2]
    return isinstance(x, tuple) and fields == tuple(type.fields or ()) and x.__class__.__name__ == name
