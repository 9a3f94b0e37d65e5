"""Orthogonal polynomials, which have no derivatives, as in PyTorch."""

from __future__ import annotations

from ts.ops.derivatives.formula_registry import constant

for _name in (
    "chebyshev_polynomial_t chebyshev_polynomial_u chebyshev_polynomial_v chebyshev_polynomial_w "
    "shifted_chebyshev_polynomial_t shifted_chebyshev_polynomial_u shifted_chebyshev_polynomial_v "
    "shifted_chebyshev_polynomial_w hermite_polynomial_h hermite_polynomial_he laguerre_polynomial_l "
    "legendre_polynomial_p"
).split():
    for _overload in ("", ".x_scalar", ".n_scalar"):
        constant(f"aten::special_{_name}{_overload}", "PyTorch does not define its derivative")
