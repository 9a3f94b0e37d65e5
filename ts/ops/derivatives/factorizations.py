"""Derivatives of determinants and factorizations of matrices.

Some factorizations determine vectors only up to a phase factor. Gradients of functions of such vectors are
correct only if the phases do not change the value. As in PyTorch, gradients are not finite if eigenvalues or
singular values are equal.
"""

from __future__ import annotations

import ts
from ts import Tensor
from ts.ops.derivatives.formula_registry import compose, derive


def adjoint(x: Tensor) -> Tensor:
    """Return the conjugate transpose."""
    return x.transpose(-2, -1).conj()


def unit(x: Tensor) -> Tensor:
    """Return the identity matrix with the size, dtype and device of `x`."""
    return ts.eye(x.size(-1), dtype=x.dtype, device=x.device)


# ---------------------------------------------------------------------------------------- determinants


def _of_det(grad: Tensor, A: Tensor, result: Tensor) -> Tensor:
    """Return the gradient of the determinant.

    If a matrix is singular, compute the gradients from the singular value decomposition. The factor for a
    singular value is the product of all other singular values.
    """
    if A.size(-1) == 0:
        return ts.zeros_like(A)
    if bool(ts._is_any_true(result == 0)):
        u, s, vh = ts.linalg.svd(A)
        n = s.size(-1)
        one = ts.ones_like(s.narrow(-1, 0, 1))
        before = ts.cat([one, s.narrow(-1, 0, n - 1)], -1).cumprod(-1)
        after = ts.cat([one, s.flip([-1]).narrow(-1, 0, n - 1)], -1).cumprod(-1).flip([-1])
        phase = (ts.linalg.det(u) * ts.linalg.det(vh)).conj()
        factor = (grad * phase).unsqueeze(-1) * (before * after)
        return (u * factor.unsqueeze(-2)).matmul(vh)
    return (grad * result.conj()).unsqueeze(-1).unsqueeze(-1) * adjoint(ts.linalg.inv(A))


def _of_slogdet(of_sign: Tensor, of_log: Tensor, A: Tensor, sign: Tensor) -> Tensor:
    """Return the gradient of `slogdet`, including the complex sign."""
    factor = of_log.to(A.dtype)
    if A.is_complex():
        factor = ts.complex(of_log, -ts.imag(of_sign.conj() * sign))
    return factor.unsqueeze(-1).unsqueeze(-1) * adjoint(ts.linalg.inv(A))


def _logdet(self: Tensor) -> Tensor:
    sign, log = ts.linalg.slogdet(self)
    if self.is_complex():
        return sign.log() + log
    return ts.where(sign == -1, float("nan"), log)


derive("aten::linalg_det", A="_of_det(grad, A, result)")
derive("aten::linalg_slogdet", A="_of_slogdet(grad_sign, grad_logabsdet, A, sign)")
derive("aten::slogdet", self="_of_slogdet(grad_sign, grad_logabsdet, self, sign)")
compose("aten::logdet", "_logdet(self)")


# ------------------------------------------------------------------------------------- Cholesky factorization


def _of_cholesky(grad: Tensor, factor: Tensor, upper: bool) -> Tensor:
    L, g = (adjoint(factor), adjoint(grad)) if upper else (factor, grad)
    inner = adjoint(L).matmul(g)
    inner = (inner.tril() + adjoint(inner.tril(-1))) * 0.5
    inner = ts.linalg.solve_triangular(adjoint(L), inner, upper=True)
    return ts.linalg.solve_triangular(L, inner, upper=False, left=False)


def _of_product(grad: Tensor, factor: Tensor, upper: bool) -> Tensor:
    """Return the gradient of F F^H (or F^H F if `upper`) with respect to F, as if F were a full matrix."""
    symmetrized = grad + adjoint(grad)
    return factor.matmul(symmetrized) if upper else symmetrized.matmul(factor)


def _of_cholesky_inverse(grad: Tensor, inverse: Tensor, factor: Tensor, upper: bool) -> Tensor:
    """Return the gradient of `cholesky_inverse`.

    The gradient is zero in the triangle of the argument that `cholesky_inverse` does not read.
    """
    factor = factor.triu() if upper else factor.tril()
    gradient = -_of_product(inverse.matmul(grad).matmul(inverse), factor, upper)
    return gradient.triu() if upper else gradient.tril()


derive(
    "aten::linalg_cholesky aten::cholesky", self="_of_cholesky(grad, result, upper)",
    name="LinalgCholeskyExBackward0",
)  # fmt: skip
derive("aten::linalg_cholesky_ex", self="_of_cholesky(grad, L, upper)", differentiable="L")
derive("aten::cholesky_inverse", self="_of_cholesky_inverse(grad, result, self, upper)")


# ---------------------------------------------------------------------------- eigenvalues and singular values


def _of_eigh(of_values: Tensor | None, of_vectors: Tensor | None, values: Tensor, vectors: Tensor) -> Tensor:
    inner = ts.zeros_like(vectors)
    if of_vectors is not None:
        one = ts.eye(values.size(-1), dtype=values.dtype, device=values.device)
        apart = values.unsqueeze(-2) - values.unsqueeze(-1) + one
        projected = adjoint(vectors).matmul(of_vectors)
        inner = (projected - adjoint(projected)) / (2 * apart)
        inner = inner - ts.diag_embed(inner.diagonal(0, -2, -1))
    if of_values is not None:
        inner = inner + ts.diag_embed(of_values)
    return vectors.matmul(inner).matmul(adjoint(vectors))


def _of_eig(
    of_values: Tensor | None, of_vectors: Tensor | None, values: Tensor, vectors: Tensor, is_complex: bool
) -> Tensor:
    turned = adjoint(vectors)
    inner = ts.zeros_like(vectors)
    if of_vectors is not None:
        projected = turned.matmul(of_vectors)
        along = ts.real(projected.diagonal(0, -2, -1)).unsqueeze(-2)
        one = unit(vectors)
        apart = values.unsqueeze(-2) - values.unsqueeze(-1) + one
        inner = (projected - turned.matmul(vectors) * along) / apart.conj() * (1 - one)
    if of_values is not None:
        inner = inner + ts.diag_embed(of_values)
    result = ts.linalg.solve(turned, inner.matmul(turned))
    return result if is_complex else ts.real(result)


def _of_svd(
    of_u: Tensor | None, of_s: Tensor | None, of_vh: Tensor | None, u: Tensor, s: Tensor, vh: Tensor
) -> Tensor:
    """Return the gradient of the SVD's input, from the gradients of U, S and Vh."""
    k = s.size(-1)
    u, vh = u.narrow(-1, 0, k), vh.narrow(-2, 0, k)
    inner = ts.zeros([k, k], dtype=u.dtype, device=u.device)
    squares = s * s
    one = ts.eye(k, dtype=s.dtype, device=s.device)
    apart = squares.unsqueeze(-2) - squares.unsqueeze(-1) + one
    orthogonal: Tensor | None = None
    if of_s is not None:
        inner = inner + ts.diag_embed(of_s)
    if of_u is not None:
        of_u = of_u.narrow(-1, 0, k)
        projected = adjoint(u).matmul(of_u)
        inner = inner + (projected - adjoint(projected)) / apart * s.unsqueeze(-2) * (1 - one)
        if u.is_complex():
            turning = ts.imag(projected.diagonal(0, -2, -1)) / s
            inner = inner + ts.diag_embed(ts.complex(ts.zeros_like(turning), turning))
        if u.size(-2) > k:
            orthogonal = ((of_u - u.matmul(projected)) / s.unsqueeze(-2)).matmul(vh)
    if of_vh is not None:
        of_vh = of_vh.narrow(-2, 0, k)
        projected = vh.matmul(adjoint(of_vh))
        inner = inner + s.unsqueeze(-1) * ((projected - adjoint(projected)) / apart) * (1 - one)
        if vh.size(-1) > k:
            more = u.matmul((of_vh - of_vh.matmul(adjoint(vh)).matmul(vh)) / s.unsqueeze(-1))
            orthogonal = more if orthogonal is None else orthogonal + more
    result = u.matmul(inner).matmul(vh)
    return result if orthogonal is None else result + orthogonal


def _svd(self: Tensor, some: bool, compute_uv: bool) -> tuple[Tensor, Tensor, Tensor]:
    if compute_uv:
        u, s, vh = ts.linalg.svd(self, not some)
        return u, s, adjoint(vh)
    u, s, v = ts.svd(self.detach(), some, False)
    return u, ts.linalg.svdvals(self), v


derive(
    "aten::linalg_eigh",
    self="_of_eigh(grad_eigenvalues, grad_eigenvectors, eigenvalues, eigenvectors)", absent=True,
)  # fmt: skip
derive(
    "aten::linalg_eig",
    self="_of_eig(grad_eigenvalues, grad_eigenvectors, eigenvalues, eigenvectors, self.is_complex())",
    absent=True,
)
derive("aten::linalg_svd", A="_of_svd(grad_U, grad_S, grad_Vh, U, S, Vh)", absent=True)
compose("aten::linalg_eigvalsh", "ts.linalg.eigh(self, UPLO)[0]")
compose("aten::linalg_eigvals", "ts.linalg.eig(self)[0]")
compose("aten::linalg_svdvals", "ts.linalg.svd(A, False)[1]")
compose("aten::svd", "_svd(self, some, compute_uv)")


# ---------------------------------------------------------------------------------------- QR factorization


def _of_qr(of_q: Tensor, of_r: Tensor, q: Tensor, r: Tensor) -> Tensor:
    """Return the gradient of the matrix in a QR decomposition, from the gradients of Q and R.

    A matrix with more columns than rows is split into [X Y], where X is square.
    """
    rows, columns = q.size(-2), r.size(-1)
    if rows < columns:
        of_rest = of_r.narrow(-1, rows, columns - rows)
        v = r.narrow(-1, rows, columns - rows)
        of_x = _of_tall(
            of_q + q.matmul(v).matmul(adjoint(of_rest)), of_r.narrow(-1, 0, rows), q, r.narrow(-1, 0, rows)
        )
        return ts.cat([of_x, q.matmul(of_rest)], -1)
    return _of_tall(of_q, of_r, q, r)


def _of_tall(of_q: Tensor, of_r: Tensor, q: Tensor, r: Tensor) -> Tensor:
    inner = r.matmul(adjoint(of_r)) - adjoint(of_q).matmul(q)
    lower = inner.tril(-1)
    diagonal = inner.diagonal(0, -2, -1)
    if inner.is_complex():
        diagonal = ts.real(diagonal).to(inner.dtype)
    inner = lower + adjoint(lower) + ts.diag_embed(diagonal)
    return ts.linalg.solve_triangular(adjoint(r), of_q + q.matmul(inner), upper=False, left=False)


derive("aten::linalg_qr", A="_of_qr(grad_Q, grad_R, Q, R)")
compose("aten::qr", "ts.linalg.qr(self, 'reduced' if some else 'complete')")


# ---------------------------------------------------------------------------------------- matrix exponential


def _of_exponential(grad: Tensor, self: Tensor) -> Tensor:
    """Return the gradient of the matrix exponential of A.

    It is the upper right block of the exponential of the block matrix [[A^H, grad], [0, A^H]].
    """
    turned = adjoint(self)
    n = self.size(-1)
    upper = ts.cat([turned, grad.expand_as(turned)], -1)
    lower = ts.cat([ts.zeros_like(turned), turned], -1)
    return ts.linalg.matrix_exp(ts.cat([upper, lower], -2)).narrow(-2, 0, n).narrow(-1, n, n)


def _condition(self: Tensor, p: float) -> Tensor:
    if p == 2.0 or p == -2.0:
        s = ts.linalg.svdvals(self)
        largest, smallest = s.select(-1, 0), s.select(-1, -1)
        return largest / smallest if p == 2.0 else smallest / largest
    return ts.linalg.matrix_norm(self, p) * ts.linalg.matrix_norm(ts.linalg.inv(self), p)


derive("aten::linalg_matrix_exp", self="_of_exponential(grad, self)")
compose("aten::linalg_cond", "_condition(self, 2.0 if p is None else float(p))")
compose(
    "aten::linalg_cond.p_str",
    "ts.linalg.matrix_norm(self, p) * ts.linalg.matrix_norm(ts.linalg.inv(self), p)",
)
