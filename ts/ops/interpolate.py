"""Legacy operators for `interpolate` in old archives (`aten::__interpolate` and its earlier names).

Input: an array (N, C, *spatial), a size, a scale factor and a mode. A size has precedence over a factor. Each
legacy operator calls the operator of the mode.

For example, `__interpolate(x, None, 2.0, "bilinear", True)` calls `upsample_bilinear2d.vec`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

from ts._core.thread.warnings import warn
from ts.ops import common
from ts.ops.registry import find, op

Array = common.Array
_Sizes = int | Sequence[int] | None
_Factors = float | Sequence[float] | None

# (mode, number of dimensions of the input) -> resampling operator. Operators in `_PLAIN` have no parameter
# `align_corners`, and those in `_ALIGNED` have it.
_PLAIN: Final = {
    ("nearest", 3): "upsample_nearest1d",
    ("nearest", 4): "upsample_nearest2d",
    ("nearest", 5): "upsample_nearest3d",
}
_ALIGNED: Final = {
    ("linear", 3): "upsample_linear1d",
    ("bilinear", 4): "upsample_bilinear2d",
    ("bicubic", 4): "upsample_bicubic2d",
    ("trilinear", 5): "upsample_trilinear3d",
}
_NEEDS: Final = {mode: n for mode, n in _ALIGNED if mode != "bicubic"}


def _computed(name: str, xp: Any, *args: Any) -> Array:
    record = find(f"aten::{name}")
    assert record is not None, name
    return record.guarded(record.kernel)(xp, *args)


def _expand_to_list(value: Any, n: int) -> list[Any]:
    return list(value) if isinstance(value, Sequence) else [value] * n


def _size_of(x: Array, size: _Sizes, factors: _Factors) -> list[int]:
    """Return the output sizes: `size`, or the input sizes times the factors."""
    n = x.ndim - 2
    if size is not None:
        lengths = _expand_to_list(size, n)
        if len(lengths) != n:
            raise RuntimeError(f"It is expected output_size equals to {n}, but got size {len(lengths)}")
        return lengths
    if factors is None:
        raise RuntimeError("either size or scale_factor should be defined")
    return [math.floor(m * f) for m, f in zip(x.shape[2:], _expand_to_list(factors, n), strict=False)]


@op(
    "aten::__interpolate.scale_list(Tensor input, int? size=None, float[]? scale_factor=None, str "
    'mode="nearest", '
    "bool? align_corners=None, bool? recompute_scale_factor=None, bool antialias=False) -> Tensor",
    where="",
    layout="channels",
    autocast={"cuda": "float32"},
)
@op(
    "aten::__interpolate.size_list_scale_list(Tensor input, int[]? size=None, float[]? scale_factor=None, "
    'str mode="nearest", bool? align_corners=None, bool? recompute_scale_factor=None, bool '
    "antialias=False) -> Tensor",
    where="",
    layout="channels",
    autocast={"cuda": "float32"},
)
@op(
    'aten::__interpolate(Tensor input, int? size=None, float? scale_factor=None, str mode="nearest", bool? '
    "align_corners=None, bool? recompute_scale_factor=None, bool antialias=False) -> Tensor",
    where="",
    layout="channels",
    autocast={"cuda": "float32"},
)
@op(
    "aten::__interpolate.size_list(Tensor input, int[]? size=None, float? scale_factor=None, str "
    'mode="nearest", '
    "bool? align_corners=None, bool? recompute_scale_factor=None, bool antialias=False) -> Tensor",
    where="",
    layout="channels",
    autocast={"cuda": "float32"},
)
def _interpolate(
    xp: Any,
    input: Array,
    size: _Sizes = None,
    scale_factor: _Factors = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Array:
    if antialias:
        raise RuntimeError("Antialias is not yet supported")
    if mode in ("nearest", "area"):
        if align_corners is not None:
            raise RuntimeError(
                "align_corners option can only be set with the interpolating modes: linear | bilinear | "
                "bicubic | trilinear"
            )
    elif align_corners is None:
        warn(
            f"Default upsampling behavior when mode={mode} is changed to align_corners=False since 0.4.0. "
            "Please specify align_corners=True if the old behavior is desired. See the documentation of "
            "nn.Upsample for details."
        )
    mode_and_ndim = mode, input.ndim
    if mode == "area" and 3 <= input.ndim <= 5:
        output_size = _size_of(input, size, scale_factor)
        return _computed(f"adaptive_avg_pool{input.ndim - 2}d", xp, input, output_size)
    if mode_and_ndim not in _PLAIN and mode_and_ndim not in _ALIGNED:
        if 3 <= input.ndim <= 5 and mode in _NEEDS:
            raise RuntimeError(f"Got {input.ndim}D input, but {mode} mode needs {_NEEDS[mode]}D input")
        raise RuntimeError(
            f"Input Error: Only 3D, 4D and 5D input Tensors supported (got {input.ndim}D) for the modes: "
            f"nearest | linear | bilinear | trilinear (got {mode}) "
        )
    lengths, factors = _lengths_or_factors(input, size, scale_factor, recompute_scale_factor)
    if mode_and_ndim in _PLAIN:
        return _computed(f"{_PLAIN[mode_and_ndim]}.vec", xp, input, lengths, factors)
    return _computed(f"{_ALIGNED[mode_and_ndim]}.vec", xp, input, lengths, bool(align_corners), factors)


def _lengths_or_factors(
    x: Array, size: _Sizes, scale_factor: _Factors, recompute: bool | None
) -> tuple[list[int] | None, list[float] | None]:
    """Return the arguments (sizes, factors) for the resampling operator.

    If the operator must use the factors directly, sizes is None. Otherwise, factors is None.
    """
    if size is not None or scale_factor is None or recompute:
        return _size_of(x, size, scale_factor), None
    factors = _expand_to_list(scale_factor, x.ndim - 2)[: x.ndim - 2]
    if recompute is False:
        return None, factors
    if any(f != math.floor(f) for f in factors):
        warn(
            "The default behavior for interpolate/upsample with float scale_factor will change in 1.5.0 "
            "to align with other frameworks/libraries, and use scale_factor directly, instead of relying "
            "on the computed output size. If you wish to keep the old behavior, please set "
            "recompute_scale_factor=True. See the documentation of nn.Upsample for details. "
        )
    return _size_of(x, None, scale_factor), None


_OLD: dict[str, Any] = {"where": "", "layout": "channels"}
_MODE = 'str mode="nearest", bool? align_corners=None'


@op(
    f"aten::__upsample(Tensor input, int? size=None, int? scale_factor=None, {_MODE}) -> Tensor",
    autocast={"cuda": "float32"},
    **_OLD,
)
@op(
    f"aten::__upsample.size_list(Tensor input, int[]? size=None, int? scale_factor=None, {_MODE}) -> Tensor",
    autocast={"cuda": "float32"},
    **_OLD,
)
@op(
    "aten::__upsample_nearest(Tensor input, int? size=None, int? scale_factor=None) -> Tensor",
    autocast={"cuda": "float32"},
    **_OLD,
)
@op(
    "aten::__upsample_nearest.size_list(Tensor input, int[]? size=None, int? scale_factor=None) -> Tensor",
    autocast={"cuda": "float32"},
    **_OLD,
)
def _upsample(
    xp: Any,
    input: Array,
    size: _Sizes = None,
    scale_factor: _Factors = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
) -> Array:
    return _interpolate(xp, input, size, scale_factor, mode, align_corners)


@op(
    "aten::__upsample_bilinear(Tensor input, int? size=None, int? scale_factor=None) -> Tensor",
    autocast={"cuda": "float32"},
    **_OLD,
)
@op(
    "aten::__upsample_bilinear.size_list(Tensor input, int[]? size=None, int? scale_factor=None) -> Tensor",
    autocast={"cuda": "float32"},
    **_OLD,
)
@op(
    "aten::__upsample_bilinear.scale_list(Tensor input, int? size=None, int[]? scale_factor=None) -> Tensor",
    autocast={"cuda": "float32"},
    **_OLD,
)
@op(
    "aten::__upsample_bilinear.size_list_scale_list(Tensor input, int[]? size=None, int[]? "
    "scale_factor=None) -> Tensor",
    autocast={"cuda": "float32"},
    **_OLD,
)
def _upsample_bilinear(xp: Any, input: Array, size: _Sizes = None, scale_factor: _Factors = None) -> Array:
    return _interpolate(xp, input, size, scale_factor, "bilinear", True)
