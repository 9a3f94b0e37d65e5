"""What stands for a value that is never read (`prim::Uninitialized`).

In: a type.  Out: something of that type that is harmless to read, in Python's form, or None:

    blank(INT), blank(TupleType([INT, ListType(INT)]))  =>  0, (0, [])

The compiler's own blanks are indeed never read; a graph that a user wrote may read them.
"""

from __future__ import annotations

from typing import Any, Final

from ts.ir.types import TupleType, Type

_BLANKS: Final[dict[str, Any]] = {
    "IntType": 0, "FloatType": 0.0, "BoolType": False, "ComplexType": 0j, "StringType": "", "NumberType": 0,
    "ListType": [], "DictType": {},
}  # fmt: skip


def blank(type: Type) -> Any:
    """Something of this type; None for what may be None, and for what has no blank."""
    if isinstance(type, TupleType):
        elems = tuple(blank(elem) for elem in type.elems)
        return elems if all(elem is not None for elem in elems) else None
    found = _BLANKS.get(type.kind())
    return found.copy() if isinstance(found, list | dict) else found
