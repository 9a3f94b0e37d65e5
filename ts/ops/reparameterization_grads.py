"""Implicit reparameterization gradients of random samples, by the implicit function theorem.

The operators return the derivative of each sample x with respect to its parameter a. A sample is a function
of a and of a uniform random number u. The derivative treats u as a constant. In this formula, F is the
distribution function and f the density:

    F(x, a) = u,  therefore  dx/da = -(dF/da) / f
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from ts.ops import common
from ts.ops.out_variants import COPIED_OUT
from ts.ops.registry import op

Array = common.Array
_RELATIVE_STEP_SIZE: Final = 1e-3  # step size of the finite difference as a fraction of the parameter


def _log_derivative(xp: Any, function: Callable[[Array], Array], a: Array) -> Array:
    """Return d log(function)/da by a finite difference (five-point stencil)."""
    h = a * _RELATIVE_STEP_SIZE
    logs = [xp.log(function(a + k * h)) for k in (-2, -1, 1, 2)]
    return (logs[0] - 8 * logs[1] + 8 * logs[2] - logs[3]) / (12 * h)


def _cdf_derivative(
    xp: Any, below: Callable[[Array], Array], above: Callable[[Array], Array], a: Array
) -> Array:
    """Return dF/da, computed from the derivative of log F or of log(1 - F).

    `below` is the function F of a, and `above` is 1 - F. The logarithm of the smaller of these numbers is
    used for each element, because this is more accurate.
    """
    low, high = below(a), above(a)
    return xp.where(low < high, low * _log_derivative(xp, below, a), -high * _log_derivative(xp, above, a))


@op("aten::_standard_gamma_grad(Tensor self, Tensor output) -> Tensor", layout="contiguous", **COPIED_OUT)
def _gamma_gradient(xp: Any, self: Array, output: Array) -> Array:
    if self.dtype not in (common.FLOAT, common.DOUBLE):
        common.raise_unsupported_dtype("_standard_gamma_grad_cpu", self.dtype)
    a, x = (common.cast(xp, v, common.DOUBLE) for v in (self, output))
    special = xp.special
    change = _cdf_derivative(xp, lambda p: special("gammainc")(p, x), lambda p: special("gammaincc")(p, x), a)
    density = xp.exp((a - 1) * xp.log(x) - x - special("gammaln")(a))
    near_zero = x / a * (special("psi")(a + 1) - xp.log(x))  # for small x, F is x^a / gamma(a + 1)
    return common.cast(xp, xp.where(x < 1e-6 * (a + 1), near_zero, -change / density), self.dtype)


@op(
    "aten::_dirichlet_grad(Tensor x, Tensor alpha, Tensor total) -> Tensor", layout="contiguous", **COPIED_OUT
)
def _dirichlet_gradient(xp: Any, x: Array, alpha: Array, total: Array) -> Array:
    """Return the derivative of each Dirichlet component with respect to its parameter alpha.

    The distribution of a single component is a beta distribution.

    The ratios of the other components to each other stay constant.
    """
    if alpha.dtype != x.dtype:
        raise RuntimeError(
            f"Found dtype {common.NAME_OF[alpha.dtype]} but expected {common.NAME_OF[x.dtype]}"
        )
    if x.dtype not in (common.FLOAT, common.DOUBLE):
        common.raise_unsupported_dtype("_dirichlet_grad_cpu", x.dtype)
    sample, a, alpha_sum = (common.cast(xp, v, common.DOUBLE) for v in (x, alpha, total))
    b, special = alpha_sum - a, xp.special
    change = _cdf_derivative(
        xp, lambda p: special("betainc")(p, b, sample), lambda p: special("betainc")(b, p, 1 - sample), a
    )
    logs = special("gammaln")(alpha_sum) - special("gammaln")(a) - special("gammaln")(b)
    density = xp.exp(logs + (a - 1) * xp.log(sample) + (b - 1) * xp.log1p(-sample))
    return common.cast(xp, -change / density / (1 - sample), x.dtype)
