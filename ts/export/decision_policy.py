"""Policies for conditions on symbols that the known facts of a `ShapeEnv` do not decide.

There are three policies:

    DecisionPolicy         for exports: the example arguments decide, and the condition becomes a guard
    FrozenPolicy           for replays of an exported program: raises UndecidableError
    CollectingPolicy       for replays: the example arguments decide, and a list collects the conditions
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ts.errors import GuardOnDataDependentSymNode
from ts.export import sympy_functions as e
from ts.export.canonical_conditions import as_multiple, canonical_equality, is_simple_guard
from ts.export.sympy_import import sympy
from ts.export.user_frames import UserFrame, current_user_frame, is_in_assert

if TYPE_CHECKING:
    from ts.export.shape_env import ShapeEnv

_LARGE_SIZE = 8191  # `guess` assumes this or a larger size for unbacked symbols


class Guard(NamedTuple):
    """Condition on argument sizes that the export assumed. Calls with other sizes raise an error."""

    condition: Any
    where: UserFrame | None


class Requirement(NamedTuple):
    """Condition on data-dependent numbers. The exported graph asserts the condition at run time."""

    condition: Any
    message: str
    where: UserFrame | None
    # `Mod` terms of `condition` whose dividends were not known to be non-negative
    signed_remainders: tuple[Any, ...] = ()


class UndecidableError(Exception):
    """Raised during `run_decompositions` for a condition that known facts do not decide."""


class DecisionPolicy:
    """Policy of an export: the example arguments decide, and guards ensure the same decisions in calls.

    The environment calls these methods if its facts do not decide a condition or expression. It passes
    simplified expressions to `specialize`, `guess` and `require`.
    """

    is_frozen = False  # True if decisions add no facts to the environment

    def decide(self, environment: ShapeEnv, condition: Any) -> bool:
        """Return the value of `condition` for the example arguments. Add a guard that it has the same value.

        If an unbacked symbol has no example value, call `undetermined`. Within an `assert` statement, require
        the condition and return True.
        """
        condition = as_multiple(environment.simplify(condition))
        try:
            holds = bool(environment.hint(condition))
        except KeyError:
            if is_in_assert():
                environment.require(condition)
                return True
            return bool(self.undetermined(environment, condition))
        self.assume(environment, condition if holds else sympy.Not(condition))
        return holds

    def specialize(self, environment: ShapeEnv, expression: Any) -> Any:
        """Return the example value of `expression`, and add the guard `expression == value`."""
        try:
            example_value = environment.hint(expression)
        except KeyError:
            return self.undetermined(environment, expression, type_name="integer")
        self.assume(environment, sympy.Eq(expression, e.to_sympy(example_value)))
        return example_value

    def guess(self, environment: ShapeEnv, condition: Any) -> bool:
        """Return the value of `condition` for the example arguments, without adding a guard.

        Unbacked symbols, which have no example values, are replaced by large numbers. The result may only
        influence the choice of a memory layout, such as the contiguity of a tensor.
        """
        symbols = sorted(condition.free_symbols, key=str)
        numbers = {s: environment.hints.get(s, _LARGE_SIZE + 2 * i) for i, s in enumerate(symbols)}
        return bool(e.value(condition, numbers))

    def assume(self, environment: ShapeEnv, condition: Any) -> None:
        """Add a guard for `condition`, and add it to the facts of the environment.

        If `environment.defers_guards` is True, only simple conditions become guards, such as bounds of a
        symbol. The graph asserts all other conditions.
        """
        if environment.defers_guards and not is_simple_guard(condition):
            condition = environment.simplify(condition)
            environment.append_requirement(canonical_equality(condition), "")
        else:
            environment.guards.append(Guard(condition, current_user_frame()))
        environment.learn(condition)

    def require(self, environment: ShapeEnv, condition: Any, message: str) -> None:
        """Add a guard for `condition`. If it depends on tensor elements, let the graph assert it instead.

        Raise RuntimeError if `condition` is false for the example arguments.
        """
        if environment.has_hint(condition):
            if not environment.hint(condition):
                raise RuntimeError(message or f"Runtime assertion failed for expression {condition}")
            self.assume(environment, condition)
            return
        environment.append_requirement(condition, message)
        environment.learn(condition)

    def undetermined(self, environment: ShapeEnv, expression: Any, type_name: str = "") -> Any:
        """Raise the error for a data-dependent expression. Subclasses may return a value instead."""
        raise data_dependent_error(environment, expression, type_name) from None


class FrozenPolicy(DecisionPolicy):
    """Policy for a replay: raises UndecidableError for conditions that the known facts do not decide."""

    is_frozen = True

    def decide(self, environment: ShapeEnv, condition: Any) -> bool:
        """Raise UndecidableError."""
        raise UndecidableError(str(condition))

    def specialize(self, environment: ShapeEnv, expression: Any) -> Any:
        """Raise UndecidableError."""
        raise UndecidableError(str(expression))

    def assume(self, environment: ShapeEnv, condition: Any) -> None:
        """Do nothing: a replay adds no guards."""


class CollectingPolicy(DecisionPolicy):
    """Policy for a replay: the example arguments decide, and the list `noted` collects the conditions."""

    is_frozen = True

    def __init__(self, noted: list[Any]) -> None:
        self.noted = noted

    def assume(self, environment: ShapeEnv, condition: Any) -> None:
        """Append the condition to `noted`."""
        self.noted.append(condition)


def data_dependent_error(
    environment: ShapeEnv, expression: Any, type_name: str = ""
) -> GuardOnDataDependentSymNode:
    """Return the error for a guard on an expression that depends on tensor elements."""
    sizes = sorted(environment.size_symbols & expression.free_symbols, key=str)
    at = environment.line or current_user_frame()
    what = (
        f"Could not extract specialized {type_name} from data-dependent expression {expression} "
        f"(unhinted: {expression})."
        if type_name
        else f"Could not guard on data-dependent expression {expression} (unhinted: {expression})."
    )
    message = f"{what}  (Size-like symbols: {', '.join(map(str, sizes)) or 'none'})\n\n"
    if not type_name:
        message += (
            "consider using data-dependent friendly APIs such as guard_or_false, guard_or_true and "
            "statically_known_true.\n"
        )
    if at is not None:
        message += f"Caused by: {at.text}  # {at.file}:{at.line} in {at.function}\n\n"
        message += "The following call raised this error:\n"
        message += f'  File "{at.file}", line {at.line}, in {at.function}\n    {at.text}\n'
    return GuardOnDataDependentSymNode(message)
