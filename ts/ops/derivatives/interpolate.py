"""Derivatives of the legacy `interpolate` operators, by decomposition into the operator for the mode."""

from __future__ import annotations

import math

import ts
from ts import Tensor
from ts.ops.derivatives.formula_registry import compose


def _interpolate(
    input: Tensor, size: list[int] | None, factors: list[float] | None, mode: str, align: bool,
    keeps_factors: bool,
) -> Tensor:  # fmt: skip
    """Interpolate to the size `size`, or by the scale factors `factors`.

    If `keeps_factors`, pass the factors to the operator for `mode`. Otherwise, pass the output size.
    """
    n = input.dim() - 2
    if size is None and factors is not None and not keeps_factors:
        size = [math.floor(input.size(d + 2) * factors[d]) for d in range(n)]
    if size is not None:
        factors = None
    if mode == "area":
        assert size is not None
        if n == 1:
            return ts.nn.functional.adaptive_avg_pool1d(input, size)
        if n == 2:
            return ts.nn.functional.adaptive_avg_pool2d(input, size)
        return ts.nn.functional.adaptive_avg_pool3d(input, size)
    if mode == "nearest":
        if n == 1:
            return ts.upsample_nearest1d(input, size, factors)
        if n == 2:
            return ts.upsample_nearest2d(input, size, factors)
        return ts.upsample_nearest3d(input, size, factors)
    if mode == "linear":
        return ts.upsample_linear1d(input, size, align, factors)
    if mode == "bilinear":
        return ts.upsample_bilinear2d(input, size, align, factors)
    if mode == "bicubic":
        return ts.upsample_bicubic2d(input, size, align, factors)
    return ts.upsample_trilinear3d(input, size, align, factors)


def _repeat_size(size: int | None, input: Tensor) -> list[int] | None:
    """Return a list with `size` for each spatial dimension of `input`, or None if `size` is None."""
    return None if size is None else [size] * (input.dim() - 2)


def _repeat_factor(factor: float | None, input: Tensor) -> list[float] | None:
    return None if factor is None else [factor] * (input.dim() - 2)


def _floats(factors: list[int] | None) -> list[float] | None:
    return None if factors is None else [float(f) for f in factors]


def _float(factor: int | None) -> float | None:
    return None if factor is None else float(factor)


_SIZES = {False: "_repeat_size(size, input)", True: "size"}
_HOW = "align_corners is not None and align_corners"
for _overload, _sizes, _factors in (
    ("", False, False), (".size_list", True, False), (".scale_list", False, True),
    (".size_list_scale_list", True, True),
):  # fmt: skip
    _size = _SIZES[_sizes]
    _factor = "scale_factor" if _factors else "_repeat_factor(scale_factor, input)"
    _kept = "recompute_scale_factor is not None and not recompute_scale_factor and mode != 'area'"
    compose(
        f"aten::__interpolate{_overload}", f"_interpolate(input, {_size}, {_factor}, mode, {_HOW}, {_kept})"
    )
    _factor = "_floats(scale_factor)" if _factors else "_repeat_factor(_float(scale_factor), input)"
    compose(
        f"aten::__upsample_bilinear{_overload}",
        f"_interpolate(input, {_size}, {_factor}, 'bilinear', True, False)",
    )
    if not _factors:
        _rest = f"{_size}, {_factor}"
        compose(f"aten::__upsample{_overload}", f"_interpolate(input, {_rest}, mode, {_HOW}, False)")
        compose(
            f"aten::__upsample_nearest{_overload}", f"_interpolate(input, {_rest}, 'nearest', False, False)"
        )
