"""Distributions of one real number: Normal, Uniform, Exponential, Laplace, Cauchy, GeneralizedPareto."""

from __future__ import annotations

import math
from typing import Any

import ts
from ts.distributions import constraints
from ts.distributions.distribution import Distribution, LocationCentered
from ts.distributions.exp_family import ExponentialFamily
from ts.distributions.utils import broadcast_all


class _LocationScale(LocationCentered):
    """Base class of location-scale families. `loc` is the center and `scale` the width."""

    has_rsample = True
    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        super().__init__(self.loc.shape, validate_args=validate_args)


class Normal(_LocationScale, ExponentialFamily):
    """Normal distribution with mean `loc` and standard deviation `scale`."""

    _mean_carrier_measure = 0

    @property
    def stddev(self) -> Any:
        return self.scale

    @property
    def variance(self) -> Any:
        return self.scale**2

    def sample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        with ts.no_grad():
            return ts.normal(self.loc.expand(shape), self.scale.expand(shape))

    def rsample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        return self.loc + self.loc.new_empty(shape).normal_() * self.scale

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        distance = (value - self.loc) ** 2 / (2 * self.scale**2)
        return -distance - self.scale.log() - math.log(math.sqrt(2 * math.pi))

    def cdf(self, value: Any) -> Any:
        self._validate_sample(value)
        return 0.5 * (1 + ts.erf((value - self.loc) * self.scale.reciprocal() / math.sqrt(2)))

    def icdf(self, value: Any) -> Any:
        return self.loc + self.scale * ts.erfinv(2 * value - 1) * math.sqrt(2)

    def entropy(self) -> Any:
        return 0.5 + 0.5 * math.log(2 * math.pi) + ts.log(self.scale)

    @property
    def _natural_params(self) -> Any:
        precision = self.scale.pow(-2)
        return self.loc * precision, -0.5 * precision

    def _log_normalizer(self, x: Any, y: Any) -> Any:  # type: ignore[override]
        return 0.5 * ts.log(-math.pi / y) - x.pow(2) / (4 * y)


class Uniform(Distribution):
    """Uniform distribution on the interval from `low` to `high`."""

    has_rsample = True

    def __init__(self, low: Any, high: Any, validate_args: bool | None = None) -> None:
        self.low, self.high = broadcast_all(low, high)
        super().__init__(self.low.shape, validate_args=validate_args)

    @property
    def arg_constraints(self) -> Any:  # type: ignore[override]
        """Constraints on the parameters: `low` is less than `high`."""
        return {"low": constraints.less_than(self.high), "high": constraints.greater_than(self.low)}

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Any:  # type: ignore[override]
        """Interval from `low` to `high`."""
        return constraints.interval(self.low, self.high)

    @property
    def mean(self) -> Any:
        return (self.high + self.low) / 2

    @property
    def mode(self) -> Any:
        return ts.nan * self.high

    @property
    def variance(self) -> Any:
        return (self.high - self.low) ** 2 / 12

    def rsample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        noise = ts.rand(shape, dtype=self.low.dtype, device=self.low.device)
        return self.low + noise * (self.high - self.low)

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        is_inside = (self.low <= value).to(self.low.dtype) * (self.high > value).to(self.low.dtype)
        return is_inside.log() - ts.log(self.high - self.low)

    def cdf(self, value: Any) -> Any:
        self._validate_sample(value)
        return ((value - self.low) / (self.high - self.low)).clamp(min=0, max=1)

    def icdf(self, value: Any) -> Any:
        return value * (self.high - self.low) + self.low

    def entropy(self) -> Any:
        return ts.log(self.high - self.low)


class Exponential(ExponentialFamily):
    """Exponential distribution of the time until an event that occurs with rate `rate`."""

    has_rsample = True
    _mean_carrier_measure = 0
    arg_constraints = {"rate": constraints.positive}
    support = constraints.nonnegative

    def __init__(self, rate: Any, validate_args: bool | None = None) -> None:
        (self.rate,) = broadcast_all(rate)
        super().__init__(self.rate.shape, validate_args=validate_args)

    @property
    def mean(self) -> Any:
        return self.rate.reciprocal()

    @property
    def mode(self) -> Any:
        return ts.zeros_like(self.rate)

    @property
    def stddev(self) -> Any:
        return self.rate.reciprocal()

    @property
    def variance(self) -> Any:
        return self.rate.pow(-2)

    def rsample(self, sample_shape: Any = ()) -> Any:
        return self.rate.new_empty(self._extended_shape(sample_shape)).exponential_() / self.rate

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        return self.rate.log() - self.rate * value

    def cdf(self, value: Any) -> Any:
        self._validate_sample(value)
        return 1 - ts.exp(-self.rate * value)

    def icdf(self, value: Any) -> Any:
        return -ts.log1p(-value) / self.rate

    def entropy(self) -> Any:
        return 1.0 - ts.log(self.rate)

    @property
    def _natural_params(self) -> Any:
        return (-self.rate,)

    def _log_normalizer(self, x: Any) -> Any:  # type: ignore[override]
        return -ts.log(-x)


class Laplace(_LocationScale):
    """Laplace distribution: two exponential distributions on both sides of `loc`."""

    @property
    def variance(self) -> Any:
        return 2 * self.scale.pow(2)

    @property
    def stddev(self) -> Any:
        return math.sqrt(2) * self.scale

    def rsample(self, sample_shape: Any = ()) -> Any:
        noise = self.loc.new_empty(self._extended_shape(sample_shape))
        noise.uniform_(ts.finfo(self.loc.dtype).eps - 1, 1)
        return self.loc - self.scale * noise.sign() * ts.log1p(-noise.abs())

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        return -ts.log(2 * self.scale) - ts.abs(value - self.loc) / self.scale

    def cdf(self, value: Any) -> Any:
        self._validate_sample(value)
        deviation = value - self.loc
        return 0.5 - 0.5 * deviation.sign() * ts.expm1(-deviation.abs() / self.scale)

    def icdf(self, value: Any) -> Any:
        term = value - 0.5
        return self.loc - self.scale * term.sign() * ts.log1p(-2 * term.abs())

    def entropy(self) -> Any:
        return 1 + ts.log(2 * self.scale)


class Cauchy(_LocationScale):
    """Cauchy distribution with location `loc` and scale `scale`. It has no mean."""

    @property
    def mean(self) -> Any:
        return ts.full_like(self.loc, ts.nan)

    @property
    def variance(self) -> Any:
        return ts.full_like(self.loc, ts.inf)

    def rsample(self, sample_shape: Any = ()) -> Any:
        noise = self.loc.new_empty(self._extended_shape(sample_shape)).cauchy_()
        return self.loc + noise * self.scale

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        return -math.log(math.pi) - self.scale.log() - ((value - self.loc) / self.scale).pow(2).log1p()

    def cdf(self, value: Any) -> Any:
        self._validate_sample(value)
        return ts.atan((value - self.loc) / self.scale) / math.pi + 0.5

    def icdf(self, value: Any) -> Any:
        return ts.tan(math.pi * (value - 0.5)) * self.scale + self.loc

    def entropy(self) -> Any:
        return math.log(4 * math.pi) + self.scale.log()


class GeneralizedPareto(Distribution):
    """Generalized Pareto distribution of numbers above `loc`.

    If `concentration` is 0, the distribution is exponential. If `concentration` is negative, its support is
    bounded.
    """

    has_rsample = True
    arg_constraints = {
        "loc": constraints.real, "scale": constraints.positive, "concentration": constraints.real,
    }  # fmt: skip

    def __init__(self, loc: Any, scale: Any, concentration: Any, validate_args: bool | None = None) -> None:
        self.loc, self.scale, self.concentration = broadcast_all(loc, scale, concentration)
        super().__init__(self.loc.shape, validate_args=validate_args)

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Any:  # type: ignore[override]
        """Interval from `loc` to infinity, or to loc - scale / concentration if `concentration` < 0."""
        end = self.loc - self.scale / self.concentration
        return constraints.interval(self.loc, ts.where(self.concentration < 0, end, ts.inf))

    @property
    def mean(self) -> Any:
        finite = self.concentration < 1
        mean = self.loc + self.scale / (1 - ts.where(finite, self.concentration, 0.5))
        return ts.where(finite, mean, ts.nan)

    @property
    def mode(self) -> Any:
        return self.loc

    @property
    def variance(self) -> Any:
        finite = self.concentration < 0.5
        c = ts.where(finite, self.concentration, 0.25)
        return ts.where(finite, (self.scale / (1 - c)) ** 2 / (1 - 2 * c), ts.nan)

    def _tail(self) -> tuple[Any, Any]:
        """Return a mask of zero concentrations, and the concentrations with each zero replaced by 1.

        At a zero concentration, the distribution is exponential.
        """
        exponential = ts.isclose(self.concentration, ts.zeros_like(self.concentration))
        return exponential, ts.where(exponential, 1.0, self.concentration)

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Draw samples by inverse transform sampling."""
        shape = self._extended_shape(sample_shape)
        return self.icdf(ts.rand(shape, dtype=self.loc.dtype, device=self.loc.device))

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        z = (value - self.loc) / self.scale
        exponential, c = self._tail()
        power = 1 / c + 1
        # If the distribution is uniform, `power` is 0. Avoid 0 * log(0), which is NaN, at the end of the
        # support.
        fall = ts.where(power == 0, 0.0, power * ts.log1p(c * z))
        return -self.scale.log() - ts.where(exponential, z, fall)

    def log_survival_function(self, value: Any) -> Any:
        """Return the logarithm of the probability of a number greater than `value`."""
        self._validate_sample(value)
        z = (value - self.loc) / self.scale
        exponential, c = self._tail()
        return -ts.where(exponential, z, ts.log1p(c * z) / c)

    def log_cdf(self, value: Any) -> Any:
        """Return the logarithm of `cdf`."""
        return ts.log1p(-ts.exp(self.log_survival_function(value)))

    def cdf(self, value: Any) -> Any:
        return ts.exp(self.log_cdf(value))

    def icdf(self, value: Any) -> Any:
        exponential, c = self._tail()
        log_above = ts.log1p(-value)
        bent = self.loc + self.scale / c * ts.expm1(-c * log_above)
        return ts.where(exponential, self.loc - self.scale * log_above, bent)

    def entropy(self) -> Any:
        return self.scale.log() + self.concentration + 1
