"""Decompositions of elementwise operators to `add`, `mul`, `where`, `exp` ..."""

from __future__ import annotations

import math
from typing import Any

import ts
from ts._core.tensor.tensor import Tensor
from ts.export.decompositions.decomposition_table import decomposes, register_composed
from ts.export.decompositions.view_ops import zero_of

aten = ts.ops.aten

register_composed(
    "aten::max.other aten::min.other aten::square aten::float_power.Tensor_Scalar "
    "aten::float_power.Tensor_Tensor"
)

# operators of Python's symbols, such as `x & y` (`ts.export.python_operators`)
for _name in ("and", "or", "xor"):
    for _overload in ("Tensor", "Scalar"):
        _function = getattr(getattr(aten, f"bitwise_{_name}"), _overload)
        decomposes(f"aten::__{_name}__.{_overload}", implicit=True)(_function)


def either(condition: Tensor, true_value: Any, false_value: Any, like: Tensor) -> Tensor:
    """Select elements of `true_value` if `condition` is true, otherwise of `false_value`.

    If `true_value` or `false_value` is a number, it becomes a tensor with the dtype and device of `like`.
    """
    false_value = false_value if isinstance(false_value, Tensor) else zero_of(like, false_value)
    true_value = true_value if isinstance(true_value, Tensor) else zero_of(like, true_value)
    return aten.where.self(condition, true_value, false_value)


def _dtype_of(scalar: Any) -> Any:
    return (
        ts.bool
        if isinstance(scalar, bool)
        else ts.int64
        if isinstance(scalar, int)
        else ts.get_default_dtype()
    )


def _wrapped(scalar: Any, x: Tensor | None) -> Tensor:
    """Convert `scalar` to a 0-d tensor. Its dtype is the result of type promotion of `x` and `scalar`."""
    dtype = _dtype_of(scalar) if x is None else ts.result_type(x, scalar)
    device = None if x is None else x.device
    return aten.scalar_tensor(scalar, dtype=dtype, device=device)


@decomposes("aten::where.ScalarOther", implicit=True)
def where_scalar_other(condition: Tensor, x: Tensor, other: Any) -> Tensor:
    """Select elements of `x` if `condition` is true, otherwise the number `other`."""
    return aten.where.self(condition, x, _wrapped(other, x))


@decomposes("aten::where.ScalarSelf", implicit=True)
def where_scalar_self(condition: Tensor, x: Any, other: Tensor) -> Tensor:
    """Select the number `x` if `condition` is true, otherwise elements of `other`."""
    return aten.where.self(condition, _wrapped(x, other), other)


@decomposes("aten::where.Scalar", implicit=True)
def where_scalar(condition: Tensor, x: Any, other: Any) -> Tensor:
    """Select the number `x` if `condition` is true, otherwise the number `other`."""
    dtype = ts.result_type(x, other)
    true_value, false_value = (
        aten.scalar_tensor(v, dtype=dtype, device=condition.device) for v in (x, other)
    )
    return aten.where.self(condition, true_value, false_value)


@decomposes("aten::where", "aten::nonzero_numpy", implicit=True)
def where(condition: Tensor) -> Any:
    """Return the indices of the nonzero elements of `condition`, one tensor per dimension."""
    return aten.unbind.int(aten.nonzero(condition), 1)


@decomposes("aten::masked_fill.Scalar")
def masked_fill(x: Tensor, mask: Tensor, value: Any) -> Tensor:
    """Return `x` with the number `value` for elements whose `mask` is True."""
    return aten.where.self(mask, zero_of(x, value), x)


@decomposes("aten::masked_fill.Tensor")
def masked_fill_tensor(x: Tensor, mask: Tensor, value: Tensor) -> Tensor:
    """Return `x` in which elements whose `mask` is True are replaced by the 0-d tensor `value`."""
    value = value if value.dtype is x.dtype else aten._to_copy(value, dtype=x.dtype)
    return aten.where.self(mask, value, x)


@decomposes("aten::clamp_min")
def clamp_min(x: Tensor, min: Any) -> Tensor:
    """Return `x` clamped to the lower bound `min`, a number."""
    return aten.clamp(x, min)


@decomposes("aten::clamp_max")
def clamp_max(x: Tensor, max: Any) -> Tensor:
    """Return `x` clamped to the upper bound `max`, a number."""
    return aten.clamp(x, None, max)


@decomposes("aten::clamp_min.Tensor")
def clamp_min_tensor(x: Tensor, min: Tensor) -> Tensor:
    """Return `x` clamped to the elementwise lower bounds `min`."""
    return aten.clamp.Tensor(x, min)


@decomposes("aten::clamp_max.Tensor")
def clamp_max_tensor(x: Tensor, max: Tensor) -> Tensor:
    """Return `x` clamped to the elementwise upper bounds `max`."""
    return aten.clamp.Tensor(x, None, max)


@decomposes("aten::rsub.Tensor")
def rsub(x: Tensor, other: Tensor, alpha: Any = 1) -> Tensor:
    """Return other - alpha * x."""
    return aten.sub.Tensor(other, x, alpha=alpha) if alpha != 1 else aten.sub.Tensor(other, x)


@decomposes("aten::rsub.Scalar")
def rsub_scalar(x: Tensor, other: Any, alpha: Any = 1) -> Tensor:
    """Return other - alpha * x for a scalar `other`."""
    return aten.sub.Tensor(other, x, alpha=alpha) if alpha != 1 else aten.sub.Tensor(other, x)


@decomposes("aten::floor_divide")
def floor_divide(x: Tensor, other: Tensor) -> Tensor:
    """Return x / other, rounded down."""
    return aten.div.Tensor_mode(x, other, rounding_mode="floor")


@decomposes("aten::floor_divide.Scalar")
def floor_divide_scalar(x: Tensor, other: Any) -> Tensor:
    """Return x / other for a number `other`, rounded down."""
    return aten.div.Tensor_mode(x, other, rounding_mode="floor")


@decomposes("aten::frac")
def frac(x: Tensor) -> Tensor:
    """Return x - trunc(x), the fractional part."""
    return aten.sub.Tensor(x, aten.trunc(x))


@decomposes("aten::sgn")
def sgn(x: Tensor) -> Tensor:
    """Decompose a real tensor to `sign`. For a complex tensor, keep the operator."""
    return NotImplemented if x.is_complex() else aten.sign(x)


@decomposes("aten::deg2rad")
def deg2rad(x: Tensor) -> Tensor:
    """Convert `x` from degrees to radians."""
    return aten.mul.Tensor(x, math.pi / 180)


@decomposes("aten::rad2deg")
def rad2deg(x: Tensor) -> Tensor:
    """Convert `x` from radians to degrees."""
    return aten.mul.Tensor(x, 180 / math.pi)


@decomposes("aten::sinc")
def sinc(x: Tensor) -> Tensor:
    """Return sin(πx) / πx."""
    x = aten.mul.Tensor(x, math.pi)
    return either(aten.eq.Scalar(x, 0), 1, aten.div.Tensor(aten.sin(x), x), x)


@decomposes("aten::logit")
def logit(x: Tensor, eps: float | None = None) -> Tensor:
    """Return log(x / (1 - x)) with x clamped to [eps, 1 - eps]."""
    low, high = (-1.0, 2.0) if eps is None else (eps, 1 - eps)
    below, exceeds = aten.lt.Scalar(x, low), aten.gt.Scalar(x, high)
    upper = aten.where.self(exceeds, zero_of(x, high), x)
    x = aten.where.self(below, zero_of(x, low), upper)
    return aten.log(aten.div.Tensor(x, aten.sub.Tensor(1, x)))


@decomposes("aten::lerp.Scalar")
def lerp(x: Tensor, end: Tensor, weight: Any) -> Tensor:
    """Return x + weight * (end - x) for a number as weight."""
    return lerp_tensor(x, end, aten.full([], weight, dtype=x.dtype, device=x.device))


@decomposes("aten::lerp.Tensor")
def lerp_tensor(x: Tensor, end: Tensor, weight: Tensor) -> Tensor:
    """Return x + weight * (end - x), computed from the nearer of `x` and `end` for accuracy."""
    near_end = aten.ge.Scalar(aten.abs(weight), 0.5)
    adjusted_weight = aten.where.self(near_end, aten.sub.Tensor(weight, 1), weight)
    start = aten.where.self(near_end, end, x)
    return aten.add.Tensor(aten.mul.Tensor(adjusted_weight, aten.sub.Tensor(end, x)), start)


@decomposes("aten::addcmul")
def addcmul(x: Tensor, a: Tensor, b: Tensor, *, value: Any = 1) -> Tensor:
    """Return x + value * a * b."""
    return aten.add.Tensor(x, aten.mul.Tensor(aten.mul.Tensor(a, value), b))


@decomposes("aten::addcdiv")
def addcdiv(x: Tensor, a: Tensor, b: Tensor, *, value: Any = 1) -> Tensor:
    """Return x + value * a / b."""
    return aten.add.Tensor(x, aten.div.Tensor(aten.mul.Tensor(a, value), b))


@decomposes("aten::isfinite", implicit=True)
def isfinite(x: Tensor) -> Tensor:
    """Return True for each element that is neither infinite nor NaN."""
    if not x.is_floating_point():
        return aten.full_like(x, True, dtype=ts.bool)
    not_infinite = aten.ne.Scalar(aten.abs(x), math.inf)
    return aten.mul.Tensor(aten.eq.Tensor(x, x), not_infinite)


@decomposes("aten::isneginf")
def isneginf(x: Tensor) -> Tensor:
    """Return True for each element that is -∞."""
    return aten.eq.Scalar(x, -math.inf)


@decomposes("aten::isposinf")
def isposinf(x: Tensor) -> Tensor:
    """Return True for each element that is +∞."""
    return aten.eq.Scalar(x, math.inf)


@decomposes("aten::isclose", implicit=True)
def isclose(
    x: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> Tensor:
    """Return True for each pair of elements that is equal within the relative and absolute tolerances."""
    equal = aten.eq.Tensor(x, other)
    if equal_nan and x.is_floating_point():
        both_nan = aten.bitwise_and.Tensor(aten.isnan(x), aten.isnan(other))
        equal = aten.bitwise_or.Tensor(equal, both_nan)
    allowed = aten.add.Scalar(aten.abs(aten.mul.Scalar(other, rtol)), atol)
    distance = aten.abs(aten.sub.Tensor(x, other))
    is_near = aten.bitwise_and.Tensor(isfinite(distance), aten.le.Tensor(distance, allowed))
    return aten.bitwise_or.Tensor(equal, is_near)


@decomposes("aten::nan_to_num")
def nan_to_num(x: Tensor, nan: Any = None, posinf: Any = None, neginf: Any = None) -> Tensor:
    """Return `x` with NaN, +∞ and -∞ replaced by the numbers `nan`, `posinf` and `neginf`."""
    if not x.is_floating_point():
        return aten.clone(x)
    limits = ts.finfo(x.dtype)
    result = either(aten.isnan(x), 0.0 if nan is None else nan, x, x)
    result = either(aten.eq.Scalar(x, -math.inf), limits.min if neginf is None else neginf, result, x)
    return either(aten.eq.Scalar(x, math.inf), limits.max if posinf is None else posinf, result, x)


@decomposes("aten::heaviside")
def heaviside(x: Tensor, values: Tensor) -> Tensor:
    """Return 0 for x < 0, 1 for x > 0, and `values` for x = 0."""
    zero = aten.eq.Scalar(x, 0)
    below = aten.logical_or(aten.lt.Scalar(x, 0), aten.isnan(x))
    return aten.where.self(zero, values, where_scalar(below, 0, 1))


@decomposes("aten::logaddexp")
def logaddexp(x: Tensor, other: Tensor) -> Tensor:
    """Return log(exp x + exp other)."""
    first = aten.ge.Tensor(x, other)
    high, low = aten.where.self(first, x, other), aten.where.self(first, other, x)
    equal_infinities = aten.logical_and(aten.logical_not(isfinite(x)), aten.eq.Tensor(x, other))
    log_sum = aten.add.Tensor(high, aten.log1p(aten.exp(aten.sub.Tensor(low, high))))
    return aten.where.self(equal_infinities, x, log_sum)


@decomposes("aten::logaddexp2")
def logaddexp2(x: Tensor, other: Tensor) -> Tensor:
    """Return log₂(2^x + 2^other)."""
    first = aten.ge.Tensor(x, other)
    high, low = aten.where.self(first, x, other), aten.where.self(first, other, x)
    equal_infinities = aten.logical_and(aten.isinf(x), aten.eq.Tensor(x, other))
    rest = aten.mul.Tensor(aten.log1p(aten.exp2(aten.sub.Tensor(low, high))), 1 / math.log(2))
    return aten.where.self(equal_infinities, x, aten.add.Tensor(high, rest))


@decomposes("aten::xlogy.Tensor")
def xlogy(x: Tensor, other: Tensor) -> Tensor:
    """Return x * log(other), and 0 for x = 0."""
    zero = aten.eq.Scalar(x, 0)
    product = aten.mul.Tensor(x, aten.log(other))
    product = either(zero, 0, product, product)
    return either(aten.isnan(other), math.nan, product, product)


@decomposes("aten::special_entr")
def entr(x: Tensor) -> Tensor:
    """Return -x log x, 0 for x = 0 and -inf for x < 0."""
    unknown, positive = aten.isnan(x), aten.gt.Scalar(x, 0)
    above = aten.mul.Tensor(aten.neg(x), aten.log(x))
    rest = either(aten.eq.Scalar(x, 0), 0, -math.inf, x)
    return aten.where.self(unknown, x, aten.where.self(positive, above, rest))


@decomposes("aten::special_ndtr", implicit=True)
def ndtr(x: Tensor) -> Tensor:
    """Compute the cumulative distribution function of the standard normal distribution."""
    return aten.mul.Scalar(aten.add.Scalar(aten.erf(aten.mul.Scalar(x, math.sqrt(0.5))), 1), 0.5)


@decomposes("aten::special_log_ndtr")
def log_ndtr(x: Tensor) -> Tensor:
    """Compute the logarithm of the standard normal distribution function."""
    t = aten.mul.Tensor(x, math.sqrt(0.5))
    left = aten.lt.Scalar(x, 1.0)
    low = aten.log(aten.div.Tensor(aten.special_erfcx(aten.neg(t)), 2))
    below = aten.sub.Tensor(low, aten.mul.Tensor(t, t))
    above = aten.log1p(aten.div.Tensor(aten.neg(aten.erfc(t)), 2))
    return aten.where.self(left, below, above)
