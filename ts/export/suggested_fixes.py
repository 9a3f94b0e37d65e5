"""Errors for dynamic dimensions that contradict the guards of an export, with fixes of `dynamic_shapes`.

Input: the environment after an export, and the named dimensions. If guards contradict the specs of the
dimensions, a `UserError` lists the conditions and suggests fixes:

    Suggested fixes:
      n = Dim('n', min=6, max=100)
      dy = dx + 1
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import sympy

from ts.errors import UserError, UserErrorType
from ts.export import sympy_functions as e
from ts.export.expr_parser import Source
from ts.export.guards import format_condition
from ts.export.intervals import ValueRange
from ts.export.shape_env import ShapeEnv

_SPECIALIZED = (
    "You marked {0} as dynamic but your code specialized it to be a constant ({1}). If you're using "
    "mark_dynamic, either remove it or use maybe_mark_dynamic. If you're using Dim.DYNAMIC, replace it with "
    "either Dim.STATIC or Dim.AUTO."
)


class Named(NamedTuple):
    """Dynamic dimension of an argument: its name, symbol, location and range."""

    name: str  # name of the `Dim`, or the expression of the size if there is no `Dim`
    symbol: Any
    source: Source
    range: ValueRange  # range of sizes that the user specified
    is_dim: bool  # True if the user specified a named `Dim`. Only then can a fix be suggested.

    @property
    def size(self) -> str:
        """Python expression of the size, such as `L['x'].size()[0]`."""
        return self.source.where

    def not_all(self, guard: str) -> str:
        """Return the line of the error message for a guard that excludes a part of the specified range."""
        low = "" if self.range.low <= 2 else f"{self.range.low} <= "
        high = "" if math.isinf(self.range.high) else f" <= {self.range.high}"
        within = f" {low}{self.name}{high}" if low or high else ""
        return (
            f"Not all values of {self.name} = {self.size} in the specified range{within} satisfy the "
            f"generated guard {guard}"
        )


class Fixes:
    """Conditions that contradict the specs of dimensions, and suggested changes of the specs."""

    def __init__(self, environment: ShapeEnv, named: list[Named]) -> None:
        self.environment = environment
        self.named = {n.symbol: n for n in named}
        self.violated: dict[str, None] = {}
        self.relations: list[str] = []  # fixes that define one dimension by another, such as `dy = dx + 1`
        self.specializations: list[str] = []  # fixes that replace a dimension by a constant
        self.conditions: list[str] = []  # violated conditions that no fix can satisfy
        self.fixes: list[str] = []

    def raise_if_any(self) -> None:
        """Raise UserError if a guard contradicts the spec of a dimension."""
        for n in self.named.values():
            self._check_dimension(n)
        if not self.violated:
            return
        names = ", ".join(sorted(self.violated))
        lines = "\n".join(
            f"  - {line}" for line in (*self.relations, *self.specializations, *self.conditions)
        )
        message = (
            f'Constraints violated ({names})! For more information, run with TORCH_LOGS="+dynamic".\n{lines}'
        )
        if self.fixes:
            fixes = sorted(self.fixes, key=lambda fix: " = Dim(" not in fix)
            message += "\nSuggested fixes:\n" + "\n".join(f"  {fix}" for fix in fixes)
        message += (
            "\n\nThe error above occurred when calling torch.export.export. If you would like to view some "
            "more information about this error, and get a list of all other errors that may occur in your "
            "export call, you can replace your `export()` call with `draft_export()`."
        )
        raise UserError(message, UserErrorType.CONSTRAINT_VIOLATION)

    def _violation(self, n: Named, among: list[str], conditions: str, *fixes: str) -> None:
        self.violated[n.name] = None
        among.append(conditions)
        if n.is_dim:
            self.fixes += fixes

    def _name(self, symbol: Any) -> str:
        dimension = self.named.get(symbol)
        return dimension.name if dimension is not None else str(self.environment.sources[symbol][0])

    def _check_dimension(self, n: Named) -> None:
        environment = self.environment
        expression = environment.simplify(n.symbol)
        if e.is_constant(expression):
            self._violation(
                n, self.specializations, _SPECIALIZED.format(n.name, expression), f"{n.name} = {expression}"
            )
            return
        if not n.is_dim:  # `Dim.AUTO` and `Dim.DYNAMIC` accept all conditions
            return
        if expression != n.symbol:
            # As in PyTorch, the graph asserts relations of several symbols at run time.
            if len(expression.free_symbols) > 1:
                return
            if not expression.is_Symbol or (expression in self.named and self.named[expression].is_dim):
                self._related(n, expression)
                return
            n = n._replace(symbol=expression)
        n = n._replace(range=self._specified_range(n))
        if self._divisible(n):
            return
        value_range = environment.ranges[n.symbol]
        if value_range.low > max(n.range.low, 2) or value_range.high < n.range.high:
            high = "IntInfinity()" if math.isinf(value_range.high) else value_range.high
            self._violation(
                n,
                self.conditions,
                n.not_all(f"{value_range.low} <= {n.size} and {n.size} <= {high}"),
                _dim(n.name, value_range.low if value_range.low > 2 else None, value_range.high),
            )
        for guard in environment.guards:
            condition = guard.condition
            if condition.free_symbols == {n.symbol} and not self._in_range(condition, n.symbol):
                self._violation(n, self.conditions, n.not_all(f"{_of(n, condition)}."))

    def _specified_range(self, n: Named) -> ValueRange:
        """Return the intersection of the ranges that the user specified for `n` and equal dimensions."""
        equal = [m.range for m in self.named.values() if self.environment.simplify(m.symbol) == n.symbol]
        low, high = max([n.range.low, *(r.low for r in equal)]), min([n.range.high, *(r.high for r in equal)])
        return ValueRange(low, high)

    def _in_range(self, condition: Any, symbol: Any) -> bool:
        """Return True if `condition` is an inequality that bounds `symbol`, and thus narrows its range."""
        if isinstance(condition, sympy.Eq | sympy.Ne) or not condition.is_Relational:
            return False
        if condition.free_symbols != {symbol}:
            return False
        difference = sympy.expand(condition.lhs - condition.rhs)
        return difference.as_independent(symbol)[1].as_coeff_Mul()[1] == symbol  # type: ignore[no-any-return]

    def _related(self, n: Named, expression: Any) -> None:
        others = {s: sympy.Symbol(self._name(s)) for s in expression.free_symbols}
        written = str(expression.xreplace(others))
        if expression.is_Symbol:
            first = self.named.get(expression)
            other = f"{self._name(expression)} = {first.size}" if first else written
            conditions = f"The values of {n.name} = {n.size} and {other} must always be equal."
        else:
            names = ", ".join(map(str, others.values()))
            conditions = (
                f"The values of {n.name} = {n.size} must always be related to the values of {names} by "
                f"{n.name} = {written}."
            )
        self._violation(n, self.relations, conditions, f"{n.name} = {written}")

    def _divisible(self, n: Named) -> bool:
        """Return True if a guard requires a multiple of k: `(size + offset) % k == 0`.

        Record the violation, with the fixes `_n = Dim('_n', ...)` and `n = k*_n - offset`.
        """
        environment = self.environment
        for guard in environment.guards:
            condition = guard.condition
            if (
                not isinstance(condition, sympy.Eq)
                or not isinstance(condition.lhs, e.Mod)
                or condition.rhs != 0
            ):
                continue
            inside, by = condition.lhs.args
            rest = sympy.expand(inside - n.symbol)
            if not by.is_Integer or not rest.is_Integer:
                continue
            by, rest = int(by), int(rest)
            low, high = environment.ranges[n.symbol]
            lower = -(-(low + rest) // by)
            upper = high if math.isinf(high) else (high + rest) // by
            less = "" if not rest else f" - {rest}" if rest > 0 else f" + {-rest}"
            bounds = ", ".join(
                [*([f"min={lower}"] if not rest else []), f"max={'oo' if math.isinf(upper) else upper}"]
            )
            self._violation(
                n,
                self.conditions,
                n.not_all(f"{_of(n, condition)}."),
                f"_{n.name} = Dim('_{n.name}', {bounds})",
                f"{n.name} = {by}*_{n.name}{less}",
            )
            return True
        return False


def _of(n: Named, condition: Any) -> str:
    """Format a condition on the symbol of `n` as Python, with parentheses around products and quotients."""

    def side(x: Any) -> str:
        written = format_condition(x, lambda s: n.size)
        operation, _ = e.FUNCTIONS.get(x.func, (None, None))
        has_parentheses = operation is not None and operation.sign in ("*", "//", "%", "&", "|", "^")
        return f"({written})" if has_parentheses else written

    if not condition.is_Relational:
        return format_condition(condition, lambda s: n.size)
    operation, _ = e.FUNCTIONS[condition.func]
    return f"{side(condition.lhs)} {operation.sign} {side(condition.rhs)}"


def _dim(name: str, low: Any, high: Any) -> str:
    arguments = [f"'{name}'"]
    if low is not None:
        arguments.append(f"min={low}")
    if not math.isinf(high):
        arguments.append(f"max={high}")
    return f"{name} = Dim({', '.join(arguments)})"
