"""Dtype rules of pointwise operators: type promotion and unsupported dtypes.

SAME keeps the dtype, FLOAT converts integers to the default dtype, BOOLEAN returns bool, REAL returns the
real dtype of a complex argument.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ts.ops import common
from ts.ops.unsupported_dtypes import by_kind

Array = common.Array
# String of dtype kinds, or dict from kind to error text (`ts.ops.unsupported_dtypes`)
Refused = str | Mapping[str, str]
NOTHING: Mapping[str, str] = {}

SAME, FLOAT, BOOLEAN, REAL = "same", "float", "bool", "real"


def special(name: str) -> Callable[..., Array]:
    """Return a body that calls function `name` of `scipy.special`."""

    def body(xp: Any, *operands: Array) -> Array:
        return xp.special(name)(*operands)

    return body


def refused_by(name: str, no: Refused) -> dict[str, str]:
    """Return a dict from dtype kind to error text; if `no` is a string of kinds, use PyTorch's usual text."""
    return by_kind({no: f"{name.removeprefix('special_')}_cpu"} if isinstance(no, str) else no)


def types_without(no: Refused) -> str | None:
    """Return the NumPy type characters of all kinds except those in `no`; None if all are supported."""
    kinds = {"b": "?", "i": "bhilqBHILQ", "h": "e", "f": "fd", "c": "FD"}
    excluded_kinds = "".join(no)
    return "".join(chars for kind, chars in kinds.items() if kind not in excluded_kinds) if no else None
