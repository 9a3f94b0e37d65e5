"""Singular values of matrices with infinite elements and NaN: each call terminates."""

import pytest

import ts
from ts.errors import LinAlgError

INFINITE = [[float("-inf"), 2.0, 0.5], [2.0, 1.0, 2.0], [1.0, 0.5, 1e-5]]  # LAPACK's iteration does not terminate for this matrix
WITH_NAN = [[float("nan"), 2.0, 0.5], [2.0, 1.0, 2.0], [1.0, 0.5, 1e-5]]
NAN = float("nan")

# PyTorch 2.13's results for the infinite matrix.
VALUES = {
    "svd": (lambda x: ts.linalg.svd(x)[1], [NAN] * 3),
    "svd without all": (lambda x: ts.linalg.svd(x, full_matrices=False)[1], [NAN] * 3),
    "torch.svd": (lambda x: ts.svd(x)[1], [NAN] * 3),
    "torch.svd of values": (lambda x: ts.svd(x, compute_uv=False)[1], [NAN] * 3),
    "svdvals": (ts.linalg.svdvals, [NAN] * 3),
    "pinv": (ts.linalg.pinv, [[0.0] * 3] * 3),
    "matrix_rank": (ts.linalg.matrix_rank, 0),
    "cond": (ts.linalg.cond, NAN),
    "cond -2": (lambda x: ts.linalg.cond(x, -2), NAN),
    "nuclear": (lambda x: ts.linalg.matrix_norm(x, "nuc"), NAN),
    "spectral": (lambda x: ts.linalg.matrix_norm(x, 2), NAN),
    "lstsq": (lambda x: ts.linalg.lstsq(x, ts.ones(3, 1), driver="gelss").solution, [[0.0]] * 3),
}


@pytest.mark.parametrize("case", VALUES)
@pytest.mark.parametrize("dtype", [ts.float32, ts.float64, ts.complex64], ids=str)
def test_infinite_elements(case, dtype):
    call, expected = VALUES[case]
    if case == "lstsq" and dtype != ts.float32:
        return
    result = call(ts.tensor(INFINITE, dtype=dtype))
    assert ts.allclose(result.real.double() if result.is_complex() else result.double(), ts.tensor(expected).double(), equal_nan=True)


@pytest.mark.parametrize("case", VALUES)
def test_nan(case):
    call, _ = VALUES[case]
    text = r"linalg.svd: The algorithm failed to converge because the input matrix contained non-finite values\."
    with pytest.raises(LinAlgError, match=text):
        call(ts.tensor(WITH_NAN))


@pytest.mark.parametrize("case", [case for case in VALUES if case != "lstsq"])
def test_batches(case):
    """Matrices of a batch are independent; the error for NaN names the first affected batch element."""
    call, expected = VALUES[case]
    actual = call(ts.stack([ts.eye(3), ts.tensor(INFINITE)]))
    assert ts.allclose(actual[1].double(), ts.tensor(expected).double(), equal_nan=True)
    assert ts.equal(actual[0], call(ts.eye(3)))
    with pytest.raises(LinAlgError, match=r"linalg.svd: \(Batch element 1\): The algorithm failed"):
        call(ts.stack([ts.eye(3), ts.tensor(WITH_NAN)]))


def test_norms_along_other_dimensions():
    x = ts.rand(3, 4, 5)
    assert ts.linalg.matrix_norm(x, "nuc", (0, 2), keepdim=True).shape == (1, 4, 1)
    assert ts.allclose(ts.linalg.matrix_norm(x, 2, (2, 0)), ts.linalg.matrix_norm(x.permute(1, 0, 2), 2))
    assert ts.linalg.matrix_norm(ts.ones(2, 3, 4, device="meta"), "nuc", (0, 2)).shape == (3,)


def test_eigenvalues_of_nan():
    for call in (ts.linalg.eigh, ts.linalg.eigvalsh):
        with pytest.raises(LinAlgError, match=r"linalg.eigh: The algorithm failed to converge because the input matrix is"):
            call(ts.tensor(WITH_NAN))
