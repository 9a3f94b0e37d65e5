"""Dropout (inverted dropout) of elements and channels, and rrelu (leaky units with random slopes).

Dropout with probability p sets some elements to 0 and scales the others. The result is `x * noise`, with each
step rounded to the dtype:

    noise = empty_like(x).bernoulli_(1 - p) / (1 - p)
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ts._core.tensor.tensor_metadata import report_untracked_write
from ts.ops import common, result_strides
from ts.ops.generator import source
from ts.ops.out_variants import COPIED_OUT, POINTWISE_OUT, write
from ts.ops.random import empty_like, fill
from ts.ops.registry import op
from ts.ops.sampling import bernoulli_array
from ts.ops.storage_ops import clone_kernel

Array = common.Array
_FIELDS: dict[str, Any] = {"where": "f", "nondeterministic": True}


# ---------------------------------------------------------------------------------------- dropout


def _dropout_mask(xp: Any, input: Array, p: float, channels: bool) -> Array:
    """Draw a random mask with 1 for each element to keep and 0 for each element to drop.

    With `channels`, the mask has one element for each channel.
    """
    if channels and input.ndim < 2:
        raise RuntimeError("Feature dropout requires at least 2 dimensions in the input")
    if channels:
        noise = xp.empty((*input.shape[:2], *(1,) * (input.ndim - 2)), dtype=input.dtype)
    else:
        noise = empty_like(xp, input)
    return bernoulli_array(xp, noise, 1 - p, None)


def _step(xp: Any, ufunc: str, a: Any, b: Any, dtype: common.DType) -> Array:
    """Apply one ufunc in the computation dtype (float32 for 16-bit floats) and round to `dtype`."""
    work = common.opmath(dtype)
    x, y = (common.cast(xp, v, work) for v in (a, b))
    return common.cast(xp, getattr(xp, ufunc)(x, y), dtype)


def apply_dropout(
    xp: Any, input: Array, p: float, train: bool, channels: bool = False, alpha: bool = False
) -> Array:
    """Apply dropout to elements, or to whole channels if `channels`.

    Dropped elements become 0. With `alpha`, dropped elements become the negative limit of SELU. All elements
    are then scaled and shifted to preserve mean and variance. Return the input itself if nothing can be
    dropped.
    """
    if not 0 <= p <= 1:
        raise RuntimeError(f"dropout probability has to be between 0 and 1, but got {p:g}")
    if p == 0 or not train or 0 in input.shape:
        return input
    dtype = input.dtype
    if p == 1:
        return input * xp.zeros((), dtype=dtype)
    noise = _dropout_mask(xp, input, p, channels)
    if not alpha:
        common.check_cast(common.float_dtype(dtype), dtype)
        noise = _step(xp, "divide", noise, 1 - p, dtype)
        return _step(xp, "multiply", input, noise, dtype)
    common.check_cast(common.float_dtype(dtype), dtype)
    scale = 1 / math.sqrt((_SELU_LIMIT * _SELU_LIMIT * p + 1) * (1 - p))
    moved = _step(xp, "add", noise, -1, dtype)
    moved = _step(xp, "multiply", moved, _SELU_LIMIT * scale, dtype)
    moved = _step(xp, "add", moved, _SELU_LIMIT * scale * p, dtype)
    noise = _step(xp, "multiply", noise, scale, dtype)
    return _step(xp, "add", _step(xp, "multiply", input, noise, dtype), moved, dtype)


_SELU_LIMIT = 1.7580993408473766


def _forms(name: str, **options: bool) -> Callable[..., Array]:
    """Declare the functional and the in-place variant of dropout operator `name`."""

    def kernel(xp: Any, input: Array, p: float, train: bool) -> Array:
        return apply_dropout(xp, input, p, train, **options)

    def in_place(xp: Any, self: Array, p: float, train: bool) -> Array:
        return write(xp, self, kernel(xp, self, p, train))

    op(
        f"aten::{name}(Tensor input, float p, bool train) -> Tensor",
        family="dropout",
        layout="like_first",
        gives_self=True,
        copies_sizes=True,
        graph_autodiff=name == "dropout",
        **_FIELDS,
    )(kernel)
    op(
        f"aten::{name}_(Tensor(a!) self, float p, bool train) -> Tensor(a!)",
        variant="inplace",
        family="dropout",
        **_FIELDS,
    )(in_place)
    return kernel


_forms("dropout")
_forms("feature_dropout", channels=True)
_forms("alpha_dropout", alpha=True)
_forms("feature_alpha_dropout", channels=True, alpha=True)


@op(
    "aten::native_dropout(Tensor input, float p, bool? train) -> (Tensor, Tensor)",
    layout=("like_first", "like_first"),
    **_FIELDS,
    **COPIED_OUT,
    graph_autodiff=True,
)
def _native_dropout(xp: Any, input: Array, p: float, train: bool | None) -> tuple[Array, Array]:
    mask = empty_like(xp, input, common.BOOL)
    if p == 0 or train is False or 0 in input.shape:
        mask[...] = True
        return input.copy(), mask
    bernoulli_array(xp, mask, 1 - p, None)
    common.check_cast(common.float_dtype(input.dtype), input.dtype)
    noise = _step(xp, "multiply", mask, 0.0 if p == 1 else 1 / (1 - p), input.dtype)
    return _step(xp, "multiply", input, noise, input.dtype), mask


@op(
    "aten::native_dropout_backward(Tensor grad_output, Tensor mask, float scale) -> Tensor",
    layout="like_all",
    **COPIED_OUT,
)
def _native_dropout_backward(xp: Any, grad_output: Array, mask: Array, scale: float) -> Array:
    dtype = common.result_type(grad_output, mask, scale)
    return _step(xp, "multiply", grad_output * mask, scale, dtype)


@op(
    "aten::_masked_scale(Tensor self, Tensor mask, float scale) -> Tensor",
    layout="like_all",
    order="out",
    **COPIED_OUT,
)
def _masked_scale(xp: Any, self: Array, mask: Array, scale: float) -> Array:
    return _step(xp, "multiply", self * common.cast(xp, mask, self.dtype), scale, self.dtype)


# ---------------------------------------------------------------------------------------- rrelu


_BOUNDS = (
    "Scalar lower=0.125, Scalar upper=0.33333333333333331, bool training=False, Generator? generator=None"
)


def _sloped(
    xp: Any, self: Array, lower: float, upper: float, training: bool, generator: Any
) -> tuple[Array, Array | None]:
    """Return the result of rrelu, and the random slopes. Without `training`, return None as slopes."""
    for name, bound in (("lower", lower), ("upper", upper)):
        if not math.isfinite(bound):
            raise RuntimeError(f"rrelu: {name} bound must be finite, got {bound:g}")
    if lower > upper:
        raise RuntimeError("Lower bound should be less than or equal to the upper bound")
    if not training:
        if common.category(self) != common.FLOATING:
            common.raise_unsupported_dtype("leaky_relu_cpu", self.dtype)
        slope = (float(lower) + float(upper)) / 2
        return xp.where(self > 0, self, _step(xp, "multiply", self, slope, self.dtype)), None
    if common.category(self) != common.FLOATING or self.dtype == common.HALF:
        common.raise_unsupported_dtype("rrelu_with_noise_out_cpu", self.dtype)
    slopes = xp.empty(self.shape, dtype=self.dtype)
    if not xp.shapes_only:
        stream = source(xp, generator)
        flat = self.reshape(-1).astype(common.DOUBLE)
        fill(xp, slopes, lambda n: stream.slopes(flat, float(lower), float(upper)))
    return _step(xp, "multiply", self, slopes, self.dtype), slopes


@op(f"aten::rrelu(Tensor self, {_BOUNDS}) -> Tensor", inplace=True, layout="contiguous", **_FIELDS)
def _rrelu(
    xp: Any,
    self: Array,
    lower: Any = 0.125,
    upper: Any = 1 / 3,
    training: bool = False,
    generator: Any = None,
) -> Array:
    return _sloped(xp, self, lower, upper, training, generator)[0]


@op(
    f"aten::rrelu_with_noise(Tensor self, Tensor(b!) noise, {_BOUNDS}) -> Tensor",
    where="",
    nondeterministic=True,
    layout="contiguous",
    **POINTWISE_OUT,
)
def _rrelu_with_noise(
    xp: Any,
    self: Array,
    noise: Array,
    lower: Any = 0.125,
    upper: Any = 1 / 3,
    training: bool = False,
    generator: Any = None,
) -> Array:
    result, slopes = _sloped(xp, self, lower, upper, training, generator)
    if slopes is not None:
        write(xp, noise, slopes)
        report_untracked_write(noise)
    return result


@op(
    f"aten::rrelu_with_noise_(Tensor(a!) self, Tensor(b!) noise, {_BOUNDS}) -> Tensor(a!)",
    variant="inplace",
    where="",
    nondeterministic=True,
)
def _rrelu_with_noise_in_place(xp: Any, self: Array, noise: Array, *rest: Any) -> Array:
    return write(xp, self, _rrelu_with_noise(xp, self, noise, *rest))


@op(
    f"aten::rrelu_with_noise_functional(Tensor self, Tensor noise, {_BOUNDS}) -> (Tensor, Tensor noise_out)",
    where="",
    nondeterministic=True,
)
def _rrelu_with_noise_functional(xp: Any, self: Array, noise: Array, *rest: Any) -> tuple[Array, Array]:
    drawn = clone_kernel(xp, noise)
    result = _rrelu_with_noise(xp, self, drawn, *rest)
    return result_strides.with_result_strides(xp, "like_first", result, [self]), drawn
