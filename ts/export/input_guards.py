"""Guards on the arguments of an exported program, evaluated before each run."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final, NamedTuple

from ts.nn.modules.module import Module


class Line(NamedTuple):
    """Source line of the exported program: file, line number, function and text."""

    file: str
    line: int
    function: str
    text: str


class Check:
    """Guard: a condition on the leaves (flattened arguments) of a call.

    `code` is the condition in the syntax of archives, where `L['x']` is the argument x; it is "" if archives
    omit the condition. `where` is the source line of the program that requires the condition, or None.
    """

    def __init__(
        self, text: str, holds: Callable[[list[Any]], bool], code: str = "", where: Line | None = None
    ) -> None:
        self.text = text
        self.holds = holds
        self.code = code
        self.where = where

    def __call__(self, leaves: list[Any]) -> None:
        """Raise AssertionError if `leaves` violate the condition."""
        if not self.holds(leaves):
            raise AssertionError(f"Guard failed: {self.text}")


class IntegerGuard(Check):
    """Guard that the argument leaf with the index `leaf` is a non-negative int."""

    def __init__(self, name: str, leaf: int) -> None:
        super().__init__(f"{name} >= 0", lambda leaves: type(leaves[leaf]) is int and leaves[leaf] >= 0)
        self.name = name
        self.leaf = leaf

    def __call__(self, leaves: list[Any]) -> None:
        """Raise AssertionError if the leaf is no int or is negative."""
        kind = type(leaves[self.leaf])
        if kind is not int:
            raise AssertionError(f"Guard failed: {self.name} must be an int, but it is a {kind.__name__}")
        super().__call__(leaves)


class GuardsFn(Module):
    """Module that evaluates a program's guards in order; the first failure raises AssertionError."""

    _is_impure: Final = True  # dead code elimination must keep calls of this module, whose results are unused

    def __init__(self, guards: Iterable[Check]) -> None:
        super().__init__()
        self.guards = tuple(guards)

    def forward(self, *leaves: Any) -> None:
        """Evaluate the guards in order on the flattened arguments."""
        arguments = list(leaves)
        for guard in self.guards:
            guard(arguments)
