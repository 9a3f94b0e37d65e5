"""Labels for a profiler.

    with record_function("attention"):
        y = model(x)

They may stand in scripts and in Python, as context managers and, in Python, as decorators.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


class _ScriptRecordFunction:
    """`record_function` as scripts have it."""

    __module__ = "torch.autograd.profiler"
    __ts_name__ = "record_function"

    def __init__(self, name: str, args: str | None = None) -> None:
        self.name = name
        self.args = args

    def __enter__(self) -> _ScriptRecordFunction:
        return self

    def __exit__(self, exc_type: Any, exc_value: Any, traceback: Any) -> None:
        pass


class record_function:
    """A label for what runs inside."""

    __ts_script_class__ = _ScriptRecordFunction

    def __init__(self, name: str, args: str | None = None) -> None:
        self.name = name
        self.args = args

    def __enter__(self) -> record_function:
        return self

    def __exit__(self, exc_type: Any, exc_value: Any, traceback: Any) -> None:
        """Nothing keeps the label yet."""

    def __call__(self, function: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(function)
        def inside(*args: P.args, **kwargs: P.kwargs) -> R:
            with self:
                return function(*args, **kwargs)

        return inside
