"""Elementwise transforms, such as exp, sigmoid, powers and loc + scale * x."""

from __future__ import annotations

import math
from typing import Any

import ts
from ts.distributions import constraints
from ts.distributions.transform import Transform
from ts.distributions.utils import broadcast_all, sum_rightmost
from ts.nn import functional as F


class _ElementwiseTransform(Transform):
    """Base class of increasing elementwise transforms without parameters.

    All instances of a class are equal.
    """

    bijective = True
    domain = constraints.real
    codomain: Any = constraints.real
    sign = 1

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self)

    __hash__ = object.__hash__


class ExpTransform(_ElementwiseTransform):
    """Transform x -> exp(x)."""

    codomain = constraints.positive

    def _call(self, x: Any) -> Any:
        return x.exp()

    def _inverse(self, y: Any) -> Any:
        return y.log()

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return x


class SigmoidTransform(_ElementwiseTransform):
    """Transform x -> 1 / (1 + exp(-x)), clamped so that it is never 0 or 1."""

    codomain = constraints.unit_interval

    def _call(self, x: Any) -> Any:
        return _clipped_sigmoid(x)

    def _inverse(self, y: Any) -> Any:
        finfo = ts.finfo(y.dtype)
        y = y.clamp(min=finfo.tiny, max=1.0 - finfo.eps)
        return y.log() - (-y).log1p()

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return -F.softplus(-x) - F.softplus(x)


class SoftplusTransform(_ElementwiseTransform):
    """Transform x -> log(1 + exp(x))."""

    codomain = constraints.positive

    def _call(self, x: Any) -> Any:
        return F.softplus(x)

    def _inverse(self, y: Any) -> Any:
        return (-y).expm1().neg().log() + y

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return -F.softplus(-x)


class TanhTransform(_ElementwiseTransform):
    """Transform x -> tanh(x)."""

    codomain = constraints.interval(-1.0, 1.0)

    def _call(self, x: Any) -> Any:
        return x.tanh()

    def _inverse(self, y: Any) -> Any:
        return ts.atanh(y)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return 2.0 * (math.log(2.0) - x - F.softplus(-2.0 * x))


class AbsTransform(_ElementwiseTransform):
    """Transform x -> |x|, whose inverse returns the nonnegative preimage."""

    bijective = False
    codomain = constraints.positive
    sign = Transform.sign

    def _call(self, x: Any) -> Any:
        return x.abs()

    def _inverse(self, y: Any) -> Any:
        return y


class PowerTransform(Transform):
    """Transform x -> x ** exponent."""

    _constructor_arguments = ("exponent",)
    bijective = True
    domain = constraints.positive
    codomain = constraints.positive

    def __init__(self, exponent: Any, cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        (self.exponent,) = broadcast_all(exponent)

    @property
    def sign(self) -> Any:
        return self.exponent.sign()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PowerTransform) and bool(self.exponent.eq(other.exponent).all())

    __hash__ = object.__hash__

    def _call(self, x: Any) -> Any:
        return x.pow(self.exponent)

    def _inverse(self, y: Any) -> Any:
        return y.pow(self.exponent.reciprocal())

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return (self.exponent * y / x).abs().log()

    def forward_shape(self, shape: Any) -> Any:
        return ts.broadcast_shapes(shape, self.exponent.shape)

    inverse_shape = forward_shape


class AffineTransform(Transform):
    """Transform x -> loc + scale * x."""

    _constructor_arguments = ("loc", "scale", "_event_dim")
    bijective = True

    def __init__(self, loc: Any, scale: Any, event_dim: int = 0, cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        self.loc, self.scale = loc, scale
        self._event_dim = event_dim

    @property
    def event_dim(self) -> int:
        return self._event_dim

    @property
    def domain(self) -> Any:  # type: ignore[override]
        """Real numbers, or real values with `event_dim` dimensions."""
        count = self._event_dim
        return constraints.independent(constraints.real, count) if count else constraints.real

    codomain = domain

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AffineTransform):
            return False
        return _equal(self.loc, other.loc) and _equal(self.scale, other.scale)

    __hash__ = object.__hash__

    @property
    def sign(self) -> Any:
        if isinstance(self.scale, ts.Tensor):
            return self.scale.sign()
        return (self.scale > 0) - (self.scale < 0)

    def _call(self, x: Any) -> Any:
        return self.loc + self.scale * x

    def _inverse(self, y: Any) -> Any:
        return (y - self.loc) / self.scale

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        scale = self.scale
        each = scale.abs().log() if isinstance(scale, ts.Tensor) else ts.full_like(x, math.log(abs(scale)))
        return sum_rightmost(each.expand(x.shape), self._event_dim)

    def forward_shape(self, shape: Any) -> Any:
        return ts.broadcast_shapes(shape, *(getattr(p, "shape", ()) for p in (self.loc, self.scale)))

    inverse_shape = forward_shape


def _equal(a: Any, b: Any) -> bool:
    """Return True if two numbers, or two tensors of equal shape, are equal."""
    same = a == b
    return bool(same.all()) if isinstance(same, ts.Tensor) else bool(same)


class CumulativeDistributionTransform(Transform):
    """Transform by the cumulative distribution function of a distribution."""

    _constructor_arguments = ("distribution",)
    bijective = True
    codomain = constraints.unit_interval
    sign = 1

    def __init__(self, distribution: Any, cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        self.distribution = distribution

    @property
    def domain(self) -> Any:  # type: ignore[override]
        """Support of the distribution."""
        return self.distribution.support

    def _call(self, x: Any) -> Any:
        return self.distribution.cdf(x)

    def _inverse(self, y: Any) -> Any:
        return self.distribution.icdf(y)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return self.distribution.log_prob(x)


def _clipped_sigmoid(x: Any) -> Any:
    """Return the sigmoid, clamped to the interval from the smallest normal number to 1 - eps."""
    finfo = ts.finfo(x.dtype)
    return x.sigmoid().clamp(min=finfo.tiny, max=1.0 - finfo.eps)
