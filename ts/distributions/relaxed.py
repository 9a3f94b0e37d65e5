"""Differentiable relaxations of discrete distributions (Concrete distribution, Gumbel-softmax).

At low temperatures, the samples are close to samples of the discrete distribution.
"""

from __future__ import annotations

import math
from typing import Any

import ts
from ts.distributions import constraints
from ts.distributions.categorical import _CategoricalBased
from ts.distributions.discrete import ProbsOrLogits
from ts.distributions.transformed import TransformedDistribution
from ts.distributions.transforms import ExpTransform, SigmoidTransform
from ts.distributions.utils import broadcast_all, clamp_probs


class LogitRelaxedBernoulli(ProbsOrLogits):
    """Distribution of the logit of a variable with distribution RelaxedBernoulli."""

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.real
    has_rsample = True

    def __init__(
        self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        self.temperature = temperature
        self._set(probs, logits)
        super().__init__(self._param.shape, validate_args=validate_args)

    def rsample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        probs = clamp_probs(self.probs.expand(shape))
        uniform = clamp_probs(ts.rand(shape, dtype=probs.dtype, device=probs.device))
        noise = uniform.log() - (-uniform).log1p()
        return (noise + probs.log() - (-probs).log1p()) / self.temperature

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        difference = logits - value * self.temperature
        return self.temperature.log() + difference - 2 * difference.exp().log1p()


class ExpRelaxedCategorical(_CategoricalBased):
    """Distribution of the logarithm of a variable with distribution RelaxedOneHotCategorical."""

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support = constraints.real_vector
    has_rsample = True

    def __init__(
        self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        self.temperature = temperature
        super().__init__(probs, logits, validate_args)

    def rsample(self, sample_shape: Any = ()) -> Any:
        logits = self.logits
        uniform = ts.rand(self._extended_shape(sample_shape), dtype=logits.dtype, device=logits.device)
        noise = -((-(clamp_probs(uniform).log())).log())
        scores = (logits + noise) / self.temperature
        return scores - scores.logsumexp(dim=-1, keepdim=True)

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        size = self._event_shape[0]
        logits, value = broadcast_all(self.logits, value)
        scale = math.lgamma(size) + (size - 1) * self.temperature.log()
        score = logits - value * self.temperature
        return (score - score.logsumexp(dim=-1, keepdim=True)).sum(-1) + scale


class _Relaxed(TransformedDistribution):
    """Base class of relaxed distributions. Samples are transformed samples of a logit or of a logarithm."""

    has_rsample = True
    base_dist: Any

    @property
    def temperature(self) -> Any:
        """Relaxation temperature. The lower it is, the closer are samples to 0 or 1."""
        return self.base_dist.temperature

    @property
    def logits(self) -> Any:
        """Logits of the base distribution."""
        return self.base_dist.logits

    @property
    def probs(self) -> Any:
        """Normalized probabilities."""
        return self.base_dist.probs


class RelaxedBernoulli(_Relaxed):
    """Relaxed Bernoulli distribution on (0, 1): near 1 with probability `probs`, otherwise near 0."""

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.unit_interval

    def __init__(
        self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        super().__init__(LogitRelaxedBernoulli(temperature, probs, logits), SigmoidTransform(), validate_args)


class RelaxedOneHotCategorical(_Relaxed):
    """Relaxed one-hot distribution: vectors of probabilities, one of which is near 1."""

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support = constraints.simplex

    def __init__(
        self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        base = ExpRelaxedCategorical(temperature, probs, logits, validate_args=validate_args)
        super().__init__(base, ExpTransform(), validate_args)
