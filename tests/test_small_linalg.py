"""Kernels for small matrices: results against NumPy's in double precision, layouts, broadcasting, and errors."""

import numpy as np
import pytest

import ts
from ts.backends.cpu.kernels.kernel_index import OPERATOR_TO_MODULE

DTYPES = [ts.float32, ts.float64]
SIZES = [1, 2, 3, 8, 17, 32, 33]  # the kernels support at most 32 rows
BATCHES = [(), (3,), (2, 1), (1, 2)]


def random_matrices(*shape, dtype=ts.float64, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype.numpy_dtype)


def regular_matrices(batch, n, dtype, seed=0):
    return random_matrices(*batch, n, n, dtype=dtype, seed=seed) + 2 * n * np.eye(n, dtype=dtype.numpy_dtype)


def positive_definite_matrices(batch, n, dtype):
    a = random_matrices(*batch, n, n, dtype=dtype)
    return a @ a.swapaxes(-1, -2) + n * np.eye(n, dtype=dtype.numpy_dtype)


def layouts(a):
    """Yield tensors with the elements of `a`: contiguous, by columns, and with gaps."""
    yield ts.from_numpy(a.copy())
    yield ts.from_numpy(a.swapaxes(-1, -2).copy()).transpose(-1, -2)
    gaps = np.full((*a.shape[:-1], 2 * a.shape[-1]), np.nan, a.dtype)
    gaps[..., ::2] = a
    yield ts.from_numpy(gaps)[..., ::2]


def check(actual, expected, dtype):
    assert actual.dtype == dtype
    assert actual.shape == expected.shape
    tolerance = 1e-10 if dtype == ts.float64 else 2e-4
    assert np.allclose(actual.numpy(), expected, rtol=tolerance, atol=tolerance * max(1, np.abs(expected).max()))


def double(a):
    return a.astype("float64")


def test_the_kernels_of_this_file_are_registered():
    for name in ("linalg_cholesky", "linalg_inv", "linalg_solve", "linalg_lu_factor", "linalg_solve_triangular"):
        assert OPERATOR_TO_MODULE[f"aten::{name}"] == "small_linalg"


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("batch", BATCHES, ids=str)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_cholesky_factors_and_solutions(dtype, batch, n):
    a = positive_definite_matrices(batch, n, dtype)
    b = random_matrices(*batch, n, 3, dtype=dtype, seed=1)
    lower = np.linalg.cholesky(double(a))
    upper = lower.swapaxes(-1, -2)
    for x in layouts(a):
        check(ts.linalg.cholesky(x), lower, dtype)
        check(ts.linalg.cholesky(x, upper=True), upper, dtype)
        factor, info = ts.linalg.cholesky_ex(x)
        check(factor, lower, dtype)
        assert info.dtype == ts.int32
        assert info.tolist() == np.zeros(batch).tolist()
    noise = random_matrices(n, n, dtype=dtype, seed=2)
    solution = np.linalg.solve(double(a), double(b))
    inverse = np.linalg.inv(double(a))
    for is_upper, factor in ((False, lower + np.triu(noise, 1)), (True, upper + np.tril(noise, -1))):
        # the elements of the other triangle are not read
        for x in layouts(factor.astype(dtype.numpy_dtype)):
            check(ts.cholesky_inverse(x, is_upper), inverse, dtype)
            for y in layouts(b):
                check(ts.cholesky_solve(y, x, is_upper), solution, dtype)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("batch", BATCHES, ids=str)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_triangular_solutions(dtype, batch, n):
    a = regular_matrices(batch, n, dtype)
    b = random_matrices(n, 5, dtype=dtype, seed=1)
    eye = np.eye(n)
    for upper in (False, True):
        for unit in (False, True):
            values = a / (4 * n) if unit else a
            triangle = np.triu(double(values)) if upper else np.tril(double(values))
            if unit:
                triangle = triangle * (1 - eye) + eye
            expected = np.linalg.solve(triangle, double(b))
            expected_right = np.linalg.solve(triangle.swapaxes(-1, -2), double(b)).swapaxes(-1, -2)
            for x in layouts(values):
                for y in layouts(b):
                    left = ts.linalg.solve_triangular(x, y, upper=upper, unitriangular=unit)
                    right = ts.linalg.solve_triangular(x, y.t(), upper=upper, left=False, unitriangular=unit)
                    check(left, expected, dtype)
                    check(right, expected_right, dtype)
                    assert left.transpose(-1, -2).is_contiguous()
                    assert right.transpose(-1, -2).is_contiguous()


def test_triangular_solution_with_a_zero_on_the_diagonal_has_infinities():
    a = ts.tensor([[1.0, 0.0], [1.0, 0.0]])
    assert ts.linalg.solve_triangular(a, ts.tensor([[1.0], [3.0]]), upper=False).tolist() == [[1.0], [float("inf")]]


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("batch", BATCHES, ids=str)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_inverses_and_solutions(dtype, batch, n):
    a = regular_matrices(batch, n, dtype)[..., ::-1, :].copy()  # the order of the rows requires pivoting
    b = random_matrices(*batch, n, 2, dtype=dtype, seed=1)
    inverse = np.linalg.inv(double(a))
    for x in layouts(a):
        check(ts.linalg.inv(x), inverse, dtype)
        check(ts.inverse(x), inverse, dtype)
        check(ts.linalg.inv_ex(x)[0], inverse, dtype)
        assert ts.linalg.inv_ex(x)[1].tolist() == np.zeros(batch).tolist()
        for y in layouts(b):
            check(ts.linalg.solve(x, y), np.linalg.solve(double(a), double(b)), dtype)
            check(ts.linalg.solve(x, y[..., 0]), np.linalg.solve(double(a), double(b))[..., 0], dtype)
        vector = random_matrices(n, dtype=dtype, seed=2)
        result, info = ts.linalg.solve_ex(x, ts.from_numpy(vector))
        check(result, inverse @ double(vector), dtype)
        assert info.shape == batch


@pytest.mark.parametrize("shape", [(1, 1), (3, 3), (2, 5), (5, 2), (2, 4, 4), (32, 32), (33, 3)], ids=str)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_lu_factors(dtype, shape):
    a = random_matrices(*shape, dtype=dtype)
    for x in layouts(a):
        packed, pivots, info = ts.linalg.lu_factor_ex(x)
        assert pivots.shape == (*shape[:-2], min(shape[-2:]))
        assert pivots.dtype == info.dtype == ts.int32
        assert info.tolist() == np.zeros(shape[:-2]).tolist()
        p, lower, upper = ts.lu_unpack(packed, pivots)
        check(p @ lower @ upper, double(a), dtype)
        assert float(lower.abs().max()) <= 1  # partial pivoting bounds the elements of L by 1
        if shape[-1] == shape[-2]:
            assert ts.equal(ts.linalg.lu_factor(x)[0], packed)
        for result, other in zip(ts.linalg.lu(x), (p, lower, upper), strict=True):
            assert result.dtype == dtype
            assert result.is_contiguous()
            assert np.allclose(result.numpy(), other.numpy(), rtol=1e-4, atol=1e-5)


def test_lu_of_singular_matrices():
    p, lower, upper = ts.linalg.lu(ts.tensor(SINGULAR))
    assert (p @ lower @ upper).tolist() == SINGULAR
    assert upper[1, 1].item() == 0
    assert ts.autograd.gradcheck(lambda x: ts.linalg.lu(x)[1:], (ts.eye(3, dtype=ts.float64) + 1).requires_grad_())


def test_batch_dimensions_broadcast():
    a, b = regular_matrices((2, 1), 3, ts.float64), random_matrices(4, 3, 2)
    expected = np.linalg.solve(a, np.broadcast_to(b, (2, 4, 3, 2)))
    check(ts.linalg.solve(ts.from_numpy(a), ts.from_numpy(b)), expected, ts.float64)
    lower = np.tril(a)
    expected = np.linalg.solve(lower, np.broadcast_to(b, (2, 4, 3, 2)))
    check(ts.linalg.solve_triangular(ts.from_numpy(lower), ts.from_numpy(b), upper=False), expected, ts.float64)
    expected = np.linalg.solve(lower @ lower.swapaxes(-1, -2), np.broadcast_to(b, (2, 4, 3, 2)))
    check(ts.cholesky_solve(ts.from_numpy(b), ts.from_numpy(lower)), expected, ts.float64)
    expanded = ts.from_numpy(a[0, 0]).expand(3, 3, 3)
    check(ts.linalg.inv(expanded), np.linalg.inv(np.broadcast_to(a[0, 0], (3, 3, 3))), ts.float64)
    with pytest.raises(RuntimeError):
        ts.linalg.solve(ts.rand(2, 3, 3), ts.rand(4, 3, 2))


def test_vector_solutions_have_the_strides_of_pytorch():
    def strides(a, b):
        return ts.linalg.solve(ts.eye(a[-1]).expand(a), ts.rand(*b)).stride()

    assert strides((5, 5), (5,)) == (1,)
    assert strides((2, 5, 5), (5,)) == (1, 2)
    assert strides((1, 2, 5, 5), (1, 2, 5)) == (10, 1, 2)
    assert strides((2, 1, 5, 5), (2, 1, 5)) == (5, 1, 1)
    assert strides((2, 1, 5, 5), (5, 3)) == (15, 15, 1, 5)


SINGULAR = [[1.0, 2.0], [2.0, 4.0]]
ERRORS = {
    "inv": (
        lambda x: ts.linalg.inv(x),
        "linalg.inv: The diagonal element 2 is zero, the inversion could not be completed because the input "
        "matrix is singular.",
    ),
    "inv of a batch": (
        lambda x: ts.linalg.inv(ts.stack([ts.eye(2), x])),
        "linalg.inv: (Batch element 1): The diagonal element 2 is zero, the inversion could not be completed "
        "because the input matrix is singular.",
    ),
    "solve": (
        lambda x: ts.linalg.solve(x, ts.ones(2)),
        "torch.linalg.solve: The solver failed because the input matrix is singular.",
    ),
    "cholesky": (
        lambda x: ts.linalg.cholesky(x - 1),
        "linalg.cholesky: The factorization could not be completed because the input is not positive-definite "
        "(the leading minor of order 1 is not positive-definite).",
    ),
    "lu_factor": (
        lambda x: ts.linalg.lu_factor(x),
        "torch.linalg.lu_factor: U[2,2] is zero and using it on lu_solve would result in a division by zero.",
    ),
    "cholesky_inverse": (lambda x: ts.cholesky_inverse(ts.zeros_like(x)), "cholesky_inverse: The diagonal element 1 is zero"),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors_of_singular_matrices(name):
    call, text = ERRORS[name]
    with pytest.raises(RuntimeError) as caught:
        call(ts.tensor(SINGULAR))
    assert str(caught.value).startswith(text)


def test_error_codes_of_singular_matrices():
    x = ts.stack([ts.eye(2), ts.tensor(SINGULAR)])
    assert ts.linalg.inv_ex(x)[1].tolist() == [0, 2]
    assert ts.linalg.solve_ex(x, ts.ones(2, 1))[1].tolist() == [0, 2]
    assert ts.linalg.lu_factor_ex(x)[2].tolist() == [0, 2]
    assert ts.linalg.cholesky_ex(x)[1].tolist() == [0, 2]


def test_not_finite_elements():
    x = ts.tensor([[float("nan"), 1.0], [1.0, 2.0]])
    assert ts.linalg.solve_triangular(x, ts.ones(2, 1), upper=False).isnan().all()
    with pytest.raises(RuntimeError, match=r"linalg\.cholesky"):
        ts.linalg.cholesky(x)


def test_out_gradients_vmap_and_meta():
    a, b = ts.from_numpy(regular_matrices((2,), 3, ts.float64)), ts.from_numpy(random_matrices(2, 3, 4))
    out = ts.empty(0, dtype=ts.float64)
    assert ts.linalg.solve(a, b, out=out) is out
    check(out, np.linalg.solve(a.numpy(), b.numpy()), ts.float64)
    check(ts.func.vmap(ts.linalg.inv)(a), np.linalg.inv(a.numpy()), ts.float64)
    check(ts.func.vmap(ts.linalg.solve, (0, None))(a, b[0]), np.linalg.solve(a.numpy(), b[0].numpy()), ts.float64)
    spd = ts.from_numpy(positive_definite_matrices((), 3, ts.float64)).requires_grad_()
    assert ts.autograd.gradcheck(lambda x: ts.cholesky_inverse(ts.linalg.cholesky(x + x.t())), spd)
    assert ts.autograd.gradcheck(lambda x: ts.linalg.solve_triangular(x, b[0], upper=True), spd)
    assert ts.autograd.gradcheck(lambda x: ts.linalg.inv(x), spd)
    for call in (ts.linalg.inv, ts.linalg.cholesky, lambda x: ts.linalg.solve(x, x), lambda x: ts.linalg.lu_factor(x)[0]):
        real, meta = call(spd.detach()), call(spd.detach().to("meta"))
        assert (meta.shape, meta.dtype, meta.stride()) == (real.shape, real.dtype, real.stride())
