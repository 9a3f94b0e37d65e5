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
Refused = str | Mapping[str, str]  # dtype kinds, or error text by kind: see `ts.ops.unsupported_dtypes`
NOTHING: Mapping[str, str] = {}

SAME, FLOAT, BOOLEAN, REAL = "same", "float", "bool", "real"


def special(name: str) -> Callable[..., Array]:
    """Return the body that calls the special function of that name in SciPy."""

    def body(xp: Any, *operands: Array) -> Array:
        return xp.special(name)(*operands)

    return body


def refused_by(name: str, no: Refused) -> dict[str, str]:
    """Return error texts by dtype kind; for a plain string of kinds, PyTorch's usual kernel name."""
    return by_kind({no: f"{name.removeprefix('special_')}_cpu"} if isinstance(no, str) else no)


def types_without(no: Refused) -> str | None:
    """Return NumPy type characters except the kinds in `no`; None if all are supported."""
    kinds = {"b": "?", "i": "bhilqBHILQ", "h": "e", "f": "fd", "c": "FD"}
    given = "".join(no)
    return "".join(chars for kind, chars in kinds.items() if kind not in given) if no else None
