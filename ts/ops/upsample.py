"""Separable resampling (nearest neighbor, bilinear, trilinear, bicubic interpolation, antialiasing).

Input: an array (N, C, *spatial), the output size and optional scales. Output: an array (N, C, *output size).
One dimension is resampled at a time. For each output position, the mode determines source positions (taps)
and their weights.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

from ts._core.tensor.size_guards import equal_shapes
from ts.ops import common
from ts.ops.out_variants import EXPECTED_DTYPE_ERROR
from ts.ops.registry import op
from ts.ops.shape_functions import ShapeAndDtype

Array = common.Array
Sizes = Sequence[int]
# (indices, weights): two arrays of shape (output size, number of taps). If weights is None, there is one tap,
# whose weight is 1
Taps = tuple[Array, Array | None]

_MAX_CACHED_POSITIONS = 4096  # taps of larger outputs are not cached
CUBIC_COEFFICIENT = -0.75  # PyTorch's coefficient of the cubic convolution


def _step(n: int, m: int, scale: float | None) -> float:
    return 1.0 / scale if scale else n / m


def _nearest(xp: Any, n: int, m: int, scale: float | None, align: bool) -> Taps:
    return xp.minimum(xp.floor(xp.arange(m) * _step(n, m, scale)).astype(common.INT64), n - 1)[:, None], None


def _nearest_exact(xp: Any, n: int, m: int, scale: float | None, align: bool) -> Taps:
    positions = xp.floor((xp.arange(m) + 0.5) * _step(n, m, scale)).astype(common.INT64)
    return xp.minimum(positions, n - 1)[:, None], None


def _source(xp: Any, n: int, m: int, scale: float | None, align: bool) -> Array:
    if align:
        return xp.arange(m) * ((n - 1) / (m - 1) if m > 1 else 0.0)
    return (xp.arange(m) + 0.5) * _step(n, m, scale) - 0.5


def _linear(xp: Any, n: int, m: int, scale: float | None, align: bool) -> Taps:
    source_position = xp.maximum(_source(xp, n, m, scale, align), 0)
    low = xp.minimum(xp.floor(source_position).astype(common.INT64), n - 1)
    fraction = xp.clip(source_position - low, 0, 1)
    return xp.stack([low, xp.minimum(low + 1, n - 1)], 1), xp.stack([1 - fraction, fraction], 1)


def cubic_weights(xp: Any, fraction: Array) -> Array:
    """Return the bicubic weights of four neighbors, for a point at `fraction` between the middle two."""

    def near(t: Array) -> Array:
        return ((CUBIC_COEFFICIENT + 2) * t - (CUBIC_COEFFICIENT + 3)) * t * t + 1

    def far(t: Array) -> Array:
        a = CUBIC_COEFFICIENT
        return ((a * t - 5 * a) * t + 8 * a) * t - 4 * a

    return xp.stack([far(fraction + 1), near(fraction), near(1 - fraction), far(2 - fraction)], -1)


def cubic_slopes(xp: Any, fraction: Array) -> Array:
    """Return the derivatives of the cubic weights with respect to `fraction`."""

    def near(t: Array) -> Array:
        return (3 * (CUBIC_COEFFICIENT + 2) * t - 2 * (CUBIC_COEFFICIENT + 3)) * t

    def far(t: Array) -> Array:
        return (3 * CUBIC_COEFFICIENT * t - 10 * CUBIC_COEFFICIENT) * t + 8 * CUBIC_COEFFICIENT

    return xp.stack([far(fraction + 1), near(fraction), -near(1 - fraction), -far(2 - fraction)], -1)


def _cubic(xp: Any, n: int, m: int, scale: float | None, align: bool) -> Taps:
    source_position = _source(xp, n, m, scale, align)
    low = xp.floor(source_position)
    index = xp.clip(low.astype(common.INT64)[:, None] + xp.arange(-1, 3), 0, n - 1)
    return index, cubic_weights(xp, source_position - low)


def _lanczos_filter(xp: Any, x: Array) -> Array:
    """Return the weights of the Lanczos filter of radius 3 at distances x."""
    return xp.where(xp.abs(x) < 3, xp.sinc(x) * xp.sinc(x / 3), 0)


def _cubic_filter(xp: Any, x: Array) -> Array:
    x = xp.abs(x)
    a = -0.5  # image libraries use this coefficient, and PyTorch uses it for antialiasing
    near, far = ((a + 2) * x - (a + 3)) * x * x + 1, ((x - 5) * x + 8) * x * a - 4 * a
    return xp.where(x < 1, near, xp.where(x < 2, far, 0))


def _linear_filter(xp: Any, x: Array) -> Array:
    return xp.maximum(1 - xp.abs(x), 0)


def _antialiased(weigh: Callable[[Any, Array], Array], radius: int) -> Callable[..., Taps]:
    """Return a function that computes the taps of an antialiasing filter.

    The filter has the weight `weigh(xp, x)` at distance x, up to `radius`. Downscaling widens the filter.
    """

    def taps(xp: Any, n: int, m: int, scale: float | None, align: bool) -> Taps:
        if xp.shapes_only:  # the result's shape does not depend on the taps
            return xp.empty((m, 1), dtype=common.INT64), xp.empty((m, 1), dtype=common.DOUBLE)
        step = _step(n, m, scale)
        if align:
            step = (n - 1) / (m - 1) if m > 1 else 0.0
        stretch = max(step, 1.0)
        centre = step * (xp.arange(m) + 0.5)
        first = xp.maximum((centre - radius * stretch + 0.5).astype(common.INT64), 0)
        end = xp.minimum((centre + radius * stretch + 0.5).astype(common.INT64), n)
        width = min(n, 2 * math.ceil(radius * stretch) + 1)
        index = first[:, None] + xp.arange(width)
        weight = weigh(xp, (index - centre[:, None] + 0.5) / stretch)
        weight = xp.where(index < end[:, None], weight, 0)
        total = xp.sum(weight, axis=1, keepdims=True)
        return xp.minimum(index, n - 1), weight / xp.where(total == 0, 1, total)

    return taps


def _check_sizes(x: Array, size: Sizes) -> None:
    n = len(size)
    if x.ndim != n + 2:
        raise RuntimeError(f"It is expected input_size equals to {n + 2}, but got size {x.ndim}")
    if min(size) <= 0 or min(x.shape[2:]) <= 0:
        names = "DHW"[3 - n :]
        input_text, output_text = (
            ", ".join(f"{d}: {m}" for d, m in zip(names, s, strict=True)) for s in (x.shape[2:], size)
        )
        between = " output" if n == 2 else " and output"
        raise RuntimeError(
            f"Input and output sizes should be greater than 0, but got "
            f"input ({input_text}){between} ({output_text})"
        )
    if x.shape[1] == 0:
        raise RuntimeError(
            f"Non-empty {n + 2}D data tensor expected but got a tensor with sizes {list(x.shape)}"
        )


def _taps(xp: Any, taps: Callable[..., Taps], n: int, m: int, scale: float | None, align: bool) -> Taps:
    """Return the taps along one dimension of size n for m outputs. Taps are cached if m is small."""
    if xp.shapes_only or m > _MAX_CACHED_POSITIONS:
        return taps(xp, n, m, scale, align)
    return _cached_taps(xp, taps, n, m, scale, align)


@functools.lru_cache(maxsize=64)
def _cached_taps(
    xp: Any, taps: Callable[..., Taps], n: int, m: int, scale: float | None, align: bool
) -> Taps:
    return taps(xp, n, m, scale, align)


def resample(
    xp: Any,
    name: str,
    x: Array,
    size: Sizes,
    scales: Sequence[float | None],
    taps: Callable[..., Taps],
    align: bool = False,
) -> Array:
    """Resample the last len(size) dimensions of x to `size`."""
    _check_sizes(x, size)
    bytes_too = taps in (_nearest, _nearest_exact) or len(size) == 2
    if common.CATEGORY_OF[x.dtype] != common.FLOATING and not (x.dtype == common.UINT8 and bytes_too):
        common.raise_unsupported_dtype(name, x.dtype)
    keys = [(n, m, s, align) for n, m, s in zip(x.shape[2:], size, scales, strict=True)]
    if x.dtype == common.UINT8 and taps not in (_nearest, _nearest_exact) and not xp.shapes_only:
        for axis, key in reversed(list(enumerate(keys, 2))):
            if key[1] <= _MAX_CACHED_POSITIONS:
                x = xp.weighted_bytes(x, axis, *_cached_integer_taps(xp, taps, *key))
            else:
                index, weight = taps(xp, *key)
                x = xp.weighted_bytes(x, axis, index, *_fixed_point_weights(xp, index, weight))
        return x
    taps_per_dim = [_taps(xp, taps, *key) for key in keys]
    wide = common.cast(xp, x, common.opmath(x.dtype))
    for axis, (index, weight) in reversed(list(enumerate(taps_per_dim, 2))):
        if weight is None:
            wide = xp.take(wide, index[:, 0], axis=axis)
        else:
            wide = xp.weighted_sums(wide, axis, index, weight.astype(wide.dtype))
    return common.cast(xp, wide, x.dtype)


def _invert_taps(xp: Any, taps: Taps, n: int) -> Taps:
    """Return for each source element the indices of the outputs that read it, and their weights.

    Both arrays are padded with zeros to the maximum number of outputs.
    """
    index, weight = taps
    outputs = xp.repeat(xp.arange(index.shape[0]), index.shape[1])
    sources = index.reshape(-1)
    order = xp.argsort(sources, kind="stable")
    sources, outputs = sources[order], outputs[order]
    counts = xp.bincount(sources, minlength=n)
    slot = xp.arange(sources.size) - (xp.cumsum(counts) - counts)[sources]
    max_count = int(counts.max())
    readers, shares = xp.zeros((n, max_count), dtype=common.INT64), xp.zeros((n, max_count))
    readers[sources, slot] = outputs
    shares[sources, slot] = 1.0 if weight is None else weight.reshape(-1)[order]
    return readers, shares


@functools.lru_cache(maxsize=64)
def _cached_inverse_taps(xp: Any, taps: Callable[..., Taps], n: int, *key: Any) -> Taps:
    return _invert_taps(xp, _taps(xp, taps, n, *key), n)


def resample_backward(
    xp: Any,
    grad: Array,
    size: Sizes,
    input_size: Sizes,
    scales: Sequence[float | None],
    taps: Callable[..., Taps],
    align: bool,
) -> Array:
    """Return the input gradient of `resample`: a weighted sum over the outputs that read an element."""
    _gradient_shape(grad, size, input_size)
    wide = common.cast(xp, grad, common.opmath(grad.dtype))
    for axis in range(2, grad.ndim):
        n, m = input_size[axis], size[axis - 2]
        key = (n, m, scales[axis - 2], align)
        index, weight = (
            _cached_inverse_taps(xp, taps, *key)
            if m <= _MAX_CACHED_POSITIONS
            else _invert_taps(xp, taps(xp, *key), n)
        )
        assert weight is not None
        wide = xp.weighted_sums(wide, axis, index, weight.astype(wide.dtype))
    return common.cast(xp, wide, grad.dtype)


def _gradient_shape(grad_output: Array, output_size: Sizes, input_size: Sizes, *_: Any) -> ShapeAndDtype:
    """Return shape and dtype of the input gradient after checking the output gradient's shape."""
    expected_shape = (*input_size[:2], *output_size)
    if len(input_size) != len(output_size) + 2 or not equal_shapes(grad_output.shape, expected_shape):
        raise RuntimeError(
            f"Expected a gradient of size {list(expected_shape)} for an input of size {list(input_size)}, "
            f"but got {list(grad_output.shape)}"
        )
    return tuple(input_size), grad_output.dtype


def _fixed_point_weights(xp: Any, index: Array, weight: Array) -> tuple[Array, int]:
    """Convert weights for uint8 images to fixed-point numbers.

    Return these numbers, and their number of fractional bits.
    """
    weight = weight.copy()
    for t in range(1, index.shape[1]):  # add up the weights of a border element that is read twice
        again = index[:, t] == index[:, t - 1]
        weight[:, t] += xp.where(again, weight[:, t - 1], 0)
        weight[:, t - 1] = xp.where(again, 0, weight[:, t - 1])
    largest = float(common.number_in(xp, weight.max()))
    fraction_bits = 0
    while fraction_bits < 22 and int(0.5 + largest * (1 << (fraction_bits + 1))) < 1 << 15:
        fraction_bits += 1
    return xp.trunc(weight * (1 << fraction_bits) + xp.where(weight < 0, -0.5, 0.5)).astype(
        common.INT32
    ), fraction_bits


@functools.lru_cache(maxsize=64)
def _cached_integer_taps(xp: Any, taps: Callable[..., Taps], *key: Any) -> tuple[Array, Array, int]:
    index, weight = _cached_taps(xp, taps, *key)
    assert weight is not None
    return index, *_fixed_point_weights(xp, index, weight)


def output_size(x: Array, size: Sizes | None, factors: Sequence[float] | None) -> list[int]:
    """Return the output size: `size`, or the input sizes times the factors."""
    if (size is None) == (factors is None):
        raise RuntimeError("Must specify exactly one of output_size and scale_factors")
    if size is not None:
        return list(size)
    assert factors is not None
    # As in PyTorch, the expression of a symbolic size has no conversion to float if the factor is an integer.
    sizes = [n * (int(f) if float(f).is_integer() else f) for n, f in zip(x.shape[2:], factors, strict=False)]
    if not all(abs(s) < 2.0**63 for s in sizes):
        raise RuntimeError("value cannot be converted to type int64_t without overflow")
    return [math.trunc(s) for s in sizes]


def _enter(name: str, n: int, taps: Callable[..., Taps], aligned: bool, order: str = "") -> None:
    kernel_name = name if taps in (_nearest, _nearest_exact) or n == 2 else "compute_indices_weights_linear"

    # The parameters after the size are `align_corners` (only if the mode has this parameter), then one scale
    # for each dimension.
    scale_names = ("scales",) if n == 1 else tuple(f"scales_{d}" for d in "dhw"[3 - n :])
    corners = "bool align_corners, " if aligned else ""
    scales = ", ".join(f"float? {s}=None" for s in scale_names)

    def by_size(xp: Any, self: Array, size: Sizes, *rest: Any) -> Array:
        align = bool(rest[0]) if aligned else False
        return resample(xp, kernel_name, self, size, rest[1:] if aligned else rest, taps, align)

    def by_factors(xp: Any, input: Array, size: Sizes | None, *rest: Any) -> Array:
        factors = rest[-1]
        sizes = output_size(input, size, factors)
        if len(sizes) != n:
            raise RuntimeError(f"It is expected output_size equals to {n}, but got size {len(sizes)}")
        align = bool(rest[0]) if aligned else False
        return resample(xp, kernel_name, input, sizes, factors or [None] * n, taps, align)

    for parameters, kernel in (
        (f"(Tensor self, SymInt[{n}] output_size, {corners}{scales})", by_size),
        (f".vec(Tensor input, SymInt[]? output_size, {corners}float[]? scale_factors)", by_factors),
    ):
        # In PyTorch, only these two modes have an `out=` variant of the overload `vec`.
        vec_out = "vec_out" if name in ("upsample_nearest2d", "upsample_bilinear2d") else ()
        op(
            f"aten::{name}{parameters} -> Tensor",
            where="f",
            out="out" if kernel is by_size else vec_out,
            layout="channels" if n > 1 else "contiguous",
            dtype_errors={"h": "compute_index_ranges_weights"} if name.endswith("_aa") else None,
            order=order,
            out_dtype_error=EXPECTED_DTYPE_ERROR if kernel is by_size else "",
            autocast={} if name == "_upsample_lanczos2d_aa" else {"cuda": "float32"},
        )(kernel)


def _enter_gradient(name: str, n: int, taps: Callable[..., Taps], aligned: bool) -> None:
    scale_names = ("scales",) if n == 1 else tuple(f"scales_{d}" for d in "dhw"[3 - n :])
    corners = "bool align_corners, " if aligned else ""
    scales = ", ".join(f"float? {s}=None" for s in scale_names)
    aa = name.endswith("_aa")

    @op(
        f"aten::{name}_backward(Tensor grad_output, SymInt[{n}] output_size, SymInt[{n + 2}] input_size, "
        f"{corners}{scales}) -> Tensor",
        where="",
        out="grad_input",
        shape=_gradient_shape,
        layout="channels" if n > 1 else "contiguous",
        dtype_errors={"bihc": f"{name[1:]}_backward_cpu"} if aa else {"bic": f"{name}_backward"},
    )
    def backward(xp: Any, grad_output: Array, size: Sizes, input_size: Sizes, *rest: Any) -> Array:
        align = bool(rest[0]) if aligned else False
        return resample_backward(
            xp, grad_output, size, input_size, rest[1:] if aligned else rest, taps, align
        )


#     name                      dims taps       align_corners, order
for _row in (
    ("upsample_nearest1d", 1, _nearest, False),
    ("upsample_nearest2d", 2, _nearest, False),
    ("upsample_nearest3d", 3, _nearest, False),
    ("_upsample_nearest_exact1d", 1, _nearest_exact, False, "- out"),
    ("_upsample_nearest_exact2d", 2, _nearest_exact, False, "- out"),
    ("_upsample_nearest_exact3d", 3, _nearest_exact, False, "- out"),
    ("upsample_linear1d", 1, _linear, True),
    ("upsample_bilinear2d", 2, _linear, True),
    ("upsample_trilinear3d", 3, _linear, True),
    ("upsample_bicubic2d", 2, _cubic, True),
    ("_upsample_bilinear2d_aa", 2, _antialiased(_linear_filter, 1), True),
    ("_upsample_bicubic2d_aa", 2, _antialiased(_cubic_filter, 2), True),
    ("_upsample_lanczos2d_aa", 2, _antialiased(_lanczos_filter, 3), True, "- out"),
):
    _enter(*_row)
    _enter_gradient(*_row[:4])
