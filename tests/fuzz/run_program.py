"""Run a random program in one of its implementations and return comparable outcomes."""

from __future__ import annotations

import copy
import enum
import itertools
import linecache
import sys
import types
import typing
from collections.abc import Callable
from typing import Any

ARGUMENTS = [
    (3, 4, 1.5, True, [1, 2, 3]),
    (-7, 0, -2.0, False, []),
    (100, -33, 0.1, True, [5, -5, 0, 99, 7, 7]),
]
CONTAINER_ARGUMENTS = [
    (*ARGUMENTS[0], "a,bc,a", {"k": 4, "a": -2}, 5),
    (*ARGUMENTS[1], "", {}, None),
    (*ARGUMENTS[2], "Hello World", {"x": 1, "b": 99, "": 7}, -3),
]
# PyTorch's message when its optimizer has removed a value that the program still uses.
BUGS = ("INTERNAL ASSERT", "Can't hash IValues with tag 'None'")
MARK = "#E"  # prefix of the messages that programs raise
TYPES = ("Any", "Dict", "List", "NamedTuple", "Optional", "Tuple", "Union")
EXPECTED = (ArithmeticError, LookupError, RuntimeError, ValueError, AssertionError)
_numbers = itertools.count()


def as_functions(source: str) -> dict[str, Any]:
    """Return the functions and classes of `source` as live Python objects with source text for `inspect`."""
    name = f"random_program_{next(_numbers)}"
    filename = f"<{name}>"
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    program = types.ModuleType(name)
    program.__file__ = filename
    sys.modules[name] = program  # `inspect` finds the source of classes by their module
    namespace = vars(program)
    namespace.update((name, getattr(typing, name)) for name in TYPES)
    namespace["Enum"] = enum.Enum
    exec(compile(source, filename, "exec", dont_inherit=True), namespace)
    return namespace


def outcome(function: Callable[..., Any], arguments: tuple[Any, ...]) -> str:
    """Return the result as text, the class and message of an error raised by the program (`#E`), or "raises".

    "internal assertion" is a bug of the tested implementation (PyTorch's optimizer causes some); it never
    equals a correct result.
    """
    copies = [copy.copy(a) for a in arguments]
    try:
        return repr(function(*copies))
    except Exception as error:
        text = str(error)
        if any(bug in text for bug in BUGS):
            return "internal assertion"
        last = text.rstrip("\n").rpartition("\n")[2]
        if MARK in last:
            # The last line of a script's error is `builtins.ValueError: ...` or `RuntimeError: AssertionError: ...`.
            if text == last:
                return f"{type(error).__name__}: {text}"
            return last.removeprefix("builtins.").replace("RuntimeError: AssertionError", "AssertionError")
        if isinstance(error, EXPECTED) or type(error).__module__.startswith("torch"):
            return "raises"
        raise
