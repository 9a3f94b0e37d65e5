"""Affine quantization (fake quantization, per-tensor, per-channel quantization) by float32 numbers on a grid.

`ts` has no quantized dtypes. A grid consists of the numbers that a quantized dtype can represent. A quantized
tensor is a float32 tensor of such numbers, with an attribute that contains the `QuantizationParams`.
Quantized operators round their results to a grid. Results of all other operators have no grid.

Each line shows a call and its result:

    quantize_per_tensor(x, 0.5, 10, quint8)     q, with the nearest numbers (n - 10) * 0.5, n from 0 to 255
    dequantize(q)                               the same numbers, without a grid
    q_scale(q), int_repr(q)                     0.5, n
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import cache
from typing import Any, Final, NamedTuple

import numpy as np

from ts import dtypes
from ts._core.dispatch.overloads import overloads as operator
from ts._core.tensor.factories import from_numpy
from ts._core.tensor.tensor import Tensor
from ts.ops import common
from ts.ops.registry import op, shared_fields
from ts.ops.shape_functions import ITEM

Array = common.Array

QINT8, QUINT8, QINT32, QUINT4X2, QUINT2X4 = 12, 13, 14, 16, 17  # PyTorch's numbers for these dtypes
RANGES: Final = {
    QINT8: (-128, 127),
    QUINT8: (0, 255),
    QINT32: (-(1 << 31), (1 << 31) - 1),
    QUINT4X2: (0, 15),
    QUINT2X4: (0, 3),
}
_FORMATS: Final = {4: (dtypes.channels_last,), 5: (dtypes.channels_last_3d,)}
_ATTRIBUTE: Final = "_grid"  # name of the tensor attribute that holds the grid
# Record fields of operators without a Python function: only archives call them, because `ts` has no quantized
# dtypes
_SCRIPT: Final[dict[str, Any]] = {"where": "", "tensor_kernel": True}


class QuantizationParams(NamedTuple):
    """Quantization grid: the numbers (n - zero_point) * scale for the integers n of a quantized dtype.

    There is one grid for a tensor, or one for each index along `axis`.
    """

    scale: Any  # a float, or a tensor
    zero_point: Any  # an int, or a tensor
    dtype: int
    axis: int = -1

    @property
    def range(self) -> tuple[int, int]:
        """Return the minimum and maximum of n."""
        return RANGES[self.dtype]


@cache
def warn_once() -> None:
    """Warn once per process that quantized models run in float32."""
    warnings.warn(
        "Quantized tensors and operators are emulated in float32: their numbers are rounded to quantized "
        "values, and may differ from PyTorch's by one quantization step.",
        stacklevel=2,
    )


def grid_of(x: Tensor) -> QuantizationParams | None:
    """Return the quantization grid attached to tensor `x`, or None without a grid."""
    grid = x.__dict__.get(_ATTRIBUTE)
    return grid if isinstance(grid, QuantizationParams) else None


def with_grid(x: Tensor, grid: QuantizationParams | None) -> Tensor:
    """Set the quantization grid of a tensor to `grid`, unless `grid` is None, and return the tensor."""
    if grid is not None:
        x.__dict__[_ATTRIBUTE] = grid
    return x


def checked_grid(scale: Any, zero_point: Any, dtype: int, axis: int = -1) -> QuantizationParams:
    """Return a validated quantization grid, or raise RuntimeError if a component is invalid."""
    if dtype not in RANGES:
        raise RuntimeError(f"quantize: {dtype} is not the code of a quantized dtype")
    if axis < 0 and not 0 < scale < float("inf"):
        raise RuntimeError(f"quantize: the scale must be a positive number, got {scale}")
    low, high = RANGES[dtype]
    if axis < 0 and not low <= zero_point <= high:
        raise RuntimeError(f"quantize: the zero point must be between {low} and {high}, got {zero_point}")
    return QuantizationParams(scale, zero_point, dtype, axis)


def round_to_grid(x: Tensor, grid: QuantizationParams) -> Tensor:
    """Return a tensor rounded to the nearest numbers of a grid. The result has `grid` as an attribute."""
    if x.dtype != dtypes.float32:
        raise RuntimeError(f"Quantize only works on Float Tensor, got {x.dtype.type_name}")
    warn_once()
    low, high = grid.range
    if grid.axis < 0:
        rounded = operator("fake_quantize_per_tensor_affine")(x, grid.scale, grid.zero_point, low, high)
    else:
        rounded = operator("fake_quantize_per_channel_affine")(
            x, grid.scale, grid.zero_point, grid.axis, low, high
        )
    return with_grid(_contiguous_in_format(rounded), grid)


def _contiguous_in_format(x: Tensor) -> Tensor:
    """Return `x` if it is contiguous or channels-last, else a contiguous copy.

    Quantized tensors must have one of these memory formats.
    """
    if x.is_contiguous() or any(x.is_contiguous(memory_format=f) for f in _FORMATS.get(x.ndim, ())):
        return x
    return x.contiguous()  # type: ignore[no-any-return]


# ---- rounding --------------------------------------------------------------------------------------


def _round_and_clamp(xp: Any, x: Array, scale: Any, zero_point: Any, low: int, high: int) -> Array:
    """Return the nearest number (n - zero_point) * scale with low <= n <= high for each element of x."""
    wide = common.DOUBLE if max(-low, high) >= 1 << 24 else common.FLOAT
    n = xp.rint(x.astype(wide, copy=False) * (1 / xp.asarray(scale, wide))) + xp.asarray(zero_point, wide)
    return ((xp.clip(n, low, high) - zero_point) * xp.asarray(scale, wide)).astype(x.dtype, copy=False)


def _integer_dtype_errors(kernel: str) -> dict[str, str]:
    return {"bic": f"fake_quantize_{kernel}_type_handling"}


def _check_bounds(low: int, high: int) -> None:
    if low > high:
        raise RuntimeError("`quant_min` should be less than or equal to `quant_max`.")


@op(
    "aten::fake_quantize_per_tensor_affine(Tensor self, float scale, int zero_point, int quant_min, int "
    "quant_max) -> Tensor",
    autocast={"cpu": "float32"},
)
@op(
    "aten::fake_quantize_per_tensor_affine.tensor_qparams(Tensor self, Tensor scale, Tensor zero_point, int "
    "quant_min, int quant_max) -> Tensor"
)
@shared_fields(where="f", dtype_errors=_integer_dtype_errors("tensor_cachemask_kernel"))
def _fake_quantize(xp: Any, self: Array, scale: Any, zero_point: Any, low: int, high: int) -> Array:
    _check_bounds(low, high)
    return _round_and_clamp(xp, self, scale, zero_point, low, high)


@op(
    "aten::fake_quantize_per_channel_affine(Tensor self, Tensor scale, Tensor zero_point, int axis, int "
    "quant_min, int quant_max) -> Tensor",
    where="f",
    dtype_errors=_integer_dtype_errors("channel_cachemask_cpu"),
)
def _fake_quantize_channels(
    xp: Any, self: Array, scale: Array, zero_point: Array, axis: int, low: int, high: int
) -> Array:
    _check_bounds(low, high)
    if not 0 <= axis < self.ndim:
        raise RuntimeError("`axis` must be between 0 and number of dimensions of input")
    if scale.ndim != 1 or zero_point.shape != scale.shape or len(scale) != self.shape[axis]:
        raise RuntimeError("dimensions of scale and zero-point are not consistent with input tensor")
    channel_shape = [-1 if d == axis else 1 for d in range(self.ndim)]
    return _round_and_clamp(
        xp, self, scale.reshape(channel_shape), zero_point.reshape(channel_shape), low, high
    )


# ---- quantization and dequantization ---------------------------------------------------------------


def _number(x: Any) -> Any:
    return x.item() if isinstance(x, Tensor) else x


def _int(x: Any) -> int:
    """Return the integer value of a number or one-element tensor."""
    value = _number(x)
    if isinstance(value, float) and not -(2.0**63) <= value < 2.0**63:
        raise RuntimeError("value cannot be converted to type int64_t without overflow")
    return int(value)


@op(
    "aten::quantize_per_tensor(Tensor self, float scale, int zero_point, ScalarType dtype) -> Tensor",
    **_SCRIPT,
)
@op(
    "aten::quantize_per_tensor.tensor_qparams(Tensor self, Tensor scale, Tensor zero_point, ScalarType "
    "dtype) -> Tensor",
    shape=ITEM,
    **_SCRIPT,
)
def _quantize(self: Tensor, scale: Any, zero_point: Any, dtype: int) -> Tensor:
    number = _number(scale)
    if isinstance(number, complex):
        if number.imag:
            raise RuntimeError("value cannot be converted to type double without overflow")
        number = number.real
    return round_to_grid(self, checked_grid(float(number), _int(zero_point), dtype))


@op(
    "aten::quantize_per_tensor.tensors(Tensor[] tensors, Tensor scales, Tensor zero_points, ScalarType "
    "dtype) -> Tensor[]",
    shape=ITEM,
    **_SCRIPT,
)
def _quantize_each(
    tensors: Sequence[Tensor], scales: Tensor, zero_points: Tensor, dtype: int
) -> list[Tensor]:
    return [_quantize(x, scales[i], zero_points[i], dtype) for i, x in enumerate(tensors)]


@op(
    "aten::quantize_per_channel(Tensor self, Tensor scales, Tensor zero_points, int axis, ScalarType "
    "dtype) -> Tensor",
    **_SCRIPT,
)
def _quantize_channels(self: Tensor, scales: Tensor, zero_points: Tensor, axis: int, dtype: int) -> Tensor:
    return round_to_grid(self, checked_grid(scales, zero_points, dtype, common.wrap_dim(axis, self.ndim)))


@op(
    "aten::quantize_per_tensor_dynamic(Tensor self, ScalarType dtype, bool reduce_range) -> Tensor",
    shape=ITEM,
    **_SCRIPT,
)
def _quantize_by_range(self: Tensor, dtype: int, reduce_range: bool) -> Tensor:
    low, high = RANGES[checked_grid(1.0, 0, dtype).dtype]
    if reduce_range:
        low, high = -(-low // 2), high // 2
    min_value, max_value = (
        (min(0.0, self.min().item()), max(0.0, self.max().item())) if self.numel() else (0.0, 0.0)
    )
    scale = (max_value - min_value) / (high - low) or 0.1
    zero_point = min(max(round(low - min_value / scale), low), high)
    return round_to_grid(self, QuantizationParams(scale, zero_point, dtype))


@op(
    "aten::dequantize.self(Tensor self) -> Tensor",
    order="self tensors tensor list any",
    gives_self=True,
    **_SCRIPT,
)
@op("aten::dequantize.tensor(Tensor qtensor) -> Tensor", gives_self=True, **_SCRIPT)
def _dequantize(self: Tensor) -> Tensor:
    """Return a float32 tensor without quantization grid: a copy, or `self` if it has no grid."""
    return self.float() if grid_of(self) is None else _contiguous_in_format(operator("clone")(self))


@op("aten::dequantize.tensors(Tensor[] tensors) -> Tensor[]", **_SCRIPT)
@op("aten::dequantize.list(Tensor[] qtensors) -> Tensor[]", **_SCRIPT)
def _dequantize_each(tensors: Sequence[Tensor]) -> list[Tensor]:
    return [_dequantize(x) for x in tensors]


@op("aten::dequantize.any(Any tensors) -> Any", **_SCRIPT)
def _dequantize_inside(tensors: Any) -> Any:
    if isinstance(tensors, Tensor):
        return _dequantize(tensors)
    if isinstance(tensors, tuple | list):
        return type(tensors)(map(_dequantize_inside, tensors))
    return tensors


# ---- queries of the grid ---------------------------------------------------------------------------


@op("prim::is_quantized(Tensor a) -> bool", **_SCRIPT)
def _is_quantized(a: Tensor) -> bool:
    return grid_of(a) is not None


def _grid(x: Tensor, per_channel: bool) -> QuantizationParams:
    grid = grid_of(x)
    if grid is None:
        raise RuntimeError(
            "the tensor has no scale and no zero point: quantized tensors are emulated in float32, and only "
            "results of quantizing operators and of operators `quantized::…` have them"
        )
    if (grid.axis >= 0) != per_channel:
        kind = "PerChannelAffine" if per_channel else "PerTensorAffine"
        raise RuntimeError(f"Expected quantizer->qscheme() == k{kind} to be true, but got false.")
    return grid


@op("aten::q_scale(Tensor self) -> float", **_SCRIPT)
def _scale(self: Tensor) -> float:
    return float(_grid(self, False).scale)


@op("aten::q_zero_point(Tensor self) -> int", **_SCRIPT)
def _zero_point(self: Tensor) -> int:
    return int(_grid(self, False).zero_point)


@op("aten::q_per_channel_scales(Tensor self) -> Tensor", **_SCRIPT)
def _scales(self: Tensor) -> Any:
    return _grid(self, True).scale


@op("aten::q_per_channel_zero_points(Tensor self) -> Tensor", **_SCRIPT)
def _zero_points(self: Tensor) -> Any:
    return _grid(self, True).zero_point


@op("aten::q_per_channel_axis(Tensor self) -> int", **_SCRIPT)
def _axis(self: Tensor) -> int:
    return _grid(self, True).axis


_INT_DTYPES: Final = {QINT8: dtypes.int8, QINT32: dtypes.int32}


@op("aten::int_repr(Tensor self) -> Tensor", **_SCRIPT)
def _int_repr(self: Tensor) -> Any:
    return to_integers(self, grid_of(self) or _grid(self, False))


# ---- conversion from and to stored integers --------------------------------------------------------


def to_integers(x: Tensor, grid: QuantizationParams) -> Any:
    """Return the quantized integer of each element."""
    scale, zero_point = grid.scale, grid.zero_point
    if grid.axis >= 0:
        channel_shape = [-1 if d == grid.axis else 1 for d in range(x.ndim)]
        scale, zero_point = scale.reshape(channel_shape), zero_point.reshape(channel_shape)
    return (x.detach().double() / scale + zero_point).round().to(_INT_DTYPES.get(grid.dtype, dtypes.uint8))


def from_integers(n: Array, grid: QuantizationParams) -> Tensor:
    """Return the tensor of grid numbers for an integer array n."""
    warn_once()
    scale: Any = grid.scale
    zero_point: Any = grid.zero_point
    if grid.axis >= 0:
        channel_shape = [-1 if d == grid.axis else 1 for d in range(n.ndim)]
        scale, zero_point = scale.array.reshape(channel_shape), zero_point.array.reshape(channel_shape)
    steps = (n.astype(common.DOUBLE) - zero_point).astype(common.FLOAT)
    return with_grid(from_numpy(steps * np.asarray(scale, common.FLOAT)), grid)
