"""Eigenvalues and eigenvectors of small symmetric matrices, against NumPy's in double precision."""

import numpy as np
import pytest

import ts

DTYPES = [ts.float32, ts.float64]


def random_matrices(batch, n, dtype):
    return np.random.default_rng(n).standard_normal((*batch, n, n)).astype(dtype.numpy_dtype)


def symmetric(a, triangle):
    """Return the symmetric matrices with the given triangle of `a`."""
    half = np.tril(a, -1) if triangle == "L" else np.triu(a, 1)
    return half + half.swapaxes(-1, -2) + np.eye(a.shape[-1]) * a


@pytest.mark.parametrize("triangle", ["L", "U", "l", "u"])
@pytest.mark.parametrize("n", [1, 2, 3, 8, 32, 33])
@pytest.mark.parametrize("batch", [(), (3,), (2, 1)], ids=str)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_decompositions(dtype, batch, n, triangle):
    a = random_matrices(batch, n, dtype)
    full = symmetric(a.astype("float64"), triangle.upper())
    expected = np.linalg.eigvalsh(full)
    tolerance = 2e-5 * n if dtype == ts.float32 else 1e-12 * n
    for x in (ts.from_numpy(a), ts.from_numpy(a.swapaxes(-1, -2).copy()).transpose(-1, -2)):
        values, vectors = ts.linalg.eigh(x, triangle)
        for result in (values, ts.linalg.eigvalsh(x, triangle)):
            assert result.dtype == dtype
            assert result.shape == expected.shape
            assert result.is_contiguous()
            assert np.allclose(result.numpy(), expected, rtol=0, atol=tolerance)
        assert vectors.dtype == dtype
        assert vectors.transpose(-1, -2).is_contiguous()
        product = vectors.numpy() * values.numpy()[..., None, :] @ vectors.numpy().swapaxes(-1, -2)
        assert np.allclose(product, full, rtol=0, atol=tolerance)


def test_errors_and_other_arguments():
    x = ts.tensor([[2.0, 1.0], [1.0, 2.0]], dtype=ts.float64)
    with pytest.raises(RuntimeError, match=r"linalg\.eigh: The algorithm failed to converge"):
        ts.linalg.eigvalsh(ts.full((5, 5), float("nan")))
    with pytest.raises(RuntimeError, match="Expected UPLO argument to be 'L' or 'U', but got X"):
        ts.linalg.eigh(x, "X")
    assert ts.linalg.eigvalsh(x[:0, :0]).shape == (0,)
    assert ts.allclose(ts.linalg.eigvalsh(x + 0j), ts.tensor([1.0, 3.0], dtype=ts.float64))
    assert ts.allclose(ts.func.vmap(ts.linalg.eigvalsh)(x.expand(3, 2, 2)), ts.tensor([1.0, 3.0], dtype=ts.float64))
    assert ts.autograd.gradcheck(lambda x: ts.linalg.eigvalsh(x + x.t()), x.clone().requires_grad_())
    assert ts.linalg.eigvalsh(x.to("meta")).shape == (2,)
    result = ts.linalg.eigh(x)
    assert (result.eigenvalues is result[0], result.eigenvectors is result[1]) == (True, True)
