"""Guards on the arguments of an exported program, evaluated before each run."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final, NamedTuple

from ts.nn.modules.module import Module


class Line(NamedTuple):
    """Source line of the exported program, with its text."""

    file: str
    line: int
    function: str
    text: str


class Check:
    """Guard condition on the argument leaves.

    `code` is the condition in archive syntax, with `L['x']` for the argument x; "" if archives omit it.
    `where` is the source line that requires it, or None.
    """

    def __init__(
        self, told: str, holds: Callable[[list[Any]], bool], code: str = "", where: Line | None = None
    ) -> None:
        self.text = told
        self.holds = holds
        self.code = code
        self.where = where

    def __call__(self, leaves: list[Any]) -> None:
        """Raise AssertionError if the condition fails."""
        if not self.holds(leaves):
            raise AssertionError(f"Guard failed: {self.text}")


class IntegerGuard(Check):
    """Guard that a named leaf is a non-negative int."""

    def __init__(self, name: str, leaf: int) -> None:
        super().__init__(f"{name} >= 0", lambda leaves: type(leaves[leaf]) is int and leaves[leaf] >= 0)
        self.name = name
        self.leaf = leaf

    def __call__(self, leaves: list[Any]) -> None:
        """Raise AssertionError for other types and negative numbers."""
        kind = type(leaves[self.leaf])
        if kind is not int:
            raise AssertionError(f"Guard failed: {self.name} is to be an int, but it is a {kind.__name__}")
        super().__call__(leaves)


class GuardsFn(Module):
    """Module that evaluates all guards of a program; raises AssertionError at the first failure."""

    _is_impure: Final = True  # keeps the unused call in dead code elimination

    def __init__(self, guards: Iterable[Check]) -> None:
        super().__init__()
        self.guards = tuple(guards)

    def forward(self, *leaves: Any) -> None:
        """Evaluate the guards in order on the flattened arguments."""
        given = list(leaves)
        for guard in self.guards:
            guard(given)
