"""Names and sets of PyTorch's dispatch keys, which have no effect in `ts`.

Some packages create such sets on import:

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
    """Class whose attributes are names of dispatch keys, such as "CPU" for `DispatchKey.CPU`."""


class DispatchKeySet:
    """Immutable set of names of dispatch keys."""

    def __init__(self, *keys: str) -> None:
        self.keys = frozenset(keys)

    def __or__(self, other: DispatchKeySet) -> DispatchKeySet:
        return DispatchKeySet(*self.keys, *other.keys)

    def __and__(self, other: DispatchKeySet) -> DispatchKeySet:
        return DispatchKeySet(*(self.keys & other.keys))

    def __sub__(self, other: DispatchKeySet) -> DispatchKeySet:
        return DispatchKeySet(*(self.keys - other.keys))

    def add(self, key: str) -> DispatchKeySet:
        """Return the set with `key` added."""
        return DispatchKeySet(*self.keys, key)

    def remove(self, key: str) -> DispatchKeySet:
        """Return the set without `key`."""
        return DispatchKeySet(*(self.keys - {key}))

    def has(self, key: str) -> bool:
        """Return True if the set contains `key`."""
        return key in self.keys

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DispatchKeySet) and self.keys == other.keys

    def __hash__(self) -> int:
        return hash(self.keys)

    def __repr__(self) -> str:
        return f"DispatchKeySet({', '.join(sorted(self.keys))})"


class ExcludeDispatchKeyGuard(AbstractContextManager[None]):
    """Context manager that raises NotImplementedError, because operators are not dispatched by keys."""

    def __init__(self, keys: DispatchKeySet) -> None:
        self.keys = keys

    def __enter__(self) -> NoReturn:
        raise NotImplementedError(
            f"torch._C._ExcludeDispatchKeyGuard({self.keys}): dispatch keys are not supported"
        )

    def __exit__(self, *error: Any) -> None:
        """Do nothing, because `__enter__` always raises an error."""


def log_api_usage_once(event: str) -> None:
    """Do nothing, because API usage is not logged."""
