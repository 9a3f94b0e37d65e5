"""Distributions based on gamma variables: Gamma, Chi2, FisherSnedecor, StudentT, Beta, Dirichlet."""

from __future__ import annotations

import math
from typing import Any

import ts
from ts._core.tensor.tensor import Tensor
from ts.distributions import constraints
from ts.distributions.distribution import Distribution
from ts.distributions.exp_family import ExponentialFamily
from ts.distributions.utils import broadcast_all
from ts.nn import functional as F


class Gamma(ExponentialFamily):
    """Gamma distribution with shape `concentration` and rate `rate`."""

    has_rsample = True
    _mean_carrier_measure = 0
    arg_constraints = {"concentration": constraints.positive, "rate": constraints.positive}
    support = constraints.nonnegative

    def __init__(self, concentration: Any, rate: Any, validate_args: bool | None = None) -> None:
        self.concentration, self.rate = broadcast_all(concentration, rate)
        super().__init__(self.concentration.shape, validate_args=validate_args)

    @property
    def mean(self) -> Any:
        return self.concentration / self.rate

    @property
    def mode(self) -> Any:
        return ((self.concentration - 1) / self.rate).clamp(min=0)

    @property
    def variance(self) -> Any:
        return self.concentration / self.rate.pow(2)

    def rsample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        sample = ts._standard_gamma(self.concentration.expand(shape)) / self.rate.expand(shape)
        return sample.clamp(min=ts.finfo(sample.dtype).tiny)

    def log_prob(self, value: Any) -> Any:
        value = ts.as_tensor(value, dtype=self.rate.dtype, device=self.rate.device)
        self._validate_sample(value)
        return (
            ts.xlogy(self.concentration, self.rate)
            + ts.xlogy(self.concentration - 1, value)
            - self.rate * value
            - ts.lgamma(self.concentration)
        )

    def cdf(self, value: Any) -> Any:
        self._validate_sample(value)
        return ts.special.gammainc(self.concentration, self.rate * value)

    def entropy(self) -> Any:
        a = self.concentration
        return a - ts.log(self.rate) + ts.lgamma(a) + (1.0 - a) * ts.digamma(a)

    @property
    def _natural_params(self) -> Any:
        return self.concentration - 1, -self.rate

    def _log_normalizer(self, x: Any, y: Any) -> Any:  # type: ignore[override]
        return ts.lgamma(x + 1) - (x + 1) * ts.log(-y)


class Chi2(Gamma):
    """Chi-squared distribution: sum of the squares of `df` standard normal variables."""

    arg_constraints = {"df": constraints.positive}
    _extra_event_dims = {"concentration": 0, "rate": 0}

    def __init__(self, df: Any, validate_args: bool | None = None) -> None:
        super().__init__(0.5 * df, 0.5, validate_args)

    @property
    def df(self) -> Any:
        """Degrees of freedom."""
        return self.concentration * 2


class FisherSnedecor(Distribution):
    """F distribution: ratio of the mean squares of `df1` and of `df2` standard normal variables."""

    has_rsample = True
    arg_constraints = {"df1": constraints.positive, "df2": constraints.positive}
    support = constraints.positive

    def __init__(self, df1: Any, df2: Any, validate_args: bool | None = None) -> None:
        self.df1, self.df2 = broadcast_all(df1, df2)
        self._gamma1 = Gamma(self.df1 * 0.5, self.df1)
        self._gamma2 = Gamma(self.df2 * 0.5, self.df2)
        super().__init__(self.df1.shape, validate_args=validate_args)

    @property
    def mean(self) -> Any:
        df2 = self.df2.masked_fill(self.df2 <= 2, ts.nan)
        return df2 / (df2 - 2)

    @property
    def mode(self) -> Any:
        mode = (self.df1 - 2) / self.df1 * self.df2 / (self.df2 + 2)
        return mode.masked_fill(self.df1 <= 2, ts.nan)

    @property
    def variance(self) -> Any:
        df1, df2 = self.df1, self.df2.masked_fill(self.df2 <= 4, ts.nan)
        return 2 * df2.pow(2) * (df1 + df2 - 2) / (df1 * (df2 - 2).pow(2) * (df2 - 4))

    def rsample(self, sample_shape: Any = ()) -> Any:
        numerator, denominator = self._gamma1.rsample(sample_shape), self._gamma2.rsample(sample_shape)
        tiny = ts.finfo(denominator.dtype).tiny
        return (numerator / denominator.clamp(min=tiny)).clamp(min=tiny)

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        a, b, ratio = self.df1 * 0.5, self.df2 * 0.5, self.df1 / self.df2
        constant = (a + b).lgamma() - a.lgamma() - b.lgamma()
        return constant + a * ratio.log() + (a - 1) * value.log() - (a + b) * ts.log1p(ratio * value)


class StudentT(Distribution):
    """Student's t-distribution with `df` degrees of freedom."""

    has_rsample = True
    arg_constraints = {"df": constraints.positive, "loc": constraints.real, "scale": constraints.positive}
    support = constraints.real

    def __init__(self, df: Any, loc: Any = 0.0, scale: Any = 1.0, validate_args: bool | None = None) -> None:
        self.df, self.loc, self.scale = broadcast_all(df, loc, scale)
        self._chi2 = Chi2(self.df)
        super().__init__(self.df.shape, validate_args=validate_args)

    @property
    def mean(self) -> Any:
        return self.loc.masked_fill(self.df <= 1, ts.nan)

    @property
    def mode(self) -> Any:
        return self.loc

    @property
    def variance(self) -> Any:
        variance = self.scale.pow(2) * self.df / (self.df - 2)
        return variance.masked_fill(self.df <= 2, ts.inf).masked_fill(self.df <= 1, ts.nan)

    def rsample(self, sample_shape: Any = ()) -> Any:
        normal = self.df.new_empty(self._extended_shape(sample_shape)).normal_()
        chi_square = self._chi2.rsample(sample_shape)
        return self.loc + self.scale * normal * ts.rsqrt(chi_square / self.df)

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        df, half = self.df, 0.5 * (self.df + 1.0)
        constant = ts.lgamma(half) - ts.lgamma(0.5 * df) - 0.5 * (math.pi * df).log() - self.scale.log()
        return constant - half * ts.log1p(((value - self.loc) / self.scale) ** 2 / df)

    def entropy(self) -> Any:
        df, half = self.df, 0.5 * (self.df + 1)
        log_beta = ts.lgamma(0.5 * df) + math.lgamma(0.5) - ts.lgamma(half)
        spread = half * (ts.digamma(half) - ts.digamma(0.5 * df))
        return self.scale.log() + spread + 0.5 * df.log() + log_beta


class Dirichlet(ExponentialFamily):
    """Dirichlet distribution over probability vectors."""

    has_rsample = True
    arg_constraints = {"concentration": constraints.independent(constraints.positive, 1)}
    support = constraints.simplex

    def __init__(self, concentration: Tensor, validate_args: bool | None = None) -> None:
        if concentration.dim() < 1:
            raise ValueError("`concentration` parameter must be at least one-dimensional.")
        self.concentration = concentration
        super().__init__(concentration.shape[:-1], concentration.shape[-1:], validate_args)

    @property
    def mean(self) -> Any:
        return self.concentration / self.concentration.sum(-1, True)

    @property
    def mode(self) -> Any:
        excess = (self.concentration - 1).clamp(min=0.0)
        mode = excess / excess.sum(-1, True)
        # for these concentrations, the density is largest in a corner of the simplex
        corner = (self.concentration < 1).all(dim=-1)
        mode[corner] = F.one_hot(mode[corner].argmax(dim=-1), excess.shape[-1]).to(mode)
        return mode

    @property
    def variance(self) -> Any:
        a = self.concentration
        total = a.sum(-1, True)
        return a * (total - a) / (total.pow(2) * (total + 1))

    def rsample(self, sample_shape: Any = ()) -> Any:
        return ts._sample_dirichlet(self.concentration.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        a = self.concentration
        return ts.xlogy(a - 1.0, value).sum(-1) + ts.lgamma(a.sum(-1)) - ts.lgamma(a).sum(-1)

    def entropy(self) -> Any:
        a, k = self.concentration, self.concentration.size(-1)
        total = a.sum(-1)
        return (
            ts.lgamma(a).sum(-1)
            - ts.lgamma(total)
            - (k - total) * ts.digamma(total)
            - ((a - 1.0) * ts.digamma(a)).sum(-1)
        )

    @property
    def _natural_params(self) -> Any:
        return (self.concentration,)

    def _log_normalizer(self, x: Any) -> Any:  # type: ignore[override]
        return ts.lgamma(x).sum(-1) - ts.lgamma(x.sum(-1))


class Beta(ExponentialFamily):
    """Beta distribution: the first component of a two-dimensional Dirichlet variable."""

    has_rsample = True
    arg_constraints = {"concentration1": constraints.positive, "concentration0": constraints.positive}
    support = constraints.unit_interval

    def __init__(self, concentration1: Any, concentration0: Any, validate_args: bool | None = None) -> None:
        concentrations = ts.stack(broadcast_all(concentration1, concentration0), -1)
        self._dirichlet = Dirichlet(concentrations, validate_args)
        super().__init__(self._dirichlet.batch_shape, validate_args=validate_args)

    @property
    def concentration1(self) -> Any:
        """First concentration parameter (alpha)."""
        return self._dirichlet.concentration[..., 0]

    @property
    def concentration0(self) -> Any:
        """Second concentration parameter (beta)."""
        return self._dirichlet.concentration[..., 1]

    @property
    def mean(self) -> Any:
        return self.concentration1 / (self.concentration1 + self.concentration0)

    @property
    def mode(self) -> Any:
        return self._dirichlet.mode[..., 0]

    @property
    def variance(self) -> Any:
        total = self.concentration1 + self.concentration0
        return self.concentration1 * self.concentration0 / (total.pow(2) * (total + 1))

    def rsample(self, sample_shape: Any = ()) -> Any:
        return self._dirichlet.rsample(sample_shape).select(-1, 0)

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        return self._dirichlet.log_prob(ts.stack([value, 1.0 - value], -1))

    def entropy(self) -> Any:
        return self._dirichlet.entropy()

    @property
    def _natural_params(self) -> Any:
        return self.concentration1, self.concentration0

    def _log_normalizer(self, x: Any, y: Any) -> Any:  # type: ignore[override]
        return ts.lgamma(x) + ts.lgamma(y) - ts.lgamma(x + y)
