"""Utilities: broadcasting of parameters, conversion of probabilities and logits, lazy properties."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ts
from ts._core.tensor.tensor import Tensor


class lazy_property:
    """Lazy property (cached property), computed at first access and then stored as instance attribute."""

    def __init__(self, wrapped: Callable[[Any], Any]) -> None:
        self.wrapped = wrapped
        self.__doc__ = wrapped.__doc__

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return self
        with ts.enable_grad():
            value = self.wrapped(instance)
        setattr(instance, self.wrapped.__name__, value)
        return value


def broadcast_all(*values: Any) -> list[Tensor]:
    """Convert numbers and tensors to tensors of a common shape."""
    if not all(isinstance(value, Tensor | int | float) for value in values):
        raise ValueError(
            "Input arguments must all be instances of Number, torch.Tensor or objects implementing "
            "__torch_function__."
        )
    first = next((value for value in values if isinstance(value, Tensor)), None)
    dtype = ts.get_default_dtype() if first is None else first.dtype
    device = None if first is None else first.device
    tensors = [v if isinstance(v, Tensor) else ts.tensor(v, dtype=dtype, device=device) for v in values]
    return list(ts.broadcast_tensors(*tensors))


def clamp_probs(probs: Tensor) -> Tensor:
    """Clamp probabilities away from 0 and 1, so that their logarithms are finite."""
    eps = ts.finfo(probs.dtype).eps
    return probs.clamp(min=eps, max=1 - eps)  # type: ignore[no-any-return]


def probs_to_logits(probs: Tensor, is_binary: bool = False) -> Tensor:
    """Convert probabilities to log-odds (logits) if `is_binary`, otherwise to log-probabilities."""
    clamped = clamp_probs(probs)
    logits: Tensor = clamped.log() - (-clamped).log1p() if is_binary else clamped.log()
    return logits


def logits_to_probs(logits: Tensor, is_binary: bool = False) -> Tensor:
    """Convert logits to probabilities. This is the inverse of `probs_to_logits`."""
    probs: Tensor = logits.sigmoid() if is_binary else logits.softmax(-1)
    return probs


def sum_rightmost(value: Any, count: int) -> Any:
    """Sum over the last `count` dimensions."""
    return value.sum(tuple(range(-count, 0))) if count else value


def tril_matrix_to_vec(mat: Tensor, diag: int = 0) -> Tensor:
    """Return the elements of lower triangular matrices, up to the diagonal `diag`, in row-major order.

    >>> tril_matrix_to_vec(ts.tensor([[1, 0], [2, 3]]))
    tensor([1, 2, 3])
    """
    size = mat.shape[-1]
    if not -size <= diag < size:
        raise ValueError(f"diag ({diag}) provided is outside [{-size}, {size - 1}].")
    rows, columns = ts.tril_indices(size, size, diag, device=mat.device)
    return mat[..., rows, columns]  # type: ignore[no-any-return]


def vec_to_tril_matrix(vec: Tensor, diag: int = 0) -> Tensor:
    """Return triangular matrices with the given elements in row-major order.

    The function is the inverse of `tril_matrix_to_vec`.
    """
    count, size = vec.shape[-1], 0
    while _triangle(size, diag) < count:
        size += 1
    if _triangle(size, diag) != count:
        raise ValueError(
            f"The size of last dimension is {count} which cannot be expressed as the lower triangular part "
            "of a square D x D matrix."
        )
    matrix: Tensor = vec.new_zeros((*vec.shape[:-1], size, size))
    rows, columns = ts.tril_indices(size, size, diag, device=vec.device)
    matrix[..., rows, columns] = vec
    return matrix


def _triangle(size: int, diag: int) -> int:
    """Return the number of elements of a square matrix on and below diagonal `diag`."""
    if diag < 0:
        rows = max(size + diag, 0)
        return rows * (rows + 1) // 2
    missing = max(size - 1 - diag, 0)
    return size * size - missing * (missing + 1) // 2


def _standard_normal(shape: Any, dtype: Any, device: Any) -> Tensor:
    """Draw a sample of the standard normal distribution."""
    sample: Tensor = ts.empty(shape, dtype=dtype, device=device).normal_()
    return sample


def _sum_rightmost(value: Any, dim: int) -> Any:
    """Sum over the last `dim` dimensions."""
    if dim == 0:
        return value
    return value.reshape(*value.shape[:-dim], -1).sum(-1)
