"""Symbolic size expressions: sympy sums, products, `Min`, `Max`, and functions with Python semantics.

Example:

    s = sympy.Symbol("s0", integer=True, positive=True)
    FloorDiv(4 * s, 2)                              simplified to 2*s0
    Mod(4 * s, 2)                                   simplified to 0
    FloorDiv(s, 2)                                  printed as (s0//2)

Expressions are exact. `value(expression, numbers)` rounds as Python does.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from ts.export.size_operations import OPERATIONS, Kind, SizeOperation, SymbolicFunction
from ts.export.sympy_import import PRECEDENCE, Boolean, sympy

Expression = sympy.Basic  # type of all expressions, for numbers and for booleans


# Limits of polynomials that sympy divides, because the division of larger polynomials takes too long: numbers
# of generators (symbols and functions), of terms, and of nodes of the expression tree.
_MAX_GENERATORS = 12
_MAX_TERMS = 100
_MAX_POLYNOMIAL_NODES = 120
# Maximum number of nodes of an expression tree with repeated parts. sympy visits each occurrence of a part.
MAX_EXPRESSION_NODES = 2_000


@lru_cache(maxsize=4096)
def count_nodes(x: Any) -> int:
    """Return the number of nodes of an expression tree. Each occurrence of a shared part is counted."""
    return 1 + sum(map(count_nodes, x.args))


def has_repeated_parts(x: Any) -> bool:
    """Return True for a large expression that consists mostly of repeated nodes (90 %).

    A large expression has more than `MAX_EXPRESSION_NODES` nodes.
    """
    if count_nodes(x) <= MAX_EXPRESSION_NODES:
        return False
    different: set[Any] = set()
    waiting = [x]
    while waiting:
        y = waiting.pop()
        if y not in different:
            different.add(y)
            waiting += y.args
    return count_nodes(x) > 10 * len(different)


def terms(x: Any) -> int:
    """Return an upper bound for the number of terms of an expression after expansion."""
    if x.is_Add:
        return sum(map(terms, x.args))
    if x.is_Mul:
        return math.prod(map(terms, x.args))
    if x.is_Pow and x.exp.is_Integer and x.exp > 0:
        count = terms(x.base)
        return math.comb(count + int(x.exp) - 1, count - 1)
    return 1


def _is_large(*polynomials: Any) -> bool:
    """Return True if sympy would need too long to divide these polynomials."""
    if any(count_nodes(x) > _MAX_POLYNOMIAL_NODES for x in polynomials):
        return True
    generators = set().union(*(x.atoms(sympy.Symbol, sympy.Function) for x in polynomials))
    return len(generators) > _MAX_GENERATORS or any(terms(x) > _MAX_TERMS for x in polynomials)


def _common(a: Any, b: Any) -> tuple[Any, Any]:
    """Return `a` and `b` divided by their common factors.

    If the division takes too long, return them unchanged.
    """
    if _is_large(a, b):
        return a, b
    if a.has(sympy.Piecewise) or b.has(sympy.Piecewise):
        return a, b
    shared = sympy.gcd(a, b)
    if shared not in (0, 1) and shared.is_integer:
        return sympy.cancel(a / shared), sympy.cancel(b / shared)
    return a, b


class FloorDiv(sympy.Function):
    """Floor division `a // b` of integers."""

    nargs = (2,)
    is_integer = True
    precedence = 35  # precedence for sympy's printer, lower than that of a sum

    @classmethod
    def eval(cls, a: Any, b: Any) -> Any:
        """Simplify constants, equal terms and common factors. Raise ZeroDivisionError if `b` is 0."""
        if b.is_zero:
            raise ZeroDivisionError("division by zero")
        if a.is_zero or b == 1:
            return a
        if a.is_Integer and b.is_Integer:
            return sympy.Integer(int(a) // int(b))
        if a == b:
            return sympy.Integer(1)
        if isinstance(a, FloorDiv):
            return FloorDiv(a.args[0], a.args[1] * b)
        if a.is_Add:  # (n * b + rest) // b is n + rest // b
            multiples = [x for x in a.args if _divides(b, x)]
            if multiples:
                rest = sympy.Add(*(x for x in a.args if x not in multiples))
                return sympy.Add(*(sympy.cancel(x / b) for x in multiples)) + FloorDiv(rest, b)
        if _divides(b, a):
            return sympy.cancel(a / b)
        reduced = _common(a, b)
        return FloorDiv(*reduced) if reduced != (a, b) else None

    def _eval_is_nonnegative(self) -> Any:
        a, b = self.args
        return True if a.is_nonnegative and b.is_positive else None

    def _sympystr(self, printer: Any) -> str:
        a, b = (printer.parenthesize(x, PRECEDENCE["Atom"] - 0.5) for x in self.args)
        return f"({a}//{b})"


def _divides(b: Any, a: Any) -> bool:
    """Return True if `b` is known to divide `a` for all values of the symbols."""
    if b.is_Integer and a.is_Integer:
        return int(a) % int(b) == 0
    # sympy's polynomial division does not support Piecewise expressions
    if a.has(sympy.Piecewise) or b.has(sympy.Piecewise):
        return False
    if _is_large(a, b):
        return False
    quotient = sympy.cancel(a / b)
    return (quotient.is_integer is True and not quotient.has(sympy.Pow)) or (
        quotient.is_integer is True and all(p.exp.is_nonnegative for p in quotient.atoms(sympy.Pow))
    )


class Mod(sympy.Function):
    """Remainder `a % b` of integers as in Python: it has the sign of b."""

    nargs = (2,)
    is_integer = True
    precedence = 35

    @classmethod
    def eval(cls, a: Any, b: Any) -> Any:
        """Simplify the remainder of constants and of sums with multiples of `b`. Otherwise, return None.

        Raise ZeroDivisionError if `b` is 0.
        """
        if b.is_zero:
            raise ZeroDivisionError("Modulo by zero")
        if a.is_zero or b == 1 or a == b:
            return sympy.Integer(0)
        if a.is_Integer and b.is_Integer:
            return sympy.Integer(int(a) % int(b))
        if _divides(b, a):
            return sympy.Integer(0)
        if a.is_Add and b.is_Integer:
            rest = [x for x in a.args if not _divides(b, x)]
            if len(rest) < len(a.args):
                return Mod(sympy.Add(*rest), b)
        return None

    def _eval_is_nonnegative(self) -> Any:
        return True if self.args[1].is_positive else None


class ToFloat(sympy.Function):
    """Conversion of an integer expression to float."""

    nargs = (1,)
    is_real = True

    @classmethod
    def eval(cls, a: Any) -> Any:
        """Convert a constant to float.

        Return None for any other expression, so that sympy does not evaluate it.
        """
        return sympy.Float(int(a)) if a.is_Integer else None


class IntTrueDiv(sympy.Function):
    """Quotient `a / b` of integers, a float."""

    nargs = (2,)
    is_real = True

    @classmethod
    def eval(cls, a: Any, b: Any) -> Any:
        """Divide constants, rounded as in Python. Raise ZeroDivisionError if `b` is 0."""
        if b.is_zero:
            raise ZeroDivisionError("division by zero")
        return sympy.Float(int(a) / int(b)) if a.is_Integer and b.is_Integer else None


class FloatTrueDiv(sympy.Function):
    """Quotient `a / b` with at least one float operand."""

    nargs = (2,)
    is_real = True

    @classmethod
    def eval(cls, a: Any, b: Any) -> Any:
        """Divide constants in float64. Raise ZeroDivisionError if `b` is 0."""
        if b.is_zero:
            raise ZeroDivisionError("division by zero")
        return sympy.Float(float(a) / float(b)) if a.is_number and b.is_number else None


class FloatMod(sympy.Function):
    """Remainder `a % b` with at least one float operand."""

    nargs = (2,)
    is_real = True

    @classmethod
    def eval(cls, a: Any, b: Any) -> Any:
        """Compute the remainder of constants by Python's rule. Raise ZeroDivisionError if `b` is 0."""
        if b.is_zero:
            raise ZeroDivisionError("float modulo by zero")
        return sympy.Float(float(a) % float(b)) if a.is_number and b.is_number else None

    def _sympystr(self, printer: Any) -> str:
        return f"PythonMod({', '.join(map(printer.doprint, self.args))})"


class PowByNatural(sympy.Function):
    """Power `a ** b` of integers, where b is a symbol that is not negative."""

    nargs = (2,)
    is_integer = True

    @classmethod
    def eval(cls, a: Any, b: Any) -> Any:
        """Return sympy's power if the exponent is constant.

        Otherwise, return None, so that the power is not evaluated.
        """
        return sympy.Pow(a, b) if b.is_Integer else None


def _define_rounding(name: str, compute: Callable[[float], int]) -> type[Any]:
    """Define a sympy function that rounds floats to integers."""

    def evaluated(cls: Any, a: Any) -> Any:
        if a.is_Integer:
            return a
        if isinstance(a, ToFloat):
            return a.args[0]
        return sympy.Integer(compute(float(a))) if a.is_number else None

    contents = {"__doc__": f"{name}(a)", "nargs": (1,), "is_integer": True, "eval": classmethod(evaluated)}
    return type(name, (sympy.Function,), {**contents, "__module__": __name__})


TruncToInt = _define_rounding("TruncToInt", math.trunc)
FloorToInt = _define_rounding("FloorToInt", math.floor)
CeilToInt = _define_rounding("CeilToInt", math.ceil)
RoundToInt = _define_rounding("RoundToInt", round)


def _define_opaque(operation: SizeOperation, function: SymbolicFunction) -> type[Any]:
    """Define a sympy function of integers, or of floats.

    Calls are evaluated only if all operands are numbers.
    """
    is_integer = function.kind is Kind.INTEGERS
    compute: Any = operation.compute
    convert, number = (int, sympy.Integer) if is_integer else (float, sympy.Float)

    def evaluated(cls: Any, *operands: Any) -> Any:
        if all(x.is_Integer if is_integer else x.is_number for x in operands):
            return number(compute(*map(convert, operands)))
        return None

    contents = {
        "__doc__": f"{operation.name} of {function.kind.value}",
        "nargs": (function.max_count,),
        "is_integer" if is_integer else "is_real": True,
        "eval": classmethod(evaluated),
    }
    return type(function.name, (sympy.Function,), {**contents, "__module__": __name__})


# Name of a function in `OPERATIONS` -> sympy class of the function. The class is from this module, from
# sympy, or opaque.
CLASSES: Mapping[str, Any] = {
    f.name: globals().get(f.name) or getattr(sympy, f.name, None) or _define_opaque(op, f)
    for op in OPERATIONS
    for f in op.functions
}
# Sympy class -> (first operation in `OPERATIONS` with a function of this class, function of this operation).
FUNCTIONS: Mapping[Any, tuple[SizeOperation, SymbolicFunction]] = {
    CLASSES[f.name]: (op, f) for op in reversed(OPERATIONS) for f in op.functions
}


def to_python_number(x: Any) -> Any:
    """Convert a constant expression to a Python number."""
    if x in (sympy.true, sympy.false):
        return bool(x)
    return int(x) if x.is_Integer else float(x)


def value(expression: Any, numbers: Mapping[Any, Any]) -> Any:
    """Return the value of an expression. `numbers` contains the values of its symbols.

    Raise KeyError if `numbers` lacks a symbol, and ArithmeticError or ValueError if the value is undefined or
    too large (division by zero, a very large power).
    """
    done: dict[Any, Any] = {}
    waiting = [expression]
    while waiting:
        x = waiting[-1]
        if x in done:
            waiting.pop()
            continue
        if x.is_Symbol:
            done[x] = numbers[x]
        elif not x.args:
            done[x] = to_python_number(x)
        elif missing := [a for a in x.args if a not in done]:
            waiting.extend(missing)
            continue
        elif isinstance(x, sympy.Piecewise):
            chosen = [done[pair.args[0]] for pair in x.args if done[pair.args[1]]]
            if not chosen:
                raise ValueError(f"no condition of {x} is true")
            done[x] = chosen[0]
        elif type(x).__name__ == "ExprCondPair":
            done[x] = None
        else:
            operation, function = FUNCTIONS[x.func]
            compute: Any = function.compute or operation.compute
            done[x] = compute(*(done[a] for a in x.args))
        waiting.pop()
    return done[expression]


def to_sympy(x: Any) -> Any:
    """Convert a Python number to an expression. Raise TypeError for other values."""
    if isinstance(x, bool):
        return sympy.true if x else sympy.false
    if isinstance(x, int):
        return sympy.Integer(x)
    if isinstance(x, float):
        return sympy.Float(x)
    raise TypeError(f"{type(x).__name__} is not a number")


def is_truth(x: Any) -> bool:
    """Return True for a boolean expression."""
    return isinstance(x, Boolean) and not isinstance(x, sympy.Symbol)


def is_of_data(expression: Any) -> bool:
    """Return True for an unbacked symbol, such as u0 or zuf0."""
    return bool(expression.is_Symbol) and str(expression)[0] in "uz"


def is_constant(x: Any) -> bool:
    """Return True if an expression has no symbols."""
    return x.is_Integer or (not x.is_Symbol and not x.free_symbols)
