"""Distributions of numbers in an interval: ContinuousBernoulli and VonMises."""

from __future__ import annotations

import math
from typing import Any

import ts
from ts.distributions import constraints
from ts.distributions.discrete import ProbsOrLogits
from ts.distributions.distribution import LocationCentered
from ts.distributions.exp_family import ExponentialFamily
from ts.distributions.utils import broadcast_all, clamp_probs, lazy_property, logits_to_probs
from ts.nn import functional as F


class ContinuousBernoulli(ProbsOrLogits, ExponentialFamily):
    """Continuous Bernoulli distribution on [0, 1], with density proportional to probs^x (1 - probs)^(1 - x).

    The closed form of the normalization constant is imprecise if `probs` is near 0.5. Between the two numbers
    `lims`, a power series replaces it.
    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.unit_interval
    has_rsample = True
    _mean_carrier_measure = 0

    def __init__(
        self,
        probs: Any = None,
        logits: Any = None,
        lims: tuple[float, float] = (0.499, 0.501),
        validate_args: bool | None = None,
    ) -> None:
        self._set(probs, logits)
        if probs is not None:
            if validate_args is not None and not bool(constraints.unit_interval.check(self.probs).all()):
                raise ValueError("The parameter probs has invalid values")
            self.probs = clamp_probs(self.probs)
        self._lims = lims
        super().__init__(self._param.shape, validate_args=validate_args)

    @lazy_property
    def probs(self) -> Any:
        """Parameter of the density.

        The density is increasing for `probs` above 0.5 and decreasing below 0.5.
        """
        return clamp_probs(logits_to_probs(self.logits, is_binary=True))

    def _is_away_from_half(self) -> Any:
        return (self.probs <= self._lims[0]) | (self.probs > self._lims[1])

    def _stable_probs(self) -> Any:
        """Return `probs`, with values near 0.5 replaced by one for which the closed form is precise."""
        return ts.where(self._is_away_from_half(), self.probs, self._lims[0])

    def _log_constant(self) -> Any:
        """Logarithm of the normalization constant."""
        p = self._stable_probs()
        lower_probs, upper_probs = ts.where(p <= 0.5, p, 0.0), ts.where(p >= 0.5, p, 1.0)
        log_difference = ts.log(ts.abs(ts.log1p(-p) - ts.log(p)))
        exact = log_difference - ts.where(
            p <= 0.5, ts.log1p(-2.0 * lower_probs), ts.log(2.0 * upper_probs - 1.0)
        )
        x = (self.probs - 0.5) ** 2
        return ts.where(self._is_away_from_half(), exact, math.log(2.0) + (4.0 / 3.0 + 104.0 / 45.0 * x) * x)

    @property
    def mean(self) -> Any:
        p, x = self._stable_probs(), self.probs - 0.5
        exact = p / (2.0 * p - 1.0) + 1.0 / (ts.log1p(-p) - ts.log(p))
        return ts.where(self._is_away_from_half(), exact, 0.5 + (1.0 / 3.0 + 16.0 / 45.0 * x**2) * x)

    @property
    def variance(self) -> Any:
        p, x = self._stable_probs(), (self.probs - 0.5) ** 2
        exact = p * (p - 1.0) / (1.0 - 2.0 * p) ** 2 + 1.0 / (ts.log1p(-p) - ts.log(p)) ** 2
        return ts.where(self._is_away_from_half(), exact, 1.0 / 12.0 - (1.0 / 15.0 - 128.0 / 945.0 * x) * x)

    def sample(self, sample_shape: Any = ()) -> Any:
        with ts.no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Draw samples by inverse transform sampling."""
        shape = self._extended_shape(sample_shape)
        return self.icdf(ts.rand(shape, dtype=self.probs.dtype, device=self.probs.device))

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        cross = F.binary_cross_entropy_with_logits(logits, value, reduction="none")
        return self._log_constant() - cross

    def cdf(self, value: Any) -> Any:
        self._validate_sample(value)
        p = self._stable_probs()
        exact = (p**value * (1.0 - p) ** (1.0 - value) + p - 1.0) / (2.0 * p - 1.0)
        probability = ts.where(self._is_away_from_half(), exact, value)
        return probability.masked_fill(value <= 0.0, 0.0).masked_fill(value >= 1.0, 1.0)

    def icdf(self, value: Any) -> Any:
        p = self._stable_probs()
        exact = (ts.log1p(-p + value * (2.0 * p - 1.0)) - ts.log1p(-p)) / (ts.log(p) - ts.log1p(-p))
        return ts.where(self._is_away_from_half(), exact, value)

    def entropy(self) -> Any:
        log_complements, log_probs = ts.log1p(-self.probs), ts.log(self.probs)
        return self.mean * (log_complements - log_probs) - self._log_constant() - log_complements

    @property
    def _natural_params(self) -> Any:
        return (self.logits,)

    def _log_normalizer(self, x: Any) -> Any:  # type: ignore[override]
        first, last = (lim - 0.5 for lim in self._lims)
        is_stable = (x <= first) | (x > last)
        stable_x = ts.where(is_stable, x, first)
        series = 0.5 * x + x.pow(2) / 24.0 - x.pow(4) / 2880.0
        return ts.where(is_stable, ts.log(ts.special.expm1(stable_x) / stable_x), series)


class VonMises(LocationCentered):
    """Von Mises distribution of angles around `loc`. A larger `concentration` makes it narrower."""

    arg_constraints = {"loc": constraints.real, "concentration": constraints.positive}
    support = constraints.real

    def __init__(self, loc: Any, concentration: Any, validate_args: bool | None = None) -> None:
        self.loc, self.concentration = broadcast_all(loc, concentration)
        super().__init__(self.loc.shape, validate_args=validate_args)

    @property
    def variance(self) -> Any:
        return 1 - ts.special.i1e(self.concentration) / ts.special.i0e(self.concentration)

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        k = self.concentration
        log_bessel = ts.special.i0e(k).log() + k
        return k * ts.cos(value - self.loc) - math.log(2 * math.pi) - log_bessel

    def sample(self, sample_shape: Any = ()) -> Any:
        """Draw angles by rejection sampling from a wrapped Cauchy distribution (Best and Fisher, 1979)."""
        shape = self._extended_shape(sample_shape)
        with ts.no_grad():
            k = self.concentration.double().expand(shape)
            tau = 1 + (1 + 4 * k**2).sqrt()
            rho = (tau - (2 * tau).sqrt()) / (2 * k)
            r = ts.where(k < 1e-5, 1 / k + k, (1 + rho**2) / (2 * rho))
            angle = ts.zeros(shape, dtype=ts.double, device=k.device)
            done = ts.zeros(shape, dtype=ts.bool, device=k.device)
            while not bool(done.all()):
                angle_sample, acceptance_sample, sign_sample = ts.rand(
                    (3, *shape), dtype=ts.double, device=k.device
                ).unbind()
                z = ts.cos(math.pi * angle_sample)
                f = (1 + r * z) / (r + z)
                c = k * (r - f)
                is_accepted = (c * (2 - c) - acceptance_sample > 0) | (
                    (c / acceptance_sample).log() + 1 - c >= 0
                )
                angle = ts.where(is_accepted, (sign_sample - 0.5).sign() * f.acos(), angle)
                done = done | is_accepted
            turned = (angle + math.pi + self.loc) % (2 * math.pi) - math.pi
        return turned.to(self.loc.dtype)
