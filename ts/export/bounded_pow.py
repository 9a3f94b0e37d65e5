"""Power function with a bound on the size of integer results.

Example: `power(2, 10)` returns 1024, and `power(2, 10**9)` raises OverflowError.
"""

from __future__ import annotations

from typing import Any, Final

MAX_BITS: Final = 1 << 12  # maximum number of bits of the result of an integer power


def power(a: Any, b: Any) -> Any:
    """Return a ** b. Raise OverflowError above `MAX_BITS` bits, and ValueError for complex results."""
    if isinstance(a, int) and isinstance(b, int) and abs(a) > 1 and abs(b) * a.bit_length() > MAX_BITS:
        raise OverflowError("a number is too large")
    result = a**b
    if isinstance(result, complex):
        raise ValueError("the power is not a real number")
    return result
