"""Indexing: `x[...]` and `x[...] = value` by PyTorch's rules, on the arrays of any backend.

In: a tensor and whatever stands in the brackets; out: a view, or a copy where a tensor or list of
indices takes part.  Two steps, as in PyTorch: first everything that gives a view (integers, slices,
None, `...`), then all index tensors together on that view:

    x[1, :, [0, 2]]    ->    view = x.array[1, :, :, ...];    view[:, [0, 2]]

That differs from NumPy's own rule, where the 1 would be one of the index arrays.
"""

from __future__ import annotations

import re
import warnings
from typing import Any

import numpy as np

from ts import dtypes
from ts._core.tensor import construct, strides
from ts._core.tensor.overlap import WARN, check
from ts._core.tensor.subscripts import part
from ts._core.tensor.tensor import Tensor, view_of, wrap_array, written
from ts.backends.cpu.kernels.gather import picked

Slice = slice  # the name is also that of an operator


def get(x: Tensor, index: Any) -> Tensor:
    """x[index]"""
    if type(index) is Tensor:
        found: Tensor | None = picked(x, index)
        if found is not None:
            return found
    view, arrays, _ = _resolve(x, index)
    return wrap_array(_take(view.array, arrays)) if arrays else view


def put(x: Tensor, index: Any, value: Any) -> None:
    """x[index] = value"""
    number = not isinstance(value, Tensor)
    if number:
        if not isinstance(value, (bool, int, float, complex, np.generic)):
            raise TypeError(f"can't assign a {full_name(value)} to a {x.type()}")
        value = construct.number_tensor(value, x.dtype, x.device)
    if index is False:
        return
    view, arrays, masked = _resolve(x, index)
    if x.requires_grad and x.is_leaf:
        raise RuntimeError(
            "a view of a leaf Variable that requires grad is being used in an in-place operation."
        )
    source = construct.moved(value, x.device)
    if not arrays:
        source = _without_leading_ones(source, view.ndim)
        construct.check_broadcast(view.shape, source)
        construct.copy_into(view, source, expands=True)
        return
    if source.dtype is not view.dtype and not (masked and source.numel() == 1):
        raise RuntimeError(
            "Index put requires the source and destination dtypes match, got "
            f"{view.dtype.type_name} for the destination and {source.dtype.type_name} for the source."
        )
    if x.is_meta:
        return
    _check_shapes(arrays)
    if check(view.array, [] if masked and source.numel() == 1 else [source.array], WARN):
        name, what = ("index_put_", "indices] = tensor")
        if masked and number:
            name, what = ("masked_fill_", "mask] = scalar")
        warnings.warn(
            f"Use of {name} on expanded tensors is deprecated. Please clone() the tensor before performing "
            "this "
            f"operation. This also applies to advanced indexing e.g. tensor[{what}",
            stacklevel=3,
        )
    target, key = view.array, _key(arrays)
    try:
        target[key] = construct.converted_array(source.array, target.dtype)
    except IndexError as error:
        raise IndexError(_reworded(error, view, arrays)) from None
    except ValueError:
        shape = list(target[key].shape)
        raise RuntimeError(
            f"shape mismatch: value tensor of shape {list(source.shape)} cannot be broadcast to indexing "
            f"result of shape {shape}"
        ) from None
    written(view)


def _check_shapes(arrays: list[Any]) -> None:
    """IndexError unless the index arrays broadcast together."""
    shapes = [a.shape for a in arrays if a is not None]
    try:
        np.broadcast_shapes(*shapes)
    except ValueError:
        raise IndexError(
            "shape mismatch: indexing tensors could not be broadcast together with shapes "
            + ", ".join(str(list(shape)) for shape in shapes)
        ) from None


def full_name(value: Any) -> str:
    """The name of a value's class, with its module where it is not Python's own."""
    kind = type(value)
    return kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"


def _without_leading_ones(x: Tensor, ndim: int) -> Tensor:
    array = x.array
    while array.ndim > ndim and array.shape[0] == 1:
        array = array[0, ...]
    return x if array is x.array else view_of(x, array)


def _take(view: Any, arrays: list[Any]) -> Any:
    """The elements at index arrays, laid out in the view's order of dimensions."""
    try:
        found = view[_key(arrays)]
    except IndexError as error:
        raise IndexError(_reworded(error, view, arrays)) from None
    if found.flags.c_contiguous and (view.flags.c_contiguous or arrays[0] is not None):
        return found
    wanted = strides.of_result(found.shape, *_operand_strides(view, arrays, found.ndim))
    item = found.dtype.itemsize
    if found.strides == tuple(step * item for step in wanted):
        return found
    made = construct.empty_strided(found, wanted, found.dtype)
    made[...] = found
    return made


def _operand_strides(view: Any, arrays: list[Any], ndim: int) -> list[list[int]]:
    """The strides of the view and of the index arrays over the dimensions of the result; 0: none there."""
    used = [d for d, a in enumerate(arrays) if a is not None]
    count = max(arrays[d].ndim for d in used)
    first = used[0] if used == list(range(used[0], used[-1] + 1)) else 0
    rest = [view.strides[d] for d in range(view.ndim) if d >= len(arrays) or arrays[d] is None]
    whole = [*rest[:first], *[0] * count, *rest[first:]]
    operands = [whole]
    for d in used:
        steps = [s if n > 1 else 0 for s, n in zip(arrays[d].strides, arrays[d].shape, strict=True)]
        lead = first + count - len(steps)
        operands.append([*[0] * lead, *steps, *[0] * (ndim - lead - len(steps))])
    return operands


def _key(arrays: list[Any]) -> tuple[Any, ...]:
    return tuple(Slice(None) if a is None else a for a in arrays)


def _reworded(error: IndexError, view: Any, arrays: list[Any]) -> str:
    """NumPy's message in PyTorch's words, which counts dimensions among those that are indexed."""
    text = str(error)
    if text.startswith("shape mismatch"):
        shapes = ", ".join(str(list(a.shape)) for a in arrays if a is not None)
        return f"shape mismatch: indexing tensors could not be broadcast together with shapes {shapes}"
    if text.startswith("too many indices"):
        return f"too many indices for tensor of dimension {view.ndim}"
    found = re.fullmatch(r"(index -?\d+ is out of bounds for) axis (\d+) (with size \d+)", text)
    if found is None:
        return text
    before = sum(a is not None for a in arrays[: int(found[2])])
    return f"{found[1]} dimension {before} {found[3]}"


def _resolve(x: Tensor, index: Any) -> tuple[Tensor, list[Any], bool]:
    """The view by all basic indices, its index arrays per dimension (or none), whether a mask is all."""
    items = _items(index)
    shape = x.array.shape
    wanted = sum(_consumed(item) for item in items)
    if wanted > len(shape):
        if not shape and any(type(i) is int for i in items):
            raise IndexError(
                "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ "
                "to convert a 0-dim tensor to a number"
            )
        if not shape and any(isinstance(i, Slice) for i in items):
            raise IndexError("slice() cannot be applied to a 0-dim tensor.")
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
    view = part(x, tuple(key)) if not x.requires_grad else None
    if view is None:  # on a device, or wanting a gradient
        view = view_of(x, x.array[(*key, ...)] if key else x.array[...])
    tensors = [item for item in items if isinstance(item, Tensor)]
    masked = len(tensors) == 1 and tensors[0].dtype is dtypes.bool_
    return view, arrays if any(a is not None for a in arrays) else [], masked


def _items(index: Any) -> list[Any]:
    """The comma-separated indices, with tensors of one integer as ints and lists as tensors."""
    if isinstance(index, tuple):
        return [_normal(item) for item in index]
    if not _stands_for_tuple(index):
        return [_normal(index)]
    warnings.warn(
        "Using a non-tuple sequence for multidimensional indexing is deprecated and will be changed in "
        "pytorch "
        "2.9; use x[tuple(seq)] instead of x[seq]. In pytorch 2.9 this will be interpreted as tensor index, "
        "x[torch.tensor(seq)], which will result either in an error or a different result",
        stacklevel=4,
    )
    return [_normal(item) for item in index]


def _stands_for_tuple(index: Any) -> bool:
    """Whether a list is taken for several indices: a short one with more than numbers in it."""
    if type(index) is not list or len(index) >= 32:
        return False
    return any(
        item is None or item is Ellipsis or isinstance(item, (Tensor, list, tuple, Slice, np.ndarray, str))
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
        return _normal(construct.as_tensor(item))
    if isinstance(item, str):
        raise TypeError("new(): invalid data type 'str'")
    if isinstance(item, (list, tuple, range)):
        made = construct.tensor(item) if len(item) else construct.tensor([], dtype=dtypes.int64)
        return made.long() if made.is_floating_point() else made
    if hasattr(item, "__index__") and not isinstance(item, np.bool_):
        return int(item.__index__())
    raise IndexError(
        "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices "
        f"(got {full_name(item)})"
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
        if item.dtype is dtypes.uint8:
            warnings.warn(
                "indexing with dtype torch.uint8 is now deprecated, please use a dtype torch.bool instead.",
                stacklevel=5,
            )
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
