"""Derivatives of `cov` and `corrcoef`.

`compose` declares an equivalent differentiable expression for each of the two operators. Autograd computes
the derivatives of this expression.
"""

from __future__ import annotations

import ts
from ts import Tensor
from ts.ops.derivatives.formula_registry import compose


def covariance(self: Tensor, correction: int, fweights: Tensor | None, aweights: Tensor | None) -> Tensor:
    """Return the weighted covariance matrix of the rows of `self`."""
    if self.dim() > 2:
        raise RuntimeError(
            "cov(): expected input to have two or fewer dimensions but got an input with "
            f"{self.dim()} dimensions"
        )
    x = self.reshape([1, -1]) if self.dim() < 2 else self
    if fweights is None and aweights is None:
        centred = x - x.mean(1, True)
        return (centred @ centred.mH / max(x.size(1) - correction, 0)).squeeze()
    of_samples = ts.ones_like(ts.real(x)[0])
    if fweights is not None:
        of_samples = of_samples * fweights.reshape([-1])
    if aweights is not None:
        of_samples = of_samples * aweights.reshape([-1])
    total = of_samples.sum()
    centred = x - (x * of_samples).sum(1, True) / total
    factor = total - correction
    if aweights is not None and correction != 0:
        factor = total - (of_samples * aweights.reshape([-1])).sum() / total * correction
    return (centred * of_samples @ centred.mH / factor.clamp_min(0)).squeeze()


def correlation(self: Tensor) -> Tensor:
    """Return the correlation matrix of the rows of `self`."""
    if self.dim() > 2:
        raise RuntimeError(
            "corrcoef(): expected input to have two or fewer dimensions but got an input with "
            f"{self.dim()} dimensions"
        )
    c = covariance(self, 1, None, None)
    if c.dim() == 0:
        return c / c
    spread = ts.real(c.diagonal()).sqrt()
    coefficients = c / spread.unsqueeze(1) / spread.unsqueeze(0)
    if coefficients.is_complex():
        return ts.complex(ts.real(coefficients).clamp(-1, 1), ts.imag(coefficients).clamp(-1, 1))
    return coefficients.clamp(-1, 1)


compose("aten::cov", "covariance(self, correction, fweights, aweights)")
compose("aten::corrcoef", "correlation(self)")
