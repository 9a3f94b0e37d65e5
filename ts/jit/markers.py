"""Functions that mean something to the compiler and little in plain Python.

    xs = ts.jit.annotate(List[int], [])          the list itself; in compiled code an `int[]`
    if not ts.jit.is_scripting(): ...            left out of compiled code

`ignore` and `unused` mark a function with `__ts_marker__`; the resolver reads the mark when compiled code
calls the function.
"""

from __future__ import annotations

import builtins
import types
import typing
from collections.abc import Callable
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")


def annotate(the_type: Any, the_value: T) -> T:
    """`the_value`; compiled code takes its type to be `the_type`."""
    return the_value


def is_scripting() -> bool:
    """Whether this is compiled code: known at compile time, so the other branch need not compile."""
    return False


def is_tracing() -> bool:
    """Whether a trace is being recorded."""
    return False


def ignore(drop: Any = False, **kwargs: Any) -> Any:
    """Leave a function in Python: compiled code calls back into the interpreter for it."""
    if callable(drop):
        return _mark(drop, "ignore")
    return lambda function: _mark(function, "unused" if drop else "ignore")


def unused(function: F) -> F:
    """Do not compile a function: compiled code that calls it raises."""
    return _mark(function, "unused")


def export(function: F) -> F:
    """Compile a method of a module although nothing calls it."""
    return _mark(function, "export")


def _mark(function: F, marker: str) -> F:
    function.__ts_marker__ = marker  # type: ignore[attr-defined]
    return function


def isinstance(obj: Any, target_type: Any) -> bool:
    """Whether `obj` is of a type as compiled code understands it: containers with all their elements."""
    if builtins.isinstance(target_type, tuple | list):
        return any(isinstance(obj, each) for each in target_type)
    origin, arguments = typing.get_origin(target_type), typing.get_args(target_type)
    if origin is None:
        return builtins.isinstance(obj, target_type or type(None))
    if origin in (typing.Union, types.UnionType):
        return any(isinstance(obj, each) for each in arguments)
    if not builtins.isinstance(obj, origin):
        return False
    if origin is tuple:
        return len(obj) == len(arguments) and all(map(isinstance, obj, arguments))
    if origin is dict:
        key, value = arguments
        return all(isinstance(k, key) and isinstance(v, value) for k, v in obj.items())
    return all(isinstance(element, arguments[0]) for element in obj)
