"""Errors of `ts.linalg`, and the error codes that the functions `*_ex` return instead of raising errors."""

import math

import pytest

import ts
from ts.linalg import LinAlgError

L = ts.linalg
SINGULAR = ts.tensor([[1.0, 2.0], [2.0, 4.0]])
INDEFINITE = ts.tensor([[1.0, 2.0], [2.0, 1.0]])
REGULAR = ts.tensor([[4.0, 1.0], [1.0, 3.0]])
BATCH = ts.stack([REGULAR, SINGULAR, REGULAR])
WIDE = ts.ones(2, 3)
VECTOR = ts.ones(2)
INTEGERS = ts.ones(2, 2, dtype=ts.int64)
HALF = REGULAR.half()

NOT_DEFINITE = (
    "The factorization could not be completed because the input is not positive-definite (the leading minor "
    "of order 2 is not positive-definite)."
)
INVERSION = "could not be completed because the input matrix is singular."
UNUSABLE = (
    "U[2,2] is zero and using it on lu_solve would result in a division by zero. If you still want to perform "
    "the factorization, consider calling linalg.lu(A, pivot) or linalg.lu_factor_ex(A, pivot)"
)


@pytest.mark.parametrize("call, message", [
    (lambda: L.inv(SINGULAR), f"linalg.inv: The diagonal element 2 is zero, the inversion {INVERSION}"),
    (lambda: L.inv(ts.zeros(3, 3)), f"linalg.inv: The diagonal element 1 is zero, the inversion {INVERSION}"),
    (lambda: L.inv(BATCH),
     f"linalg.inv: (Batch element 1): The diagonal element 2 is zero, the inversion {INVERSION}"),
    (lambda: ts.inverse(SINGULAR), f"linalg.inv: The diagonal element 2 is zero, the inversion {INVERSION}"),
    (lambda: L.matrix_power(SINGULAR, -2),
     f"linalg.inv: The diagonal element 2 is zero, the inversion {INVERSION}"),
    (lambda: L.inv_ex(BATCH, check_errors=True),
     f"linalg.inv_ex: (Batch element 1): The diagonal element 2 is zero, the inversion {INVERSION}"),
    (lambda: L.tensorinv(ts.zeros(2, 2, 2, 2)),
     f"inv: The diagonal element 1 is zero, the inversion {INVERSION}"),
    (lambda: L.solve(SINGULAR, VECTOR), "torch.linalg.solve: The solver failed because the input matrix is singular."),
    (lambda: L.solve(BATCH, REGULAR),
     "torch.linalg.solve: (Batch element 1): The solver failed because the input matrix is singular."),
    (lambda: L.solve_ex(SINGULAR, REGULAR, check_errors=True),
     "torch.linalg.solve_ex: The solver failed because the input matrix is singular."),
    (lambda: L.tensorsolve(SINGULAR, VECTOR),
     "torch.linalg.solve: The solver failed because the input matrix is singular."),
    (lambda: L.cholesky(INDEFINITE), f"linalg.cholesky: {NOT_DEFINITE}"),
    (lambda: L.cholesky(ts.stack([REGULAR, INDEFINITE])), f"linalg.cholesky: (Batch element 1): {NOT_DEFINITE}"),
    (lambda: ts.cholesky(INDEFINITE), f"cholesky: {NOT_DEFINITE}"),
    (lambda: L.cholesky_ex(INDEFINITE, check_errors=True), f"linalg.cholesky_ex: {NOT_DEFINITE}"),
    (lambda: ts.cholesky_inverse(ts.tensor([[1.0, 0.0], [1.0, 0.0]])),
     f"cholesky_inverse: The diagonal element 2 is zero, the inversion {INVERSION}"),
])  # fmt: skip
def test_singular_matrix_raises_linalg_error(call, message):
    """The message states the first failed matrix and its LAPACK error code."""
    with pytest.raises(LinAlgError) as caught:
        call()
    assert str(caught.value) == message


@pytest.mark.parametrize("call, message", [
    (lambda: L.lu_factor(SINGULAR), f"torch.linalg.lu_factor: {UNUSABLE}"),
    (lambda: L.lu_factor(BATCH), f"torch.linalg.lu_factor: (Batch element 1): {UNUSABLE}"),
    (lambda: L.lu_factor_ex(SINGULAR, check_errors=True), f"torch.linalg.lu_factor_ex: {UNUSABLE}"),
    (lambda: L.lu_factor(VECTOR),
     "torch.lu_factor: Expected tensor with 2 or more dimensions. Got size: [2] instead"),
    (lambda: L.lu(VECTOR), "linalg.lu: Expected tensor with 2 or more dimensions. Got size: [2] instead"),
    (lambda: L.inv(VECTOR), "linalg.inv: The input tensor A must have at least 2 dimensions."),
    (lambda: L.inv(WIDE), "linalg.inv: A must be batches of square matrices, but they are 2 by 3 matrices"),
    (lambda: L.inv(INTEGERS), "linalg.inv: Expected a floating point or complex tensor as input. Got Long"),
    (lambda: L.inv(HALF), "linalg.inv: Low precision dtypes not supported. Got Half"),
    (lambda: L.solve(REGULAR, INTEGERS),
     "linalg.solve: Expected A and B to have the same dtype, but found A of type Float and B of type Long instead"),
    (lambda: L.solve(VECTOR, REGULAR.double()),
     "linalg.solve: Expected A and B to have the same dtype, but found A of type Float and B of type Double instead"),
    (lambda: L.solve(REGULAR, ts.tensor(1.0)), "linalg.solve: The input tensor B must have at least 2 dimensions."),
    (lambda: L.solve(REGULAR, WIDE, left=False),
     "linalg.solve: Incompatible shapes of A and B for the equation XA = B (2x2 and 2x3)"),
    (lambda: L.solve_triangular(REGULAR, VECTOR, upper=True),
     "linalg.solve_triangular: The input tensor B must have at least 2 dimensions."),
    (lambda: ts.triangular_solve(REGULAR, INTEGERS),
     "Expected b and A to have the same dtype, but found b of type Float and A of type Long instead."),
    (lambda: ts.cholesky_solve(REGULAR.double(), REGULAR),
     "Expected b and A to have the same dtype, but found b of type Double and A of type Float instead."),
    (lambda: L.lu_solve(*L.lu_factor(REGULAR), REGULAR.double()),
     "linalg.lu_solve: Expected LU and B to have the same dtype, but found LU of type Float and B of type Double "
     "instead"),
    (lambda: L.lu_solve(REGULAR, ts.tensor([1, 2]), REGULAR),
     "linalg.lu_solve: pivots should be a Tensor of scalar type torch.int32"),
    (lambda: L.lu_solve(REGULAR, ts.tensor([1], dtype=ts.int32), REGULAR),
     "linalg.lu_solve: Number of pivots per batch should be same as the dimension of the matrix"),
    (lambda: L.lstsq(REGULAR, BATCH),
     "torch.linalg.lstsq: input.dim() must be greater or equal to other.dim() and (input.dim() - other.dim()) <= 1"),
    (lambda: L.tensorsolve(REGULAR, WIDE),
     "Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == prod(self.shape[:other.ndim]), "
     "but got 1 != 6"),
    (lambda: L.eigh(REGULAR, "X"), "Expected UPLO argument to be 'L' or 'U', but got X"),
    (lambda: L.eig(ts.tensor([[math.nan]])), "torch.linalg.eig: input tensor should not contain infs or NaNs."),
    (lambda: L.eigvals(INTEGERS), "Unknown Complex ScalarType for Long"),
    (lambda: L.qr(REGULAR, "X"),
     "qr received unrecognized mode 'X' but expected one of 'reduced' (default), 'r', or 'complete'"),
    (lambda: L.svd(REGULAR, driver="gesvd"),
     "torch.linalg.svd: keyword argument `driver=` is only supported on CUDA inputs with cuSOLVER backend."),
    (lambda: L.cond(REGULAR, 3), "linalg.cond got an invalid norm type: 3"),
    (lambda: L.cond(WIDE, "fro"),
     "linalg.cond(ord=fro): A must be batches of square matrices, but they are 2 by 3 matrices"),
    (lambda: L.matrix_rank(VECTOR),
     "torch.linalg.matrix_rank: The input tensor input must have at least 2 dimensions."),
    (lambda: L.pinv(HALF),
     "linalg.pinv(Half{[2, 2]}): expected a tensor with 2 or more dimensions of float, double, cfloat or cdouble "
     "types"),
    (lambda: L.vecdot(VECTOR, VECTOR.double()),
     "linalg.vecdot: Expected x and y to have the same dtype, but found x of type Float and y of type Double "
     "instead"),
    (lambda: L.matrix_norm(REGULAR, 3), "linalg.matrix_norm: Order 3 not supported."),
    (lambda: L.matrix_norm(REGULAR, "fro", (0,)), "linalg.matrix_norm: dim must be a 2-tuple. Got 0"),
    (lambda: L.matrix_norm(REGULAR, 1, (0, -2)), "linalg.matrix_norm: dims must be different. Got (0, -2)"),
    (lambda: L.matrix_norm(HALF, 2), "linalg.matrix_norm: Low precision dtypes not supported. Got Half"),
    (lambda: L.norm(REGULAR, dim=(0, 1, 2)),
     "linalg.norm: If dim is specified, it must be of length 1 or 2. Got [0, 1, 2]"),
    (lambda: L.norm(BATCH, 2),
     "linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got 3D."),
    (lambda: L.vector_norm(VECTOR, dtype=ts.int64),
     "linalg.vector_norm: dtype should be floating point or complex, but got Long"),
    (lambda: L.vector_norm(VECTOR, dtype=ts.complex64),
     "linalg.vector_norm: dtype should be real for real inputs, but got ComplexFloat"),
    (lambda: L.matrix_norm(REGULAR.double(), dtype=ts.float32),
     "linalg.matrix_norm: the dtype of the input (Double) should be convertible without narrowing to the specified "
     "dtype (Float)"),
])  # fmt: skip
def test_rejected_argument(call, message):
    with pytest.raises(RuntimeError) as caught:
        call()
    assert str(caught.value) == message
    assert not isinstance(caught.value, LinAlgError)


def test_info_of_each_matrix():
    """`info` has one code per matrix. The results of regular matrices are those of the checked functions."""
    stacked = ts.stack([BATCH[:2], BATCH[1:]])
    for function in (L.inv_ex, L.lu_factor_ex, L.cholesky_ex, lambda x: L.solve_ex(x, REGULAR)):
        result, *_, info = function(stacked)
        assert info.tolist() == [[0, 2], [2, 0]] and info.dtype == ts.int32
        expected, *_ = function(REGULAR)
        assert ts.allclose(result[0, 0], expected) and ts.allclose(result[1, 1], expected)
    *_, info = L.ldl_factor_ex(ts.stack([REGULAR, ts.zeros(2, 2)]))
    assert info.tolist() == [0, 1]


def test_results_of_singular_matrices():
    """A division by a zero pivot results in infinities. The Cholesky factor is computed up to the failed pivot."""
    assert L.inv_ex(SINGULAR)[0].tolist() == [[-math.inf, math.inf], [math.inf, -math.inf]]
    assert L.solve_ex(SINGULAR, VECTOR)[0].tolist() == [-math.inf, math.inf]
    zero_column = ts.tensor([[1.0, 1.0], [0.0, 0.0]])
    assert L.solve_triangular(zero_column, ts.ones(2, 1), upper=True).tolist() == [[-math.inf], [math.inf]]
    assert L.cholesky_ex(INDEFINITE)[0].tolist() == [[1.0, 0.0], [2.0, -3.0]]
    assert L.lu_factor_ex(SINGULAR)[0].tolist() == [[2.0, 4.0], [0.5, 0.0]]
    assert ts.lu(SINGULAR)[0].tolist() == [[2.0, 4.0], [0.5, 0.0]]
    assert L.cond(BATCH, 1).isinf().tolist() == [False, True, False]


def test_matrices_with_nan():
    """NaN is no error in the LU decomposition, but a failed pivot in the Cholesky decomposition."""
    matrix = ts.tensor([[math.nan, 1.0], [1.0, 1.0]])
    inverse, info = L.inv_ex(matrix)
    assert inverse.isnan().all() and info.item() == 0
    assert L.solve(matrix, VECTOR).isnan().all()
    assert L.cholesky_ex(matrix)[1].item() == 1


def test_svd_driver_on_the_meta_device():
    """Names of cuSOLVER drivers are errors on the CPU only."""
    matrix = ts.ones(3, 2, device="meta")
    assert L.svd(matrix, driver="gesvd")[1].shape == L.svdvals(matrix, driver="gesvd").shape == (2,)


def test_cholesky_reads_one_triangle():
    lower = ts.tensor([[4.0, 9.0], [2.0, 5.0]])
    assert L.cholesky(lower).tolist() == [[2.0, 0.0], [1.0, 2.0]]
    assert L.cholesky(lower.mT, upper=True).tolist() == [[2.0, 1.0], [0.0, 2.0]]


@pytest.mark.parametrize("dtype", [ts.float64, ts.complex128])
@pytest.mark.parametrize("left", [True, False])
@pytest.mark.parametrize("adjoint", [True, False])
def test_lu_solve(dtype, left, adjoint):
    """The solution of a broadcast batch satisfies the equation."""
    ts.manual_seed(0)
    A, B = ts.randn(3, 1, 4, 4, dtype=dtype), ts.randn(2, 4, 4, dtype=dtype)
    X = L.lu_solve(*L.lu_factor(A), B, left=left, adjoint=adjoint)
    matrix = A.mH if adjoint else A
    assert ts.allclose(matrix @ X if left else X @ matrix, B.expand(3, 2, 4, 4))


@pytest.mark.parametrize("left", [True, False])
def test_strides_of_solutions(left):
    """Solutions are column-major with `left`, else row-major."""
    A, B = ts.stack([REGULAR, REGULAR]), ts.ones(2, 2, 2)
    assert L.solve(A, B, left=left).stride() == ((4, 1, 2) if left else (4, 2, 1))
    assert L.inv(REGULAR).stride() == (1, 2)
    assert L.matrix_power(REGULAR, -1).stride() == (1, 2)
    assert L.inv(ts.zeros(0, 2, 2)).stride() == (4, 1, 2)
