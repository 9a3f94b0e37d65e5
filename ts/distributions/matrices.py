"""Distributions of matrices: LKJCholesky."""

from __future__ import annotations

import math
from typing import Any

import ts
from ts.distributions import constraints
from ts.distributions.distribution import Distribution
from ts.distributions.gammas import Beta
from ts.distributions.utils import broadcast_all


class LKJCholesky(Distribution):
    """Cholesky factors of correlation matrices, whose density is a power of the determinant.

    `concentration` 1 is every correlation matrix alike; above, those near the identity are likelier.
    """

    concentration: Any
    arg_constraints = {"concentration": constraints.positive}
    support = constraints.corr_cholesky

    def __init__(self, dim: int, concentration: Any = 1.0, validate_args: bool | None = None) -> None:
        if dim < 2:
            raise ValueError(f"Expected dim to be an integer greater than or equal to 2. Found dim={dim}.")
        self.dim = dim
        (self.concentration,) = broadcast_all(concentration)
        like = self.concentration
        # of the onion method: row after row, the square of the length of what lies left of the diagonal
        offset = ts.arange(dim - 1, dtype=like.dtype, device=like.device)
        offset = ts.cat([offset.new_zeros((1,)), offset])
        below = (like + 0.5 * (dim - 2)).unsqueeze(-1) - 0.5 * offset
        self._beta = Beta(offset + 0.5, below)
        super().__init__(like.size(), (dim, dim), validate_args)

    def _batch_of(self, name: str, batch_shape: Any) -> Any:
        return (*batch_shape, self.dim)

    def sample(self, sample_shape: Any = ()) -> Any:
        with ts.no_grad():
            lengths = self._beta.sample(sample_shape).unsqueeze(-1)
            like = self.concentration
            drawn = ts.randn(self._extended_shape(sample_shape), dtype=like.dtype, device=like.device).tril(
                -1
            )
            direction = drawn / drawn.norm(dim=-1, keepdim=True)
            direction[..., 0, :].fill_(0.0)
            left = ts.sqrt(lengths) * direction
            rest = (1 - (left**2).sum(-1)).clamp(min=ts.finfo(left.dtype).tiny)
            return left + ts.diag_embed(rest.sqrt())

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        diagonal = value.diagonal(dim1=-1, dim2=-2)[..., 1:]
        order = ts.arange(2, self.dim + 1, device=self.concentration.device)
        power = 2 * (self.concentration - 1).unsqueeze(-1) + self.dim - order
        count = self.dim - 1
        alpha = self.concentration + 0.5 * count
        constant = (
            0.5 * count * math.log(math.pi) + ts.mvlgamma(alpha - 0.5, count) - ts.lgamma(alpha) * count
        )
        return (power * diagonal.log()).sum(-1) - constant
