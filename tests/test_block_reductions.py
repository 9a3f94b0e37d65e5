"""Reductions over all elements have the same bits for every number of threads."""

import numpy as np
import pytest

import ts

THREADS = (1, 2, 3, 8)
# whole blocks; last blocks of 1, 17, 513 and 1023 elements
SIZES = (1 << 20, (1 << 20) + 1, (1 << 20) + 17, (1 << 20) + 513, (1 << 20) + 1023)


@pytest.fixture(autouse=True)
def restore_threads():
    count = ts.get_num_threads()
    yield
    ts.set_num_threads(count)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", ["sum", "mean", "norm", "var", "std", "amax", "amin", "max", "min"])
def test_the_bits_of_one_row(name, dtype):
    """A vector on any number of threads reduces to the same bits as an equal matrix row on one thread."""
    for n in SIZES:
        x = ts.from_numpy(np.random.default_rng(n).standard_normal(n).astype(dtype) + dtype(0.1))
        rows = ts.stack([x, x])
        ts.set_num_threads(1)
        reduced = rows.norm(2, 1) if name == "norm" else getattr(rows, name)(1)
        expected = (reduced[0] if name in ("max", "min") else reduced)[0].item()
        for threads in THREADS:
            ts.set_num_threads(threads)
            assert getattr(x, name)().item() == expected


def test_integer_sums_wrap_around():
    for n in SIZES:
        x = np.random.default_rng(n).integers(-(2**62), 2**62, n)
        for threads in THREADS:
            ts.set_num_threads(threads)
            assert ts.from_numpy(x).sum().item() == x.sum()


@pytest.mark.parametrize("position", [0, 1 << 19, (1 << 20) - 1])
def test_extremes_with_nans_and_zeros(position):
    for threads in THREADS:
        ts.set_num_threads(threads)
        x = -ts.ones(1 << 20)
        x[position] = 0.0
        assert x.amax().item() == 0.0 and x.amin().item() == -1.0
        x[position] = float("nan")
        assert x.amax().isnan() and x.amin().isnan() and x.sum().isnan() and x.var().isnan()
