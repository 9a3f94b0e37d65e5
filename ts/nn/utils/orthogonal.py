"""Orthogonal or unitary parametrization of matrices (matrix exponential, Cayley map, Householder).

    layer = orthogonal(ts.nn.Linear(20, 40))        # layer.weight.mT @ layer.weight is the identity
    layer.weight = ts.nn.init.orthogonal_(x)        # any orthogonal matrix can be assigned

A map computes a matrix Q from an unconstrained matrix X of the same shape (..., n, k). The columns of Q are
orthonormal. If n < k, the rows are orthonormal. Each line shows the name of a map and its formula for Q:

    matrix_exp     exp(A)                   A = L - L^H, L the lower triangle of X padded with zeros
    cayley         (I - A/2)^-1 (I + A/2)
    householder    H1 H2 ... Hk D           reflection Hi by column i of X below the diagonal D (1 and -1)

By default, the weight is the product of a buffer `base` and Q (trivialization). An assignment to the weight
then stores the matrix in `base`, and makes Q the identity. Otherwise, the weight is Q.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeVar

import ts
from ts._core.tensor.tensor import Tensor
from ts.nn.modules.module import Module
from ts.nn.utils import parametrize

M = TypeVar("M", bound=Module)
# A matrix Q of size n counts as orthonormal if Q^H Q deviates from the identity by at most this factor * n *
# eps.
_ORTHONORMAL_TOLERANCE: Final = 10.0


def _skew_symmetric(x: Tensor) -> Tensor:
    """Return the skew-symmetric matrix L - L^H of shape (n, n) for a matrix `x` of shape (n, k).

    L is the lower triangle of `x`, padded with zero columns if k < n.
    """
    n, k = x.shape[-2:]
    lower: Tensor = x.tril()
    if n != k:
        lower = ts.cat([lower, x.new_zeros(*x.shape[:-1], n - k)], dim=-1)
    result: Tensor = lower - lower.mH
    return result


def _matrix_exponential(x: Tensor) -> Tensor:
    full_matrix: Tensor = ts.matrix_exp(_skew_symmetric(x))
    return full_matrix[..., : x.shape[-1]]


def _cayley(x: Tensor) -> Tensor:
    skew = _skew_symmetric(x)
    one = ts.eye(skew.shape[-1], dtype=skew.dtype, device=skew.device)
    full_matrix: Tensor = ts.linalg.solve(ts.add(one, skew, alpha=-0.5), ts.add(one, skew, alpha=0.5))
    return full_matrix[..., : x.shape[-1]]


def _householder(x: Tensor) -> Tensor:
    below = x.tril(diagonal=-1)
    tau = 2.0 / (1.0 + (below * below).sum(dim=-2))
    signs = x.diagonal(dim1=-2, dim2=-1).int()  # int tensors have no gradient
    result: Tensor = ts.linalg.householder_product(below, tau) * signs.unsqueeze(-2)
    return result


_MAPS: Final[dict[str, Callable[[Tensor], Tensor]]] = {
    "matrix_exp": _matrix_exponential, "cayley": _cayley, "householder": _householder,
}  # fmt: skip


class _Orthogonal(Module):
    """Map from arbitrary matrices to orthogonal matrices of the same shape."""

    def __init__(self, weight: Tensor, orthogonal_map: str, use_trivialization: bool) -> None:
        super().__init__()
        if weight.is_complex() and orthogonal_map == "householder":
            # A product of reflections has too few parameters to represent all complex unitary matrices.
            raise ValueError("The householder parametrization does not support complex tensors.")
        self.shape = weight.shape
        self.orthogonal_map = orthogonal_map
        self.has_base = use_trivialization
        if use_trivialization:
            self.register_buffer("base", None)

    def forward(self, X: Tensor) -> Tensor:
        is_wide = X.size(-2) < X.size(-1)
        result = _MAPS[self.orthogonal_map](X.mT if is_wide else X)
        if self.has_base:
            result = self.base @ result
        return result.mT if is_wide else result

    def right_inverse(self, Q: Tensor) -> Tensor:
        """Return a matrix X that `forward` maps to Q, or to a matrix near Q if Q is not orthogonal.

        With a base, also set the base to Q. Without a base, raise NotImplementedError for maps other than
        householder. Raise ValueError if Q has another shape than the weight.
        """
        if Q.shape != self.shape:
            raise ValueError(
                f"Expected a matrix or batch of matrices of shape {self.shape}. "
                f"Got a tensor of shape {Q.shape}."
            )
        is_wide = Q.size(-2) < Q.size(-1)
        tall = Q.detach().mT if is_wide else Q.detach()
        if not self.has_base:
            inverse = self._invert_householder(tall)
            return inverse.mT if is_wide else inverse
        self.base = _complete_basis(tall)
        identity: Tensor = ts.zeros_like(Q.detach())
        # X is minus the identity, which `_householder` maps to the identity: each reflection negates a unit
        # vector, and the diagonal of -1 negates it again
        identity.diagonal(dim1=-2, dim2=-1).fill_(-1.0)
        return identity

    def _invert_householder(self, tall: Tensor) -> Tensor:
        if self.orthogonal_map != "householder":
            raise NotImplementedError(
                "It is not possible to assign to the matrix exponential or the Cayley parametrizations when "
                "use_trivialization=False."
            )
        factors, tau = ts.geqrf(tall)
        signs = factors.diagonal(dim1=-2, dim2=-1)
        signs.sign_()
        # For tau = 0, `geqrf` does not reflect, but `_householder` reflects: negate the sign
        signs[tau == 0.0] *= -1
        result: Tensor = factors
        return result


def _complete_basis(tall: Tensor) -> Tensor:
    """Return a square orthogonal matrix. Its first columns are those of `tall` if these are orthonormal.

    The other columns are random.
    """
    n, k = tall.shape[-2:]
    if n == k and _is_orthogonal(tall):
        return tall.clone()
    if n > k:
        drawn = ts.randn(*tall.shape[:-2], n, n - k, dtype=tall.dtype, device=tall.device)
        tall = ts.cat([tall, drawn], dim=-1)
    return _orthogonalize(tall)


def _is_orthogonal(square: Tensor) -> bool:
    n = square.size(-1)
    one = ts.eye(n, dtype=square.dtype, device=square.device)
    tolerance = _ORTHONORMAL_TOLERANCE * n * ts.finfo(square.dtype).eps
    return bool(ts.allclose(square.mH @ square, one, atol=tolerance))


def _orthogonalize(tall: Tensor) -> Tensor:
    """Return the factor Q of that QR decomposition of `tall` in which the diagonal of R is nonnegative."""
    factors, tau = ts.geqrf(tall)
    result: Tensor = ts.linalg.householder_product(factors, tau)
    result *= factors.diagonal(dim1=-2, dim2=-1).sgn().unsqueeze(-2)
    return result


def orthogonal(
    module: M, name: str = "weight", orthogonal_map: str | None = None, *, use_trivialization: bool = True
) -> M:
    """Parametrize a parameter as a matrix with orthonormal columns, or rows if it is wide.

    The parameter is a real or complex matrix, or a batch (..., n, k).

    orthogonal_map       "matrix_exp", "cayley" or "householder". The default is "matrix_exp" for square and
                         complex matrices, otherwise "householder"
    use_trivialization   let the initial matrix be the previous value of the parameter, made orthogonal.
                         For "householder", this is always so

    Raise ValueError for an unknown name or map, for vectors, and for "householder" with complex numbers.
    """
    weight = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    if weight.ndim < 2:
        raise ValueError(f"Expected a matrix or batch of matrices. Got a tensor of {weight.ndim} dimensions.")
    if orthogonal_map is None:
        is_square = weight.size(-2) == weight.size(-1)
        orthogonal_map = "matrix_exp" if is_square or weight.is_complex() else "householder"
    if orthogonal_map not in _MAPS:
        raise ValueError(
            f'orthogonal_map has to be one of "matrix_exp", "cayley", "householder". Got: {orthogonal_map}'
        )
    step = _Orthogonal(weight, orthogonal_map, use_trivialization)
    parametrize.register_parametrization(module, name, step, unsafe=True)
    return module
