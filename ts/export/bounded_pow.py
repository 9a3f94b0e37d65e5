"""Powers of numbers that may be anything: power(2, 10), and OverflowError for power(2, 10**9)."""

from __future__ import annotations

from typing import Any, Final

MAX_BITS: Final = 1 << 12  # maximum size of an integer power


def power(a: Any, b: Any) -> Any:
    """Compute a ** b; OverflowError above the size limit, ValueError for complex results."""
    if isinstance(a, int) and isinstance(b, int) and abs(a) > 1 and abs(b) * a.bit_length() > MAX_BITS:
        raise OverflowError("a number is too large")
    found = a**b
    if isinstance(found, complex):
        raise ValueError("a power is no real number")
    return found
