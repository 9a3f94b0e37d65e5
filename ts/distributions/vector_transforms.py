"""Transforms of vectors and matrices, and transforms of concatenated or stacked parts (CatTransform)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import ts
from ts._core.tensor.tensor import Size, Tensor
from ts.distributions import constraints
from ts.distributions.elementwise_transforms import SigmoidTransform
from ts.distributions.transform import Transform
from ts.distributions.utils import sum_rightmost, tril_matrix_to_vec, vec_to_tril_matrix
from ts.nn import functional as F


class _ParameterlessTransform(Transform):
    """Base class of transforms without parameters. Instances of a class are equal."""

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self)

    __hash__ = object.__hash__


class SoftmaxTransform(_ParameterlessTransform):
    """Softmax transform from vectors to probabilities. The inverse returns one of many preimages."""

    domain = constraints.real_vector
    codomain = constraints.simplex

    def _call(self, x: Any) -> Any:
        return x.softmax(-1)

    def _inverse(self, y: Any) -> Any:
        return y.log()

    def forward_shape(self, shape: Any) -> Any:
        return _check_dims(1, shape)

    inverse_shape = forward_shape


def _check_dims(count: int, shape: Any) -> Any:
    """Return `shape`. Raise ValueError if `shape` has fewer than `count` dimensions."""
    if len(shape) < count:
        raise ValueError("Too few dimensions on input")
    return shape


class StickBreakingTransform(_ParameterlessTransform):
    """Stick-breaking transform from n - 1 numbers to n probabilities."""

    bijective = True
    domain = constraints.real_vector
    codomain = constraints.simplex

    def _call(self, x: Any) -> Any:
        fractions = SigmoidTransform()(x - _descending_counts(x, x.shape[-1]).log())
        remaining = (1 - fractions).cumprod(-1)
        return F.pad(fractions, [0, 1], value=1.0) * F.pad(remaining, [1, 0], value=1.0)

    def _inverse(self, y: Any) -> Any:
        pieces = y[..., :-1]
        remaining = (1 - pieces.cumsum(-1)).clamp(min=ts.finfo(y.dtype).tiny)
        return pieces.log() - remaining.log() + _descending_counts(y, pieces.shape[-1]).log()

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        shifted = x - _descending_counts(x, x.shape[-1]).log()
        return (-shifted + F.logsigmoid(shifted) + y[..., :-1].log()).sum(-1)

    def forward_shape(self, shape: Any) -> Any:
        return Size((*_check_dims(1, shape)[:-1], shape[-1] + 1))

    def inverse_shape(self, shape: Any) -> Any:
        return Size((*_check_dims(1, shape)[:-1], shape[-1] - 1))


def _descending_counts(like: Tensor, count: int) -> Any:
    """Return a tensor of the descending sequence count, ..., 2, 1."""
    return ts.arange(count, 0, -1, dtype=like.dtype, device=like.device)


class CorrCholeskyTransform(_ParameterlessTransform):
    """Transform from n (n - 1) / 2 numbers to the Cholesky factor of a correlation matrix, row by row."""

    bijective = True
    domain = constraints.real_vector
    codomain = constraints.corr_cholesky

    def _call(self, x: Any) -> Any:
        eps = ts.finfo(x.dtype).eps
        partial: Any = vec_to_tril_matrix(x.tanh().clamp(min=-1 + eps, max=1 - eps), diag=-1)
        # Each row of the result has norm 1. `remaining` contains, for each element, the norm of the elements
        # behind it.
        remaining = (1 - partial**2).sqrt().cumprod(-1)
        partial = partial + ts.eye(partial.shape[-1], dtype=x.dtype, device=x.device)
        return partial * F.pad(remaining[..., :-1], [1, 0], value=1.0)

    def _inverse(self, y: Any) -> Any:
        remaining = F.pad((1 - (y * y).cumsum(-1))[..., :-1], [1, 0], value=1.0)
        partial = tril_matrix_to_vec(y, diag=-1) / tril_matrix_to_vec(remaining, diag=-1).sqrt()
        return (partial.log1p() - partial.neg().log1p()) / 2

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        remaining = 1 - (y * y).cumsum(-1)
        log_remaining = 0.5 * tril_matrix_to_vec(remaining, -2).log().sum(-1)
        tanh_log_det = -2 * (x + F.softplus(-2 * x) - ts.log(ts.tensor(2.0, dtype=x.dtype))).sum(-1)
        return log_remaining + tanh_log_det

    def forward_shape(self, shape: Any) -> Any:
        count = _check_dims(1, shape)[-1]
        size = round((0.25 + 2 * count) ** 0.5 + 0.5)
        if size * (size - 1) // 2 != count:
            raise ValueError("Input is not a flattened lower-diagonal number")
        return Size((*shape[:-1], size, size))

    def inverse_shape(self, shape: Any) -> Any:
        if len(shape) < 2:
            raise ValueError("Too few dimensions on input")
        if shape[-2] != shape[-1]:
            raise ValueError("Input is not square")
        return Size((*shape[:-2], shape[-1] * (shape[-1] - 1) // 2))


class LowerCholeskyTransform(_ParameterlessTransform):
    """Transform from square matrices to lower triangular matrices with a positive diagonal."""

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.lower_cholesky

    def _call(self, x: Any) -> Any:
        return x.tril(-1) + x.diagonal(dim1=-2, dim2=-1).exp().diag_embed()

    def _inverse(self, y: Any) -> Any:
        return y.tril(-1) + y.diagonal(dim1=-2, dim2=-1).log().diag_embed()


class PositiveDefiniteTransform(_ParameterlessTransform):
    """Transform from square matrices to positive definite matrices."""

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.positive_definite

    def _call(self, x: Any) -> Any:
        factor = LowerCholeskyTransform()(x)
        return factor @ factor.mT

    def _inverse(self, y: Any) -> Any:
        return LowerCholeskyTransform().inv(ts.linalg.cholesky(y))


class _PiecewiseTransform(Transform):
    """Base class of transforms that split a value along a dimension and apply one transform to each part."""

    transforms: list[Transform]
    dim: int

    def _pair_pieces(self, value: Any) -> Iterator[tuple[Transform, Any]]:
        raise NotImplementedError

    def _join(self, pieces: Any) -> Any:
        raise NotImplementedError

    @property
    def bijective(self) -> bool:  # type: ignore[override]
        """True if all transforms are bijective."""
        return all(each.bijective for each in self.transforms)

    def _call(self, x: Any) -> Any:
        return self._join([each(piece) for each, piece in self._pair_pieces(x)])

    def _inverse(self, y: Any) -> Any:
        return self._join([each.inv(piece) for each, piece in self._pair_pieces(y)])


class CatTransform(_PiecewiseTransform):
    """Concatenation of transforms of consecutive slices. By default, each slice has length 1."""

    _constructor_arguments = ("transforms", "dim", "lengths")

    def __init__(
        self,
        tseq: Sequence[Transform],
        dim: int = 0,
        lengths: Sequence[int] | None = None,
        cache_size: int = 0,
    ) -> None:
        super().__init__(cache_size=cache_size)
        self.transforms = [each.with_cache(cache_size) for each in tseq] if cache_size else list(tseq)
        self.lengths = [1] * len(self.transforms) if lengths is None else list(lengths)
        self.dim = dim

    @property
    def event_dim(self) -> int:
        return max(each.event_dim for each in self.transforms)

    @property
    def length(self) -> int:
        """Total length of the dimension."""
        return sum(self.lengths)

    @property
    def domain(self) -> Any:  # type: ignore[override]
        """Concatenation of the domains of the parts."""
        return constraints.cat([each.domain for each in self.transforms], self.dim, self.lengths)

    @property
    def codomain(self) -> Any:  # type: ignore[override]
        """Concatenation of the codomains of the parts."""
        return constraints.cat([each.codomain for each in self.transforms], self.dim, self.lengths)

    def _pair_pieces(self, value: Any) -> Iterator[tuple[Transform, Any]]:
        return zip(self.transforms, value.split(self.lengths, self.dim), strict=True)

    def _join(self, pieces: Any) -> Any:
        return ts.cat(pieces, self.dim)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        each = [
            _sum_log_det(component, before, after, self.event_dim)
            for (component, before), (_, after) in zip(
                self._pair_pieces(x), self._pair_pieces(y), strict=True
            )
        ]
        dim = self.dim - x.dim() if self.dim >= 0 else self.dim
        dim += self.event_dim
        return ts.cat(each, dim) if dim < 0 else sum(each)


class StackTransform(_PiecewiseTransform):
    """Transforms of the elements along a dimension, stacked again."""

    _constructor_arguments = ("transforms", "dim")

    def __init__(self, tseq: Sequence[Transform], dim: int = 0, cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        self.transforms = [each.with_cache(cache_size) for each in tseq] if cache_size else list(tseq)
        self.dim = dim

    @property
    def domain(self) -> Any:  # type: ignore[override]
        """Stack of the domains of the parts."""
        return constraints.stack([each.domain for each in self.transforms], self.dim)

    @property
    def codomain(self) -> Any:  # type: ignore[override]
        """Stack of the codomains of the parts."""
        return constraints.stack([each.codomain for each in self.transforms], self.dim)

    def _pair_pieces(self, value: Any) -> Iterator[tuple[Transform, Any]]:
        return zip(self.transforms, value.unbind(self.dim), strict=True)

    def _join(self, pieces: Any) -> Any:
        return ts.stack(pieces, self.dim)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        each = [
            component.log_abs_det_jacobian(before, after)
            for (component, before), (_, after) in zip(
                self._pair_pieces(x), self._pair_pieces(y), strict=True
            )
        ]
        return ts.stack(each, dim=self.dim)


def _sum_log_det(transform: Transform, x: Any, y: Any, event_dim: int) -> Any:
    """Return the log-determinant of the Jacobian, summed to one number per value.

    A value has `event_dim` dimensions. This number may exceed `transform.event_dim`.
    """
    return sum_rightmost(transform.log_abs_det_jacobian(x, y), event_dim - transform.event_dim)
