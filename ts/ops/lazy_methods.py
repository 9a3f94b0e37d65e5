"""Placeholders of tensor methods that exist before their operators are imported.

The function `announce` adds a placeholder for each name in `method_names` to the tensor class.
`dir(ts.Tensor)` therefore lists all methods. The first access to a placeholder imports all operators, which
replaces the placeholders by methods. `python -m tests.regenerate` writes `method_names`.
"""

from __future__ import annotations

from typing import Any

from ts._core.tensor.tensor import Tensor
from ts._core.tensor.tensor_type import install_methods
from ts.ops.method_names import NAMES


class LazyMethod:
    """Placeholder descriptor of an operator method, whose first access loads all operators."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, instance: Tensor | None, owner: type) -> Any:
        from ts.ops import registry

        registry.load()
        method = Tensor.__dict__[self.name]
        # If another thread has installed this placeholder again after the operators were loaded, the lookup
        # returns the placeholder itself.
        if method is self:
            method = registry.function(self.name)
        return method.__get__(instance, owner)


def announce() -> None:
    """Install placeholder methods, unless operators are already loaded."""
    if "add" not in Tensor.__dict__:
        install_methods({name: LazyMethod(name) for name in NAMES.split()})
