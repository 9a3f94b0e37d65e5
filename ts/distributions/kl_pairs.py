"""KL divergences between distributions p and q of different families.

The divergence is -H(p) - E[log q(x)], where x is a sample of p. The expectation of log q(x) is computed from
these moments of p:

    q Normal                  mean and variance of x
    q Exponential             mean of x
    q Gamma                   means of x and log x
    q Gumbel                  means of x and exp(-x / scale)
    q Beta                    means of log x and log(1 - x)

The divergence is infinite if the support of q does not contain the support of p.
"""

from __future__ import annotations

import math
from typing import Any

import ts
from ts.distributions.bounded import ContinuousBernoulli
from ts.distributions.continuous import Exponential, Laplace, Normal, Uniform
from ts.distributions.discrete import Bernoulli, Binomial, Poisson
from ts.distributions.gamma_family import Beta, Gamma
from ts.distributions.kl import register_kl
from ts.distributions.transformed import EULER, Gumbel, Pareto


@register_kl(Poisson, Bernoulli)
@register_kl(Poisson, Binomial)
@register_kl(Beta, Pareto)
@register_kl(ContinuousBernoulli, Pareto)
def _infinite(p: Any, q: Any) -> Any:
    return ts.full(ts.broadcast_shapes(p.batch_shape, q.batch_shape), ts.inf, dtype=p.mean.dtype)


# each `_p` has an unbounded support, and each `_q` a bounded one
for _p in (Exponential, Gamma, Gumbel, Laplace, Normal, Pareto):
    for _q in (Uniform, Beta, ContinuousBernoulli):
        register_kl(_p, _q)(_infinite)
# samples of each `_p` can be below the `scale` of the Pareto distribution, where the Pareto density is 0
for _p in (Exponential, Gamma, Gumbel, Laplace, Normal):
    register_kl(_p, Pareto)(_infinite)
for _p in (Gumbel, Laplace, Normal):
    register_kl(_p, Exponential)(_infinite)
    register_kl(_p, Gamma)(_infinite)


@register_kl(Bernoulli, Poisson)
def _bernoulli_poisson(p: Bernoulli, q: Poisson) -> Any:
    return -p.entropy() - (p.probs * q.rate.log() - q.rate)


@register_kl(Beta, Normal)
@register_kl(ContinuousBernoulli, Normal)
@register_kl(Exponential, Normal)
@register_kl(Gamma, Normal)
@register_kl(Gumbel, Normal)
@register_kl(Laplace, Normal)
@register_kl(Pareto, Normal)
@register_kl(Uniform, Normal)
def _to_normal(p: Any, q: Normal) -> Any:
    squared = q.scale.pow(2)
    distance = (p.variance + (p.mean - q.loc).pow(2)) / squared
    return -p.entropy() + 0.5 * ((2 * math.pi * squared).log() + distance)


@register_kl(Beta, Exponential)
@register_kl(ContinuousBernoulli, Exponential)
@register_kl(Gamma, Exponential)
@register_kl(Pareto, Exponential)
@register_kl(Uniform, Exponential)
def _to_exponential(p: Any, q: Exponential) -> Any:
    result = -p.entropy() - q.rate.log() + q.rate * p.mean
    return result.masked_fill(p.low < 0, ts.inf) if isinstance(p, Uniform) else result


@register_kl(Beta, Gamma)
@register_kl(Exponential, Gamma)
@register_kl(Pareto, Gamma)
@register_kl(Uniform, Gamma)
def _to_gamma(p: Any, q: Gamma) -> Any:
    constant = q.concentration.lgamma() - q.concentration * q.rate.log()
    result = -p.entropy() + constant - (q.concentration - 1) * _mean_log(p) + q.rate * p.mean
    return result.masked_fill(p.low < 0, ts.inf) if isinstance(p, Uniform) else result


@register_kl(Uniform, Pareto)
def _uniform_pareto(p: Uniform, q: Pareto) -> Any:
    log_density = q.alpha.log() + q.alpha * q.scale.log() - (q.alpha + 1) * _mean_log(p)
    return (-p.entropy() - log_density).masked_fill(p.low < q.scale, ts.inf)


@register_kl(Uniform, Beta)
def _uniform_beta(p: Uniform, q: Beta) -> Any:
    a, b = q.concentration1, q.concentration0
    constant = a.lgamma() + b.lgamma() - (a + b).lgamma()
    mirrored = Uniform(1 - p.high, 1 - p.low, validate_args=False)
    means = (a - 1) * _mean_log(p) + (b - 1) * _mean_log(mirrored)
    return (-p.entropy() + constant - means).masked_fill((p.low < 0) | (p.high > 1), ts.inf)


def _mean_log(p: Any) -> Any:
    """Return the mean of log x for a variable x with distribution p."""
    if isinstance(p, Beta):
        return p.concentration1.digamma() - (p.concentration1 + p.concentration0).digamma()
    if isinstance(p, Exponential):
        return -EULER - p.rate.log()
    if isinstance(p, Pareto):
        return p.alpha.reciprocal() + p.scale.log()
    return (ts.xlogy(p.high, p.high) - ts.xlogy(p.low, p.low)) / (p.high - p.low) - 1


@register_kl(Beta, ContinuousBernoulli)
@register_kl(Uniform, ContinuousBernoulli)
def _to_continuous_bernoulli(p: Any, q: ContinuousBernoulli) -> Any:
    result = -p.entropy() - p.mean * q.logits - ts.log1p(-q.probs) - q._log_constant()
    return result.masked_fill((p.low < 0) | (p.high > 1), ts.inf) if isinstance(p, Uniform) else result


@register_kl(Beta, Uniform)
@register_kl(ContinuousBernoulli, Uniform)
def _to_uniform(p: Any, q: Uniform) -> Any:
    result = -p.entropy() + (q.high - q.low).log()
    return result.masked_fill((q.low > 0) | (q.high < 1), ts.inf)


@register_kl(Exponential, Gumbel)
@register_kl(Gamma, Gumbel)
@register_kl(Normal, Gumbel)
@register_kl(Uniform, Gumbel)
def _to_gumbel(p: Any, q: Gumbel) -> Any:
    scaled_distance = (p.mean - q.loc) / q.scale
    return (
        -p.entropy()
        + q.scale.log()
        + scaled_distance
        + ts.exp(q.loc / q.scale) * _mean_exp(p, q.scale.reciprocal())
    )


def _mean_exp(p: Any, rate: Any) -> Any:
    """Return the mean of exp(-rate x) for a variable x with distribution p."""
    if isinstance(p, Exponential):
        return p.rate / (p.rate + rate)
    if isinstance(p, Gamma):
        return (1 + rate / p.rate) ** -p.concentration
    if isinstance(p, Normal):
        return ts.exp(-p.loc * rate + (p.scale * rate).pow(2) / 2)
    return (ts.exp(-p.low * rate) - ts.exp(-p.high * rate)) / ((p.high - p.low) * rate)


@register_kl(Normal, Laplace)
def _normal_laplace(p: Normal, q: Laplace) -> Any:
    scaled_distance = (p.loc - q.loc) / p.scale
    distance = math.sqrt(2 / math.pi) * ts.exp(-0.5 * scaled_distance.pow(2)) + scaled_distance * ts.erf(
        math.sqrt(0.5) * scaled_distance
    )
    return -p.entropy() + (2 * q.scale).log() + p.scale / q.scale * distance
