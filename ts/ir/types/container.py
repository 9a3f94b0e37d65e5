"""Container types: lists, dicts, tuples, optionals, futures.

    >>> DictType(STR, ListType(OptionalType(INT))).str()
    'Dict(str, int?[])'

Mutable containers (lists, dicts) and RRefs are invariant in their element types. The other types are
covariant.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import cast

from ts.ir.lexer import format_default
from ts.ir.types.base import Type
from ts.ir.types.scalar import BOOL, COMPLEX, FLOAT, INT, NONE, STR, AnyListType, AnyTupleType, NoneType
from ts.ir.types.tensor import TENSOR


class ElementType(Type):
    """Base class of types with one contained type."""

    __slots__ = ("elem", "node_count")

    def __init__(self, elem: Type) -> None:
        self.elem = elem
        self.node_count = self._count((elem,))

    def _key(self) -> tuple[object, ...]:
        return (self.elem,)

    def contained_types(self) -> tuple[Type, ...]:
        """Return the element type as a tuple of one type."""
        return (self.elem,)

    def with_contained(self, types: Sequence[Type]) -> Type:
        """Return a type of the same class with element type `types[0]`."""
        return type(self)(types[0])

    def getElementType(self) -> Type:
        """Return the element type. The method has PyTorch's name."""
        return self.elem


class ListType(ElementType):
    """List type such as ``int[]``. Lists are mutable, so the element type is invariant."""

    __slots__ = ()

    def __init__(self, elem: Type) -> None:
        if elem is None:
            raise RuntimeError("Can not create ListType with None type; NoneType.get() is the type of None")
        super().__init__(elem)

    def _spell(self) -> str:
        return f"{self.elem}[]"

    @property
    def schema_str(self) -> str:
        """Spelling of the type in schemas: ``int[]``."""
        return f"{self.elem.schema_str}[]"

    @property
    def annotation_str(self) -> str:
        """Spelling of the type in annotations: ``List[int]``."""
        return f"List[{self.elem.annotation_str}]"

    def is_subtype_of(self, other: Type) -> bool:
        """Return True if `other` is an equal list type, `AnyListType`, or another supertype."""
        return isinstance(other, AnyListType) or super().is_subtype_of(other)

    isSubtypeOf = is_subtype_of

    @staticmethod
    def ofInts() -> ListType:
        """Return the type ``List[int]``. The name of the method is that of PyTorch."""
        return ListType(INT)

    @staticmethod
    def ofFloats() -> ListType:
        """Return the type ``List[float]``. The name of the method is that of PyTorch."""
        return ListType(FLOAT)

    @staticmethod
    def ofComplexDoubles() -> ListType:
        """Return the type ``List[complex]``. The name of the method is that of PyTorch."""
        return ListType(COMPLEX)

    @staticmethod
    def ofBools() -> ListType:
        """Return the type ``List[bool]``. The name of the method is that of PyTorch."""
        return ListType(BOOL)

    @staticmethod
    def ofStrings() -> ListType:
        """Return the type ``List[str]``. The name of the method is that of PyTorch."""
        return ListType(STR)

    @staticmethod
    def ofTensors() -> ListType:
        """Return the type ``List[Tensor]``. The name of the method is that of PyTorch."""
        return ListType(TENSOR)


class _CovariantType(ElementType):
    __slots__ = ()

    def is_subtype_of(self, other: Type) -> bool:
        if type(other) is type(self) and self.elem.is_subtype_of(cast(ElementType, other).elem):
            return True
        return super().is_subtype_of(other)

    isSubtypeOf = is_subtype_of

    @property
    def annotation_str(self) -> str:
        return f"{self._kind[:-4]}[{self.elem.annotation_str}]"


class FutureType(_CovariantType):
    """Type of the result of `fork`, such as ``Future[int]``, covariant in the element type."""

    __slots__ = ()

    def _spell(self) -> str:
        return f"Future[{self.elem}]"

    @property
    def schema_str(self) -> str:
        """Spelling of the type in schemas: ``Future(int)``."""
        return f"Future({self.elem.schema_str})"


class RRefType(ElementType):
    """Type of a reference to a value in another process, invariant in the type of the value."""

    __slots__ = ()

    def _spell(self) -> str:
        return f"RRef[{self.elem}]"

    @property
    def schema_str(self) -> str:
        """Spelling of the type in schemas: ``RRef(int)``."""
        return f"RRef({self.elem.schema_str})"

    @property
    def annotation_str(self) -> str:
        """Spelling of the type in annotations: ``RRef[int]``."""
        return f"RRef[{self.elem.annotation_str}]"


class AwaitType(_CovariantType):
    """Type of a call that runs when its result is needed, such as ``Await(int)``, covariant in `elem`."""

    __slots__ = ()

    def _spell(self) -> str:
        return f"Await({self.elem})"


class DictType(Type):
    """Dictionary type such as ``Dict(str, Tensor)``, invariant in the key type and the value type."""

    __slots__ = ("key", "node_count", "value")

    def __init__(self, key: Type, value: Type) -> None:
        self.key = key
        self.value = value
        self.node_count = self._count((key, value))

    def _key(self) -> tuple[object, ...]:
        return (self.key, self.value)

    def _spell(self) -> str:
        return f"Dict({self.key.schema_str}, {self.value.schema_str})"

    @property
    def annotation_str(self) -> str:
        """Spelling of the type in annotations: ``Dict[str, Tensor]``."""
        return f"Dict[{self.key.annotation_str}, {self.value.annotation_str}]"

    def contained_types(self) -> tuple[Type, ...]:
        """Return the key type and the value type."""
        return (self.key, self.value)

    def with_contained(self, types: Sequence[Type]) -> Type:
        """Return a dict type with key type `types[0]` and value type `types[1]`."""
        return DictType(types[0], types[1])

    def getKeyType(self) -> Type:
        """Return the key type. The method has PyTorch's name."""
        return self.key

    def getValueType(self) -> Type:
        """Return the value type. The method has PyTorch's name."""
        return self.value


class TupleType(Type):
    """Tuple type such as ``(int, Tensor)``, covariant in its element types.

    With `name` and `fields`, it is a named tuple, which is also a plain tuple.
    """

    __slots__ = ("defaults", "elems", "fields", "name", "node_count", "python_class")

    def __init__(
        self,
        elems: Iterable[Type],
        name: str | None = None,
        fields: Iterable[str] | None = None,
        defaults: Mapping[str, object] | None = None,
        python_class: type | None = None,
    ) -> None:
        self.elems = tuple(elems)
        self.node_count = self._count(self.elems)
        self.name = name
        self.fields = None if fields is None else tuple(fields)
        self.defaults: dict[str, object] = dict(defaults or {})
        self.python_class = python_class  # Python class of a named tuple's values

    def _key(self) -> tuple[object, ...]:
        return (self.elems, self.fields, self.name)

    def _spell(self) -> str:
        if self.fields is not None:
            return f"NamedTuple({', '.join(map(self._field, self.fields, self.elems))})"
        return f"({', '.join(t.str() for t in self.elems)})"

    def _field(self, name: str, elem: Type) -> str:
        default = f" = {format_default(self.defaults[name])}" if name in self.defaults else ""
        return f"{name} : {elem}{default}"

    @property
    def schema_str(self) -> str:
        """Spelling of the type in schemas, such as ``(int, Tensor)``, or the name of a named tuple."""
        if self.name is not None:
            return self.name
        return f"({', '.join(elem.schema_str for elem in self.elems)})"

    @property
    def annotation_str(self) -> str:
        """Spelling of the type in annotations, such as ``Tuple[int, Tensor]``, or a named tuple's name."""
        if self.fields is not None and self.name is not None:
            return self.name
        return f"Tuple[{', '.join(t.annotation_str for t in self.elems) or '()'}]"

    @property
    def mutable(self) -> bool:  # type: ignore[override]
        """True if an element is mutable. The tuple itself cannot be written to."""
        return self.holds_mutable()

    def contained_types(self) -> tuple[Type, ...]:
        """Return the element types in order."""
        return self.elems

    def with_contained(self, types: Sequence[Type]) -> Type:
        """Return a tuple type with the element types `types`. Name, fields and defaults are unchanged."""
        return TupleType(types, self.name, self.fields, self.defaults, self.python_class)

    def mentions_class(self) -> bool:
        """Return True for a named tuple with a Python class, and if an element type mentions a class."""
        return self.python_class is not None or super().mentions_class()

    def elements(self) -> list[Type]:
        """Return the element types as a list. The method has PyTorch's name."""
        return list(self.elems)

    def is_subtype_of(self, other: Type) -> bool:
        """Return True if the elements are subtypes of those of `other`.

        If `other` has field names, they must match.
        """
        if isinstance(other, AnyTupleType) or super().is_subtype_of(other):
            return True
        if not isinstance(other, TupleType) or len(self.elems) != len(other.elems):
            return False
        if other.fields is not None and other.fields != self.fields:
            return False
        return all(a.is_subtype_of(b) for a, b in zip(self.elems, other.elems, strict=True))

    isSubtypeOf = is_subtype_of


class OptionalType(ElementType):
    """Optional type such as ``int?``. The optional of an optional type, or of None, is that type."""

    __slots__ = ()

    def __new__(cls, elem: Type) -> OptionalType:
        """Return `elem` itself if it is an optional type, else a new optional type."""
        if isinstance(elem, OptionalType):
            return elem
        return super().__new__(cls)

    def __init__(self, elem: Type) -> None:
        if elem is not self:
            super().__init__(elem)

    def _spell(self) -> str:
        return f"{self.elem}?"

    @property
    def schema_str(self) -> str:
        """Spelling of the type in schemas: ``int?``."""
        return f"{self.elem.schema_str}?"

    @property
    def annotation_str(self) -> str:
        """Spelling of the type in annotations: ``Optional[int]``."""
        return f"Optional[{self.elem.annotation_str}]"

    def is_subtype_of(self, other: Type) -> bool:
        """Return True if `other` accepts both None and the contained type."""
        if isinstance(other, OptionalType):
            return self.elem.is_subtype_of(other.elem)
        return other.can_hold(NONE) and self.elem.is_subtype_of(other)

    isSubtypeOf = is_subtype_of

    @property
    def mutable(self) -> bool:  # type: ignore[override]
        """True if the contained type is mutable."""
        return self.elem.mutable

    def can_hold(self, other: Type) -> bool:
        """Return True for None and for subtypes of the contained type."""
        return isinstance(other, NoneType) or other.is_subtype_of(self.elem)

    @staticmethod
    def ofTensor() -> OptionalType:
        """Return the type ``Optional[Tensor]``. The name of the method is that of PyTorch."""
        return OptionalType(TENSOR)
