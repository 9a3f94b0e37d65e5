"""Masked reductions and normalizations: `torch.masked`.

A function uses only the elements at which the mask is True. The mask is broadcast to the input:

    >>> x, mask = ts.tensor([[1.0, 2.0, 3.0]]), ts.tensor([[True, False, True]])
    >>> ts.masked.mean(x, 1, mask=mask)
    tensor([2.])

If all elements are excluded, the result is the identity of the operation, such as 0 for `sum`. A mean is NaN
in this case.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import ts
from ts._core.tensor.tensor import Tensor

Dims = int | Sequence[int] | None


def _mask_for(input: Any, mask: Any) -> Any:
    """Convert `mask` to bool and expand it to the shape of `input`. Return None if `mask` is None."""
    if mask is None:
        return None
    if mask.ndim > input.ndim:
        raise IndexError(
            "_input_mask expected broadcastable mask (got mask dimensionality higher than of the input)"
        )
    return mask.to(ts.bool).expand(input.shape)


def _mask_out(input: Any, mask: Any, identity: complex) -> Any:
    """Replace excluded elements of `input` by `identity`, the identity of the operation."""
    if mask is None:
        return input
    return ts.where(mask, input, ts.scalar_tensor(identity, dtype=input.dtype))


def _axes(input: Any, dim: Dims) -> list[int]:
    """Return the sorted nonnegative dimensions to reduce. None and () mean all dimensions."""
    n = input.ndim
    axes: list[int] = []
    for d in range(n) if dim is None else (dim,) if isinstance(dim, int) else dim:
        if not -max(n, 1) <= d < max(n, 1):
            low, high = -max(n, 1), max(n, 1) - 1
            raise IndexError(
                f"Dimension out of range (expected to be in range of [{low}, {high}], but got {d})"
            )
        if d % max(n, 1) in axes:
            raise RuntimeError(f"dim={d} appears multiple times in the list of dims")
        axes.append(d % max(n, 1))
    return sorted(axes) or list(range(n))


def _summed_dtype(input: Any, dtype: Any) -> Any:
    """Return the result dtype of a sum or product.

    If `dtype` is not None, return `dtype`. Otherwise, return int64 for an integer or bool input, and the
    dtype of the input for a floating-point or complex input.
    """
    if dtype is not None:
        return dtype
    return input.dtype if input.is_floating_point() or input.is_complex() else ts.int64


def _lowest(name: str, dtype: Any) -> Any:
    """Return the smallest value of a dtype, which is the identity of `amax` and `argmax`.

    `name` is the name of the reduction, for error messages.
    """
    return -ts.inf if dtype.is_floating_point or dtype.is_complex else _limits(name, dtype).min


def _highest(name: str, dtype: Any) -> Any:
    return ts.inf if dtype.is_floating_point or dtype.is_complex else _limits(name, dtype).max


def _limits(name: str, dtype: Any) -> Any:
    if dtype is ts.bool:
        raise NotImplementedError(f"identity of {name} on torch.bool input")
    return ts.iinfo(dtype)


# ---------------------------------------------------------------------------------------- reductions


def sum(
    input: Tensor, dim: Dims = None, *, keepdim: bool | None = False, dtype: Any = None, mask: Any = None
) -> Any:
    """Return the sum of the included elements."""
    dtype = _summed_dtype(input, dtype)
    return ts.sum(_mask_out(input, _mask_for(input, mask), 0), _axes(input, dim), bool(keepdim), dtype=dtype)


def prod(
    input: Tensor, dim: Dims = None, *, keepdim: bool | None = False, dtype: Any = None, mask: Any = None
) -> Any:
    """Return the product of the included elements."""
    result = _mask_out(input, _mask_for(input, mask), 1).to(_summed_dtype(input, dtype))
    for axis in reversed(_axes(input, dim)):
        result = ts.prod(result, axis, bool(keepdim))
    return result


def _extreme(name: str, input: Any, dim: Any, keepdim: Any, dtype: Any, mask: Any, identity: Any) -> Any:
    x = input if dtype is None else input.to(dtype)
    masked_input = x if mask is None else _mask_out(x, _mask_for(x, mask), identity(name, x.dtype))
    return getattr(ts, name)(masked_input, dim, bool(keepdim))


def amax(
    input: Tensor, dim: Dims = None, *, keepdim: bool | None = False, dtype: Any = None, mask: Any = None
) -> Any:
    """Return the maximum of the included elements."""
    return _extreme("amax", input, _axes(input, dim), keepdim, dtype, mask, _lowest)


def amin(
    input: Tensor, dim: Dims = None, *, keepdim: bool | None = False, dtype: Any = None, mask: Any = None
) -> Any:
    """Return the minimum of the included elements."""
    return _extreme("amin", input, _axes(input, dim), keepdim, dtype, mask, _highest)


def argmax(
    input: Tensor,
    dim: int | None = None,
    *,
    keepdim: bool | None = False,
    dtype: Any = None,
    mask: Any = None,
) -> Any:
    """Return the index of the maximum of the included elements, converted to `dtype`.

    By default, `dtype` is the dtype of the input.
    """
    dtype = input.dtype if dtype is None else dtype
    return _extreme("argmax", input, dim, keepdim, dtype, mask, _lowest).to(dtype)


def argmin(
    input: Tensor,
    dim: int | None = None,
    *,
    keepdim: bool | None = False,
    dtype: Any = None,
    mask: Any = None,
) -> Any:
    """Return the index of the minimum of the included elements. `dtype` defaults to the input's dtype."""
    dtype = input.dtype if dtype is None else dtype
    return _extreme("argmin", input, dim, keepdim, dtype, mask, _highest).to(dtype)


def logsumexp(
    input: Tensor, dim: Dims = None, *, keepdim: bool = False, dtype: Any = None, mask: Any = None
) -> Any:
    """Return the logarithm of the sum of the exponentials of the included elements."""
    x = input if dtype is None else input.to(dtype)
    masked_input = x if mask is None else _mask_out(x, _mask_for(x, mask), _lowest("logsumexp", x.dtype))
    return ts.logsumexp(masked_input, _axes(x, dim), keepdim).to(x.dtype)


def mean(
    input: Tensor, dim: Dims = None, *, keepdim: bool | None = False, dtype: Any = None, mask: Any = None
) -> Any:
    """Return the mean of the included elements, or NaN without included elements."""
    dtype = input.dtype if dtype is None else dtype
    if not (dtype.is_floating_point or dtype.is_complex):
        raise ValueError(
            "mean(): Could not infer output dtype. Input dtype must be either a floating point or complex "
            f"dtype. Got: {input.dtype}"
        )
    if mask is None:
        return ts.mean(input, _axes(input, dim), bool(keepdim), dtype=dtype)
    total = sum(input, dim, keepdim=keepdim, dtype=dtype, mask=mask)
    return total / _count(input, dim, keepdim, mask)


def _count(input: Any, dim: Dims, keepdim: bool | None, mask: Any) -> Any:
    """Return the number of included elements."""
    every = ts.ones(input.shape, dtype=ts.int64)
    return sum(every, dim, keepdim=keepdim, mask=mask)


def median(
    input: Tensor, dim: int = -1, *, keepdim: bool = False, dtype: Any = None, mask: Any = None
) -> Any:
    """Return the lower median of the included elements, or NaN without included elements."""
    x = input if dtype is None else input.to(dtype)
    if mask is None:
        return ts.nanmedian(x, dim, keepdim).values
    if not x.is_floating_point():
        raise NotImplementedError(f"identity of median on {x.dtype} input")
    return ts.nanmedian(_mask_out(x, _mask_for(x, mask), ts.nan), dim, keepdim).values


def norm(
    input: Tensor,
    ord: float = 2.0,
    dim: Dims = None,
    *,
    keepdim: bool | None = False,
    dtype: Any = None,
    mask: Any = None,
) -> Any:
    """Return the vector norm of order `ord` of the included elements."""
    masked_input = _mask_out(input, _mask_for(input, mask), ts.inf if ord == -ts.inf else 0)
    return ts.linalg.vector_norm(masked_input, ord, _axes(input, dim), bool(keepdim), dtype=dtype)


def _variance(
    input: Any,
    dim: Dims,
    unbiased: bool | None,
    correction: float | None,
    keepdim: Any,
    dtype: Any,
    mask: Any,
) -> Any:
    assert unbiased is None or correction is None, "Only one of unbiased and correction may be given"
    ddof = correction if correction is not None else 1 if unbiased in (None, True) else 0
    x = input if dtype is None else input.to(dtype)
    is_integral = not (x.is_floating_point() or x.is_complex())
    result_dtype = ts.get_default_dtype() if is_integral else x.dtype
    count = _count(x, dim, True, mask)
    centre = sum(x, dim, keepdim=True, mask=mask) / count
    apart = x - centre
    total = sum(apart * apart.conj(), dim, keepdim=keepdim, mask=mask)
    divisor = (count if keepdim else count.reshape(total.shape)) - ddof
    return (total / ts.maximum(divisor, ts.zeros_like(divisor))).to(result_dtype)


def var(
    input: Tensor,
    dim: Dims = None,
    unbiased: bool | None = None,
    *,
    correction: float | None = None,
    keepdim: bool | None = False,
    dtype: Any = None,
    mask: Any = None,
) -> Any:
    """Return the variance of the included elements."""
    return _variance(input, dim, unbiased, correction, keepdim, dtype, mask)


def std(
    input: Tensor,
    dim: Dims = None,
    unbiased: bool | None = None,
    *,
    correction: float | None = None,
    keepdim: bool | None = False,
    dtype: Any = None,
    mask: Any = None,
) -> Any:
    """Return the standard deviation of the included elements."""
    return ts.sqrt(_variance(input, dim, unbiased, correction, keepdim, dtype, mask))


# ---------------------------------------------------------------------------------------- elementwise results


def cumsum(input: Tensor, dim: int, *, dtype: Any = None, mask: Any = None) -> Any:
    """Return cumulative sums, in which excluded elements count as 0."""
    masked_input = _mask_out(input, _mask_for(input, mask), 0)
    return ts.cumsum(masked_input, dim, dtype=input.dtype if dtype is None else dtype)


def cumprod(input: Tensor, dim: int, *, dtype: Any = None, mask: Any = None) -> Any:
    """Return cumulative products, in which excluded elements count as 1."""
    masked_input = _mask_out(input, _mask_for(input, mask), 1)
    return ts.cumprod(masked_input, dim, dtype=input.dtype if dtype is None else dtype)


def softmax(input: Tensor, dim: int, *, dtype: Any = None, mask: Any = None) -> Any:
    """Return the softmax of the included elements, and 0 for excluded elements."""
    x = input if dtype is None else input.to(dtype)
    return ts.softmax(_mask_out(x, _mask_for(x, mask), -ts.inf), dim)


def log_softmax(input: Tensor, dim: int, *, dtype: Any = None, mask: Any = None) -> Any:
    """Return the logarithm of the softmax of the included elements, and -inf for excluded elements."""
    x = input if dtype is None else input.to(dtype)
    return ts.log_softmax(_mask_out(x, _mask_for(x, mask), -ts.inf), dim)


def softmin(input: Tensor, dim: int, *, dtype: Any = None, mask: Any = None) -> Any:
    """Return the softmax of the negated included elements, and 0 for excluded elements."""
    x = input if dtype is None else input.to(dtype)
    return ts.softmax(-_mask_out(x, _mask_for(x, mask), ts.inf), dim)


def normalize(
    input: Tensor, ord: float, dim: int, *, eps: float = 1e-12, dtype: Any = None, mask: Any = None
) -> Any:
    """Divide the included elements by their norm, or by `eps` if it is greater. Excluded elements are 0."""
    x = input if dtype is None else input.to(dtype)
    size = norm(x, ord, dim, keepdim=True, mask=mask)
    return _mask_out(x, _mask_for(x, mask), 0) / ts.clamp(size, min=eps)


def logaddexp(
    input: Tensor, other: Tensor, *, dtype: Any = None, input_mask: Any = None, other_mask: Any = None
) -> Any:
    """Return log(exp(input) + exp(other)), in which excluded elements count as -inf."""
    dtype = input.dtype if dtype is None else dtype
    left, right = input.to(dtype), other.to(dtype)
    return ts.logaddexp(
        _mask_out(left, _mask_for(left, input_mask), -ts.inf),
        _mask_out(right, _mask_for(right, other_mask), -ts.inf),
    )
