"""Value ranges of symbolic expressions by interval arithmetic (bound propagation).

Example: `value_range(2*s0 + 1, {s0: ValueRange(2, 9)})` returns ValueRange(5, 19).

Bounds are integers or floats. An unknown bound is infinite.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

import sympy

from ts.export import sympy_functions as e
from ts.export.intervals import EVERYTHING, ValueRange


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
