"""Input guards (shape guards): guard expressions on arguments, evaluated before each run.

A guard consists of a formula and its text. This guard requires that dimension 0 of x is at most 16:

    InputGuard(Operation("<=", (Source("x", 0), Constant(16))), "x.size()[0] <= 16")

Exports create the formulas from symbolic expressions (module `guards`). For archives,
`pt2_format.argument_conditions` creates the formulas from text.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, NamedTuple

from ts._core.tensor.tensor import Tensor
from ts.export.expr_parser import Attribute, Constant, Formula, FunctionCall, Name, Operation, Source
from ts.export.size_operations import BY_SIGN, OPERATIONS
from ts.nn.modules.module import Module


class UnknownFunctionError(Exception):
    """Raised for a formula with a function or name that guards may not contain."""


class Line(NamedTuple):
    """Source line of the exported program: file, line number, function and text."""

    file: str
    line: int
    function: str
    text: str


class InputGuard:
    """Condition on the leaves (flattened arguments) of a call.

    `code` is the condition in the syntax of archives, where `L['x']` is the argument x. `code` is "" if
    archives do not contain the condition. `where` is the source line that requires the condition, or None.
    """

    __slots__ = ("_holds", "code", "condition", "text", "where")

    def __init__(
        self, condition: Formula | Source, text: str, code: str = "", where: Line | None = None
    ) -> None:
        self.condition = condition
        self.text = text
        self.code = code
        self.where = where
        self._holds = compile_formula(condition)

    def __reduce__(self) -> Any:
        return InputGuard, (self.condition, self.text, self.code, self.where)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, InputGuard) and self.__reduce__() == other.__reduce__()

    def __hash__(self) -> int:
        return hash((self.text, self.code))

    def holds(self, leaves: list[Any]) -> bool:
        """Return True if `leaves` satisfy the condition.

        A condition that cannot be evaluated is not satisfied.
        """
        try:
            return bool(self._holds(leaves))
        # The arguments are invalid. For example, they have too few dimensions, a size 0 that is a divisor, or
        # a string instead of a number.
        except (ArithmeticError, IndexError, TypeError, ValueError):
            return False

    def __call__(self, leaves: list[Any]) -> None:
        """Raise AssertionError if `leaves` violate the condition."""
        if not self.holds(leaves):
            raise AssertionError(f"Guard failed: {self._describe(leaves)}")

    def _describe(self, leaves: list[Any]) -> str:
        match self.condition:
            case Operation(operator="is_size", operands=(Source() as source,)):
                kind = type(leaves[source.leaf])
                if kind is not int:
                    return f"{source} must be an int, but it is a {kind.__name__}"
        return self.text


def guard_constant(source: Source, value: Any) -> InputGuard:
    """Return the guard that an argument equals a constant."""
    text = f"{source} {'is' if value is None else '=='} {value!r}"
    if isinstance(value, float) and math.isnan(value):
        text = f"math.isnan({source})"
    elif isinstance(value, float) and math.isinf(value):
        text = f"{source} == {'-' if value < 0 else ''}math.inf"
    return InputGuard(Operation("is_constant", (source, Constant(value))), text)


def guard_size(source: Source) -> InputGuard:
    """Return the guard that an argument is a non-negative int."""
    return InputGuard(Operation("is_size", (source,)), f"{source} >= 0")


def guard_bound(source: Source, relation: str, bound: Any) -> InputGuard:
    """Return the guard `size relation bound`, such as `size <= 16`, for the size or number at `source`."""
    return InputGuard(
        Operation(relation, (source.size, Constant(bound))), f"{source.size} {relation} {bound}"
    )


def guard_equal_sizes(source: Source, other: Source) -> InputGuard:
    """Return the guard that the sizes or numbers at two locations are equal."""
    return InputGuard(Operation("==", (source.size, other.size)), f"{source.size} == {other.size}")


def guard_divisible(source: Source) -> InputGuard:
    """Return the guard `(size - offset) % factor == 0` for the size, offset and factor of `source`."""
    difference = Operation("-", (source.size, Constant(source.offset)))
    condition = Operation("==", (Operation("%", (difference, Constant(source.factor))), Constant(0)))
    text = str(source._replace(factor=1))
    return InputGuard(condition, f"{text} % {source.factor} == 0")


def compile_formula(formula: Formula) -> Callable[[list[Any]], Any]:
    """Convert a formula to a function of the argument leaves."""
    match formula:
        case Source():
            return formula.read
        case Constant(value=value):
            return lambda leaves: value
        case Operation(operator="and" | "or" as name, operands=operands):
            first, second = map(compile_formula, operands)
            if name == "and":
                return lambda leaves: first(leaves) and second(leaves)
            return lambda leaves: first(leaves) or second(leaves)
        case Operation(operator="if", operands=operands):
            truth, one, other = map(compile_formula, operands)
            return lambda leaves: one(leaves) if truth(leaves) else other(leaves)
        case Operation(operator=name, operands=(operand, other)) if name in _OPERATORS:
            function, left, right = _OPERATORS[name], compile_formula(operand), compile_formula(other)
            return lambda leaves: function(left(leaves), right(leaves))
        case Operation(operator=name, operands=operands) if name in _OPERATORS:
            return _apply(_OPERATORS[name], operands)
        case FunctionCall(function=called, arguments=arguments, options=()):
            name = _dotted(called)
            if name in _FUNCTIONS and (len(arguments) == 1 or (name in _VARIADIC and arguments)):
                return _apply(_FUNCTIONS[name], arguments)
    raise UnknownFunctionError(str(formula))


def _apply(function: Callable[..., Any], operands: Iterable[Formula]) -> Callable[[list[Any]], Any]:
    computed = list(map(compile_formula, operands))
    return lambda leaves: function(*(operand(leaves) for operand in computed))


def _dotted(formula: Formula) -> str:
    match formula:
        case Name(name=name):
            return name
        case Attribute(of=Name(name=first), name=name):
            return f"{first}.{name}"
    return ""


def _numbers_only(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return `function` with a check that raises TypeError for arguments that are not numbers.

    Without the check, the product of a string and a large integer could exhaust memory.
    """

    def computed(*operands: Any) -> Any:
        if not all(isinstance(x, int | float) for x in operands):
            raise TypeError("conditions may only contain numbers")
        return function(*operands)

    return computed


def _is_size(x: Any) -> bool:
    return type(x) is int and x >= 0


def _is_constant(x: Any, value: Any) -> bool:
    if isinstance(value, float) and math.isnan(value):
        return isinstance(x, float) and math.isnan(x)
    return x is value or (not isinstance(x, Tensor) and bool(x == value))


_OPERATORS: Final[Mapping[str, Callable[..., Any]]] = {
    sign: op.compute if op.is_relation or sign == "not" else _numbers_only(op.compute)
    for sign, op in BY_SIGN.items()
    if op.compute is not None
} | {"is_size": _is_size, "is_constant": _is_constant}
_FUNCTIONS: Final[Mapping[str, Callable[..., Any]]] = {"bool": bool} | {
    name: op.compute
    for op in OPERATIONS
    if op.compute is not None and op.sign in ("", "not") and any(f.max_count != 2 for f in op.functions)
    for name in op.call_names
}
_VARIADIC: Final = frozenset(name for name, function in _FUNCTIONS.items() if function in (max, min))


class GuardsFn(Module):
    """Module that evaluates a program's guards in order. The first violated guard raises AssertionError."""

    # Dead code elimination must keep calls of this module, although they have no results.
    _is_impure: Final = True

    def __init__(self, guards: Iterable[InputGuard]) -> None:
        super().__init__()
        self.guards = tuple(guards)

    def forward(self, *leaves: Any) -> None:
        """Evaluate the guards in order on the flattened arguments."""
        arguments = list(leaves)
        for guard in self.guards:
            guard(arguments)
