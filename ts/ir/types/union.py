"""Union types, and type unification.

`unify` returns the type of a variable that has different types after two branches. It returns None if the
types have no common type. The constructor of a union merges members that have a common type::

    >>> unify(INT, NONE), unify(INT, TENSOR), UnionType((INT, TENSOR))
    (Optional[int], None, Union[Tensor, int])
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import cast

from ts.ir.types.base import Type
from ts.ir.types.container import FutureType, OptionalType, TupleType
from ts.ir.types.scalar import COMPLEX, FLOAT, INT, NONE, NUMBER, NoneType, NumberType, NumericType
from ts.ir.types.tensor import TENSOR, TensorType

_KINDS = """
    Any Enum AnyEnum Tensor Storage Tuple List Dict Number Float Complex Future Await RRef Int None String
    Generator Quantizer Bool Optional Var DeviceObj StreamObj Function Class PyObject Capsule Interface
    QScheme ScalarType Layout MemoryFormat AnyList AnyTuple AnyClass SymInt SymFloat SymBool Union"""
# Kind of type -> sort key of union members, which are sorted as in PyTorch.
_KIND_ORDER = {f"{kind}Type": index for index, kind in enumerate(_KINDS.split())}


class UnionType(Type):
    """Union type such as ``Union(int, str)``. Types that have a common type are merged into one member."""

    __slots__ = ("node_count", "types")
    types: tuple[Type, ...]

    def __new__(cls, types: Iterable[Type]) -> UnionType:
        """Return the union of `types`. If they are None and one other type, return an optional type.

        If all types have a common type, return the common type.
        """
        members = union_members(types)
        other_members = [t for t in members if t != NONE]
        if len(members) == 2 and len(other_members) == 1:
            return OptionalType(other_members[0])  # type: ignore[return-value]
        if len(members) == 1 and not isinstance(members[0], NumberType):
            return members[0]  # type: ignore[return-value]
        self = super().__new__(cls)
        self.types = tuple(members)
        self.node_count = self._count(members)
        return self

    def _key(self) -> tuple[object, ...]:
        return (self.types,)

    def _spell(self) -> str:
        return f"Union({', '.join(t.schema_str for t in self.types)})"

    @property
    def annotation_str(self) -> str:
        """Spelling of the type in annotations: ``Union[int, str]``."""
        return f"Union[{', '.join(t.annotation_str for t in self.types)}]"

    @property
    def mutable(self) -> bool:  # type: ignore[override]
        """True if a member type is mutable."""
        return self.holds_mutable()

    def contained_types(self) -> tuple[Type, ...]:
        """Return the member types, sorted as in PyTorch."""
        return self.types

    def with_contained(self, types: Sequence[Type]) -> Type:
        """Return the union of `types`, which may be a plain or optional type."""
        return UnionType(types)

    def can_hold(self, other: Type) -> bool:
        """Return True if type `other` is a subtype of a member of this union."""
        if isinstance(other, NumberType):
            return other in self.types or all(t in self.types for t in (INT, FLOAT, COMPLEX))
        return any(other.is_subtype_of(t) for t in self.types)

    def is_subtype_of(self, other: Type) -> bool:
        """Return True if each member is a subtype of `other` or of a member of `other`."""
        if isinstance(other, UnionType):
            targets = other.types
        elif isinstance(other, OptionalType):
            targets = (other.elem, NONE)
        else:
            targets = (other,)
        return all(any(t.is_subtype_of(target) for target in targets) for t in self.types)

    isSubtypeOf = is_subtype_of


def union_members(types: Iterable[Type]) -> list[Type]:
    """Return the members of a union of `types` in PyTorch's order.

    Nested unions and optional types are replaced by their members, and members that unify are merged.
    """
    flat: list[Type] = []
    for t in types:
        inner = t.elem if isinstance(t, OptionalType) else t
        flat.extend(inner.types if isinstance(inner, UnionType) else (inner,))
        if inner is not t:
            flat.append(NONE)
    members: list[Type] = []
    for t in flat:
        for i, member in enumerate(members):
            if (member == NONE) != (t == NONE):
                continue
            unified = unify(member, t)
            if unified is not None:
                members[i] = unified
                break
        else:
            members.append(t)
    if all(t in members for t in (INT, FLOAT, COMPLEX)):
        members = [NUMBER, *(t for t in members if not isinstance(t, NumericType))]
    members.sort(key=_sort_key)
    return members


def _sort_key(t: Type) -> tuple[int, str]:
    """Return the sort key of union member `t`, so that members are in PyTorch's order."""
    name = t.name if isinstance(t, TupleType) else None
    return _KIND_ORDER.get(t.kind(), 0), name or t.str()


def erase_shape(t: Type) -> Type:
    """Replace every tensor type in `t` by plain ``Tensor``."""
    if isinstance(t, TensorType):
        return TENSOR
    contained = t.contained_types()
    if not contained:
        return t
    widened = [erase_shape(element) for element in contained]
    return t if all(a is b for a, b in zip(contained, widened, strict=True)) else t.with_contained(widened)


def unify(a: Type, b: Type, default_to_union: bool = False) -> Type | None:
    """Return the type of a variable that has type `a` on one path and type `b` on another path.

    If the two types have no common type, return their union with `default_to_union`, otherwise None.
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
    plain_a, plain_b = erase_shape(a), erase_shape(b)
    if plain_a.is_subtype_of(plain_b):
        return plain_b
    if plain_b.is_subtype_of(plain_a):
        return plain_a
    return None


def unify_list(types: Sequence[Type], default_to_union: bool = False) -> Type | None:
    """Unify all `types` from left to right. Return the common type, or None if no common type exists."""
    result: Type | None = types[0] if types else None
    for t in types[1:]:
        if result is None:
            return None
        result = unify(result, t, default_to_union)
    return result
