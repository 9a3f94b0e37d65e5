"""Samples to batches: tensors and numbers are stacked, in whatever stands around them.

>>> default_collate([(1, {"a": 2.0}), (3, {"a": 4.0})])
[tensor([1, 3]), {'a': tensor([2., 4.], dtype=torch.float64)}]
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

import ts
from ts._core.tensor.tensor import Tensor

_REFUSED = "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found {}"


def default_collate(batch: Sequence[Any]) -> Any:
    """The samples of a batch as one: of the same structure, with tensors that have one dimension more."""
    first = batch[0]
    if isinstance(first, Tensor):
        return ts.stack(list(batch), 0)
    if isinstance(first, np.ndarray):
        if first.dtype.kind in "SUO":
            raise TypeError(_REFUSED.format(first.dtype))
        return default_collate([ts.as_tensor(array) for array in batch])
    if isinstance(first, np.generic) and first.dtype.kind in "biufc":
        return ts.as_tensor(np.asarray(batch))
    if isinstance(first, float):
        return ts.tensor(batch, dtype=ts.float64)
    if isinstance(first, int):
        return ts.tensor(batch)
    if isinstance(first, str | bytes):
        return batch
    if isinstance(first, Mapping):
        return _mapping(first, {key: default_collate([sample[key] for sample in batch]) for key in first})
    if isinstance(first, Sequence):
        if not all(len(sample) == len(first) for sample in batch):
            raise RuntimeError("each element in list of batch should be of equal size")
        return _sequence(first, [default_collate(column) for column in zip(*batch, strict=True)])
    raise TypeError(_REFUSED.format(type(first)))


def default_convert(data: Any) -> Any:
    """NumPy's arrays and numbers in a structure as tensors."""
    return mapped(_as_tensor, data)


def _as_tensor(data: Any) -> Any:
    if isinstance(data, (np.ndarray, np.generic)) and data.dtype.kind not in "SUO":
        return ts.as_tensor(data)
    return data


def mapped(function: Callable[[Any], Any], data: Any) -> Any:
    """A structure with what `function` makes of its leaves."""
    if isinstance(data, Mapping):
        return _mapping(data, {key: mapped(function, value) for key, value in data.items()})
    if isinstance(data, Sequence) and not isinstance(data, str | bytes):
        return _sequence(data, [mapped(function, value) for value in data])
    return function(data)


def _mapping(like: Any, values: dict[Any, Any]) -> Any:
    try:
        return type(like)(values)
    except TypeError:  # a mapping that is made otherwise
        return values


def _sequence(like: Any, values: list[Any]) -> Any:
    if isinstance(like, tuple):
        return type(like)(*values) if hasattr(like, "_fields") else values
    try:
        return type(like)(values)
    except TypeError:  # a sequence that is made otherwise, such as a range
        return values
