"""Solver for guards on single sizes, which finds `Dim`s that satisfy the guards of an export.

For a size n with the example value 7, each line shows guards and the solution:

    n >= 4                           min=4
    n % 2 == 1                       n = 2*_n - 1, for a new `Dim` with the name _n
    (n + 1) // 2 <= n                n = 2*_n - 1: all solutions have the example's remainder
    (n + 1) // 2 == 4                n = 7
"""

from __future__ import annotations

import math
from typing import Any, Final

from ts.export import sympy_functions as e
from ts.export.intervals import ValueRange
from ts.export.sympy_import import solve_congruence, sympy

_SOLVED_FUNCTIONS: Final = (sympy.Add, sympy.Mul, sympy.Pow, e.FloorDiv, e.Mod)


class SizeConstraints:
    """Guards on one size. `hint` is the example size, and `bounds` is the range of the size."""

    def __init__(self, symbol: Any, hint: int, bounds: ValueRange) -> None:
        self.symbol = symbol
        self.hint = hint
        self.bounds = bounds
        self.value: Any = None  # the only size that satisfies the guards, or None
        self._congruences: dict[Any, None] = {}  # conditions `x % n == 0`, as expressions `x % n`

    def add(self, condition: Any) -> bool:
        """Add a guard. Return True if previous guards imply it.

        As in PyTorch, a guard with `!=`, `and`, `or` or a function such as `max` is ignored.
        """
        if not isinstance(condition, sympy.core.relational.Relational) or isinstance(condition, sympy.Ne):
            return False
        if not all(_is_solvable(side) for side in condition.args):
            return False
        known_congruences = len(self._congruences)
        condition = condition.func(*map(self._without_rounding, condition.args))
        if condition == sympy.true:
            return len(self._congruences) == known_congruences
        self._solve(condition)
        return False

    def multiple(self) -> tuple[int, int] | None:
        """Return (n, remainder), so that each solution is `n * k + remainder`, or None for all sizes.

        The remainder is in the range [1 - n, 0].
        """
        pairs = [pair for x in self._congruences if (pair := self._solve_congruence(x)) is not None]
        if not pairs or self.value is not None:
            return None
        remainder, divisor = map(int, solve_congruence(*pairs))
        return (divisor, remainder - divisor if remainder else 0) if divisor > 1 else None

    def _without_rounding(self, x: Any) -> Any:
        """Replace `a // n` by `(a - k) / n` and `a % n` by k, and require `a % n == k`.

        k is the remainder for the example size.
        """
        if not isinstance(x, e.FloorDiv | e.Mod):
            return x.func(*map(self._without_rounding, x.args)) if x.args else x
        dividend, divisor = map(self._without_rounding, x.args)
        numbers = {self.symbol: sympy.Integer(self.hint)}
        remainder = dividend.xreplace(numbers) % divisor.xreplace(numbers)
        congruence = (dividend - remainder) % divisor
        if congruence != 0:
            self._congruences[congruence] = None
        return remainder if isinstance(x, e.Mod) else (dividend - remainder) / divisor

    def _solve(self, condition: Any) -> None:
        """Narrow the range by a linear relation. Other relations are ignored."""
        difference = sympy.expand(condition.lhs - condition.rhs)
        if isinstance(condition, sympy.Eq):
            difference = sympy.fraction(sympy.together(difference))[0]
        if not difference.is_polynomial(self.symbol) or sympy.degree(difference, self.symbol) != 1:
            return
        factor = difference.coeff(self.symbol)
        end = -difference.coeff(self.symbol, 0) / factor
        if isinstance(condition, sympy.Eq):
            self.value = end
            return
        is_lower = isinstance(condition, sympy.Gt | sympy.Ge) == bool(factor > 0)
        strict = isinstance(condition, sympy.Gt | sympy.Lt)
        if is_lower:
            limit = ValueRange(math.floor(end) + 1 if strict else math.ceil(end))
        else:
            limit = ValueRange(-math.inf, math.ceil(end) - 1 if strict else math.floor(end))
        self.bounds = self.bounds.intersection(limit)

    def _solve_congruence(self, congruence: Any) -> tuple[Any, Any] | None:
        """Return (remainder, divisor) for a condition `(symbol + constant) % divisor == 0`, else None."""
        if not isinstance(congruence, sympy.Mod):
            return None
        dividend, divisor = congruence.args
        if not divisor.is_Integer or not dividend.is_polynomial(self.symbol):
            return None
        factor, constant = dividend.coeff(self.symbol), dividend.coeff(self.symbol, 0)
        if factor == 0 or sympy.expand(factor * self.symbol + constant - dividend) != 0:
            return None
        divisor, remainder = divisor / factor, -constant / factor
        if not divisor.is_Integer or not remainder.is_Integer:
            return None
        return remainder % abs(divisor), abs(divisor)


def _is_solvable(x: Any) -> bool:
    return not x.args or (isinstance(x, _SOLVED_FUNCTIONS) and all(map(_is_solvable, x.args)))
