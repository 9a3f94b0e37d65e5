"""Interval arithmetic: bounds of the result of an operation from the bounds of its operands.

Example: `add(ValueRange(2, 9), ValueRange(1, 1))` returns ValueRange(3, 10).

Bounds are integers or floats. An unknown bound is infinite.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from ts.export.bounded_pow import power as bounded_power


class ValueRange(NamedTuple):
    """Range of values from `low` to `high`, both included."""

    low: Any = -math.inf
    high: Any = math.inf

    def intersection(self, other: ValueRange) -> ValueRange:
        """Return the intersection of two ranges."""
        return ValueRange(max(self.low, other.low), min(self.high, other.high))


EVERYTHING: Final = ValueRange()


def add(*terms: ValueRange) -> ValueRange:
    """Return the bounds of a sum."""
    return ValueRange(sum(t.low for t in terms), sum(t.high for t in terms))


def multiply(*factors: ValueRange) -> ValueRange:
    """Return the bounds of a product."""
    low, high = 1, 1
    for f in factors:
        products = [0 if x == 0 or y == 0 else x * y for x in (low, high) for y in f]
        low, high = min(products), max(products)
    return ValueRange(low, high)


def floor_divide(a: ValueRange, b: ValueRange) -> ValueRange:
    """Return the bounds of `a // b`."""
    if b.low <= 0 <= b.high:
        return EVERYTHING
    quotients = [_floored(x, y) for x in a for y in b]
    return ValueRange(min(quotients), max(quotients))


def _floored(x: Any, y: Any) -> Any:
    if math.isinf(y):
        return (0 if (x >= 0) == (y > 0) else -1) if not math.isinf(x) else x * math.copysign(1, y)
    return x * math.copysign(1, y) if math.isinf(x) else x // y


def remainder(a: ValueRange, b: ValueRange) -> ValueRange:
    """Return the bounds of the integer `a % b`."""
    if b.low > 0:
        if a.low >= 0 and a.high < b.low:
            return a
        return ValueRange(0, min(b.high - 1, a.high) if a.low >= 0 else b.high - 1)
    return EVERYTHING


def divide(a: ValueRange, b: ValueRange) -> ValueRange:
    """Return the bounds of `a / b`."""
    if b.low <= 0 <= b.high:
        return EVERYTHING
    quotients = [0.0 if math.isinf(y) else x / y for x in a for y in b]
    return ValueRange(min(quotients), max(quotients))


def power(a: ValueRange, b: ValueRange) -> ValueRange:
    """Return the bounds of `a ** b`."""
    if a.low < 0 or b.low != b.high or math.isinf(b.low):
        return ValueRange(0, math.inf) if b == ValueRange(2, 2) else EVERYTHING
    if b.low < 0:
        return EVERYTHING
    return ValueRange(*(x if math.isinf(x) and b.low else bounded_power(x, b.low) for x in a))


def monotonic(compute: Callable[[Any], Any]) -> Callable[[ValueRange], ValueRange]:
    """Return the interval rule of a nondecreasing function."""
    return lambda a: ValueRange(*(x if math.isinf(x) else compute(x) for x in a))


def minimum(*operands: ValueRange) -> ValueRange:
    """Return the bounds of the smallest operand."""
    return ValueRange(min(x.low for x in operands), min(x.high for x in operands))


def maximum(*operands: ValueRange) -> ValueRange:
    """Return the bounds of the largest operand."""
    return ValueRange(max(x.low for x in operands), max(x.high for x in operands))


def absolute(a: ValueRange) -> ValueRange:
    """Return the bounds of `abs(a)`."""
    return ValueRange(0 if a.low <= 0 <= a.high else min(map(abs, a)), max(map(abs, a)))


def square_root(a: ValueRange) -> ValueRange:
    """Return the bounds of the square root."""
    return EVERYTHING if a.low < 0 else monotonic(math.sqrt)(a)


def exponential(a: ValueRange) -> ValueRange:
    """Return the bounds of `exp(a)`."""
    return ValueRange(0.0, math.inf)
