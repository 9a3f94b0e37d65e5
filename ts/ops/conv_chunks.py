"""Convolutions by matrix products of windows (im2col), in chunks of images with limited memory for windows.

Input: the geometry of a convolution (`ts.ops.conv`) and arrays. Output: the result, or the gradient of the
weight. The windows of 16-bit inputs have 16 bits, and their products are added in float32 and rounded once.

The functions have the signatures of `product` and `weight_gradient` in `ts.ops.conv`. They run on devices
that multiply 16-bit floats (CUDA). CuPy 14 has no interface to cuDNN.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from ts.ops import common
from ts.ops.unfold import col2im, im2col, pad_or_crop, sliding_window_view

MAX_WINDOW_ELEMENTS = 1 << 27  # maximum number of elements in the windows of a chunk with several images
Array = common.Array
Geometry = Any  # `ts.ops.conv.Geometry`


def compute(xp: Any, g: Geometry, input: Array, weight: Array, bias: Array | None) -> Array:
    """Compute the convolution `g`."""
    x = input if g.batched else input[None]
    result = xp.empty((x.shape[0], *g.shape), dtype=input.dtype)
    windows = x.shape[2:] if g.transposed else g.output_size
    for images in _chunks(x.shape[0], weight[0].size * g.groups * math.prod(windows)):
        values = _transposed(xp, g, x[images], weight) if g.transposed else _plain(xp, g, x[images], weight)
        if bias is not None:
            values = values + common.cast(xp, bias, values.dtype).reshape(-1, *(1,) * len(g.kernel))
        result[images] = values
    return result if g.batched else result[0]


def _plain(xp: Any, g: Geometry, x: Array, weight: Array) -> Array:
    depth = weight.shape[1] * math.prod(g.kernel)
    windows = im2col(xp, x, g.kernel, g.stride, g.pads, g.dilation)
    windows = windows.reshape(x.shape[0], g.groups, depth, math.prod(g.output_size))
    rows = weight.reshape(g.groups, g.filters // g.groups, depth)
    return xp.wide_products(rows, windows).reshape(x.shape[0], *g.shape)


def _transposed(xp: Any, g: Geometry, x: Array, weight: Array) -> Array:
    size, channels = x.shape[2:], weight.shape[0] // g.groups
    rows = weight.reshape(g.groups, channels, weight[0].size).swapaxes(1, 2)
    flat = x.reshape(x.shape[0], g.groups, channels, math.prod(size))
    windows = xp.wide_products(rows, flat).reshape(x.shape[0], g.filters, *g.kernel, *size)
    return col2im(xp, windows, g.output_size, g.stride, [a for a, _ in g.pads], g.dilation)


def weight_gradient(xp: Any, g: Geometry, windowed: Array, other: Array) -> Array:
    """Return the gradient of the weight, as `ts.ops.conv.weight_gradient` does."""
    images, lead, output_size = other.shape[0], other.shape[1], other.shape[2:]
    area, groups, n = math.prod(g.kernel), g.groups, len(g.kernel)
    channels = windowed.shape[1] // groups
    total = xp.zeros((groups, lead // groups, channels * area), dtype=common.opmath(windowed.dtype))
    for chunk in _chunks(images, windowed.shape[1] * area * math.prod(output_size)):
        padded = pad_or_crop(xp, windowed[chunk], g.pads)
        view = sliding_window_view(xp, padded, g.kernel, g.stride, g.dilation)
        view = view[(slice(None), slice(None), *map(slice, output_size))]
        view = view.transpose(1, *range(2 + n, 2 + 2 * n), 0, *range(2, 2 + n))
        windows = view.reshape(groups, total.shape[2], math.prod(view.shape[1 + n :]))
        rows = other[chunk].swapaxes(0, 1).reshape(groups, lead // groups, windows.shape[2])
        total += xp.wide_products(rows, windows.swapaxes(1, 2))
    return total.reshape(lead, channels, *g.kernel).astype(windowed.dtype, copy=False)


def _chunks(images: int, elements: int) -> Iterator[slice]:
    """Yield slices of images. `elements` is the number of elements in the windows of one image."""
    step = max(1, MAX_WINDOW_ELEMENTS // max(1, elements))
    for first in range(0, images, step):
        yield slice(first, min(first + step, images))
