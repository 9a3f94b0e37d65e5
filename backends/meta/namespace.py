"""`xp` on the meta device: NumPy's functions, which compute only shapes and dtypes.

Input: the name of a NumPy function. Output: a function with `MetaArray` arguments and results. Examples for
an array x:

    xp.pad(x, [(1, 1), (0, 0)])         an array with two more rows
    xp.linalg.svd(x)                    the shapes of U, S and Vh
    xp.maximum.accumulate(x)            the shape of x
    xp.unique(x)                        raises NotImplementedError, because the shape depends on elements
    xp.convolve                         raises NotImplementedError, because no shape rule exists
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

from ts._core.tensor import size_guards
from ts._core.tensor.sym_types import SymInt, SymNumber

from ..array_namespace import Namespace
from .array import (
    NO_DATA,
    REDUCTIONS,
    MetaArray,
    Shape,
    elementwise,
    matmul,
    new_in_layout_of,
    reduced,
    shape_of,
)
from .fft import Fft
from .linalg import LinearAlgebra

# Names of functions whose results have the shape and dtype of the first argument.
_LIKE_FIRST = (
    "cumsum", "cumprod", "sort", "flip", "fliplr", "flipud", "roll", "nan_to_num", "clip", "real_if_close",
    "around", "i0", "round", "sinc",
)  # fmt: skip


def _strided(x: MetaArray, shape: Any = None, strides: Any = None, **unused: Any) -> MetaArray:
    return MetaArray(shape, x.dtype, strides, x.offset)


def _windows(x: MetaArray, window_shape: Any, axis: Any = None, **unused: Any) -> MetaArray:
    lengths = (window_shape,) if isinstance(window_shape, int) else tuple(window_shape)
    axes = tuple(range(x.ndim)) if axis is None else (axis,) if isinstance(axis, int) else tuple(axis)
    shape, extra = list(x.shape), []
    for n, a in zip(lengths, axes, strict=True):
        shape[a] = shape[a] - n + 1
        extra.append(x.strides[a])
    return MetaArray((*shape, *lengths), x.dtype, (*x.strides, *extra), x.offset)


class Ufunc:
    """A NumPy ufunc that computes only shapes and dtypes."""

    def __init__(self, ufunc: np.ufunc) -> None:
        self._ufunc = ufunc
        self.__name__ = ufunc.__name__

    def __call__(self, *inputs: Any, out: Any = None, dtype: Any = None, **unused: Any) -> Any:
        return elementwise(self._ufunc, inputs, out, dtype)

    def at(self, a: MetaArray, indices: Any, b: Any = None) -> None:
        """Check that the shape of `b` broadcasts to the shape of `a[indices]`. No elements are computed."""
        a[indices] = 0 if b is None else b

    def accumulate(self, a: MetaArray, axis: int = 0, dtype: Any = None, **unused: Any) -> MetaArray:
        """Return the result of `ufunc.accumulate` as a meta array."""
        return MetaArray(a.shape, dtype or a.dtype)

    def reduce(
        self, a: MetaArray, axis: Any = 0, dtype: Any = None, keepdims: bool = False, **more: Any
    ) -> Any:
        """Return the result of `ufunc.reduce` along an axis as a meta array."""
        return reduced(self.__name__, a, axis, keepdims, dtype)

    def reduceat(self, a: MetaArray, indices: Any, axis: int = 0, **unused: Any) -> MetaArray:
        """Return the result of `ufunc.reduceat` as a meta array."""
        axis %= a.ndim
        return MetaArray((*a.shape[:axis], *shape_of(indices), *a.shape[axis + 1 :]), a.dtype)

    def outer(self, a: Any, b: Any) -> Any:
        """Return the result of `ufunc.outer` as a meta array."""
        turned = a.reshape(*a.shape, *(1,) * b.ndim)
        return elementwise(self._ufunc, (turned, b))


class MetaNamespace(Namespace):
    """Array namespace of the meta device. Attributes are created at their first access."""

    __name__ = "meta"
    shapes_only = True
    has_svd_drivers = True

    def __init__(self) -> None:
        self.linalg = LinearAlgebra()
        self.fft = Fft()
        tricks = SimpleNamespace(as_strided=_strided, sliding_window_view=_windows)
        self.lib = SimpleNamespace(stride_tricks=tricks)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        function = _function(name)
        setattr(self, name, function)
        return function

    @property
    def transforms(self) -> Any:
        """Namespace with the functions of `scipy.fft` for meta arrays."""
        return self.fft

    def special(self, name: str) -> Any:
        """Return the CPU's function, which is a ufunc and accepts meta arrays."""
        from .. import get

        return get("cpu").xp.special(name)

    def scipy(self, module_name: str) -> Any:
        """Return the CPU's SciPy module. Its ufuncs accept meta arrays."""
        from .. import get

        return get("cpu").xp.scipy(module_name)

    def to_host(self, x: Any) -> Any:
        """Raise NotImplementedError for a meta array, which has no elements."""
        if isinstance(x, MetaArray):
            raise NotImplementedError(NO_DATA)
        return np.asarray(x)

    # ---- creation

    def empty(self, shape: Any, dtype: Any = float, **unused: Any) -> MetaArray:
        return MetaArray(shape if isinstance(shape, (tuple, list)) else (shape,), dtype)

    zeros = ones = empty

    def full(self, shape: Any, value: Any, dtype: Any = None, **unused: Any) -> MetaArray:
        return self.empty(shape, self.asarray(value).dtype if dtype is None else dtype)

    def empty_like(self, x: Any, dtype: Any = None, shape: Any = None, **unused: Any) -> MetaArray:
        kind = x.dtype if dtype is None else dtype
        return MetaArray(shape, kind) if shape is not None else new_in_layout_of((x,), shape_of(x), kind)

    zeros_like = ones_like = empty_like

    def full_like(self, x: Any, value: Any, dtype: Any = None, **unused: Any) -> MetaArray:
        return self.empty_like(x, dtype)

    def arange(self, *args: Any, dtype: Any = None) -> MetaArray:
        start, stop, step = (0, args[0], 1) if len(args) == 1 else (*args, 1)[:3]
        if any(isinstance(x, MetaArray) for x in args):
            raise NotImplementedError(NO_DATA)
        if dtype is None:
            dtype = np.result_type(
                *(np.int64 if size_guards.is_symbol(x) else type(x) for x in (start, stop, step))
            )
        length = stop - start
        if not size_guards.is_symbol(length):
            length = max(int(np.ceil(length / step)), 0)
        elif step != 1:
            length = size_guards.ceil_div(length, step)
        return MetaArray((length,), dtype)

    def linspace(self, start: Any, stop: Any, num: int = 50, dtype: Any = None, **unused: Any) -> MetaArray:
        rest = size_guards.broadcast(shape_of(start), shape_of(stop))
        return MetaArray((num, *rest), dtype or np.float64)

    def eye(self, n: Any, m: Any = None, k: int = 0, dtype: Any = float, **unused: Any) -> MetaArray:
        return MetaArray((n, n if m is None else m), dtype)

    def tri(self, n: Any, m: Any = None, k: int = 0, dtype: Any = float) -> MetaArray:
        return MetaArray((n, n if m is None else m), dtype)

    def asarray(self, x: Any, dtype: Any = None, **unused: Any) -> MetaArray:
        if isinstance(x, MetaArray):
            return x if dtype is None or np.dtype(dtype) == x.dtype else x.astype(dtype)
        if isinstance(x, (list, tuple)) and any(isinstance(element, MetaArray) for element in x):
            result = self.stack([self.asarray(element) for element in x])
            return result if dtype is None else result.astype(dtype)
        if isinstance(x, SymNumber):
            return MetaArray((), np.dtype(dtype or (np.int64 if isinstance(x, SymInt) else np.float64)))
        host = np.asarray(x, dtype)
        return MetaArray(host.shape, host.dtype)

    array = ascontiguousarray = asarray

    def copy(self, x: MetaArray, order: str = "K") -> MetaArray:
        return x.copy(order)

    def vander(self, x: MetaArray, n: Any = None, increasing: bool = False) -> MetaArray:
        return MetaArray((*x.shape, x.shape[-1] if n is None else n), np.promote_types(x.dtype, int))

    def triu_indices(self, n: int, k: int = 0, m: int | None = None) -> tuple[MetaArray, MetaArray]:
        if m is None and k >= 0:
            count = (n - k) * (n - k + 1) // 2
        else:
            columns = n if m is None else m
            count = sum(max(columns - max(i + k, 0), 0) for i in range(n))
        return MetaArray((count,), np.int64), MetaArray((count,), np.int64)

    def tril_indices(self, n: int, k: int = 0, m: int | None = None) -> tuple[MetaArray, MetaArray]:
        columns = n if m is None else m
        count = sum(min(max(i + k + 1, 0), columns) for i in range(n))
        return MetaArray((count,), np.int64), MetaArray((count,), np.int64)

    # ---- properties of arrays

    def shape(self, x: Any) -> Shape:
        return shape_of(x)

    def ndim(self, x: Any) -> int:
        return len(shape_of(x))

    def result_type(self, *args: Any) -> Any:
        return np.result_type(*[a.dtype if isinstance(a, MetaArray) else a for a in args])

    # ---- reshaping

    def reshape(self, x: MetaArray, shape: Any, **unused: Any) -> MetaArray:
        return x.reshape(tuple(shape) if isinstance(shape, (tuple, list)) else (shape,))

    def ravel(self, x: MetaArray) -> MetaArray:
        return x.ravel()

    def transpose(self, x: MetaArray, axes: Any = None) -> MetaArray:
        return x.transpose() if axes is None else x.transpose(tuple(axes))

    permute_dims = transpose

    def swapaxes(self, x: MetaArray, a: int, b: int) -> MetaArray:
        return x.swapaxes(a, b)

    def moveaxis(self, x: MetaArray, source: Any, target: Any) -> MetaArray:
        return x.moved(source, target)

    def expand_dims(self, x: MetaArray, axis: Any) -> MetaArray:
        return x.expanded(axis)

    def squeeze(self, x: MetaArray, axis: Any = None) -> MetaArray:
        return x.squeeze(axis)

    def broadcast_to(self, x: Any, shape: Any, **unused: Any) -> MetaArray:
        return self.asarray(x).broadcast_to(shape if isinstance(shape, (tuple, list)) else (shape,))

    def broadcast_arrays(self, *xs: Any) -> list[MetaArray]:
        shape = size_guards.broadcast(*map(shape_of, xs))
        return [self.broadcast_to(x, shape) for x in xs]

    def broadcast_shapes(self, *shapes: Any) -> Shape:
        return size_guards.broadcast(*shapes)

    def atleast_1d(self, x: Any) -> MetaArray:
        array = self.asarray(x)
        return array if array.ndim else array.reshape(1)

    def atleast_2d(self, x: Any) -> MetaArray:
        array = self.asarray(x)
        return array if array.ndim > 1 else self.atleast_1d(array)[None]

    def atleast_3d(self, x: Any) -> MetaArray:
        array = self.asarray(x)
        return array if array.ndim > 2 else self.atleast_2d(array)[:, :, None]

    def diagonal(self, x: MetaArray, offset: int = 0, axis1: int = 0, axis2: int = 1) -> MetaArray:
        return x.diagonal(offset, axis1, axis2)

    def rot90(self, x: MetaArray, k: int = 1, axes: Sequence[int] = (0, 1)) -> MetaArray:
        a, b = axes
        if a % x.ndim == b % x.ndim:
            raise ValueError("Axes must be different.")
        return x.swapaxes(a, b) if k % 2 else x

    # ---- concatenation and splitting

    def concatenate(self, xs: Sequence[Any], axis: int = 0, **unused: Any) -> MetaArray:
        arrays = [self.asarray(x) for x in xs]
        first = arrays[0]
        axis %= max(first.ndim, 1)
        total = first.shape[axis]
        for x in arrays[1:]:
            for d, (n, m) in enumerate(zip(first.shape, x.shape, strict=True)):
                if d != axis and not size_guards.equal(n, m):
                    raise ValueError(
                        "all the input array dimensions except for the concatenation axis must match "
                        f"exactly, but along dimension {d}, they are {n} and {m}"
                    )
            total = total + x.shape[axis]
        shape = (*first.shape[:axis], total, *first.shape[axis + 1 :])
        return MetaArray(shape, np.result_type(*[x.dtype for x in arrays]))

    concat = concatenate

    def stack(self, xs: Sequence[Any], axis: int = 0, **unused: Any) -> MetaArray:
        return self.concatenate([self.asarray(x).expanded(axis) for x in xs], axis)

    def split(self, x: MetaArray, sections: Any, axis: int = 0) -> list[MetaArray]:
        axis %= x.ndim
        n = x.shape[axis]
        if isinstance(sections, int):
            if size_guards.evaluate_guard(n % sections != 0):
                raise ValueError("array split does not result in an equal division")
            bounds = [n // sections * k for k in range(sections + 1)]
        else:
            bounds = [0, *sections, n]
        before = (slice(None),) * axis
        return [x[(*before, slice(bounds[k], bounds[k + 1]))] for k in range(len(bounds) - 1)]

    def meshgrid(
        self, *xs: MetaArray, indexing: str = "xy", copy: bool = True, **unused: Any
    ) -> list[MetaArray]:
        order = list(range(len(xs)))
        if indexing == "xy" and len(xs) > 1:
            order[0], order[1] = 1, 0
        shape = tuple(xs[i].size for i in order)
        result: list[MetaArray] = []
        for i, x in enumerate(xs):
            line = (1,) * order[i] + (-1,) + (1,) * (len(xs) - order[i] - 1)
            wide = x.reshape(line).broadcast_to(shape)
            result.append(wide.copy() if copy else wide)
        return result

    def repeat(self, x: MetaArray, repeats: Any, axis: int | None = None) -> MetaArray:
        return x.repeat(repeats, axis)

    def tile(self, x: MetaArray, repeats: Any) -> MetaArray:
        counts = tuple(repeats) if isinstance(repeats, (tuple, list)) else (repeats,)
        rank = max(len(counts), x.ndim)
        counts = (1,) * (rank - len(counts)) + counts
        shape = (1,) * (rank - x.ndim) + x.shape
        return MetaArray([n * c for n, c in zip(shape, counts, strict=True)], x.dtype)

    def pad(self, x: MetaArray, widths: Any, mode: str = "constant", **unused: Any) -> MetaArray:
        return MetaArray([a + n + b for n, (a, b) in zip(x.shape, widths, strict=True)], x.dtype)

    def diag(self, x: MetaArray, k: int = 0) -> MetaArray:
        if x.ndim == 1:
            n = x.shape[0] + abs(k)
            return MetaArray((n, n), x.dtype)
        return x.diagonal(k)

    def diagflat(self, x: MetaArray, k: int = 0) -> MetaArray:
        return self.diag(x.ravel(), k)

    def diff(
        self, x: MetaArray, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None
    ) -> MetaArray:
        operands = [operand for operand in (prepend, x, append) if operand is not None]
        extended = self.concatenate(operands, axis) if len(operands) > 1 else x
        axis %= extended.ndim
        lengths = [size_guards.larger(m - n, 0) if d == axis else m for d, m in enumerate(extended.shape)]
        differences = extended._with(zip(lengths, extended.strides, strict=True))
        return new_in_layout_of((differences,), differences.shape, extended.dtype)

    # ---- products

    def matmul(self, a: Any, b: Any, **unused: Any) -> MetaArray:
        return matmul(a, b)

    def dot(self, a: Any, b: Any) -> MetaArray:
        if b.ndim > 1:
            return self.tensordot(a, b, ((a.ndim - 1,), (b.ndim - 2,)))
        return self.inner(a, b)

    def inner(self, a: Any, b: Any) -> MetaArray:
        if not a.ndim or not b.ndim:
            return elementwise(np.multiply, (a, b))  # type: ignore[no-any-return]
        return self.tensordot(a, b, ((a.ndim - 1,), (b.ndim - 1,)))

    def outer(self, a: Any, b: Any) -> MetaArray:
        return MetaArray((a.size, b.size), np.result_type(a.dtype, b.dtype))

    def kron(self, a: Any, b: Any) -> MetaArray:
        rank = max(a.ndim, b.ndim)
        first, second = ((1,) * (rank - x.ndim) + x.shape for x in (a, b))
        return MetaArray(
            [n * m for n, m in zip(first, second, strict=True)], np.result_type(a.dtype, b.dtype)
        )

    def tensordot(self, a: Any, b: Any, axes: Any = 2) -> MetaArray:
        if isinstance(axes, int):
            axes = (range(a.ndim - axes, a.ndim), range(axes))
        gone = [[d % x.ndim for d in dims] for dims, x in zip(axes, (a, b), strict=True)]
        for i, j in zip(*gone, strict=True):
            if not size_guards.equal(a.shape[i], b.shape[j]):
                raise ValueError("shape-mismatch for sum")
        rest = [n for x, out in zip((a, b), gone, strict=True) for d, n in enumerate(x.shape) if d not in out]
        return MetaArray(rest, np.result_type(a.dtype, b.dtype))

    def einsum(self, equation: str, *xs: Any, **unused: Any) -> MetaArray:
        inputs, _, output = equation.replace(" ", "").partition("->")
        lengths: dict[str, Any] = {}
        ellipsis: Shape = ()
        for letters, x in zip(inputs.split(","), xs, strict=True):
            before, dots, after = letters.partition("...")
            rest = x.ndim - len(before) - len(after)
            if rest < 0 or (rest and not dots):
                raise ValueError(f"einstein sum subscripts string {letters} does not fit {x.ndim} dimensions")
            ellipsis = size_guards.broadcast(ellipsis, x.shape[len(before) : len(before) + rest])
            dims = (*x.shape[: len(before)], *x.shape[len(before) + rest :])
            for letter, n in zip(before + after, dims, strict=True):
                length = lengths.get(letter, 1)
                lengths[letter] = size_guards.broadcast((length,), (n,))[0]
        if "->" not in equation:
            counted = inputs.replace(",", "").replace(".", "")
            output = ("..." if ellipsis else "") + "".join(
                sorted(c for c in set(counted) if counted.count(c) == 1)
            )
        before, _, after = output.partition("...")
        shape = (
            *(lengths[c] for c in before),
            *(ellipsis if "..." in output else ()),
            *(lengths[c] for c in after),
        )
        return MetaArray(shape, np.result_type(*[x.dtype for x in xs]))

    # ---- selection and order

    def where(self, *operands: Any) -> Any:
        if len(operands) == 1:
            raise NotImplementedError(NO_DATA)
        _, x, y = operands
        shape = size_guards.broadcast(*map(shape_of, operands))
        dtype = np.result_type(*(a.dtype if hasattr(a, "dtype") else a for a in (x, y)))
        return new_in_layout_of(operands, shape, dtype)

    def take(self, x: MetaArray, indices: Any, axis: int | None = None, **unused: Any) -> MetaArray:
        return x.take(indices, axis)

    def take_along_axis(self, x: MetaArray, indices: Any, axis: int | None = -1) -> MetaArray:
        if axis is None:
            return MetaArray(indices.shape, x.dtype)
        axis %= x.ndim
        rest = size_guards.broadcast(*((*a.shape[:axis], 1, *a.shape[axis + 1 :]) for a in (x, indices)))
        return MetaArray((*rest[:axis], indices.shape[axis], *rest[axis + 1 :]), x.dtype)

    def put_along_axis(self, x: MetaArray, indices: Any, values: Any, axis: int | None = -1) -> None:
        return None

    def argsort(self, x: MetaArray, axis: int = -1, **unused: Any) -> MetaArray:
        return MetaArray(x.shape, np.int64)

    def searchsorted(self, x: MetaArray, values: Any, side: str = "left", sorter: Any = None) -> MetaArray:
        return MetaArray(shape_of(values), np.int64)

    def isin(self, x: Any, among: Any, **unused: Any) -> MetaArray:
        return MetaArray(shape_of(x), bool)

    def quantile(
        self, x: MetaArray, q: Any, axis: Any = None, keepdims: bool = False, **unused: Any
    ) -> MetaArray:
        rest = reduced("mean", x, axis, keepdims)
        return MetaArray((*shape_of(q), *rest.shape), np.result_type(rest.dtype, np.float32))

    nanquantile = quantile

    def copyto(self, target: MetaArray, source: Any, **unused: Any) -> None:
        target[...] = source

    def trace(
        self, x: MetaArray, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None
    ) -> MetaArray:
        return reduced("sum", x.diagonal(offset, axis1, axis2), -1, False, dtype)

    def tril(self, x: MetaArray, k: int = 0) -> MetaArray:
        return MetaArray(x.shape, x.dtype)

    triu = tril

    # ---- dtypes

    def angle(self, x: MetaArray) -> MetaArray:
        return elementwise(np.arctan2, (x.real, x.real))  # type: ignore[no-any-return]

    def isposinf(self, x: MetaArray) -> MetaArray:
        return self.empty_like(x, bool)

    isneginf = isposinf

    def _depends(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(NO_DATA)

    nonzero = flatnonzero = argwhere = unique = bincount = histogram = _depends


def _function(name: str) -> Callable[..., Any]:
    """Return NumPy's constant or class `name`, or a function with the shape rule of NumPy's function.

    Raise NotImplementedError for a function without a shape rule.
    """
    function = getattr(np, name)
    if isinstance(function, type) or not callable(function):
        return function  # type: ignore[no-any-return]
    if isinstance(function, np.ufunc) and function.signature is None:
        return Ufunc(function)
    if name in REDUCTIONS:
        return lambda x, axis=None, keepdims=False, dtype=None, **more: reduced(
            name, x, axis, keepdims, dtype
        )
    if name in _LIKE_FIRST:
        return lambda x, *args, dtype=None, **more: new_in_layout_of((x,), shape_of(x), dtype or x.dtype)
    raise NotImplementedError(f"numpy.{name} has no shape rule on the meta device")


namespace = MetaNamespace()
