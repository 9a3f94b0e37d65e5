"""Value ranges of symbolic expressions by interval arithmetic (bound propagation).

Example: `value_range(2*s0 + 1, {s0: ValueRange(2, 9)})` returns ValueRange(5, 19).

Bounds are integers or floats. An unknown bound is infinite.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

from ts.export import sympy_functions as e
from ts.export.intervals import EVERYTHING, ValueRange
from ts.export.sympy_import import sympy


class _Infinity:
    """Infinite bound of a range of integers."""

    def __init__(self, sign: int) -> None:
        self.sign = sign

    def __repr__(self) -> str:
        return "int_oo" if self.sign > 0 else "-int_oo"

    def __float__(self) -> float:
        return self.sign * math.inf

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Infinity | int | float) and float(self) == float(other)

    def __hash__(self) -> int:
        return hash(float(self))

    def __lt__(self, other: Any) -> bool:
        return float(self) < float(other)

    def __le__(self, other: Any) -> bool:
        return float(self) <= float(other)

    def __gt__(self, other: Any) -> bool:
        return float(self) > float(other)

    def __ge__(self, other: Any) -> bool:
        return float(self) >= float(other)

    def __neg__(self) -> _Infinity:
        return _Infinity(-self.sign)


int_oo: Final = _Infinity(1)


class ValueRanges:
    """Range of a symbol in `range_constraints`, printed as `VR[2, int_oo]`."""

    def __init__(self, lower: Any, upper: Any, is_int: bool = True) -> None:
        self.lower = _bound(lower, is_int)
        self.upper = _bound(upper, is_int)
        self.is_int = is_int

    def __repr__(self) -> str:
        return f"VR[{self.lower}, {self.upper}]"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ValueRanges) and (self.lower, self.upper) == (other.lower, other.upper)

    def __hash__(self) -> int:
        return hash((float(self.lower), float(self.upper)))

    def __contains__(self, x: Any) -> bool:
        return bool(self.lower <= x <= self.upper)

    def is_singleton(self) -> bool:
        """Return True if the range contains exactly one number."""
        return bool(self.lower == self.upper)


def _bound(x: Any, is_int: bool) -> Any:
    if isinstance(x, float) and math.isinf(x):
        if is_int:
            return int_oo if x > 0 else -int_oo
        return sympy.oo if x > 0 else -sympy.oo
    return x


TRUTH: Final = ValueRange(0, 1)


def value_range(expression: Any, ranges: Mapping[Any, ValueRange]) -> ValueRange:
    """Return bounds of an expression. `ranges` contains the ranges of its symbols."""
    if expression.is_Symbol:
        return ranges.get(expression, EVERYTHING)
    if expression.is_number:
        n = e.to_python_number(expression)
        return ValueRange(n, n)
    _, function = e.FUNCTIONS.get(expression.func, (None, None))
    if function is None or function.bounds is None:
        return TRUTH if e.is_truth(expression) else EVERYTHING
    operand_bounds = [value_range(a, ranges) for a in expression.args if not e.is_truth(a)]
    try:
        bounds = function.bounds(*operand_bounds)
    except (ArithmeticError, ValueError):  # a bound is undefined or too large
        return EVERYTHING
    return bounds if not any(isinstance(x, float) and math.isnan(x) for x in bounds) else EVERYTHING


def simplify_max(expression: Any, ranges: Mapping[Any, ValueRange]) -> Any:
    """Replace each `max(1, n)` in `expression` by n if the ranges imply that n is at least 1."""
    replacements = {}
    for x in expression.atoms(sympy.Max):
        size = sympy.Max(*(n for n in x.args if n != 1))
        if value_range(size, ranges).low >= 1:
            replacements[x] = size
    return expression.xreplace(replacements)


def evaluate_by_ranges(condition: Any, ranges: Mapping[Any, ValueRange]) -> bool | None:
    """Return True or False if the ranges of the symbols decide a condition, otherwise None."""
    if condition in (sympy.true, sympy.false):
        return bool(condition)
    if not isinstance(condition, sympy.core.relational.Relational):
        return None
    low, high = value_range(sympy.expand(condition.lhs - condition.rhs), ranges)
    if isinstance(condition, sympy.Eq | sympy.Ne):
        return isinstance(condition, sympy.Ne) if low > 0 or high < 0 else None
    if isinstance(condition, sympy.Lt | sympy.Le):
        low, high = -high, -low
    strict = isinstance(condition, sympy.Lt | sympy.Gt)
    if low > 0 or (low == 0 and not strict):
        return True
    return False if high < 0 or (high == 0 and strict) else None
