"""Exponential family distributions, with entropy and Bregman divergence by the gradient of the log-partition.

The density is exp(<t(x), n> - F(n) + k(x)), where n are the natural parameters. F is the log-partition
function (log normalizer). The mean of t(x) is the gradient F'(n). Therefore:

    entropy             F(n) - <n, F'(n)> - the mean of k(x)
    divergence          F(m) - F(n) - <m - n, F'(n)>, the Bregman divergence from parameters m
"""

from __future__ import annotations

from typing import Any

import ts
from ts._core.tensor.tensor import Tensor
from ts.distributions.distribution import Distribution
from ts.distributions.utils import sum_rightmost


class ExponentialFamily(Distribution):
    """Base class of exponential families with natural parameters, log normalizer and carrier measure."""

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        """Natural parameters, whose first dimensions are the batch dimensions."""
        raise NotImplementedError

    def _log_normalizer(self, *natural_params: Any) -> Any:
        """Return the log normalizer for the parameters `natural_params`, one value per batch element."""
        raise NotImplementedError

    @property
    def _mean_carrier_measure(self) -> Any:
        """Mean of the logarithm of the carrier measure, k(x)."""
        raise NotImplementedError

    def entropy(self) -> Any:
        carrier = self._mean_carrier_measure
        params, log_normalizer, means = self._mean_statistics()
        result = log_normalizer - carrier
        for param, mean in zip(params, means, strict=True):
            result = result - self._sum_event(param * mean, param)
        return result

    def bregman_divergence(self, other: ExponentialFamily) -> Any:
        """Return the Bregman divergence from another distribution of this family."""
        params, log_normalizer, means = self._mean_statistics()
        others = other._natural_params
        result = other._log_normalizer(*others) - log_normalizer
        for param, mean, other_param in zip(params, means, others, strict=True):
            result = result - self._sum_event((other_param - param) * mean, param)
        return result

    def _sum_event(self, term: Any, param: Tensor) -> Any:
        """Sum `term`, which has the shape of `param`, over the event dimensions."""
        return sum_rightmost(term, param.dim() - len(self._batch_shape))

    def _mean_statistics(self) -> tuple[list[Any], Any, list[Any]]:
        """Return (natural parameters, log normalizer, means of t(x)).

        The means are the gradient of the log normalizer.
        """
        natural_params = self._natural_params
        # Record a graph for differentiating the result only if a parameter requires grad.
        needs_grad = any(param.requires_grad for param in natural_params)
        with ts.enable_grad():
            params = [n.clone() if n.requires_grad else n.detach().requires_grad_() for n in natural_params]
            log_normalizer = self._log_normalizer(*params)
            means = list(ts.autograd.grad(log_normalizer.sum(), params, create_graph=needs_grad))
        if needs_grad:
            return params, log_normalizer, means
        return [param.detach() for param in params], log_normalizer.detach(), means
