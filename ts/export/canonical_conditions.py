"""Canonical forms (normal forms) of inequalities and divisibility conditions on symbols.

Each line shows a call and its result:

    canonical_inequality(u0 - 2 > 0)            2 < u0
    as_multiple(Eq(4 * (s0 // 4), s0))          Eq(Mod(s0, 4), 0)
"""

from __future__ import annotations

import math
from typing import Any

from ts.export import sympy_functions as e
from ts.export.sympy_import import sympy


def canonical_inequality(condition: Any) -> Any:
    """Normalize an inequality, or each inequality of an And or Or: `u0 - 2 > 0` becomes `2 < u0`.

    The result is `a < b` or `a <= b`. If all coefficients are ints, the coefficients of the result are
    positive and have no common factor. A condition of another kind is returned unchanged.
    """
    if isinstance(condition, sympy.And | sympy.Or):
        return condition.func(*map(canonical_inequality, condition.args), evaluate=False)
    if not isinstance(condition, sympy.Lt | sympy.Le | sympy.Gt | sympy.Ge):
        return condition
    strict = isinstance(condition, sympy.Lt | sympy.Gt)
    lower, upper = condition.args if isinstance(condition, sympy.Lt | sympy.Le) else condition.args[::-1]
    terms = [t.as_coeff_Mul() for t in sympy.Add.make_args(sympy.expand(upper - lower)) if t != 0]
    if not terms or not all(factor.is_Integer for factor, _ in terms):
        return (sympy.Lt if strict else sympy.Le)(lower, upper, evaluate=False)
    common = math.gcd(*(int(factor) for factor, _ in terms))
    sides = [
        sympy.Add(*(abs(factor) // common * rest for factor, rest in terms if bool(factor > 0) is positive))
        for positive in (False, True)
    ]
    return (sympy.Lt if strict else sympy.Le)(*sides, evaluate=False)


def is_simple_guard(condition: Any) -> bool:
    """Return True if a condition bounds one symbol by a number, or equates one symbol with an expression."""
    if not isinstance(condition, sympy.core.relational.Relational):
        return False
    if isinstance(condition, sympy.Eq):
        return any(x.is_Symbol for x in condition.args)
    symbols = condition.free_symbols
    return len(symbols) == 1 and is_linear(sympy.expand(condition.lhs - condition.rhs), *symbols)


def canonical_equality(condition: Any) -> Any:
    """Cancel equal terms on both sides: `s0 + s1 == s0 + 2*s2` becomes `s1 == 2*s2`.

    A condition that is not an equality, or that has an int on one side, is returned unchanged.
    """
    if not isinstance(condition, sympy.Eq) or any(x.is_Integer for x in condition.args):
        return condition
    terms = [t.as_coeff_Mul() for t in sympy.Add.make_args(sympy.expand(condition.lhs - condition.rhs))]
    if not all(factor.is_Integer for factor, _ in terms):
        return condition
    sides = [
        sympy.Add(*(abs(factor) * rest for factor, rest in terms if bool(factor > 0) is positive))
        for positive in (True, False)
    ]
    return sympy.Eq(*sides, evaluate=False)


def as_multiple(condition: Any) -> Any:
    """Rewrite `n * (x // n) == x` as `x % n == 0`. Other conditions are returned unchanged."""
    if not isinstance(condition, sympy.Eq):
        return condition
    difference = sympy.expand(condition.lhs - condition.rhs)
    for term in sympy.Add.make_args(difference):
        for quotient in sympy.Mul.make_args(term):
            if not isinstance(quotient, e.FloorDiv):
                continue
            factor = term / quotient
            if factor in (quotient.args[1], -quotient.args[1]):
                rest = sympy.expand((term - difference) * (factor / quotient.args[1]))
                if sympy.expand(rest - quotient.args[0]) == 0:
                    return sympy.Eq(e.Mod(*quotient.args), 0)
    return condition


def without_constant(expression: Any) -> tuple[Any, Any]:
    """Split an expression. Return (sum of the terms with symbols, constant term)."""
    constant, rest = sympy.expand(expression).as_coeff_Add()
    return rest, e.to_python_number(constant)


def is_linear(expression: Any, symbol: Any) -> bool:
    """Return True if `symbol` occurs in one term only, and this term is a number times `symbol`."""
    terms = [t for t in sympy.Add.make_args(expression) if symbol in t.free_symbols]
    return len(terms) == 1 and terms[0].as_coeff_Mul()[1] == symbol
