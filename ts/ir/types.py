"""The types of the language: spelling, equality, subtyping, unification and type variables.

A type is an immutable value, equal to any other type of the same structure. It has two spellings, both
PyTorch's: ``str(type)`` is the one of graphs and schemas, ``type.annotation_str`` that of annotations::

    >>> t = DictType(STR, ListType(OptionalType(INT)))
    >>> str(t), t.annotation_str
    ('Dict(str, int?[])', 'Dict[str, List[Optional[int]]]')
    >>> t.isSubtypeOf(ANY), unify(INT, NONE) == OptionalType(INT)
    (True, True)

Type variables (`VarType`) stand in schemas only: `match_type_variables` binds them to the types of a call's
arguments and `substitute` puts the bindings in.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, Self, cast

_Str = str  # inside `Type`, `str` is a method

_KINDS = """
    Any Enum AnyEnum Tensor Storage Tuple List Dict Number Float Complex Future Await RRef Int None String
    Generator Quantizer Bool Optional Var DeviceObj StreamObj Function Class PyObject Capsule Interface
    QScheme ScalarType Layout MemoryFormat AnyList AnyTuple AnyClass SymInt SymFloat SymBool Union"""
# The members of a union are sorted in this order, which is PyTorch's.
_KIND_ORDER = {f"{kind}Type": index for index, kind in enumerate(_KINDS.split())}

_SCALAR_TYPES = """
    Byte Char Short Int Long Half Float Double ComplexHalf ComplexFloat ComplexDouble Bool QInt8 QUInt8 QInt32
    BFloat16 QUInt4x2 QUInt2x4 Bits1x8 Bits2x4 Bits4x2 Bits8 Bits16 Float8_e5m2 Float8_e4m3fn Float8_e5m2fnuz
    Float8_e4m3fnuz UInt16 UInt32 UInt64"""
SCALAR_TYPE_NAMES = _SCALAR_TYPES.split()
"""Names of PyTorch's scalar types, by number: what a refined tensor type prints (``Float(2, 3)``)."""


class Type:
    """Base of all types. A subclass without arguments has one instance, which its `get` returns."""

    __slots__ = ("_hash", "_text")
    _hash: int
    _text: _Str
    _kind: ClassVar[_Str] = "Type"
    _spelling: ClassVar[_Str] = ""
    _annotation: ClassVar[_Str] = ""
    _instance: ClassVar[Type | None] = None

    def __init_subclass__(cls) -> None:
        cls._kind = cls.__name__
        cls._instance = None

    @classmethod
    def get(cls) -> Self:
        """The one instance of a type without arguments."""
        instance = cls.__dict__.get("_instance")
        if instance is None:
            instance = cls._instance = cls()
        return cast(Self, instance)

    def kind(self) -> _Str:
        """The class's name in PyTorch: ``ListType``."""
        return self._kind

    def _key(self) -> tuple[object, ...]:
        """What, besides the class, makes two types equal."""
        return ()

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return type(self) is type(other) and self._key() == other._key()

    def __hash__(self) -> int:
        try:
            return self._hash
        except AttributeError:
            self._hash = hash((self._kind, *self._key()))
            return self._hash

    def __str__(self) -> _Str:
        try:
            return self._text
        except AttributeError:
            self._text = self._spell()
            return self._text

    def __repr__(self) -> _Str:
        return self.annotation_str

    def _spell(self) -> _Str:
        return self._spelling or self._kind

    def str(self) -> _Str:
        """The graph spelling, like ``str(type)``."""
        return self.__str__()

    @property
    def annotation_str(self) -> _Str:
        """The spelling of Python annotations: ``List[int]``."""
        return self._annotation or self._spell()

    @property
    def annotation_string(self) -> _Str:
        return self.annotation_str

    def contained_types(self) -> tuple[Type, ...]:
        """The types that this one is made of."""
        return ()

    def with_contained(self, types: Sequence[Type]) -> Type:
        """The same type made of other `types`, in the order of `contained_types`."""
        return self

    def has_free_variables(self) -> bool:
        """Whether a type variable occurs."""
        return any(t.has_free_variables() for t in self.contained_types())

    def is_subtype_of(self, other: Type) -> bool:
        """Whether a value of this type may stand where `other` is asked for."""
        if self is other or isinstance(other, AnyType) or self == other:
            return True
        if isinstance(other, OptionalType):
            return self.is_subtype_of(other.elem)
        if isinstance(other, UnionType):
            return any(self.is_subtype_of(t) for t in other.types)
        return False

    isSubtypeOf = is_subtype_of

    def containedTypes(self) -> list[Type]:
        return list(self.contained_types())

    def is_interface_type(self) -> bool:
        return isinstance(self, InterfaceType)

    def is_module(self) -> bool:
        """Whether values are modules."""
        return False


# --- types without arguments ------------------------------------------------------------------------


class AnyType(Type):
    __slots__ = ()
    _spelling = "Any"


class NumberType(Type):
    """``Scalar`` of schemas: an int, a float or a complex."""

    __slots__ = ()
    _spelling, _annotation = "Scalar", "number"

    def is_subtype_of(self, other: Type) -> bool:
        if isinstance(other, UnionType):
            return other.can_hold(self)
        return super().is_subtype_of(other)

    isSubtypeOf = is_subtype_of


class _Numeric(Type):
    __slots__ = ()

    def is_subtype_of(self, other: Type) -> bool:
        return isinstance(other, NumberType) or super().is_subtype_of(other)

    isSubtypeOf = is_subtype_of


class IntType(_Numeric):
    __slots__ = ()
    _spelling = "int"


class FloatType(_Numeric):
    __slots__ = ()
    _spelling = "float"


class ComplexType(_Numeric):
    __slots__ = ()
    _spelling = "complex"


class BoolType(Type):
    __slots__ = ()
    _spelling = "bool"


class StringType(Type):
    __slots__ = ()
    _spelling = "str"


class NoneType(Type):
    __slots__ = ()

    def is_subtype_of(self, other: Type) -> bool:
        return isinstance(other, OptionalType) or super().is_subtype_of(other)

    isSubtypeOf = is_subtype_of


class DeviceObjType(Type):
    __slots__ = ()
    _spelling = "Device"


class StreamObjType(Type):
    __slots__ = ()
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
    """What a schema calls ``ScalarType``; values are ints."""

    __slots__ = ()
    _spelling, _annotation = "ScalarType", "int"


class LayoutType(Type):
    """What a schema calls ``Layout``; values are ints."""

    __slots__ = ()
    _spelling, _annotation = "Layout", "int"


class MemoryFormatType(Type):
    """What a schema calls ``MemoryFormat``; values are ints."""

    __slots__ = ()
    _spelling, _annotation = "MemoryFormat", "int"


class SymIntType(Type):
    __slots__ = ()
    _spelling, _annotation = "SymInt", "int"


class SymFloatType(Type):
    __slots__ = ()
    _spelling, _annotation = "SymFloat", "float"


class SymBoolType(Type):
    __slots__ = ()
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
    """A type variable of a schema, such as ``t`` in ``aten::append.t(t[](a!) self, t(c -> *) el)``."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def _key(self) -> tuple[object, ...]:
        return (self.name,)

    def _spell(self) -> str:
        return self.name

    def has_free_variables(self) -> bool:
        return True


# --- tensors ----------------------------------------------------------------------------------------


class TensorType(Type):
    """A tensor, of which more or less may be known: ``Tensor``, ``Float(2, *, requires_grad=0, device=cpu)``.

    `scalar_type` is the dtype's number in `SCALAR_TYPE_NAMES`; a size or stride that is not known is None.
    `inferred` marks a parameter that has no annotation: the same type, but error messages say so.
    """

    __slots__ = ("_device", "_requires_grad", "_sizes", "_strides", "inferred", "scalar_type", "undefined_")
    _annotation = "Tensor"

    def __init__(
        self,
        scalar_type: int | None = None,
        sizes: Iterable[int | None] | None = None,
        strides: Iterable[int | None] | None = None,
        device: str | None = None,
        requires_grad: bool | None = None,
        undefined: bool | None = None,
        inferred: bool = False,
    ) -> None:
        self.scalar_type = scalar_type
        self._sizes = None if sizes is None else tuple(sizes)
        self._strides = None if strides is None else tuple(strides)
        self._device = device
        self._requires_grad = requires_grad
        self.undefined_ = undefined
        self.inferred = inferred

    @classmethod
    def get_inferred(cls) -> TensorType:
        """The type of a parameter without annotation."""
        return _INFERRED_TENSOR

    getInferred = get_inferred

    def _key(self) -> tuple[object, ...]:
        return (
            self.scalar_type,
            self._sizes,
            self._strides,
            self._device,
            self._requires_grad,
            self.undefined_,
        )

    def is_refined(self) -> bool:
        """Whether anything is known beyond being a tensor."""
        return self._key() != _NOTHING_KNOWN

    def _spell(self) -> str:
        sizes, strides = self._sizes, self._strides
        text = "Tensor"
        if self.scalar_type is not None:
            text = SCALAR_TYPE_NAMES[self.scalar_type] + ("Tensor" if sizes is None else "")
        facts = []
        if sizes is not None:
            facts = ["*" if size is None else f"{size}" for size in sizes]
            if sizes and strides is not None and len(strides) == len(sizes) and None not in strides:
                facts.append(f"strides=[{', '.join(map(repr, strides))}]")
        if self._requires_grad is not None:
            facts.append(f"requires_grad={int(self._requires_grad)}")
        if self._device is not None:
            facts.append(f"device={self._device}")
        if facts or sizes is not None:
            text += f"({', '.join(facts)})"
        return text + "[Undefined]" if self.undefined_ else text

    def is_subtype_of(self, other: Type) -> bool:
        if self is other:
            return True
        if isinstance(other, TensorType):
            return other is TENSOR or self.merge(other) == other
        return super().is_subtype_of(other)

    isSubtypeOf = is_subtype_of

    def merge(self, other: TensorType) -> TensorType:
        """What is known of a tensor that may be of either type."""
        return TensorType(
            _same(self.scalar_type, other.scalar_type),
            _same_each(self._sizes, other._sizes),
            _same_each(self._strides, other._strides),
            _same(self._device, other._device),
            _same(self._requires_grad, other._requires_grad),
            _same(self.undefined_, other.undefined_),
        )

    def with_(self, **facts: Any) -> TensorType:
        """A copy with some of `__init__`'s arguments changed."""
        known: dict[str, Any] = {
            "scalar_type": self.scalar_type,
            "sizes": self._sizes,
            "strides": self._strides,
            "device": self._device,
            "requires_grad": self._requires_grad,
            "undefined": self.undefined_,
        }
        return TensorType(**{**known, **facts})

    def with_sizes(self, sizes: Iterable[int | None] | None) -> TensorType:
        return self.with_(sizes=sizes)

    def with_device(self, device: object) -> TensorType:
        return self.with_(device=str(device))

    def dim(self) -> int | None:
        """The number of dimensions, where known."""
        return None if self._sizes is None else len(self._sizes)

    def sizes(self) -> list[int] | None:
        """The sizes, where all are known."""
        return _complete(self._sizes)

    def varyingSizes(self) -> list[int | None] | None:
        """The sizes with None for those not known; None where not even their number is known."""
        return None if self._sizes is None else list(self._sizes)

    def strides(self) -> list[int] | None:
        """The strides, where all are known."""
        return _complete(self._strides)

    def device(self) -> str | None:
        return self._device

    def requires_grad(self) -> bool:
        return self._requires_grad is not False

    def undefined(self) -> bool | None:
        return self.undefined_

    def scalarType(self) -> str | None:
        return None if self.scalar_type is None else SCALAR_TYPE_NAMES[self.scalar_type]


def _same(a: Any, b: Any) -> Any:
    return a if a == b else None


def _same_each(
    a: tuple[int | None, ...] | None, b: tuple[int | None, ...] | None
) -> tuple[int | None, ...] | None:
    if a is None or b is None or len(a) != len(b):
        return None
    return tuple(x if x == y else None for x, y in zip(a, b, strict=True))


def _complete(numbers: tuple[int | None, ...] | None) -> list[int] | None:
    if numbers is None or None in numbers:
        return None
    return cast("list[int]", list(numbers))


# --- containers -------------------------------------------------------------------------------------


class _ElementType(Type):
    """A type made of one other type."""

    __slots__ = ("elem",)

    def __init__(self, elem: Type) -> None:
        self.elem = elem

    def _key(self) -> tuple[object, ...]:
        return (self.elem,)

    def contained_types(self) -> tuple[Type, ...]:
        return (self.elem,)

    def with_contained(self, types: Sequence[Type]) -> Type:
        return type(self)(types[0])

    def getElementType(self) -> Type:
        return self.elem


class ListType(_ElementType):
    """``int[]``. Lists can be written to, so the element type is invariant."""

    __slots__ = ()

    def _spell(self) -> str:
        return f"{self.elem}[]"

    @property
    def annotation_str(self) -> str:
        return f"List[{self.elem.annotation_str}]"

    def is_subtype_of(self, other: Type) -> bool:
        return isinstance(other, AnyListType) or super().is_subtype_of(other)

    isSubtypeOf = is_subtype_of

    @staticmethod
    def ofInts() -> ListType:
        return ListType(INT)

    @staticmethod
    def ofFloats() -> ListType:
        return ListType(FLOAT)

    @staticmethod
    def ofComplexDoubles() -> ListType:
        return ListType(COMPLEX)

    @staticmethod
    def ofBools() -> ListType:
        return ListType(BOOL)

    @staticmethod
    def ofStrings() -> ListType:
        return ListType(STR)

    @staticmethod
    def ofTensors() -> ListType:
        return ListType(TENSOR)


class _CovariantType(_ElementType):
    __slots__ = ()

    def is_subtype_of(self, other: Type) -> bool:
        if type(other) is type(self) and self.elem.is_subtype_of(cast(_ElementType, other).elem):
            return True
        return super().is_subtype_of(other)

    isSubtypeOf = is_subtype_of

    @property
    def annotation_str(self) -> str:
        return f"{self._kind[:-4]}[{self.elem.annotation_str}]"


class FutureType(_CovariantType):
    __slots__ = ()

    def _spell(self) -> str:
        return f"Future[{self.elem}]"


class RRefType(_ElementType):
    """A value on another process. Invariant."""

    __slots__ = ()

    def _spell(self) -> str:
        return f"RRef[{self.elem}]"

    @property
    def annotation_str(self) -> str:
        return f"RRef[{self.elem.annotation_str}]"


class AwaitType(_CovariantType):
    __slots__ = ()

    def _spell(self) -> str:
        return f"Await({self.elem})"


class DictType(Type):
    """``Dict(str, Tensor)``. Invariant in both types."""

    __slots__ = ("key", "value")

    def __init__(self, key: Type, value: Type) -> None:
        self.key = key
        self.value = value

    def _key(self) -> tuple[object, ...]:
        return (self.key, self.value)

    def _spell(self) -> str:
        return f"Dict({self.key}, {self.value})"

    @property
    def annotation_str(self) -> str:
        return f"Dict[{self.key.annotation_str}, {self.value.annotation_str}]"

    def contained_types(self) -> tuple[Type, ...]:
        return (self.key, self.value)

    def with_contained(self, types: Sequence[Type]) -> Type:
        return DictType(types[0], types[1])

    def getKeyType(self) -> Type:
        return self.key

    def getValueType(self) -> Type:
        return self.value


class TupleType(Type):
    """``(int, Tensor)``; with `name` and `fields` a named tuple, which is also a plain one. Covariant."""

    __slots__ = ("defaults", "elems", "fields", "name")

    def __init__(
        self,
        elems: Iterable[Type],
        name: str | None = None,
        fields: Iterable[str] | None = None,
        defaults: Mapping[str, object] | None = None,
    ) -> None:
        self.elems = tuple(elems)
        self.name = name
        self.fields = None if fields is None else tuple(fields)
        self.defaults: dict[str, object] = dict(defaults or {})

    def _key(self) -> tuple[object, ...]:
        return (self.elems, self.fields, self.name)

    def _spell(self) -> str:
        if self.fields is not None:
            pairs = zip(self.fields, self.elems, strict=True)
            return f"NamedTuple({', '.join(f'{name} : {elem}' for name, elem in pairs)})"
        return f"({', '.join(map(str, self.elems))})"

    @property
    def annotation_str(self) -> str:
        if self.fields is not None and self.name is not None:
            return self.name
        return f"Tuple[{', '.join(t.annotation_str for t in self.elems) or '()'}]"

    def contained_types(self) -> tuple[Type, ...]:
        return self.elems

    def with_contained(self, types: Sequence[Type]) -> Type:
        return TupleType(types, self.name, self.fields, self.defaults)

    def elements(self) -> list[Type]:
        return list(self.elems)

    def is_subtype_of(self, other: Type) -> bool:
        if isinstance(other, AnyTupleType) or super().is_subtype_of(other):
            return True
        if not isinstance(other, TupleType) or len(self.elems) != len(other.elems):
            return False
        if other.fields is not None and other.fields != self.fields:
            return False
        return all(a.is_subtype_of(b) for a, b in zip(self.elems, other.elems, strict=True))

    isSubtypeOf = is_subtype_of


class OptionalType(_ElementType):
    """``int?``: a value or None. The optional of an optional, or of None, is itself."""

    __slots__ = ()

    def __new__(cls, elem: Type) -> OptionalType:
        if isinstance(elem, OptionalType):
            return elem
        return super().__new__(cls)

    def __init__(self, elem: Type) -> None:
        if elem is not self:
            super().__init__(elem)

    def _spell(self) -> str:
        return f"{self.elem}?"

    @property
    def annotation_str(self) -> str:
        return f"Optional[{self.elem.annotation_str}]"

    def is_subtype_of(self, other: Type) -> bool:
        if isinstance(other, OptionalType):
            return self.elem.is_subtype_of(other.elem)
        if isinstance(other, UnionType):
            return other.can_hold(NONE) and other.can_hold(self.elem)
        return isinstance(other, AnyType)

    isSubtypeOf = is_subtype_of

    @staticmethod
    def ofTensor() -> OptionalType:
        return OptionalType(TENSOR)


class UnionType(Type):
    """``Union(int, str)``. Members that unify are merged; a union of one type and None is an optional."""

    __slots__ = ("types",)
    types: tuple[Type, ...]

    def __new__(cls, types: Iterable[Type]) -> UnionType:
        members = _union_members(types)
        rest = [t for t in members if t != NONE]
        if len(members) == 2 and len(rest) == 1:
            return OptionalType(rest[0])  # type: ignore[return-value]
        if len(members) == 1 and not isinstance(members[0], NumberType):
            return members[0]  # type: ignore[return-value]
        self = super().__new__(cls)
        self.types = tuple(members)
        return self

    def _key(self) -> tuple[object, ...]:
        return (self.types,)

    def _spell(self) -> str:
        return f"Union({', '.join(map(str, self.types))})"

    @property
    def annotation_str(self) -> str:
        return f"Union[{', '.join(t.annotation_str for t in self.types)}]"

    def contained_types(self) -> tuple[Type, ...]:
        return self.types

    def with_contained(self, types: Sequence[Type]) -> Type:
        return UnionType(types)

    def can_hold(self, other: Type) -> bool:
        """Whether a value of type `other` is a value of this one."""
        if isinstance(other, NumberType):
            return other in self.types or all(t in self.types for t in (INT, FLOAT, COMPLEX))
        return any(other.is_subtype_of(t) for t in self.types)

    def is_subtype_of(self, other: Type) -> bool:
        if isinstance(other, UnionType):
            targets = other.types
        elif isinstance(other, OptionalType):
            targets = (other.elem, NONE)
        else:
            targets = (other,)
        return all(any(t.is_subtype_of(target) for target in targets) for t in self.types)

    isSubtypeOf = is_subtype_of


def _union_members(types: Iterable[Type]) -> list[Type]:
    """The members of a union of `types`: flat, merged where two unify, in PyTorch's order."""
    flat: list[Type] = []
    for t in types:
        if isinstance(t, UnionType):
            flat.extend(t.types)
        elif isinstance(t, OptionalType):
            flat.extend((t.elem, NONE))
        else:
            flat.append(t)
    members: list[Type] = []
    for t in flat:
        for i, member in enumerate(members):
            if (member == NONE) != (t == NONE):
                continue
            merged = unify(member, t)
            if merged is not None:
                members[i] = merged
                break
        else:
            members.append(t)
    if all(t in members for t in (INT, FLOAT, COMPLEX)):
        members = [NUMBER, *(t for t in members if not isinstance(t, _Numeric))]
    members.sort(key=lambda t: (_KIND_ORDER.get(t.kind(), 0), str(t)))
    return members


# --- types with a name ------------------------------------------------------------------------------


class _NamedType(Type):
    """A type that is equal only to the type of the same name that was declared by the same declaration."""

    __slots__ = ("qualified_name_",)

    def __init__(self, qualified_name: str) -> None:
        self.qualified_name_ = qualified_name

    def _key(self) -> tuple[object, ...]:
        return (self.qualified_name_,)

    def _spell(self) -> str:
        return self.qualified_name_

    def qualified_name(self) -> str:
        return self.qualified_name_

    def name(self) -> str:
        """The last part of the qualified name."""
        return self.qualified_name_.rpartition(".")[2]


class ClassType(_NamedType):
    """A script class: `attributes` in declaration order, `methods` by name, `constants` of the class body."""

    __slots__ = ("attributes", "constants", "methods")

    def __init__(
        self,
        qualified_name: str,
        attributes: Mapping[str, Type] | None = None,
        methods: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(qualified_name)
        self.attributes: dict[str, Type] = dict(attributes or {})
        self.methods: dict[str, Any] = dict(methods or {})
        self.constants: dict[str, object] = {}

    def is_subtype_of(self, other: Type) -> bool:
        if isinstance(other, AnyClassType):
            return True
        if isinstance(other, InterfaceType):
            return other.is_implemented_by(self)
        return super().is_subtype_of(other)

    isSubtypeOf = is_subtype_of

    def method_names(self) -> list[str]:
        return list(self.methods)


class ModuleType(ClassType):
    """The type of one module instance: its submodules, parameters and attributes are `attributes`."""

    __slots__ = ()

    def kind(self) -> str:
        return "ClassType"

    def is_module(self) -> bool:
        return True


class InterfaceType(_NamedType):
    """Method signatures (`ts.ir.schema.FunctionSchema`) that a class must have to be used as this type."""

    __slots__ = ("is_module_interface", "methods")

    def __init__(
        self, qualified_name: str, methods: Mapping[str, Any] | None = None, is_module_interface: bool = False
    ) -> None:
        super().__init__(qualified_name)
        self.methods: dict[str, Any] = dict(methods or {})
        self.is_module_interface = is_module_interface

    def is_module(self) -> bool:
        return self.is_module_interface

    def getMethod(self, name: str) -> Any:
        return self.methods.get(name)

    def getMethodNames(self) -> list[str]:
        return list(self.methods)

    def is_implemented_by(self, other: ClassType | InterfaceType) -> bool:
        """Whether every method here has one of a compatible signature in `other`."""
        if self.is_module_interface and not other.is_module():
            return False
        for name, wanted in self.methods.items():
            found = other.methods.get(name)
            found = getattr(found, "schema", found)
            if found is None or not found.is_subtype_of(wanted, as_method=True):
                return False
        return True

    def is_subtype_of(self, other: Type) -> bool:
        if isinstance(other, InterfaceType) and other.is_implemented_by(self):
            return True
        return super().is_subtype_of(other)

    isSubtypeOf = is_subtype_of


class EnumType(_NamedType):
    """An enumeration: the type of its values, and (name, value) of every member."""

    __slots__ = ("members", "value_type")

    def __init__(
        self, qualified_name: str, value_type: Type, enum_names_values: Iterable[tuple[str, object]] = ()
    ) -> None:
        super().__init__(qualified_name)
        self.value_type = value_type
        self.members = tuple(enum_names_values)

    def _spell(self) -> str:
        return f"Enum<{self.qualified_name_}>"

    @property
    def annotation_str(self) -> str:
        return self.qualified_name_

    def getValueType(self) -> Type:
        return self.value_type

    def is_subtype_of(self, other: Type) -> bool:
        return isinstance(other, AnyEnumType) or super().is_subtype_of(other)

    isSubtypeOf = is_subtype_of


class FunctionType(Type):
    """The type of one scripted function, which is `function`."""

    __slots__ = ("function",)
    _spelling = "Function"

    def __init__(self, function: Any) -> None:
        self.function = function

    def _key(self) -> tuple[object, ...]:
        return (id(self.function),)

    @property
    def annotation_str(self) -> str:
        return str(getattr(self.function, "qualified_name", "Function"))


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
TENSOR = TensorType.get()
_INFERRED_TENSOR = TensorType(inferred=True)
_NOTHING_KNOWN = TENSOR._key()


# --- unification and type variables -----------------------------------------------------------------


def unshaped(t: Type) -> Type:
    """`t` with every tensor type in it widened to plain ``Tensor``."""
    if isinstance(t, TensorType):
        return TENSOR
    parts = t.contained_types()
    if not parts:
        return t
    widened = [unshaped(part) for part in parts]
    return t if all(a is b for a, b in zip(parts, widened, strict=True)) else t.with_contained(widened)


def unify(a: Type, b: Type, default_to_union: bool = False) -> Type | None:
    """The type of a variable that holds an `a` on one path and a `b` on another; None where there is none.

    With `default_to_union` two types that have nothing in common give a union.
    """
    result = _unify(a, b, default_to_union)
    if result is None and default_to_union:
        return UnionType((a, b))
    return result


def _unify(a: Type, b: Type, default_to_union: bool) -> Type | None:
    if a is b or a.is_subtype_of(b):
        return b
    if b.is_subtype_of(a):
        return a
    if isinstance(a, TensorType) and isinstance(b, TensorType):
        return a.merge(b)
    if isinstance(a, NoneType):
        return OptionalType(b)
    if isinstance(b, NoneType):
        return OptionalType(a)
    if isinstance(a, OptionalType):
        elem = unify(a.elem, b)
        if elem is not None:
            return OptionalType(elem)
    elif isinstance(b, OptionalType):
        elem = unify(a, b.elem)
        if elem is not None:
            return OptionalType(elem)
    if isinstance(a, TupleType) and isinstance(b, TupleType):
        if len(a.elems) != len(b.elems):
            return None
        elems = [unify(x, y, default_to_union) for x, y in zip(a.elems, b.elems, strict=True)]
        return None if None in elems else TupleType(cast("list[Type]", elems))
    if isinstance(a, FutureType) and isinstance(b, FutureType):
        elem = unify(a.elem, b.elem)
        return None if elem is None else FutureType(elem)
    plain_a, plain_b = unshaped(a), unshaped(b)
    if plain_a.is_subtype_of(plain_b):
        return plain_b
    if plain_b.is_subtype_of(plain_a):
        return plain_a
    return None


def unify_list(types: Sequence[Type], default_to_union: bool = False) -> Type | None:
    """The one type that all `types` unify to, from left to right; None where there is none."""
    result: Type | None = types[0] if types else None
    for t in types[1:]:
        if result is None:
            return None
        result = unify(result, t, default_to_union)
    return result


def match_type_variables(formal: Type, actual: Type, env: dict[str, Type]) -> bool | str:
    """Bind the type variables of `formal` in `env` so that it fits `actual`. True, or the error's text."""
    if not formal.has_free_variables():
        return True
    if isinstance(formal, VarType):
        bound = env.get(formal.name)
        if bound is None:
            env[formal.name] = actual
            return True
        # The variable keeps its first type: a wider argument is found when the call is checked against it.
        if unify(bound, actual) is not None:
            return True
        return (
            f"Type variable '{formal.name}' previously matched to type {bound.annotation_str}"
            f" is matched to type {actual.annotation_str}"
        )
    if isinstance(formal, ListType):
        if isinstance(actual, ListType):
            return match_type_variables(formal.elem, actual.elem, env)
        if isinstance(actual, TupleType):
            elem = unify_list(actual.elems)
            if elem is not None:
                return match_type_variables(formal.elem, elem, env)
        return f"Cannot match {formal.annotation_str} to {actual.annotation_str}"
    if isinstance(formal, TupleType):
        if not isinstance(actual, TupleType):
            return f"Cannot match a tuple to {actual.annotation_str}"
        if len(formal.elems) != len(actual.elems):
            return "Cannot match tuples of mismatched size"
        return _match_each(formal.elems, actual.elems, env)
    if isinstance(formal, DictType):
        if isinstance(actual, DictType):
            return _match_each(formal.contained_types(), actual.contained_types(), env)
        return f"Cannot match a dict to {actual.annotation_str}"
    if isinstance(formal, OptionalType):
        if isinstance(actual, OptionalType):
            return match_type_variables(formal.elem, actual.elem, env)
        # None fits an optional of anything and says nothing about its type.
        return True if isinstance(actual, NoneType) else match_type_variables(formal.elem, actual, env)
    if isinstance(formal, (FutureType, AwaitType, RRefType)):
        if type(actual) is type(formal):
            return match_type_variables(formal.elem, cast(_ElementType, actual).elem, env)
        return f"Cannot match a {formal.kind()[:-4].lower()} to {actual.annotation_str}"
    return f"Unhandled free variable container: {formal.annotation_str}"


def _match_each(formals: Sequence[Type], actuals: Sequence[Type], env: dict[str, Type]) -> bool | str:
    for formal, actual in zip(formals, actuals, strict=True):
        result = match_type_variables(formal, actual, env)
        if result is not True:
            return result
    return True


def substitute(formal: Type, env: Mapping[str, Type]) -> Type | None:
    """`formal` with its type variables replaced; None where one is not bound."""
    if not formal.has_free_variables():
        return formal
    if isinstance(formal, VarType):
        return env.get(formal.name)
    parts = [substitute(part, env) for part in formal.contained_types()]
    return None if None in parts else formal.with_contained(cast("list[Type]", parts))
