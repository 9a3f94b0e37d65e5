"""Bidirectional type inference of list and dict literals, from their elements and the expected type.

Each line shows a statement and the type of its literal:

    x: List[int] = []                    List[int]
    x: Union[int, List[str]] = []        List[str], the only list among the members
    x: Union[List[int], List[str]] = []  an error, because the type is ambiguous
    x: Union[List[int], List[str]] = [1] List[int], because the element is an int
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

from ts.errors import CompilationError
from ts.frontend.schema_matching import construct_list
from ts.ir.source import SourceRange
from ts.ir.types import ANY, AnyListType, DictType, ListType, OptionalType, Type, UnionType
from ts.ir.value import Value

if TYPE_CHECKING:
    from ts.frontend.ir_emitter.emitter import Emitter

Kind = TypeVar("Kind", ListType, DictType)


def hinted_types(hint: Type | None, kind: type[Kind], range: SourceRange | None) -> list[Kind]:
    """Return all list or dict types (`kind`) in a type hint, or an empty list without a hint.

    Raise CompilationError for a hint without such a type.
    """
    if hint is None or hint is ANY or isinstance(hint, AnyListType):
        return []
    name = "List" if kind is ListType else "Dict"
    members: Sequence[Type] = (hint,)
    if isinstance(hint, OptionalType):
        members = (hint.elem,)
    elif isinstance(hint, UnionType):
        members = hint.types
    options = [member for member in members if isinstance(member, kind)]
    if not options:
        hint_kind = (
            "an Union type annotation with an inner"
            if isinstance(hint, UnionType)
            else "an annotation of type"
        )
        literal_kind = f"{name} type," if isinstance(hint, UnionType) else name
        raise CompilationError(f"Expected {hint_kind} {literal_kind} but got {hint.repr_str}", range)
    return options


def require_single_type(hint: Type | None, options: Sequence[Kind], range: SourceRange | None) -> Kind:
    """Return the type of an empty literal. Raise CompilationError if `options` contains several types."""
    if len(options) == 1:
        return options[0]
    assert hint is not None
    name = "List" if isinstance(options[0], ListType) else "Dict"
    raise CompilationError(
        f"Cannot assign an empty {name.lower()} to a variable annotated to be type {hint.repr_str} because "
        f"there are multiple possible {name} type candidates in the Union annotation",
        range,
    )


def select_literal_type(
    hint: Type | None,
    options: Sequence[Kind],
    inferred: Kind,
    holds: Callable[[Kind], bool],
    range: SourceRange | None,
) -> Kind:
    """Select the type of a literal from `options`, the types that its type hint allows.

    Return `inferred`, the type of the elements, if it is an option. Otherwise, return the first option for
    which `holds` is true. Raise CompilationError if there is no such option.
    """
    if inferred in options:
        return inferred
    match = next((option for option in options if holds(option)), None)
    if match is not None:
        return match
    assert hint is not None
    option_names = " or ".join(option.repr_str for option in options)
    if isinstance(inferred, ListType):
        requirement = (
            "types match the types of the given list elements, which were unified to "
            f"{inferred.elem.repr_str}"
        )
    else:
        requirement = (
            "dict types can hold the types of the given keys and values, which were unified to "
            f"{inferred.repr_str}"
        )
    raise CompilationError(
        f"Union type annotation `{hint.repr_str}` can hold {option_names}, but none of those {requirement}",
        range,
    )


def construct_literal(em: Emitter, value: object, type: Type) -> Value:
    """Emit a list or dict `value` as a literal with the type `type`, and other values as constants."""
    if isinstance(value, list):
        options = hinted_types(type, ListType, None)
        elem = options[0].elem if options else ANY
        return construct_list(em.graph, elem, [construct_literal(em, item, elem) for item in value])
    if isinstance(value, dict):
        dicts = hinted_types(type, DictType, None)
        kinds = (dicts[0].key, dicts[0].value) if dicts else (ANY, ANY)
        elements = [
            construct_literal(em, element, kind)
            for pair in value.items()
            for element, kind in zip(pair, kinds, strict=True)
        ]
        return em.insert("prim::DictConstruct", elements).output().set_type(DictType(*kinds))
    return em.constant(value)


def cast_to_hint(em: Emitter, value: Value, hint: Type | None) -> Value:
    """Cast a literal to the Optional or Union type of its hint."""
    return em.unchecked_cast(value, hint) if isinstance(hint, OptionalType | UnionType) else value
