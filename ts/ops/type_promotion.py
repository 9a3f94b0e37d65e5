"""Dtype rules of pointwise operators (data type promotion and unsupported dtypes).

Each rule maps the common dtype of the operands to the dtype of the result:

    SAME      the common dtype
    FLOAT     the default floating dtype for integers, otherwise the common dtype
    BOOLEAN   bool
    REAL      the real dtype for complex numbers, otherwise the common dtype
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ts.ops import common
from ts.ops.unsupported_dtypes import by_kind

Array = common.Array
# Kinds of dtypes that an operator rejects: a string with one character for each kind, or a dict from kinds to
# error message (`unsupported_dtypes`)
UnsupportedKinds = str | Mapping[str, str]
NOTHING: Mapping[str, str] = {}

SAME, FLOAT, BOOLEAN, REAL = "same", "float", "bool", "real"


def special(name: str) -> Callable[..., Array]:
    """Return a kernel body (xp, *operands) that calls function `name` of `scipy.special`."""

    def body(xp: Any, *operands: Array) -> Array:
        return xp.special(name)(*operands)

    return body


def dtype_errors_by_kind(name: str, unsupported: UnsupportedKinds) -> dict[str, str]:
    """Return a dict from dtype kind to error text.

    If `unsupported` is a string of kinds, each kind gets the text `{name}_cpu`, the kernel name that
    PyTorch's usual error contains.
    """
    return by_kind(
        {unsupported: f"{name.removeprefix('special_')}_cpu"} if isinstance(unsupported, str) else unsupported
    )


def types_except(unsupported: UnsupportedKinds) -> str | None:
    """Return the NumPy type characters of all kinds not in `unsupported`, or None if all are supported."""
    kinds = {"b": "?", "i": "bhilqBHILQ", "h": "e", "f": "fd", "c": "FD"}
    excluded_kinds = "".join(unsupported)
    return (
        "".join(chars for kind, chars in kinds.items() if kind not in excluded_kinds) if unsupported else None
    )
