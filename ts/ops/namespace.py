"""Operators by their full names: `torch.ops.aten.add.Tensor`.

ts.ops.aten.add(x, 1)              the overload that takes the arguments
ts.ops.aten.add.Scalar(x, 1)       this one; `default` is the one without a name
ts.ops.aten.add.overloads()        ['Tensor', 'Scalar', ...]
"""

from __future__ import annotations

from typing import Any

from ts.absent import absent_operator
from ts.ops import registry


class Packet:
    """All overloads of one operator."""

    def __init__(self, name: str) -> None:
        self.qualified_name = name
        self.__name__ = name.partition("::")[2]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return _callable(self.qualified_name, registry.lookup)(*args, **kwargs)

    def __repr__(self) -> str:
        return f"<OpOverloadPacket(op='{self.qualified_name.replace('::', '.')}')>"

    def overloads(self) -> list[str]:
        """The names of the overloads."""
        return [operator.overload or "default" for operator in registry.lookup(self.qualified_name)]

    def __getattr__(self, overload: str) -> Any:
        if not overload.startswith("__"):
            wanted = "" if overload == "default" else overload
            named = tuple(o for o in registry.lookup(self.qualified_name) if o.overload == wanted)
            if named:
                found = _callable(self.qualified_name, lambda name: named)
                setattr(self, overload, found)
                return found
        raise AttributeError(
            f"The underlying op of '{self.qualified_name}' has no overload name '{overload}'"
        )


def _callable(name: str, lookup: Any) -> Any:
    from ts._core.dispatch.overloads import OverloadSet

    return OverloadSet(name, lookup)


class Namespace:
    """The operators `name::…`."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __getattr__(self, name: str) -> Any:
        qualified = f"{self.name}::{name}"
        if not registry.lookup(qualified):
            if self.name == "aten" and (absent := absent_operator(name)) is not None:
                return absent
            raise AttributeError(f"'_OpNamespace' '{self.name}' object has no attribute '{name}'")
        found = Packet(qualified)
        setattr(self, name, found)
        return found


def load_library(path: Any) -> None:
    """OSError: operators in C++ are linked with PyTorch's libraries."""
    raise OSError(
        f"Could not load this library: {path}: ts loads no operators in C++; `ts.library` takes functions"
    )
