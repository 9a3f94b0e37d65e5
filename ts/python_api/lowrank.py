"""Low-rank approximation of large matrices by randomized SVD (random projection): `svd_lowrank`.

`U, S, V = ts.svd_lowrank(A, q=6)` returns factors of rank 6. A is approximately U diag(S) V^H.
"""

from __future__ import annotations

from typing import Any

import ts
from ts._core.tensor.tensor import Tensor


def _approximate_range(A: Any, q: int, niter: int, M: Any) -> Any:
    """Return q orthonormal columns that approximate the span of the top q singular vectors of A - M.

    The method is the randomized range finder.
    """
    X = ts.randn(A.shape[-1], q, dtype=A.dtype, device=A.device)
    Q = ts.linalg.qr(_multiply_centered(A, X, M)).Q
    for _ in range(niter):
        Q = ts.linalg.qr(_multiply_centered(A.mH, Q, None if M is None else M.mH)).Q
        Q = ts.linalg.qr(_multiply_centered(A, Q, M)).Q
    return Q


def _multiply_centered(A: Any, X: Any, M: Any) -> Any:
    return ts.matmul(A, X) if M is None else ts.matmul(A, X) - ts.matmul(M, X)


def svd_lowrank(A: Tensor, q: int | None = 6, niter: int | None = 2, M: Any = None) -> Any:
    """Return the q largest singular values and vectors of A (or A - M), after Halko et al. (2009)."""
    q, niter = 6 if q is None else q, 2 if niter is None else niter
    if M is not None:
        M = M.broadcast_to(A.shape)
    is_wide = A.shape[-2] < A.shape[-1]
    B, C = (A.mH, None if M is None else M.mH) if is_wide else (A, M)
    Q = _approximate_range(B, q, niter, C)
    projected = _multiply_centered(Q.mH, B, None) if C is None else ts.matmul(Q.mH, B) - ts.matmul(Q.mH, C)
    U, S, Vh = ts.linalg.svd(projected, full_matrices=False)
    U, V = ts.matmul(Q, U), Vh.mH
    return (V, S, U) if is_wide else (U, S, V)


def pca_lowrank(A: Tensor, q: int | None = None, center: bool = True, niter: int = 2) -> Any:
    """Return the principal components (PCA) of the rows of A.

    If `center` is True, the rows are centered first.
    """
    m, n = A.shape[-2:]
    if q is None:
        q = min(6, m, n)
    elif not 0 <= q <= min(m, n):
        raise ValueError(f"q(={q}) must be non-negative integer and not greater than min(m, n)={min(m, n)}")
    if niter < 0:
        raise ValueError(f"niter(={niter}) must be non-negative integer")
    if not center:
        return svd_lowrank(A, q, niter=niter)
    return svd_lowrank(A - A.mean(dim=-2, keepdim=True), q, niter=niter)
