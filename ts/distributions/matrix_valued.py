"""LKJCholesky (onion method) and Wishart (Bartlett decomposition), distributions of matrices."""

from __future__ import annotations

import math
import warnings
from typing import Any

import ts
from ts._core.tensor.tensor import Size, Tensor
from ts.distributions import constraints
from ts.distributions.distribution import Distribution
from ts.distributions.exp_family import ExponentialFamily
from ts.distributions.gamma_family import Beta, Chi2
from ts.distributions.multivariate import CovarianceBased, select_matrix
from ts.distributions.utils import broadcast_all


class LKJCholesky(Distribution):
    """LKJ distribution of Cholesky factors of correlation matrices.

    The density is a power of the determinant. A `concentration` of 1 is uniform over correlation matrices,
    and larger values favour matrices near the identity.
    """

    arg_constraints = {"concentration": constraints.positive}
    support = constraints.corr_cholesky

    def __init__(self, dim: int, concentration: Any = 1.0, validate_args: bool | None = None) -> None:
        if dim < 2:
            raise ValueError(f"Expected dim to be an integer greater than or equal to 2. Found dim={dim}.")
        self.dim = dim
        (self.concentration,) = broadcast_all(concentration)
        like = self.concentration
        # Onion method: the part of each row left of the diagonal has a squared norm from a Beta distribution.
        offset = ts.arange(dim - 1, dtype=like.dtype, device=like.device)
        offset = ts.cat([offset.new_zeros((1,)), offset])
        concentration0 = (like + 0.5 * (dim - 2)).unsqueeze(-1) - 0.5 * offset
        self._beta = Beta(offset + 0.5, concentration0)
        super().__init__(like.size(), (dim, dim), validate_args)

    def _attribute_batch_shape(self, name: str, batch_shape: Any) -> Any:
        return (*batch_shape, self.dim)

    def sample(self, sample_shape: Any = ()) -> Any:
        with ts.no_grad():
            squared_norms = self._beta.sample(sample_shape).unsqueeze(-1)
            like = self.concentration
            noise = ts.randn(self._extended_shape(sample_shape), dtype=like.dtype, device=like.device).tril(
                -1
            )
            direction = noise / noise.norm(dim=-1, keepdim=True)
            direction[..., 0, :].fill_(0.0)
            strict_lower = ts.sqrt(squared_norms) * direction
            rest = (1 - (strict_lower**2).sum(-1)).clamp(min=ts.finfo(strict_lower.dtype).tiny)
            return strict_lower + ts.diag_embed(rest.sqrt())

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


class Wishart(CovarianceBased, ExponentialFamily):
    """Wishart distribution: sum of the outer products of `df` normal vectors with themselves.

    Exactly one of `covariance_matrix`, `precision_matrix` and `scale_tril` (a Cholesky factor) is required.
    They describe the normal vectors. For matrices of size n, `df` is a real number above n - 1.
    """

    _extra_event_dims = {"_factor": 2}
    has_rsample = True
    support = constraints.positive_definite
    _mean_carrier_measure = 0

    def __init__(
        self,
        df: Any,
        covariance_matrix: Tensor | None = None,
        precision_matrix: Tensor | None = None,
        scale_tril: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        name, matrix = select_matrix(AssertionError, covariance_matrix, precision_matrix, scale_tril)
        if matrix.dim() < 2:
            raise ValueError(
                "scale_tril must be at least two-dimensional, with optional leading batch dimensions"
            )
        like = matrix if isinstance(df, int | float) else df
        degrees = ts.as_tensor(df, dtype=like.dtype, device=like.device)
        batch = ts.broadcast_shapes(matrix.shape[:-2], degrees.shape)
        size = matrix.shape[-1]
        if bool((degrees <= size - 1).any()):
            raise ValueError(f"Value of df={df} expected to be greater than ndim - 1 = {size - 1}.")
        if bool((degrees < size).any()):
            warnings.warn(
                "Low df values detected. "
                "Singular samples are highly likely to occur for ndim - 1 < df < ndim.",
                stacklevel=2,
            )
        self.df = degrees.expand(batch)
        setattr(self, name, matrix.expand((*batch, -1, -1)))
        super().__init__(batch, matrix.shape[-2:], validate_args)
        if name == "precision_matrix":
            matrix = ts.linalg.inv(matrix)
        factor = matrix if name == "scale_tril" else ts.linalg.cholesky(matrix)
        self._factor = factor.expand((*batch, -1, -1))
        # In Bartlett's decomposition, the squares of the diagonal elements are chi-squared variables.
        order = ts.arange(size, dtype=factor.dtype, device=factor.device)
        self._chi2 = Chi2(self.df.unsqueeze(-1) - order)

    @property
    def arg_constraints(self) -> Any:  # type: ignore[override]
        """Constraints of the parameters. The minimum of `df` depends on the size of the matrix."""
        return {
            "covariance_matrix": constraints.positive_definite,
            "precision_matrix": constraints.positive_definite,
            "scale_tril": constraints.lower_cholesky,
            "df": constraints.greater_than(self._event_shape[-1] - 1),
        }

    def _attribute_batch_shape(self, name: str, batch_shape: Any) -> Any:
        return (*batch_shape, self._event_shape[-1])

    @property
    def mean(self) -> Any:
        return self.df[..., None, None] * self.covariance_matrix

    @property
    def mode(self) -> Any:
        times = self.df - self._event_shape[-1] - 1
        return times.masked_fill(times <= 0, ts.nan)[..., None, None] * self.covariance_matrix

    @property
    def variance(self) -> Any:
        covariance = self.covariance_matrix
        diagonal = covariance.diagonal(dim1=-2, dim2=-1)
        squares = covariance.pow(2) + diagonal.unsqueeze(-1) * diagonal.unsqueeze(-2)
        return self.df[..., None, None] * squares

    def rsample(self, sample_shape: Any = (), max_try_correction: int | None = None) -> Any:
        """Draw samples by Bartlett decomposition.

        Singular samples are redrawn at most `max_try_correction` times. As in PyTorch 2.13, the first samples
        are always discarded, so that equal seeds give equal samples.
        """
        shape = Size(sample_shape)
        tries = 10 if max_try_correction is None else max_try_correction
        sample = self._bartlett(shape)
        is_invalid = ts.ones(shape, dtype=ts.bool, device=sample.device)
        for count in range(tries + 1):
            samples = self._bartlett(Size((int(is_invalid.sum()),)))
            sample = samples.reshape(sample.shape) if count == 0 else sample.index_put((is_invalid,), samples)
            is_invalid = ~self.support.check(sample).reshape((*shape, -1)).all(-1)
            if not bool(is_invalid.any()):
                break
            if count == 0:
                warnings.warn("Singular sample detected.", stacklevel=2)
        return sample

    def _bartlett(self, shape: Size) -> Any:
        """Draw samples R R^T, where R is the Cholesky factor times a random triangular matrix.

        The random matrix has chi variables on the diagonal, and standard normal variables below the diagonal.
        """
        size = self._event_shape[-1]
        roots = self._chi2.rsample(shape).sqrt()
        triangle = roots.clamp(min=ts.finfo(roots.dtype).eps).diag_embed()
        rows, columns = ts.tril_indices(size, size, offset=-1, device=roots.device)
        lower_shape = (*shape, *self._batch_shape, size * (size - 1) // 2)
        triangle[..., rows, columns] = ts.randn(lower_shape, dtype=roots.dtype, device=roots.device)
        root = self._factor @ triangle
        return root @ root.mT

    def _half_log_det(self) -> Any:
        """Return log(det(2 * covariance)) / 2."""
        size = self._event_shape[-1]
        return size * math.log(2) / 2 + self._factor.diagonal(dim1=-2, dim2=-1).log().sum(-1)

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        size, half = self._event_shape[-1], self.df / 2
        constant = self.df * self._half_log_det() + ts.mvlgamma(half, size)
        log_det = ts.linalg.slogdet(value).logabsdet
        trace = ts.cholesky_solve(value, self._factor).diagonal(dim1=-2, dim2=-1).sum(-1)
        return (half - (size + 1) / 2) * log_det - trace / 2 - constant

    def entropy(self) -> Any:
        size, half = self._event_shape[-1], self.df / 2
        order = ts.arange(size, dtype=half.dtype, device=half.device)
        digammas = ts.digamma(half.unsqueeze(-1) - order / 2).sum(-1)
        constant = (size + 1) * self._half_log_det() + ts.mvlgamma(half, size)
        return constant - (half - (size + 1) / 2) * digammas + size * half

    @property
    def _natural_params(self) -> Any:
        return -self.precision_matrix / 2, (self.df - self._event_shape[-1] - 1) / 2

    def _log_normalizer(self, x: Any, y: Any) -> Any:  # type: ignore[override]
        size = x.shape[-1]
        half = y + (size + 1) / 2
        return half * (size * math.log(2) - ts.linalg.slogdet(-2 * x).logabsdet) + ts.mvlgamma(half, size)
