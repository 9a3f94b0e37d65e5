"""Products of matrices of floats and complex numbers on the CPU: a call of BLAS, factor and summand included.

In: the arguments of addmm, baddbmm, bmm, matmul and linear; out: the product.  What BLAS does not take (other
dtypes, strides that are neither rows nor columns, arguments that do not fit) goes the general way.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ts.backends.cpu.kernels.matmul import multiply

from ..base import Kernel

Array = NDArray[Any]


def _fit(a: Array, b: Array, ndim: int) -> bool:
    """Whether a @ b is a product that BLAS computes."""
    return (
        a.dtype == b.dtype
        and a.dtype.char in "fdFD"
        and a.ndim == b.ndim == ndim
        and a.shape[-1] == b.shape[-2]
        and a.shape[: ndim - 2] == b.shape[: ndim - 2]
        and a.size > 0
        and b.size > 0
    )


def _summed(
    general: Kernel, xp: Any, self: Array, a: Array, b: Array, beta: Any = 1, alpha: Any = 1, *, ndim: int
) -> Any:
    """beta * self + alpha * (a @ b)."""
    plain = type(beta) in (int, float) and type(alpha) in (int, float)
    if plain and _fit(a, b, ndim) and self.dtype == a.dtype:
        shape = (*a.shape[:-1], b.shape[-1])
        own = self.shape
        if len(own) <= ndim and all(n in (1, m) for n, m in zip(own[::-1], shape[::-1], strict=False)):
            out = np.empty(shape, a.dtype)
            if beta != 0:
                out[...] = self
            if multiply(a, b, out, float(alpha), float(beta)):
                return out
    return general(xp, self, a, b, beta, alpha)


def _batched(general: Kernel, xp: Any, a: Array, b: Array) -> Any:
    if _fit(a, b, 3):
        out = np.empty((*a.shape[:-1], b.shape[-1]), a.dtype)
        if multiply(a, b, out, 1.0, 0.0):
            return out
    return general(xp, a, b)


def _folded(a: Array) -> Array | None:
    """All rows of `a` as one matrix, where that needs no copy."""
    return a.reshape(-1, a.shape[-1]) if a.ndim > 2 and a.size and a.flags.c_contiguous else None


def _product(general: Kernel, xp: Any, a: Array, b: Array) -> Any:
    """a @ b; where b is one matrix, all matrices of a at once."""
    rows = _folded(a) if b.ndim == 2 else None
    if rows is not None and _fit(rows, b, 2):
        out = np.empty((*a.shape[:-1], b.shape[-1]), a.dtype)
        if multiply(rows, b, out.reshape(-1, b.shape[-1]), 1.0, 0.0):
            return out
    if b.ndim == 3 and _fit(a, b, 3):
        return _batched(general, xp, a, b)
    return general(xp, a, b)


def _linear(general: Kernel, xp: Any, x: Array, weight: Array, bias: Array | None = None) -> Any:
    """x @ weight.T + bias, whatever the number of dimensions of x."""
    rows = x if x.ndim == 2 else _folded(x)
    if rows is None or weight.ndim != 2 or not _fit(rows, weight.T, 2):
        return general(xp, x, weight, bias)
    filters = weight.shape[0]
    if bias is not None and (bias.dtype != x.dtype or bias.shape != (filters,)):
        return general(xp, x, weight, bias)
    out = np.empty((*x.shape[:-1], filters), x.dtype)
    if bias is not None:
        out[...] = bias
    if multiply(rows, weight.T, out.reshape(-1, filters), 1.0, 0.0 if bias is None else 1.0):
        return out
    return general(xp, x, weight, bias)


_KERNELS: dict[str, Callable[..., Any]] = {
    "aten::addmm": partial(_summed, ndim=2),
    "aten::baddbmm": partial(_summed, ndim=3),
    "aten::bmm": _batched,
    "aten::matmul": _product,
    "aten::linear": _linear,
}


def kernel(record: Any) -> Kernel:
    """The kernel of a product, around the record's own."""
    return partial(_KERNELS[record.name], record.kernel)
