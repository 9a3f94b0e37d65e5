"""`Variable`, a deprecated name of tensors in older programs.

A call returns a tensor, and all tensors are instances:

>>> Variable(ts.ones(1)), isinstance(ts.ones(1), Variable)
(tensor([1.]), True)
"""

from __future__ import annotations

import warnings
from typing import Any

from ts._core.autograd.engine import queue_callback
from ts._core.tensor.tensor import Tensor
from ts._core.tensor.type_names import type_text


class _Engine:
    """Interface of the autograd engine.

    `queue_callback` registers a function that is called after the backward pass.
    """

    queue_callback = staticmethod(queue_callback)


class _VariableClass(type):
    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, Tensor)

    def __call__(cls, data: Tensor | None = None, requires_grad: bool = False, volatile: bool = False) -> Any:
        if volatile:
            warnings.warn(
                "volatile was removed and now has no effect. Use `with torch.no_grad():` instead.",
                stacklevel=2,
            )
            if requires_grad:
                raise ValueError("Variable can't be volatile and require_grad at the same time!")
        if data is not None and not isinstance(data, Tensor):
            raise TypeError(f"Variable data has to be a tensor, but got {type_text(data)}")
        variable = Tensor() if data is None else data.detach()
        return variable.requires_grad_(bool(requires_grad))


class Variable(metaclass=_VariableClass):
    """Deprecated class of tensors. Calling the class returns a view of the argument."""

    _execution_engine = _Engine()
