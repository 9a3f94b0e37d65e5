"""Names of PyTorch's dispatch keys, which packages put into sets when they are imported: names, and no more.

>>> DispatchKeySet(DispatchKey.CPU) | DispatchKeySet(DispatchKey.AutocastCPU)
DispatchKeySet(AutocastCPU, CPU)
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any, NoReturn


class _NameTable(type):
    def __getattr__(cls, name: str) -> str:
        if name.startswith("_"):
            raise AttributeError(f"DispatchKey has no attribute {name!r}")
        return name


class DispatchKey(metaclass=_NameTable):
    """`DispatchKey.CPU` is the name "CPU"."""


class DispatchKeySet:
    """Immutable set of dispatch key names."""

    def __init__(self, *keys: str) -> None:
        self.keys = frozenset(keys)

    def __or__(self, other: DispatchKeySet) -> DispatchKeySet:
        return DispatchKeySet(*self.keys, *other.keys)

    def __and__(self, other: DispatchKeySet) -> DispatchKeySet:
        return DispatchKeySet(*(self.keys & other.keys))

    def __sub__(self, other: DispatchKeySet) -> DispatchKeySet:
        return DispatchKeySet(*(self.keys - other.keys))

    def add(self, key: str) -> DispatchKeySet:
        """Return the set with a key added."""
        return DispatchKeySet(*self.keys, key)

    def remove(self, key: str) -> DispatchKeySet:
        """Return the set with a key removed."""
        return DispatchKeySet(*(self.keys - {key}))

    def has(self, key: str) -> bool:
        """Return whether the set contains a key."""
        return key in self.keys

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DispatchKeySet) and self.keys == other.keys

    def __hash__(self) -> int:
        return hash(self.keys)

    def __repr__(self) -> str:
        return f"DispatchKeySet({', '.join(sorted(self.keys))})"


class ExcludeDispatchKeyGuard(AbstractContextManager[None]):
    """Context manager that raises NotImplementedError: operators are not dispatched by keys."""

    def __init__(self, keys: DispatchKeySet) -> None:
        self.keys = keys

    def __enter__(self) -> NoReturn:
        raise NotImplementedError(
            f"torch._C._ExcludeDispatchKeyGuard({self.keys}): there are no dispatch keys"
        )

    def __exit__(self, *error: Any) -> None:
        """Do nothing: `__enter__` always raises."""


def log_api_usage_once(event: str) -> None:
    """Do nothing: API usage is not logged."""
