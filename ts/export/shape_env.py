"""Shape environment of symbolic shapes, with shape guards, value ranges and a constraint solver.

Example:

    env = ShapeEnv()
    n = env.size(Source("x", 0), hint=8)  a SymInt: s0, with the example value 8
    env.evaluate_static(expr)             True, False or None (unknown), without a guard
    env.decide(expr)                      the value for the example arguments, with a guard
    env.require(expr, message)            adds a guard, or an assertion if `expr` is data-dependent

Backed symbols are sizes of arguments and have example values (hints). Unbacked symbols are numbers that
depend on tensor elements. Python control flow cannot depend on them, because they have no example values.
"""

from __future__ import annotations

import itertools
import math
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from ts.errors import GuardOnDataDependentSymNode
from ts.export import sympy_functions as e
from ts.export.canonical_conditions import as_multiple, canonical_inequality, is_linear, without_constant
from ts.export.decision_policy import DecisionPolicy, Guard, Requirement, data_dependent_error
from ts.export.expr_parser import Source
from ts.export.input_guards import Line
from ts.export.intervals import ValueRange
from ts.export.size_operations import BY_NAME
from ts.export.sympy_import import sympy
from ts.export.user_frames import current_user_frame
from ts.export.value_ranges import value_range

# largest size of an unbacked dimension: size + 1 must fit into a signed 64-bit integer
MAX_UNBACKED_SIZE = (1 << 63) - 2


_MAX_QUOTIENTS = 8  # maximum number of floor divisions in a sum. Bounds of longer sums are not computed.


class ShapeEnv:
    """Symbols of an export and the known facts about them: ranges, equalities and guards.

    `policy` decides conditions that these facts do not decide.
    """

    def __init__(self, policy: DecisionPolicy | None = None) -> None:
        self.policy = DecisionPolicy() if policy is None else policy
        self.line: Line | None = None  # source line of the script function that is being recorded, or None
        self.hints: dict[Any, Any] = {}  # symbol with an example value (backed symbol) -> the example value
        self.ranges: dict[Any, ValueRange] = {}
        self.sources: dict[Any, list[Source]] = {}
        # symbol -> equal expression. In all expressions, the symbol is replaced by this expression.
        self.replaced: dict[Any, Any] = {}
        # Unbacked symbol -> equal expression of other symbols. The expression is used only to decide
        # conditions. Nodes keep the symbol.
        self.implied: dict[Any, Any] = {}
        self.guards: list[Guard] = []
        self.requirements: list[Requirement] = []
        self.asserted: list[Requirement] = []  # requirements that the exported graph asserts
        self._lower_bounds: dict[Any, Any] = {}  # expression without constant term -> its known lower bound
        # expression without constant term -> values that it cannot have
        self._other: dict[Any, set[Any]] = {}
        # cached results of `is_provably_equal`. `learn` clears the cache.
        self._equal: dict[tuple[Any, Any], bool] = {}
        # condition that cannot be stored in the tables above -> value of the condition, True or False
        self._facts: dict[Any, bool] = {}
        # symbol that is known to be a multiple of a constant -> (the constant, symbol of the quotient)
        self._multiples: dict[Any, tuple[int, Any]] = {}
        self._counts = {kind: itertools.count() for kind in ("s", "u", "zuf", "_")}
        # True if the graph asserts conditions at run time. In this case, only ranges and equal sizes become
        # guards.
        self.defers_guards = False
        # True while an operator runs. Conditions on memory layouts then add no guards.
        self.quiet = False
        # During a replay: symbols of the old graph that `unbacked` returns next, in this order.
        self.recycled: deque[Any] = deque()
        # Called after each arithmetic operation on symbolic numbers, with (function, arguments, result).
        self.observer: Callable[..., None] | None = None
        # Cached results of arithmetic, or None if results must not be cached because later facts could change
        # them.
        self.expression_cache: dict[Any, Any] | None = None
        # Tensor layouts (sizes, strides, item size) that `contiguity_guards.guard_contiguity` has checked. It
        # adds the guards of a layout only at the first check.
        self.guarded_layouts: set[Any] = set()
        self.size_symbols: set[Any] = set()  # unbacked symbols that are known to be sizes of tensors
        # Symbols that the export assumes to be at least 2. In calls of the program, they may be 0 or 1.
        self.small: set[Any] = set()
        # `guards.GuardBuilder` of the export that uses this environment, or None
        self.guard_builder: Any = None
        # Symbol of a size -> smallest size that a call may pass. For a smaller size, which is 0 or 1, a
        # condition would have another value than in the export.
        self.min_sizes_in_calls: dict[Any, int] = {}

    @property
    def frozen(self) -> bool:
        """True if the policy adds no facts."""
        return self.policy.is_frozen

    @contextmanager
    def deciding_by(self, policy: DecisionPolicy) -> Iterator[None]:
        """Return a context in which `policy` decides conditions that the known facts do not decide."""
        before, self.policy = self.policy, policy
        try:
            yield
        finally:
            self.policy = before

    # ---- creation of symbols

    def size(self, source: Source, hint: int, low: int = 2, high: Any = math.inf) -> Any:
        """Create a backed symbol for a size or number of an argument. `hint` is its example value."""
        symbol = sympy.Symbol(f"s{next(self._counts['s'])}", integer=True, positive=low > 0 or None)
        self.hints[symbol] = hint
        self.ranges[symbol] = ValueRange(low, high)
        self.sources[symbol] = [source]
        if 0 < low <= 2:
            self.small.add(symbol)
        return symbol

    def unbacked(self, is_size: bool = False, max_size: Any = math.inf) -> Any:
        """Create an unbacked symbol. If `is_size`, its range is 0 to `max_size`."""
        if self.recycled:
            return self.recycled.popleft()
        symbol = sympy.Symbol(f"u{next(self._counts['u'])}", integer=True, nonnegative=is_size or None)
        self.ranges[symbol] = ValueRange(0, min(max_size, MAX_UNBACKED_SIZE)) if is_size else ValueRange()
        if is_size:
            self.size_symbols.add(symbol)
        return symbol

    def unbacked_truth(self) -> Any:
        """Return the condition `u == 1` for a new unbacked symbol u with the range [0, 1]."""
        symbol = self.unbacked()
        self.ranges[symbol] = self.ranges[symbol].intersection(ValueRange(0, 1))
        return sympy.Eq(symbol, 1)

    def unbacked_float(self) -> Any:
        """Create an unbacked symbol for a float that depends on tensor elements."""
        if self.recycled:
            return self.recycled.popleft()
        symbol = sympy.Symbol(f"zuf{next(self._counts['zuf'])}", real=True)
        self.ranges[symbol] = ValueRange()
        return symbol

    # ---- values and bounds of expressions

    def simplify(self, expression: Any) -> Any:
        """Replace symbols of `expression` by known equal expressions, which are stored in `replaced`."""
        while self.replaced and any(s in self.replaced for s in expression.free_symbols):
            expression = expression.xreplace(self.replaced)
        return expression

    def resolve(self, expression: Any) -> Any:
        """Return `expression` in which all symbols with known equal expressions are replaced.

        Unlike `simplify`, also replace the unbacked symbols in `implied`. Use the result only to evaluate
        conditions. Nodes and sizes keep their unbacked symbols, as in PyTorch.
        """
        expression = self.simplify(expression)
        while self.implied and any(s in self.implied for s in expression.free_symbols):
            expression = self.simplify(expression.xreplace(self.implied))
        return expression

    def value_range(self, expression: Any) -> ValueRange:
        """Return bounds of the values of an expression."""
        expression = self.resolve(expression)
        bounds = value_range(expression, self.ranges).intersection(self._value_range_of_quotients(expression))
        bounds = bounds.intersection(self._value_range_of_min_max(expression))
        if expression.is_number or e.is_truth(expression):
            return bounds
        rest, constant = without_constant(expression)
        low = self._lower_bounds.get(rest, -math.inf) + constant
        high = constant - self._lower_bounds.get(-rest, -math.inf)
        return bounds.intersection(ValueRange(low, high))

    def _value_range_of_quotients(self, expression: Any) -> ValueRange:
        """Return bounds of a sum with floor divisions, or no bounds for other expressions.

        Each `x // n` is rewritten as `(x - remainder) / n`, with a symbol for the remainder. As in PyTorch,
        an export does not use these bounds for sizes of arguments, and adds guards instead.
        """
        if self._can_guard(expression):
            return ValueRange()
        quotients = [q for q in expression.atoms(e.FloorDiv) if q.args[1].is_Integer and q.args[1] > 0]
        if not 0 < len(quotients) <= _MAX_QUOTIENTS or not isinstance(expression, sympy.Add):
            return ValueRange()
        ranges, times = dict(self.ranges), 1
        for q in quotients:
            numerator, divisor = q.args
            left_over = sympy.Dummy(integer=True, nonnegative=True)
            ranges[left_over] = ValueRange(0, int(divisor) - 1)
            expression = expression.xreplace({q: (numerator - left_over) / divisor})
            times *= int(divisor)
        bounds = value_range(sympy.expand(expression * times), ranges)
        low = bounds.low if math.isinf(bounds.low) else -(-bounds.low // times)
        return ValueRange(low, bounds.high if math.isinf(bounds.high) else bounds.high // times)

    def _value_range_of_min_max(self, expression: Any) -> ValueRange:
        """Return bounds of a sum that contains `Min` or `Max`.

        The bounds are computed from the bounds of the sums in which `Min` or `Max` is replaced by one
        argument.
        """
        if not isinstance(expression, sympy.Add) or self._can_guard(expression):
            return ValueRange()
        for extreme in expression.atoms(sympy.Min, sympy.Max):
            factor = expression.coeff(extreme)
            rest = expression - factor * extreme
            if factor.is_number and factor != 0 and not rest.has(extreme):
                each = [self.value_range(sympy.expand(rest + factor * x)) for x in extreme.args]
                choose = min if isinstance(extreme, sympy.Min) == bool(factor > 0) else max
                return ValueRange(choose(x.low for x in each), choose(x.high for x in each))
        return ValueRange()

    def _can_guard(self, expression: Any) -> bool:
        """Return True if guards can decide conditions on `expression`.

        This is the case during an export, if all symbols of `expression` are backed. For such conditions,
        PyTorch uses fewer facts and adds guards instead.
        """
        return not self.frozen and all(symbol in self.hints for symbol in expression.free_symbols)

    def evaluate_static(self, condition: Any) -> bool | None:
        """Return True or False if known facts decide the condition, otherwise None."""
        truth = self._evaluate_resolved(self.simplify(condition))
        if truth is None and self.implied:
            truth = self._evaluate_resolved(self.resolve(condition))
        return truth

    def _evaluate_resolved(self, condition: Any) -> bool | None:
        if condition in (sympy.true, sympy.false):
            return bool(condition)
        if isinstance(condition, sympy.Not):
            truth = self.evaluate_static(condition.args[0])
            return None if truth is None else not truth
        if isinstance(condition, sympy.And | sympy.Or):
            stop = isinstance(condition, sympy.Or)
            each = [self.evaluate_static(x) for x in condition.args]
            return stop if stop in each else None if None in each else not stop
        truth = self._evaluate_relation(condition)
        if truth is None and (multiple := as_multiple(condition)) != condition:
            truth = self._evaluate_relation(multiple)
        if truth is None and not self._can_guard(condition):
            truth = self._evaluate_relation(self._substitute_multiples(condition))
        return truth

    def is_provably_equal(self, x: Any, y: Any) -> bool:
        """Return True if two expressions are known to be equal.

        Results are cached until new facts are added.
        """
        is_equal = self._equal.get((x, y))
        if is_equal is None:
            is_equal = self._equal[x, y] = self.evaluate_static(sympy.Eq(x, y)) is True
        return is_equal

    def result(self, name: str, operands: list[Any]) -> Any:
        """Return the result of the operation `name` on integers, or None to let sympy compute the result.

        This implementation always returns None. Subclasses override the method.
        """
        return None

    def _evaluate_relation(self, condition: Any) -> bool | None:
        if condition in (sympy.true, sympy.false):
            return bool(condition)
        if condition in self._facts:
            return self._facts[condition]
        if not isinstance(condition, sympy.core.relational.Relational):
            return None
        difference = sympy.expand(condition.lhs - condition.rhs)
        bounds = self.value_range(difference)
        if isinstance(condition, sympy.Eq | sympy.Ne):
            equal = isinstance(condition, sympy.Eq)
            if difference == 0 or bounds == (0, 0):
                return equal
            rest, constant = without_constant(difference)
            if (
                not bounds.low <= 0 <= bounds.high
                or -constant in self._other.get(rest, ())
                or constant in self._other.get(-rest, ())
            ):
                return not equal
            return None
        if isinstance(condition, sympy.Lt | sympy.Le):
            bounds = ValueRange(-bounds.high, -bounds.low)
        strict = isinstance(condition, sympy.Lt | sympy.Gt)
        if bounds.low > 0 or (bounds.low == 0 and not strict):
            return True
        if bounds.high < 0 or (bounds.high == 0 and strict):
            return False
        return None

    def _substitute_multiples(self, expression: Any) -> Any:
        """Replace each symbol of `expression` that is a known multiple of n by `n * quotient`."""
        replacements = {s: n * k for s, (n, k) in self._multiples.items() if s in expression.free_symbols}
        return expression.xreplace(replacements).doit() if replacements else expression

    def is_provable(self, condition: Any, answer: bool) -> bool:
        """Return True if the facts imply that `condition` has the value `answer`.

        If sizes 0 and 1 could change the value, add a guard that excludes these sizes from calls.
        """
        if self.evaluate_static(condition) is not answer:
            return False
        self._compare_at_small_sizes(condition, answer)
        return True

    def hint(self, expression: Any) -> Any:
        """Return the example value of an expression. Raise KeyError if it depends on tensor elements."""
        return e.value(self.simplify(expression), self.hints)

    def has_hint(self, expression: Any) -> bool:
        """Return True if all symbols of an expression have example values."""
        return all(s in self.hints for s in self.simplify(expression).free_symbols)

    # ---- decisions and guards

    def decide(self, condition: Any) -> bool:
        """Return the value of `condition`. If the facts do not decide it, `policy` does, and adds a guard."""
        static_value = self.evaluate_static(condition)
        if static_value is not None:
            self._compare_at_small_sizes(condition, static_value)
            return static_value
        return self.policy.decide(self, condition)

    def decide_or_require(self, condition: Any) -> bool:
        """Return the value of `condition`. The caller raises an error if the value is False.

        If `condition` depends on tensor elements, let the graph assert `condition`, and return True.
        """
        if self.frozen or self.has_hint(condition) or self.evaluate_static(condition) is not None:
            self._require_unsigned_remainder(condition)
            return self.decide(condition)
        self.require(condition)
        return True

    def _require_unsigned_remainder(self, condition: Any) -> None:
        """Require the condition `n % k == 0` again if n could be negative before, but cannot be negative now.

        "Before" means when the condition was first required. As in PyTorch, the graph then asserts the
        condition twice.
        """
        condition = as_multiple(self.simplify(condition))
        same = [r for r in self.requirements if r.condition == condition]
        signed = same[0].signed_remainders if len(same) == 1 else ()
        if signed and all(self.value_range(m.args[0]).low >= 0 for m in signed):
            self.requirements.append(Requirement(condition, "", current_user_frame()))

    def _small_symbols(self, expressions: Iterable[Any]) -> list[Any]:
        """Return the symbols of `expressions` for which calls may pass 0 or 1."""
        symbols = {s for x in expressions for s in x.free_symbols if s in self.small}
        return [s for s in symbols if self.min_sizes_in_calls.get(s, 0) < 2 and self.ranges[s].low <= 2]

    def _raise_min_size(self, symbol: Any, lower_bound: int) -> None:
        self.min_sizes_in_calls[symbol] = max(lower_bound, self.min_sizes_in_calls.get(symbol, 0))

    def _compare_at_small_sizes(self, condition: Any, answer: bool) -> None:
        """Exclude a size 0 or 1 from calls if `condition` does not have the value `answer` for this size.

        `answer` is the value that `condition` has for the ranges of the symbols, which begin at 2.
        """
        for symbol in self._small_symbols([self.simplify(condition)]):
            bounds = self.ranges[symbol]
            try:
                for low in (1, 0):
                    self.ranges[symbol] = bounds._replace(low=low)
                    if self.evaluate_static(condition) is not answer:
                        self._raise_min_size(symbol, low + 1)
                        break
            finally:
                self.ranges[symbol] = bounds

    def compare_with_one(self, size: Any) -> None:
        """Exclude size 1 from calls if `size != 1` is only known because symbols are at least 2."""
        condition = sympy.Eq(size, 1, evaluate=False)
        if self.evaluate_static(condition) is False:
            self._compare_at_small_sizes(condition, False)

    def compare_at_small_sizes(self, name: str, arguments: list[Any], result: Any) -> None:
        """Exclude a size 0 or 1 from calls if the operation `name` does not return `result` for this size.

        Sympy has simplified the expression `result` under the assumption that sizes are at least 2.
        """
        for symbol, n in self.differences_at_small_sizes(name, arguments, result):
            self._raise_min_size(symbol, n + 1)

    def differences_at_small_sizes(
        self, name: str, arguments: list[Any], result: Any
    ) -> list[tuple[Any, int]]:
        """Return the pairs (symbol, n) for which the operation does not return `result`. n is 0 or 1."""
        symbols = self._small_symbols(arguments)
        others = {s for x in arguments for s in x.free_symbols}
        if not symbols or not all(s in self.hints for s in others):
            return []
        differences = []
        compute: Any = BY_NAME[name].compute
        numbers = {s: self.hints[s] for s in others}
        for symbol in symbols:
            for n in (0, 1):
                numbers[symbol] = n
                try:
                    same = compute(*(e.value(x, numbers) for x in arguments)) == e.value(result, numbers)
                except (ArithmeticError, ValueError):
                    same = False
                if not same:
                    differences.append((symbol, n))
            numbers[symbol] = self.hints[symbol]
        return differences

    @contextmanager
    def guessing(self) -> Iterator[None]:
        """Return a context in which the example arguments decide conditions on layouts, without guards."""
        before, self.quiet = self.quiet, True
        try:
            yield
        finally:
            self.quiet = before

    def guess(self, condition: Any) -> bool:
        """Return the value of `condition` for the example arguments, without adding a guard.

        Unbacked symbols have no example values. They are replaced by large numbers.
        """
        static_value = self.evaluate_static(condition)
        if static_value is not None:
            return static_value
        return self.policy.guess(self, self.simplify(condition))

    def specialize(self, expression: Any) -> Any:
        """Return the value of `expression`.

        If several values are possible, return the example value and add a guard for it.
        """
        expression = self.simplify(expression)
        if e.is_constant(expression):
            return e.to_python_number(expression)
        bounds = self.value_range(expression)
        if bounds.low == bounds.high:
            return bounds.low
        return self.policy.specialize(self, expression)

    def depends_on_data(self, expression: Any) -> GuardOnDataDependentSymNode:
        """Return the error for a guard on an expression that depends on tensor elements."""
        return data_dependent_error(self, expression)

    # ---- recording of known facts

    def assume(self, condition: Any) -> None:
        """Add a guard (by `policy`) for a condition that holds for the example arguments."""
        self.policy.assume(self, condition)

    def require(self, condition: Any, message: str = "") -> None:
        """Add a guard for `condition`, or let the graph assert it if it depends on tensor elements.

        Do nothing if `condition` is known to be true. Raise RuntimeError if it is false.
        """
        static_value = self.evaluate_static(condition)
        if static_value:
            self._compare_at_small_sizes(condition, static_value)
            return
        condition = self.simplify(condition)
        if static_value is False or condition == sympy.false:
            raise RuntimeError(message or f"Runtime assertion failed for expression {condition}")
        self.policy.require(self, condition, message)

    def require_length(self, expression: Any) -> None:
        """Require `expression >= 0`, by a guard or by an assertion of the graph.

        If `expression` is an unbacked symbol with a known equal expression, only narrow the range of the
        symbol.
        """
        if e.is_of_data(expression) and not self.frozen:
            self.size_symbols.add(expression)
            # As in PyTorch, the graph asserts the range of the symbol, and not that of the expression equal
            # to it.
            if expression in self.implied:
                self._narrow(expression, self.ranges[expression].intersection(ValueRange(0)))
                return
            if expression in self.replaced:
                self.ranges[expression] = self.ranges[expression].intersection(ValueRange(0))
                rest, constant = without_constant(self.simplify(expression))
                self._lower_bounds[rest] = max(self._lower_bounds.get(rest, -math.inf), -constant)
                self._equal.clear()
                return
        self.decide_or_require(sympy.Ge(self.simplify(expression), 0))

    def note_requirement(self, condition: Any) -> None:
        """Let the graph assert a data-dependent condition, even if known ranges imply it."""
        self._require_unsigned_remainder(condition)
        condition = self.simplify(condition)
        if condition not in (sympy.true, sympy.false) and not self.frozen and not self.has_hint(condition):
            self.append_requirement(condition, "")
            self.learn(condition)

    def append_requirement(self, condition: Any, message: str) -> None:
        """Record a condition that the graph asserts at run time."""
        condition = canonical_inequality(condition)
        if all(condition != requirement.condition for requirement in self.requirements):
            signed = [m for m in condition.atoms(e.Mod) if self.value_range(m.args[0]).low < 0]
            self.requirements.append(Requirement(condition, message, current_user_frame(), tuple(signed)))

    def learn(self, condition: Any) -> None:
        """Add the true condition `condition` to the facts.

        Derive ranges and replacements from the condition.
        """
        self._equal.clear()
        if isinstance(condition, sympy.And):
            for conjunct in condition.args:
                self.learn(conjunct)
            return
        self._facts[condition] = True
        self._facts[sympy.Not(condition)] = False
        if not isinstance(condition, sympy.core.relational.Relational):
            return
        difference = sympy.expand(condition.lhs - condition.rhs)
        if isinstance(condition, sympy.Eq):
            self._learn_zero(difference)
        elif isinstance(condition, sympy.Ne):
            self._record_not_equal(difference)
        else:
            if isinstance(condition, sympy.Lt | sympy.Le):
                difference = -difference
            strict = isinstance(condition, sympy.Lt | sympy.Gt) and bool(difference.is_integer)
            self._learn_lower_bound(sympy.expand(difference), 1 if strict else 0, strict)

    def _learn_lower_bound(self, difference: Any, lower_bound: int, strict: bool = False) -> None:
        """Record `difference >= lower_bound`.

        `strict` is True if the program states the condition as `difference > lower_bound - 1`.
        """
        rest, constant = without_constant(difference)
        lower_bound = lower_bound - constant
        self._lower_bounds[rest] = max(self._lower_bounds.get(rest, -math.inf), lower_bound)
        factor, symbol = rest.as_coeff_Mul()
        is_integer = bool(factor.is_Integer and symbol.is_integer)
        if is_integer and not math.isinf(lower_bound) and (lower_bound - strict) % int(factor):
            return  # PyTorch ignores fractional bounds
        if symbol.is_Symbol and is_integer:
            factor = int(factor)
            before = self.ranges.get(symbol, ValueRange())
            limit = (
                ValueRange(-(-lower_bound // factor))
                if factor > 0
                else ValueRange(-math.inf, (-lower_bound) // -factor)
            )
            self._narrow(symbol, before.intersection(limit))
        elif isinstance(symbol, e.FloorDiv) and factor.is_Integer and symbol.args[1].is_positive:
            numerator, divisor = symbol.args
            if factor > 0:  # x // n >= k is x >= n * k
                self._learn_lower_bound(sympy.expand(numerator - divisor * -(-lower_bound // int(factor))), 0)
            else:  # x // n <= k is x < n * (k + 1)
                limit = divisor * ((-lower_bound) // -int(factor) + 1)
                self._learn_lower_bound(sympy.expand(limit - numerator), 1)
        elif isinstance(rest, sympy.Add):
            self._learn_bounds(rest, lower_bound)

    def _learn_bounds(self, rest: Any, lower_bound: Any) -> None:
        """Narrow the ranges of symbols in the sum `rest` by the linear inequality `rest >= lower_bound`."""
        for term in rest.args:
            factor, symbol = term.as_coeff_Mul()
            if (
                not symbol.is_Symbol
                or not factor.is_Integer
                or not symbol.is_integer
                or symbol in self.replaced
                or symbol in (rest - term).free_symbols
            ):
                continue
            upper_bound = value_range(rest - term, self.ranges).high
            if math.isinf(upper_bound) or math.isinf(lower_bound):
                continue
            factor, short = int(factor), int(lower_bound - upper_bound)
            limit = (
                ValueRange(-(-short // factor)) if factor > 0 else ValueRange(-math.inf, (-short) // -factor)
            )
            before = self.ranges.get(symbol, ValueRange())
            if before.intersection(limit) != before:
                self._narrow(symbol, before.intersection(limit))

    def _narrow(self, symbol: Any, narrowed_range: ValueRange) -> None:
        self._equal.clear()
        self.ranges[symbol] = narrowed_range
        if narrowed_range.low == narrowed_range.high:
            self._replace(symbol, sympy.Integer(narrowed_range.low))
        elif symbol in self.implied:
            self._learn_implied_bound(symbol)

    def _record_not_equal(self, difference: Any) -> None:
        """Record `difference != 0`. As in PyTorch, this does not narrow ranges."""
        rest, constant = without_constant(difference)
        self._other.setdefault(rest, set()).add(-constant)

    def _learn_zero(self, difference: Any) -> None:
        """Record the equality constraint `difference == 0`.

        If it can be solved for a symbol, eliminate the symbol.
        """
        self._lower_bounds[without_constant(difference)[0]] = -without_constant(difference)[1]
        self._lower_bounds[-without_constant(difference)[0]] = without_constant(difference)[1]
        # As in PyTorch, sizes with rounding are not substituted for symbols: both sizes remain.
        if isinstance(difference, e.Mod):
            self._learn_multiple(*difference.args)
        if difference.has(e.FloorDiv, e.Mod):
            return
        for symbol in sorted(difference.free_symbols, key=self._order, reverse=True):
            rest = (
                difference.xreplace({symbol: sympy.Integer(0)}).doit()
                if is_linear(difference, symbol)
                else None
            )
            if rest is None:
                continue
            factor = difference.coeff(symbol)
            if not factor.is_Integer:
                continue
            solution = sympy.expand(-rest / factor)
            if solution.is_integer is not True:
                continue
            if e.is_of_data(symbol) and any(map(e.is_of_data, solution.free_symbols)):
                self._add_implied_equality(symbol, solution)
            else:
                self._replace(symbol, solution)
                if e.is_of_data(symbol) and solution.free_symbols:
                    self.ranges[symbol] = self.ranges[symbol].intersection(value_range(solution, self.ranges))
            return

    def _order(self, symbol: Any) -> tuple[bool, Any, int]:
        """Return the key by which symbols are sorted: backed symbols first, then by example value and age."""
        return symbol not in self.hints, self.hints.get(symbol, 0), list(self.ranges).index(symbol)

    def _learn_multiple(self, symbol: Any, n: Any) -> None:
        """Record that the integer `n` divides `symbol`."""
        if not symbol.is_Symbol or not n.is_Integer:
            return
        n = math.lcm(int(n), self._multiples.get(symbol, (1, None))[0])
        low, high = self.ranges[symbol]
        times = sympy.Symbol(f"{symbol}_{n}", integer=True, nonnegative=low >= 0 or None)
        self.ranges[times] = ValueRange(-(-low // n), high if math.isinf(high) else high // n)
        self._multiples[symbol] = n, times

    def _add_implied_equality(self, symbol: Any, solution: Any) -> None:
        """Record that the unbacked symbol `symbol` equals `solution`, and narrow the ranges of both."""
        if symbol in self.implied or symbol in self.resolve(solution).free_symbols:
            return
        self.implied[symbol] = solution
        self._learn_implied_bound(symbol)
        difference = sympy.expand(symbol - solution)
        for other in sorted(filter(e.is_of_data, difference.free_symbols), key=self._order):
            factor = difference.coeff(other)
            if factor in (1, -1) and is_linear(difference, other):
                bounds = value_range(sympy.expand(other - difference / factor), self.ranges)
                self._narrow(other, self.ranges[other].intersection(bounds))

    def _learn_implied_bound(self, symbol: Any) -> None:
        """Record the range of `symbol` as bounds of the expression that equals `symbol` (see `implied`)."""
        bounds = self.ranges[symbol]
        for sign, end in ((1, bounds.low), (-1, -bounds.high)):
            rest, constant = without_constant(sympy.expand(sign * self.resolve(symbol)))
            if not math.isinf(end) and not rest.is_number:
                self._lower_bounds[rest] = max(self._lower_bounds.get(rest, -math.inf), end - constant)

    def _replace(self, symbol: Any, expression: Any) -> None:
        if symbol in self.replaced or symbol in expression.free_symbols:
            return
        bounds = self.ranges.get(symbol, ValueRange())
        self._equal.clear()
        self.replaced[symbol] = expression
        if expression.is_Symbol:
            self._narrow(expression, self.ranges[expression].intersection(bounds))
        elif expression.is_number:
            self.ranges[symbol] = ValueRange(e.to_python_number(expression), e.to_python_number(expression))
        elif symbol in self.hints:
            for end, sign in ((bounds.low, 1), (-bounds.high, -1)):
                if not math.isinf(end):
                    self._learn_lower_bound(sympy.expand(sign * expression), end)

    def merge(self, conditions: Iterable[Any]) -> None:
        """Learn several conditions that hold."""
        for condition in conditions:
            self.learn(condition)
