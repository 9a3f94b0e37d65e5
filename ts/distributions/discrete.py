"""Distributions of integers: Bernoulli, Binomial, Geometric, NegativeBinomial and Poisson."""

from __future__ import annotations

from typing import Any

import ts
from ts.distributions import constraints
from ts.distributions.distribution import Distribution
from ts.distributions.exp_family import ExponentialFamily
from ts.distributions.gamma_family import Gamma
from ts.distributions.utils import broadcast_all, lazy_property, logits_to_probs, probs_to_logits
from ts.nn import functional as F


def check_one_given(probs: Any, logits: Any) -> None:
    """Raise ValueError unless exactly one of `probs` and `logits` is given."""
    if (probs is None) == (logits is None):
        raise ValueError("Either `probs` or `logits` must be specified, but not both.")


class ProbsOrLogits(Distribution):
    """Base class of distributions with the parameter `probs` or `logits`.

    The other parameter is computed on access.
    """

    def _set(self, probs: Any, logits: Any, *others: Any) -> list[Any]:
        """Store the parameter that is not None, `probs` or `logits`, after broadcasting with `others`.

        Return the broadcast `others`. Raise ValueError unless exactly one of `probs` and `logits` is None.
        """
        check_one_given(probs, logits)
        name, parameter = ("probs", probs) if logits is None else ("logits", logits)
        *rest, self.__dict__[name] = broadcast_all(*others, parameter)
        return rest

    @lazy_property
    def probs(self) -> Any:
        """Success probability. For Bernoulli, it is the probability of 1."""
        return logits_to_probs(self.logits, is_binary=True)

    @lazy_property
    def logits(self) -> Any:
        """Logarithm of the odds of success, log(probs / (1 - probs))."""
        return probs_to_logits(self.probs, is_binary=True)

    @property
    def _param(self) -> Any:
        return self.__dict__["probs"] if "probs" in self.__dict__ else self.__dict__["logits"]

    @property
    def param_shape(self) -> Any:
        """Shape of `probs` and `logits`."""
        return self._param.size()


class Bernoulli(ProbsOrLogits, ExponentialFamily):
    """Bernoulli distribution: 1 with probability `probs`, otherwise 0."""

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.boolean
    has_enumerate_support = True
    _mean_carrier_measure = 0

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        self._set(probs, logits)
        super().__init__(self._param.shape, validate_args=validate_args)

    @property
    def mean(self) -> Any:
        return self.probs

    @property
    def mode(self) -> Any:
        return (self.probs >= 0.5).to(self.probs).masked_fill(self.probs == 0.5, ts.nan)

    @property
    def variance(self) -> Any:
        return self.probs * (1 - self.probs)

    def sample(self, sample_shape: Any = ()) -> Any:
        with ts.no_grad():
            return ts.bernoulli(self.probs.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        return -F.binary_cross_entropy_with_logits(logits, value, reduction="none")

    def entropy(self) -> Any:
        return F.binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none")

    def enumerate_support(self, expand: bool = True) -> Any:
        return _enumerate_counts(2, self._param, self._batch_shape, expand)

    @property
    def _natural_params(self) -> Any:
        return (ts.logit(self.probs),)

    def _log_normalizer(self, x: Any) -> Any:  # type: ignore[override]
        return ts.log1p(ts.exp(x))


def _enumerate_counts(count: int, like: Any, batch_shape: Any, expand: bool) -> Any:
    """Return the numbers 0, 1, ..., count - 1 as a tensor of shape (count, 1, ...).

    If `expand` is True, the shape is (count, *batch_shape).
    """
    values = ts.arange(count, dtype=like.dtype, device=like.device)
    values = values.view((-1,) + (1,) * len(batch_shape))
    return values.expand((-1, *batch_shape)) if expand else values


class Binomial(ProbsOrLogits):
    """Binomial distribution: successes in `total_count` trials of probability `probs`."""

    arg_constraints = {
        "total_count": constraints.nonnegative_integer,
        "probs": constraints.unit_interval,
        "logits": constraints.real,
    }
    has_enumerate_support = True

    def __init__(
        self, total_count: Any = 1, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        (total_count,) = self._set(probs, logits, total_count)
        self.total_count = total_count.type_as(self._param)
        super().__init__(self._param.shape, validate_args=validate_args)

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> Any:  # type: ignore[override]
        """Integers from 0 to the number of trials."""
        return constraints.integer_interval(0, self.total_count)

    @property
    def mean(self) -> Any:
        return self.total_count * self.probs

    @property
    def mode(self) -> Any:
        return ts.minimum(((self.total_count + 1) * self.probs).floor(), self.total_count)

    @property
    def variance(self) -> Any:
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        with ts.no_grad():
            return ts.binomial(self.total_count.expand(shape), self.probs.expand(shape))

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        n, logits = self.total_count, self.logits
        log_coefficient = ts.lgamma(n + 1) - ts.lgamma(value + 1) - ts.lgamma(n - value + 1)
        # softplus(logits) is computed as max(logits, 0) + log1p(exp(-|logits|)), because `F.softplus` is the
        # identity above a threshold.
        largest = (logits + logits.abs()) / 2
        return log_coefficient + value * logits - n * (largest + ts.log1p(ts.exp(-logits.abs())))

    def entropy(self) -> Any:
        log_prob = self.log_prob(self._enumerate_equal_counts("entropy", False))
        return -(ts.exp(log_prob) * log_prob).sum(0)

    def enumerate_support(self, expand: bool = True) -> Any:
        return self._enumerate_equal_counts("enumerate_support", expand)

    def _enumerate_equal_counts(self, method: str, expand: bool) -> Any:
        total = int(self.total_count.max())
        if not self.total_count.min() == total:
            raise NotImplementedError(f"Inhomogeneous total count not supported by `{method}`.")
        return _enumerate_counts(1 + total, self._param, self._batch_shape, expand)


class Geometric(ProbsOrLogits):
    """Geometric distribution: failures before the first success, which has probability `probs`."""

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.nonnegative_integer

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        self._set(probs, logits)
        super().__init__(self._param.shape, validate_args=validate_args)
        if self._validate_args and probs is not None and not bool((valid := self.probs > 0).all()):
            raise ValueError(
                f"Expected parameter probs ({type(self.probs).__name__} of shape {tuple(self.probs.shape)}) "
                f"of distribution {self!r} to be positive but found invalid values:\n{self.probs[~valid]}"
            )

    @property
    def mean(self) -> Any:
        return 1.0 / self.probs - 1.0

    @property
    def mode(self) -> Any:
        return ts.zeros_like(self.probs)

    @property
    def variance(self) -> Any:
        return (1.0 / self.probs - 1.0) / self.probs

    def sample(self, sample_shape: Any = ()) -> Any:
        with ts.no_grad():
            uniform = self.probs.new_empty(self._extended_shape(sample_shape))
            uniform.uniform_(ts.finfo(self.probs.dtype).tiny, 1)
            return (uniform.log() / (-self.probs).log1p()).floor()

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        value, probs = broadcast_all(value, self.probs)
        failed = probs.masked_fill(probs.eq(1) & value.eq(0), 0)
        return value * (-failed).log1p() + self.probs.log()

    def entropy(self) -> Any:
        cross = F.binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none")
        return cross / self.probs


class NegativeBinomial(ProbsOrLogits):
    """Negative binomial distribution: number of successes before `total_count` failures.

    `probs` is the probability of a success.
    """

    arg_constraints = {
        "total_count": constraints.greater_than_eq(0),
        "probs": constraints.half_open_interval(0.0, 1.0),
        "logits": constraints.real,
    }
    support = constraints.nonnegative_integer

    def __init__(
        self, total_count: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        (total_count,) = self._set(probs, logits, total_count)
        self.total_count = total_count.type_as(self._param)
        super().__init__(self._param.shape, validate_args=validate_args)

    @property
    def mean(self) -> Any:
        return self.total_count * ts.exp(self.logits)

    @property
    def mode(self) -> Any:
        return ((self.total_count - 1) * self.logits.exp()).floor().clamp(min=0.0)

    @property
    def variance(self) -> Any:
        return self.mean / ts.sigmoid(-self.logits)

    @lazy_property
    def _gamma(self) -> Any:
        """Gamma distribution of the rate of a Poisson variable. This makes the variable negative binomial."""
        return Gamma(self.total_count, ts.exp(-self.logits), validate_args=False)

    def sample(self, sample_shape: Any = ()) -> Any:
        with ts.no_grad():
            return ts.poisson(self._gamma.sample(sample_shape))

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        n, logits = self.total_count, self.logits
        log_coefficient = ts.lgamma(n + value) - ts.lgamma(1.0 + value) - ts.lgamma(n)
        log_coefficient = log_coefficient.masked_fill(n + value == 0.0, 0.0)
        return n * F.logsigmoid(-logits) + value * F.logsigmoid(logits) + log_coefficient


class Poisson(ExponentialFamily):
    """Poisson distribution of the number of events, with mean `rate`."""

    arg_constraints = {"rate": constraints.nonnegative}
    support = constraints.nonnegative_integer

    def __init__(self, rate: Any, validate_args: bool | None = None) -> None:
        (self.rate,) = broadcast_all(rate)
        super().__init__(self.rate.shape, validate_args=validate_args)

    @property
    def mean(self) -> Any:
        return self.rate

    @property
    def mode(self) -> Any:
        return self.rate.floor()

    @property
    def variance(self) -> Any:
        return self.rate

    def sample(self, sample_shape: Any = ()) -> Any:
        with ts.no_grad():
            return ts.poisson(self.rate.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        rate, value = broadcast_all(self.rate, value)
        return value.xlogy(rate) - rate - (value + 1).lgamma()

    @property
    def _natural_params(self) -> Any:
        return (ts.log(self.rate),)

    def _log_normalizer(self, x: Any) -> Any:  # type: ignore[override]
        return ts.exp(x)
