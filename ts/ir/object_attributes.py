"""Attributes of objects of the user's program, whose classes can define `__getattr__`."""

from __future__ import annotations

from typing import Any, Final

_MISSING: Final = object()


def has_attribute(obj: object, name: str) -> bool:
    """Return whether `obj` has an attribute. Errors other than AttributeError propagate.

    In modules that mypyc compiles, `hasattr` returns False for every error, also for KeyboardInterrupt.
    """
    return getattr(obj, name, _MISSING) is not _MISSING


def module_of(obj: object) -> Any:
    """Return `__module__` of a class or function, which can be any object, or None without the attribute.

    mypyc requires that a value of the declared type `str` is a string.
    """
    return getattr(obj, "__module__", None)
