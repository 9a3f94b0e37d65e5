"""`Variable`, which older programs wrap their tensors in.

>>> Variable(ts.ones(1)), isinstance(ts.ones(1), Variable)
(tensor([1.]), True)
"""

from __future__ import annotations

from typing import Any

from ts._core.autograd.engine import queue_callback
from ts._core.tensor.tensor import Tensor


class _Engine:
    """What programs know of the engine: `queue_callback(function)`, which is called behind the pass."""

    queue_callback = staticmethod(queue_callback)


class _VariableClass(type):
    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, Tensor)

    def __call__(cls, data: Tensor, requires_grad: bool = False) -> Any:
        return data.detach().requires_grad_(requires_grad)


class Variable(metaclass=_VariableClass):
    """A tensor: calling this gives a view of its argument."""

    _execution_engine = _Engine()
