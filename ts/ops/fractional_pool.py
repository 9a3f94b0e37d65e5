"""Fractional max pooling, whose windows have one size and pseudorandom steps.

Input: an array (N, C, *spatial) or (C, *spatial), and random samples in [0, 1). Each plane needs one sample
per dimension. Output: the maxima, and their indices in the flattened plane.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ts._core.tensor.size_guards import equal, evaluate_guard
from ts.ops import common
from ts.ops.pooling import add_at_indices, check_index_shape, like_input
from ts.ops.registry import op
from ts.ops.shape_functions import ShapeAndDtype
from ts.ops.unfold import per_dim

Array = common.Array
Sizes = Sequence[int]


def _starts(xp: Any, sample: Array, n: int, m: int, kernel: int) -> Array:
    """Return the start indices (planes, m) of m windows in n elements.

    The last window ends at the last element.
    """
    last = xp.full((sample.shape[0], 1), n - kernel, dtype=common.INT64)
    if m == 1:
        return last
    step = sample.dtype.type((n - kernel) / (m - 1))
    window = xp.arange(m - 1).astype(sample.dtype)
    start = xp.trunc((sample[:, None] + window) * step) - xp.trunc(sample * step)[:, None]
    # A sample that is NaN or outside of [0, 1) is invalid. Keep its windows inside of the input.
    start = xp.clip(xp.nan_to_num(start), 0, n - kernel)
    return xp.concatenate([start.astype(common.INT64), last], 1)


def _pooled(
    xp: Any, self: Array, kernel_size: Sizes, output_size: Sizes, random_samples: Array, n: int
) -> tuple[Array, Array]:
    name = f"fractional_max_pool{n}d" + ("_out" if n == 3 else "")
    for argument_name, sizes in (("kernel_size", kernel_size), ("output_size", output_size)):
        if len(sizes) != n:
            expected_type = "tuple of three Ints" if n == 3 else "tuple of Ints"
            raise RuntimeError(
                f"fractional_max_pool{n}d: {argument_name} must either be a single Int or {expected_type}"
            )
    if self.ndim not in (n + 1, n + 2):
        raise RuntimeError(f"{name}(): Expected {n + 1}D or {n + 2}D tensor, but got: {list(self.shape)}")
    kernel, output_sizes, sizes = per_dim(kernel_size, n), per_dim(output_size, n), self.shape[-n:]
    if min(kernel) <= 0:
        raise RuntimeError(f"{name}(): kernel_size must be greater than zero, but got {list(kernel)}")
    if min(output_sizes) < 0:
        raise RuntimeError(f"{name}(): output_size must not be negative, but got {list(output_sizes)}")
    if common.CATEGORY_OF[self.dtype] != common.FLOATING:
        common.raise_unsupported_dtype(name, self.dtype)
    if random_samples.dtype != self.dtype:
        raise RuntimeError("Expect _random_samples to have the same dtype as input")
    batch = self.shape[0] if self.ndim == n + 2 else 1
    channels = self.shape[-n - 1]
    if random_samples.ndim != 3:
        raise RuntimeError(f"Expect _random_samples to have 3 dimensions, got {random_samples.ndim}")
    for d, (expected, is_minimum) in enumerate(((batch, True), (channels, False), (n, False))):
        actual = random_samples.shape[d]
        if evaluate_guard(actual < expected) if is_minimum else not equal(actual, expected):
            raise RuntimeError(f"Expect _random_samples.size({d}) equals to {expected}; got {actual}.")
    for dim_name, size, k, m in zip(
        ("time", "height", "width")[3 - n :], sizes, kernel, output_sizes, strict=True
    ):
        if evaluate_guard(m + k - 1 > size):
            raise RuntimeError(f"{name}(): pool {dim_name} {k} too large relative to input {dim_name} {size}")
    planes = batch * channels
    samples = common.cast(xp, random_samples[:batch], common.opmath(self.dtype)).reshape(planes, n)
    index: Any = 0
    for d, (size, k, m) in enumerate(zip(sizes, kernel, output_sizes, strict=True)):
        # The random samples are in the order (width, height) for images, and (time, height, width) for
        # volumes.
        start = (
            _starts(xp, samples[:, 1 - d if n == 2 else d], size, m, k)
            if m
            else xp.zeros((planes, 0), common.INT64)
        )
        cell = start[:, :, None] + xp.arange(k)
        shape = [planes, *(1,) * (2 * n)]
        shape[1 + d], shape[1 + n + d] = m, k
        index = index * size + cell.reshape(shape)
    index = index.reshape(planes, math.prod(output_sizes), math.prod(kernel))
    flat = self.reshape(planes, 1, math.prod(sizes))
    windows = xp.take_along_axis(flat, index, 2) if index.size else xp.zeros(index.shape, self.dtype)
    best = xp.argmax(windows, axis=2)[:, :, None]
    shape = [*self.shape[:-n], *output_sizes]
    values, positions = (xp.take_along_axis(a, best, 2).reshape(shape) for a in (windows, index))
    return values, positions


for _n in (2, 3):

    @op(
        f"aten::fractional_max_pool{_n}d(Tensor self, int[{_n}] kernel_size, int[{_n}] output_size, Tensor "
        "random_samples) -> (Tensor, Tensor)",
        out="output",
        out_names="output,indices",
        where="f",
        autocast={"cpu": "float32"},
    )
    def _fractional_max_pool(
        xp: Any, self: Array, kernel_size: Sizes, output_size: Sizes, random_samples: Array, n: int = _n
    ) -> tuple[Array, Array]:
        return _pooled(xp, self, kernel_size, output_size, random_samples, n)


def _gradient(n: int) -> None:
    def gradient_shape(
        grad_output: Array, self: Array, kernel_size: Sizes, output_size: Sizes, indices: Array
    ) -> ShapeAndDtype:
        check_index_shape(grad_output, indices, self.shape, n)
        return like_input(grad_output, self)

    @op(
        f"aten::fractional_max_pool{n}d_backward(Tensor grad_output, Tensor self, int[{n}] kernel_size, "
        f"int[{n}] output_size, Tensor indices) -> Tensor",
        out="grad_input",
        out_names="grad_input",
        where="",
        shape=gradient_shape,
        dtype_errors={"bic": f"fractional_max_pool{n}d_backward_out_frame"},
        checked_dtype="self grad_output indices:Long",
    )
    def backward(
        xp: Any, grad_output: Array, self: Array, kernel_size: Sizes, output_size: Sizes, indices: Array
    ) -> Array:
        return add_at_indices(xp, grad_output, indices, self.shape, n)


_gradient(2)
_gradient(3)
