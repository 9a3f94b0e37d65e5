"""Weak-keyed side tables (ephemerons) of compilation results, as attributes of Python functions and classes.

The key is a function or a class, and keeps its result alive. Example:

    scripted = WeakSideTable("script")
    scripted[f] = ScriptFunction(...)
    scripted.get(f)

A `WeakKeyDictionary` would never free the results, because each result refers to its key.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Generic, TypeVar
from weakref import WeakSet, ref

V = TypeVar("V")


class WeakSideTable(Generic[V]):
    """Mapping whose values are stored as attributes of its keys."""

    def __init__(self, name: str) -> None:
        self.name = f"__ts_{name}__"

    def get(self, key: Any) -> V | None:
        """Return the value of `key`, or None. A value that `functools.wraps` copied is ignored."""
        owner, value = getattr(key, "__dict__", {}).get(self.name, (None, None))
        return value if owner is not None and owner() is key else None

    def __setitem__(self, key: Any, value: V) -> None:
        setattr(key, self.name, (ref(key), value))

    def forget(self, key: Any) -> None:
        """Remove the value of a key, if present."""
        if self.name in getattr(key, "__dict__", {}):
            delattr(key, self.name)


class EnumerableWeakSideTable(WeakSideTable[V]):
    """Side table that can enumerate its keys."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._keys: WeakSet[Any] = WeakSet()

    def __setitem__(self, key: Any, value: V) -> None:
        super().__setitem__(key, value)
        self._keys.add(key)

    def forget(self, key: Any) -> None:
        """Remove the value of a key, if present."""
        super().forget(key)
        self._keys.discard(key)

    def keys(self) -> Iterator[Any]:
        """Return an iterator over all keys in the table."""
        return iter(list(self._keys))
