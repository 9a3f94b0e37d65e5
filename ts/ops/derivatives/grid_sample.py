"""Derivatives of sampling at the places of a grid: of the images, and of the coordinates."""

from __future__ import annotations

import ts
from ts import Tensor
from ts.ops.derivatives.rows import LINEAR, compose, derive

_HOW = "interpolation_mode, padding_mode, align_corners"
compose(
    "aten::grid_sampler",
    f"ts.ops.aten.grid_sampler_2d(input, grid, {_HOW}) if input.dim() == 4 else "
    f"ts.ops.aten.grid_sampler_3d(input, grid, {_HOW})",
)
for _n in (2, 3):
    derive(
        f"aten::grid_sampler_{_n}d",
        {"input, grid": f"ts.ops.aten.grid_sampler_{_n}d_backward(grad, input, grid, {_HOW}, output_mask)"},
        name=f"GridSampler{_n}DBackward0",
    )
derive(
    "aten::_grid_sampler_2d_cpu_fallback",
    {"input, grid": f"ts.ops.aten._grid_sampler_2d_cpu_fallback_backward(grad, input, grid, {_HOW})"},
    name="GridSampler2DCpuFallbackBackward0",
)


def _homogeneous(size: list[int], align: bool, like: Tensor) -> Tensor:
    """The places of a grid (places, n + 1), x first, with a one behind: what the maps are multiplied with."""
    n = len(size) - 2
    unit = ts.zeros([1, n, n + 1], dtype=like.dtype, device=like.device)
    for d in range(n):
        unit[0, d, d] = 1
    places = ts.affine_grid_generator(unit, [1, 1] + size[2:], align).reshape([-1, n])
    return ts.cat([places, places.new_ones([places.size(0), 1])], 1)


derive(
    "aten::affine_grid_generator", result=LINEAR,
    theta="grad.reshape([grad.size(0), -1, grad.size(-1)]).transpose(1, 2)"
    ".matmul(_homogeneous(size, align_corners, grad))",
)  # fmt: skip
