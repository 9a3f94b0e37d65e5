"""Resampling: `interpolate` in every mode, one dimension after the other.

In: (N, C, *spatial), the output size, scales where the user gave them; out: (N, C, *output size).
A mode gives, for each output place of one dimension, the source places it reads (taps) and their weights.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from ts.ops import rules
from ts.ops.registry import Record, add, out_of

Array = rules.Array
Sizes = Sequence[int]
Taps = tuple[Array, Array | None]  # indices (m, taps) and weights (m, taps); None: one tap of weight 1

CUBIC = -0.75  # PyTorch's coefficient of the cubic convolution


def _step(n: int, m: int, scale: float | None) -> float:
    return 1.0 / scale if scale else n / m


def _nearest(xp: Any, n: int, m: int, scale: float | None, align: bool) -> Taps:
    return xp.minimum(xp.floor(xp.arange(m) * _step(n, m, scale)).astype(rules.INT64), n - 1)[:, None], None


def _nearest_exact(xp: Any, n: int, m: int, scale: float | None, align: bool) -> Taps:
    places = xp.floor((xp.arange(m) + 0.5) * _step(n, m, scale)).astype(rules.INT64)
    return xp.minimum(places, n - 1)[:, None], None


def _source(xp: Any, n: int, m: int, scale: float | None, align: bool) -> Array:
    if align:
        return xp.arange(m) * ((n - 1) / (m - 1) if m > 1 else 0.0)
    return (xp.arange(m) + 0.5) * _step(n, m, scale) - 0.5


def _linear(xp: Any, n: int, m: int, scale: float | None, align: bool) -> Taps:
    at = xp.maximum(_source(xp, n, m, scale, align), 0)
    low = xp.minimum(xp.floor(at).astype(rules.INT64), n - 1)
    part = xp.clip(at - low, 0, 1)
    return xp.stack([low, xp.minimum(low + 1, n - 1)], 1), xp.stack([1 - part, part], 1)


def cubic_weights(xp: Any, part: Array) -> Array:
    """The weights of the four neighbours at a fraction `part` after the second."""

    def near(t: Array) -> Array:
        return ((CUBIC + 2) * t - (CUBIC + 3)) * t * t + 1

    def far(t: Array) -> Array:
        return ((CUBIC * t - 5 * CUBIC) * t + 8 * CUBIC) * t - 4 * CUBIC

    return xp.stack([far(part + 1), near(part), near(1 - part), far(2 - part)], -1)


def _cubic(xp: Any, n: int, m: int, scale: float | None, align: bool) -> Taps:
    at = _source(xp, n, m, scale, align)
    low = xp.floor(at)
    index = xp.clip(low.astype(rules.INT64)[:, None] + xp.arange(-1, 3), 0, n - 1)
    return index, cubic_weights(xp, at - low)


def resampled(
    xp: Any,
    x: Array,
    size: Sizes,
    scales: Sequence[float | None],
    taps: Callable[..., Taps],
    align: bool = False,
) -> Array:
    """x with its last len(size) dimensions resampled to `size`."""
    if x.ndim != len(size) + 2:
        raise RuntimeError(f"It is expected input_size equals to {len(size) + 2}, but got size {x.ndim}")
    if min(size) <= 0 or min(x.shape[2:]) <= 0:
        raise RuntimeError(
            f"Input and output sizes should be greater than 0, but got input (H: {x.shape[-2]}, "
            f"W: {x.shape[-1]}) output (H: {size[0]}, W: {size[-1]})"
        )
    wide = rules.cast(xp, x, rules.opmath(x.dtype))
    for axis, (m, scale) in enumerate(zip(size, scales, strict=True), 2):
        index, weight = taps(xp, x.shape[axis], m, scale, align)
        if weight is None:
            wide = xp.take(wide, index[:, 0], axis=axis)
            continue
        shape = [-1 if d == axis else 1 for d in range(x.ndim)]
        wide = sum(
            xp.take(wide, index[:, t], axis=axis) * weight[:, t].astype(wide.dtype).reshape(shape)
            for t in range(index.shape[1])
        )
    return rules.cast(xp, wide, x.dtype)


def output_size(x: Array, size: Sizes | None, factors: Sequence[float] | None) -> list[int]:
    """The size asked for: given, or the input's times the factors."""
    if (size is None) == (factors is None):
        raise RuntimeError("Must specify exactly one of output_size and scale_factors")
    if size is not None:
        return list(size)
    assert factors is not None
    return [math.floor(n * f) for n, f in zip(x.shape[2:], factors, strict=True)]


def _enter(name: str, n: int, taps: Callable[..., Taps], aligned: bool) -> None:
    # Arguments after the size: align_corners where the mode has it, then a scale for each dimension.
    scale_names = ("scales",) if n == 1 else tuple(f"scales_{d}" for d in "dhw"[3 - n :])
    corners = "bool align_corners, " if aligned else ""
    scales = ", ".join(f"float? {s}=None" for s in scale_names)

    def by_size(xp: Any, self: Array, size: Sizes, *rest: Any) -> Array:
        align = bool(rest[0]) if aligned else False
        return resampled(xp, self, size, rest[1:] if aligned else rest, taps, align)

    def by_factors(xp: Any, input: Array, size: Sizes | None, *rest: Any) -> Array:
        factors = rest[-1]
        sizes = output_size(input, size, factors)
        align = bool(rest[0]) if aligned else False
        return resampled(xp, input, sizes, factors or [None] * n, taps, align)

    for text, kernel in (
        (f"(Tensor self, SymInt[{n}] output_size, {corners}{scales})", by_size),
        (f".vec(Tensor input, SymInt[]? output_size, {corners}float[]? scale_factors)", by_factors),
    ):
        record = add(Record(f"aten::{name}{text} -> Tensor", kernel, "resample", where="f"))
        if kernel is by_size:
            add(out_of(record, "out"))
        elif name in ("upsample_nearest2d", "upsample_bilinear2d"):  # the two that PyTorch has
            add(out_of(record, "vec_out"))


#     name                      dims taps       align_corners
for _row in (
    ("upsample_nearest1d", 1, _nearest, False),
    ("upsample_nearest2d", 2, _nearest, False),
    ("upsample_nearest3d", 3, _nearest, False),
    ("_upsample_nearest_exact1d", 1, _nearest_exact, False),
    ("_upsample_nearest_exact2d", 2, _nearest_exact, False),
    ("_upsample_nearest_exact3d", 3, _nearest_exact, False),
    ("upsample_linear1d", 1, _linear, True),
    ("upsample_bilinear2d", 2, _linear, True),
    ("upsample_trilinear3d", 3, _linear, True),
    ("upsample_bicubic2d", 2, _cubic, True),
):
    _enter(*_row)
