# Made from the records of the operators by `python -m tests.regenerate`: change those, or tests/stubs.py.

from typing import overload

from ts._core.dispatch import named_results
from ts._core.tensor.dtype_kinds import (
    Bool,
    DType,
    Float,
    Int,
    Ints,
    Number,
    Str,
    Tensors,
)
from ts._core.tensor.tensor import Tensor
from ts.errors import LinAlgError as LinAlgError

@overload
def _powsum(
    input: Tensor,
    ord: Number = 2,
    dim: Int | Ints | None = None,
    keepdim: Bool = False,
    *,
    dtype: DType | None = None,
) -> Tensor: ...
@overload
def _powsum(
    input: Tensor,
    ord: Number = 2,
    *,
    axis: Int | Ints | None = None,
    keepdims: Bool = False,
    dtype: DType | None = None,
) -> Tensor: ...
@overload
def _powsum(
    input: Tensor,
    ord: Number = 2,
    dim: Int | Ints | None = None,
    *,
    keepdims: Bool,
    dtype: DType | None = None,
) -> Tensor: ...
def cholesky(input: Tensor, *, upper: Bool = False, out: Tensor | None = None) -> Tensor:
    """The lower triangle L of a positive definite matrix, L @ L.mH."""
def cholesky_ex(
    input: Tensor, *, upper: Bool = False, check_errors: Bool = False, out: Tensors | None = None
) -> named_results.linalg_cholesky_ex: ...
@overload
def cond(input: Tensor, p: Str, *, out: Tensor | None = None) -> Tensor: ...
@overload
def cond(input: Tensor, p: Number | None = None, *, out: Tensor | None = None) -> Tensor: ...
@overload
def cross(input: Tensor, other: Tensor, *, dim: Int = -1, out: Tensor | None = None) -> Tensor: ...
@overload
def cross(input: Tensor, other: Tensor, *, axis: Int = -1, out: Tensor | None = None) -> Tensor: ...
def det(A: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The determinants of square matrices."""
def diagonal(A: Tensor, *, offset: Int = 0, dim1: Int = -2, dim2: Int = -1) -> Tensor: ...
def eig(input: Tensor, *, out: Tensors | None = None) -> named_results.linalg_eig: ...
def eigh(input: Tensor, UPLO: Str = 'L', *, out: Tensors | None = None) -> named_results.linalg_eigh:
    """Eigenvalues, in ascending order, and eigenvectors of symmetric or Hermitian matrices."""
def eigvals(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def eigvalsh(input: Tensor, UPLO: Str = 'L', *, out: Tensor | None = None) -> Tensor: ...
def householder_product(input: Tensor, tau: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def inv(A: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The inverses of square matrices."""
def inv_ex(
    A: Tensor, *, check_errors: Bool = False, out: Tensors | None = None
) -> named_results.linalg_inv_ex: ...
def ldl_factor(
    input: Tensor, *, hermitian: Bool = False, out: Tensors | None = None
) -> named_results.linalg_ldl_factor: ...
def ldl_factor_ex(
    input: Tensor, *, hermitian: Bool = False, check_errors: Bool = False, out: Tensors | None = None
) -> named_results.linalg_ldl_factor_ex: ...
def ldl_solve(
    LD: Tensor, pivots: Tensor, B: Tensor, *, hermitian: Bool = False, out: Tensor | None = None
) -> Tensor: ...
def lstsq(
    input: Tensor,
    b: Tensor,
    rcond: Float | None = None,
    *,
    driver: Str | None = None,
    out: Tensors | None = None,
) -> named_results.linalg_lstsq: ...
def lu(A: Tensor, *, pivot: Bool = True, out: Tensors | None = None) -> named_results.linalg_lu: ...
def lu_factor(
    A: Tensor, *, pivot: Bool = True, out: Tensors | None = None
) -> named_results.linalg_lu_factor: ...
def lu_factor_ex(
    A: Tensor, *, pivot: Bool = True, check_errors: Bool = False, out: Tensors | None = None
) -> named_results.linalg_lu_factor_ex: ...
def lu_solve(
    LU: Tensor,
    pivots: Tensor,
    B: Tensor,
    *,
    left: Bool = True,
    adjoint: Bool = False,
    out: Tensor | None = None,
) -> Tensor: ...
def matmul(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def matrix_exp(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
@overload
def matrix_norm(
    input: Tensor,
    ord: Str = 'fro',
    dim: Ints = ...,
    keepdim: Bool = False,
    *,
    dtype: DType | None = None,
    out: Tensor | None = None,
) -> Tensor: ...
@overload
def matrix_norm(
    input: Tensor,
    ord: Str = 'fro',
    *,
    axis: Ints = ...,
    keepdims: Bool = False,
    dtype: DType | None = None,
    out: Tensor | None = None,
) -> Tensor: ...
@overload
def matrix_norm(
    input: Tensor,
    ord: Str = 'fro',
    dim: Ints = ...,
    *,
    keepdims: Bool,
    dtype: DType | None = None,
    out: Tensor | None = None,
) -> Tensor: ...
@overload
def matrix_norm(
    input: Tensor,
    ord: Number,
    dim: Ints = ...,
    keepdim: Bool = False,
    *,
    dtype: DType | None = None,
    out: Tensor | None = None,
) -> Tensor: ...
@overload
def matrix_norm(
    input: Tensor,
    ord: Number,
    *,
    axis: Ints = ...,
    keepdims: Bool = False,
    dtype: DType | None = None,
    out: Tensor | None = None,
) -> Tensor: ...
@overload
def matrix_norm(
    input: Tensor,
    ord: Number,
    dim: Ints = ...,
    *,
    keepdims: Bool,
    dtype: DType | None = None,
    out: Tensor | None = None,
) -> Tensor: ...
def matrix_power(input: Tensor, n: Int, *, out: Tensor | None = None) -> Tensor: ...
@overload
def matrix_rank(
    input: Tensor, tol: Tensor, hermitian: Bool = False, *, out: Tensor | None = None
) -> Tensor: ...
@overload
def matrix_rank(
    input: Tensor,
    *,
    atol: Tensor | None = None,
    rtol: Tensor | None = None,
    hermitian: Bool = False,
    out: Tensor | None = None,
) -> Tensor: ...
@overload
def matrix_rank(
    input: Tensor, tol: Float, hermitian: Bool = False, *, out: Tensor | None = None
) -> Tensor: ...
@overload
def matrix_rank(
    input: Tensor,
    *,
    atol: Float | None = None,
    rtol: Float | None = None,
    hermitian: Bool = False,
    out: Tensor | None = None,
) -> Tensor: ...
def multi_dot(tensors: Tensors, *, out: Tensor | None = None) -> Tensor: ...
@overload
def norm(
    input: Tensor,
    ord: Str,
    dim: Int | Ints | None = None,
    keepdim: Bool = False,
    *,
    dtype: DType | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """A norm of a vector or a matrix."""
@overload
def norm(
    input: Tensor,
    ord: Str,
    *,
    axis: Int | Ints | None = None,
    keepdims: Bool = False,
    dtype: DType | None = None,
    out: Tensor | None = None,
) -> Tensor: ...
@overload
def norm(
    input: Tensor,
    ord: Str,
    dim: Int | Ints | None = None,
    *,
    keepdims: Bool,
    dtype: DType | None = None,
    out: Tensor | None = None,
) -> Tensor: ...
@overload
def norm(
    input: Tensor,
    ord: Number | None = None,
    dim: Int | Ints | None = None,
    keepdim: Bool = False,
    *,
    dtype: DType | None = None,
    out: Tensor | None = None,
) -> Tensor: ...
@overload
def norm(
    input: Tensor,
    ord: Number | None = None,
    *,
    axis: Int | Ints | None = None,
    keepdims: Bool = False,
    dtype: DType | None = None,
    out: Tensor | None = None,
) -> Tensor: ...
@overload
def norm(
    input: Tensor,
    ord: Number | None = None,
    dim: Int | Ints | None = None,
    *,
    keepdims: Bool,
    dtype: DType | None = None,
    out: Tensor | None = None,
) -> Tensor: ...
@overload
def pinv(
    input: Tensor,
    *,
    atol: Tensor | None = None,
    rtol: Tensor | None = None,
    hermitian: Bool = False,
    out: Tensor | None = None,
) -> Tensor: ...
@overload
def pinv(input: Tensor, rcond: Tensor, hermitian: Bool = False, *, out: Tensor | None = None) -> Tensor: ...
@overload
def pinv(input: Tensor, rcond: Float, hermitian: Bool = False, *, out: Tensor | None = None) -> Tensor: ...
@overload
def pinv(
    input: Tensor,
    *,
    atol: Float | None = None,
    rtol: Float | None = None,
    hermitian: Bool = False,
    out: Tensor | None = None,
) -> Tensor: ...
def qr(A: Tensor, mode: Str = 'reduced', *, out: Tensors | None = None) -> named_results.linalg_qr:
    """An orthogonal and an upper triangular factor of matrices."""
def slogdet(A: Tensor, *, out: Tensors | None = None) -> named_results.linalg_slogdet: ...
def solve(A: Tensor, B: Tensor, *, left: Bool = True, out: Tensor | None = None) -> Tensor:
    """The X with A @ X equal to B."""
def solve_ex(
    A: Tensor, B: Tensor, *, left: Bool = True, check_errors: Bool = False, out: Tensors | None = None
) -> named_results.linalg_solve_ex: ...
def solve_triangular(
    input: Tensor,
    B: Tensor,
    *,
    upper: Bool,
    left: Bool = True,
    unitriangular: Bool = False,
    out: Tensor | None = None,
) -> Tensor: ...
def svd(
    A: Tensor, full_matrices: Bool = True, *, driver: Str | None = None, out: Tensors | None = None
) -> named_results.linalg_svd:
    """Singular vectors and singular values of matrices: A is U @ diag(S) @ Vh."""
def svdvals(A: Tensor, *, driver: Str | None = None, out: Tensor | None = None) -> Tensor: ...
def tensorinv(input: Tensor, ind: Int = 2, *, out: Tensor | None = None) -> Tensor: ...
def tensorsolve(
    input: Tensor, other: Tensor, dims: Ints | None = None, *, out: Tensor | None = None
) -> Tensor: ...
def vander(x: Tensor, *, N: Int | None = None) -> Tensor: ...
@overload
def vecdot(x: Tensor, y: Tensor, *, dim: Int = -1, out: Tensor | None = None) -> Tensor: ...
@overload
def vecdot(x: Tensor, y: Tensor, *, axis: Int = -1, out: Tensor | None = None) -> Tensor: ...
@overload
def vector_norm(
    input: Tensor,
    ord: Number = 2,
    dim: Int | Ints | None = None,
    keepdim: Bool = False,
    *,
    dtype: DType | None = None,
    out: Tensor | None = None,
) -> Tensor: ...
@overload
def vector_norm(
    input: Tensor,
    ord: Number = 2,
    *,
    axis: Int | Ints | None = None,
    keepdims: Bool = False,
    dtype: DType | None = None,
    out: Tensor | None = None,
) -> Tensor: ...
@overload
def vector_norm(
    input: Tensor,
    ord: Number = 2,
    dim: Int | Ints | None = None,
    *,
    keepdims: Bool,
    dtype: DType | None = None,
    out: Tensor | None = None,
) -> Tensor: ...
