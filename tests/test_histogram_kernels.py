"""`histc` counts elements with the arithmetic of PyTorch: (x - low) * bins / (high - low) in the dtype of x."""

import numpy as np
import pytest

import ts


def count(x, bins, low, high):
    """Return the counts, computed one element at a time."""
    scalar = x.dtype.type
    low, high, counts = scalar(low), scalar(high), np.zeros(bins, x.dtype)
    for value in x.ravel():
        if low <= value <= high:
            counts[min(int((value - low) * scalar(bins) / (high - low)), bins - 1)] += 1
    return counts


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_elements_at_the_edges_of_bins(dtype):
    random = np.random.default_rng(0)
    for bins in (1, 3, 7, 10, 100):
        x = (random.standard_normal((30, 10)) * 4).round().astype(dtype) / 4
        for array, given in ((x, ts.from_numpy(x)), (x.T[::2], ts.from_numpy(x).T[::2])):
            for low, high in ((-1, 1), (-0.3, 0.9), (array.min(), array.max())):
                assert given.histc(bins, low, high).tolist() == count(array, bins, low, high).tolist()
            assert given.histc(bins).tolist() == count(array, bins, array.min(), array.max()).tolist()


def test_values_outside_all_bins_and_empty_ranges():
    x = ts.tensor([1.0, float("nan"), 2.0, float("inf"), -5.0])
    assert x.histc(3, 0, 2).tolist() == [0.0, 1.0, 1.0]
    with pytest.raises(RuntimeError, match="is not finite"):
        x.histc(3)
    assert ts.full((4,), 2.5).histc(2).tolist() == [0.0, 4.0]
    assert ts.zeros(0).histc(2).tolist() == [0.0, 0.0]
    out = ts.empty(0)
    assert ts.histc(x, 3, 0, 2, out=out) is out and out.tolist() == [0.0, 1.0, 1.0]
    with pytest.raises(RuntimeError, match="max must be larger than min"):
        x.histc(3, 2, 1)


@pytest.mark.parametrize(("dtype", "limit"), [(ts.float32, 2.0**127), (ts.float16, 60000.0)])
def test_range_wider_than_the_largest_number(dtype, limit):
    """The width of the range of `histc` can exceed the largest number of the dtype."""
    x = ts.tensor([limit, -limit, 0.0], dtype=dtype)
    assert ts.histc(x, 3).tolist() == [1, 1, 1]
    assert ts.histc(x, 3, -limit, limit).tolist() == [1, 1, 1]
