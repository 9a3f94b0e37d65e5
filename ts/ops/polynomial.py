"""Orthogonal polynomials (Chebyshev, Hermite, Laguerre, Legendre), by closed forms or three-term recurrences.

Input: points x and degrees n, as tensors or numbers. Output: the values P[n](x), which are 0 for negative n.

A family is defined by P1, a recurrence from P[k] and P[k-1] to P[k+1], and two closed forms. A closed form
also returns a mask of the elements for which it is valid. The first closed form is for degrees that PyTorch
computes in closed form. The second closed form is for degrees that are too high for a recurrence:

    Chebyshev      trigonometric inside of [-1, 1], hyperbolic outside
    Legendre       Hilb's formula, by Bessel functions
    Laguerre       Erdelyi's formula, uniform in x
    Hermite        none, because values of high degree overflow, which ends the recurrence
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from ts.ops import common, cost_model
from ts.ops.registry import op
from ts.ops.shape_functions import broadcast_float

Array = common.Array
Closed = Callable[[Any, Array, Array], tuple[Array, Any]]  # (xp, x, n) -> values, validity mask

STEPS = 1 << 16  # maximum number of recurrence steps. Higher degrees are computed by `Recurrence.high`
# number of steps between two checks of the recurrence, which ends early if all values are NaN
OVERFLOW_CHECK_INTERVAL = 256


class Recurrence(NamedTuple):
    """Definition of a polynomial family: P1, the recurrence, and two closed forms."""

    first: Callable[[Array], Array]
    step: Callable[..., Array]
    closed: Closed | None = None
    high: Closed | None = None


def _signed(xp: Any, n: Array, value: Any) -> Array:
    """Return value * (-1)**n."""
    return xp.where(n % 2 == 0, value, -value)


# Dict from the kind of Chebyshev polynomial to (P1, highest degree for which PyTorch uses the recurrence,
# P[n](cos t), P[n](cosh t), P[n](-cosh t) * (-1)**n, P[n](1), P[n](-1) * (-1)**n). All but the degree are
# functions.
_KINDS: dict[str, tuple[Any, ...]] = {
    "t": (
        lambda x: x, 6, lambda xp, n, t: xp.cos(n * t), lambda xp, n, t: xp.cosh(n * t),
        lambda xp, n, t: xp.cosh(n * t), lambda n: 0 * n + 1, lambda n: 0 * n + 1,
    ),
    "u": (
        lambda x: 2 * x, 8, lambda xp, n, t: xp.sin((n + 1) * t) / xp.sin(t),
        lambda xp, n, t: xp.sinh((n + 1) * t) / xp.sinh(t),
        lambda xp, n, t: xp.sinh((n + 1) * t) / xp.sinh(t),
        lambda n: n + 1, lambda n: n + 1,
    ),
    "v": (
        lambda x: 2 * x - 1, 8, lambda xp, n, t: xp.cos((n + 0.5) * t) / xp.cos(t / 2),
        lambda xp, n, t: xp.cosh((n + 0.5) * t) / xp.cosh(t / 2),
        lambda xp, n, t: xp.sinh((n + 0.5) * t) / xp.sinh(t / 2),
        lambda n: 0 * n + 1, lambda n: n + n + 1,
    ),
    "w": (
        lambda x: 2 * x + 1, 8, lambda xp, n, t: xp.sin((n + 0.5) * t) / xp.sin(t / 2),
        lambda xp, n, t: xp.sinh((n + 0.5) * t) / xp.sinh(t / 2),
        lambda xp, n, t: xp.cosh((n + 0.5) * t) / xp.cosh(t / 2),
        lambda n: n + n + 1, lambda n: 0 * n + 1,
    ),
}  # fmt: skip


def _chebyshev(kind: str, shifted: bool = False) -> Recurrence:
    """Return the definition of a Chebyshev family. If `shifted`, P[n](2x - 1) replaces P[n](x)."""
    first, iterated, inside, above, below, at_one, at_minus_one = _KINDS[kind]

    def moved(x: Array) -> Array:
        return x + x - 1 if shifted else x

    def closed(xp: Any, x: Array, n: Array) -> tuple[Array, Any]:
        z, degree = moved(x), n.astype(x.dtype)
        within = (xp.abs(z) < 1) & (n > iterated)
        values = inside(xp, degree, xp.arccos(xp.where(within, z, 0)))
        endpoint_values = xp.where(z == 1, at_one(degree), _signed(xp, n, at_minus_one(degree)))
        return xp.where(within, values, endpoint_values), within | (xp.abs(z) == 1)

    def high(xp: Any, x: Array, n: Array) -> tuple[Array, Any]:
        z, degree = moved(x), n.astype(x.dtype)
        t = xp.arccosh(xp.maximum(xp.abs(z), 1))
        values = xp.where(z > 0, above(xp, degree, t), _signed(xp, n, below(xp, degree, t)))
        return values, True

    return Recurrence(
        lambda x: first(moved(x)), lambda x, k, p, q: 2 * moved(x) * p - q, closed, high
    )  # fmt: skip


def _legendre_endpoints(xp: Any, x: Array, n: Array) -> tuple[Array, Any]:
    ones = xp.ones_like(x)
    return xp.where(x > 0, ones, _signed(xp, n, ones)), xp.abs(x) == 1


def _legendre_high(xp: Any, x: Array, n: Array) -> tuple[Array, Any]:
    special = xp.scipy("special")
    size, degree = xp.abs(x), n.astype(x.dtype) + 0.5
    t, s = xp.arccos(xp.minimum(size, 1)), xp.arccosh(xp.maximum(size, 1))
    inside = xp.sqrt(t / xp.sin(t)) * special.j0(degree * t)
    outside = xp.sqrt(s / xp.sinh(s)) * special.i0(degree * s)
    values = xp.where(size < 1, inside, outside)
    return xp.where(x > 0, values, _signed(xp, n, values)), True


def _laguerre_zero(xp: Any, x: Array, n: Array) -> tuple[Array, Any]:
    return xp.ones_like(x), x == 0


def _laguerre_high(xp: Any, x: Array, n: Array) -> tuple[Array, Any]:
    special = xp.scipy("special")
    nu = 4 * n.astype(x.dtype) + 2
    y = xp.abs(x) / nu
    below = xp.minimum(y, 0.5)  # for larger y, exp(x / 2) overflows in any case
    circular = (xp.sqrt(below - below * below) + xp.arcsin(xp.sqrt(below))) / 2
    hyperbolic = (xp.sqrt(y + y * y) + xp.arcsinh(xp.sqrt(y))) / 2
    right = special.j0(nu * circular) * xp.sqrt(circular) / (below * (1 - below)) ** 0.25
    left = special.i0(nu * hyperbolic) * xp.sqrt(hyperbolic) / (y * (1 + y)) ** 0.25
    return xp.exp(x / 2) * xp.where(x > 0, right, left), True


_RECURRENCES: dict[str, Recurrence] = {
    **{f"chebyshev_polynomial_{k}": _chebyshev(k) for k in _KINDS},
    **{f"shifted_chebyshev_polynomial_{k}": _chebyshev(k, True) for k in _KINDS},
    "hermite_polynomial_h": Recurrence(lambda x: 2 * x, lambda x, k, p, q: 2 * x * p - 2 * k * q),
    "hermite_polynomial_he": Recurrence(lambda x: x, lambda x, k, p, q: x * p - k * q),
    "laguerre_polynomial_l": Recurrence(
        lambda x: 1 - x, lambda x, k, p, q: ((2 * k + 1 - x) * p - k * q) / (k + 1),
        _laguerre_zero, _laguerre_high,
    ),
    "legendre_polynomial_p": Recurrence(
        lambda x: x, lambda x, k, p, q: ((2 * k + 1) * x * p - k * q) / (k + 1),
        _legendre_endpoints, _legendre_high,
    ),
}  # fmt: skip


def _kernel(family: Recurrence) -> Callable[..., Array]:
    def kernel(xp: Any, x: Any, n: Any) -> Array:
        dtype = common.float_dtype(common.result_type(x, n))
        points = common.cast(xp, x, common.opmath(dtype))
        degree = common.cast(xp, common.cast(xp, n, dtype), common.INT64)
        points, degree = xp.broadcast_arrays(points, degree)
        return common.cast(xp, xp.in_pieces(partial(_values, xp, family), points, degree), dtype)

    return kernel


def _values(xp: Any, family: Recurrence, points: Array, degree: Array) -> Array:
    """Evaluate polynomials of `family`: in closed form if it is valid, else by recurrence."""
    result = xp.where(degree == 0, 1, xp.where(degree == 1, family.first(points), 0)).astype(points.dtype)
    left = degree > 1
    if family.closed is not None:
        values, holds = family.closed(xp, points, degree)
        result = xp.where(left & holds, values, result)
        left = left & ~holds
    return _by_recurrence(xp, family, points, degree, result, left)


def _by_recurrence(xp: Any, family: Recurrence, x: Array, n: Array, result: Array, left: Array) -> Array:
    """Return `result`, in which the recurrence computes the elements selected by the mask `left`.

    Elements with a degree above `STEPS` are computed by `family.high`, or are NaN if the family has no such
    closed form.
    """
    if not left.any():
        return result
    previous, current = xp.ones_like(x), family.first(x)
    top = int(n[left].max())
    for k in cost_model.steps(range(1, min(top, STEPS))):
        previous, current = current, family.step(x, k, current, previous)
        result = xp.where(left & (n == k + 1), current, result)
        if k % OVERFLOW_CHECK_INTERVAL == 0:
            later = left & (n > k + 1)
            if xp.isnan(current[later]).all():
                return xp.where(later, current, result)
    later = left & (n > STEPS)
    if not later.any():
        return result
    if family.high is None:
        return xp.where(later, xp.nan, result)
    values = family.high(xp, x, n)[0]
    # NaN after an overflow, because the recurrence would subtract infinities
    values = xp.where(xp.isnan(current) | ~xp.isfinite(values), xp.nan, values)
    return xp.where(later, values, result).astype(x.dtype)


for _name, _family in _RECURRENCES.items():
    for _overload, _arguments, _out in (
        ("", "Tensor x, Tensor n", "out"),
        (".x_scalar", "Scalar x, Tensor n", "x_scalar_out"),
        (".n_scalar", "Tensor x, Scalar n", "n_scalar_out"),
    ):
        op(
            f"aten::special_{_name}{_overload}({_arguments}) -> Tensor",
            out=_out,
            shape=broadcast_float,
            layout="like_all",
            dtype_errors={"hc": f"{_name}_cpu"},
            order="- out x_scalar x_scalar_out",
        )(_kernel(_family))
