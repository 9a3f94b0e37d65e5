"""Functions shared by the derivative formulas of several families."""

from __future__ import annotations

import ts
from ts import Tensor


def mul_conj(x: Tensor, factor: int | float | complex) -> Tensor:
    """Return x times the conjugate of `factor`, or x itself if `factor` is 1."""
    if isinstance(factor, complex):
        return (x.conj() * factor).conj()
    return x if factor == 1 else x * factor


def underivable(name: str) -> Tensor:
    """Raise NotImplementedError for the operator or argument `name`, which has no derivative."""
    raise NotImplementedError(f"the derivative for '{name}' is not implemented.")


def unsqueeze_reduced(x: Tensor, dim: list[int] | None, keepdim: bool) -> Tensor:
    """Insert the dimensions `dim`, which a reduction has removed, with size 1 into its result `x`.

    The returned tensor broadcasts to the input of the reduction. With `keepdim`, return `x` unchanged.
    """
    if keepdim or x.dim() == 0 or dim is None or len(dim) == 0:
        return x
    sizes = x.size()
    rank = x.dim() + len(dim)
    for d in sorted([d % rank for d in dim]):
        sizes.insert(d, 1)
    return x.reshape(sizes)


def spread(grad: Tensor, sizes: list[int], dim: list[int] | None, keepdim: bool) -> Tensor:
    """Return the gradient of the input of a sum: `grad` expanded to the sizes of the input."""
    return unsqueeze_reduced(grad, dim, keepdim).expand(sizes)


def scatter_gradient(grad: Tensor, sizes: list[int], dim: int, indices: Tensor, keepdim: bool) -> Tensor:
    """Return the gradient of the input of a reduction that selected the elements at `indices` along `dim`.

    The gradient is zero for elements that were not selected.
    """
    if len(sizes) == 0:
        return grad
    if not keepdim:
        return grad.new_zeros(sizes).scatter(dim, indices.unsqueeze(dim), grad.unsqueeze(dim))
    return grad.new_zeros(sizes).scatter(dim, indices, grad)


def chosen(x: Tensor, dim: int, indices: Tensor, keepdim: bool) -> Tensor:
    """Return the elements of `x` that a reduction along `dim`, such as `max`, selected at `indices`."""
    if x.dim() == 0:
        return x
    if not keepdim:
        return x.gather(dim, indices.unsqueeze(dim)).squeeze(dim)
    return x.gather(dim, indices)


def product_of_others(x: Tensor, dim: int) -> Tensor:
    """Return a tensor like `x` with the product of all other elements along `dim` in place of each element.

    The products are computed without division, because elements may be zero.
    """
    if x.dim() == 0:
        return ts.ones_like(x)
    n, one = x.size(dim), ts.ones_like(x.narrow(dim, 0, 1))
    before = ts.cat([one, x.narrow(dim, 0, n - 1)], dim).cumprod(dim)
    after = ts.cat([one, x.flip([dim]).narrow(dim, 0, n - 1)], dim).cumprod(dim).flip([dim])
    return before * after


def shared_by_all(grad: Tensor, x: Tensor, extremum: Tensor) -> Tensor:
    """Return the gradient of `x`, where `extremum` is the maximum or minimum of all elements of `x`.

    If several elements equal `extremum`, each gets an equal part of `grad`.
    """
    is_extremum = (x == extremum) | (x.isnan() & extremum.isnan())
    return grad * is_extremum / is_extremum.sum()
