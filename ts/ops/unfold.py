"""Sliding windows (im2col) as strided views for convolutions, pooling and `unfold`, and their sum (col2im).

The last n dimensions of an array are spatial. In each of them, a window has a kernel size, stride, padding
and dilation. `sliding_window_view` returns a view with dimensions for window positions and kernel elements.
For example, 3 x 3 windows of (N, C, H, W) are a view (N, C, H - 2, W - 2, 3, 3).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

from ts._core.tensor.size_guards import equal, evaluate_guard
from ts.ops import common
from ts.ops.out_variants import SCALAR
from ts.ops.registry import op

Array = common.Array
Sizes = Sequence[int]


def per_dim(value: Sizes, n: int) -> tuple[int, ...]:
    """Expand a one-element tuple to n dimensions."""
    return tuple(value) * n if len(value) == 1 else tuple(value)


def pad_or_crop(xp: Any, x: Array, pads: Sequence[tuple[int, int]], value: Any = 0) -> Array:
    """Pad the last len(pads) dimensions by (before, after) elements of `value`. Negative numbers crop."""
    lead = x.ndim - len(pads)
    cut = (slice(None),) * lead + tuple(
        slice(max(0, -a), n - max(0, -b)) for (a, b), n in zip(pads, x.shape[lead:], strict=True)
    )
    x = x[cut]
    if all(a <= 0 and b <= 0 for a, b in pads):
        return x
    grown = [(max(a, 0), max(b, 0)) for a, b in pads]
    shape = (*x.shape[:lead], *(n + a + b for n, (a, b) in zip(x.shape[lead:], grown, strict=True)))
    result = xp.full(shape, value, dtype=x.dtype)
    inside = tuple(slice(a, a + n) for n, (a, _) in zip(x.shape[lead:], grown, strict=True))
    result[(slice(None),) * lead + inside] = x
    return result


def sliding_window_view(xp: Any, x: Array, kernel: Sizes, stride: Sizes, dilation: Sizes) -> Array:
    """Return a view (..., *window_counts, *kernel) of all windows over the last len(kernel) dimensions."""
    n = len(kernel)
    lead, spatial, steps = x.shape[:-n], x.shape[-n:], x.strides[-n:]
    window_counts = [
        max(0, (size - d * (k - 1) - 1) // s + 1)
        for size, k, s, d in zip(spatial, kernel, stride, dilation, strict=True)
    ]
    # The stride of a dimension of size 1 is not multiplied, because it is not used and the product might
    # overflow.
    strides = (
        *x.strides[:-n],
        *(step * s if m > 1 else step for step, s, m in zip(steps, stride, window_counts, strict=True)),
        *(step * d if k > 1 else step for step, d, k in zip(steps, dilation, kernel, strict=True)),
    )
    return xp.lib.stride_tricks.as_strided(x, (*lead, *window_counts, *kernel), strides)


def im2col(
    xp: Any, x: Array, kernel: Sizes, stride: Sizes, pads: Sequence[tuple[int, int]], dilation: Sizes
) -> Array:
    """Return im2col windows: (N, C, *spatial) -> (N, C, *kernel, *window_counts)."""
    n = len(kernel)
    view = sliding_window_view(xp, pad_or_crop(xp, x, pads), kernel, stride, dilation)
    return view.transpose(0, 1, *range(2 + n, 2 + 2 * n), *range(2, 2 + n))


def col2im(xp: Any, cols: Array, size: Sizes, stride: Sizes, padding: Sizes, dilation: Sizes) -> Array:
    """Sum the windows `cols` of `im2col` into an array (N, C, *size), at their original positions."""
    n = len(size)
    kernel, window_counts = cols.shape[2 : 2 + n], cols.shape[2 + n :]
    canvas = xp.zeros(
        (*cols.shape[:2], *(s + 2 * p for s, p in zip(size, padding, strict=True))), dtype=cols.dtype
    )
    for kernel_index in itertools.product(*map(range, kernel)):
        slices = tuple(
            slice(i * d, i * d + (m - 1) * s + 1, s)
            for i, d, s, m in zip(kernel_index, dilation, stride, window_counts, strict=True)
        )
        canvas[(slice(None), slice(None), *slices)] += cols[(slice(None), slice(None), *kernel_index)]
    inside = tuple(slice(p, p + s) for s, p in zip(size, padding, strict=True))
    return canvas[(slice(None), slice(None), *inside)]


def out_size(
    n: int, kernel: int, stride: int, padding: int | tuple[int, int], dilation: int, ceil: bool = False
) -> int:
    """Return the number of windows along a dimension of n elements.

    If `ceil`, the last window may extend beyond the padding after the input, but must begin inside of the
    input or of the padding before it.
    """
    before, after = padding if isinstance(padding, tuple) else (padding, padding)
    free = n + before + after - dilation * (kernel - 1) - 1
    if not ceil:
        return free // stride + 1
    count = (free + stride - 1) // stride + 1
    return count - 1 if (count - 1) * stride >= n + before else count


# ------------------------------------------------------------------------------------ unfold and fold


def check_nonempty_dims(x: Array, spatial: int) -> None:
    """Raise RuntimeError for empty channel or spatial dimensions. An empty batch dimension is allowed."""
    if 0 in x.shape[1 if x.ndim == spatial + 2 else 0 :]:
        raise RuntimeError(
            f"Expected {spatial + 1}D or {spatial + 2}D (batch mode) tensor with possibly 0 batch size and "
            f"other non-zero dimensions for input, but got: {list(x.shape)}"
        )


def _batched(name: str, x: Array, ndim: int) -> Array:
    if x.ndim not in (ndim - 1, ndim):
        raise RuntimeError(
            f"{name}: Expected {ndim - 1}D or {ndim}D (batch mode) tensor for input, but got: {list(x.shape)}"
        )
    return x[None] if x.ndim == ndim - 1 else x


def _check_blocks(kernel: Sizes, dilation: Sizes, padding: Sizes, stride: Sizes) -> None:
    for name, short, values, minimum in (
        ("kernel size", "kernel", kernel, 1), ("dilation", "dilation", dilation, 1),
        ("padding", "pad", padding, 0), ("stride", "stride", stride, 1),
    ):  # fmt: skip
        if min(values) < minimum:
            raise RuntimeError(
                f"{name} should be {'greater than zero' if minimum else 'non-negative'}, but got "
                f"{short}_height: {values[0]} {short}_width: {values[1]}"
            )


@op(
    "aten::im2col(Tensor self, int[2] kernel_size, int[2] dilation, int[2] padding, int[2] stride) -> Tensor",
    out="out",
    where="f",
    dtype_errors={"i": "im2col_out_cpu"},
    out_dtype_error=SCALAR,
)
def _im2col(
    xp: Any, self: Array, kernel_size: Sizes, dilation: Sizes, padding: Sizes, stride: Sizes
) -> Array:
    x = _batched("im2col", self, 4)
    check_nonempty_dims(self, 2)
    kernel, step, gap, pad = (per_dim(v, 2) for v in (kernel_size, stride, dilation, padding))
    _check_blocks(kernel, gap, pad, step)
    window_counts = tuple(out_size(*v) for v in zip(x.shape[2:], kernel, step, pad, gap, strict=True))
    if min(window_counts) < 1:
        raise RuntimeError(
            f"Given input with spatial size {tuple(x.shape[2:])}, kernel_size={kernel}, dilation={gap}, "
            f"padding={pad}, calculated shape of the array of sliding blocks as {window_counts}, but its "
            "components must be at least one."
        )
    cols = im2col(xp, x, kernel, step, [(p, p) for p in pad], gap)
    result = cols.copy().reshape(x.shape[0], x.shape[1] * math.prod(kernel), math.prod(window_counts))
    return result[0] if x is not self else result


@op(
    "aten::col2im(Tensor self, SymInt[2] output_size, int[2] kernel_size, int[2] dilation, int[2] padding, "
    "int[2] stride) -> Tensor",
    out="out",
    where="f",
    dtype_errors={"i": "col2im_out_cpu"},
)
def _col2im(
    xp: Any,
    self: Array,
    output_size: Sizes,
    kernel_size: Sizes,
    dilation: Sizes,
    padding: Sizes,
    stride: Sizes,
) -> Array:
    x = _batched("col2im", self, 3)
    if 0 in x.shape[1:]:
        raise RuntimeError(
            "Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch size and non-zero "
            f"dimensions for input, but got: {list(self.shape)}"
        )
    size, kernel, gap, pad, step = (
        per_dim(v, 2) for v in (output_size, kernel_size, dilation, padding, stride)
    )
    _check_blocks(kernel, gap, pad, step)
    window_counts = [out_size(*v) for v in zip(size, kernel, step, pad, gap, strict=True)]
    area = math.prod(kernel)
    if evaluate_guard(x.shape[1] % area != 0):
        raise RuntimeError(
            "Expected size of input's dimension 1 to be divisible by the product of kernel_size, but got "
            f"input.size(1)={x.shape[1]} and kernel_size={kernel}."
        )
    if not equal(x.shape[2], math.prod(window_counts)):
        raise RuntimeError(
            f"Given output_size={size}, kernel_size={kernel}, dilation={gap}, padding={pad}, stride={step}, "
            f"expected size of input's dimension 2 to match the calculated number of sliding blocks "
            f"{' * '.join(map(str, window_counts))} = {math.prod(window_counts)}, "
            f"but got input.size(2)={x.shape[2]}."
        )
    cols = x.reshape(x.shape[0], x.shape[1] // area, *kernel, *window_counts)
    result = col2im(xp, cols, size, step, pad, gap)
    return result[0] if x is not self else result
