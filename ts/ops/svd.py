"""Singular value decomposition (SVD) of matrices that may have infinite elements or NaN.

LAPACK may never return for a matrix with an infinite element. As in PyTorch, the singular values of such a
matrix are NaN. A matrix with a NaN raises `LinAlgError`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ts.errors import LinAlgError
from ts.ops import common

Array = common.Array


def decompose(xp: Any, A: Array, full_matrices: bool = True) -> tuple[Array, Array, Array]:
    """Return U, S and Vh. Raise LinAlgError if a matrix contains NaN."""
    finite, infinite = replace_infinite(xp, A)
    u, s, vh = xp.linalg.svd(finite, full_matrices)
    if infinite is not None:
        s[infinite] = xp.nan
    return u, s, vh


def singular_values(xp: Any, A: Array) -> Array:
    """Return the singular values in descending order. Raise LinAlgError if a matrix contains NaN."""
    finite, infinite = replace_infinite(xp, A)
    s = xp.linalg.svd(finite, compute_uv=False)
    if infinite is not None:
        s[infinite] = xp.nan
    return s


def apply_to_finite(xp: Any, function: Callable[[Array], Array], A: Array) -> Array:
    """Return `function(A)`, an array of singular values. They are NaN for matrices with infinite elements."""
    finite, infinite = replace_infinite(xp, A)
    result = xp.asarray(function(finite))
    return result if infinite is None else xp.where(infinite, result.dtype.type(xp.nan), result)


def replace_infinite(xp: Any, A: Array) -> tuple[Array, Array | None]:
    """Replace each matrix that has an infinite element by zeros. Return all matrices and a mask.

    The mask is True for the replaced matrices.

    The mask is None if all elements are finite. Raise LinAlgError if an element is NaN.
    """
    if not common.is_any_true(xp, ~xp.isfinite(A)):
        return A, None
    has_nan = xp.isnan(A).any(axis=(-2, -1))
    if has_nan.any():
        which = "" if A.ndim == 2 else f" (Batch element {int(xp.argmax(has_nan.ravel()))}):"
        raise LinAlgError(
            f"linalg.svd:{which} The algorithm failed to converge because the input matrix contained "
            "non-finite values."
        )
    infinite = ~xp.isfinite(A).all(axis=(-2, -1))
    return xp.where(infinite[..., None, None], A.dtype.type(0), A), infinite
