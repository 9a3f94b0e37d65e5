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
    """Raise NotImplementedError: `name`, an operator or argument, has no derivative."""
    raise NotImplementedError(f"the derivative for '{name}' is not implemented.")


def unsqueeze_reduced(x: Tensor, dim: list[int] | None, keepdim: bool) -> Tensor:
    """Restore the reduced dimensions `dim` of a result, with size 1, so that it broadcasts to the input."""
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
    """Return the gradient of the input of a reduction that selects the elements at `indices` along `dim`.

    It is zero for all other elements.
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
    """Return for each element the product of all other elements along `dim`, computed without division."""
    if x.dim() == 0:
        return ts.ones_like(x)
    n, one = x.size(dim), ts.ones_like(x.narrow(dim, 0, 1))
    before = ts.cat([one, x.narrow(dim, 0, n - 1)], dim).cumprod(dim)
    after = ts.cat([one, x.flip([dim]).narrow(dim, 0, n - 1)], dim).cumprod(dim).flip([dim])
    return before * after


def shared_by_all(grad: Tensor, x: Tensor, extremum: Tensor) -> Tensor:
    """Return the gradient of `x` for the maximum or minimum of all elements. Equal extrema share `grad`."""
    is_extremum = (x == extremum) | (x.isnan() & extremum.isnan())
    return grad * is_extremum / is_extremum.sum()
