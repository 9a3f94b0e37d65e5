"""Derivatives of tensor constructors.

Most constructors do not read the elements of a tensor, and therefore have no derivative.
"""

from __future__ import annotations

import ts
from ts import Tensor
from ts.ops.derivatives.formula_registry import compose, constant

constant(
    "aten::empty_like aten::zeros_like aten::ones_like aten::full_like aten::new_empty aten::new_zeros "
    "aten::new_ones aten::new_full aten::new_empty_strided aten::_new_zeros_with_same_feature_meta "
    "aten::_dim_arange",
    "it reads no elements",
)
for _overload in ("Tensor_Tensor", "Tensor_Scalar", "Scalar_Tensor"):
    constant(f"aten::linspace.{_overload} aten::logspace.{_overload}", "its bounds are converted to numbers")


def powers(x: Tensor, count: int) -> Tensor:
    """Return the powers 0 to `count` - 1 of each element along a new last dimension."""
    ones = ts.ones_like(x).unsqueeze(-1)
    if count < 2:
        return ones.narrow(-1, 0, count)
    return ts.cat([ones, x.unsqueeze(-1).expand(x.size() + [count - 1]).cumprod(-1)], -1)


def columns(x: Tensor, count: int, increasing: bool) -> Tensor:
    """Return the columns of a Vandermonde matrix, highest power first unless `increasing`."""
    matrix = powers(x, count)
    return matrix if increasing else matrix.flip([-1])


def rows(x: Tensor, N: int | None) -> Tensor:
    """Return the powers 0 to `N` - 1 of each element. `N` defaults to the number of elements."""
    return powers(x, x.size(-1) if N is None else N)


compose("aten::vander", "columns(x, x.size(0) if N is None else N, increasing)")
compose("aten::linalg_vander", "rows(x if x.dim() > 0 else x.unsqueeze(0), N)")
