"""Collate functions (batch collation), which stack the tensors and numbers of samples into a batch.

The example combines two samples:

>>> default_collate([(1, {"a": 2.0}), (3, {"a": 4.0})])
[tensor([1, 3]), {'a': tensor([2., 4.], dtype=torch.float64)}]
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

import ts
from ts._core.tensor.tensor import Tensor

UNSUPPORTED_BATCH = (
    "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found {}"
)


def collate(batch: Sequence[Any], *, collate_fn_map: dict[Any, Callable[..., Any]] | None = None) -> Any:
    """Collate samples to a batch with the structure of a sample.

    `collate_fn_map` maps a class, or a tuple of classes, to the function that combines leaves of this class.
    Raise RuntimeError for sequences of different lengths, and TypeError for leaves of an unsupported class.
    """
    functions = collate_fn_map or {}
    first = batch[0]
    collate_class = functions.get(type(first))
    for cls, function in functions.items():
        if collate_class is None and isinstance(first, cls):
            collate_class = function
    if collate_class is not None:
        return collate_class(batch, collate_fn_map=collate_fn_map)
    if isinstance(first, Mapping):
        columns = {key: collate([sample[key] for sample in batch], collate_fn_map=functions) for key in first}
        return _mapping(first, columns)
    if isinstance(first, Sequence):
        if not all(len(sample) == len(first) for sample in batch):
            raise RuntimeError("each element in list of batch should be of equal size")
        return _sequence(first, [collate(c, collate_fn_map=functions) for c in zip(*batch, strict=True)])
    raise TypeError(UNSUPPORTED_BATCH.format(type(first)))


def collate_tensor_fn(batch: Sequence[Any], *, collate_fn_map: Any = None) -> Any:
    """Return tensors stacked along a new first dimension."""
    return ts.stack(list(batch), 0)


def collate_numpy_array_fn(batch: Sequence[Any], *, collate_fn_map: Any = None) -> Any:
    """Stack NumPy arrays to a tensor. Raise TypeError for arrays of strings or objects."""
    if batch[0].dtype.kind in "SUO":
        raise TypeError(UNSUPPORTED_BATCH.format(batch[0].dtype))
    return collate_tensor_fn([ts.as_tensor(array) for array in batch])


def collate_numpy_scalar_fn(batch: Sequence[Any], *, collate_fn_map: Any = None) -> Any:
    """Return NumPy numbers as a tensor."""
    return ts.as_tensor(np.asarray(batch))


def collate_float_fn(batch: Sequence[Any], *, collate_fn_map: Any = None) -> Any:
    """Return floats as a tensor of float64."""
    return ts.tensor(batch, dtype=ts.float64)


def collate_int_fn(batch: Sequence[Any], *, collate_fn_map: Any = None) -> Any:
    """Return integers as a tensor."""
    return ts.tensor(batch)


def collate_str_fn(batch: Sequence[Any], *, collate_fn_map: Any = None) -> Any:
    """Return a batch of strings unchanged."""
    return batch


default_collate_fn_map: dict[Any, Callable[..., Any]] = {
    Tensor: collate_tensor_fn,
    np.ndarray: collate_numpy_array_fn,
    (np.bool_, np.number): collate_numpy_scalar_fn,
    float: collate_float_fn,
    int: collate_int_fn,
    str: collate_str_fn,
    bytes: collate_str_fn,
}


def default_collate(batch: Sequence[Any]) -> Any:
    """Collate samples to a batch with the structure of a sample, in which tensors are stacked."""
    return collate(batch, collate_fn_map=default_collate_fn_map)


def default_convert(data: Any) -> Any:
    """Convert NumPy arrays and numbers in a structure to tensors."""
    return map_leaves(_as_tensor, data)


def _as_tensor(data: Any) -> Any:
    if isinstance(data, (np.ndarray, np.generic)) and data.dtype.kind not in "SUO":
        return ts.as_tensor(data)
    return data


def map_leaves(function: Callable[[Any], Any], data: Any) -> Any:
    """Return a structure with `function` applied to its leaves."""
    if isinstance(data, Mapping):
        return _mapping(data, {key: map_leaves(function, value) for key, value in data.items()})
    if isinstance(data, Sequence) and not isinstance(data, str | bytes):
        return _sequence(data, [map_leaves(function, value) for value in data])
    return function(data)


def _mapping(like: Any, values: dict[Any, Any]) -> Any:
    try:
        return type(like)(values)
    except TypeError:  # the class cannot be constructed from a dictionary
        return values


def _sequence(like: Any, values: list[Any]) -> Any:
    if isinstance(like, tuple):
        return type(like)(*values) if hasattr(like, "_fields") else values
    try:
        return type(like)(values)
    except TypeError:  # the class (for example `range`) cannot be constructed from a list
        return values
