"""Runs a random program under one of its implementations and makes outcomes comparable."""

from __future__ import annotations

import copy
import itertools
import linecache
from collections.abc import Callable
from typing import Any, Dict, List, Optional, Tuple

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
# What PyTorch says when its optimiser has lost a value that the program still uses.
BUGS = ("INTERNAL ASSERT", "Can't hash IValues with tag 'None'")
_numbers = itertools.count()


def as_functions(source: str) -> dict[str, Any]:
    """The functions of `source` as live Python functions, their text where `inspect` finds it."""
    filename = f"<random program {next(_numbers)}>"
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    namespace: dict[str, Any] = dict(List=List, Tuple=Tuple, Dict=Dict, Optional=Optional, __name__="random_program")
    exec(compile(source, filename, "exec"), namespace)
    return namespace


def outcome(function: Callable[..., Any], arguments: tuple[Any, ...]) -> str:
    """The result's text, or "raises": which class is the business of the error tests.

    "internal assertion" is a bug of the implementation under test (PyTorch has some, which its own
    optimiser causes); it equals nothing that a correct one gives.
    """
    copies = [copy.copy(a) for a in arguments]
    try:
        return repr(function(*copies))
    except (ArithmeticError, LookupError, RuntimeError, ValueError) as error:
        return "internal assertion" if any(text in str(error) for text in BUGS) else "raises"
