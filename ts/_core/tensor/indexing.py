"""Basic indexing and advanced indexing (fancy indexing) of tensors, decomposed into operators.

Input: a tensor and a subscript. Output: a view, or a copy if the subscript contains index tensors or lists.

As in PyTorch, all other items (integers, slices, None, `...`) are applied first and give a view. Then all
index tensors are applied together to the view. Example:

    x[1, :, [0, 2]]         view = x[1], then aten::index(view, [None, [0, 2]])

NumPy would instead broadcast the 1 with the list.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from operator import index as as_int
from typing import Any

import numpy as np

from ts import dtypes
from ts._core.tensor import basic_indexing, conversions, factories, size_guards
from ts._core.tensor.python_operators import operator
from ts._core.tensor.subscripts import BOOL_ITEM, INTEGER, NEW_DIM, SLICE, TENSOR, parse_subscript
from ts._core.tensor.sym_types import SymNumber
from ts._core.tensor.tensor import Tensor
from ts._core.tensor.tensor_metadata import layer_of
from ts._core.tensor.torch_function_lookup import overrides, torch_function_result

# Python's class `slice`, renamed to distinguish it from the operator "slice"
Slice = slice
_MIN_INDEX = -(2**63)
_MAX_INDEX = 2**63 - 1  # also the value of `end` for a slice without an end
_MASKS = (dtypes.bool_, dtypes.uint8)
_Step = tuple[int, int, int, Any]


class Indexing:
    """Evaluation of subscripts. Tracers override the rules for numbers, tensors and slices."""

    skips_whole_slices = True  # True if a slice that selects a whole dimension calls no operator

    def get(self, x: Tensor, index: Any) -> Tensor:
        """Return `x[index]` by PyTorch's rules: a view, or a copy for index tensors."""
        try:
            view, indices = self._apply(x, index, self.skips_whole_slices and not isinstance(index, Slice))
        except _Overridden as overridden:
            return torch_function_result((overridden.item,), Tensor.__getitem__, (x, index))  # type: ignore[no-any-return]
        if indices:
            return operator("index")(view, indices)  # type: ignore[no-any-return]
        return operator("alias")(x) if view is x else view

    def put(self, x: Tensor, index: Any, value: Any) -> None:
        """Execute `x[index] = value` in place by PyTorch's rules."""
        if not isinstance(value, Tensor):
            if overrides(value):
                torch_function_result((value,), Tensor.__setitem__, (x, index, value))
                return
            if not isinstance(value, (bool, int, float, complex, np.generic, SymNumber)):
                raise TypeError(f"can't assign a {_full_name(value)} to a {x.type()}")
        source = self.assigned_tensor(value, x)
        if index is False:
            return
        try:
            # `x[True] = value` is executed as `x[None] = value`
            view, indices = self._apply(x, None if index is True else index, self.skips_whole_slices)
        except _Overridden as overridden:
            torch_function_result((overridden.item,), Tensor.__setitem__, (x, index, value))
            return
        if indices:
            shape = _shape_without_leading_ones(source)
            source = source if len(shape) == source.array.ndim else operator("view")(source, shape)
            self.put_elements(x, view, indices, source)
        elif _have_same_shape(source, view):
            operator("copy_")(view, source)
        elif not source.ndim:
            operator("fill_")(view, source)
        else:
            source = operator("view")(source, _shape_without_leading_ones(source))
            if not _have_same_shape(source, view):
                source = operator("expand")(source, view.array.shape)
            operator("copy_")(view, source)

    def assigned_tensor(self, value: Any, x: Tensor) -> Tensor:
        """Convert a tensor or number that is assigned to elements of `x` to a tensor on the device of `x`."""
        if isinstance(value, Tensor):
            return conversions.convert_tensor(value, x.device, None)
        return factories.number_tensor(value, x.dtype, x.device)

    def put_elements(self, x: Tensor, view: Tensor, indices: list[Tensor | None], source: Tensor) -> None:
        """Assign `source` to the elements of `view` that the index tensors `indices` select.

        `view` is a view of `x`.
        """
        if x.is_meta:
            return
        index_tensors = [index for index in indices if index is not None]
        mask = index_tensors[0]
        if len(index_tensors) == 1 and mask.dtype in _MASKS and source.numel() == 1:
            if mask.dtype is dtypes.uint8 and layer_of(x) is None:
                raise RuntimeError(
                    "masked_fill_ only supports boolean masks, but got mask with dtype unsigned char"
                )
            # Copy the value, because it may share memory with the tensor to which it is assigned.
            source = operator("clone")(source.to(view.dtype))
        operator("index_put_")(view, indices, source)

    # ---- items

    def integer(self, item: Any) -> Any:
        """Return the number of an object with a method `__index__`."""
        return as_int(item)

    def index_constant(self, create: Callable[[], Tensor]) -> Tensor:
        """Return the index tensor that `create` creates from a list, range or array."""
        return create()

    def tensor_item(self, item: Tensor) -> Any:
        """Return the number in a 0-dim integer or bool tensor. Return other tensors unchanged."""
        if item.ndim == 0 and item.dtype.category <= dtypes.INTEGRAL and layer_of(item) is None:
            return bool(item) if item.dtype in _MASKS else int(item)
        return item

    def kind_of(self, item: Any) -> int:
        """Return the kind of an index tensor. Other objects count as integers."""
        if not isinstance(item, Tensor):
            return INTEGER
        return TENSOR + (item.ndim if item.dtype in _MASKS else 1)

    def _item(self, item: Any) -> Any:
        if item is None or item is Ellipsis or isinstance(item, (int, Slice)):  # bools are ints
            return item
        if isinstance(item, Tensor):
            return self.tensor_item(item)
        if isinstance(item, np.ndarray):
            return self.tensor_item(self.index_constant(lambda: factories.as_tensor(item)))
        if isinstance(item, (list, tuple, range)):
            return self.index_constant(lambda: _tensor_of_list(item))
        if overrides(item):
            raise _Overridden(item)
        # `position` rejects other items
        return self.integer(item) if hasattr(item, "__index__") and not isinstance(item, np.bool_) else item

    def _check_item_of_scalar(self, item: Any) -> None:
        """Raise IndexError if `item`, in a subscript of a 0-dim tensor, is a number or a slice."""
        if isinstance(item, Slice):
            self.bounds(item)
            raise IndexError("slice() cannot be applied to a 0-dim tensor.")
        if isinstance(item, int) and not isinstance(item, bool):
            if item:
                self.position(item, 0, 0)
            raise IndexError(
                "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ "
                "to convert a 0-dim tensor to a number"
            )

    # ---- steps

    def _apply(self, x: Tensor, index: Any, skip_whole: bool) -> tuple[Tensor, list[Tensor | None]]:
        """Apply all items of a subscript except index tensors.

        Return the resulting view, and an index tensor or None for each dimension of the view, for
        `aten::index`. Dimensions after the last index tensor are omitted.
        """
        items = [self._item(item) for item in _items(index)]
        if not x.array.ndim and not isinstance(index, (tuple, Tensor)):
            self._check_item_of_scalar(items[0])
        steps = parse_subscript(items, x.array.ndim, self.kind_of)
        view = self.basic_view(x, steps, skip_whole)
        indices: list[Tensor | None] = []
        covered = 0  # number of dimensions of the view that `indices` index
        for kind, dim, _, item in steps:
            if kind >= BOOL_ITEM:
                indices += [None] * (dim - covered)
                indices.append(self.index_tensor(item, x))
                covered = dim + (kind - TENSOR if kind > BOOL_ITEM else 1)
        return view, indices

    def basic_view(self, x: Tensor, steps: list[_Step], skip_whole: bool) -> Tensor:
        """Return the view that all items except index tensors select."""
        view = basic_indexing.get_view_of_steps(x, steps)
        return self.view_by_operators(x, steps, skip_whole) if view is None else view

    def view_by_operators(self, x: Tensor, steps: list[_Step], skip_whole: bool) -> Tensor:
        """Return the result of `basic_view`, computed by `aten::select`, `slice` and `unsqueeze`."""
        view = x
        shape = x.array.shape
        for at, (kind, dim, axis, item) in enumerate(steps):
            if kind == INTEGER:
                # the dimension of an item after a second ellipsis may not exist
                length = shape[axis] if axis < len(shape) else 0
                if not (type(item) is type(length) is int and -length <= item < length):
                    item = self.position(item, length, at)
                view = operator("select")(view, dim, item)
            elif kind == SLICE:
                bounds = self.bounds(item)
                if not (
                    skip_whole and axis < len(shape) and _covers_dimension(steps, item, bounds, shape[axis])
                ):
                    view = operator("slice")(view, dim, *bounds)
            elif kind in (NEW_DIM, BOOL_ITEM):
                view = operator("unsqueeze")(view, dim)
        return view

    def index_tensor(self, item: Any, x: Tensor) -> Tensor:
        """Return the tensor for a tensor or bool in the subscript of `x`."""
        if isinstance(item, Tensor):
            return conversions.convert_tensor(item, x.device, None)
        result: Tensor = operator("empty")([int(item)], dtype=dtypes.int64, device=x.device)
        return operator("fill_")(result, 0.0) if item else result  # type: ignore[no-any-return]

    def position(self, item: Any, length: Any, at: int) -> Any:
        """Return the integer at position `at` of a subscript, or raise IndexError if it is out of range."""
        if isinstance(item, str):
            raise TypeError("new(): invalid data type 'str'")
        if not isinstance(item, (int, SymNumber)):
            raise IndexError(
                "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid "
                f"indices (got {_full_name(item)})"
            )
        if isinstance(item, int) and not _MIN_INDEX <= item <= _MAX_INDEX:
            raise ValueError("Overflow when unpacking long long")
        if not size_guards.within(item, length):
            raise IndexError(f"index {item} is out of bounds for dimension {at} with size {length}")
        return item

    def bounds(self, item: slice) -> tuple[Any, Any, Any]:
        """Return start, end and step of a slice.

        If the slice has no end, the returned end is `_MAX_INDEX`.
        """
        start = 0 if item.start is None else self.bound(item.start)
        end = _MAX_INDEX if item.stop is None else self.bound(item.stop)
        step = 1 if item.step is None else self.bound(item.step)
        if isinstance(step, int) and step <= 0:
            raise ValueError("step must be greater than zero" if step else "slice step cannot be zero")
        return start, end, step

    def bound(self, bound: Any) -> Any:
        """Return a bound of a slice as an int in the range of int64."""
        if type(bound) is int and _MIN_INDEX <= bound <= _MAX_INDEX:
            return bound
        if not hasattr(bound, "__index__"):
            raise TypeError("slice indices must be integers or None or have an __index__ method")
        return max(_MIN_INDEX, min(as_int(bound), _MAX_INDEX))


class _Overridden(Exception):
    """Raised if the class of an index defines `__torch_function__`."""

    def __init__(self, item: Any) -> None:
        self.item = item


def _full_name(value: Any) -> str:
    """Return the class name of a value, qualified by its module unless it is a built-in class."""
    kind = type(value)
    return kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"


def _have_same_shape(x: Tensor, y: Tensor) -> bool:
    """Return whether two shapes are equal. For sizes that depend on data, this must hold for all data."""
    return len(x.array.shape) == len(y.array.shape) and all(
        size_guards.is_provably_equal(n, m)
        or (size_guards.hinted(n) and size_guards.hinted(m) and size_guards.evaluate_guard(n == m))
        for n, m in zip(x.array.shape, y.array.shape, strict=True)
    )


def _shape_without_leading_ones(x: Tensor) -> list[Any]:
    shape = x.array.shape
    return list(shape[next((i for i, n in enumerate(shape) if not size_guards.known_one(n)), len(shape)) :])


def _items(index: Any) -> tuple[Any, ...] | list[Any]:
    """Return the items of a subscript. A list with items that are not numbers is treated as a tuple."""
    if isinstance(index, tuple):
        return index
    if type(index) is not list or len(index) >= 32 or not any(map(_is_no_number, index)):
        return (index,)
    warnings.warn(
        "Using a non-tuple sequence for multidimensional indexing is deprecated and will be changed in "
        "pytorch 2.9; use x[tuple(seq)] instead of x[seq]. In pytorch 2.9 this will be interpreted as "
        "tensor index, x[torch.tensor(seq)], which will result either in an error or a different result",
        stacklevel=4,
    )
    return index


def _is_no_number(item: Any) -> bool:
    return item is None or item is Ellipsis or isinstance(item, (Tensor, list, tuple, Slice, np.ndarray, str))


def _tensor_of_list(items: Any) -> Tensor:
    result = factories.tensor(items) if len(items) else factories.tensor([], dtype=dtypes.int64)
    return result.long() if result.is_floating_point() else result


def _is_symbolic(item: Any) -> bool:
    """Return whether an item is a symbol, or a slice with a symbolic bound."""
    bounds = (item.start, item.stop, item.step) if isinstance(item, Slice) else (item,)
    return any(isinstance(bound, SymNumber) for bound in bounds)


def _covers_dimension(steps: list[_Step], item: slice, bounds: tuple[Any, Any, Any], length: Any) -> bool:
    """Return whether a slice selects a whole dimension and calls no operator.

    If the subscript has symbols, only `:` counts as such a slice. Otherwise, the length of the dimension must
    be known to be at most the end of the slice. This is not known for a symbolic length without upper bound.
    """
    start, end, step = bounds
    if not (type(start) is type(step) is int and start == 0 and step == 1):
        return False
    if any(_is_symbolic(each[-1]) for each in steps):
        return item.start is item.stop is item.step is None
    return type(end) is int and size_guards.certain(length <= end)


_eager = Indexing()
get, put = _eager.get, _eager.put
