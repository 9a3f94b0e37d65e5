"""Enumerations: types of enum classes, members as constants, and enum classes in expressions.

An expression (left) becomes a node (right):

    Color.RED        %1 : Enum<__torch__.Color> = prim::Constant[value=__torch__.Color.RED]()
    x.name           prim::EnumName(%x)
    x.value          prim::EnumValue(%x)
    for c in Color   a loop over the constant list of the members

The values of an enum class must be all ints, all floats or all strings.
"""

from __future__ import annotations

import re
import sys
from enum import Enum
from typing import TYPE_CHECKING, Any, Final

from ts._core.value.build_lock import build_lock
from ts.errors import CompilationError
from ts.frontend.classes import ATTRIBUTE, live_type
from ts.frontend.hints import similar
from ts.frontend.naming import qualified_name, register_live, unique_name
from ts.frontend.schema_matching import MatchedSchema, insert_operator
from ts.frontend.sugared_values.sugared import SimpleValue, SugaredValue
from ts.ir.attributes import constant_type_hooks, type_of_constant
from ts.ir.source import SourceRange
from ts.ir.types import FLOAT, INT, STR, EnumType, ListType, Type
from ts.ir.value import Value
from ts.ops import registry

if TYPE_CHECKING:
    from ts.frontend.ir_emitter.emitter import Emitter

_OVERLOADS = {INT: "int", FLOAT: "float", STR: "str"}
# Pattern of names that `enum` reserves: `mro`, `_sunder_` and `__dunder__`
_RESERVED: Final = r"mro|(__?)[^_](.*[^_])?\1"


def enum_type(cls: type[Enum], range: SourceRange | None = None) -> EnumType:
    """Return the enum type of an enum class, created once per class."""
    declared_type = cls.__dict__.get(ATTRIBUTE)
    if isinstance(declared_type, EnumType):
        return declared_type
    with build_lock():
        declared_type = cls.__dict__.get(ATTRIBUTE)
        return declared_type if isinstance(declared_type, EnumType) else _declare_enum(cls, range)


def _declare_enum(cls: type[Enum], range: SourceRange | None) -> EnumType:
    name = unique_name(qualified_name(cls))
    new_type = EnumType(name, _value_type(cls, range), _members(cls).items(), cls)
    register_live(new_type)
    setattr(cls, ATTRIBUTE, new_type)
    return new_type


def read_enum_type(name: str, members: dict[str, Any], range: SourceRange | None = None) -> EnumType:
    """Return the type of an enum that an archive defines.

    If the running program has an enum class with this name and equal members, return the type of that class.
    Otherwise, create a new Python class for the type.
    """
    existing_type = live_type(name)
    if isinstance(existing_type, EnumType) and dict(existing_type.members) == members:
        return existing_type  # share the existing class, so that members from the archive equal its members
    module, _, last = name.removeprefix("__torch__.").rpartition(".")
    imported_class = getattr(sys.modules.get(module or "__main__"), "__dict__", {}).get(last)
    if (
        existing_type is None
        and isinstance(imported_class, type)
        and issubclass(imported_class, Enum)
        and members == _members(imported_class)
    ):
        return enum_type(imported_class)
    enum_class = _class_of(members, last, module or "__main__", range)
    new_type = EnumType(name, _value_type(enum_class, range), members.items(), enum_class)
    setattr(enum_class, ATTRIBUTE, new_type)
    return new_type


def _class_of(members: dict[str, Any], name: str, module: str, range: SourceRange | None) -> type[Enum]:
    """Create an enum class with the given members. Raise CompilationError for names reserved by Python."""
    reserved = [member for member in members if re.fullmatch(_RESERVED, member)]
    if not reserved:
        create: Any = Enum  # mypyc does not support the functional syntax of `Enum`
        enum_class: Any = create(name, members, module=module)
        # `Enum` does not make a member of a private name, for example of `_Color__red` in a class `Color`.
        known = enum_class.__members__
        reserved = [member for member in members if member not in known]
    if reserved:
        raise CompilationError(f"'{reserved[0]}' cannot be the name of an enumeration's member", range)
    return enum_class  # type: ignore[no-any-return]


def _members(cls: type[Enum]) -> dict[str, Any]:
    return {name: member.value for name, member in cls.__members__.items()}


def _value_type(cls: type[Enum], range: SourceRange | None) -> Type:
    types = [type_of_constant(member.value) for member in cls]
    if not types:
        raise ValueError(f"No enum values defined for: '{cls.__class__}': {cls} has no member")
    first = types[0]
    for i, type in enumerate(types):
        if type != first:
            texts = ["None" if unequal is None else unequal.str() for unequal in (type, first)]
            raise CompilationError(
                f"Could not unify type list since element {i} of type {texts[0]} did not match the types "
                f"before it ({texts[1]}); use values of one type for all members",
                range,
            )
    if first not in _OVERLOADS:
        name = first.annotation_str if first is not None else cls.__name__
        raise CompilationError(
            f"Cannot create Enum with value type '{name}', only int, float and string are supported", range
        )
    return first


def enum_constant(em: Emitter, member: Enum, range: SourceRange) -> SimpleValue:
    """Insert an enum member as a constant."""
    return SimpleValue(em.constant(member, range, enum_type(type(member), range)))


def enum_attribute(em: Emitter, value: Value, name: str) -> SimpleValue | None:
    """Emit `value.name` or `value.value` of an enum. Return None for any other attribute."""
    type = value.type()
    assert isinstance(type, EnumType)
    result: Type
    if name == "name":
        kind, overload, result = "prim::EnumName", "", STR
    elif name == "value":
        kind, overload, result = "prim::EnumValue", _OVERLOADS[type.value_type], type.value_type
    else:
        return None
    operator = next(o for o in registry.lookup(kind) if o.schema.overload_name == overload)
    return SimpleValue(
        insert_operator(em.graph, kind, MatchedSchema([value], [result]), None, operator).output()
    )


class EnumClassValue(SugaredValue):
    """Enum class at compile time. Its attributes are its members, and loops iterate over all members."""

    kind = "EnumClass"

    def __init__(self, cls: type[Enum]) -> None:
        self.cls = cls

    def attr(self, em: Emitter, range: SourceRange, name: str) -> SugaredValue:
        """Return the member `name` as a constant. Raise CompilationError for unknown names."""
        member = self.cls.__members__.get(name)
        if member is None:
            message = f"{enum_type(self.cls, range).str()}' has no attribute '{name}'"
            raise CompilationError(message, range, similar(name, self.cls.__members__))
        return enum_constant(em, member, range)

    def iter(self, em: Emitter, range: SourceRange) -> SugaredValue:
        """Emit the list of all members as a constant."""
        type = ListType(enum_type(self.cls, range))
        return SimpleValue(em.constant(list(self.cls), range, type))

    def len(self, em: Emitter, range: SourceRange) -> Value:
        """Raise CompilationError: an enum class has no length in scripts."""
        return self.as_value(em, range)

    def getitem(self, em: Emitter, range: SourceRange, index: Value) -> SugaredValue:
        """Raise CompilationError: scripts cannot look up members by name or index."""
        return SimpleValue(self.as_value(em, range))


def _type_of_member(value: object) -> Type | None:
    return enum_type(type(value)) if isinstance(value, Enum) else None


constant_type_hooks.append(_type_of_member)
