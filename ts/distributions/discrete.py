"""Distributions of integers: Bernoulli, Categorical, Poisson."""

from __future__ import annotations

from typing import Any

import ts
from ts.distributions import constraints
from ts.distributions.distribution import (
    Distribution,
    broadcast_all,
    logits_to_probs,
    probs_to_logits,
)
from ts.nn import functional as F


class _ByProbabilities(Distribution):
    """One of `probs` and `logits` is given, the other is computed."""

    probs: Any
    logits: Any
    has_enumerate_support = True
    _binary = False

    def __getattr__(self, name: str) -> Any:
        if name == "logits" and "probs" in self.__dict__:
            self.logits = probs_to_logits(self.probs, self._binary)
            return self.logits
        if name == "probs" and "logits" in self.__dict__:
            self.probs = logits_to_probs(self.logits, self._binary)
            return self.probs
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")


def _check_one(probs: Any, logits: Any) -> None:
    if (probs is None) == (logits is None):
        raise ValueError("Either `probs` or `logits` must be specified, but not both.")


class Bernoulli(_ByProbabilities):
    """1 with probability `probs`, else 0."""

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.boolean
    _binary = True

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        _check_one(probs, logits)
        if probs is not None:
            (self.probs,) = broadcast_all(probs)
        else:
            (self.logits,) = broadcast_all(logits)
        shape = (self.logits if probs is None else self.probs).shape
        super().__init__(shape, validate_args=validate_args)

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
        self._check(value)
        logits, value = broadcast_all(self.logits, value)
        return -F.binary_cross_entropy_with_logits(logits, value, reduction="none")

    def entropy(self) -> Any:
        return F.binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none")

    def enumerate_support(self, expand: bool = True) -> Any:
        values = ts.arange(2, dtype=self.probs.dtype, device=self.probs.device)
        values = values.view((-1,) + (1,) * len(self._batch_shape))
        return values.expand((-1, *self._batch_shape)) if expand else values


class Categorical(_ByProbabilities):
    """An index, with probabilities in proportion to `probs` along the last dimension."""

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        _check_one(probs, logits)
        name, given = ("probs", probs) if logits is None else ("logits", logits)
        if given.dim() < 1:
            raise ValueError(f"`{name}` parameter must be at least one-dimensional.")
        if logits is None:
            self.probs = probs / probs.sum(-1, keepdim=True)
        else:
            self.logits = logits - logits.logsumexp(dim=-1, keepdim=True)
        self._num_events = given.size(-1)
        super().__init__(given.shape[:-1], validate_args=validate_args)

    @property
    def support(self) -> Any:  # type: ignore[override]
        """The indices."""
        return constraints.integer_interval(0, self._num_events - 1)

    @property
    def param_shape(self) -> Any:
        """The shape of `probs` and `logits`."""
        return (self.probs if "probs" in self.__dict__ else self.logits).shape

    @property
    def mean(self) -> Any:
        return ts.full(self._batch_shape, ts.nan, dtype=self.probs.dtype, device=self.probs.device)

    @property
    def variance(self) -> Any:
        return self.mean

    @property
    def mode(self) -> Any:
        return self.probs.argmax(dim=-1)

    def sample(self, sample_shape: Any = ()) -> Any:
        count = 1
        for size in sample_shape:
            count *= size
        with ts.no_grad():
            drawn = ts.multinomial(self.probs.reshape(-1, self._num_events), count, True)
        return drawn.T.reshape(self._extended_shape(sample_shape))

    def log_prob(self, value: Any) -> Any:
        self._check(value)
        index = value.long().unsqueeze(-1)
        index, logits = ts.broadcast_tensors(index, self.logits)
        return logits.gather(-1, index[..., :1]).squeeze(-1)

    def entropy(self) -> Any:
        logits = ts.clamp(self.logits, min=ts.finfo(self.logits.dtype).min)
        return -(logits * self.probs).sum(-1)

    def enumerate_support(self, expand: bool = True) -> Any:
        values = ts.arange(self._num_events).view((-1,) + (1,) * len(self._batch_shape))
        return values.expand((-1, *self._batch_shape)) if expand else values


class Poisson(Distribution):
    """How often something happens, `rate` times in the mean."""

    rate: Any
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
        self._check(value)
        rate, value = broadcast_all(self.rate, value)
        return value.xlogy(rate) - rate - (value + 1).lgamma()
