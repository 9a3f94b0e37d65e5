"""Arithmetic that in PyTorch takes symbolic numbers, too: here numbers are always known.

    >>> sym_max(3, 4.5), sym_int(-3.7)
    (4.5, -3)
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any


def sym_int(a: Any) -> int:
    """`a` towards zero."""
    towards_zero: int = math.trunc(a)
    return towards_zero


def sym_float(a: Any) -> float:
    """`a` as a float."""
    return float(a)


def sym_not(a: Any) -> bool:
    """The other truth."""
    return not a


def sym_max(a: Any, b: Any) -> Any:
    """The larger one; a float where one of them is."""
    return type(a + b)(max(a, b)) if isinstance(a, float) or isinstance(b, float) else max(a, b)


def sym_min(a: Any, b: Any) -> Any:
    """The smaller one; a float where one of them is."""
    return type(a + b)(min(a, b)) if isinstance(a, float) or isinstance(b, float) else min(a, b)


def sym_ite(b: Any, t: Any, f: Any) -> Any:
    """`t` if `b`, else `f`."""
    return t if b else f


def sym_sqrt(a: Any) -> float:
    """The square root."""
    return math.sqrt(a)


def sym_sum(args: Iterable[Any]) -> Any:
    """The sum."""
    return sum(args)
