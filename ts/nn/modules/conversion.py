"""What `Module.to`, `float` and their like do to each tensor.

In: the arguments of `to`.  Out: a function of a tensor:

    to(("cpu", ts.float64), {})(weight)       a float64 tensor; integers keep their dtype
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ts import dtypes
from ts._core.tensor.tensor import Tensor
from ts.devices import device as Device

Convert = Callable[[Tensor], Tensor]


def to(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Convert:
    """The function behind `Module.to(*args, **kwargs)`."""
    kwargs = dict(kwargs)
    device = kwargs.pop("device", None)
    dtype = kwargs.pop("dtype", None)
    non_blocking = kwargs.pop("non_blocking", False)
    other = kwargs.pop("tensor", None)
    memory_format = kwargs.pop("memory_format", None)
    if kwargs:
        raise TypeError(f"to() received an invalid keyword argument '{next(iter(kwargs))}'")
    for arg in args:
        if isinstance(arg, Tensor):
            other = arg
        elif isinstance(arg, dtypes.dtype):
            dtype = arg
        elif isinstance(arg, bool):
            non_blocking = arg
        elif isinstance(arg, str | int | Device):
            device = arg
        elif arg is not None:
            raise TypeError(f"to() received an invalid combination of arguments: {type(arg).__name__}")
    if other is not None:
        device, dtype = other.device, other.dtype
    if dtype is not None and not (dtype.is_floating_point or dtype.is_complex):
        raise TypeError(
            f"nn.Module.to only accepts floating point or complex dtypes, but got desired dtype={dtype}"
        )

    def convert(t: Tensor) -> Tensor:
        wanted = dtype if t.is_floating_point() or t.is_complex() else None
        if device is not None:
            t = t.to(device, wanted if wanted is not None else t.dtype, non_blocking)
        elif wanted is not None:
            t = t.to(wanted)
        return t.to(memory_format=memory_format) if memory_format is not None and t.dim() in (4, 5) else t

    return convert


def real(name: str) -> Convert:
    """Real numbers to the dtype of that name."""
    dtype = dtypes.NAMES[name]
    return lambda t: t.to(dtype) if t.is_floating_point() else t
