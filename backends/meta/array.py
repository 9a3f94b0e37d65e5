"""`MetaArray`: an array's shape, strides, offset and dtype, without its elements.

Input: sizes, which are ints or symbols (`ts._core.tensor.size_guards`). Output: an object with the attributes
and methods of an array. Expressions and their values are:

    x = MetaArray((2, 3), np.dtype("float32"))
    x.T.strides, x[1].offset, x[:, None].shape        (4, 12), 3, (2, 1, 3)
    x.T.reshape(6)                                    a new array, because no view has this shape
    x + 1.5, x.sum(0), x @ x.T                        new arrays
    float(x[0, 0])                                    RuntimeError with PyTorch's message
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from ts._core.tensor import size_guards, strides
from ts._core.tensor.subscripts import BOOL_ITEM, ELLIPSIS, INTEGER, NEW_DIM, SLICE, TENSOR, parse_subscript
from ts._core.tensor.unbacked_sizes import get_ctx

Shape = size_guards.Shape
DType = np.dtype[Any]
NO_DATA = "Cannot copy out of meta tensor; no data!"
NO_ITEM = "Tensor.item() cannot be called on meta tensors"


class Flags(NamedTuple):
    """Memory layout flags of a meta array."""

    c_contiguous: bool
    f_contiguous: bool
    writeable: bool = True
    owndata: bool = True


class MetaArray:
    """Array with shape, strides and dtype, without elements."""

    __slots__ = ("dtype", "offset", "shape", "strides")
    # Unlike `numpy.ndarray.base`, this attribute does not refer to the base: a view of a meta array does not
    # keep its base alive.
    base = None

    def __init__(
        self, shape: Iterable[Any], dtype: Any, strides: Iterable[Any] | None = None, offset: Any = 0
    ) -> None:
        self.shape: Shape = size_guards.shape(shape)
        self.dtype: DType = np.dtype(dtype)
        self.strides: Shape = (
            size_guards.dense(self.shape, self.dtype.itemsize) if strides is None else tuple(strides)
        )
        # distance of the array in elements from the start of the memory, which a base and its views share
        self.offset = offset

    def __repr__(self) -> str:
        return f"MetaArray({self.shape}, {self.dtype})"

    # ---- attributes

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> Any:
        return size_guards.product(self.shape)

    @property
    def itemsize(self) -> int:
        return self.dtype.itemsize

    @property
    def nbytes(self) -> Any:
        return self.size * self.dtype.itemsize

    @property
    def flags(self) -> Flags:
        item = self.dtype.itemsize
        return Flags(
            size_guards.is_row_major(self.shape, self.strides, item),
            size_guards.is_row_major(self.shape[::-1], self.strides[::-1], item),
        )

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of unsized object")
        length: int = self.shape[0]
        return length

    def _no_elements(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(NO_DATA)

    def _no_element(self, *args: Any) -> Any:
        raise RuntimeError(NO_ITEM)

    tolist = __array__ = _no_elements
    item = __bool__ = __int__ = __float__ = __complex__ = __index__ = _no_element

    def nonzero(self) -> tuple[MetaArray, ...]:
        """Return index arrays of unknown length for the nonzero elements, one array per dimension."""
        context = get_ctx()
        if context.new_size is None:
            self._no_elements()
        count = context.new_dynamic_size(max=self.size)
        return tuple(MetaArray((count,), np.int64) for _ in range(max(self.ndim, 1)))

    # ---- views

    def _with(self, dims: Iterable[tuple[Any, Any]], offset: Any = 0) -> MetaArray:
        """Return a view at offset `offset`, whose dimensions have the (length, stride) pairs `dims`.

        For a new dimension, the stride in `dims` is None.
        """
        pairs = list(dims)
        # The stride of a new dimension is the size of the next dimension times the stride of the next
        # dimension.
        for i in reversed(range(len(pairs))):
            if pairs[i][1] is None:
                n, stride = pairs[i + 1] if i + 1 < len(pairs) else (1, self.dtype.itemsize)
                pairs[i] = (1, n * stride)
        start = self.offset
        if not size_guards.known_zero(offset):
            start = start + offset // self.dtype.itemsize
        return MetaArray((n for n, _ in pairs), self.dtype, (stride for _, stride in pairs), start)

    def _dims(self) -> list[tuple[Any, Any]]:
        return list(zip(self.shape, self.strides, strict=True))

    def __getitem__(self, key: Any) -> MetaArray:
        if key is Ellipsis:
            return self
        steps = parse_subscript(key if isinstance(key, tuple) else (key,), self.ndim, _kind_of)
        if any(step[0] >= BOOL_ITEM for step in steps):
            return self._picked(steps)
        dims: list[tuple[Any, Any]] = []
        offset: Any = 0
        for kind, _, axis, item in steps:
            if kind == NEW_DIM:
                dims.append((1, None))
                continue
            if kind == ELLIPSIS:
                dims += self._dims()[axis : axis + item]
                continue
            n, stride = self.shape[axis], self.strides[axis]
            if kind == SLICE:
                start, length, every = _range(item, n)
                dims.append((length, stride if every == 1 else stride * every))
            else:
                start = _checked_index(item, n, axis)
            if not size_guards.known_zero(start):
                offset = offset + start * stride
        return self._with(dims, offset)

    def _picked(self, steps: Iterable[tuple[int, int, int, Any]]) -> MetaArray:
        """Return the result of indexing with arrays.

        The broadcast shape of the index arrays replaces the indexed dimensions if these are adjacent.
        Otherwise the broadcast shape comes first in the shape of the result.
        """
        # for each index array or number: the number of slices and new dimensions that precede it in the index
        chosen: list[int] = []
        shapes: list[Shape] = []
        indices: list[MetaArray] = []
        others: list[tuple[Any, Any]] = []  # (length, stride) of the dimensions without index arrays
        for kind, _, axis, item in steps:
            if kind == NEW_DIM:
                others.append((1, 0))
            elif kind == ELLIPSIS:
                others += self._dims()[axis : axis + item]
            elif kind == SLICE:
                _, length, every = _range(item, self.shape[axis])
                others.append((length, self.strides[axis] * every))
            else:
                index = np.asarray(item) if isinstance(item, list) else item
                chosen.append(len(others))
                shapes.append(tuple(getattr(index, "shape", ())))
                if getattr(index, "dtype", None) == np.bool_:
                    if isinstance(index, MetaArray):
                        self._no_elements()
                    shapes[-1] = (int(np.count_nonzero(index)),)
                    continue
                _checked_index(item, self.shape[axis], axis)
                if isinstance(index, MetaArray):
                    indices.append(index)
        try:
            index_shape = size_guards.broadcast(*shapes)
        except ValueError:
            shape_list = " ".join(str(s) for s in shapes)
            raise IndexError(
                f"shape mismatch: indexing arrays could not be broadcast together with shapes {shape_list}"
            ) from None
        position = chosen[0] if len(set(chosen)) == 1 else 0
        none = [0] * len(index_shape)
        lengths, other_strides = [n for n, _ in others], [stride for _, stride in others]
        orders = [[*other_strides[:position], *none, *other_strides[position:]]]
        for index in indices:
            own = index.broadcast_to(index_shape).strides
            orders.append([*[0] * position, *own, *[0] * (len(others) - position)])
        shape = (*lengths[:position], *index_shape, *lengths[position:])
        item = self.dtype.itemsize
        return MetaArray(shape, self.dtype, [n * item for n in strides.of_result(shape, *orders)])

    def __setitem__(self, key: Any, value: Any) -> None:
        target = self.shape if key is Ellipsis or (isinstance(key, tuple) and not key) else self[key].shape
        value_shape = shape_of(value)
        while len(value_shape) > len(target) and size_guards.known_one(value_shape[0]):
            value_shape = value_shape[1:]
        if len(value_shape) > len(target) or not size_guards.equal_shapes(
            size_guards.broadcast(target, value_shape), target
        ):
            raise ValueError(
                f"could not broadcast input array from shape {shape_of(value)} into shape {target}"
            )

    def reshape(self, *shape: Any, order: str = "C", copy: bool | None = None) -> MetaArray:
        target_shape = tuple(shape[0]) if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape
        lengths = _filled_in(target_shape, self.shape)
        steps = view_strides(self.shape, self.strides, lengths, self.dtype.itemsize)
        if steps is None and copy is False:
            raise ValueError("Unable to avoid creating a copy while reshaping.")
        return MetaArray(lengths, self.dtype, steps, 0 if steps is None else self.offset)

    def transpose(self, *axes: Any) -> MetaArray:
        order = axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes
        dims = self._dims()
        if not order:
            return self._with(dims[::-1])
        positions = [_axis(a, self.ndim) for a in order]
        if sorted(positions) != list(range(self.ndim)):
            raise ValueError("axes don't match array")
        return self._with(dims[a] for a in positions)

    def swapaxes(self, a: int, b: int) -> MetaArray:
        dims = self._dims()
        a, b = _axis(a, self.ndim), _axis(b, self.ndim)
        dims[a], dims[b] = dims[b], dims[a]
        return self._with(dims)

    def moved(self, source: Any, target: Any) -> MetaArray:
        """Return a view with dimensions moved, like `numpy.moveaxis`."""
        sources = [_axis(a, self.ndim) for a in ((source,) if isinstance(source, int) else source)]
        targets = [_axis(a, self.ndim) for a in ((target,) if isinstance(target, int) else target)]
        order = [a for a in range(self.ndim) if a not in sources]
        for position, axis in sorted(zip(targets, sources, strict=True)):
            order.insert(position, axis)
        return self._with(self._dims()[a] for a in order)

    def squeeze(self, axis: Any = None) -> MetaArray:
        if axis is None:
            gone = {i for i, n in enumerate(self.shape) if size_guards.known_one(n)}
        else:
            gone = {_axis(a, self.ndim) for a in ((axis,) if isinstance(axis, int) else axis)}
            if not all(size_guards.equal(self.shape[a], 1) for a in gone):
                raise ValueError("cannot select an axis to squeeze out which has size not equal to one")
        return self._with(d for i, d in enumerate(self._dims()) if i not in gone)

    def expanded(self, axes: Any) -> MetaArray:
        """Return a view with new dimensions of size 1, like `numpy.expand_dims`."""
        positions = (axes,) if isinstance(axes, int) else tuple(axes)
        rank = self.ndim + len(positions)
        new = {_axis(a, rank) for a in positions}
        dims = iter(self._dims())
        return self._with((1, None) if i in new else next(dims) for i in range(rank))

    def broadcast_to(self, shape: Sequence[Any]) -> MetaArray:
        """Return a view broadcast to `shape`, in which expanded dimensions have stride 0."""
        lengths = size_guards.shape(shape)
        missing = len(lengths) - self.ndim
        if missing < 0:
            raise ValueError("input operand has more dimensions than allowed by the axis remapping")
        dims: list[tuple[Any, Any]] = [(n, 0) for n in lengths[:missing]]
        for n, (own, stride) in zip(lengths[missing:], self._dims(), strict=True):
            if not size_guards.known_one(own) and not size_guards.equal(own, n):
                raise ValueError(
                    "operands could not be broadcast together with remapped shapes "
                    f"[original->remapped]: {self.shape} and requested shape {lengths}"
                )
            dims.append((n, 0 if size_guards.known_one(own) and not size_guards.known_one(n) else stride))
        return self._with(dims)

    def diagonal(self, offset: int = 0, axis1: int = 0, axis2: int = 1) -> MetaArray:
        a, b = _axis(axis1, self.ndim), _axis(axis2, self.ndim)
        dims = self._dims()
        (rows, row_step), (columns, column_step) = dims[a], dims[b]
        rows, columns = (rows + offset, columns) if offset < 0 else (rows, columns - offset)
        length = size_guards.larger(size_guards.minimum(rows, columns), 0)
        start = -offset * row_step if offset < 0 else offset * column_step
        rest = [d for i, d in enumerate(dims) if i not in (a, b)]
        return self._with(
            [*rest, (length, row_step + column_step)], 0 if size_guards.known_zero(length) else start
        )

    @property
    def T(self) -> MetaArray:
        return self.transpose()

    @property
    def real(self) -> MetaArray:
        return self._complex_component(0)

    @real.setter
    def real(self, value: Any) -> None:
        self._complex_component(0)[...] = value

    @property
    def imag(self) -> MetaArray:
        return self._complex_component(1)

    @imag.setter
    def imag(self, value: Any) -> None:
        self._complex_component(1)[...] = value

    def _complex_component(self, which: int) -> MetaArray:
        """Return a view of the real (`which` 0) or imaginary (1) parts.

        The real part of a real array is the array itself.
        """
        if self.dtype.kind != "c":
            return self if which == 0 else MetaArray(self.shape, self.dtype)
        half = np.dtype(f"f{self.dtype.itemsize // 2}")
        return MetaArray(self.shape, half, self.strides, 2 * self.offset + which)

    def view(self, dtype: Any = None) -> MetaArray:
        target = self.dtype if dtype is None else np.dtype(dtype)
        old, new = self.dtype.itemsize, target.itemsize
        if old == new:
            return MetaArray(self.shape, target, self.strides, self.offset)
        if not self.shape or not size_guards.is_provably_equal(self.strides[-1], old):
            raise ValueError("To change to a dtype of a different size, the last axis must be contiguous")
        last = self.shape[-1] * old
        return MetaArray(
            (*self.shape[:-1], last // new), target, (*self.strides[:-1], new), self.offset * old // new
        )

    def ravel(self, order: str = "C") -> MetaArray:
        return self.reshape(-1)

    # ---- new arrays

    def copy(self, order: str = "C") -> MetaArray:
        return MetaArray(self.shape, self.dtype) if order == "C" else self.astype(self.dtype)

    flatten = ravel

    def astype(self, dtype: Any, order: str = "K", copy: bool = True, **unused: Any) -> MetaArray:
        if not copy and np.dtype(dtype) == self.dtype:
            return self
        return MetaArray(self.shape, dtype) if order == "C" else new_in_layout_of((self,), self.shape, dtype)

    def conj(self) -> MetaArray:
        return new_in_layout_of((self,), self.shape, self.dtype)

    def round(self, decimals: int = 0) -> MetaArray:
        return MetaArray(self.shape, self.dtype)

    def repeat(self, repeats: Any, axis: int | None = None) -> MetaArray:
        if isinstance(repeats, MetaArray):
            self._no_elements()
        flat = self.ravel() if axis is None else self
        at = 0 if axis is None else _axis(axis, flat.ndim)
        length = flat.shape[at] * repeats if np.ndim(repeats) == 0 else int(np.sum(repeats))
        return MetaArray([length if i == at else n for i, n in enumerate(flat.shape)], self.dtype)

    def take(self, indices: Any, axis: int | None = None, **unused: Any) -> MetaArray:
        if axis is None:
            return MetaArray(shape_of(indices), self.dtype)
        at = _axis(axis, self.ndim)
        return MetaArray((*self.shape[:at], *shape_of(indices), *self.shape[at + 1 :]), self.dtype)

    # ---- arithmetic between arrays

    def __matmul__(self, other: MetaArray) -> MetaArray:
        return matmul(self, other)

    def __array_ufunc__(
        self, ufunc: np.ufunc, method: str, *inputs: Any, out: Any = None, **kwargs: Any
    ) -> Any:
        if method == "__call__" and ufunc.signature is None:
            return elementwise(ufunc, inputs, out[0] if out else None, kwargs.get("dtype"))
        if method == "__call__" and ufunc is np.matmul:
            return matmul(*inputs)
        if method == "reduce":
            return reduced(ufunc.__name__, inputs[0], kwargs.get("axis", 0), kwargs.get("keepdims", False))
        if method == "accumulate":
            return MetaArray(inputs[0].shape, kwargs.get("dtype") or inputs[0].dtype)
        return NotImplemented


# ---------------------------------------------------------------------------------------- indices and shapes


def shape_of(x: Any) -> Shape:
    """Return the shape of an array, number or nested list."""
    if hasattr(x, "shape"):
        return x.shape  # type: ignore[no-any-return]
    return np.shape(x) if isinstance(x, (list, tuple)) else ()


def _axis(axis: int, rank: int) -> int:
    if not -rank <= axis < rank:
        raise np.exceptions.AxisError(axis, rank)
    return axis + rank if axis < 0 else axis


def _kind_of(item: Any) -> int:
    """Return the kind of an index item that is an array, list or NumPy number, such as TENSOR + 1."""
    if isinstance(item, (MetaArray, np.ndarray)) and item.dtype == np.bool_:
        return TENSOR + item.ndim
    return TENSOR + 1 if isinstance(item, (MetaArray, np.ndarray, list)) else INTEGER


def _range(index: slice, n: Any) -> tuple[Any, Any, int]:
    """Return (first index, length, step) of a slice along a dimension of length `n`."""
    every = 1 if index.step is None else index.step
    if index.start is None and index.stop is None and every == 1:
        return 0, n, 1
    if not any(map(size_guards.is_symbol, (n, *(x for x in (index.start, index.stop) if x is not None)))):
        start, stop, every = index.indices(n)
        return start, len(range(start, stop, every)), every
    if every == 1 and not (size_guards.hinted(index.start) and size_guards.hinted(index.stop)):
        return _range_of_data(index.start, index.stop, n)
    if every < 0:
        if index.start is not None or index.stop is not None:
            raise NotImplementedError("a part in reverse order of a dimension whose length is a symbol")
        return n - 1, size_guards.ceil_div(n, -every), every
    start, stop = _end(index.start, 0, n), _end(index.stop, n, n)
    return start, size_guards.ceil_div(size_guards.larger(stop - start, 0), every), every


def _range_of_data(start: Any, stop: Any, n: Any) -> tuple[Any, Any, int]:
    """Return (start, length, step) of a slice with ends that depend on data.

    If the order of the ends is unknown, the length is a new symbol.
    """
    start = 0 if start is None else start
    if stop is None or (not size_guards.is_symbol(stop) and stop >= sys.maxsize):
        stop = n
    if size_guards.certain(start >= 0, start <= stop, stop <= n):
        return 0, stop - start, 1
    if size_guards.known_zero(start) and size_guards.certain(stop >= 0):
        return 0, size_guards.minimum(n, stop), 1
    length = get_ctx().new_dynamic_size()
    size_guards.require(length <= n)
    return 0, length, 1


def _end(bound: Any, missing: Any, n: Any) -> Any:
    if bound is None:
        return missing
    # a huge end, such as `sys.maxsize`, means the end of the dimension
    if not size_guards.is_symbol(bound) and bound >= sys.maxsize:
        return n
    if size_guards.evaluate_guard(bound < 0):  # a negative index counts from the end of the dimension
        return size_guards.larger(n + bound, 0)
    return size_guards.smaller(bound, n)


def _checked_index(index: Any, n: Any, axis: int) -> Any:
    """Return the number `index` as a non-negative index into a dimension of length `n`, or an index array.

    Raise IndexError if a number is out of range. Index arrays are returned unchanged.
    """
    if not hasattr(index, "__index__") or isinstance(index, (MetaArray, np.ndarray)):
        return index
    # The shape of the result does not depend on the value of a symbolic index, so return 0 without a check.
    if size_guards.is_symbol(index):
        new_number = get_ctx().new_number
        if new_number is not None and not size_guards.hinted(index) and not size_guards.certain(index >= 0):
            new_number("i")  # create the symbol that PyTorch creates for the storage offset of the result
        return 0
    i = int(index)
    if not size_guards.is_symbol(n) and not -n <= i < n:
        raise IndexError(f"index {i} is out of bounds for axis {axis} with size {n}")
    return n + i if i < 0 else i


def _filled_in(target_shape: Sequence[Any], shape: Shape) -> Shape:
    """Return the target shape of a reshape, with the length -1 replaced."""
    total = size_guards.product(shape)
    given_lengths = [n for n in target_shape if not size_guards.is_provably_equal(n, -1)]
    if len(given_lengths) < len(target_shape):
        rest = size_guards.product(given_lengths)
        missing = 0 if size_guards.known_zero(rest) else total // rest
        target_shape = [missing if size_guards.is_provably_equal(n, -1) else n for n in target_shape]
    if not size_guards.equal(size_guards.product(target_shape), total):
        raise ValueError(f"cannot reshape array of size {total} into shape {tuple(target_shape)}")
    return size_guards.shape(target_shape)


def view_strides(shape: Shape, strides: Shape, target_shape: Shape, item: int) -> Shape | None:
    """Return the strides of a view with shape `target_shape`, or None if a view is impossible.

    Adjacent dimensions without gaps form a block. `target_shape` is divided into consecutive groups of sizes,
    one per block. A view exists if the product of each group is the number of elements of its block.
    """
    if size_guards.known_empty(shape) or size_guards.is_row_major(shape, strides, item):
        return size_guards.dense(target_shape, item)
    steps: list[Any] = [item] * len(target_shape)
    at = len(target_shape) - 1
    dims = [(n, stride) for n, stride in zip(shape, strides, strict=True) if not size_guards.known_one(n)]
    while dims:
        length, stride = dims.pop()
        base = stride
        while dims and size_guards.is_provably_equal(dims[-1][1], length * base):
            length = length * dims.pop()[0]
        covered: Any = 1
        while at >= 0 and not (
            size_guards.is_provably_equal(covered, length) and not size_guards.known_one(target_shape[at])
        ):
            steps[at] = covered * base
            covered = size_guards.product((covered, target_shape[at]))
            at -= 1
        if not size_guards.is_provably_equal(covered, length):
            return None
    return tuple(steps)


# ---------------------------------------------------------------------------------------- functions of arrays


def elementwise(function: np.ufunc, inputs: Sequence[Any], out: Any = None, dtype: Any = None) -> Any:
    """Return the result of a ufunc, with the broadcast shape and the dtype of the selected loop."""
    shape = size_guards.broadcast(*map(shape_of, inputs))
    if out is not None:
        return out
    result_dtypes = _resolved(function, tuple(map(_kind, inputs)))
    if dtype is not None:
        result_dtypes = tuple(np.dtype(dtype) for _ in result_dtypes)
    results = tuple(new_in_layout_of(inputs, shape, d) for d in result_dtypes)
    return results[0] if len(results) == 1 else results


def new_in_layout_of(inputs: Sequence[Any], shape: Shape, dtype: Any) -> MetaArray:
    """Return a new dense array that has the dimension order of the inputs in memory."""
    result = MetaArray(shape, dtype)
    arrays = [x for x in inputs if isinstance(x, MetaArray) and x.ndim]
    if all(size_guards.is_row_major(x.shape, x.strides, x.dtype.itemsize) for x in arrays):
        return result
    wide = [x.broadcast_to(shape).strides for x in arrays if x.ndim <= len(shape)]
    item = result.dtype.itemsize
    return MetaArray(shape, dtype, [stride * item for stride in strides.of_result(shape, *wide)])


def _kind(x: Any) -> Any:
    """Return the dtype or Python number class that stands for `x` in NumPy's type promotion."""
    if hasattr(x, "dtype"):
        return x.dtype
    if isinstance(x, (int, float, complex)) and not isinstance(x, bool):
        return type(x)
    # An object that is no bool, list or tuple is a symbolic size here. NumPy promotes it like an int.
    return np.result_type(x) if isinstance(x, (bool, list, tuple)) else int


@lru_cache(maxsize=4096)
def _resolved(function: np.ufunc, operand_dtypes: tuple[Any, ...]) -> tuple[DType, ...]:
    return function.resolve_dtypes((*operand_dtypes, *(None,) * function.nout))[function.nin :]


REDUCTIONS = (
    "sum", "prod", "mean", "std", "var", "max", "min", "amax", "amin", "argmax", "argmin", "any", "all",
    "count_nonzero", "nansum", "nanmean", "nanmin", "nanmax", "ptp", "median", "nanmedian", "average",
)  # fmt: skip
_REDUCING_UFUNCS = {
    "add": "sum", "multiply": "prod", "maximum": "max", "minimum": "min", "logical_and": "all",
    "logical_or": "any",
}  # fmt: skip


@lru_cache(maxsize=1024)
def _reduced_dtype(name: str, dtype: DType) -> DType:
    """Return the result dtype of a NumPy reduction."""
    function = getattr(np, _REDUCING_UFUNCS.get(name, name))
    if isinstance(function, np.ufunc):
        return dtype
    result: DType = np.asarray(function(np.ones(1, dtype))).dtype
    return result


def reduced(
    name: str, x: MetaArray, axis: Any = None, keepdims: bool = False, dtype: Any = None
) -> MetaArray:
    """Return the result of a reduction over `axis`, or over all dimensions."""
    axes = range(x.ndim) if axis is None else axis if isinstance(axis, (tuple, list)) else (axis,)
    gone = {_axis(a, max(x.ndim, 1)) for a in axes}
    kind = _reduced_dtype(name, x.dtype) if dtype is None else dtype
    rest = x._with((1, 0) if i in gone else dim for i, dim in enumerate(x._dims()))
    result = new_in_layout_of((rest,), rest.shape, kind)
    return result if keepdims else result.squeeze(tuple(gone)) if x.ndim else result


def matmul(a: Any, b: Any, **unused: Any) -> MetaArray:
    """Return the product of matrices, matrix stacks or vectors."""
    columns = b.shape[-1:] if b.ndim > 1 else ()
    rows = a.shape[-2:-1]
    if (
        not a.ndim
        or not b.ndim
        or not size_guards.equal(a.shape[-1], b.shape[-2] if columns else b.shape[-1])
    ):
        raise ValueError(f"matmul: {list(a.shape)} and {list(b.shape)} do not fit")
    batch = size_guards.broadcast(a.shape[:-2], b.shape[:-2])
    return MetaArray((*batch, *rows, *columns), np.result_type(a.dtype, b.dtype))


def _method(name: str) -> Callable[..., MetaArray]:
    def method(
        self: MetaArray, axis: Any = None, dtype: Any = None, keepdims: bool = False, **unused: Any
    ) -> Any:
        return reduced(name, self, axis, keepdims, dtype)

    return method


def _operator(ufunc: np.ufunc, swapped: bool = False) -> Callable[[MetaArray, Any], Any]:
    return (lambda a, b: elementwise(ufunc, (b, a))) if swapped else (lambda a, b: elementwise(ufunc, (a, b)))


def _in_place(ufunc: np.ufunc) -> Callable[[MetaArray, Any], Any]:
    def written(self: MetaArray, other: Any) -> MetaArray:
        self[...] = elementwise(ufunc, (self, other))
        return self

    return written


for _name, _ufunc in {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "truediv": np.true_divide,
    "floordiv": np.floor_divide, "mod": np.remainder, "pow": np.power, "and": np.bitwise_and,
    "or": np.bitwise_or, "xor": np.bitwise_xor, "lshift": np.left_shift, "rshift": np.right_shift,
}.items():  # fmt: skip
    setattr(MetaArray, f"__{_name}__", _operator(_ufunc))
    setattr(MetaArray, f"__r{_name}__", _operator(_ufunc, swapped=True))
    setattr(MetaArray, f"__i{_name}__", _in_place(_ufunc))
for _name, _ufunc in {
    "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal, "eq": np.equal,
    "ne": np.not_equal,
}.items():  # fmt: skip
    setattr(MetaArray, f"__{_name}__", _operator(_ufunc))
for _name, _unary in {"neg": np.negative, "abs": np.absolute, "invert": np.invert}.items():
    setattr(MetaArray, f"__{_name}__", lambda a, f=_unary: elementwise(f, (a,)))
for _name in ("sum", "prod", "mean", "std", "var", "max", "min", "argmax", "argmin", "any", "all"):
    setattr(MetaArray, _name, _method(_name))
