"""Modules Flatten and Unflatten, which join several dimensions into one or split one dimension."""

from __future__ import annotations

from typing import Any

from ts._core.tensor.tensor import Tensor
from ts.nn.modules.hyperparameters import PrintedModule, hyperparameters
from ts.nn.modules.module import Module, type_name
from ts.nn.modules.ntuple import constructor_text


@hyperparameters
class Flatten(PrintedModule):
    """Joins the dimensions `start_dim` to `end_dim` into one."""

    start_dim: int = 1
    end_dim: int = -1

    def forward(self, input: Tensor) -> Tensor:
        return input.flatten(self.start_dim, self.end_dim)


class Unflatten(Module):
    """Splits the dimension `dim` into dimensions of the sizes `unflattened_size`."""

    __constants__ = ["dim", "unflattened_size"]
    dim: int
    unflattened_size: tuple[int, ...]

    def __init__(self, dim: Any, unflattened_size: Any) -> None:
        super().__init__()
        if not isinstance(dim, int):
            raise TypeError(
                f"expected type of dim to be int, but found type {type(dim).__name__}: named dimensions are "
                "not supported"
            )
        if not isinstance(unflattened_size, tuple | list):
            raise TypeError(
                f"unflattened_size must be a tuple of ints, but found type {type_name(unflattened_size)}"
            )
        for position, size in enumerate(unflattened_size):
            if not isinstance(size, int):
                raise TypeError(
                    "unflattened_size must be tuple of ints, but found element of type "
                    f"{type(size).__name__} at pos {position}"
                )
        self.dim = dim
        self.unflattened_size = tuple(unflattened_size)

    def forward(self, input: Tensor) -> Tensor:
        return input.unflatten(self.dim, self.unflattened_size)

    def extra_repr(self) -> str:
        return constructor_text(self, "dim", "unflattened_size")
