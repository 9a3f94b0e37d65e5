"""Placeholders for `functorch.dim`, first-class dimensions: their use raises NotImplementedError."""

from __future__ import annotations

from typing import Any, Final

from ts.unsupported.placeholders import placeholder

_CLASSES: Final = ("Dim", "DimList", "Tensor")
_FUNCTIONS: Final = ("cat", "dimlists", "dims", "stack")


def __getattr__(name: str) -> Any:
    if name in _CLASSES:
        return placeholder(f"functorch.dim.{name}", "class")
    if name in _FUNCTIONS:
        return placeholder(f"functorch.dim.{name}", "function")
    raise AttributeError(f"module 'functorch.dim' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_CLASSES, *_FUNCTIONS})
