"""Conditions on the arguments of an exported program, which are looked at before it runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Check:
    """A condition on the leaves of the arguments.

    `code` is the condition as files have it, with `L['x']` for the argument x; "" where files need none.
    """

    def __init__(self, told: str, holds: Callable[[list[Any]], bool], code: str = "") -> None:
        self.text = told
        self.holds = holds
        self.code = code

    def __call__(self, leaves: list[Any]) -> None:
        """AssertionError where it does not hold."""
        if not self.holds(leaves):
            raise AssertionError(f"Guard failed: {self.text}")
