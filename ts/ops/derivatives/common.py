"""What formulas of several families need."""

from __future__ import annotations

from ts import Tensor


def scaled(x: Tensor, factor: int | float | complex) -> Tensor:
    """x times the conjugate of a number; x itself where that is 1."""
    if isinstance(factor, complex):
        return (x.conj() * factor).conj()
    return x if factor == 1 else x * factor


def underivable(what: str) -> Tensor:
    """Raise: for an argument that an operator cannot be differentiated by."""
    raise NotImplementedError(f"the derivative for '{what}' is not implemented.")
