"""What formulas of several families need."""

from __future__ import annotations

from typing import Union

from ts import Tensor


def scaled(x: Tensor, factor: int | float | complex) -> Tensor:
    """x times the conjugate of a number; x itself where that is 1."""
    if isinstance(factor, complex):
        return (x.conj() * factor).conj()
    return x if factor == 1 else x * factor
