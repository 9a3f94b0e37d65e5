"""Orthogonal polynomials, by their three-term recurrences.

In: x and the degree n, tensors or numbers; out: the polynomial's values; 0 where n is negative.
A row gives P1 and the step from P[k], P[k-1] to P[k+1]; P0 is 1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ts.ops import rules
from ts.ops.registry import Record, add, out_of

Array = rules.Array


def _chebyshev(first: Callable[[Array], Array], shifted: bool = False) -> tuple[Any, Any]:
    """The four kinds differ in P1 only; the shifted ones are those of 2x - 1."""

    def moved(x: Array) -> Array:
        return 2 * x - 1 if shifted else x

    return (lambda x: first(moved(x)), lambda x, k, p, q: 2 * moved(x) * p - q)


_KINDS: dict[str, Callable[[Array], Array]] = {
    "t": lambda x: x,
    "u": lambda x: 2 * x,
    "v": lambda x: 2 * x - 1,
    "w": lambda x: 2 * x + 1,
}
_ROWS: dict[str, tuple[Callable[[Array], Array], Callable[..., Array]]] = {
    **{f"chebyshev_polynomial_{k}": _chebyshev(f) for k, f in _KINDS.items()},
    **{f"shifted_chebyshev_polynomial_{k}": _chebyshev(f, True) for k, f in _KINDS.items()},
    "hermite_polynomial_h": (lambda x: 2 * x, lambda x, k, p, q: 2 * x * p - 2 * k * q),
    "hermite_polynomial_he": (lambda x: x, lambda x, k, p, q: x * p - k * q),
    "laguerre_polynomial_l": (lambda x: 1 - x, lambda x, k, p, q: ((2 * k + 1 - x) * p - k * q) / (k + 1)),
    "legendre_polynomial_p": (lambda x: x, lambda x, k, p, q: ((2 * k + 1) * x * p - k * q) / (k + 1)),
}


def _kernel(first: Callable[[Array], Array], step: Callable[..., Array]) -> Callable[..., Array]:
    def kernel(xp: Any, x: Any, n: Any) -> Array:
        dtype = rules.float_dtype(rules.result_type(x, n))
        at = rules.cast(xp, x, rules.opmath(dtype))
        degree = rules.cast(xp, n, rules.INT64)
        at, degree = xp.broadcast_arrays(at, degree)
        before, now = xp.ones_like(at), first(at)
        result = xp.where(degree == 0, before, xp.where(degree == 1, now, xp.zeros_like(at)))
        for k in range(1, int(degree.max()) if degree.size else 0):
            before, now = now, step(at, k, now, before)
            result = xp.where(degree == k + 1, now, result)
        return rules.cast(xp, result, dtype)

    return kernel


for _name, _row in _ROWS.items():
    for _overload, _arguments, _out in (
        ("", "Tensor x, Tensor n", "out"),
        (".x_scalar", "Scalar x, Tensor n", "x_scalar_out"),
        (".n_scalar", "Tensor x, Scalar n", "n_scalar_out"),
    ):
        _record = add(
            Record(
                f"aten::special_{_name}{_overload}({_arguments}) -> Tensor",
                _kernel(*_row),
                "polynomial",
                where="f",
            )
        )
        add(out_of(_record, _out))
