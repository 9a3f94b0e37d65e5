"""`ts.backends.cpu.kernels.sort`: sorted indices equal NumPy's or indices computed by hand."""

import numpy as np
import pytest

import ts
from ts.backends.cpu.kernels.sort import argsort, nth, smallest


def keys(*row):
    return np.array([row], np.int64)


def test_short_rows_are_stable():
    assert argsort(keys(2, 1, 2, 1)).tolist() == [[1, 3, 0, 2]]
    assert smallest(keys(2, 1, 2, 1), 2).tolist() == [[1, 3]]


@pytest.mark.parametrize("n", [1, 2, 16, 17, 100, 5000])
def test_indices_are_a_sorted_permutation(n):
    x = np.random.default_rng(n).integers(0, max(n // 3, 1), (3, n))
    result = argsort(x)
    assert np.array_equal(np.take_along_axis(x, result, 1), np.sort(x, 1))
    assert np.array_equal(np.sort(result, 1), np.broadcast_to(np.arange(n), (3, n)))
    for k in {1, n // 100 + 1, n // 2 + 1, n}:
        for ordered in (False, True):
            smallest_values = np.take_along_axis(x, smallest(x, k, ordered), 1)
            assert np.array_equal(np.sort(smallest_values, 1), np.sort(x, 1)[:, :k])
        assert np.array_equal(x[range(3), nth(x, np.full(3, k - 1))], np.sort(x, 1)[:, k - 1])


def test_adversarial_quicksort_rows():
    """Sorted, reversed, equal and organ-pipe rows take no quadratic time, because of a heapsort fallback."""
    n = 100_000
    rising = np.arange(n)
    for row in (rising, rising[::-1], rising * 0, np.concatenate([rising[: n // 2], rising[: n // 2][::-1]])):
        row = np.ascontiguousarray(row)[None]
        assert np.array_equal(row[0][argsort(row)[0]], np.sort(row[0]))


def test_out_of_range_arguments_raise():
    with pytest.raises(ValueError):
        smallest(keys(1, 2), 3)
    with pytest.raises(ValueError):
        nth(keys(1, 2), np.array([2]))
    with pytest.raises(ValueError):
        nth(keys(1, 2), np.array([0, 0]))
    assert argsort(np.empty((0, 3), np.int64)).shape == (0, 3)
    assert argsort(np.empty((3, 0), np.int64)).shape == (3, 0)


def test_every_dtype_has_its_order():
    for name in ("uint8", "int16", "uint64", "float16", "bfloat16", "float32"):
        x = ts.tensor([3, 0, 2, 1], dtype=getattr(ts, name))
        assert x.argsort().tolist() == [1, 3, 2, 0]
        assert x.topk(2).indices.tolist() == [0, 2]
    x = ts.tensor([0.0, float("nan"), -0.0, float("-inf"), float("inf"), -1.0], dtype=ts.bfloat16)
    assert x.argsort().tolist() == [3, 5, 0, 2, 4, 1]
    assert x.sort(descending=True, stable=True).indices.tolist() == [1, 4, 0, 2, 5, 3]
    assert ts.tensor([1 << 63, 1, (1 << 64) - 1], dtype=ts.uint64).argsort().tolist() == [1, 0, 2]
