"""Guards: conditions on arguments that are evaluated before each run and shown as Python code in errors.

s0 <= 16, s0 the length of x's first dimension        "x.size()[0] <= 16"
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import sympy

from ts.export import sympy_functions as e
from ts.export.input_guards import Check, Line
from ts.export.shape_env import ShapeEnv, Source

RELATIONS = {
    sympy.Eq: "==", sympy.Ne: "!=", sympy.Lt: "<", sympy.Le: "<=", sympy.Gt: ">", sympy.Ge: ">=",
}  # fmt: skip
_LEVELS = {"or": 1, "and": 2, "not": 3, "relation": 4, "sum": 5, "product": 6, "power": 7, "atom": 8}
_CALLS = {
    e.ToFloat: "float", e.TruncToInt: "math.trunc", e.FloorToInt: "math.floor", e.CeilToInt: "math.ceil",
    e.RoundToInt: "round", sympy.Max: "max", sympy.Min: "min", sympy.Abs: "abs",
    **{function: f"math.{name}" for name, function in e.REAL.items()},
}  # fmt: skip


def format_condition(expression: Any, names: Callable[[Any], str], outer: int = 0) -> str:
    """Format an expression as Python, with symbols named by `names`."""
    written, level = _format_with_level(expression, names)
    return f"({written})" if level < outer else written


def _format_with_level(x: Any, names: Callable[[Any], str]) -> tuple[str, int]:
    if x.is_Symbol:
        return names(x), _LEVELS["atom"]
    if not x.args:
        n = e.to_python_number(x)
        return str(n), _LEVELS["sum"] if not isinstance(n, bool) and n < 0 else _LEVELS["atom"]

    def at(operand: Any, level: str, more: int = 0) -> str:
        return format_condition(operand, names, _LEVELS[level] + more)

    if x.func in RELATIONS:
        return f"{at(x.lhs, 'sum')} {RELATIONS[x.func]} {at(x.rhs, 'sum')}", _LEVELS["relation"]
    if isinstance(x, sympy.Add):
        return " + ".join(at(a, "sum") for a in x.args), _LEVELS["sum"]
    if isinstance(x, sympy.Mul):
        if x.args[0] == -1 and len(x.args) == 2:
            return f"-{at(x.args[1], 'product', 1)}", _LEVELS["sum"]
        first, *rest = x.args
        return " * ".join([at(first, "product"), *(at(a, "product", 1) for a in rest)]), _LEVELS["product"]
    if isinstance(x, e.FloorDiv):
        return f"{at(x.args[0], 'product')} // {at(x.args[1], 'product', 1)}", _LEVELS["product"]
    if isinstance(x, e.Mod | e.FloatMod):
        return f"{at(x.args[0], 'product')} % {at(x.args[1], 'product', 1)}", _LEVELS["product"]
    if isinstance(x, e.IntTrueDiv | e.FloatTrueDiv):
        return f"{at(x.args[0], 'product')} / {at(x.args[1], 'product', 1)}", _LEVELS["product"]
    if isinstance(x, sympy.Pow | e.FloatPow | e.PowByNatural):
        return f"{at(x.args[0], 'power', 1)} ** {at(x.args[1], 'power')}", _LEVELS["power"]
    if isinstance(x, sympy.And | sympy.Or):
        word = "and" if isinstance(x, sympy.And) else "or"
        return f" {word} ".join(at(a, word, 1) for a in x.args), _LEVELS[word]
    if isinstance(x, sympy.Not):
        return f"not {at(x.args[0], 'not')}", _LEVELS["not"]
    if isinstance(x, sympy.Piecewise):
        *pairs, (last, _) = x.args
        chosen = [f"{at(value, 'or')} if {at(truth, 'or')} else " for value, truth in pairs]
        return "".join(chosen) + at(last, "or"), 0
    inside = ", ".join(format_condition(a, names) for a in x.args)
    return f"{_CALLS.get(x.func, x.func.__name__)}({inside})", _LEVELS["atom"]


class SymbolSources:
    """Locations of symbols in the arguments, and construction of guards that read the symbols' values."""

    def __init__(self, environment: ShapeEnv) -> None:
        self.environment = environment
        self.leaves: dict[str, int] = {}  # name of a symbol's source -> index of the argument leaf

    def read(self, source: Source, leaves: list[Any]) -> Any:
        """Return the number at `source` in the argument leaves."""
        leaf = leaves[self.leaves[source.name]]
        value = leaf if source.dim is None else leaf.size()[source.dim]
        return (value - source.offset) // source.factor

    def min_size_checks(self, min_sizes: Mapping[Any, int]) -> list[Check]:
        """Return guards that exclude sizes 0 and 1 for which conditions have other values than in the export.

        min_sizes   symbol -> smallest allowed value
        """
        environment = self.environment
        return [
            self.check(sympy.Ge(s, sympy.Integer(n), evaluate=False))
            for s, n in sorted(min_sizes.items(), key=str)
            if s not in environment.replaced and environment.ranges[s].low <= 2
        ]

    def range_checks(self, symbol: Any) -> list[Check]:
        """Return guards for the range of `symbol`, which is the size or value of an argument."""
        low, high = self.environment.ranges[symbol]
        bounds = [sympy.Ge(symbol, low, evaluate=False)] if low > 0 else []
        if not math.isinf(high):
            bounds.append(sympy.Le(symbol, high, evaluate=False))
        return [self._without_code(condition) for condition in bounds]

    def equal(self, symbol: Any, expression: Any) -> Check:
        """Return a guard that `symbol` equals `expression`."""
        return self._without_code(sympy.Eq(symbol, expression, evaluate=False))

    def _without_code(self, condition: Any) -> Check:
        """Return a guard without code, because archives store this condition in the metadata of arguments."""
        check = self.check(condition)
        check.code = ""
        return check

    def check(self, condition: Any, where: Line | None = None) -> Check:
        """Convert `condition`, whose symbols must have sources in the arguments, to a guard."""
        environment = self.environment
        symbols = sorted(condition.free_symbols, key=str)
        sources = {s: environment.sources[s][0] for s in symbols}

        def holds(leaves: list[Any]) -> bool:
            numbers: Mapping[Any, Any] = {s: self.read(source, leaves) for s, source in sources.items()}
            try:
                return bool(e.value(condition, numbers))
            # Reject the arguments of a division by a size of 0, because the trace does not cover this case.
            except ArithmeticError:
                return False

        code = format_condition(condition, lambda s: sources[s].code)
        return Check(format_condition(condition, lambda s: str(sources[s])), holds, code, where)


__all__ = ["RELATIONS", "Check", "SymbolSources", "format_condition"]
