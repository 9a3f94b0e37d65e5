"""Placeholders of tensor methods that exist before their operators are imported.

The function `announce` adds a placeholder for each name in `method_names` to the tensor class.
`dir(ts.Tensor)` therefore lists all methods. The first access to a placeholder replaces it by the method,
which imports its operators at the first call. `python -m tests.regenerate` writes `method_names`.
"""

from __future__ import annotations

from typing import Any

from ts._core.tensor.tensor import Tensor
from ts._core.tensor.tensor_type import install_methods
from ts.ops import method_names


class LazyMethod:
    """Placeholder descriptor of an operator method, whose first access installs the method."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, instance: Tensor | None, owner: type) -> Any:
        from ts.ops import registry

        registry.install_method(self.name)
        return Tensor.__dict__[self.name].__get__(instance, owner)


def announce() -> None:
    """Install placeholders of the methods that are not installed yet."""
    names = method_names.names() - Tensor.__dict__.keys()
    install_methods({name: LazyMethod(name) for name in names})
