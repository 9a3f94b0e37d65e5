"""Types without arguments, each with one instance (`INT`, `STR`, ...), and type variables."""

from __future__ import annotations

from ts.ir.types.base import Type


class AnyType(Type):
    __slots__ = ()
    _spelling = "Any"

    def can_hold(self, other: Type) -> bool:
        return True


class NumberType(Type):
    """Type ``Scalar`` of schemas: an int, float or complex."""

    __slots__ = ()
    mutable = False
    _spelling, _annotation = "Scalar", "number"


class NumericType(Type):
    """Base class of number types, which are subtypes of ``Scalar``."""

    __slots__ = ()
    mutable = False

    def is_subtype_of(self, other: Type) -> bool:
        return other is self or isinstance(other, NumberType) or super().is_subtype_of(other)

    isSubtypeOf = is_subtype_of


class IntType(NumericType):
    __slots__ = ()
    _spelling = "int"


class FloatType(NumericType):
    __slots__ = ()
    _spelling = "float"


class ComplexType(NumericType):
    __slots__ = ()
    _spelling = "complex"


class BoolType(Type):
    __slots__ = ()
    mutable = False
    _spelling = "bool"


class StringType(Type):
    __slots__ = ()
    mutable = False
    _spelling = "str"


class NoneType(Type):
    __slots__ = ()
    mutable = False


class DeviceObjType(Type):
    __slots__ = ()
    mutable = False
    _spelling = "Device"


class StreamObjType(Type):
    __slots__ = ()
    mutable = False
    _spelling = "Stream"


class GeneratorType(Type):
    __slots__ = ()
    _spelling = "Generator"


class StorageType(Type):
    __slots__ = ()
    _spelling = "Storage"


class QuantizerType(Type):
    __slots__ = ()
    _spelling = "Quantizer"


class QSchemeType(Type):
    __slots__ = ()
    _spelling = "QScheme"


class CapsuleType(Type):
    __slots__ = ()
    _spelling = "Capsule"


class PyObjectType(Type):
    __slots__ = ()
    _spelling = "PyObject"


class ScalarTypeType(Type):
    """Type spelled ``ScalarType`` in schemas; values are ints."""

    __slots__ = ()
    mutable = False
    _spelling, _annotation = "ScalarType", "int"


class LayoutType(Type):
    """Type spelled ``Layout`` in schemas; values are ints."""

    __slots__ = ()
    mutable = False
    _spelling, _annotation = "Layout", "int"


class MemoryFormatType(Type):
    """Type spelled ``MemoryFormat`` in schemas; values are ints."""

    __slots__ = ()
    mutable = False
    _spelling, _annotation = "MemoryFormat", "int"


class SymIntType(Type):
    __slots__ = ()
    mutable = False
    _spelling, _annotation = "SymInt", "int"


class SymFloatType(Type):
    __slots__ = ()
    mutable = False
    _spelling, _annotation = "SymFloat", "float"


class SymBoolType(Type):
    __slots__ = ()
    mutable = False
    _spelling, _annotation = "SymBool", "bool"


class AnyListType(Type):
    __slots__ = ()
    _spelling = "list"


class AnyTupleType(Type):
    __slots__ = ()
    _spelling = "tuple"


class AnyClassType(Type):
    __slots__ = ()


class AnyEnumType(Type):
    __slots__ = ()


class VarType(Type):
    """Type variable of a schema, such as ``t`` in ``aten::append.t(t[](a!) self, t(c -> *) el)``."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def _key(self) -> tuple[object, ...]:
        return (self.name,)

    def _spell(self) -> str:
        return self.name

    def has_free_variables(self) -> bool:
        return True


ANY = AnyType.get()
BOOL = BoolType.get()
COMPLEX = ComplexType.get()
DEVICE = DeviceObjType.get()
FLOAT = FloatType.get()
GENERATOR = GeneratorType.get()
INT = IntType.get()
NONE = NoneType.get()
NUMBER = NumberType.get()
STR = StringType.get()
