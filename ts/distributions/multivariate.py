"""Distributions of vectors: MultivariateNormal, and Independent (batch dimensions as event dimensions)."""

from __future__ import annotations

import math
from typing import Any

import ts
from ts._core.tensor.tensor import Size, Tensor
from ts.distributions import constraints
from ts.distributions.distribution import Distribution, LocationCentered
from ts.distributions.utils import lazy_property, sum_rightmost


class Independent(Distribution):
    """Distribution in which the last batch dimensions of a base distribution are event dimensions."""

    def __init__(
        self,
        base_distribution: Distribution,
        reinterpreted_batch_ndims: int,
        validate_args: bool | None = None,
    ) -> None:
        batch = base_distribution.batch_shape
        if reinterpreted_batch_ndims > len(batch):
            raise ValueError(
                "Expected reinterpreted_batch_ndims <= len(base_distribution.batch_shape), "
                f"actual {reinterpreted_batch_ndims} vs {len(batch)}"
            )
        self.base_dist = base_distribution
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims
        first = len(batch) - reinterpreted_batch_ndims
        event = (*batch[first:], *base_distribution.event_shape)
        super().__init__(batch[:first], event, validate_args)

    @property
    def has_rsample(self) -> bool:  # type: ignore[override]
        """True if the base distribution supports `rsample`."""
        return self.base_dist.has_rsample

    @property
    def has_enumerate_support(self) -> bool:  # type: ignore[override]
        """True if the base distribution supports enumeration and no batch dimension is reinterpreted."""
        return self.base_dist.has_enumerate_support and not self.reinterpreted_batch_ndims

    def _attribute_batch_shape(self, name: str, batch_shape: Any) -> Any:
        return batch_shape + self._event_shape[: self.reinterpreted_batch_ndims]

    @constraints.dependent_property
    def support(self) -> Any:  # type: ignore[override]
        """Constraint: elements along reinterpreted dimensions are in the support of the base distribution."""
        support, count = self.base_dist.support, self.reinterpreted_batch_ndims
        return constraints.independent(support, count) if count and support is not None else support

    def enumerate_support(self, expand: bool = True) -> Any:
        if self.reinterpreted_batch_ndims:
            raise NotImplementedError("Enumeration over cartesian product is not implemented")
        return self.base_dist.enumerate_support(expand=expand)

    @property
    def mean(self) -> Any:
        return self.base_dist.mean

    @property
    def mode(self) -> Any:
        return self.base_dist.mode

    @property
    def variance(self) -> Any:
        return self.base_dist.variance

    def sample(self, sample_shape: Any = ()) -> Any:
        return self.base_dist.sample(sample_shape)

    def rsample(self, sample_shape: Any = ()) -> Any:
        return self.base_dist.rsample(sample_shape)

    def log_prob(self, value: Any) -> Any:
        return sum_rightmost(self.base_dist.log_prob(value), self.reinterpreted_batch_ndims)

    def entropy(self) -> Any:
        return sum_rightmost(self.base_dist.entropy(), self.reinterpreted_batch_ndims)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.base_dist}, {self.reinterpreted_batch_ndims})"


class CovarianceBased(Distribution):
    """Base class of distributions with a covariance matrix, whose Cholesky factor is `_factor`."""

    _factor: Any

    @lazy_property
    def scale_tril(self) -> Any:
        """Cholesky factor of the covariance."""
        return self._factor

    @lazy_property
    def covariance_matrix(self) -> Any:
        """Covariance matrix."""
        return self._factor @ self._factor.mT

    @lazy_property
    def precision_matrix(self) -> Any:
        """Inverse of the covariance matrix."""
        return ts.cholesky_inverse(self._factor)


def select_matrix(
    error: type[Exception],
    covariance_matrix: Tensor | None,
    precision_matrix: Tensor | None,
    scale_tril: Tensor | None,
) -> tuple[str, Tensor]:
    """Return name and value of the provided matrix. Raise `error` unless exactly one is provided."""
    matrices = {
        "covariance_matrix": covariance_matrix,
        "precision_matrix": precision_matrix,
        "scale_tril": scale_tril,
    }
    provided = [(name, matrix) for name, matrix in matrices.items() if matrix is not None]
    if len(provided) != 1:
        raise error("Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified.")
    return provided[0]


class MultivariateNormal(CovarianceBased, LocationCentered):
    """Multivariate normal distribution, parametrized by covariance, precision or Cholesky factor."""

    _extra_event_dims = {"_factor": 2}
    has_rsample = True
    arg_constraints = {
        "loc": constraints.real_vector,
        "covariance_matrix": constraints.positive_definite,
        "precision_matrix": constraints.positive_definite,
        "scale_tril": constraints.lower_cholesky,
    }
    support = constraints.real_vector

    def __init__(
        self,
        loc: Tensor,
        covariance_matrix: Tensor | None = None,
        precision_matrix: Tensor | None = None,
        scale_tril: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        name, matrix = select_matrix(ValueError, covariance_matrix, precision_matrix, scale_tril)
        if matrix.dim() < 2:
            raise ValueError(
                f"{name} must be at least two-dimensional, with optional leading batch dimensions"
            )
        batch = ts.broadcast_shapes(matrix.shape[:-2], loc.shape[:-1])
        size = loc.shape[-1]
        setattr(self, name, matrix.expand((*batch, -1, -1)))
        self.loc = loc.expand((*batch, -1))
        super().__init__(batch, (size,), validate_args)
        if name == "scale_tril":
            self._factor = self.scale_tril
        elif name == "covariance_matrix":
            self._factor = ts.linalg.cholesky(matrix).expand((*batch, -1, -1))
        else:
            self._factor = ts.linalg.cholesky(ts.linalg.inv(matrix)).expand((*batch, -1, -1))

    @property
    def variance(self) -> Any:
        return self._factor.pow(2).sum(-1)

    def rsample(self, sample_shape: Any = ()) -> Any:
        noise = self.loc.new_empty(self._extended_shape(sample_shape)).normal_()
        return self.loc + (self._factor @ noise.unsqueeze(-1)).squeeze(-1)

    def _half_log_det(self) -> Any:
        return self._factor.diagonal(dim1=-2, dim2=-1).log().sum(-1)

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        distance = mahalanobis(self._factor, value - self.loc)
        size = self._event_shape[0]
        return -0.5 * (size * math.log(2 * math.pi) + distance) - self._half_log_det()

    def entropy(self) -> Any:
        size = self._event_shape[0]
        return 0.5 * size * (1.0 + math.log(2 * math.pi)) + self._half_log_det()


def mahalanobis(factor: Tensor, deviation: Tensor) -> Any:
    """Return the squared Mahalanobis distance. `factor` is the Cholesky factor of the covariance."""
    shape = Size(ts.broadcast_shapes(factor.shape[:-1], deviation.shape))
    solved = ts.linalg.solve_triangular(
        factor.expand((*shape, shape[-1])), deviation.expand(shape).unsqueeze(-1), upper=False
    )
    return solved.squeeze(-1).pow(2).sum(-1)


def _precision_to_scale_tril(P: Tensor) -> Tensor:
    """Return the Cholesky factor of the inverse of a precision matrix."""
    factor = ts.linalg.cholesky(P.flip((-2, -1))).flip((-2, -1)).transpose(-2, -1)
    identity = ts.eye(P.shape[-1], dtype=P.dtype, device=P.device)
    inverse: Tensor = ts.linalg.solve_triangular(factor, identity, upper=False)
    return inverse
