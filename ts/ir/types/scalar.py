"""Types without arguments, each with one instance (`INT`, `STR`, ...), and type variables."""

from __future__ import annotations

from ts.ir.types.base import Type


class AnyType(Type):
    """Type of any value. Every type is a subtype of it."""

    __slots__ = ()
    _spelling = "Any"

    def can_hold(self, other: Type) -> bool:
        """Return True for every type."""
        return True


class NumberType(Type):
    """Type ``Scalar`` of schemas: an int, float or complex."""

    __slots__ = ()
    mutable = False
    _spelling = "Scalar"
    _annotation = "number"


class NumericType(Type):
    """Base class of number types, which are subtypes of ``Scalar``."""

    __slots__ = ()
    mutable = False

    def is_subtype_of(self, other: Type) -> bool:
        """Return True if `other` is this type, ``Scalar``, or another supertype, such as an optional type."""
        return other is self or isinstance(other, NumberType) or super().is_subtype_of(other)

    isSubtypeOf = is_subtype_of


class IntType(NumericType):
    """Type of 64-bit signed integers."""

    __slots__ = ()
    _spelling = "int"


class FloatType(NumericType):
    """Type of floats, which have double precision."""

    __slots__ = ()
    _spelling = "float"


class ComplexType(NumericType):
    """Type of complex numbers, which consist of two floats of double precision."""

    __slots__ = ()
    _spelling = "complex"


class BoolType(Type):
    """Type of booleans. Unlike Python's `bool`, which is an int, it is not a ``Scalar``."""

    __slots__ = ()
    mutable = False
    _spelling = "bool"


class StringType(Type):
    """Type of strings, which are immutable."""

    __slots__ = ()
    mutable = False
    _spelling = "str"


class NoneType(Type):
    """Type of None, a subtype of every optional type."""

    __slots__ = ()
    mutable = False


class DeviceObjType(Type):
    """Type of devices such as ``cuda:0``, spelled ``Device`` in schemas."""

    __slots__ = ()
    mutable = False
    _spelling = "Device"


class StreamObjType(Type):
    """Type of CUDA streams, spelled ``Stream`` in schemas."""

    __slots__ = ()
    mutable = False
    _spelling = "Stream"


class GeneratorType(Type):
    """Type of random generators, which are mutable because their state advances."""

    __slots__ = ()
    _spelling = "Generator"


class StorageType(Type):
    """Type of storages, the memory of tensors."""

    __slots__ = ()
    _spelling = "Storage"


class QuantizerType(Type):
    """Type of the quantization parameters of a tensor."""

    __slots__ = ()
    _spelling = "Quantizer"


class QSchemeType(Type):
    """Type of quantization schemes, such as per-tensor affine."""

    __slots__ = ()
    _spelling = "QScheme"


class CapsuleType(Type):
    """Type of opaque C++ objects, which operators of `torch.classes` use."""

    __slots__ = ()
    _spelling = "Capsule"


class PyObjectType(Type):
    """Type of Python objects that a script passes on without using them."""

    __slots__ = ()
    _spelling = "PyObject"


class ScalarTypeType(Type):
    """Type spelled ``ScalarType`` in schemas. Values are ints."""

    __slots__ = ()
    mutable = False
    _spelling = "ScalarType"
    _annotation = "int"


class LayoutType(Type):
    """Type spelled ``Layout`` in schemas. Values are ints."""

    __slots__ = ()
    mutable = False
    _spelling = "Layout"
    _annotation = "int"


class MemoryFormatType(Type):
    """Type spelled ``MemoryFormat`` in schemas. Values are ints."""

    __slots__ = ()
    mutable = False
    _spelling = "MemoryFormat"
    _annotation = "int"


class SymIntType(Type):
    """Type of symbolic sizes, which are ints in compiled code."""

    __slots__ = ()
    mutable = False
    _spelling = "SymInt"
    _annotation = "int"


class SymFloatType(Type):
    """Type of symbolic floats, which are plain floats in compiled code."""

    __slots__ = ()
    mutable = False
    _spelling = "SymFloat"
    _annotation = "float"


class SymBoolType(Type):
    """Type of symbolic conditions, which are bools in compiled code."""

    __slots__ = ()
    mutable = False
    _spelling = "SymBool"
    _annotation = "bool"


class AnyListType(Type):
    """Type of lists with any element type, spelled ``list`` in `isinstance`."""

    __slots__ = ()
    _spelling = "list"


class AnyTupleType(Type):
    """Type of tuples with any element types, spelled ``tuple`` in `isinstance`."""

    __slots__ = ()
    _spelling = "tuple"


class AnyClassType(Type):
    """Supertype of all script classes."""

    __slots__ = ()


class AnyEnumType(Type):
    """Supertype of all enumerations."""

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
        """Return True: the type is itself a variable."""
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
