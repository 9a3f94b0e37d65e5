"""TransformedDistribution (normalizing flow), and standard distributions that are transforms of others."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import ts
from ts._core.tensor.tensor import Size
from ts.distributions import constraints
from ts.distributions.continuous import Cauchy, Exponential, Normal, Uniform
from ts.distributions.distribution import Distribution
from ts.distributions.gamma_family import Gamma
from ts.distributions.multivariate import Independent
from ts.distributions.transforms import (
    AbsTransform,
    AffineTransform,
    ComposeTransform,
    ExpTransform,
    PowerTransform,
    StickBreakingTransform,
    Transform,
)
from ts.distributions.utils import broadcast_all, sum_rightmost

EULER = 0.57721566490153286060


class TransformedDistribution(Distribution):
    """Distribution of f(x) for samples x of a base distribution, where f is a sequence of transforms."""

    def __init__(
        self,
        base_distribution: Distribution,
        transforms: Transform | Sequence[Transform],
        validate_args: bool | None = None,
    ) -> None:
        steps = [transforms] if isinstance(transforms, Transform) else transforms
        if not isinstance(steps, list) or not all(isinstance(step, Transform) for step in steps):
            raise ValueError("transforms must be a Transform or a list of Transforms")
        shape = base_distribution.batch_shape + base_distribution.event_shape
        base_dims = len(base_distribution.event_shape)
        self.transforms = steps
        composed = ComposeTransform(steps)
        if len(shape) < composed.domain.event_dim:
            raise ValueError(
                "base_distribution needs to have shape with size at least "
                f"{composed.domain.event_dim}, but got {shape}."
            )
        after = Size(composed.forward_shape(shape))
        before = Size(composed.inverse_shape(after))
        if shape != before:
            base_distribution = base_distribution.expand(before[: len(before) - base_dims])
        extra_ndims = composed.domain.event_dim - base_dims
        self.base_dist = Independent(base_distribution, extra_ndims) if extra_ndims > 0 else base_distribution
        dim_change = composed.codomain.event_dim - composed.domain.event_dim
        batch_ndims = len(after) - max(composed.codomain.event_dim, base_dims + dim_change)
        super().__init__(after[:batch_ndims], after[batch_ndims:], validate_args)

    def _attribute_batch_shape(self, name: str, batch_shape: Any) -> Any:
        shape = batch_shape + self._event_shape
        for transform in reversed(self.transforms):
            shape = transform.inverse_shape(shape)
        return shape[: len(shape) - len(self.base_dist.event_shape)]

    @property
    def has_rsample(self) -> bool:  # type: ignore[override]
        """True if the base distribution supports `rsample`."""
        return self.base_dist.has_rsample

    @constraints.dependent_property(is_discrete=False)
    def support(self) -> Any:  # type: ignore[override]
        """Codomain of the last transform, with the event dimensions of this distribution."""
        if not self.transforms:
            return self.base_dist.support
        support = self.transforms[-1].codomain
        extra_ndims = len(self._event_shape) - support.event_dim
        return constraints.independent(support, extra_ndims) if extra_ndims > 0 else support

    def _apply_transforms(self, x: Any) -> Any:
        for transform in self.transforms:
            x = transform(x)
        return x

    def sample(self, sample_shape: Any = ()) -> Any:
        with ts.no_grad():
            return self._apply_transforms(self.base_dist.sample(sample_shape))

    def rsample(self, sample_shape: Any = ()) -> Any:
        return self._apply_transforms(self.base_dist.rsample(sample_shape))

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        event_dim, total = len(self._event_shape), 0.0
        for transform in reversed(self.transforms):
            before = transform.inv(value)
            event_dim += transform.domain.event_dim - transform.codomain.event_dim
            each = transform.log_abs_det_jacobian(before, value)
            total = total - sum_rightmost(each, event_dim - transform.domain.event_dim)
            value = before
        each = self.base_dist.log_prob(value)
        return total + sum_rightmost(each, event_dim - len(self.base_dist.event_shape))

    def _base_probability(self, probability: Any) -> Any:
        """Convert a cumulative probability between this distribution and the base distribution.

        The result for a probability p is 1 - p if the composition of all transforms is decreasing, else p.
        """
        sign = math.prod((transform.sign for transform in self.transforms), start=1)
        return probability if isinstance(sign, int) and sign == 1 else sign * (probability - 0.5) + 0.5

    def cdf(self, value: Any) -> Any:
        for transform in reversed(self.transforms):
            value = transform.inv(value)
        self.base_dist._validate_sample(value)
        return self._base_probability(self.base_dist.cdf(value))

    def icdf(self, value: Any) -> Any:
        return self._apply_transforms(self.base_dist.icdf(self._base_probability(value)))


class LogNormal(TransformedDistribution):
    """Log-normal distribution: exponential of a normal variable."""

    has_rsample = True
    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.positive

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        super().__init__(Normal(loc, scale, validate_args=validate_args), ExpTransform(), validate_args)

    @property
    def loc(self) -> Any:
        """Mean of the logarithm."""
        return self.base_dist.loc  # type: ignore[attr-defined]

    @property
    def scale(self) -> Any:
        """Standard deviation of the logarithm."""
        return self.base_dist.scale  # type: ignore[attr-defined]

    @property
    def mean(self) -> Any:
        return (self.loc + self.scale.pow(2) / 2).exp()

    @property
    def mode(self) -> Any:
        return (self.loc - self.scale.square()).exp()

    @property
    def variance(self) -> Any:
        squared = self.scale.pow(2)
        return squared.expm1() * (2 * self.loc + squared).exp()

    def entropy(self) -> Any:
        return self.base_dist.entropy() + self.loc


class LogisticNormal(TransformedDistribution):
    """Logistic-normal distribution: stick-breaking transform of normal variables to probabilities."""

    has_rsample = True
    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.simplex

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        base = Normal(loc, scale, validate_args=validate_args)
        if not base.batch_shape:
            base = base.expand([1])
        super().__init__(base, StickBreakingTransform(), validate_args)

    @property
    def loc(self) -> Any:
        """Means of the normal variables."""
        return self.base_dist.base_dist.loc  # type: ignore[attr-defined]

    @property
    def scale(self) -> Any:
        """Standard deviations of the normal variables."""
        return self.base_dist.base_dist.scale  # type: ignore[attr-defined]


class _HalfDistribution(TransformedDistribution):
    """Base class of distributions of the absolute value of a variable with center 0."""

    has_rsample = True
    arg_constraints = {"scale": constraints.positive}
    support = constraints.nonnegative

    @property
    def scale(self) -> Any:
        """Scale of the base distribution."""
        return self.base_dist.scale  # type: ignore[attr-defined]

    @property
    def mode(self) -> Any:
        return ts.zeros_like(self.scale)

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        value = ts.as_tensor(value, dtype=self.scale.dtype, device=self.scale.device)
        log_prob = self.base_dist.log_prob(value) + math.log(2)
        return ts.where(value >= 0, log_prob, -ts.inf)

    def cdf(self, value: Any) -> Any:
        self._validate_sample(value)
        return self.base_dist.cdf(value) * 2 - 1

    def icdf(self, value: Any) -> Any:
        return self.base_dist.icdf((value + 1) / 2)

    def entropy(self) -> Any:
        return self.base_dist.entropy() - math.log(2)


class HalfNormal(_HalfDistribution):
    """Half-normal distribution: absolute value of a normal variable with mean 0."""

    def __init__(self, scale: Any, validate_args: bool | None = None) -> None:
        super().__init__(Normal(0, scale, validate_args=False), AbsTransform(), validate_args)

    @property
    def mean(self) -> Any:
        return self.scale * math.sqrt(2 / math.pi)

    @property
    def variance(self) -> Any:
        return self.scale.pow(2) * (1 - 2 / math.pi)


class HalfCauchy(_HalfDistribution):
    """Half-Cauchy distribution: absolute value of a Cauchy variable with center 0."""

    def __init__(self, scale: Any, validate_args: bool | None = None) -> None:
        super().__init__(Cauchy(0, scale, validate_args=False), AbsTransform(), validate_args)

    @property
    def mean(self) -> Any:
        return ts.full_like(self.scale, ts.inf)

    @property
    def variance(self) -> Any:
        return self.base_dist.variance


class Gumbel(TransformedDistribution):
    """Gumbel distribution: limit distribution of the maximum of many variables."""

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        finfo = ts.finfo(self.loc.dtype)
        low, high = ts.full_like(self.loc, finfo.tiny), ts.full_like(self.loc, 1 - finfo.eps)
        steps = [
            ExpTransform().inv,
            AffineTransform(0, -ts.ones_like(self.scale)),
            ExpTransform().inv,
            AffineTransform(self.loc, -self.scale),
        ]
        super().__init__(Uniform(low, high, validate_args=validate_args), steps, validate_args)

    @property
    def mean(self) -> Any:
        return self.loc + self.scale * EULER

    @property
    def mode(self) -> Any:
        return self.loc

    @property
    def stddev(self) -> Any:
        return math.pi / math.sqrt(6) * self.scale

    @property
    def variance(self) -> Any:
        return self.stddev.pow(2)

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        y = (self.loc - value) / self.scale
        return y - y.exp() - self.scale.log()

    def entropy(self) -> Any:
        return self.scale.log() + (1 + EULER)


class Weibull(TransformedDistribution):
    """Weibull distribution of failure times. The failure rate is a power of the age."""

    arg_constraints = {"scale": constraints.positive, "concentration": constraints.positive}
    support = constraints.positive

    def __init__(self, scale: Any, concentration: Any, validate_args: bool | None = None) -> None:
        self.scale, self.concentration = broadcast_all(scale, concentration)
        base = Exponential(ts.ones_like(self.scale), validate_args=validate_args)
        steps = [PowerTransform(self.concentration.reciprocal()), AffineTransform(0, self.scale)]
        super().__init__(base, steps, validate_args)

    def _log_moment(self, power: int) -> Any:
        return ts.lgamma(1 + power / self.concentration)

    @property
    def mean(self) -> Any:
        return self.scale * ts.exp(self._log_moment(1))

    @property
    def mode(self) -> Any:
        k = self.concentration
        return self.scale * ((k - 1) / k) ** k.reciprocal()

    @property
    def variance(self) -> Any:
        return self.scale.pow(2) * (ts.exp(self._log_moment(2)) - ts.exp(2 * self._log_moment(1)))

    def entropy(self) -> Any:
        k = self.concentration
        return EULER * (1 - k.reciprocal()) + ts.log(self.scale / k) + 1


class Pareto(TransformedDistribution):
    """Pareto distribution on [scale, infinity): P(X > x) is proportional to x^-alpha."""

    arg_constraints = {"alpha": constraints.positive, "scale": constraints.positive}

    def __init__(self, scale: Any, alpha: Any, validate_args: bool | None = None) -> None:
        self.scale, self.alpha = broadcast_all(scale, alpha)
        base = Exponential(self.alpha, validate_args=validate_args)
        super().__init__(base, [ExpTransform(), AffineTransform(0, self.scale)], validate_args)

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Any:  # type: ignore[override]
        """Interval from `scale` to infinity."""
        return constraints.greater_than_eq(self.scale)

    @property
    def mean(self) -> Any:
        alpha = self.alpha.clamp(min=1)
        return alpha * self.scale / (alpha - 1)

    @property
    def mode(self) -> Any:
        return self.scale

    @property
    def variance(self) -> Any:
        alpha = self.alpha.clamp(min=2)
        return self.scale.pow(2) * alpha / ((alpha - 1).pow(2) * (alpha - 2))

    def entropy(self) -> Any:
        return (self.scale / self.alpha).log() + (1 + self.alpha.reciprocal())


class Kumaraswamy(TransformedDistribution):
    """Kumaraswamy distribution: the CDF is 1 - (1 - x^concentration1)^concentration0."""

    has_rsample = True
    arg_constraints = {"concentration1": constraints.positive, "concentration0": constraints.positive}
    support = constraints.unit_interval

    def __init__(self, concentration1: Any, concentration0: Any, validate_args: bool | None = None) -> None:
        self.concentration1, self.concentration0 = broadcast_all(concentration1, concentration0)
        zeros, ones = ts.zeros_like(self.concentration0), ts.ones_like(self.concentration0)
        steps = [
            PowerTransform(self.concentration0.reciprocal()),
            AffineTransform(1.0, -1.0),
            PowerTransform(self.concentration1.reciprocal()),
        ]
        super().__init__(Uniform(zeros, ones, validate_args=validate_args), steps, validate_args)

    def _moment(self, power: int) -> Any:
        """Return the mean of the variable raised to `power`."""
        a, b = 1 + power / self.concentration1, self.concentration0
        return b * ts.exp(ts.lgamma(a) + ts.lgamma(b) - ts.lgamma(a + b))

    @property
    def mean(self) -> Any:
        return self._moment(1)

    @property
    def mode(self) -> Any:
        a, b = self.concentration1, self.concentration0
        mode = ((a - 1) / (a * b - 1)) ** a.reciprocal()
        return mode.masked_fill((a < 1) | (b < 1), ts.nan)

    @property
    def variance(self) -> Any:
        return self._moment(2) - self._moment(1).pow(2)

    def entropy(self) -> Any:
        a, b = self.concentration1, self.concentration0
        harmonic = ts.digamma(b + 1) + EULER
        return 1 - b.reciprocal() + (1 - a.reciprocal()) * harmonic - ts.log(a) - ts.log(b)


class InverseGamma(TransformedDistribution):
    """Inverse gamma distribution: reciprocal of a gamma variable."""

    has_rsample = True
    arg_constraints = {"concentration": constraints.positive, "rate": constraints.positive}
    support = constraints.positive

    def __init__(self, concentration: Any, rate: Any, validate_args: bool | None = None) -> None:
        base = Gamma(concentration, rate, validate_args=validate_args)
        super().__init__(base, PowerTransform(-base.rate.new_ones(())), validate_args)

    @property
    def concentration(self) -> Any:
        """Concentration of the underlying gamma distribution."""
        return self.base_dist.concentration  # type: ignore[attr-defined]

    @property
    def rate(self) -> Any:
        """Rate of the underlying gamma distribution."""
        return self.base_dist.rate  # type: ignore[attr-defined]

    @property
    def mean(self) -> Any:
        a = self.concentration
        return (self.rate / (a - 1)).masked_fill(a <= 1, ts.inf)

    @property
    def mode(self) -> Any:
        return self.rate / (self.concentration + 1)

    @property
    def variance(self) -> Any:
        a = self.concentration
        return (self.rate.square() / ((a - 1).square() * (a - 2))).masked_fill(a <= 2, ts.inf)

    def entropy(self) -> Any:
        a = self.concentration
        return a + self.rate.log() + a.lgamma() - (1 + a) * a.digamma()
