"""Memoization of `script`: scripted functions, under PyTorch's private names such as `_jit_caching_layer`.

Input: a Python function f. Output: the scripted function that an earlier call of `script` created. The right
column describes the result of each expression:

    find_scripted_function(f)       the scripted function, or None
    FUNCTION_CACHE[f]               the qualified name of the scripted function

After `del FUNCTION_CACHE[f]`, `script(f)` compiles f again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, MutableMapping
from typing import Any, Final

from ts.frontend.overloads import has_overloads
from ts.runtime.function import ScriptFunction, get_overloads, scripted_functions


def find_scripted_function(function: Callable[..., Any]) -> ScriptFunction | None:
    """Return the cached scripted function of a Python function, or None if it was not scripted."""
    return scripted_functions.get(function)


def find_overloads(function: Callable[..., Any]) -> list[Any] | None:
    """Return the scripted overloads of a function, or None for a function without overload declarations."""
    return get_overloads(function) if has_overloads(function) else None


def cache_scripted_function(function: Callable[..., Any], scripted: ScriptFunction) -> None:
    """Store the scripted function that `script` returns for a Python function."""
    scripted_functions[function] = scripted


class FunctionCache(MutableMapping[Callable[..., Any], str]):
    """Mapping from Python functions that were scripted to the qualified names of the scripted functions."""

    def __getitem__(self, function: Callable[..., Any]) -> str:
        script = find_scripted_function(function)
        if script is None:
            raise KeyError(function)
        return script.qualified_name

    def __setitem__(self, function: Callable[..., Any], qualified_name: str) -> None:
        from ts.frontend.naming import find_live

        script = find_live(qualified_name)
        if not isinstance(script, ScriptFunction):
            raise KeyError(f"no scripted function is named {qualified_name!r}")
        scripted_functions[function] = script

    def __delitem__(self, function: Callable[..., Any]) -> None:
        if find_scripted_function(function) is None:
            raise KeyError(function)
        scripted_functions.forget(function)

    def __iter__(self) -> Iterator[Callable[..., Any]]:
        return scripted_functions.keys()

    def __len__(self) -> int:
        return sum(1 for _ in self)


FUNCTION_CACHE: Final = FunctionCache()
