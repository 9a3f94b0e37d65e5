"""Derivatives of grid sampling with respect to the images and the grid coordinates.

For second derivatives, the first derivative is decomposed into differentiable operators. The decomposition
treats each corner of the cell around a point separately.
"""

from __future__ import annotations

import ts
from ts import Tensor
from ts.ops.derivatives.formula_registry import LINEAR, compose, derive

_HOW = "interpolation_mode, padding_mode, align_corners"
compose(
    "aten::grid_sampler",
    f"ts.grid_sampler_2d(input, grid, {_HOW}) if input.dim() == 4 else "
    f"ts.grid_sampler_3d(input, grid, {_HOW})",
)
for _n in (2, 3):
    derive(
        f"aten::grid_sampler_{_n}d",
        {"input, grid": f"ts.grid_sampler_{_n}d_backward(grad, input, grid, {_HOW}, output_mask)"},
        name=f"GridSampler{_n}DBackward0",
    )
derive(
    "aten::_grid_sampler_2d_cpu_fallback",
    {"input, grid": f"ts._grid_sampler_2d_cpu_fallback_backward(grad, input, grid, {_HOW})"},
    name="GridSampler2DCpuFallbackBackward0",
)

compose(
    "aten::_grid_sampler_2d_cpu_fallback_backward",
    f"_gradients(grad_output, input, grid, {_HOW}, [True, True])",
)
for _n in (2, 3):
    compose(
        f"aten::grid_sampler_{_n}d_backward", f"_gradients(grad_output, input, grid, {_HOW}, output_mask)"
    )


# --------------------------------------------------------- decomposition of the gradient, one term per corner


def _inside(at: Tensor, size: int, padding: int, align: bool) -> Tensor:
    """Move positions that are outside of the image into the image.

    Padding mode 2 reflects them at the border, mode 1 moves them to the border, and mode 0 does not move
    them.
    """
    if padding == 2:
        low, span = (0.0, float(size - 1)) if align else (-0.5, float(size))
        if span == 0:
            return at * 0
        away = (at - low).abs()
        folds = (away / span).floor()
        extra = away - folds * span
        at = ts.where(folds % 2 == 0, extra, span - extra) + low
    return at if padding == 0 else at.clamp(0, size - 1)


def _near(t: Tensor) -> Tensor:
    return (1.25 * t - 2.25) * t * t + 1


def _near_slope(t: Tensor) -> Tensor:
    return (3.75 * t - 4.5) * t


def _far(t: Tensor) -> Tensor:
    return ((-0.75 * t + 3.75) * t - 6) * t + 3


def _far_slope(t: Tensor) -> Tensor:
    return (-2.25 * t + 7.5) * t - 6


def _taps(
    x: Tensor, size: int, mode: int, padding: int, align: bool
) -> tuple[list[Tensor], list[Tensor], list[Tensor]]:
    """Return the pixel positions that are read along one dimension, and the weight of each position.

    Also return the derivative of each weight.
    """
    at = (x + 1) * ((size - 1) / 2) if align else (x + 1) * (size / 2) - 0.5
    if mode == 2:
        low = at.detach().floor()
        fraction = at - low
        indices = [_inside(low + step, size, padding, align) for step in range(-1, 3)]
        weights = [_far(fraction + 1), _near(fraction), _near(1 - fraction), _far(2 - fraction)]
        slopes = [
            _far_slope(fraction + 1),
            _near_slope(fraction),
            -_near_slope(1 - fraction),
            -_far_slope(2 - fraction),
        ]
        return indices, weights, slopes
    inside = _inside(at, size, padding, align)
    if mode == 1:
        return [inside.detach().round()], [ts.ones_like(at)], [ts.zeros_like(at)]
    derivative = ts.ones_like(at)
    if padding == 2 and size > 1:
        low, span = (0.0, float(size - 1)) if align else (-0.5, float(size))
        away = at.detach() - low
        forth = (away.abs() / span).floor() % 2 == 0
        derivative = ts.where(forth == (away >= 0), derivative, -derivative)
    if padding != 0:
        derivative = ts.where((inside > 0) & (inside < size - 1), derivative, 0)
    floor = inside.detach().floor()
    return [floor, floor + 1], [floor + 1 - inside, inside - floor], [-derivative, derivative]


def _gradients(
    grad: Tensor, input: Tensor, grid: Tensor, mode: int, padding: int, align: bool, output_mask: list[bool]
) -> tuple[Tensor, Tensor]:
    n, sizes = input.dim() - 2, input.size()[2:]
    lead = [input.size(0), input.size(1)]
    flat = input.reshape(lead + [-1])
    points = grid.reshape([lead[0], -1, n])
    flat_grad = grad.reshape([lead[0], lead[1], points.size(1)])
    shape = flat_grad.size()
    indices: list[list[Tensor]] = []
    weights: list[list[Tensor]] = []
    slopes: list[list[Tensor]] = []
    along: list[Tensor] = []
    for d in range(n):
        taps = _taps(points.select(2, n - 1 - d), sizes[d], mode, padding, align)
        indices.append(taps[0])
        weights.append(taps[1])
        slopes.append(taps[2])
        along.append(ts.zeros_like(points.select(2, 0)))
    of_input = ts.zeros_like(flat)
    count, corners = len(indices[0]), 1
    for _ in range(n):
        corners *= count
    for corner in range(corners):
        tap_choice: list[int] = []
        rest = corner
        for _ in range(n):
            tap_choice.append(rest % count)
            rest = rest // count
        cell, weight = ts.zeros_like(points.select(2, 0), dtype=ts.int64), ts.ones_like(points.select(2, 0))
        within = cell == 0
        for d in range(n):
            at = indices[d][tap_choice[d]]
            is_inside = (at >= 0) & (at < sizes[d])
            within = within & is_inside
            cell = cell * sizes[d] + ts.where(is_inside, at, 0).to(ts.int64)
            weight = weight * weights[d][tap_choice[d]]
        where = cell.unsqueeze(1).expand(shape)
        share = ts.where(within, weight, 0).unsqueeze(1) * flat_grad
        of_input = of_input.scatter_add(2, where, share)
        read = ts.where(within, (flat.gather(2, where) * flat_grad).sum(1), 0)
        for d in range(n):
            change = read * slopes[d][tap_choice[d]]
            for e in range(n):
                if e != d:
                    change = change * weights[e][tap_choice[e]]
            along[d] = along[d] + change
    scaled: list[Tensor] = []
    for i in range(n):
        d = n - 1 - i
        scaled.append(along[d] * ((sizes[d] - 1) / 2 if align else sizes[d] / 2))
    none = input.new_empty([0])
    return (
        of_input.reshape(input.size()) if output_mask[0] else none,
        ts.stack(scaled, -1).reshape(grid.size()) if output_mask[1] else none,
    )


# ---------------------------------------------------------------------------------------- affine grids


def _homogeneous(size: list[int], align: bool, like: Tensor) -> Tensor:
    """Return the base grid of `affine_grid` in homogeneous coordinates.

    The shape is (positions, n + 1) for n dimensions. The coordinate x is first, and the last one is 1.
    """
    n = len(size) - 2
    unit = ts.zeros([1, n, n + 1], dtype=like.dtype, device=like.device)
    for d in range(n):
        unit[0, d, d] = 1
    points = ts.affine_grid_generator(unit, [1, 1] + size[2:], align).reshape([-1, n])
    return ts.cat([points, points.new_ones([points.size(0), 1])], 1)


derive(
    "aten::affine_grid_generator", result=LINEAR,
    theta="grad.reshape([grad.size(0), -1, grad.size(-1)]).transpose(1, 2)"
    ".matmul(_homogeneous(size, align_corners, grad))",
)  # fmt: skip
