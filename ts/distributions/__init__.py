"""Probability distributions: densities, samples (PyTorch's for the same seed), moments, divergences.

    d = Normal(ts.zeros(2), 1.0)
    d.log_prob(d.sample((3,)))            a tensor (3, 2)
    kl_divergence(d, Normal(1.0, 2.0))
"""

from __future__ import annotations

from ts.distributions import constraints
from ts.distributions.continuous import Exponential, Laplace, Normal, Uniform
from ts.distributions.discrete import Bernoulli, Categorical, Poisson
from ts.distributions.distribution import Distribution
from ts.distributions.gammas import Beta, Dirichlet, Gamma
from ts.distributions.kl import kl_divergence, register_kl
from ts.distributions.vectors import Independent, MultivariateNormal

__all__ = [
    "Bernoulli", "Beta", "Categorical", "Dirichlet", "Distribution", "Exponential", "Gamma", "Independent",
    "Laplace", "MultivariateNormal", "Normal", "Poisson", "Uniform", "constraints", "kl_divergence",
    "register_kl",
]  # fmt: skip
