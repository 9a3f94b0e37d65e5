"""Type variables of schemas (generic types, generics): binding to the types of arguments, and substitution.

    >>> from ts.ir.types import INT
    >>> bound: dict[str, Type] = {}
    >>> match_type_variables(ListType(VarType("t")), ListType(INT), bound), bound
    (True, {'t': int})
    >>> substitute(OptionalType(VarType("t")), bound)
    Optional[int]
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from ts.ir.types.base import Type
from ts.ir.types.container import (
    AwaitType,
    DictType,
    ElementType,
    FutureType,
    ListType,
    OptionalType,
    RRefType,
    TupleType,
)
from ts.ir.types.scalar import NoneType, VarType
from ts.ir.types.union import unify, unify_list


def match_type_variables(formal: Type, actual: Type, env: dict[str, Type]) -> bool | str:
    """Match type `formal` to type `actual`, and store the bindings of type variables of `formal` in `env`.

    Return True if the types match, otherwise an error message.
    """
    if not formal.has_free_variables():
        return True
    if isinstance(formal, VarType):
        bound = env.get(formal.name)
        if bound is None:
            env[formal.name] = actual
            return True
        # The variable stays bound to the type of the first argument. If a later argument has a wider type,
        # the check of the arguments rejects it.
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
        # None matches an optional type with any element type. Therefore, it does not bind the type variable.
        return True if isinstance(actual, NoneType) else match_type_variables(formal.elem, actual, env)
    if isinstance(formal, (FutureType, AwaitType, RRefType)):
        if type(actual) is type(formal):
            return match_type_variables(formal.elem, cast(ElementType, actual).elem, env)
        return f"Cannot match a {formal.kind()[:-4].lower()} to {actual.annotation_str}"
    return f"Unhandled free variable container: {formal.annotation_str}"


def _match_each(formals: Sequence[Type], actuals: Sequence[Type], env: dict[str, Type]) -> bool | str:
    for formal, actual in zip(formals, actuals, strict=True):
        result = match_type_variables(formal, actual, env)
        if result is not True:
            return result
    return True


def substitute(formal: Type, env: Mapping[str, Type]) -> Type | None:
    """Return `formal` with type variables replaced by their bindings, or None if a variable is unbound."""
    if not formal.has_free_variables():
        return formal
    if isinstance(formal, VarType):
        return env.get(formal.name)
    substituted = [substitute(contained, env) for contained in formal.contained_types()]
    return None if None in substituted else formal.with_contained(cast("list[Type]", substituted))
