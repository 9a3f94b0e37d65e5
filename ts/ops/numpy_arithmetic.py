"""Binary pointwise kernels for functions that NumPy lacks or defines differently from PyTorch.

Input: the array namespace and arrays of one dtype. Output: an array of the broadcast shape, before the final
cast.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ts.ops import common

Array = common.Array


def check_no_bool_subtraction(*operands: Any) -> None:
    """Raise RuntimeError for subtraction of bools."""
    bools = [x is True or x is False or getattr(x, "dtype", None) == common.BOOL for x in operands]
    if all(bools):
        raise RuntimeError(
            "Subtraction, the `-` operator, with two bool tensors is not supported. "
            "Use the `^` or `logical_xor()` operator instead."
        )
    if any(bools):
        raise RuntimeError(
            "Subtraction, the `-` operator, with a bool tensor is not supported. "
            "If you are trying to invert a mask, use the `~` or `logical_not()` operator instead."
        )


def floor_divide(xp: Any, x: Array, y: Array) -> Array:
    """Return the quotient rounded towards -inf."""
    check_nonzero_divisor(xp, y)
    return xp.floor_divide(x, y)


def check_nonzero_divisor(xp: Any, y: Array) -> None:
    """Raise RuntimeError for zero integer divisors."""
    if y.dtype.kind in "iub" and common.is_any_true(xp, y == 0):
        raise RuntimeError("ZeroDivisionError")


def remainder(xp: Any, x: Array, y: Array) -> Array:
    """Return the division remainder with the divisor's sign (floor modulo)."""
    check_nonzero_divisor(xp, y)
    rest = xp.remainder(x, y)
    if x.dtype.kind in "iu":
        return rest
    # a remainder of 0 has the sign of x in PyTorch, and of y in NumPy
    return xp.where(rest == 0, xp.copysign(rest, x), rest)


def lcm(xp: Any, x: Array, y: Array) -> Array:
    """Return the least common multiple."""
    multiple = xp.lcm(x, y)
    # 8-bit and 16-bit results may be negative as in PyTorch, which computes in 32 bits and truncates the
    # result
    return xp.abs(multiple) if x.dtype.itemsize >= 4 else multiple


def fmod(xp: Any, x: Array, y: Array) -> Array:
    """Return the division remainder with the dividend's sign."""
    check_nonzero_divisor(xp, y)
    return xp.fmod(x, y)


def power(xp: Any, x: Array, y: Array) -> Array:
    """Return the power x ** y, whose fraction is truncated for integers."""
    if x.dtype == common.BOOL:
        return x | ~y
    if x.dtype.kind in "iu":
        safe = xp.power(x, xp.where(y < 0, 0, y))
        inverse = (
            xp.where(x == 1, 1, xp.where(x == -1, xp.where(y % 2 == 0, 1, -1), 0))
            if x.dtype.kind == "i"
            else x == 1
        )
        return xp.where(y < 0, inverse, safe)
    return xp.power(x, y)


# Dict from exponent to the function (xp, x) that computes the power by products, quotients and roots. Each
# step is rounded, as in PyTorch.
PRODUCTS: dict[float, Callable[[Any, Array], Array]] = {
    3: lambda xp, x: x * x * x,
    -1: lambda xp, x: 1 / x,
    -2: lambda xp, x: 1 / (x * x),
    -0.5: lambda xp, x: 1 / xp.sqrt(x),
}
WITH_PRODUCTS = (common.FLOAT, common.DOUBLE)


def xlogy(xp: Any, x: Array, y: Array) -> Array:
    """Return x * log(y), 0 if x is 0, NaN if y is NaN."""
    return xp.where(xp.isnan(y), y, xp.where(x == 0, 0, x * xp.log(y)))


def xlog1py(xp: Any, x: Array, y: Array) -> Array:
    """Return x * log1p(y), 0 if x is 0, NaN if y is NaN."""
    return xp.where(xp.isnan(y), y, xp.where(x == 0, 0, x * xp.log1p(y)))


def logaddexp(xp: Any, x: Array, y: Array) -> Array:
    """Return log(exp(x) + exp(y)), also for complex numbers."""
    if x.dtype.kind != "c":
        return xp.logaddexp(x, y)
    high, low = xp.where(x.real >= y.real, x, y), xp.where(x.real >= y.real, y, x)
    return xp.where(high == low, high + math.log(2), high + xp.log1p(xp.exp(low - high)))


def logical(name: str) -> Callable[[Any, Array, Array], Array]:
    """Return a kernel that applies the logical ufunc `name` to the truth values of the elements."""

    def body(xp: Any, x: Array, y: Array) -> Array:
        return getattr(xp, name)(x != 0, y != 0)

    return body


def heaviside(xp: Any, x: Array, y: Array) -> Array:
    """Return 0 below zero, 1 above zero, y at zero."""
    return xp.where(x == 0, y, (x > 0).astype(x.dtype))


def shift(name: str) -> Callable[[Any, Array, Array], Array]:
    """Return the kernel of bit shift `name`.

    For counts that are negative or too large, the result is 0, or -1 for `right_shift` of a negative number.
    """

    def body(xp: Any, x: Array, y: Array) -> Array:
        bits = x.dtype.itemsize * 8
        wild = (y < 0) | (y >= bits)
        shifted = getattr(xp, name)(x, xp.where(wild, 0, y))
        beyond = (x >> (bits - 1)) if name == "right_shift" and x.dtype.kind == "i" else xp.zeros_like(x)
        return xp.where(wild, beyond, shifted)

    return body
