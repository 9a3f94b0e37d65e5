"""Indexing `x[...]` and `x[...] = value` by PyTorch's rules, decomposed into operators.

In: a tensor and an index. Out: a view, or a copy if there are index tensors or lists. As in PyTorch, there
are two steps. First, all indices that select a view are applied (integers, slices, None, `...`). Then all
index tensors are applied together to this view:

    x[1, :, [0, 2]]    ->    view = x[1];    aten::index(view, [None, [0, 2]])

NumPy would treat the 1 as an index array, and broadcast it with the list.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ts import dtypes
from ts._core.tensor import basic_indexing, factories, size_guards
from ts._core.tensor.tensor import Tensor, layer_of, operator
from ts._core.tensor.torch_function_lookup import overrides, torch_function_result

# Python's class `slice`, renamed to distinguish it from the operator "slice"
Slice = slice
_MAX_INDEX = 2**63 - 1  # value of `end` for a slice without an end
_MASKS = (dtypes.bool_, dtypes.uint8)


def get(x: Tensor, index: Any) -> Tensor:
    """Return `x[index]` by PyTorch's rules: a view, or a copy for index tensors."""
    try:
        view, indices = _resolve(x, index)
    except _Overridden as overridden:
        return torch_function_result((overridden.item,), Tensor.__getitem__, (x, index))  # type: ignore[no-any-return]
    if indices:
        return operator("index")(view, indices)  # type: ignore[no-any-return]
    return operator("alias")(x) if view is x else view


def put(x: Tensor, index: Any, value: Any) -> None:
    """Execute `x[index] = value` in place by PyTorch's rules."""
    is_number = not isinstance(value, Tensor)
    if is_number:
        if overrides(value):
            torch_function_result((value,), Tensor.__setitem__, (x, index, value))
            return
        if not isinstance(value, (bool, int, float, complex, np.generic)):
            raise TypeError(f"can't assign a {full_name(value)} to a {x.type()}")
        value = factories.number_tensor(value, x.dtype, x.device)
    if index is False:
        return
    if index is True:  # `x[True] = value` is executed as `x[None] = value`
        index = None
    try:
        view, indices = _resolve(x, index)
    except _Overridden as overridden:
        torch_function_result((overridden.item,), Tensor.__setitem__, (x, index, value))
        return
    source = factories.moved_to(value, x.device, None)
    if not indices:
        source = _without_leading_ones(source, view.ndim)
        if source.shape != view.shape and not is_number:
            factories.check_broadcast(view.shape, source)
            source = operator("expand")(source, view.shape)
        operator("copy_" if is_number or source.ndim else "fill_")(view, source)
        return
    if x.is_meta:
        return
    source = _without_leading_ones(source, 0)
    index_tensors = [index for index in indices if index is not None]
    mask = index_tensors[0]
    if len(index_tensors) == 1 and mask.dtype in _MASKS and source.numel() == 1:
        if mask.dtype is dtypes.uint8 and layer_of(x) is None:
            raise RuntimeError(
                "masked_fill_ only supports boolean masks, but got mask with dtype unsigned char"
            )
        # Copy the value, because it may share memory with the tensor that is written.
        source = operator("clone")(source.to(view.dtype))
    operator("index_put_")(view, indices, source)


class _Overridden(Exception):
    """Raised if the class of an index defines `__torch_function__`."""

    def __init__(self, item: Any) -> None:
        self.item = item


def full_name(value: Any) -> str:
    """Return the class name of a value, qualified by its module unless it is a built-in class."""
    kind = type(value)
    return kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"


def _without_leading_ones(x: Tensor, ndim: int) -> Tensor:
    """Return `x` without leading dimensions of length 1, as long as it has more than `ndim` dimensions."""
    shape = list(x.shape)
    while len(shape) > ndim and size_guards.known_one(shape[0]):
        del shape[0]
    viewed: Tensor = x if len(shape) == x.ndim else operator("view")(x, shape)
    return viewed


def _resolve(x: Tensor, index: Any) -> tuple[Tensor, list[Tensor | None]]:
    """Return the view that integers, slices, None and `...` select, and a list of index tensors for it.

    The list has None for dimensions of the view without an index tensor. Without index tensors, it is empty.
    """
    items = _items(index)
    shape = x.array.shape
    consumed_dims = sum(_consumed(item) for item in items)
    if consumed_dims > len(shape):
        if not shape and any(type(i) is int for i in items):
            raise IndexError(
                "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ "
                "to convert a 0-dim tensor to a number"
            )
        if not shape and any(isinstance(i, Slice) for i in items):
            raise IndexError("slice() cannot be applied to a 0-dim tensor.")
        raise IndexError(f"too many indices for tensor of dimension {len(shape)}")
    key: list[Any] = []
    steps: list[tuple[Any, ...]] = []  # view operators to apply: (operator name, arguments after the tensor)
    indices: list[Tensor | None] = []
    dim = 0  # dimension of the view to which the next index applies
    seen_ellipsis = False
    for item in items:
        if item is Ellipsis:
            skipped = 0 if seen_ellipsis else len(shape) - consumed_dims
            key += [Slice(None)] * skipped
            indices += [None] * skipped
            dim += skipped
            seen_ellipsis = True
        elif item is None or isinstance(item, bool):
            key.append(None)
            steps.append(("unsqueeze", dim))
            indices.append(None if item is None else _host_indices(x, [0] if item else []))
            dim += 1
        elif isinstance(item, int):
            at = sum(k is not None for k in key)
            if not -shape[at] <= item < shape[at]:
                raise IndexError(f"index {item} is out of bounds for dimension {at} with size {shape[at]}")
            key.append(item)
            steps.append(("select", dim, item))
        elif isinstance(item, Slice):
            item = _checked_slice(item)
            key.append(item)
            steps.append(("slice", dim, item.start, item.stop, 1 if item.step is None else item.step))
            indices.append(None)
            dim += 1
        else:
            used = _consumed(item)
            key += [Slice(None)] * used
            indices.append(factories.moved_to(item, x.device, None))
            dim += used
    return _view(x, key, steps), indices if any(i is not None for i in indices) else []


def _view(x: Tensor, key: list[Any], steps: list[tuple[Any, ...]]) -> Tensor:
    """Return the view for the basic indices `key`, by a fast path if possible, else by operators `steps`."""
    view = basic_indexing.get_view(x, tuple(key))
    if view is not None:
        return view
    view = x
    for name, dim, *arguments in steps:
        if name == "slice":
            start, stop, step = arguments
            length = view.array.shape[dim]
            # A slice of the whole dimension needs no operator.
            if step == 1 and not start and (stop is None or stop >= length):
                continue
            arguments = [start or 0, _MAX_INDEX if stop is None else stop, step]
        view = operator(name)(view, dim, *arguments)
    return view


def _items(index: Any) -> list[Any]:
    """Return the items of an index. Int tensors of one element become ints, and lists become tensors."""
    if isinstance(index, tuple):
        return [_normal(item) for item in index]
    if not stands_for_tuple(index):
        return [_normal(index)]
    warnings.warn(
        "Using a non-tuple sequence for multidimensional indexing is deprecated and will be changed in "
        "pytorch 2.9; use x[tuple(seq)] instead of x[seq]. In pytorch 2.9 this will be interpreted as "
        "tensor index, x[torch.tensor(seq)], which will result either in an error or a different result",
        stacklevel=4,
    )
    return [_normal(item) for item in index]


def stands_for_tuple(index: Any) -> bool:
    """Return whether an index list counts as a tuple: shorter than 32 items, and not only numbers."""
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
        if item.ndim == 0 and item.dtype.category <= dtypes.INTEGRAL and layer_of(item) is None:
            return bool(item) if item.dtype in (dtypes.bool_, dtypes.uint8) else int(item)
        return item
    if isinstance(item, np.ndarray):
        return _normal(factories.as_tensor(item))
    if isinstance(item, str):
        raise TypeError("new(): invalid data type 'str'")
    if isinstance(item, (list, tuple, range)):
        result = factories.tensor(item) if len(item) else factories.tensor([], dtype=dtypes.int64)
        return result.long() if result.is_floating_point() else result
    if overrides(item):
        raise _Overridden(item)
    if hasattr(item, "__index__") and not isinstance(item, np.bool_):
        return int(item.__index__())
    raise IndexError(
        "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices "
        f"(got {full_name(item)})"
    )


def _consumed(item: Any) -> int:
    """Return the number of tensor dimensions that an index item selects from, such as 0 for None."""
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


def _host_indices(x: Tensor, values: list[int]) -> Tensor:
    return factories.tensor(values, dtype=dtypes.int64, device=x.device)
