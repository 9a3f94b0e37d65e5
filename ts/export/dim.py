"""Specifications of dynamic dimensions: `Dim`, and the hints `Dim.AUTO`, `Dim.DYNAMIC` and `Dim.STATIC`.

In this example, the second size of `x` is twice its first size:

    batch = Dim("batch", min=2, max=64)
    dynamic_shapes = {"x": {0: batch, 1: 2 * batch}}

A hint has no name:

    Dim.AUTO                dynamic, or constant if the program requires a constant size
    Dim.DYNAMIC             dynamic, or an error if the program requires a constant size
    Dim.STATIC              constant
"""

from __future__ import annotations

import math
from typing import Any


class _Hint:
    """Dimension spec without a name: `Dim.AUTO`, `Dim.DYNAMIC` or `Dim.STATIC`, optionally with bounds."""

    def __init__(self, kind: str, min: int | None = None, max: int | None = None) -> None:
        self.kind = kind
        self.min = min
        self.max = max

    def __call__(self, min: int | None = None, max: int | None = None) -> _Hint:
        if self.kind == "STATIC":
            raise TypeError("Dim.STATIC does not accept bounds")
        return _Hint(self.kind, min, max)

    def __repr__(self) -> str:
        low = "" if self.min is None else f", min={self.min}"
        high = "" if self.max is None else f", max={self.max}"
        return f"DimHint({self.kind}{low}{high})"


class Dim:
    """Spec of a dynamic dimension with a name. Dimensions with the same name have the same size.

    A `Dim` has a range, or is a linear expression of another `Dim`, such as `2 * batch`.
    """

    AUTO = _Hint("AUTO")
    DYNAMIC = _Hint("DYNAMIC")
    STATIC = _Hint("STATIC")

    def __init__(self, name: str, *, min: int | None = None, max: int | None = None) -> None:
        from ts.utils._pytree import tree_leaves  # noqa: F401  (`export` flattens trees of specs)

        if not name.isidentifier():
            raise AssertionError(f"Dim name must be a valid identifier, got {name}")
        low = 0 if min is None else min
        high = math.inf if max is None else max
        if not high > low:
            raise AssertionError(f"Cannot create Dim with inconsistent min={low}, max={max}")
        self.__name__ = name
        self.min = low
        self.max = high
        self.root: Dim = self
        self.factor = 1
        self.offset = 0

    def _derived(self, factor: int, offset: int) -> Dim:
        dim = object.__new__(Dim)
        dim.root, dim.factor, dim.offset = self.root, factor, offset
        dim.__name__ = _format(self.root.__name__, factor, offset)
        dim.min = self.root.min * factor + offset
        dim.max = self.root.max * factor + offset
        return dim

    def __add__(self, other: Any) -> Dim:
        if type(other) is not int:
            raise NotImplementedError(
                f"Attempted to add {other} to {self.__name__}, where an integer was expected. "
                "(Only increasing linear operations with integer coefficients are supported.)"
            )
        return self._derived(self.factor, self.offset + other)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Dim:
        if type(other) is not int:
            raise NotImplementedError(
                f"Attempted to subtract {other} from {self.__name__}, where an integer was expected. (Only "
                "increasing linear operations with integer coefficients are supported.)"
            )
        return self._derived(self.factor, self.offset - other)

    def __rsub__(self, other: Any) -> Dim:
        raise NotImplementedError(
            f"Attempted to negate {self.__name__}. (Only increasing linear operations with integer "
            "coefficients are supported.)"
        )

    def __mul__(self, other: Any) -> Dim:
        if type(other) is not int or other <= 0:
            raise NotImplementedError(
                f"Attempted to multiply {other} with {self.__name__}, where a positive integer was expected. "
                "(Only increasing linear operations with integer coefficients are supported.)"
            )
        return self._derived(self.factor * other, self.offset * other)

    __rmul__ = __mul__

    def __repr__(self) -> str:
        if self.root is not self:
            return self.__name__
        high = "" if math.isinf(self.max) else f", max={self.max}"
        low = "" if self.min == 2 else f", min={self.min}"
        return f"Dim('{self.__name__}'{low}{high})"


def _format(name: str, factor: int, offset: int) -> str:
    term = name if factor == 1 else f"{factor}*{name}"
    return term if offset == 0 else f"{term} {'+' if offset > 0 else '-'} {abs(offset)}"


def dims(*names: str, min: int | None = None, max: int | None = None) -> tuple[Dim, ...]:
    """Create several dimensions with a common range."""
    return tuple(Dim(name, min=min, max=max) for name in names)


def to_int_bound(x: Any) -> int | None:
    """Convert a range bound to int. Return None for infinite and non-integer bounds."""
    try:
        n = int(x)
    except (OverflowError, TypeError, ValueError):
        return None
    return n if x == n else None
