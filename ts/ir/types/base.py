"""What all types share: identity, the two spellings, and the question of subtypes.

In: a subclass's `_key`, `_spell` and `contained_types`.  Out: equality, hash, ``type.str()`` and
``type.annotation_str``.  The narrower type answers ``x.is_subtype_of(y)``; what only the wider type knows (an
optional takes None, a union its members) that one answers in `can_hold`: this module knows no subclass.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, Final, Self, cast

from ts.errors import CompilationError

MAX_PARTS: Final = 1 << 16
_Str = str  # inside `Type`, `str` is a method


class Type:
    """Base of all types. A subclass without arguments has one instance, which its `get` returns."""

    __slots__ = ("_has_free", "_hash", "_mentions", "_mutable", "_text", "spec")
    # What follows from the parts is kept: a type may hold another one many times over.
    _has_free: bool
    _hash: int
    _mentions: bool
    _mutable: bool
    spec: Any  # the core's descriptor of a type that mentions a class, once it is asked for
    _text: _Str
    _kind: ClassVar[_Str] = "Type"
    _spelling: ClassVar[_Str] = ""
    _annotation: ClassVar[_Str] = ""
    _instance: ClassVar[Type | None] = None
    parts: int = 1
    """How many types a type is made of, as its text spells them: one that it holds twice counts twice."""
    mutable: bool = True
    """Whether a value is memory that somebody may write to, or holds such memory."""

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
        return self.annotation_str

    def __format__(self, specification: _Str) -> _Str:
        """The graph spelling: texts of graphs, schemas and messages are format strings."""
        return format(self.str(), specification)

    def __repr__(self) -> _Str:
        return self.annotation_str

    def _spell(self) -> _Str:
        return self._spelling or self._kind

    def str(self) -> _Str:
        """The graph spelling: ``int[]``."""
        try:
            return self._text
        except AttributeError:
            self._text = self._spell()
            return self._text

    @property
    def annotation_str(self) -> _Str:
        """The spelling of Python annotations: ``List[int]``."""
        return self._annotation or self._spell()

    @property
    def schema_str(self) -> _Str:
        """The spelling of schemas, and inside dicts and unions of graphs: named tuples by their names."""
        return self.str()

    @property
    def repr_str(self) -> _Str:
        """The spelling in messages: that of annotations, but enums and inferred tensors say what they are."""
        return self.annotation_str

    @property
    def annotation_string(self) -> _Str:
        return self.annotation_str

    def _count(self, types: Iterable[Type]) -> int:
        """`parts` of a type made of `types`: `a = (a, a)`, often enough, has a type that nobody can spell."""
        count = 1 + sum(type.parts for type in types)
        if count > MAX_PARTS:
            raise CompilationError(
                f"a {self._kind} of {count} parts is too large: a type may have {MAX_PARTS}",
                hint="hold in an object, or in an Any, what is nested that deeply",
            )
        return count

    def contained_types(self) -> tuple[Type, ...]:
        """The types that this one is made of."""
        return ()

    def with_contained(self, types: Sequence[Type]) -> Type:
        """The same type made of other `types`, in the order of `contained_types`."""
        return self

    def has_free_variables(self) -> bool:
        """Whether a type variable occurs."""
        try:
            return self._has_free
        except AttributeError:
            self._has_free = any(t.has_free_variables() for t in self.contained_types())
            return self._has_free

    def mentions_class(self) -> bool:
        """Whether a class of the program occurs, which what is kept by type would keep alive."""
        try:
            return self._mentions
        except AttributeError:
            self._mentions = any(t.mentions_class() for t in self.contained_types())
            return self._mentions

    def holds_mutable(self) -> bool:
        """`mutable` of a type whose values are as mutable as their parts."""
        try:
            return self._mutable
        except AttributeError:
            self._mutable = any(t.mutable for t in self.contained_types())
            return self._mutable

    def is_subtype_of(self, other: Type) -> bool:
        """Whether a value of this type may stand where `other` is asked for."""
        return self is other or self == other or other.can_hold(self)

    isSubtypeOf = is_subtype_of

    def can_hold(self, other: Type) -> bool:
        """Whether every value of type `other` is a value of this one, where `other` itself does not know."""
        return False

    def requires_grad(self) -> bool:
        """Whether a value of this type may be, or contain, a tensor that wants gradients."""
        return any(inner.requires_grad() for inner in self.contained_types())

    def containedTypes(self) -> list[Type]:
        return list(self.contained_types())

    def is_interface_type(self) -> bool:
        """Whether this is an interface."""
        return False

    def is_module(self) -> bool:
        """Whether values are modules."""
        return False
