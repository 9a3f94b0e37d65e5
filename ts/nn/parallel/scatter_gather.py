"""Splitting of nested arguments among GPUs (scatter), and concatenation of nested results (gather)."""

from __future__ import annotations

import warnings
from typing import Any

from ts._core.tensor.tensor import Tensor
from ts.nn.parallel._functions import Gather, Scatter

__all__ = ["gather", "scatter", "scatter_kwargs"]


def is_namedtuple(obj: Any) -> bool:
    """Return True if an object is a named tuple, and warn that this function is deprecated."""
    warnings.warn(
        "`is_namedtuple` is deprecated, please use the python checks instead", FutureWarning, stacklevel=2
    )
    return _is_namedtuple(obj)


def _is_namedtuple(obj: Any) -> bool:
    return isinstance(obj, tuple) and hasattr(obj, "_asdict") and hasattr(obj, "_fields")


def scatter(inputs: Any, target_gpus: Any, dim: int = 0) -> Any:
    """Return a list with one copy of the nested `inputs` for each GPU.

    Each tensor is split along `dim`, and a copy contains only the part for its GPU.
    """

    def split(value: Any) -> Any:
        if isinstance(value, Tensor):
            return Scatter.apply(target_gpus, None, dim, value)
        if _is_namedtuple(value):
            return [type(value)(*args) for args in zip(*map(split, value), strict=False)]
        if isinstance(value, tuple) and value:
            return list(zip(*map(split, value), strict=False))
        if isinstance(value, list) and value:
            return [list(chunks) for chunks in zip(*map(split, value), strict=False)]
        if isinstance(value, dict) and value:
            return [type(value)(items) for items in zip(*map(split, value.items()), strict=False)]
        return [value for _ in target_gpus]

    return split(inputs)


def scatter_kwargs(inputs: Any, kwargs: Any, target_gpus: Any, dim: int = 0) -> tuple[Any, Any]:
    """Return two tuples: the positional arguments for each GPU, and the keyword arguments for each GPU.

    If one of them is shorter, empty tuples or dicts are appended, so that both have the same length.
    """
    scattered = scatter(inputs, target_gpus, dim) if inputs else []
    scattered_kwargs = scatter(kwargs, target_gpus, dim) if kwargs else []
    scattered.extend(() for _ in range(len(scattered_kwargs) - len(scattered)))
    scattered_kwargs.extend({} for _ in range(len(scattered) - len(scattered_kwargs)))
    return tuple(scattered), tuple(scattered_kwargs)


def gather(outputs: Any, target_device: Any, dim: int = 0) -> Any:
    """Join the nested results of several GPUs: concatenate tensors at equal positions on `target_device`."""

    def join(values: Any) -> Any:
        first = values[0]
        if isinstance(first, Tensor):
            return Gather.apply(target_device, dim, *values)
        if first is None:
            return None
        if isinstance(first, dict):
            if not all(len(first) == len(each) for each in values):
                raise ValueError("All dicts must have the same number of keys")
            return type(first)((key, join([each[key] for each in values])) for key in first)
        if _is_namedtuple(first):
            return type(first)._make(map(join, zip(*values, strict=True)))
        return type(first)(map(join, zip(*values, strict=True)))

    return join(outputs)
