"""Kullback-Leibler divergences of pairs of distributions, by multiple dispatch on both classes.

Example: `kl_divergence(Normal(0.0, 1.0), Normal(1.0, 1.0))` returns tensor(0.5000).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import ts
from ts.distributions.bounded import ContinuousBernoulli
from ts.distributions.categorical import Categorical, OneHotCategorical
from ts.distributions.continuous import Cauchy, Exponential, Laplace, Normal, Uniform
from ts.distributions.discrete import Bernoulli, Binomial, Geometric, Poisson
from ts.distributions.distribution import Distribution
from ts.distributions.exp_family import ExponentialFamily
from ts.distributions.gamma_family import Beta, Dirichlet, Gamma
from ts.distributions.low_rank import LowRankMultivariateNormal
from ts.distributions.multivariate import Independent, MultivariateNormal, mahalanobis
from ts.distributions.transformed import EULER, Gumbel, HalfNormal, Pareto, TransformedDistribution
from ts.distributions.utils import sum_rightmost
from ts.nn import functional as F

Formula = Callable[[Any, Any], Any]
_KL_REGISTRY: dict[tuple[type[Any], type[Any]], Formula] = {}


def register_kl(type_p: type[Any], type_q: type[Any]) -> Callable[[Formula], Formula]:
    """Return a decorator that registers a KL formula for a pair of classes and their subclasses."""

    def add(function: Formula) -> Formula:
        _KL_REGISTRY[type_p, type_q] = function
        return function

    return add


def kl_divergence(p: Distribution, q: Distribution) -> Any:
    """Return the Kullback-Leibler divergence KL(p || q), that is, the mean of log p - log q under p."""
    p_classes, q_classes = type(p).__mro__, type(q).__mro__
    key = next(((a, b) for a in p_classes for b in q_classes if (a, b) in _KL_REGISTRY), None)
    if key is None:
        raise NotImplementedError(
            f"No KL(p || q) is implemented for p type {type(p).__name__} and q type {type(q).__name__}"
        )
    formula = _KL_REGISTRY[key]
    key_by_q = next((a, b) for b in q_classes for a in p_classes if (a, b) in _KL_REGISTRY)
    if _KL_REGISTRY[key_by_q] is not formula:
        warnings.warn(
            f"Ambiguous kl_divergence({type(p).__name__}, {type(q).__name__}). "
            f"Please register_kl({key[0].__name__}, {key_by_q[1].__name__})",
            RuntimeWarning,
            stacklevel=2,
        )
    return formula(p, q)


@register_kl(ExponentialFamily, ExponentialFamily)
def _exponential_family(p: ExponentialFamily, q: ExponentialFamily) -> Any:
    if type(p) is not type(q):
        raise NotImplementedError(
            "The cross KL-divergence between different exponential families cannot "
            "be computed using Bregman divergences"
        )
    return p.bregman_divergence(q)


@register_kl(Normal, Normal)
def _normal(p: Normal, q: Normal) -> Any:
    ratio = (p.scale / q.scale).pow(2)
    return 0.5 * (ratio + ((p.loc - q.loc) / q.scale).pow(2) - 1 - ratio.log())


@register_kl(Uniform, Uniform)
def _uniform(p: Uniform, q: Uniform) -> Any:
    result = ts.log((q.high - q.low) / (p.high - p.low))
    return ts.where((q.low > p.low) | (q.high < p.high), ts.inf, result)


@register_kl(Exponential, Exponential)
def _exponential(p: Exponential, q: Exponential) -> Any:
    ratio = q.rate / p.rate
    return -ratio.log() + ratio - 1


@register_kl(Laplace, Laplace)
def _laplace(p: Laplace, q: Laplace) -> Any:
    ratio, distance = p.scale / q.scale, (p.loc - q.loc).abs()
    return -ratio.log() + distance / q.scale + ratio * ts.exp(-distance / p.scale) - 1


@register_kl(Bernoulli, Bernoulli)
def _bernoulli(p: Bernoulli, q: Bernoulli) -> Any:
    one = p.probs * (F.softplus(-q.logits) - F.softplus(-p.logits))
    zero = (1 - p.probs) * (F.softplus(q.logits) - F.softplus(p.logits))
    one = ts.where(q.probs == 0, ts.inf, one).masked_fill(p.probs == 0, 0)
    return one + ts.where(q.probs == 1, ts.inf, zero).masked_fill(p.probs == 1, 0)


@register_kl(Categorical, Categorical)
def _categorical(p: Categorical, q: Categorical) -> Any:
    terms = p.probs * (p.logits - q.logits)
    terms = ts.where((q.probs == 0).expand_as(terms), ts.inf, terms)
    return ts.where((p.probs == 0).expand_as(terms), 0.0, terms).sum(-1)


@register_kl(OneHotCategorical, OneHotCategorical)
def _one_hot(p: OneHotCategorical, q: OneHotCategorical) -> Any:
    return _categorical(p._categorical, q._categorical)


@register_kl(Binomial, Binomial)
def _binomial(p: Binomial, q: Binomial) -> Any:
    if bool((p.total_count < q.total_count).any()):
        raise NotImplementedError(
            "KL between Binomials where q.total_count > p.total_count is not implemented"
        )
    each = p.probs * (p.logits - q.logits) + (-p.probs).log1p() - (-q.probs).log1p()
    return (p.total_count * each).masked_fill(p.total_count > q.total_count, ts.inf)


@register_kl(Geometric, Geometric)
def _geometric(p: Geometric, q: Geometric) -> Any:
    return -p.entropy() - ts.log1p(-q.probs) / p.probs - q.logits


@register_kl(Poisson, Poisson)
def _poisson(p: Poisson, q: Poisson) -> Any:
    return p.rate * (p.rate.log() - q.rate.log()) - (p.rate - q.rate)


@register_kl(Gamma, Gamma)
def _gamma(p: Gamma, q: Gamma) -> Any:
    return (
        q.concentration * (p.rate / q.rate).log()
        + ts.lgamma(q.concentration)
        - ts.lgamma(p.concentration)
        + (p.concentration - q.concentration) * ts.digamma(p.concentration)
        + (q.rate - p.rate) * (p.concentration / p.rate)
    )


@register_kl(Dirichlet, Dirichlet)
def _dirichlet(p: Dirichlet, q: Dirichlet) -> Any:
    a, b = p.concentration, q.concentration
    total = a.sum(-1)
    totals = total.lgamma() - b.sum(-1).lgamma()
    each = (a.lgamma() - b.lgamma()).sum(-1)
    return totals - each + ((a - b) * (a.digamma() - total.digamma().unsqueeze(-1))).sum(-1)


@register_kl(Beta, Beta)
def _beta(p: Beta, q: Beta) -> Any:
    return _dirichlet(p._dirichlet, q._dirichlet)


@register_kl(MultivariateNormal, MultivariateNormal)
def _multivariate(p: MultivariateNormal, q: MultivariateNormal) -> Any:
    _check_sizes(p, q, "Multivariate Normals")
    size = p.event_shape[0]
    shape = ts.broadcast_shapes(p._factor.shape, q._factor.shape)
    spread = ts.linalg.solve_triangular(q._factor.expand(shape), p._factor.expand(shape), upper=False)
    trace = spread.pow(2).sum((-2, -1))
    distance = mahalanobis(q._factor, q.loc - p.loc)
    return q._half_log_det() - p._half_log_det() + 0.5 * (trace + distance - size)


@register_kl(Independent, Independent)
def _independent(p: Independent, q: Independent) -> Any:
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError
    return sum_rightmost(kl_divergence(p.base_dist, q.base_dist), p.reinterpreted_batch_ndims)


@register_kl(Cauchy, Cauchy)
def _cauchy(p: Cauchy, q: Cauchy) -> Any:
    apart = (p.scale + q.scale).pow(2) + (p.loc - q.loc).pow(2)
    return apart.log() - (4 * p.scale * q.scale).log()


@register_kl(ContinuousBernoulli, ContinuousBernoulli)
def _continuous_bernoulli(p: ContinuousBernoulli, q: ContinuousBernoulli) -> Any:
    constants = p._log_constant() + ts.log1p(-p.probs) - q._log_constant() - ts.log1p(-q.probs)
    return p.mean * (p.logits - q.logits) + constants


@register_kl(Gumbel, Gumbel)
def _gumbel(p: Gumbel, q: Gumbel) -> Any:
    ratio, distance = p.scale / q.scale, (p.loc - q.loc) / q.scale
    return -ratio.log() + distance + ratio * EULER + ts.exp(ts.lgamma(1 + ratio) - distance) - (1 + EULER)


@register_kl(HalfNormal, HalfNormal)
def _half_normal(p: HalfNormal, q: HalfNormal) -> Any:
    return kl_divergence(p.base_dist, q.base_dist)


@register_kl(Pareto, Pareto)
def _pareto(p: Pareto, q: Pareto) -> Any:
    ratio = q.alpha / p.alpha
    result = q.alpha * (p.scale / q.scale).log() - ratio.log() + ratio - 1
    return result.masked_fill(p.scale < q.scale, ts.inf)


@register_kl(TransformedDistribution, TransformedDistribution)
def _transformed(p: TransformedDistribution, q: TransformedDistribution) -> Any:
    if p.transforms != q.transforms or p.event_shape != q.event_shape:
        raise NotImplementedError
    return kl_divergence(p.base_dist, q.base_dist)


@register_kl(LowRankMultivariateNormal, LowRankMultivariateNormal)
@register_kl(MultivariateNormal, LowRankMultivariateNormal)
def _to_low_rank(p: Any, q: LowRankMultivariateNormal) -> Any:
    _check_sizes(p, q, "Low Rank Multivariate Normals")
    distance = q.distance(q.loc - p.loc)
    trace = _trace(p, q, q.distance)
    log_det = 2 * p._half_log_det() if isinstance(p, MultivariateNormal) else p.log_det()
    return 0.5 * (q.log_det() - log_det + trace + distance - p.event_shape[0])


@register_kl(LowRankMultivariateNormal, MultivariateNormal)
def _from_low_rank(p: LowRankMultivariateNormal, q: MultivariateNormal) -> Any:
    _check_sizes(p, q, "(Low Rank) Multivariate Normals")
    distance = mahalanobis(q._factor, q.loc - p.loc)
    trace = _trace(p, q, partial(mahalanobis, q._factor))
    return 0.5 * (2 * q._half_log_det() - p.log_det() + trace + distance - p.event_shape[0])


def _trace(p: Any, q: Any, distance: Callable[[Any], Any]) -> Any:
    """Return the trace of the precision matrix of q times the covariance matrix of p.

    `distance` computes squared Mahalanobis distances under q. With F F^T = covariance of p, the trace is the
    sum of the distances of the columns of F.
    """
    batch = ts.broadcast_shapes(p.batch_shape, q.batch_shape)
    spread = (
        [p._factor] if isinstance(p, MultivariateNormal) else [p.cov_factor, p.cov_diag.sqrt().diag_embed()]
    )
    columns = ts.cat(spread, -1)
    return distance(columns.expand((*batch, *columns.shape[-2:])).movedim(-1, 0)).sum(0)


def _check_sizes(p: Distribution, q: Distribution, names: str) -> None:
    if p.event_shape != q.event_shape:
        raise ValueError(f"KL-divergence between two {names} with different event shapes cannot be computed")
