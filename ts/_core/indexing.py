"""Indexing: `x[...]` and `x[...] = value` by PyTorch's rules, on the arrays of any backend.

In: a tensor and whatever stands in the brackets; out: a view, or a copy where a tensor or list of
indices takes part.  Two steps, as in PyTorch: first everything that gives a view (integers, slices,
None, `...`), then all index tensors together on that view:

    x[1, :, [0, 2]]    ->    view = x.array[1, :, :, ...];    view[:, [0, 2]]

That differs from NumPy's own rule, where the 1 would be one of the index arrays.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ts import dtypes
from ts._core import construct
from ts._core.tensor import Tensor, wrap_array

Slice = slice  # the name is also that of an operator


def get(x: Tensor, index: Any) -> Tensor:
    """x[index]"""
    view, arrays = _resolve(x, index)
    return wrap_array(_take(view, arrays) if arrays else view)


def put(x: Tensor, index: Any, value: Any) -> None:
    """x[index] = value"""
    view, arrays = _resolve(x, index)
    if not isinstance(value, Tensor):
        if not isinstance(value, (bool, int, float, complex, np.generic)):
            raise TypeError(f"can't assign a {type(value).__name__} to a {x.type()}")
        value = construct.tensor(value, device=x.device)
    if x.requires_grad and x.is_leaf:
        raise RuntimeError(
            "a view of a leaf Variable that requires grad is being used in an in-place operation."
        )
    source = construct.moved(value, x.device)
    if not arrays:
        target = wrap_array(view)
        construct.copy_into(target, _without_leading_ones(source, target.ndim))
        return
    if x.is_meta:
        return
    array = construct.converted_array(source.array, view.dtype)
    try:
        view[_key(arrays)] = array
    except IndexError as error:
        raise IndexError(_reworded(error, view, arrays)) from None
    except ValueError:
        shape = list(view[_key(arrays)].shape)
        raise RuntimeError(
            f"shape mismatch: value tensor of shape {list(source.shape)} cannot be broadcast to indexing "
            f"result of shape {shape}"
        ) from None


def _without_leading_ones(x: Tensor, ndim: int) -> Tensor:
    array = x.array
    while array.ndim > ndim and array.shape[0] == 1:
        array = array[0, ...]
    return wrap_array(array)


def _take(view: Any, arrays: list[Any]) -> Any:
    try:
        return view[_key(arrays)]
    except IndexError as error:
        raise IndexError(_reworded(error, view, arrays)) from None


def _key(arrays: list[Any]) -> tuple[Any, ...]:
    return tuple(Slice(None) if a is None else a for a in arrays)


def _reworded(error: IndexError, view: Any, arrays: list[Any]) -> str:
    """NumPy's message in PyTorch's words."""
    text = str(error)
    if text.startswith("shape mismatch"):
        shapes = ", ".join(str(list(a.shape)) for a in arrays if a is not None)
        return f"shape mismatch: indexing tensors could not be broadcast together with shapes {shapes}"
    if text.startswith("too many indices"):
        return f"too many indices for tensor of dimension {view.ndim}"
    return text.replace("for axis", "for dimension")


def _resolve(x: Tensor, index: Any) -> tuple[Any, list[Any]]:
    """The view by all basic indices, and the index arrays per dimension of it (empty: none)."""
    items = _items(index, x.ndim)
    shape = x.array.shape
    wanted = sum(_consumed(item) for item in items)
    if wanted > len(shape):
        if not shape and any(type(i) is int for i in items):
            raise IndexError(
                "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ "
                "to convert a 0-dim tensor to a number"
            )
        raise IndexError(f"too many indices for tensor of dimension {len(shape)}")
    key: list[Any] = []
    arrays: list[Any] = []
    dim = 0
    seen_ellipsis = False
    for item in items:
        if item is Ellipsis:
            skipped = 0 if seen_ellipsis else len(shape) - wanted
            key += [Slice(None)] * skipped
            arrays += [None] * skipped
            dim += skipped
            seen_ellipsis = True
        elif item is None:
            key.append(None)
            arrays.append(None)
        elif isinstance(item, bool):
            key.append(None)
            arrays.append(_host_indices(x, [0] if item else []))
        elif isinstance(item, int):
            if not -shape[dim] <= item < shape[dim]:
                raise IndexError(f"index {item} is out of bounds for dimension {dim} with size {shape[dim]}")
            key.append(item)
            dim += 1
        elif isinstance(item, Slice):
            key.append(_checked_slice(item))
            arrays.append(None)
            dim += 1
        else:
            array, used = _index_array(x, item, dim)
            key += [Slice(None)] * used
            arrays += array
            dim += used
    view = x.array[(*key, ...)] if key else x.array[...]
    return view, arrays if any(a is not None for a in arrays) else []


def _items(index: Any, ndim: int) -> list[Any]:
    """The comma-separated indices, with tensors of one integer as ints and lists as tensors."""
    items = list(index) if isinstance(index, tuple) or _stands_for_tuple(index) else [index]
    return [_normal(item) for item in items]


def _stands_for_tuple(index: Any) -> bool:
    """Whether a list is taken for several indices: a short one with more than numbers in it."""
    if type(index) is not list or len(index) >= 32:
        return False
    return any(
        item is None or item is Ellipsis or isinstance(item, (Tensor, list, tuple, Slice, np.ndarray))
        for item in index
    )


def _normal(item: Any) -> Any:
    if item is None or item is Ellipsis or isinstance(item, (bool, int, Slice)):
        return item
    if isinstance(item, Tensor):
        if item.ndim == 0 and item.dtype.category <= dtypes.INTEGRAL:
            return bool(item) if item.dtype is dtypes.bool_ else int(item)
        return item
    if isinstance(item, np.ndarray):
        return construct.as_tensor(item)
    if isinstance(item, (list, tuple, range)):
        return construct.tensor(item) if len(item) else construct.tensor([], dtype=dtypes.int64)
    if isinstance(item, str):
        raise TypeError("new(): invalid data type 'str'")
    if hasattr(item, "__index__"):
        return int(item.__index__())
    raise IndexError(
        "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices "
        f"(got {type(item).__name__})"
    )


def _consumed(item: Any) -> int:
    """How many dimensions of the tensor an index takes."""
    if item is None or item is Ellipsis or isinstance(item, bool):
        return 0
    if isinstance(item, Tensor) and item.dtype in (dtypes.bool_, dtypes.uint8):
        return int(item.ndim)
    return 1


def _checked_slice(item: slice) -> slice:
    for bound in (item.start, item.stop, item.step):
        if bound is not None and not hasattr(bound, "__index__"):
            raise TypeError("slice indices must be integers or None or have an __index__ method")
    step = 1 if item.step is None else int(item.step)
    if step == 0:
        raise ValueError("slice step cannot be zero")
    if step < 0:
        raise ValueError("step must be greater than zero")
    start = None if item.start is None else int(item.start)
    return Slice(start, None if item.stop is None else int(item.stop), step)


def _index_array(x: Tensor, item: Tensor, dim: int) -> tuple[list[Any], int]:
    """Index arrays for an index tensor: itself, or the coordinates of a mask's true elements."""
    if item.dtype in (dtypes.bool_, dtypes.uint8):
        shape = x.array.shape[dim : dim + item.ndim]
        for i, (length, expected) in enumerate(zip(item.shape, shape, strict=True)):
            if length != expected:
                raise IndexError(
                    f"The shape of the mask {list(item.shape)} at index {i} does not match the shape of the "
                    f"indexed tensor {list(x.shape)} at index {dim + i}"
                )
        mask = construct.moved(item, x.device).array
        return list(mask.nonzero()), item.ndim
    if item.dtype.category != dtypes.INTEGRAL or item.dtype not in (dtypes.int64, dtypes.int32):
        raise IndexError("tensors used as indices must be long, int, byte or bool tensors")
    return [construct.moved(item, x.device).array], 1


def _host_indices(x: Tensor, values: list[int]) -> Any:
    return construct.tensor(values, dtype=dtypes.int64, device=x.device).array
