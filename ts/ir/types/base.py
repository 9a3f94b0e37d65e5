"""Base class of types, with structural equality, subtyping, and schema and annotation spellings.

Subclasses define `_key`, `_spell` and `contained_types`. ``x.is_subtype_of(y)`` first applies the rules of
the class of x. Then ``y.can_hold(x)`` applies the rules of the class of y. For example, an optional type
accepts None, and a union accepts its members.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, Final, Self, cast

from ts.errors import CompilationError

MAX_TYPE_NODES: Final = 1 << 16
_Str = str  # alias of the built-in `str`, which a method of `Type` hides


class Type:
    """Base class of types. A subclass without arguments has one instance, returned by its `get`."""

    __slots__ = ("_has_free", "_hash", "_mentions", "_mutable", "_text", "spec")
    # `_has_free`, `_hash`, `_mentions`, `_mutable` and `_text` cache results of methods. Without the caches,
    # each call would visit all contained types, and the same type as often as it is contained.
    _has_free: bool
    _hash: int
    _mentions: bool
    _mutable: bool
    spec: Any  # type descriptor of `ts._core` for a type that contains a class, created at its first use
    _text: _Str
    _kind: ClassVar[_Str] = "Type"
    _spelling: ClassVar[_Str] = ""
    _annotation: ClassVar[_Str] = ""
    _instance: ClassVar[Type | None] = None
    node_count: int = 1
    """Number of types in the spelling of this type. A repeated type counts each time."""
    mutable: bool = True
    """True if values are, or contain, memory that can be written to."""

    def __init_subclass__(cls) -> None:
        cls._kind = cls.__name__
        cls._instance = None

    @classmethod
    def get(cls) -> Self:
        """Return the singleton instance of a type without arguments."""
        instance = cls.__dict__.get("_instance")
        if instance is None:
            instance = cls._instance = cls()
        return cast(Self, instance)

    def kind(self) -> _Str:
        """Return the name of the class in PyTorch, such as ``ListType``."""
        return self._kind

    def _key(self) -> tuple[object, ...]:
        """Return the attributes that, with the class, determine equality."""
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
        return self.annotation_str

    def __format__(self, specification: _Str) -> _Str:
        """Format the text of the type in graphs. F-strings for graphs, schemas and messages use this text."""
        return format(self.str(), specification)

    def __repr__(self) -> _Str:
        return self.annotation_str

    def _spell(self) -> _Str:
        return self._spelling or self._kind

    def str(self) -> _Str:
        """Return the spelling of the type in graphs, such as ``int[]``."""
        try:
            return self._text
        except AttributeError:
            self._text = self._spell()
            return self._text

    @property
    def annotation_str(self) -> _Str:
        """Spelling of the type in Python annotations: ``List[int]``."""
        return self._annotation or self._spell()

    @property
    def schema_str(self) -> _Str:
        """Spelling of the type in schemas, and in graphs inside of dicts and unions."""
        return self.str()

    @property
    def repr_str(self) -> _Str:
        """Spelling of the type in messages: `annotation_str`, except for enums and inferred tensors."""
        return self.annotation_str

    @property
    def annotation_string(self) -> _Str:
        """Spelling of the type in Python annotations. The name of this property is PyTorch's."""
        return self.annotation_str

    def _count(self, types: Iterable[Type]) -> int:
        """Return the `node_count` of a type that contains `types`: 1 plus the sum of the counts of `types`.

        Raise CompilationError if this count is greater than `MAX_TYPE_NODES`.
        """
        count = 1 + sum(type.node_count for type in types)
        if count > MAX_TYPE_NODES:
            raise CompilationError(
                f"a {self._kind} of {count} parts is too large: a type may have {MAX_TYPE_NODES}",
                hint="use a class or Any for the nested part",
            )
        return count

    def contained_types(self) -> tuple[Type, ...]:
        """Return the types nested directly in this type."""
        return ()

    def with_contained(self, types: Sequence[Type]) -> Type:
        """Return a copy with nested types replaced by `types`, in the order of `contained_types`."""
        return self

    def has_free_variables(self) -> bool:
        """Return True if the type contains a type variable."""
        try:
            return self._has_free
        except AttributeError:
            self._has_free = any(t.has_free_variables() for t in self.contained_types())
            return self._has_free

    def mentions_class(self) -> bool:
        """Return True if the type contains a class of a program.

        Such a type must not be stored in a cache of types, because the cache would keep the class alive.
        """
        try:
            return self._mentions
        except AttributeError:
            self._mentions = any(t.mentions_class() for t in self.contained_types())
            return self._mentions

    def holds_mutable(self) -> bool:
        """Return True if a contained type is mutable, such as the list type in a tuple type."""
        try:
            return self._mutable
        except AttributeError:
            self._mutable = any(t.mutable for t in self.contained_types())
            return self._mutable

    def is_subtype_of(self, other: Type) -> bool:
        """Return True if a value of this type is valid for the type `other`."""
        return self is other or self == other or other.can_hold(self)

    isSubtypeOf = is_subtype_of

    def can_hold(self, other: Type) -> bool:
        """Return True if a rule of this type's class makes `other` a subtype of this type.

        `other.is_subtype_of` calls this method after it has applied the rules of the class of `other`.
        """
        return False

    def requires_grad(self) -> bool:
        """Return True if a value of this type may be, or contain, a tensor that requires grad."""
        return any(inner.requires_grad() for inner in self.contained_types())

    def containedTypes(self) -> list[Type]:
        """Return the types nested directly in this type as a list. The method has PyTorch's name."""
        return list(self.contained_types())

    def is_interface_type(self) -> bool:
        """Return True for an interface type."""
        return False

    def is_module(self) -> bool:
        """Return True if the values are modules."""
        return False
