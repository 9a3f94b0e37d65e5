"""Distributions over a finite number of categories: Categorical, OneHotCategorical, Multinomial."""

from __future__ import annotations

from typing import Any

import ts
from ts._core.tensor.tensor import Size
from ts.distributions import constraints
from ts.distributions.discrete import Binomial, check_one_given
from ts.distributions.distribution import Distribution
from ts.distributions.utils import lazy_property, logits_to_probs, probs_to_logits
from ts.nn import functional as F


class Categorical(Distribution):
    """Categorical distribution of indices.

    The probabilities are the elements along the last dimension of `probs`, normalized to sum 1.
    """

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    has_enumerate_support = True

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        check_one_given(probs, logits)
        name, parameter = ("probs", probs) if logits is None else ("logits", logits)
        if parameter.dim() < 1:
            raise ValueError(f"`{name}` parameter must be at least one-dimensional.")
        if logits is None:
            self.probs = probs / probs.sum(-1, keepdim=True)
        else:
            self.logits = logits - logits.logsumexp(dim=-1, keepdim=True)
        self._num_events = parameter.size(-1)
        super().__init__(parameter.shape[:-1], validate_args=validate_args)

    @lazy_property
    def probs(self) -> Any:
        """Normalized probabilities."""
        return logits_to_probs(self.logits)

    @lazy_property
    def logits(self) -> Any:
        """Normalized log-probabilities."""
        return probs_to_logits(self.probs)

    @property
    def _param(self) -> Any:
        return self.__dict__["probs"] if "probs" in self.__dict__ else self.__dict__["logits"]

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> Any:  # type: ignore[override]
        """Integers from 0 to the number of categories minus 1."""
        return constraints.integer_interval(0, self._num_events - 1)

    @property
    def param_shape(self) -> Any:
        """Shape of `probs` and `logits`."""
        return self._param.size()

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
        with ts.no_grad():
            indices = ts.multinomial(
                self.probs.reshape(-1, self._num_events), Size(sample_shape).numel(), True
            )
        return indices.T.reshape(self._extended_shape(sample_shape))

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        index = value.long().unsqueeze(-1)
        index, logits = ts.broadcast_tensors(index, self.logits)
        return logits.gather(-1, index[..., :1]).squeeze(-1)

    def entropy(self) -> Any:
        logits = ts.clamp(self.logits, min=ts.finfo(self.logits.dtype).min)
        return -(logits * self.probs).sum(-1)

    def enumerate_support(self, expand: bool = True) -> Any:
        values = ts.arange(self._num_events, device=self._param.device)
        values = values.view((-1,) + (1,) * len(self._batch_shape))
        return values.expand((-1, *self._batch_shape)) if expand else values


class _CategoricalBased(Distribution):
    """Base class of distributions of vectors that are based on a Categorical distribution."""

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        self._categorical = Categorical(probs, logits)
        shape = self._categorical.param_shape
        super().__init__(self._categorical.batch_shape, shape[-1:], validate_args)

    @property
    def probs(self) -> Any:
        """Normalized probabilities."""
        return self._categorical.probs

    @property
    def logits(self) -> Any:
        """Normalized log-probabilities."""
        return self._categorical.logits

    @property
    def param_shape(self) -> Any:
        """Shape of `probs` and `logits`."""
        return self._categorical.param_shape


class OneHotCategorical(_CategoricalBased):
    """One-hot categorical distribution with probabilities proportional to `probs`."""

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support = constraints.one_hot
    has_enumerate_support = True

    @property
    def mean(self) -> Any:
        return self.probs

    @property
    def mode(self) -> Any:
        return F.one_hot(self.probs.argmax(dim=-1), self._event_shape[0]).to(self.probs)

    @property
    def variance(self) -> Any:
        return self.probs * (1 - self.probs)

    def sample(self, sample_shape: Any = ()) -> Any:
        indices = self._categorical.sample(sample_shape)
        return F.one_hot(indices, self._event_shape[0]).to(self._categorical._param)

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        return self._categorical.log_prob(value.argmax(-1))

    def entropy(self) -> Any:
        return self._categorical.entropy()

    def enumerate_support(self, expand: bool = True) -> Any:
        size, param = self._event_shape[0], self._categorical._param
        values = ts.eye(size, dtype=param.dtype, device=param.device)
        values = values.view((size,) + (1,) * len(self._batch_shape) + (size,))
        return values.expand((size, *self._batch_shape, size)) if expand else values


class OneHotCategoricalStraightThrough(OneHotCategorical):
    """One-hot categorical distribution with gradients to the probabilities (straight-through estimator)."""

    has_rsample = True

    def rsample(self, sample_shape: Any = ()) -> Any:
        return self.sample(sample_shape) + (self.probs - self.probs.detach())


class Multinomial(_CategoricalBased):
    """Distribution of the counts of categories in `total_count` draws."""

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}

    def __init__(
        self, total_count: int = 1, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        if not isinstance(total_count, int):
            raise NotImplementedError("inhomogeneous total_count is not supported")
        self.total_count = total_count
        super().__init__(probs, logits, validate_args)

    @constraints.dependent_property(is_discrete=True, event_dim=1)
    def support(self) -> Any:  # type: ignore[override]
        """Vectors of counts whose sum is at most `total_count`."""
        return constraints.multinomial(self.total_count)

    @property
    def mean(self) -> Any:
        return self.probs * self.total_count

    @property
    def variance(self) -> Any:
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape: Any = ()) -> Any:
        indices = self._categorical.sample((self.total_count, *sample_shape)).movedim(0, -1)
        counts = self.probs.new_zeros(self._extended_shape(sample_shape))
        return counts.scatter_add_(-1, indices, ts.ones_like(indices, dtype=counts.dtype))

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        logits, value = ts.broadcast_tensors(self.logits, value)
        logits = logits.masked_fill((value == 0) & (logits == -ts.inf), 0)
        log_coefficient = ts.lgamma(value.sum(-1) + 1) - ts.lgamma(value + 1).sum(-1)
        return log_coefficient + (logits * value).sum(-1)

    def entropy(self) -> Any:
        total = ts.tensor(self.total_count, dtype=self.probs.dtype)
        each = Binomial(self.total_count, self.probs, validate_args=self._validate_args)
        counts = each.enumerate_support(expand=False)[1:]
        repeated = (ts.exp(each.log_prob(counts)) * ts.lgamma(counts + 1)).sum((0, -1))
        return total * self._categorical.entropy() - ts.lgamma(total + 1) + repeated
