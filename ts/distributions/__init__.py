"""Probability distributions: densities, samples (equal to PyTorch's for the same seed), moments, divergences.

Examples for two normal distributions:

    d = Normal(ts.zeros(2), 1.0)
    d.log_prob(d.sample((3,)))            a tensor of shape (3, 2)
    d.expand((5, 2))                      the same distribution with batch shape (5, 2)
    kl_divergence(d, Normal(1.0, 2.0))    a tensor of shape (2,)
"""

from __future__ import annotations

from ts.distributions import constraints, kl_pairs, transforms, utils
from ts.distributions.bounded import ContinuousBernoulli, VonMises
from ts.distributions.categorical import (
    Categorical,
    Multinomial,
    OneHotCategorical,
    OneHotCategoricalStraightThrough,
)
from ts.distributions.constraint_registry import biject_to, transform_to
from ts.distributions.continuous import Cauchy, Exponential, GeneralizedPareto, Laplace, Normal, Uniform
from ts.distributions.discrete import Bernoulli, Binomial, Geometric, NegativeBinomial, Poisson
from ts.distributions.distribution import Distribution
from ts.distributions.exp_family import ExponentialFamily
from ts.distributions.gamma_family import Beta, Chi2, Dirichlet, FisherSnedecor, Gamma, StudentT
from ts.distributions.kl import kl_divergence, register_kl
from ts.distributions.low_rank import LowRankMultivariateNormal
from ts.distributions.matrix_valued import LKJCholesky, Wishart
from ts.distributions.mixture import MixtureSameFamily
from ts.distributions.multivariate import Independent, MultivariateNormal
from ts.distributions.relaxed import RelaxedBernoulli, RelaxedOneHotCategorical
from ts.distributions.transformed import (
    Gumbel,
    HalfCauchy,
    HalfNormal,
    InverseGamma,
    Kumaraswamy,
    LogisticNormal,
    LogNormal,
    Pareto,
    TransformedDistribution,
    Weibull,
)
from ts.distributions.transforms import *  # noqa: F403
from ts.unsupported import names_for

__all__ = [
    "Bernoulli", "Beta", "Binomial", "Categorical", "Cauchy", "Chi2", "ContinuousBernoulli", "Dirichlet",
    "Distribution", "Exponential", "ExponentialFamily", "FisherSnedecor", "Gamma", "GeneralizedPareto",
    "Geometric", "Gumbel", "HalfCauchy", "HalfNormal", "Independent", "InverseGamma", "Kumaraswamy",
    "LKJCholesky", "Laplace", "LogNormal", "LogisticNormal", "LowRankMultivariateNormal", "MixtureSameFamily",
    "Multinomial", "MultivariateNormal", "NegativeBinomial", "Normal", "OneHotCategorical",
    "OneHotCategoricalStraightThrough", "Pareto", "Poisson", "RelaxedBernoulli", "RelaxedOneHotCategorical",
    "StudentT", "TransformedDistribution", "Uniform", "VonMises", "Weibull", "Wishart",
    "biject_to", "constraints", "kl_divergence", "kl_pairs", "register_kl",
    "transform_to", "transforms", "utils", *transforms.__all__,
]  # fmt: skip

__getattr__ = names_for(__name__)
