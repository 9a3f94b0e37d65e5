"""Guards: conditions on arguments that are evaluated before each run and shown as Python code in errors.

s0 <= 16, s0 the length of x's first dimension        "x.size()[0] <= 16"
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, Final

import sympy

from ts.export import sympy_functions as e
from ts.export.input_guards import Check, Line
from ts.export.shape_env import ShapeEnv, Source
from ts.export.size_operations import RELATIONS

# Operator -> precedence of its result, and minimal precedence of its first and of its other operands.
_PRECEDENCE: Final = {
    "if": (0, 1, 1), "or": (1, 2, 2), "and": (2, 3, 3), "not": (3, 3, 3),
    **dict.fromkeys((op.sign for op in RELATIONS.values()), (4, 8, 8)),
    "|": (5, 5, 6), "^": (6, 6, 7), "&": (7, 7, 8), "+": (8, 8, 8), "-": (8, 10, 10),
    **dict.fromkeys(("*", "/", "//", "%"), (9, 9, 10)), "**": (10, 11, 10), "": (11, 0, 0),
}  # fmt: skip


def format_condition(expression: Any, names: Callable[[Any], str], outer: int = 0) -> str:
    """Format an expression as Python, with symbols named by `names`."""
    written, level = _format_with_level(expression, names)
    return f"({written})" if level < outer else written


def _format_with_level(x: Any, names: Callable[[Any], str]) -> tuple[str, int]:
    """Return an expression as Python and its precedence."""
    operation, function = e.FUNCTIONS.get(x.func, (None, None))
    sign, operands = "", x.args
    if x.is_Symbol:
        return names(x), _PRECEDENCE[""][0]
    if not x.args:
        n = e.to_python_number(x)
        return str(n), _PRECEDENCE["+" if not isinstance(n, bool) and n < 0 else ""][0]
    if isinstance(x, sympy.Piecewise):
        *pairs, (last, _) = x.args
        sign, operands = "if", [*(y for pair in pairs for y in pair), last]
    elif isinstance(x, sympy.Mul) and x.args[0] == -1 and len(x.args) == 2:
        sign, operands = "-", x.args[1:]
    elif operation is not None and function is not None:
        sign = function.sign or operation.sign
    level, *levels = _PRECEDENCE[sign]
    first, *rest = (format_condition(y, names, levels[i > 0]) for i, y in enumerate(operands))
    if sign == "if":
        *choices, last = first, *rest
        pairs = zip(choices[::2], choices[1::2], strict=True)
        return "".join(f"{value} if {truth} else " for value, truth in pairs) + last, level
    if not sign:
        name = x.func.__name__ if operation is None else operation.call_name
        return f"{name}({', '.join([first, *rest])})", level
    if len(operands) == 1:
        return f"{'not ' if sign == 'not' else sign}{first}", level
    return f" {sign} ".join([first, *rest]), level


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
