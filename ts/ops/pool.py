"""Pooling: the largest or mean element of windows, fixed or adaptive, and its reverse.

In: (N, C, *spatial) or without N; out: the same with fewer places, and for maxima the index of each in
its flattened plane.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ts.ops import rules
from ts.ops.registry import Record, add, out_of
from ts.ops.window import out_size, padded, per_dim, windows

Array = rules.Array
Sizes = Sequence[int]


def _lowest(dtype: rules.DType) -> Any:
    return -math.inf if rules.CATEGORY_OF[dtype] == rules.FLOATING else np.iinfo(dtype).min


def _geometry(
    name: str, x: Array, n: int, kernel: Sizes, stride: Sizes, padding: Sizes, dilation: Sizes, ceil: bool
) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...], tuple[int, ...], list[int]]:
    """Kernel, stride, padding and dilation for each dimension, and how many windows there are."""
    if x.ndim not in (n + 1, n + 2):
        raise RuntimeError(
            f"{name}: Expected {n + 1}D or {n + 2}D (batch mode) tensor with optional 0 dim batch size for "
            f"input, but got: {list(x.shape)}"
        )
    kernel, padding, dilation = per_dim(kernel, n), per_dim(padding, n), per_dim(dilation, n)
    stride = per_dim(stride, n) if stride else kernel
    if min(kernel) <= 0:
        raise RuntimeError(f"kernel size should be greater than zero, but got {list(kernel)}")
    if min(stride) <= 0:
        raise RuntimeError("stride should not be zero")
    if min(dilation) <= 0:
        raise RuntimeError(f"dilation should be greater than zero, but got {list(dilation)}")
    for k, p in zip(kernel, padding, strict=True):
        if p < 0:
            raise RuntimeError(f"pad must be non-negative, but got pad: {p}")
        if p > k // 2:
            raise RuntimeError(
                f"pad should be at most half of effective kernel size, but got pad={p}, kernel_size={k}"
            )
    places = [out_size(*v, ceil) for v in zip(x.shape[-n:], kernel, stride, padding, dilation, strict=True)]
    if min(places) < 1:
        given, computed = (
            "x".join(map(str, sizes)) for sizes in (x.shape[-n - 1 :], (x.shape[-n - 1], *places))
        )
        raise RuntimeError(
            f"Given input size: ({given}). Calculated output size: ({computed}). Output size is too small"
        )
    return kernel, stride, padding, dilation, places


def _pooled(
    xp: Any,
    x: Array,
    value: Any,
    kernel: Sizes,
    stride: Sizes,
    padding: Sizes,
    dilation: Sizes,
    places: Sizes,
) -> Array:
    """The windows, kernel flattened to one last dimension; `value` beyond the ends."""
    pads = [
        (p, max(0, (m - 1) * s + d * (k - 1) + 1 - size - p))
        for size, k, s, p, d, m in zip(
            x.shape[-len(kernel) :], kernel, stride, padding, dilation, places, strict=True
        )
    ]
    view = windows(xp, padded(xp, x, pads, value), kernel, stride, dilation)
    view = view[(..., *(slice(m) for m in places), *(slice(None) for _ in kernel))]
    return view.reshape(*view.shape[: -len(kernel)], math.prod(kernel))


def _along(xp: Any, values: Array, axis: int, n: int) -> Array:
    return values.reshape([-1 if d == axis else 1 for d in range(n)])


def max_pool(
    xp: Any,
    self: Array,
    n: int,
    kernel_size: Sizes,
    stride: Sizes = (),
    padding: Sizes = (0,),
    dilation: Sizes = (1,),
    ceil_mode: bool = False,
) -> tuple[Array, Array]:
    """The largest element of each window and its index in the plane."""
    if self.dtype.kind in "bc":
        rules.refuse(f"max_pool{n}d", self.dtype)
    kernel, stride, padding, dilation, places = _geometry(
        f"max_pool{n}d", self, n, kernel_size, stride, padding, dilation, ceil_mode
    )
    flat = _pooled(xp, self, _lowest(self.dtype), kernel, stride, padding, dilation, places)
    best = xp.argmax(flat, axis=-1)
    index = xp.zeros(best.shape, dtype=rules.INT64)
    within = xp.unravel_index(best, kernel)
    for axis in range(n):
        start = _along(xp, xp.arange(places[axis]) * stride[axis] - padding[axis], axis, n)
        index = index * self.shape[axis - n] + start + within[axis] * dilation[axis]
    return xp.take_along_axis(flat, best[..., None], -1)[..., 0], index


def _counts(n: int, kernel: int, stride: int, padding: int, places: int, include_pad: bool) -> list[int]:
    """How many elements each window of one dimension holds."""
    found = []
    for i in range(places):
        start = i * stride - padding
        end = min(start + kernel, n + padding)
        found.append(end - start if include_pad else min(end, n) - max(start, 0))
    return found


def avg_pool(
    xp: Any,
    self: Array,
    n: int,
    kernel_size: Sizes,
    stride: Sizes = (),
    padding: Sizes = (0,),
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Array:
    """The mean of each window."""
    if self.dtype.kind in "bc":
        rules.refuse(f"avg_pool{n}d", self.dtype)
    kernel, stride, padding, dilation, places = _geometry(
        f"avg_pool{n}d", self, n, kernel_size, stride, padding, (1,), ceil_mode
    )
    if divisor_override == 0:
        raise RuntimeError("divisor must be not zero")
    x = rules.cast(xp, self, rules.opmath(self.dtype))
    total = xp.sum(_pooled(xp, x, 0, kernel, stride, padding, dilation, places), axis=-1, dtype=x.dtype)
    divisor: Any = divisor_override
    if divisor is None:
        divisor = 1
        for axis in range(n):
            count = _counts(
                self.shape[axis - n],
                kernel[axis],
                stride[axis],
                padding[axis],
                places[axis],
                count_include_pad,
            )
            divisor = divisor * _along(xp, xp.asarray(count), axis, n)
    return rules.cast(
        xp, xp.trunc(total / divisor) if self.dtype.kind in "iu" else total / divisor, self.dtype
    )


# ------------------------------------------------------------------------------------ adaptive


def _adaptive_sizes(name: str, self: Array, output_size: Sizes, n: int) -> tuple[int, ...]:
    if self.ndim not in (n + 1, n + 2):
        raise RuntimeError(f"{name}: Expected {n + 1}D or {n + 2}D tensor, but got {list(self.shape)}")
    if any(size == 0 for size in self.shape[1 if self.ndim == n + 2 else 0 :]):
        raise RuntimeError(
            f"{name}: Expected input to have non-zero size for non-batch dimensions, but input has sizes "
            f"{list(self.shape)} with a dimension being empty"
        )
    sizes = per_dim(output_size, n)
    if min(sizes) < 0:
        raise RuntimeError(f"{name}: elements of output_size must be greater than or equal to 0")
    return sizes


def _adaptive_index(xp: Any, n: int, m: int) -> tuple[Array, Array]:
    """The elements of each of m nearly equal parts of n: indices (m, k), and which of the k count."""
    start = (xp.arange(m) * n) // max(m, 1)
    end = -((-(xp.arange(m) + 1) * n) // max(m, 1))
    width = int((end - start).max()) if m else 1
    index = start[:, None] + xp.arange(width)
    return xp.minimum(index, end[:, None] - 1), index < end[:, None]


def adaptive_avg_pool(xp: Any, self: Array, n: int, output_size: Sizes) -> Array:
    """The means of a given number of parts."""
    sizes = _adaptive_sizes(f"adaptive_avg_pool{n}d", self, output_size, n)
    x = rules.cast(xp, self, rules.opmath(self.dtype))
    for axis, size in enumerate(sizes, self.ndim - n):
        index, valid = _adaptive_index(xp, self.shape[axis], size)
        parts = xp.take(x, index, axis=axis)
        shape = (*index.shape, *(1,) * (self.ndim - 1 - axis))
        weight = valid / xp.maximum(valid.sum(axis=1, keepdims=True), 1)
        x = xp.sum(parts * weight.astype(x.dtype).reshape(shape), axis=axis + 1)
    return rules.cast(xp, x, self.dtype)


def adaptive_max_pool(xp: Any, self: Array, n: int, output_size: Sizes) -> tuple[Array, Array]:
    """The largest elements of a given number of parts, and their indices in the plane."""
    sizes = _adaptive_sizes(f"adaptive_max_pool{n}d", self, output_size, n)
    found = [_adaptive_index(xp, self.shape[axis - n], m)[0] for axis, m in enumerate(sizes)]
    place: Any = 0
    for axis, index in enumerate(found):  # places of the plane: (*sizes, *widths)
        shape = [1] * (2 * n)
        shape[axis], shape[n + axis] = index.shape
        place = place * self.shape[axis - n] + index.reshape(shape)
    plane = self.reshape(*self.shape[:-n], math.prod(self.shape[-n:]))
    place = place.reshape(*sizes, math.prod(place.shape[n:]))
    flat = xp.take(plane, place, axis=-1)
    best = xp.argmax(flat, axis=-1)[..., None]
    index = xp.take_along_axis(xp.broadcast_to(place, flat.shape), best, -1)[..., 0]
    return xp.take_along_axis(flat, best, -1)[..., 0], index


def max_unpool(xp: Any, self: Array, indices: Array, output_size: Sizes, n: int) -> Array:
    """Zeros with the elements of `self` at `indices` of each plane."""
    if indices.dtype != rules.INT64:
        raise RuntimeError(
            f"elements in indices should be type int64 but got: {rules.NAME_OF[indices.dtype]}"
        )
    if indices.shape != self.shape:
        raise RuntimeError(
            f"Expected shape of indices to be: {list(self.shape)} but got: {list(indices.shape)}"
        )
    if self.ndim not in (n + 1, n + 2):
        raise RuntimeError(
            f"Input to max_unpooling{n}d should be a {n + 1}d or {n + 2}d Tensor, but got a tensor with "
            f"{self.ndim} dimensions."
        )
    if rules.CATEGORY_OF[self.dtype] != rules.FLOATING:
        rules.refuse(f"max_unpool{n}d", self.dtype)
    lead, sizes = self.shape[:-n], rules.check_sizes(output_size)
    if len(sizes) != n:
        named = "two elements (height, width)" if n == 2 else "three elements (depth, height, width)"
        raise RuntimeError(f"There should be exactly {named} in output_size, but got {len(sizes)} elements.")
    plane = math.prod(sizes)
    flat = xp.zeros((*lead, plane), dtype=self.dtype)
    places = indices.reshape(*lead, -1)
    if places.size and (int(places.min()) < 0 or int(places.max()) >= plane):
        wrong = int(places.reshape(-1)[int(xp.argmax((places < 0) | (places >= plane)))])
        volume = "x".join(map(str, sizes))
        raise RuntimeError(f"Found an invalid max index: {wrong} (output volumes are of size {volume})")
    xp.put_along_axis(flat, places, self.reshape(*lead, -1), -1)
    return flat.reshape(*lead, *sizes)


# ------------------------------------------------------------------------------------ the records


def _enter(
    text: str,
    kernel: Callable[..., Any],
    n: int,
    out: str | None,
    returns: str = "Tensor",
    names: str = "out",
) -> None:
    def bound(xp: Any, self: Array, *args: Any) -> Any:
        return kernel(xp, self, n, *args)

    record = add(Record(f"aten::{text} -> {returns}", bound, "pool", where="f"))
    if out is not None:
        add(out_of(record, out, names))


def _only_values(xp: Any, self: Array, n: int, *args: Any) -> Array:
    return max_pool(xp, self, n, *args)[0]


def _unpool2d(xp: Any, self: Array, n: int, indices: Array, output_size: Sizes) -> Array:
    return max_unpool(xp, self, indices, output_size, n)


def _unpool3d(xp: Any, self: Array, n: int, indices: Array, output_size: Sizes, *_: Sizes) -> Array:
    return max_unpool(xp, self, indices, output_size, n)


_BOTH = "(Tensor, Tensor)"
for _n in (1, 2, 3):
    _k, _s = f"int[{_n}] kernel_size", f"int[{_n}] stride=[]"
    _p, _d = ("[0]", "[1]") if _n == 1 else ("0", "1")
    _window = f"(Tensor self, {_k}, {_s}, int[{_n}] padding={_p}"
    _max = f"{_window}, int[{_n}] dilation={_d}, bool ceil_mode=False)"
    _override = "" if _n == 1 else ", int? divisor_override=None"
    _whole = "SymInt" if _n > 1 else "int"
    _outs = "out,indices"
    _enter(f"max_pool{_n}d{_max}", _only_values, _n, None)
    _enter(f"max_pool{_n}d_with_indices{_max}", max_pool, _n, None if _n == 1 else "out", _BOTH, _outs)
    _enter(
        f"avg_pool{_n}d{_window}, bool ceil_mode=False, bool count_include_pad=True{_override})",
        avg_pool,
        _n,
        "out",
    )
    _enter(f"adaptive_avg_pool{_n}d(Tensor self, {_whole}[{_n}] output_size)", adaptive_avg_pool, _n, "out")
    _enter(
        f"adaptive_max_pool{_n}d(Tensor self, int[{_n}] output_size)",
        adaptive_max_pool,
        _n,
        None if _n == 1 else "out",
        _BOTH,
        _outs,
    )
_enter("max_unpool2d(Tensor self, Tensor indices, SymInt[2] output_size)", _unpool2d, 2, "out")
_enter(
    "max_unpool3d(Tensor self, Tensor indices, SymInt[3] output_size, int[3] stride, int[3] padding)",
    _unpool3d,
    3,
    "out",
)
