"""Window geometry of pooling operators, and validation of their arguments.

Input: the shape of an array and the arguments of pooling. Output: a cached `Windows` object. Along each
dimension, window o contains elements from index begin[o] to stop[o] (exclusive), in steps of `dilation`.

Invalid arguments raise PyTorch's errors, which depend on the kind of pooling. Many errors of 1-d pooling name
2-d pooling, because PyTorch computes 1-d pooling by 2-d pooling.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ts._core.tensor.size_guards import evaluate_guard, is_symbol
from ts.ops.unfold import out_size

if TYPE_CHECKING:
    from numpy.typing import NDArray

Sizes = Sequence[int]
MAX_CACHED_SIZE = 1 << 12  # geometries with more windows are not cached
# Kinds of pooling with separate error messages. MAX_VALUES is the kind of `max_pool1d`.
MAX, AVG, MAX_VALUES = "max", "avg", "max values"


@dataclass(eq=False)
class Windows:
    """Windows of one pooling call: `begin` and `stop` (exclusive) of each window along each dimension."""

    kernel: tuple[int, ...]
    stride: tuple[int, ...]
    padding: tuple[int, ...]
    dilation: tuple[int, ...]
    output_size: tuple[int, ...]  # number of windows along each dimension
    begin: tuple[NDArray[Any], ...]
    stop: tuple[NDArray[Any], ...]
    table: Any = None  # cache for a backend, which stores its own table of the windows here
    cached_counts: NDArray[Any] | None = None
    cached_inverse_windows: Windows | None = None

    def inverse_windows(self, sizes: Sizes) -> Windows:
        """Return a `Windows` object whose window i is the range of the numbers of windows with element i.

        `sizes` are the numbers of elements along the dimensions. The windows must have no dilation.
        """
        if self.cached_inverse_windows is None:
            elements = [np.arange(n) for n in sizes]
            begins = [np.searchsorted(s, i, side="right") for s, i in zip(self.stop, elements, strict=True)]
            stops = [np.searchsorted(b, i, side="right") for b, i in zip(self.begin, elements, strict=True)]
            one = (1,) * len(elements)
            self.cached_inverse_windows = Windows(
                one, one, one, one, tuple(sizes), tuple(begins), tuple(stops)
            )
        return self.cached_inverse_windows

    @property
    def counts(self) -> NDArray[Any]:
        """Number of elements of each window, for windows without dilation."""
        if self.cached_counts is not None:
            return self.cached_counts
        if not self.begin:
            return np.ones((), np.int64)
        counts = _product([stop - begin for begin, stop in zip(self.begin, self.stop, strict=True)])
        if counts.size <= MAX_CACHED_SIZE:
            self.cached_counts = counts
        return counts

    def counts_with_padding(self, sizes: Sizes) -> NDArray[Any]:
        """Return the number of elements of each window, including padding."""
        if not self.begin:
            return np.ones((), np.int64)
        counts_per_dim = []
        for n, k, s, p, m in zip(
            sizes, self.kernel, self.stride, self.padding, self.output_size, strict=True
        ):
            start = np.arange(m) * s - p
            counts_per_dim.append(np.minimum(start + k, n + p) - start)
        return _product(counts_per_dim)


def _product(counts: list[NDArray[Any]]) -> NDArray[Any]:
    result = counts[0]
    for more in counts[1:]:
        result = np.multiply.outer(result, more)
    return result


def sliding_windows(kind: str, shape: tuple[int, ...], *arguments: Any) -> Windows:
    """Return the windows of a sliding kernel, or raise RuntimeError for invalid arguments.

    `arguments` are the number of dimensions, then the tuples kernel, stride, padding and dilation, and
    `ceil_mode`. Each tuple contains one int, or one int per dimension. With `ceil_mode`, the last window may
    extend beyond the end of the input.
    """
    symbolic = any(map(is_symbol, (*shape, *(n for x in arguments if isinstance(x, tuple) for n in x))))
    return (_build_sliding_windows if symbolic else _cached_sliding_windows)(kind, shape, *arguments)


def _build_sliding_windows(
    kind: str,
    shape: tuple[int, ...],
    n: int,
    kernel: tuple[int, ...],
    stride: tuple[int, ...],
    padding: tuple[int, ...],
    dilation: tuple[int, ...],
    ceil: bool,
) -> Windows:
    _check_counts(kind, n, kernel, stride, padding, dilation)
    if any(abs(v) >= 1 << 48 for values in (kernel, stride, padding, dilation) for v in values):
        raise RuntimeError(f"{kind}_pool{n}d: a size, stride, padding or dilation is too large")
    kernel, padding, dilation = (v * n if len(v) == 1 else v for v in (kernel, padding, dilation))
    stride = (stride * n if len(stride) == 1 else stride) if stride else kernel
    if kind == MAX_VALUES:
        _check_values(shape, *kernel, *stride, *padding, *dilation)
    else:
        if len(shape) not in (n + 1, n + 2):
            _raise_rank_error(kind, n, len(shape))
        one, zero = (1,) * (n == 1), (0,) * (n == 1)
        _check(
            kind, (*shape[: len(shape) - n], *one, *shape[len(shape) - n :]), max(n, 2), one + kernel,
            one + stride, zero + padding, one + dilation, ceil,
        )  # fmt: skip
    sizes = shape[len(shape) - n :]
    output_size = _output_sizes(sizes, kernel, stride, padding, dilation, ceil)
    begins, stops = [], []
    if any(map(is_symbol, output_size)):  # symbolic: only the numbers of windows are known
        return Windows(kernel, stride, padding, dilation, output_size, (), ())
    for size, k, s, p, d, m in zip(sizes, kernel, stride, padding, dilation, output_size, strict=True):
        if kind == MAX_VALUES and m < 1:
            raise RuntimeError(f"max_pool1d() Invalid computed output size: {m}")
        start = np.arange(m, dtype=np.int64) * s - p
        begins.append(np.where(start < 0, start + -(start // d) * d, start))
        stops.append(np.minimum(start + d * (k - 1) + 1, size))
    return Windows(kernel, stride, padding, dilation, output_size, tuple(begins), tuple(stops))


_cached_sliding_windows = lru_cache(maxsize=512)(_build_sliding_windows)


def adaptive_windows(sizes: tuple[int, ...], output_size: tuple[int, ...]) -> Windows:
    """Return the windows that divide each dimension into nearly equal parts."""
    if any(map(is_symbol, (*sizes, *output_size))):  # symbolic: only the numbers of windows are known
        one = (1,) * len(sizes)
        return Windows(one, one, one, one, output_size, (), ())
    return _cached_adaptive_windows(sizes, output_size)


@lru_cache(maxsize=512)
def _cached_adaptive_windows(sizes: tuple[int, ...], output_size: tuple[int, ...]) -> Windows:
    begins, stops = [], []
    for size, m in zip(sizes, output_size, strict=True):
        window = np.arange(m, dtype=np.int64)
        begins.append(window * size // max(m, 1))
        stops.append(-(-(window + 1) * size // max(m, 1)))
    one = (1,) * len(sizes)
    return Windows(one, one, one, one, output_size, tuple(begins), tuple(stops))


def _output_sizes(
    sizes: Sizes, kernel: Sizes, stride: Sizes, padding: Sizes, dilation: Sizes, ceil: bool
) -> tuple[int, ...]:
    return tuple(out_size(*v, ceil) for v in zip(sizes, kernel, stride, padding, dilation, strict=True))


# ------------------------------------------------------------------------------------ validation of arguments


def _check_counts(kind: str, n: int, kernel: Sizes, stride: Sizes, padding: Sizes, dilation: Sizes) -> None:
    """Raise RuntimeError if an argument has neither one number nor one number per dimension."""
    arguments = {"kernel_size": kernel, "stride": stride, "padding": padding, "dilation": dilation}
    for name, value in arguments.items():
        if len(value) in (1, n) or (name == "stride" and not value):
            continue
        if kind == MAX_VALUES:
            accepted = "None, an int" if name == "stride" else "an int"
            comma = "," if name in ("stride", "padding") else ""
            raise RuntimeError(
                f"max_pool1d() {name} must be {accepted}, list of ints{comma} or tuple of ints of size 1 "
                f"but got size {len(value)}"
            )
        if n == 1:
            raise RuntimeError(f"{kind}_pool1d() argument '{name}' should contain one int (got {len(value)})")
        int_or_tuple = "a single int, or a tuple of " + ("two ints" if n == 2 else "three ints")
        accepted = ("omitted, " if name == "stride" else "") + int_or_tuple
        must = (
            "must be"
            if (kind, n) == (AVG, 3)
            else "must be either"
            if name == "dilation"
            else "must either be"
        )
        raise RuntimeError(f"{kind}_pool{n}d: {name} {must} {accepted}")


def _check_values(shape: tuple[int, ...], kernel: int, stride: int, padding: int, dilation: int) -> None:
    """Raise max_pool1d's errors for invalid arguments."""
    if len(shape) not in (2, 3) or 0 in shape[-2:]:
        raise RuntimeError(
            "max_pool1d: Expected 2D or 3D (batch mode) tensor with optional 0 dim batch size for input, but "
            f"got:{list(shape)}"
        )
    for name, value in (("kernel_size", kernel), ("stride", stride)):
        if value <= 0:
            raise RuntimeError(f"max_pool1d() {name} must be greater than zero, but got {value}")
    if padding < 0:
        raise RuntimeError(f"max_pool1d() padding must be non-negative, but got {padding}")
    if padding > kernel // 2:
        raise RuntimeError(
            f"max_pool1d() padding should be at most half of kernel size, but got padding={padding} and "
            f"kernel_size={kernel}"
        )
    if dilation <= 0:
        raise RuntimeError(f"max_pool1d() dilation must be greater than zero, but got {dilation}")


def _raise_rank_error(kind: str, n: int, ndim: int) -> None:
    if n == 1:
        raise RuntimeError(
            f"Expected 2 to 3 dimensions, but got {ndim}-dimensional tensor for argument #1 'self' (while "
            f"checking arguments for {kind}_pool1d)"
        )
    if (kind, n) == (AVG, 2) and ndim < 3:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-ndim}, {ndim - 1}], but got -3)"
        )
    raise RuntimeError(f"non-empty {n + 1}D or {n + 2}D (batch mode) tensor expected for input")


def _check(
    kind: str,
    shape: tuple[int, ...],
    n: int,
    kernel: Sizes,
    stride: Sizes,
    padding: Sizes,
    dilation: Sizes,
    ceil: bool,
) -> None:
    """Raise an error for invalid arguments of 2D and 3D pooling.

    The checks have the same order as in PyTorch.
    """
    letters = "HW" if n == 2 else "THW"

    def listed(prefix: str, values: Sizes) -> str:
        return " ".join(f"{prefix}{letter}: {v}" for letter, v in zip(letters, values, strict=True))

    for k, s, p, d in zip(kernel, stride, padding, dilation, strict=True):
        if s == 0:
            raise RuntimeError("stride should not be zero")
        if p < 0:
            raise RuntimeError(f"pad must be non-negative, but got pad: {p}")
        if p > math.trunc(((k - 1) * d + 1) / 2):
            raise RuntimeError(
                f"pad should be at most half of effective kernel size, but got pad={p}, kernel_size={k} and "
                f"dilation={d}"
            )
    for name, prefix, values in (("kernel size", "k", kernel), ("stride", "d", stride)):
        if min(values) <= 0:
            raise RuntimeError(f"{name} should be greater than zero, but got {listed(prefix, values)}")
    if min(dilation) <= 0:
        input_text = listed("dilation", dilation).replace(" d", ", d")
        raise RuntimeError(f"dilation should be greater than zero, but got {input_text}")
    if 0 in shape[len(shape) - n - 1 :]:
        if n == 3:
            kernel_name = "max_pool3d_with_indices_out_cpu_template" if kind == MAX else "avg_pool3d"
            raise RuntimeError(
                f"{kernel_name}(): Expected input's non-batch dimensions to have positive length, but "
                f"input has a shape of {list(shape)} and non-batch dimension 0 has length zero!"
            )
        raise RuntimeError(
            "Expected 3D or 4D (batch mode) tensor with optional 0 dim batch size for input, but got:"
            f"{list(shape)}"
        )
    sizes = shape[len(shape) - n :]
    if (kind, n) == (AVG, 3) and any(size < k for size, k in zip(sizes, kernel, strict=True)):
        letters_of_sizes = " ".join(f"{letter}: {size}" for letter, size in zip(letters, sizes, strict=True))
        raise RuntimeError(
            f"input image ({letters_of_sizes}) smaller than kernel size ({listed('k', kernel)})"
        )
    if any(p > k // 2 for k, p in zip(kernel, padding, strict=True)):
        h, w = n - 2, n - 1
        arguments_text = (
            f"padW = {padding[w]}, padH = {padding[h]}, kW = {kernel[w]}, kH = {kernel[h]}"
            if n == 2
            else f"kT: {kernel[0]} kW: {kernel[w]} kH: {kernel[h]} padT: {padding[0]} padW: {padding[w]} "
            f"padH: {padding[h]}"
        )
        raise RuntimeError(
            f"pad should be smaller than or equal to half of kernel size, but got {arguments_text}"
        )
    output_size = _output_sizes(sizes, kernel, stride, padding, dilation, ceil)
    dims = zip(sizes, kernel, padding, dilation, output_size, strict=True)
    if any(evaluate_guard(m < 1 if ceil else size + 2 * p <= d * (k - 1)) for size, k, p, d, m in dims):
        channels = shape[len(shape) - n - 1]
        input_text, computed = ("x".join(map(str, (channels, *v))) for v in (sizes, output_size))
        raise RuntimeError(
            f"Given input size: ({input_text}). Calculated output size: ({computed}). "
            "Output size is too small"
        )
