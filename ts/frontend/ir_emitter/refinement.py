"""Flow-sensitive typing by type refinement (type narrowing): the variable types that a condition implies.

In this example, x has the type `Union[int, str, None]`. Each line shows a condition, and the types that x has
in the true branch and in the false branch:

    x is None               no refinement        Union[int, str]
    isinstance(x, int)      int                  Union[str, None]

In the true branch of `a and b`, the refinements of both operands are valid. In its false branch, a refinement
is valid only if both operands imply it when they are false. For `a or b`, the branches are exchanged.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ts.ir.types import ANY, NONE, OptionalType, Type, UnionType, unify_list, union_members

Refinement = tuple[str, Type]


def refine_by_both(a: Sequence[Refinement], b: Sequence[Refinement]) -> list[Refinement]:
    """Return the refinements that are valid if both conditions are true.

    If the two conditions refine a variable to different types, the result contains neither refinement.
    """
    result = dict(a)
    for name, type in b:
        if name not in result:
            result[name] = type
        elif result[name] != type:
            del result[name]
    return list(result.items())


def refine_by_either(a: Sequence[Refinement], b: Sequence[Refinement]) -> list[Refinement]:
    """Return the refinements in both lists, which are valid if at least one condition is true."""
    return [refinement for refinement in a if refinement in b]


def without_none(type: Type) -> Type | None:
    """Return an Optional or Union type without its member NoneType, or None for other types."""
    if isinstance(type, OptionalType):
        return type.elem
    if isinstance(type, UnionType):
        members = [member for member in type.types if member is not NONE]
        return UnionType(members) if len(members) < len(type.types) else None
    return None


class TypeTest(NamedTuple):
    """Result of an `isinstance` test: refined types of both branches, and the static result if known."""

    # types in the second argument of `isinstance`, with which `prim::isinstance` tests the value at run time
    tested: list[Type]
    if_true: Type | None
    if_false: Type | None
    static: bool | None


def type_test(type: Type, against: Iterable[Type]) -> TypeTest:
    """Return the refined types of `isinstance(x, against)` for `x` of type `type`, and its static result."""
    tested = union_members(against)
    if type is ANY:
        static = True if tested == [ANY] else None
        return TypeTest(tested, _unify_members(tested), ANY, static)
    matching: list[Type] = []
    excluded: list[Type] = []
    # True if every member of `type` that can pass the test is a subtype of a tested type, so it always passes
    is_certain = True
    for member in union_members([type]):
        refined = _narrow_member(member, tested)
        if refined is None:
            excluded.append(member)
        else:
            matching.append(refined)
            is_certain = is_certain and refined is member
    static = False if not matching else None
    if not excluded and is_certain:
        static = True
    return TypeTest(tested, _unify_members(matching), _unify_members(excluded), static)


def _narrow_member(member: Type, tested: Sequence[Type]) -> Type | None:
    """Return the type of a value of type `member` after a successful test for one of the types `tested`.

    The result is `member` if it is a subtype of a tested type, else the first tested type that is a subtype
    of `member`. Return None if no value of type `member` passes the test.
    """
    for tested_type in tested:
        if member.is_subtype_of(tested_type):
            return member
    return next((tested_type for tested_type in tested if tested_type.is_subtype_of(member)), None)


def _unify_members(types: list[Type]) -> Type | None:
    return unify_list(types, default_to_union=True)
