"""Grid sampling (spatial transformer) of images and volumes, and affine grids.

Input: an array (N, C, *spatial), and a grid (N, *places, n). The grid contains coordinates from -1 to 1, x
first. Output: an array (N, C, *places). All steps use the dtype of the input, even 16-bit floats, because
another precision would shift the points.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from ts._core.tensor.size_guards import equal, equal_shapes
from ts.ops import common
from ts.ops.out_variants import COPIED_OUT
from ts.ops.registry import op
from ts.ops.shape_functions import ShapeAndDtype, like
from ts.ops.upsample import cubic_slopes, cubic_weights

Array = common.Array
BILINEAR, NEAREST, BICUBIC = 0, 1, 2
ZEROS, BORDER, REFLECTION = 0, 1, 2


def _pixel_positions(at: Array, size: int, align: bool) -> Array:
    """Map grid coordinates to pixel positions.

    If `align`, the coordinates -1 and 1 are mapped to the centers of the first and the last pixel, otherwise
    to the outer borders of these two pixels.
    """
    kind = at.dtype.type
    scaled = (at + kind(1)) * kind((size - 1) / 2 if align else size / 2)
    return scaled if align else scaled - kind(0.5)


def _inside(xp: Any, at: Array, size: int, padding: int, align: bool) -> Array:
    """Move positions outside of the image into it, by the rule that `padding` selects.

    `REFLECTION` reflects these positions at the borders of the image. `BORDER` moves them to the nearest
    border pixel. `ZEROS` leaves them unchanged.
    """
    if padding == ZEROS:
        return at
    if padding == REFLECTION:
        low, span = (0.0, float(size - 1)) if align else (-0.5, float(size))
        if span == 0:
            at = xp.zeros_like(at)
        else:
            away = xp.abs(at - low)
            folds = xp.floor(away / span)
            extra = away - folds * span
            at = xp.where(folds % 2 == 0, extra + low, span - extra + low)
    return xp.where(at > 0, xp.minimum(at, size - 1), xp.zeros((), at.dtype))


def _taps(xp: Any, at: Array, size: int, mode: int, padding: int, align: bool) -> tuple[Array, Array]:
    """Return the taps (taps, N, P) and their weights for interpolation at pixel positions `at` (N, P).

    A tap is the position of a pixel to read: an integer, stored as a float.
    """
    if mode == BICUBIC:
        low = xp.floor(at)
        steps = xp.arange(-1, 3).astype(at.dtype)[:, None, None]
        return _inside(xp, low + steps, size, padding, align), xp.moveaxis(cubic_weights(xp, at - low), -1, 0)
    at = _inside(xp, at, size, padding, align)
    if mode == NEAREST:
        return xp.rint(at)[None], xp.ones((1, *at.shape), at.dtype)
    low = xp.floor(at)
    return xp.stack([low, low + 1]), xp.stack([low + 1 - at, at - low])


def _points(grid: Array) -> Array:
    """Return the coordinates of a grid (N, P, n), in the order of the dimensions."""
    return grid.reshape(grid.shape[0], math.prod(grid.shape[1:-1]), grid.shape[-1])[:, :, ::-1]


def _corners(
    xp: Any, sizes: Sequence[int], points: Array, mode: int, padding: int, align: bool
) -> tuple[Array, list[Array]]:
    """Return the flat indices (taps, N, P) of the pixels that the points read, and weights per dimension.

    The index of a pixel outside of the image is -1.
    """
    cells: Any = None  # row-major index of the pixels in the dimensions processed so far
    valid: Any = True
    weights = []
    for d, size in enumerate(sizes):
        at, weight = _taps(xp, _pixel_positions(points[:, :, d], size, align), size, mode, padding, align)
        within = (at >= 0) & (at < size)
        cell = xp.where(within, at, 0).astype(common.INT64)
        weights.append(weight)
        if cells is None:
            cells, valid = cell, within
            continue
        shape = (len(cells) * len(cell), *cell.shape[1:])
        cells = (cells[:, None] * size + cell).reshape(shape)
        valid = (valid[:, None] & within).reshape(shape)
    return xp.where(valid, cells, -1), weights


def _products(factors: Sequence[Array]) -> Array:
    """Return the product (taps, N, P) of one factor per dimension, for each combination of taps."""
    total = factors[0]
    for factor in factors[1:]:
        total = (total[:, None] * factor).reshape(len(total) * len(factor), *factor.shape[1:])
    return total


def sampled(xp: Any, input: Array, grid: Array, mode: int, padding: int, align: bool) -> Array:
    """Sample `input` at the grid points."""
    sizes, lead = input.shape[2:], input.shape[:2]
    flat = input.reshape(*lead, math.prod(sizes))
    cells, weights = _corners(xp, sizes, _points(grid), mode, padding, align)
    result = xp.weighted_picks(flat, xp.moveaxis(cells, 0, -1), xp.moveaxis(_products(weights), 0, -1))
    return common.cast(xp, result.reshape(*lead, *grid.shape[1:-1]), input.dtype)


# ------------------------------------------------------------------------------------ gradients


def _inside_derivative(xp: Any, at: Array, size: int, padding: int, align: bool) -> Array:
    """Return the derivative of `_inside`: 1 for unchanged positions, -1 for reflected, 0 for clamped ones."""
    if padding == ZEROS:
        return xp.ones_like(at)
    inside = _inside(xp, at, size, padding, align)
    derivative = ((inside > 0) & (inside < size - 1)).astype(at.dtype)
    if padding == REFLECTION:
        low, span = (0.0, float(size - 1)) if align else (-0.5, float(size))
        folds = xp.floor(xp.abs(at - low) / (span or 1))
        derivative = xp.where((folds % 2 == 0) == (at >= low), derivative, -derivative)
    return derivative


def _slopes(xp: Any, points: Array, size: int, mode: int, padding: int, align: bool) -> Array:
    """Return the derivatives (taps, N, P) of the interpolation weights with respect to the coordinate."""
    if mode == NEAREST:
        return xp.zeros((1, *points.shape), points.dtype)
    at = _pixel_positions(points, size, align)
    rate = points.dtype.type((size - 1) / 2 if align else size / 2)
    if mode == BICUBIC:
        return xp.moveaxis(cubic_slopes(xp, at - xp.floor(at)), -1, 0) * rate
    rate = _inside_derivative(xp, at, size, padding, align) * rate
    return xp.stack([-rate, rate])


def _gradients(
    xp: Any,
    grad_output: Array,
    input: Array,
    grid: Array,
    mode: int,
    padding: int,
    align: bool,
    output_mask: Sequence[bool],
) -> list[Array]:
    """Return the gradients of images and grid. Gradients that `output_mask` does not request are empty."""
    if not equal_shapes(grad_output.shape, (*input.shape[:2], *grid.shape[1:-1])):
        raise RuntimeError(
            f"Expected a gradient of size {[*input.shape[:2], *grid.shape[1:-1]]}, but got "
            f"{list(grad_output.shape)}"
        )
    sizes, lead = input.shape[2:], input.shape[:2]
    plane = math.prod(sizes)
    points = _points(grid)
    cells, weights = _corners(xp, sizes, points, mode, padding, align)
    grad = grad_output.reshape(*lead, points.shape[1])
    gradients = [xp.zeros(0, dtype=input.dtype)] * 2
    if output_mask[0]:
        rows = xp.arange(math.prod(lead)).reshape(lead)[None, :, :, None] * plane
        shares = xp.where(cells >= 0, _products(weights), 0)[:, :, None] * grad
        indices = xp.broadcast_to(xp.maximum(cells, 0)[:, :, None] + rows, shares.shape)
        input_gradient = xp.bincount(indices.reshape(-1), shares.reshape(-1), math.prod(lead) * plane)
        gradients[0] = common.cast(xp, input_gradient, input.dtype).reshape(input.shape)
    if output_mask[1]:
        flat = input.reshape(*lead, plane)
        corner_products = []  # for each corner, the sum over channels of element * gradient
        for cell in cells:
            corner_values = xp.take_along_axis(flat, xp.maximum(cell, 0)[:, None], 2)
            corner_products.append(xp.where(cell >= 0, (corner_values * grad).sum(axis=1), 0))
        read = xp.stack(corner_products)
        along = []
        for d, size in enumerate(sizes):
            slopes = _slopes(xp, points[:, :, d], size, mode, padding, align)
            along.append((_products([*weights[:d], slopes, *weights[d + 1 :]]) * read).sum(axis=0))
        gradients[1] = common.cast(xp, xp.stack(along[::-1], -1), grid.dtype).reshape(grid.shape)
    return gradients


# ------------------------------------------------------------------------------------ operators


def _check_grid_size(input: Array, grid: Array) -> None:
    if input.ndim >= 2 and grid.ndim and not equal(grid.shape[-1], input.ndim - 2):
        raise RuntimeError(
            f"grid_sampler(): expected grid to have size {input.ndim - 2} in last dimension, but got grid "
            f"with sizes {list(grid.shape)}"
        )


def _checked(input: Array, grid: Array, n: int | None, mode: int) -> None:
    shapes = f"input with sizes {list(input.shape)} and grid with sizes {list(grid.shape)}"
    if not equal_shapes(input.shape[:1], grid.shape[:1]):
        raise RuntimeError(
            f"grid_sampler(): expected grid and input to have same batch size, but got {shapes}"
        )
    _check_grid_size(input, grid)
    for d, size in enumerate(input.shape[2:], 2):
        if size <= 0:
            raise RuntimeError(
                "grid_sampler(): expected input to have non-empty spatial dimensions, but input has sizes "
                f"{list(input.shape)} with dimension {d} being empty"
            )
    expected_ndim = n + 2 if n else 4 if input.ndim == 4 else 5
    if input.ndim != expected_ndim or grid.ndim != input.ndim:
        raise RuntimeError(
            f"grid_sampler(): expected {expected_ndim}D input and grid with same "
            f"number of dimensions, but got {shapes}"
        )
    if mode == BICUBIC and input.ndim == 5:
        raise RuntimeError("grid_sampler(): bicubic interpolation only supports 4D input")
    if common.CATEGORY_OF[input.dtype] != common.FLOATING:
        common.raise_unsupported_dtype(f"grid_sampler_{input.ndim - 2}d_cpu_kernel_impl", input.dtype)
    if grid.dtype != input.dtype:
        raise RuntimeError(
            f"expected scalar type {common.NAME_OF[input.dtype]} but found {common.NAME_OF[grid.dtype]}"
        )


_ARGUMENTS = (
    "(Tensor input, Tensor grid, int interpolation_mode, int padding_mode, bool align_corners) -> Tensor"
)


@op(f"aten::grid_sampler{_ARGUMENTS}", autocast={"cpu": "float32", "cuda": "widest"})
def _grid_sampler(xp: Any, input: Array, grid: Array, mode: int, padding: int, align: bool) -> Array:
    _checked(input, grid, None, mode)
    return sampled(xp, input, grid, mode, padding, align)


@op(f"aten::grid_sampler_2d{_ARGUMENTS}", out="out", autocast={"cpu": "float32"})
def _grid_sampler_2d(xp: Any, input: Array, grid: Array, mode: int, padding: int, align: bool) -> Array:
    _checked(input, grid, 2, mode)
    return sampled(xp, input, grid, mode, padding, align)


@op(f"aten::_grid_sampler_2d_cpu_fallback{_ARGUMENTS}", autocast={"cpu": "float32"}, **COPIED_OUT)
def _grid_sampler_2d_float(xp: Any, input: Array, grid: Array, mode: int, padding: int, align: bool) -> Array:
    if input.dtype != common.FLOAT:
        raise RuntimeError(f"expected scalar type Float but found {common.NAME_OF[input.dtype]}")
    return _grid_sampler_2d(xp, input, grid, mode, padding, align)


@op(f"aten::grid_sampler_3d{_ARGUMENTS}", out="out", autocast={"cpu": "float32"})
def _grid_sampler_3d(xp: Any, input: Array, grid: Array, mode: int, padding: int, align: bool) -> Array:
    _checked(input, grid, 3, mode)
    return sampled(xp, input, grid, mode, padding, align)


def _gradient_shapes(grad_output: Array, input: Array, grid: Array, *options: Any) -> list[ShapeAndDtype]:
    """Return shape and dtype of the gradients of images and grid. Unrequested gradients are empty."""
    _check_grid_size(input, grid)
    mask = options[3] if len(options) > 3 else (True, True)
    return [
        like(x) if requested else ((0,), x.dtype) for x, requested in zip((input, grid), mask, strict=True)
    ]


_BACKWARD = (
    "(Tensor grad_output, Tensor input, Tensor grid, int interpolation_mode, int padding_mode, "
    "bool align_corners"
)


def _declare_gradients(n: int) -> Callable[..., list[Array]]:
    """Declare the gradients of `grid_sampler_2d` or `grid_sampler_3d`, and return their kernel."""

    @op(
        f"aten::grid_sampler_{n}d_backward{_BACKWARD}, bool[2] output_mask) -> (Tensor, Tensor)",
        where="",
        shape=_gradient_shapes,
        dtype_errors={"bic": f"grid_sampler_{n}d_backward_cpu{'_kernel_impl' if n == 2 else ''}"},
        checked_dtype="input grid grad_output",
        **COPIED_OUT,
    )
    def kernel(
        xp: Any, grad: Array, input: Array, grid: Array, mode: int, padding: int, align: bool, mask: Any
    ) -> list[Array]:
        _checked(input, grid, n, mode)
        return _gradients(xp, grad, input, grid, mode, padding, align, mask)

    return kernel


_gradients_2d, _ = _declare_gradients(2), _declare_gradients(3)


@op(
    f"aten::_grid_sampler_2d_cpu_fallback_backward{_BACKWARD}) -> (Tensor, Tensor)",
    where="",
    shape=_gradient_shapes,
    checked_dtype="input grad_output grid",
)
def _grid_sampler_2d_float_backward(
    xp: Any, grad_output: Array, input: Array, grid: Array, mode: int, padding: int, align: bool
) -> list[Array]:
    return _gradients_2d(xp, grad_output, input, grid, mode, padding, align, (True, True))


def _centres(xp: Any, n: int, align: bool, dtype: common.DType) -> Array:
    """Return n equidistant points from -1 to 1 if `align`, else the centers of n intervals of [-1, 1]."""
    if n <= 1:
        return xp.zeros(n, dtype=dtype)
    centers = xp.linspace(-1, 1, n, dtype=dtype)
    return centers if align else centers * dtype.type((n - 1) / n)


@op(
    "aten::affine_grid_generator(Tensor theta, SymInt[] size, bool align_corners) -> Tensor",
    out="out",
    dtype_errors={"b": "linspace_cpu"},
    autocast={"cpu": "lower"},
)
def _affine_grid_generator(xp: Any, theta: Array, size: Sequence[int], align_corners: bool) -> Array:
    if len(size) not in (4, 5):
        raise RuntimeError("AffineGridGenerator needs 4d (spatial) or 5d (volumetric) inputs.")
    sizes = common.check_sizes(size)
    n = len(sizes) - 2
    if theta.ndim != 3 or not equal_shapes(theta.shape, (sizes[0], n, n + 1)):
        raise RuntimeError(
            f"Expected a batch of affine matrices of shape {sizes[0]}x{n}x{n + 1} for size {list(sizes)}. "
            f"Got {list(theta.shape)}."
        )
    wide = common.opmath(theta.dtype)
    axes = [_centres(xp, m, align_corners, wide) for m in sizes[2:]]
    mesh = [
        xp.broadcast_to(a.reshape([-1 if d == k else 1 for d in range(n)]), sizes[2:])
        for k, a in enumerate(axes)
    ]
    base = xp.stack([*reversed(mesh), xp.ones(sizes[2:], dtype=wide)], -1).reshape(-1, n + 1)
    grid = xp.matmul(base, common.cast(xp, theta, wide).swapaxes(1, 2))
    return common.cast(xp, grid.reshape(sizes[0], *sizes[2:], n), theta.dtype)
