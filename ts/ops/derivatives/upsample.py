"""Derivatives of resampling.

The gradient of an input element is a weighted sum of the gradients of output elements.
"""

from __future__ import annotations

import math

import ts
from ts import Tensor
from ts.ops.derivatives.formula_registry import LINEAR, compose, derive


def _sizes(input: Tensor, output_size: list[int] | None, scale_factors: list[float] | None) -> list[int]:
    if output_size is not None:
        return output_size
    assert scale_factors is not None
    return [math.floor(input.size(d + 2) * scale_factors[d]) for d in range(len(scale_factors))]


def _scale(scale_factors: list[float] | None, d: int) -> float | None:
    return None if scale_factors is None or d >= len(scale_factors) else scale_factors[d]


def _declare(name: str, n: int, aligned: bool) -> None:
    names = ["scales"] if n == 1 else [f"scales_{d}" for d in "dhw"[3 - n :]]
    options = ", ".join([*["align_corners"] * aligned, *names])
    forward = f"ts.{name}"
    derive(
        f"aten::{name}", self=f"{forward}_backward(grad, output_size, self.size(), {options})", result=LINEAR
    )
    derive(f"aten::{name}_backward", grad_output=f"{forward}(grad, output_size, {options})", result=LINEAR)
    scales = [f"_scale(scale_factors, {d})" for d in range(n)]
    options = ", ".join([*["align_corners"] * aligned, *scales])
    compose(f"aten::{name}.vec", f"{forward}(input, _sizes(input, output_size, scale_factors), {options})")


for _name, _n, _aligned in (
    ("upsample_nearest1d", 1, False), ("upsample_nearest2d", 2, False), ("upsample_nearest3d", 3, False),
    ("_upsample_nearest_exact1d", 1, False), ("_upsample_nearest_exact2d", 2, False),
    ("_upsample_nearest_exact3d", 3, False), ("upsample_linear1d", 1, True), ("upsample_bilinear2d", 2, True),
    ("upsample_trilinear3d", 3, True), ("upsample_bicubic2d", 2, True), ("_upsample_bilinear2d_aa", 2, True),
    ("_upsample_bicubic2d_aa", 2, True), ("_upsample_lanczos2d_aa", 2, True),
):  # fmt: skip
    _declare(_name, _n, _aligned)
