"""Mixture models (mixture distributions), which draw each sample from one of several distributions."""

from __future__ import annotations

from typing import Any

import ts
from ts.distributions import constraints
from ts.distributions.categorical import Categorical
from ts.distributions.distribution import Distribution


class MixtureSameFamily(Distribution):
    """Mixture of the distributions along the last batch dimension of `component_distribution`.

    The Categorical `mixture_distribution` selects the component of a sample.
    """

    def __init__(
        self,
        mixture_distribution: Categorical,
        component_distribution: Distribution,
        validate_args: bool | None = None,
    ) -> None:
        self._mixture_distribution = mixture_distribution
        self._component_distribution = component_distribution
        if not isinstance(mixture_distribution, Categorical):
            raise ValueError(
                " The Mixture distribution needs to be an  instance of torch.distributions.Categorical"
            )
        if not isinstance(component_distribution, Distribution):
            raise ValueError(
                "The Component distribution need to be an instance of torch.distributions.Distribution"
            )
        batch, component_batch = mixture_distribution.batch_shape, component_distribution.batch_shape[:-1]
        for mixture_size, component_size in zip(reversed(batch), reversed(component_batch), strict=False):
            if mixture_size != 1 and component_size != 1 and mixture_size != component_size:
                raise ValueError(
                    f"`mixture_distribution.batch_shape` ({batch}) is not compatible with "
                    f"`component_distribution.batch_shape`({component_batch})"
                )
        weights, count = mixture_distribution.logits.shape[-1], component_distribution.batch_shape[-1]
        if weights != count:
            raise ValueError(
                f"`mixture_distribution component` ({weights}) does not equal "
                f"`component_distribution.batch_shape[-1]` ({count})"
            )
        self._num_component = count
        self._event_ndims = len(component_distribution.event_shape)
        super().__init__(component_batch, component_distribution.event_shape, validate_args)

    def _attribute_batch_shape(self, name: str, batch_shape: Any) -> Any:
        return batch_shape if name == "_mixture_distribution" else (*batch_shape, self._num_component)

    @constraints.dependent_property
    def support(self) -> Any:  # type: ignore[override]
        """Intersection of the supports of all components."""
        return constraints.MixtureSameFamilyConstraint(self._component_distribution.support)

    @property
    def mixture_distribution(self) -> Categorical:
        """Categorical distribution over the components."""
        return self._mixture_distribution

    @property
    def component_distribution(self) -> Distribution:
        """Distribution whose last batch dimension contains the components."""
        return self._component_distribution

    def _weights(self) -> Any:
        """Return the component probabilities, reshaped to broadcast over event dimensions."""
        probs = self._mixture_distribution.probs
        return probs.reshape((*probs.shape, *(1,) * self._event_ndims))

    def _weighted_mean(self, values: Any) -> Any:
        return (self._weights() * values).sum(dim=-1 - self._event_ndims)

    @property
    def mean(self) -> Any:
        return self._weighted_mean(self._component_distribution.mean)

    @property
    def variance(self) -> Any:
        components = self._component_distribution
        deviation = components.mean - self.mean.unsqueeze(-1 - self._event_ndims)
        return self._weighted_mean(components.variance) + self._weighted_mean(deviation.pow(2))

    def _unsqueeze_component(self, value: Any) -> Any:
        """Return `value` with an inserted dimension for the components."""
        return value.unsqueeze(-1 - self._event_ndims)

    def cdf(self, value: Any) -> Any:
        return (
            self._component_distribution.cdf(self._unsqueeze_component(value))
            * self._mixture_distribution.probs
        ).sum(-1)

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        each = self._component_distribution.log_prob(self._unsqueeze_component(value))
        return ts.logsumexp(each + ts.log_softmax(self._mixture_distribution.logits, dim=-1), dim=-1)

    def sample(self, sample_shape: Any = ()) -> Any:
        with ts.no_grad():
            component_index = self._mixture_distribution.sample(sample_shape)
            samples = self._component_distribution.sample(sample_shape)
            dim = len(sample_shape) + len(self._batch_shape)
            index = component_index.reshape((*component_index.shape, *(1,) * (self._event_ndims + 1)))
            index = index.expand((*samples.shape[:dim], 1, *self._event_shape))
            return samples.gather(dim, index).squeeze(dim)

    def __repr__(self) -> str:
        return f"MixtureSameFamily(\n  {self._mixture_distribution},\n  {self._component_distribution})"
