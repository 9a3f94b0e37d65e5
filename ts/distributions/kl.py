"""Kullback-Leibler divergences of pairs of distributions.

    kl_divergence(Normal(0.0, 1.0), Normal(1.0, 1.0))       tensor(0.5000)

A pair without a formula raises NotImplementedError; `register_kl` adds one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ts
from ts.distributions.continuous import Exponential, Laplace, Normal, Uniform
from ts.distributions.discrete import Bernoulli, Categorical, Poisson
from ts.distributions.distribution import Distribution
from ts.distributions.gammas import Beta, Dirichlet, Gamma
from ts.distributions.vectors import Independent, MultivariateNormal, mahalanobis
from ts.nn import functional as F

Formula = Callable[[Any, Any], Any]
_formulas: dict[tuple[type[Any], type[Any]], Formula] = {}


def register_kl(type_p: type[Any], type_q: type[Any]) -> Callable[[Formula], Formula]:
    """A decorator: the function computes the divergence of such a pair, and of classes derived from them."""

    def add(function: Formula) -> Formula:
        _formulas[type_p, type_q] = function
        return function

    return add


def kl_divergence(p: Distribution, q: Distribution) -> Any:
    """How far `p` is from `q`: the mean over p of log p - log q."""
    for kind_p in type(p).__mro__:
        for kind_q in type(q).__mro__:
            if (kind_p, kind_q) in _formulas:
                return _formulas[kind_p, kind_q](p, q)
    raise NotImplementedError(
        f"No KL(p || q) is implemented for p type {type(p).__name__} and q type {type(q).__name__}"
    )


@register_kl(Normal, Normal)
def _normal(p: Normal, q: Normal) -> Any:
    ratio = (p.scale / q.scale).pow(2)
    return 0.5 * (ratio + ((p.loc - q.loc) / q.scale).pow(2) - 1 - ratio.log())


@register_kl(Uniform, Uniform)
def _uniform(p: Uniform, q: Uniform) -> Any:
    result = ts.log((q.high - q.low) / (p.high - p.low))
    return ts.where((q.low > p.low) | (q.high < p.high), ts.inf, result)


@register_kl(Normal, Uniform)
@register_kl(Laplace, Uniform)
@register_kl(Exponential, Uniform)
@register_kl(Gamma, Uniform)
def _beyond(p: Distribution, q: Uniform) -> Any:
    return ts.full(ts.broadcast_shapes(p.batch_shape, q.batch_shape), ts.inf)


@register_kl(Exponential, Exponential)
def _exponential(p: Exponential, q: Exponential) -> Any:
    ratio = q.rate / p.rate
    return -ratio.log() + ratio - 1


@register_kl(Laplace, Laplace)
def _laplace(p: Laplace, q: Laplace) -> Any:
    ratio, away = p.scale / q.scale, (p.loc - q.loc).abs()
    return -ratio.log() + away / q.scale + ratio * ts.exp(-away / p.scale) - 1


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
    if p.event_shape != q.event_shape:
        raise ValueError(
            "KL-divergence between two Multivariate Normals with different event shapes cannot be computed"
        )
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
    return p._summed(kl_divergence(p.base_dist, q.base_dist))
