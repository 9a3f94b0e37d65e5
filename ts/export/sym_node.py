"""Node of a symbolic number: its expression and shape environment, and arithmetic on it.

A SymInt n contains a SymNode with the expression of n, such as s0 + 1. For `n + 1`, the node runs
`operate("add", n, 1)`. This method records the operation in the graph and returns the result. A constant
result is a Python number.
"""

from __future__ import annotations

from typing import Any

from ts._core.tensor.sym_types import SymBool, SymFloat, SymInt, SymNumber
from ts.errors import UserError
from ts.export import sympy_functions as e
from ts.export.shape_env import ShapeEnv
from ts.export.size_operations import BY_NAME, TARGETS, Kind
from ts.export.sympy_import import sympy


class SymNode:
    """Expression and shape environment of a symbolic number."""

    __slots__ = ("environment", "expression")

    def __init__(self, expression: Any, environment: ShapeEnv) -> None:
        self.expression = expression
        self.environment = environment

    @property
    def expr(self) -> Any:
        """Expression with all known equalities applied."""
        return self.environment.simplify(self.expression)

    @property
    def shape_env(self) -> ShapeEnv:
        """Shape environment. PyTorch uses this name for `environment`."""
        return self.environment

    @property
    def hint(self) -> Any:
        """Example value, or None for data-dependent numbers."""
        if not self.environment.has_hint(self.expression):
            return None
        try:
            return self.environment.hint(self.expression)
        except (ArithmeticError, ValueError):
            # The example sizes cause a division by zero, for example.
            return None

    def has_hint(self) -> bool:
        """Return True if the number has an example value."""
        return self.environment.has_hint(self.expression)

    def maybe_as_int(self) -> int | None:
        """Return the number as int if it is a constant integer, otherwise None."""
        expression = self.expr
        return int(expression) if expression.is_Integer else None

    def __str__(self) -> str:
        return str(self.expr)

    def decide(self, settles: bool = False) -> bool:
        """Return the value of the condition for the example arguments, and add a guard for it.

        `settles` is True if control flow depends on the value. If `settles` is False and an operator runs, no
        guard is added.
        """
        environment = self.environment
        if environment.quiet and not settles:
            return environment.guess(self._condition())
        return environment.decide(self._condition())

    def decide_or_require(self) -> bool:
        """Return the value of the condition.

        If it depends on data, let the graph assert it (`ShapeEnv.decide_or_require`).
        """
        return self.environment.decide_or_require(self._condition())

    def _condition(self) -> Any:
        x = self.expression
        return x if e.is_truth(x) else sympy.Ne(x, 0, evaluate=x.is_zero is None)

    def is_decided(self) -> bool:
        """Return True if known facts decide the condition."""
        return self.environment.evaluate_static(self._condition()) is not None

    def is_provable(self, answer: bool) -> bool:
        """Return True if the condition is known to have the value `answer` (see `ShapeEnv.is_provable`)."""
        return self.environment.is_provable(self._condition(), answer)

    def require(self, message: str) -> None:
        """Require the condition by `ShapeEnv.require`."""
        self.environment.require(self._condition(), message)

    def note_required(self) -> None:
        """Require the condition. The graph asserts it even if it is known to be true."""
        self.environment.note_requirement(self._condition())

    def require_length(self) -> None:
        """Require that the number, a dimension size, is at least 0."""
        self.environment.require_length(self.expression)

    def specialize(self) -> Any:
        """Return the example value and add a guard that the number keeps this value."""
        return self.environment.specialize(self.expression)

    def is_provably_equal(self, other: Any) -> bool:
        """Return True if the number is known to equal `other`."""
        try:
            expression = expression_of(other)
        except TypeError:
            return False
        if expression == self.expression:
            return True
        if e.is_truth(expression) or e.is_truth(self.expression):
            return False
        return self.environment.is_provably_equal(self.expression, expression)

    def operate(self, name: str, *arguments: Any) -> Any:
        """Return the result of a Python operator, or NotImplemented if an argument is not a number."""
        if any(not isinstance(x, SymNumber | bool | int | float) for x in arguments):
            return NotImplemented
        operands = [_Operand(x) for x in arguments]
        expression_cache = self.environment.expression_cache
        if expression_cache is None:
            expression = self._compute(name, operands)
        else:
            key = (name, *((x.expression, x.is_float) for x in operands))
            cached_expression = expression_cache.get(key)
            expression = expression_cache[key] = (
                self._compute(name, operands) if cached_expression is None else cached_expression
            )
        result = symbol_of(expression, self.environment)
        if isinstance(result, SymNumber):
            observer = self.environment.observer
            if observer is not None and (target := TARGETS[name]) is not None:
                observer(target, arguments, result)
        return result

    def _compute(self, name: str, operands: list[_Operand]) -> Any:
        _check_size([x.expression for x in operands])
        if not any(x.is_float for x in operands):
            known_result = self.environment.result(name, [x.expression for x in operands])
            if known_result is not None:
                return known_result
        expression = self.environment.simplify(_apply(name, operands))
        # For conditions on Piecewise expressions, sympy creates `ITE`, which And, Or and Not replace.
        if expression.has(sympy.ITE):
            expression = expression.replace(sympy.ITE, _boolean_ite)
        if BY_NAME[name].depends_on_signs:
            expression = self._check_small_sizes(name, [x.expression for x in operands], expression)
        return expression

    def _check_small_sizes(self, name: str, arguments: list[Any], expression: Any) -> Any:
        """Return the result `expression` of an operation after a check for sizes 0 and 1.

        If `expression` is wrong for these sizes, add a guard that excludes them. No guards are added while an
        operator runs. For a wrong relation, the unevaluated relation is then returned.
        """
        environment = self.environment
        operation = BY_NAME[name]
        if not environment.quiet or operation.in_shape_rules:
            environment.compare_at_small_sizes(name, arguments, expression)
        elif (
            operation.is_relation
            and e.is_constant(expression)
            and environment.differences_at_small_sizes(name, arguments, expression)
        ):
            return e.CLASSES[operation.functions[0].name](*arguments, evaluate=False)
        return expression


def _check_size(expressions: list[Any]) -> None:
    """Raise UserError for a large expression with many repeated parts, because it may grow exponentially."""
    for x in expressions:
        if e.has_repeated_parts(x):
            symbols = ", ".join(sorted(map(str, x.free_symbols)))
            raise UserError(
                f"a number computed from {symbols} is an expression of {e.count_nodes(x):,} nodes with "
                f"repeated subexpressions; at most {e.MAX_EXPRESSION_NODES:,} nodes can be exported. "
                "Compute it with tensors, or export with fixed sizes"
            )


class _Operand:
    """Operand of an operation: expression, and whether the operand is a float."""

    __slots__ = ("expression", "is_float")

    def __init__(self, x: Any) -> None:
        self.expression = expression_of(x)
        self.is_float = isinstance(x, float | SymFloat)

    @property
    def as_number(self) -> Any:
        """Expression as a number. A boolean is converted to 0 or 1."""
        x = self.expression
        return sympy.Piecewise((1, x), (0, True)) if e.is_truth(x) else x

    @property
    def as_float(self) -> Any:
        return self.expression if self.is_float else e.ToFloat(self.as_number)


def _boolean_ite(condition: Any, a: Any, b: Any) -> Any:
    """Return a boolean expression that equals `a` if `condition` is true, else `b`."""
    return sympy.Or(sympy.And(condition, a), sympy.And(sympy.Not(condition), b))


def expression_of(x: Any) -> Any:
    """Return the expression of a symbolic or Python number. Raise TypeError for other values."""
    return x.node.expr if isinstance(x, SymNumber) else e.to_sympy(x)


def symbol_of(expression: Any, environment: ShapeEnv) -> Any:
    """Return the symbolic number with an expression, or the Python number for a constant expression."""
    if e.is_constant(expression):
        return e.to_python_number(expression)
    node = SymNode(expression, environment)
    if e.is_truth(expression):
        return SymBool(node)
    return SymInt(node) if expression.is_integer else SymFloat(node)


def _apply(name: str, operands: list[_Operand]) -> Any:
    """Return the expression for the operation `name`.

    The rule of the operation computes the expression, or the function of the operation for the types of the
    operands.
    """
    operation = BY_NAME[name]
    if operation.rule is not None:
        return operation.rule(e, *operands)
    functions = {f.kind: e.CLASSES[f.name] for f in operation.functions}
    if Kind.BOOLEANS in functions and all(e.is_truth(x.expression) for x in operands):
        return functions[Kind.BOOLEANS](*(x.expression for x in operands))
    is_float = any(x.is_float for x in operands)
    kinds = (Kind.FLOATS, Kind.NUMBERS) if is_float else (Kind.INTEGERS, Kind.NUMBERS, Kind.FLOATS)
    kind = next((kind for kind in kinds if kind in functions), Kind.INTEGERS)
    to_float = is_float if kind is Kind.NUMBERS else kind is Kind.FLOATS
    return functions[kind](*(x.as_float if to_float else x.as_number for x in operands))
