"""Serialization of script objects, enums and named tuples, whose types are sent as indices in a signature.

A signature contains the types in the schema of a function, and the types of their attributes. The signature
in the example contains Point, Color and Line:

    def join(p: Point, c: Color) -> Line: ...
    signature = Signature(join.schema)
    signature.components(Point(1, 2))                   (0, [1, 2])
    signature.build(0, [1, 2])                          Point(1, 2)

Caller and callee both know the signature of the called function, so messages contain no class names.
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
    """Class, enum and named tuple types of a callee's arguments and results, and of their attributes."""

    def __init__(self, schema: FunctionSchema) -> None:
        self.types: list[Nominal] = []
        for argument in (*schema.arguments, *schema.returns):
            self._add_type(argument.type)

    def _add_type(self, type: Type) -> None:
        if isinstance(type, ClassType) and type.is_module():
            return  # modules are not added, because they cannot be sent
        if isinstance(type, ClassType | EnumType) or (isinstance(type, TupleType) and type.name):
            if any(_is_same(type, other) for other in self.types):
                return
            self.types.append(type)
        inside = type.attributes.values() if isinstance(type, ClassType) else type.contained_types()
        for each in inside:
            self._add_type(each)

    def components(self, x: Any) -> tuple[int, list[Any]] | None:
        """Return the index of the type of `x` and the components of `x`.

        Return None if the signature lacks the type.
        """
        if isinstance(x, RecursiveScriptClass):
            x = x._c
        for type_index, type in enumerate(self.types):
            components = _decompose(x, type)
            if components is not None:
                return type_index, components
        return None

    def build(self, type_index: Any, components: list[Any]) -> Any:
        """Build a value of the type with index `type_index` from its components.

        Raise ValueError, KeyError or IndexError if the index or the components do not fit the signature.
        """
        type = self.types[_check_index(type_index)]
        if isinstance(type, EnumType):
            (name,) = components
            members: Any = type.python_class
            return members[name]
        if isinstance(type, TupleType):
            if len(components) != len(type.elems):
                raise ValueError(
                    f"expected {len(type.elems)} elements for {type.name}, got {len(components)}"
                )
            return type.python_class(*components) if type.python_class is not None else tuple(components)
        instance = new_object(object_class(type))
        if len(components) != len(instance.cls.names):
            raise ValueError(
                f"expected {len(instance.cls.names)} attributes for {instance.cls.name}, got "
                f"{len(components)}"
            )
        for slot, component in enumerate(components):
            object_set(instance, slot, component)
        return instance_of(instance)


def _is_same(a: Type, b: Type) -> bool:
    """Return True if two types are the same. Equal types of named tuples may be different objects."""
    return a is b or (isinstance(a, TupleType) and a == b)


def _check_index(type_index: Any) -> int:
    if type(type_index) is not int or type_index < 0:
        raise ValueError(f"expected the index of a type, got {type_index!r}")
    return type_index


def _decompose(x: Any, type: Nominal) -> list[Any] | None:
    """Return the components of `x` if it is a value of `type`, else None."""
    if isinstance(type, EnumType):
        return [x.name] if isinstance(x, Enum) and x.__class__ is type.python_class else None
    if isinstance(type, TupleType):
        return [*x] if _is_named_tuple(x, type) else None
    if isinstance(x, Object):
        return [object_get(x, slot) for slot in range(len(x.cls.names))] if x.cls.type is type else None
    return [getattr(x, name) for name in type.attributes] if _is_class_of(x.__class__, type) else None


def _is_class_of(cls: Any, type: ClassType) -> bool:
    """Return True if `cls` is the Python class of `type`.

    If `type` was read from an archive, it has no Python class, so the class names are compared.
    """
    if type.python_class is not None:
        return cls is type.python_class
    # Compare by the name of the script type if the class has one: several classes may have the same name, but
    # script types have distinct names.
    script_type = vars(cls).get(ATTRIBUTE)
    name = script_type.qualified_name() if isinstance(script_type, ClassType) else qualified_name(cls)
    return name == type.qualified_name()


def _is_named_tuple(x: Any, type: TupleType) -> bool:
    fields = getattr(x, "_fields", None)
    name = (type.name or "").rpartition(".")[2]
    return isinstance(x, tuple) and fields == tuple(type.fields or ()) and x.__class__.__name__ == name
