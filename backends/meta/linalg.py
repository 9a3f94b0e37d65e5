"""Linear algebra on the meta device: result shapes and dtypes of `numpy.linalg`.

Input: matrices or stacks of matrices. Output: meta arrays with the shapes of the results. Unsupported shapes
and dtypes raise NumPy's errors. For example, a matrix A of shape (m, n) has these factors:

    svd(A)      U (m, m), S (min(m, n)), Vh (n, n)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ts._core.tensor import size_guards

from .array import MetaArray, matmul, shape_of

_REAL = {"f": "f", "d": "d", "F": "f", "D": "d"}
_COMPLEX = {"f": "F", "d": "D", "F": "F", "D": "D"}


def _dtype(*xs: MetaArray) -> np.dtype[Any]:
    """Return the dtype in which LAPACK computes, or raise TypeError for 16-bit floats.

    Integers are computed in float64.
    """
    for x in xs:
        if x.dtype.kind not in "biu" and x.dtype.char not in _REAL:
            raise TypeError(f"array type {x.dtype.name} is unsupported in linalg")
    kinds = [np.dtype(np.float64) if x.dtype.kind in "biu" else x.dtype for x in xs]
    return np.result_type(*kinds)


def _matrix(x: MetaArray) -> None:
    if x.ndim < 2:
        raise np.linalg.LinAlgError(
            f"{x.ndim}-dimensional array given. Array must be at least two-dimensional"
        )


def _square(x: MetaArray) -> None:
    _matrix(x)
    if not size_guards.equal(x.shape[-1], x.shape[-2]):
        raise np.linalg.LinAlgError("Last 2 dimensions of the array must be square")


def _real(dtype: np.dtype[Any]) -> np.dtype[Any]:
    return np.dtype(_REAL[dtype.char])


class LinearAlgebra:
    """Functions of `numpy.linalg` for meta arrays."""

    LinAlgError = np.linalg.LinAlgError

    def det(self, a: MetaArray) -> MetaArray:
        _square(a)
        return MetaArray(a.shape[:-2], _dtype(a))

    def slogdet(self, a: MetaArray) -> tuple[MetaArray, MetaArray]:
        _square(a)
        dtype = _dtype(a)
        return MetaArray(a.shape[:-2], dtype), MetaArray(a.shape[:-2], _real(dtype))

    def inv(self, a: MetaArray) -> MetaArray:
        _square(a)
        return MetaArray(a.shape, _dtype(a))

    cholesky = inv

    def solve(self, a: MetaArray, b: MetaArray) -> MetaArray:
        _square(a)
        right = b[:, None] if b.ndim == 1 else b
        result = MetaArray(matmul(a, right).shape, _dtype(a, b))
        return result[..., 0] if b.ndim == 1 else result

    def eigh(self, a: MetaArray, UPLO: str = "L") -> tuple[MetaArray, MetaArray]:
        return self.eigvalsh(a, UPLO), MetaArray(a.shape, _dtype(a))

    def eigvalsh(self, a: MetaArray, UPLO: str = "L") -> MetaArray:
        if UPLO.upper() not in ("L", "U"):
            raise ValueError("UPLO argument must be 'L' or 'U'")
        _square(a)
        return MetaArray(a.shape[:-1], _real(_dtype(a)))

    def eig(self, a: MetaArray) -> tuple[MetaArray, MetaArray]:
        return self.eigvals(a), MetaArray(a.shape, _COMPLEX[_dtype(a).char])

    def eigvals(self, a: MetaArray) -> MetaArray:
        _square(a)
        return MetaArray(a.shape[:-1], _COMPLEX[_dtype(a).char])

    def svd(self, a: MetaArray, full_matrices: bool = True, compute_uv: bool = True, **unused: Any) -> Any:
        _matrix(a)
        dtype = _dtype(a)
        *batch, m, n = a.shape
        k = size_guards.smaller(m, n)
        values = MetaArray((*batch, k), _real(dtype))
        if not compute_uv:
            return values
        return (
            MetaArray((*batch, m, m if full_matrices else k), dtype),
            values,
            MetaArray((*batch, n if full_matrices else k, n), dtype),
        )

    def qr(self, a: MetaArray, mode: str = "reduced") -> Any:
        if mode not in ("reduced", "complete", "r", "raw"):
            raise ValueError(f"Unrecognized mode '{mode}'")
        _matrix(a)
        dtype = _dtype(a)
        *batch, m, n = a.shape
        k = size_guards.smaller(m, n)
        if mode == "raw":
            return MetaArray((*batch, n, m), dtype), MetaArray((*batch, k), dtype)
        rows = m if mode == "complete" else k
        upper = MetaArray((*batch, rows, n), dtype)
        return upper if mode == "r" else (MetaArray((*batch, m, rows), dtype), upper)

    def norm(self, x: MetaArray, ord: Any = None, axis: Any = None, keepdims: bool = False) -> MetaArray:
        dtype = np.dtype(np.float64) if x.dtype.kind in "biu" else x.dtype
        axes = range(x.ndim) if axis is None else (axis,) if isinstance(axis, int) else axis
        gone = {a % x.ndim for a in axes}
        if isinstance(ord, str) and ord not in ("fro", "nuc"):
            raise ValueError(f"Invalid norm order '{ord}' for matrices")
        shape = [1 if d in gone else n for d, n in enumerate(x.shape) if keepdims or d not in gone]
        return MetaArray(shape, _REAL.get(dtype.char, dtype))

    def cond(self, x: MetaArray, p: Any = None) -> MetaArray:
        _matrix(x)
        if p not in (None, 2, -2):
            _square(x)
        return MetaArray(x.shape[:-2], _real(_dtype(x)))

    def matrix_power(self, a: MetaArray, n: int) -> MetaArray:
        _square(a)
        return MetaArray(a.shape, a.dtype if n >= 0 else _dtype(a))

    def tensorinv(self, a: MetaArray, ind: int = 2) -> MetaArray:
        if ind <= 0:
            raise ValueError("Invalid ind argument.")
        if not size_guards.equal(size_guards.product(a.shape[:ind]), size_guards.product(a.shape[ind:])):
            raise np.linalg.LinAlgError("Last 2 dimensions of the array must be square")
        return MetaArray((*a.shape[ind:], *a.shape[:ind]), _dtype(a))

    def tensorsolve(self, a: MetaArray, b: Any, axes: Any = None) -> MetaArray:
        lengths = list(a.shape)
        for axis in axes or ():
            lengths.append(lengths.pop(axis))
        rest = lengths[-(a.ndim - len(shape_of(b))) :]
        if not size_guards.equal(a.size, size_guards.product(rest) * size_guards.product(rest)):
            raise np.linalg.LinAlgError(
                "Input arrays must satisfy the requirement             prod(a.shape[b.ndim:]) == "
                "prod(a.shape[:b.ndim])"
            )
        return MetaArray(rest, _dtype(a, b))
