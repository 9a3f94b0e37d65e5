"""Guard expressions (shape guards), evaluated before each run and printed as Python code in errors.

Example: if s0 is the size of dimension 0 of x, then s0 <= 16 is printed as "x.size()[0] <= 16".
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping
from typing import Any, Final

from ts.export import sympy_functions as e
from ts.export.expr_parser import Constant, FunctionCall, Name, Operation, Source
from ts.export.input_guards import InputGuard, Line, guard_bound
from ts.export.shape_env import ShapeEnv
from ts.export.size_operations import RELATIONS
from ts.export.sympy_import import sympy

# operator -> (precedence of the operator, minimum precedence of its first operand, minimum precedence of its
# other operands). An operand below the minimum precedence gets parentheses.
_PRECEDENCE: Final = {
    "if": (0, 1, 1), "or": (1, 2, 2), "and": (2, 3, 3), "not": (3, 3, 3),
    **dict.fromkeys((op.sign for op in RELATIONS.values()), (4, 8, 8)),
    **dict.fromkeys("|^&", (5, 8, 8)),  # equal precedence, as in the formula grammar of archives
    "+": (8, 8, 8), "-": (8, 10, 10),
    **dict.fromkeys(("*", "/", "//", "%"), (9, 9, 10)), "**": (10, 11, 10), "": (11, 0, 0),
}  # fmt: skip


def format_condition(expression: Any, names: Callable[[Any], str], outer: int = 0) -> str:
    """Return an expression as Python code, in which `names(symbol)` replaces each symbol.

    The code is enclosed in parentheses if the precedence of the expression is below `outer`.
    """
    written, level = _format_with_level(expression, names)
    return f"({written})" if level < outer else written


def _format_with_level(x: Any, names: Callable[[Any], str]) -> tuple[str, int]:
    """Return an expression as Python code, and the operator precedence of its outermost operator."""
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


def to_formula(x: Any, sources: Mapping[Any, Source]) -> Any:
    """Convert an expression to a formula. `sources` maps its symbols to locations in the arguments."""
    if x.is_Symbol:
        return sources[x]
    if not x.args:
        return Constant(e.to_python_number(x))
    if isinstance(x, sympy.Piecewise):
        *pairs, (last, _) = ((to_formula(y, sources), truth) for y, truth in x.args)
        for y, truth in reversed(pairs):
            last = Operation("if", (to_formula(truth, sources), y, last))
        return last
    operation, function = e.FUNCTIONS[x.func]
    operands = tuple(to_formula(y, sources) for y in x.args)
    sign = function.sign or operation.sign
    if not sign:
        return FunctionCall(Name(operation.call_name), operands, ())
    if len(operands) == 1:
        return Operation(sign, operands)
    return functools.reduce(lambda first, second: Operation(sign, (first, second)), operands)


class GuardBuilder:
    """Builder of guards from conditions on the symbols of an environment."""

    def __init__(self, environment: ShapeEnv) -> None:
        self.environment = environment

    def min_sizes(self, min_sizes: Mapping[Any, int]) -> list[InputGuard]:
        """Return guards that set lower bounds for sizes, as conditions may differ for sizes 0 and 1.

        min_sizes   symbol -> smallest size for which the conditions of the export keep their values
        """
        environment = self.environment
        return [
            self.guard(sympy.Ge(s, sympy.Integer(n), evaluate=False))
            for s, n in sorted(min_sizes.items(), key=str)
            if s not in environment.replaced and environment.ranges[s].low <= 2
        ]

    def range_guards(self, symbol: Any) -> list[InputGuard]:
        """Return guards for the range of `symbol`, which is the size or value of an argument."""
        low, high = self.environment.ranges[symbol]
        source = self.environment.sources[symbol][0]
        bounds = [guard_bound(source, ">=", low)] if low > 0 else []
        return bounds if math.isinf(high) else [*bounds, guard_bound(source, "<=", high)]

    def equal(self, source: Source, expression: Any) -> InputGuard:
        """Return a guard that the size or number at `source` equals `expression`.

        Archives do not contain this guard, because the metadata of the argument contains the expression.
        """
        sources = {s: self.environment.sources[s][0] for s in expression.free_symbols}
        return guard_equal(source, expression, sources)

    def related(self, source: Source, expression: Any) -> InputGuard:
        """Return a guard that the size at `source` equals `expression`, written with the size of its symbol.

        For example, let the size of x be 2*s0. Then `y.size()[0] == 2*s0 + 1` becomes the guard `1 +
        x.size()[0] == y.size()[0]`, which does not need s0.
        """
        (symbol,) = expression.free_symbols
        other = self.environment.sources[symbol][0]
        size = sympy.Dummy(integer=True)
        equal = sympy.expand(expression.xreplace({symbol: (size - other.offset) / other.factor}))
        if not equal.is_integer:
            return self.equal(source, expression)
        sources = {size: other.size}
        text = format_condition(equal, lambda s: str(sources[s]))
        return InputGuard(
            Operation("==", (to_formula(equal, sources), source.size)), f"{text} == {source.size}"
        )

    def guard(self, condition: Any, where: Line | None = None) -> InputGuard:
        """Convert `condition` to a guard. All of its symbols must have locations in the arguments."""
        sources = {s: self.environment.sources[s][0] for s in condition.free_symbols}
        code = format_condition(condition, lambda s: sources[s].code)
        text = format_condition(condition, lambda s: str(sources[s]))
        return InputGuard(to_formula(condition, sources), text, code, where)


def guard_equal(source: Source, expression: Any, sources: Mapping[Any, Source]) -> InputGuard:
    """Return a guard that the size or number at `source` equals `expression`. Archives do not contain it."""
    text = format_condition(expression, lambda s: str(sources[s]))
    return InputGuard(
        Operation("==", (source.size, to_formula(expression, sources))), f"{source.size} == {text}"
    )
