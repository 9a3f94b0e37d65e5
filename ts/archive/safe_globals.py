"""Allowlist (safelist) of user classes and functions that `ts.load` accepts in files with `weights_only`.

Input: classes or functions, for the process or for a `with` block. Output: rules for the unpickler.

The example allows the class `Config` in the block, under the name that files contain:

    with safe_globals([(Config, "old.module.Config")]): ...
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from types import TracebackType
from typing import Any

from ts.archive.unpickler import Global
from ts.module_names import torch_name

SafeGlobal = Callable[..., Any] | tuple[Callable[..., Any], str]
_safe: list[SafeGlobal] = []


def add_safe_globals(safe_globals: Sequence[SafeGlobal]) -> None:
    """Add classes and functions to the allowlist.

    For a pair (object, name), files refer to the object as `name`.
    """
    for each in safe_globals:
        if isinstance(each, tuple) and (len(each) != 2 or not isinstance(each[1], str)):
            raise ValueError(f"Expected tuple of (global, str of callable's full path), but got: {each}")
        if each not in _safe:
            _safe.append(each)


def get_safe_globals() -> list[SafeGlobal]:
    """Return the classes and functions in the allowlist."""
    return list(_safe)


def clear_safe_globals() -> None:
    """Remove all user classes and functions from the allowlist."""
    _safe.clear()


class safe_globals:
    """Context manager that adds classes and functions to the allowlist during its `with` block."""

    def __init__(self, safe_globals: Sequence[SafeGlobal]) -> None:
        self._added = safe_globals
        self._previous: list[SafeGlobal] = []

    def __enter__(self) -> None:
        self._previous = get_safe_globals()
        add_safe_globals(self._added)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _safe[:] = self._previous


def safe_global(name: str) -> Global | None:
    """Return the unpickling rules of `name` if it is the full name of an allowed global, else None."""
    for each in _safe:
        allowed_object, path = each if isinstance(each, tuple) else (each, _name_in_files(each))
        if path == name:
            new = (
                partial(allowed_object.__new__, allowed_object) if isinstance(allowed_object, type) else None
            )
            return Global(name, allowed_object, new, _restore_state, takes_arguments=True)
    return None


def _name_in_files(allowed_object: Callable[..., Any]) -> str:
    """Return the full name by which files refer to a class or function.

    Names of `ts` become PyTorch's names.
    """
    return f"{torch_name(allowed_object.__module__)}.{allowed_object.__qualname__}"


def _restore_state(instance: Any, state: Any) -> None:
    """Call `__setstate__` with `state`, or set attributes and slots if the class has no such method."""
    if hasattr(instance, "__setstate__"):
        instance.__setstate__(state)
        return
    attributes, slots = state if isinstance(state, tuple) and len(state) == 2 else (state, None)
    if attributes:
        instance.__dict__.update(attributes)
    for name, value in (slots or {}).items():
        setattr(instance, name, value)
