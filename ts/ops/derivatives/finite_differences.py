"""Derivatives of finite differences along dimensions, by decomposition."""

from __future__ import annotations

import ts
from ts import Tensor
from ts.ops.derivatives.formula_registry import compose


def axes_of(self: Tensor, dim: int | None) -> list[int]:
    """Return `[dim]`, or all dimensions if `dim` is None."""
    return list(range(self.dim())) if dim is None else [dim]


def even(self: Tensor, spacing: list[float], axes: list[int]) -> list[Tensor]:
    """Return the distances between neighbouring samples as one tensor for each dimension in `axes`.

    `spacing` contains one distance for each dimension, or a single distance for all dimensions.
    """
    return [
        self.new_full([self.size(axes[i]) - 1], spacing[i if len(spacing) > 1 else 0])
        for i in range(len(axes))
    ]


def uneven(self: Tensor, spacing: list[Tensor]) -> list[Tensor]:
    """Return the differences of adjacent coordinates, for each dimension."""
    return [(at[1:] - at[:-1]).to(self.dtype) for at in spacing]


def along(x: Tensor, gaps: Tensor, edge_order: int) -> Tensor:
    """Return the numerical derivative of samples `x` along the last dimension.

    `gaps` contains the distances between adjacent samples. `edge_order` is 1 or 2, the order of the formula
    at the first and the last sample.
    """
    before, after = gaps[:-1], gaps[1:]
    span = before + after
    slopes = (x[..., 1:] - x[..., :-1]) / gaps
    inside = (slopes[..., :-1] * after + slopes[..., 1:] * before) / span
    start, end = slopes[..., :1], slopes[..., -1:]
    if edge_order == 2:
        start = start - (slopes[..., 1:2] - start) * gaps[:1] / span[:1]
        end = end + (end - slopes[..., -2:-1]) * gaps[-1:] / span[-1:]
    return ts.cat([start, inside, end], -1)


def differences(self: Tensor, gaps: list[Tensor], axes: list[int], edge_order: int) -> list[Tensor]:
    """Return the numerical derivatives along each dimension."""
    if edge_order != 1 and edge_order != 2:
        raise RuntimeError("torch.gradient only supports edge_order=1 and edge_order=2.")
    if len(gaps) != len(axes):
        raise RuntimeError(f"torch.gradient got {len(gaps)} spacings for {len(axes)} dimensions")
    for d in axes:
        if self.size(d) < edge_order + 1:
            raise RuntimeError("torch.gradient expected each dimension size to be at least edge_order+1")
    return [
        along(self.movedim(axes[i], -1), gaps[i], edge_order).movedim(-1, axes[i]) for i in range(len(axes))
    ]


compose(
    "aten::gradient.scalarint",
    "differences(self, even(self, [1.0 if spacing is None else float(spacing)], axes_of(self, dim)), "
    "axes_of(self, dim), edge_order)",
)
compose("aten::gradient.scalararray", "differences(self, even(self, [float(spacing)], dim), dim, edge_order)")
compose("aten::gradient.array", "differences(self, even(self, [1.0], dim), dim, edge_order)")
compose(
    "aten::gradient.scalarrayint",
    "differences(self, even(self, [float(s) for s in spacing], axes_of(self, dim)), axes_of(self, dim), "
    "edge_order)",
)
compose(
    "aten::gradient.scalarrayarray",
    "differences(self, even(self, [float(s) for s in spacing], dim), dim, edge_order)",
)
compose(
    "aten::gradient.tensorarrayint",
    "differences(self, uneven(self, spacing), axes_of(self, dim), edge_order)",
)
compose("aten::gradient.tensorarray", "differences(self, uneven(self, spacing), dim, edge_order)")
