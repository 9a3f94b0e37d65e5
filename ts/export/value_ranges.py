"""Ranges of the values of symbolic expressions, computed by interval arithmetic.

    between(2*s0 + 1, {s0: Range(2, 9)})        Range(5, 19)

Bounds are integers or floats; an unknown bound is infinite.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

import sympy

from ts.export import sympy_functions as e
from ts.export.bounded_pow import power


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


class ValueRange(NamedTuple):
    """Range of values from `low` to `high`, both included."""

    low: Any = -math.inf
    high: Any = math.inf

    def intersection(self, other: ValueRange) -> ValueRange:
        """Return the intersection of two ranges."""
        return ValueRange(max(self.low, other.low), min(self.high, other.high))


EVERYTHING: Final = ValueRange()
TRUTH: Final = ValueRange(0, 1)


def _times(a: Any, b: Any) -> Any:
    return 0 if a == 0 or b == 0 else a * b


def _sum(*terms: ValueRange) -> ValueRange:
    return ValueRange(sum(t.low for t in terms), sum(t.high for t in terms))


def _product(*factors: ValueRange) -> ValueRange:
    low, high = 1, 1
    for f in factors:
        apply_to_bounds = [_times(x, y) for x in (low, high) for y in f]
        low, high = min(apply_to_bounds), max(apply_to_bounds)
    return ValueRange(low, high)


def _floor_div(a: ValueRange, b: ValueRange) -> ValueRange:
    if b.low <= 0 <= b.high:
        return EVERYTHING
    apply_to_bounds = [_floored(x, y) for x in a for y in b]
    return ValueRange(min(apply_to_bounds), max(apply_to_bounds))


def _floored(x: Any, y: Any) -> Any:
    if math.isinf(y):
        return (0 if (x >= 0) == (y > 0) else -1) if not math.isinf(x) else x * math.copysign(1, y)
    return x * math.copysign(1, y) if math.isinf(x) else x // y


def _mod(a: ValueRange, b: ValueRange) -> ValueRange:
    if b.low > 0:
        if a.low >= 0 and a.high < b.low:
            return a
        return ValueRange(0, min(b.high - 1, a.high) if a.low >= 0 else b.high - 1)
    return EVERYTHING


def _true_div(a: ValueRange, b: ValueRange) -> ValueRange:
    if b.low <= 0 <= b.high:
        return EVERYTHING
    apply_to_bounds = [0.0 if math.isinf(y) else x / y for x in a for y in b]
    return ValueRange(min(apply_to_bounds), max(apply_to_bounds))


def _power(a: ValueRange, b: ValueRange) -> ValueRange:
    if a.low < 0 or b.low != b.high or math.isinf(b.low):
        return ValueRange(0, math.inf) if b == ValueRange(2, 2) else EVERYTHING
    if b.low < 0:
        return EVERYTHING
    return ValueRange(*(x if math.isinf(x) and b.low else power(x, b.low) for x in a))


def _monotonous(compute: Callable[[Any], Any]) -> Callable[[ValueRange], ValueRange]:
    def apply_to_bounds(a: ValueRange) -> ValueRange:
        return ValueRange(*(x if math.isinf(x) else compute(x) for x in a))

    return apply_to_bounds


_BETWEEN: Mapping[Any, Callable[..., ValueRange]] = {
    sympy.Add: _sum,
    sympy.Mul: _product,
    sympy.Pow: _power,
    e.PowByNatural: _power,
    e.FloorDiv: _floor_div,
    e.Mod: _mod,
    e.IntTrueDiv: _true_div,
    e.FloatTrueDiv: _true_div,
    e.ToFloat: lambda a: a,
    e.TruncToInt: _monotonous(math.trunc),
    e.FloorToInt: _monotonous(math.floor),
    e.CeilToInt: _monotonous(math.ceil),
    e.RoundToInt: _monotonous(round),
    sympy.Min: lambda *a: ValueRange(min(x.low for x in a), min(x.high for x in a)),
    sympy.Max: lambda *a: ValueRange(max(x.low for x in a), max(x.high for x in a)),
    sympy.Abs: lambda a: ValueRange(0 if a.low <= 0 <= a.high else min(map(abs, a)), max(map(abs, a))),
    e.REAL["sqrt"]: lambda a: EVERYTHING if a.low < 0 else _monotonous(math.sqrt)(a),
    e.REAL["exp"]: lambda a: ValueRange(0.0, math.inf),
    sympy.Piecewise: lambda *a: EVERYTHING,
}


def value_range(expression: Any, ranges: Mapping[Any, ValueRange]) -> ValueRange:
    """Return bounds of an expression; `ranges` contains the ranges of its symbols."""
    if expression.is_Symbol:
        return ranges.get(expression, EVERYTHING)
    if expression.is_number:
        n = e.to_python_number(expression)
        return ValueRange(n, n)
    combine = _BETWEEN.get(expression.func)
    if combine is None:
        return TRUTH if e.is_truth(expression) else EVERYTHING
    operand_bounds = [value_range(a, ranges) for a in expression.args if not e.is_truth(a)]
    try:
        bounds = combine(*operand_bounds)
    except (ArithmeticError, ValueError):  # the bounds are too large or undefined
        return EVERYTHING
    return bounds if not any(isinstance(x, float) and math.isnan(x) for x in bounds) else EVERYTHING
