"""LowRankMultivariateNormal: normal distribution whose covariance is low-rank plus diagonal."""

from __future__ import annotations

import math
from typing import Any

import ts
from ts._core.tensor.tensor import Tensor
from ts.distributions import constraints
from ts.distributions.distribution import LocationCentered
from ts.distributions.multivariate import mahalanobis
from ts.distributions.utils import lazy_property


class LowRankMultivariateNormal(LocationCentered):
    """Normal distribution with covariance `cov_factor @ cov_factor.T + diag(cov_diag)`.

    With W = cov_factor and D = diag(cov_diag), the inverse and the determinant of the covariance are computed
    from the small capacitance matrix I + W^T D^-1 W (Woodbury identity, matrix determinant lemma).
    """

    has_rsample = True
    arg_constraints = {
        "loc": constraints.real_vector,
        "cov_factor": constraints.independent(constraints.real, 2),
        "cov_diag": constraints.independent(constraints.positive, 1),
    }
    support = constraints.real_vector
    _extra_event_dims = {"_capacitance": 2, "scale_tril": 2, "covariance_matrix": 2, "precision_matrix": 2}

    def __init__(
        self, loc: Tensor, cov_factor: Tensor, cov_diag: Tensor, validate_args: bool | None = None
    ) -> None:
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        size = loc.shape[-1]
        if cov_factor.dim() < 2:
            raise ValueError(
                "cov_factor must be at least two-dimensional, with optional leading batch dimensions"
            )
        if cov_factor.shape[-2] != size:
            raise ValueError(f"cov_factor must be a batch of matrices with shape {size} x m")
        if cov_diag.shape[-1:] != loc.shape[-1:]:
            raise ValueError(f"cov_diag must be a batch of vectors with shape {loc.shape[-1:]}")
        try:
            batch = ts.broadcast_shapes(loc.shape[:-1], cov_factor.shape[:-2], cov_diag.shape[:-1])
        except RuntimeError as error:
            raise ValueError(
                f"Incompatible batch shapes: loc {loc.shape}, cov_factor {cov_factor.shape}, cov_diag "
                f"{cov_diag.shape}"
            ) from error
        self.loc = loc.expand((*batch, -1))
        self.cov_diag = cov_diag.expand((*batch, -1))
        self.cov_factor = cov_factor.expand((*batch, -1, -1))
        self._capacitance = _capacitance(cov_factor, cov_diag).expand((*batch, -1, -1))
        super().__init__(batch, (size,), validate_args)

    @property
    def variance(self) -> Any:
        return self.cov_factor.pow(2).sum(-1) + self.cov_diag

    @lazy_property
    def scale_tril(self) -> Any:
        """Cholesky factor of the covariance: D^1/2 L, where L L^T = I + D^-1/2 W W^T D^-1/2."""
        root = self.cov_diag.sqrt().unsqueeze(-1)
        scaled = self.cov_factor / root
        identity = ts.eye(self._event_shape[0], dtype=root.dtype, device=root.device)
        return root * ts.linalg.cholesky(scaled @ scaled.mT + identity)

    @lazy_property
    def covariance_matrix(self) -> Any:
        """Covariance matrix."""
        return self.cov_factor @ self.cov_factor.mT + self.cov_diag.diag_embed()

    @lazy_property
    def precision_matrix(self) -> Any:
        """Inverse of the covariance matrix."""
        scaled = self.cov_factor.mT / self.cov_diag.unsqueeze(-2)
        solved = ts.linalg.solve_triangular(self._capacitance, scaled, upper=False)
        return self.cov_diag.reciprocal().diag_embed() - solved.mT @ solved

    def rsample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        factor_noise = self.loc.new_empty((*shape[:-1], self.cov_factor.shape[-1])).normal_()
        noise = self.loc.new_empty(shape).normal_()
        correlated = (self.cov_factor @ factor_noise.unsqueeze(-1)).squeeze(-1)
        return self.loc + correlated + self.cov_diag.sqrt() * noise

    def log_det(self) -> Any:
        """Return the log-determinant of the covariance, by the matrix determinant lemma."""
        half_log_det = self._capacitance.diagonal(dim1=-2, dim2=-1).log().sum(-1)
        return 2 * half_log_det + self.cov_diag.log().sum(-1)

    def distance(self, deviation: Tensor) -> Any:
        """Return the squared Mahalanobis distance of a difference `deviation` from the mean."""
        scaled = deviation / self.cov_diag
        projected = (self.cov_factor.mT @ scaled.unsqueeze(-1)).squeeze(-1)
        return (scaled * deviation).sum(-1) - mahalanobis(self._capacitance, projected)

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        constant = self._event_shape[0] * math.log(2 * math.pi)
        return -0.5 * (constant + self.log_det() + self.distance(value - self.loc))

    def entropy(self) -> Any:
        return 0.5 * (self._event_shape[0] * (1.0 + math.log(2 * math.pi)) + self.log_det())


def _capacitance(factor: Tensor, diagonal: Tensor) -> Any:
    """Return the Cholesky factor of the capacitance matrix I + W^T D^-1 W of the Woodbury identity."""
    product = factor.mT @ (factor / diagonal.unsqueeze(-1))
    return ts.linalg.cholesky(product + ts.eye(product.shape[-1], dtype=product.dtype, device=product.device))
