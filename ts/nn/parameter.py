"""Tensors that a module registers when they are assigned to one of its attributes.

In: any tensor.  Out: one around the same memory whose class says what it is to a module:

    self.weight = Parameter(ts.empty(3, 2))                a parameter: it wants gradients
    self.mean = Buffer(ts.zeros(3), persistent=False)      a buffer, left out of `state_dict`
"""

from __future__ import annotations

import copy
from typing import Any

from ts._core.tensor import Tensor, rebind_array


class Parameter(Tensor):
    """A tensor that is part of a module's parameters."""

    def __init__(self, data: Tensor | None = None, requires_grad: bool = True) -> None:
        rebind_array(self, (Tensor() if data is None else data).array)
        if requires_grad and not (self.is_floating_point() or self.is_complex()):
            raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
        self.requires_grad_(requires_grad)

    def __repr__(self) -> str:
        return f"Parameter containing:\n{super().__repr__()}"

    __str__ = __repr__

    def __deepcopy__(self, memo: dict[int, Any]) -> Parameter:
        copied = type(self)(self.detach().clone(), self.requires_grad)
        memo[id(self)] = copied
        copied.__dict__.update(copy.deepcopy(self.__dict__, memo))
        return copied

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        return _parameter, (self.detach(), self.requires_grad, self.__dict__)


def _parameter(data: Tensor, requires_grad: bool, attributes: dict[str, Any]) -> Parameter:
    """What a pickle calls."""
    made = Parameter(data, requires_grad)
    made.__dict__.update(attributes)
    return made


class Buffer(Tensor):
    """A tensor that is part of a module's buffers; `persistent=False` leaves it out of `state_dict`."""

    def __init__(self, data: Tensor | None = None, *, persistent: bool = True) -> None:
        given = Tensor() if data is None else data
        rebind_array(self, given.array)
        self.requires_grad_(given.requires_grad)
        self.persistent = persistent

    def __deepcopy__(self, memo: dict[int, Any]) -> Buffer:
        copied = type(self)(self.detach().clone().requires_grad_(self.requires_grad))
        memo[id(self)] = copied
        copied.__dict__.update(copy.deepcopy(self.__dict__, memo))
        return copied
