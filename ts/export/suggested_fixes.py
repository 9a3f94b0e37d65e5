"""Errors for dynamic dimensions that contradict the guards of an export, with fixes of `dynamic_shapes`.

The error is a `UserError`. It lists the conditions, and ends with suggestions such as:

    Suggested fixes:
      n = Dim('n', min=6, max=100)
      dy = dx + 1
"""

from __future__ import annotations

import enum
import functools
import math
from typing import Any, NamedTuple

from ts.errors import UserError, UserErrorType
from ts.export import sympy_functions as e
from ts.export.canonical_conditions import is_linear
from ts.export.dim_constraints import SizeConstraints
from ts.export.dim_relations import DimRelations
from ts.export.expr_parser import Source
from ts.export.guards import format_condition
from ts.export.intervals import ValueRange
from ts.export.shape_env import ShapeEnv
from ts.export.sympy_import import PRECEDENCE, precedence, sympy
from ts.export.value_ranges import evaluate_by_ranges, simplify_max

_MORE_INFORMATION = 'For more information, run with TORCH_LOGS="+dynamic".'
_SPECIALIZED = (
    "You marked {0} as dynamic but your code specialized it to be a constant ({1}). If you're using "
    "mark_dynamic, either remove it or use maybe_mark_dynamic. If you're using Dim.DYNAMIC, replace it with "
    "either Dim.STATIC or Dim.AUTO."
)


class SpecKind(enum.Enum):
    """Kind of the spec of a dynamic dimension."""

    AUTO = enum.auto()
    DYNAMIC = enum.auto()
    DIM = enum.auto()
    DERIVED_DIM = enum.auto()  # a linear expression of a `Dim`


class Named(NamedTuple):
    """Dynamic dimension of an argument: its name, symbol, location and range."""

    name: str  # name of the `Dim`, or the expression of the size if there is no `Dim`
    symbol: Any
    source: Source
    range: ValueRange  # range of sizes that the user specified
    kind: SpecKind
    root_name: str = ""  # name of the `Dim` from which the size is computed, or "" if there is no `Dim`

    @property
    def is_dim(self) -> bool:
        """True for named `Dim`s and linear expressions of them, such as `2 * batch`."""
        return self.kind in (SpecKind.DIM, SpecKind.DERIVED_DIM)

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

    def __init__(self, environment: ShapeEnv, named: list[Named], relations: DimRelations) -> None:
        self.environment = environment
        self.relations = relations
        self.named = named
        self.violated: set[str] = set()  # names of the dimensions
        self.conditions: list[str] = []  # violated conditions
        # Symbol -> dimensions whose size is the symbol, in order of the arguments.
        self.by_symbol: dict[Any, list[Named]] = {}
        for n in named:
            expression = environment.simplify(n.symbol)
            if expression.is_Symbol:
                self.by_symbol.setdefault(expression, []).append(n)
        # Symbol of a size -> guards on this size
        self.constraints = {
            symbol: SizeConstraints(symbol, environment.hints[symbol], environment.ranges[symbol])
            for symbol in self.by_symbol
        }

    def raise_if_any(self) -> None:
        """Raise UserError if a guard contradicts the spec of a dimension."""
        for n in self.named:
            self._check_constant(n)
        for n in self.named:
            self._check_relation(n)
        self._check_conditions()
        for symbol, dimensions in self.by_symbol.items():
            self._check_range(symbol, dimensions)
        if not self.violated and not self._specialized():
            return
        message = ""
        if self.violated:
            names = ", ".join(sorted(self.violated))
            lines = "\n".join(f"  - {line}" for line in self.conditions)
            message = f"Constraints violated ({names})! {_MORE_INFORMATION}\n{lines}"
        message += self._describe_specializations()
        if fixes := self._suggest_fixes():
            message += "\nSuggested fixes:\n" + "\n".join(f"  {fix}" for fix in fixes)
        raise UserError(message, UserErrorType.CONSTRAINT_VIOLATION)

    def _record_violation(self, n: Named, condition: str) -> None:
        self.violated.add(n.name)
        self.conditions.append(condition)

    def _check_constant(self, n: Named) -> None:
        expression = self.environment.simplify(n.symbol)
        if e.is_constant(expression) and n.kind is not SpecKind.AUTO:
            self._record_violation(n, _SPECIALIZED.format(n.name, expression))

    def _find_related(self, n: Named) -> tuple[Named, Any] | None:
        """Return the first dimension whose size determines the size of `n`, and the expression of its symbol.

        Return None if this is `n`, or if the size of `n` is a constant or depends on several symbols.
        """
        expression = self.environment.simplify(n.symbol)
        if len(expression.free_symbols) != 1:
            return None
        dimensions = self.by_symbol.get(*expression.free_symbols)
        return (dimensions[0], expression) if dimensions and dimensions[0] is not n else None

    def _check_relation(self, n: Named) -> None:
        """Check that the specs declare the relation of a size to another size.

        As in PyTorch, a dimension with a `Dim` may equal a dimension without, and the graph asserts relations
        of several symbols at run time.
        """
        if (related := self._find_related(n)) is None:
            return
        first, expression = related
        (symbol,) = expression.free_symbols
        if expression.is_Symbol and not (n.is_dim and first.is_dim):
            return
        if not any(m.is_dim for m in self.by_symbol[symbol]):
            return
        if self.relations.declares(n.symbol, expression.xreplace({symbol: first.symbol})):
            return
        if expression.is_Symbol:
            both = f"{n.name} = {n.size} and {first.name} = {first.size}"
            condition = f"The values of {both} must always be equal."
        else:
            written = expression.xreplace({symbol: sympy.Symbol(first.name)})
            condition = (
                f"The values of {n.name} = {n.size} must always be related to the values of {first.name} = "
                f"{first.size} by {n.name} = {written}."
            )
        self._record_violation(n, condition)

    def _check_conditions(self) -> None:
        """Check the guards on one size, except those that the ranges imply."""
        checked: set[Any] = set()
        for guard in self.environment.guards:
            ranges = self.environment.ranges
            condition = simplify_max(self.environment.simplify(guard.condition), ranges)
            if len(condition.free_symbols) != 1 or condition in checked:
                continue
            checked.add(condition)
            (symbol,) = condition.free_symbols
            dimensions = self.by_symbol.get(symbol, [])
            if not dimensions or evaluate_by_ranges(condition, ranges) is not None:
                continue
            if self.constraints[symbol].add(condition):
                continue
            for limits in dict.fromkeys(m.range for m in dimensions if m.is_dim):
                n = dimensions[0]._replace(range=limits)
                self._record_violation(n, n.not_all(f"{_of(n, condition)}."))

    def _specialized(self) -> list[tuple[Named, Any]]:
        """Return the dimensions with a `Dim` whose guards only one size satisfies, and this size."""
        return [
            (self.by_symbol[symbol][0], constraints.value)
            for symbol, constraints in self.constraints.items()
            if constraints.value is not None and any(n.is_dim for n in self.by_symbol[symbol])
        ]

    def _describe_specializations(self) -> str:
        """Return the lines of the error message for dimensions whose guards only one size satisfies."""
        specialized = sorted(self._specialized(), key=lambda pair: pair[0].size)
        if not specialized:
            return ""
        names = ", ".join(sorted({n.root_name for n, _ in specialized}))
        lines = "".join(
            f"  - solving the guards generated for {n.name} = {n.size} resulted in a specialized value of "
            f"{value}.\n"
            for n, value in specialized
        )
        return f"Specializations unexpectedly required ({names})! {_MORE_INFORMATION}\n{lines}"

    def _check_range(self, symbol: Any, dimensions: list[Named]) -> None:
        """Check that the program accepts the specified ranges of the dimensions whose size is `symbol`."""
        bounds = self.environment.ranges[symbol]
        for limits in dict.fromkeys(m.range for m in dimensions if m.is_dim):
            # The bounds of `Dim.AUTO` and `Dim.DYNAMIC` may be narrower than those of an equal dimension.
            low, high = functools.reduce(
                ValueRange.intersection, (m.range for m in dimensions if not m.is_dim), limits
            )
            if bounds.low > max(low, 2) or bounds.high < high:
                upper = "IntInfinity()" if math.isinf(bounds.high) else bounds.high
                n = dimensions[0]._replace(range=limits)
                guard = f"{bounds.low} <= {n.size} and {n.size} <= {upper}"
                self._record_violation(n, n.not_all(guard))

    def _suggest_fixes(self) -> list[str]:
        """Return the suggested definitions of dimensions: first `Dim`s, then other definitions.

        As in PyTorch, derived dimensions have no suggestions, because these would define an expression.
        """
        dims: list[str] = []
        definitions: list[str] = []
        for n in sorted(self.named, key=lambda n: n.size):
            expression = self.environment.simplify(n.symbol)
            if n.kind is SpecKind.DERIVED_DIM:
                continue
            if e.is_constant(expression):
                definitions += [f"{n.name} = {expression}"] if n.is_dim else []
            elif (related := self._find_related(n)) is not None:
                first, expression = related
                (symbol,) = expression.free_symbols
                if first.is_dim and n.name != first.name and is_linear(expression, symbol):
                    written = expression.xreplace({symbol: sympy.Symbol(first.name)})
                    definitions.append(f"{n.name} = {written}")
            elif n.is_dim and expression.is_Symbol:
                dim, definition = self._suggest_range(n, expression)
                dims += dim
                definitions += definition
        return list(dict.fromkeys([*sorted(dims, key=lambda dim: dim.startswith("_")), *definitions]))

    def _suggest_range(self, n: Named, symbol: Any) -> tuple[list[str], list[str]]:
        """Return the `Dim` that satisfies the guards, and the definition of `n` by another `Dim`, if any."""
        constraints = self.constraints[symbol]
        if constraints.value is not None:
            return [], [f"{n.name} = {constraints.value}"]
        low, high = constraints.bounds
        if (multiple := constraints.multiple()) is not None:
            factor, offset = multiple
            lower = -(-(low - offset) // factor)
            upper = high if math.isinf(high) else (high - offset) // factor
            bounds = [f"min={lower}"] if lower != 2 else []
            bounds.append(f"max={'oo' if math.isinf(upper) else upper}")
            root = f"_{n.name} = Dim('_{n.name}', {', '.join(bounds)})"
            return [root], [f"{n.name} = {factor}*_{n.name}{f' - {-offset}' if offset else ''}"]
        if low <= max(n.range.low, 2) and high >= n.range.high:
            return [], []
        return [_dim(n.name, low if low > 2 else None, high)], []


def _of(n: Named, condition: Any) -> str:
    """Format a condition on the symbol of `n` as Python, with parentheses around nested operations."""
    if not condition.is_Relational:
        return format_condition(condition, lambda s: n.size)
    operation, _ = e.FUNCTIONS[condition.func]
    is_equality = isinstance(condition, sympy.Eq | sympy.Ne)
    lhs, rhs = (
        f"({_format(x, n.size)})"
        if (_is_nested(x) if is_equality else isinstance(x, e.FloorDiv | e.Mod))
        else _format(x, n.size)
        for x in condition.args
    )
    return f"{lhs} {operation.sign} {rhs}"


def _is_nested(x: Any) -> bool:
    """Return whether an operand gets parentheses."""
    return isinstance(x, sympy.Add | sympy.Mul | e.FloorDiv | e.Mod) or (x.is_Integer and x < 0)


def _precedence(x: Any) -> int:
    """Return the operator precedence of an operand in sympy's order, in which quotients bind weakest."""
    return PRECEDENCE["Relational"] if isinstance(x, e.FloorDiv | e.Mod) else int(precedence(x))


def _format(x: Any, size: str) -> str:
    """Format a size expression as Python. `size` replaces the symbol of the expression."""
    if isinstance(x, sympy.Add | sympy.Mul):
        level = PRECEDENCE[type(x).__name__]
        operands = [
            f"({_format(y, size)})" if _precedence(y) <= level else _format(y, size) for y in x.args
        ]
        return (" + " if isinstance(x, sympy.Add) else "*").join(operands)
    if isinstance(x, e.FloorDiv | e.Mod):
        operands = [f"({_format(y, size)})" if _is_nested(y) else _format(y, size) for y in x.args]
        return (" // " if isinstance(x, e.FloorDiv) else " % ").join(operands)
    if isinstance(x, sympy.Max | sympy.Min):
        name = "max" if isinstance(x, sympy.Max) else "min"
        return f"{name}({', '.join(_format(y, size) for y in x.args)})"
    return format_condition(x, lambda s: size)


def _dim(name: str, low: Any, high: Any) -> str:
    arguments = [f"'{name}'"]
    if low is not None:
        arguments.append(f"min={low}")
    if not math.isinf(high):
        arguments.append(f"max={high}")
    return f"{name} = Dim({', '.join(arguments)})"
