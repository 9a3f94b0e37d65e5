"""Equal elements have PyTorch's order in sorts, topk, kthvalue, mode and medians, with NaN and -0.0."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")
import ts  # noqa: E402

DTYPES = ("bool", "uint8", "int8", "int16", "int64", "float16", "bfloat16", "float32", "float64")


def adversarial_numbers(n):
    """Return numbers for which median-of-three pivots are repeatedly bad."""
    half = n // 2
    numbers = np.zeros(n, np.int64)
    for i in range(1, half + 1):
        if i % 2:
            numbers[i - 1], numbers[i] = i, half + i
        numbers[half + i - 1] = 2 * i
    return numbers


def samples(dtype):
    random = np.random.default_rng(0)
    for shape, max_value in ((17, 2), (100, 5), ((40, 3), 4), (1000, 3), (3000, 10**6), ((2, 3, 70), 9)):
        x = random.integers(0, max_value, shape)
        yield x
        yield -x
    yield adversarial_numbers(2000)
    if "float" in dtype:
        x = random.integers(-2, 3, (5, 60)) * 1.0
        x[random.random(x.shape) < 0.2] = np.nan
        x[x == 2] = -0.0
        yield x


def pairs(dtype):
    for x in samples(dtype):
        yield tuple(package.from_numpy(x).to(getattr(package, dtype)) for package in (torch, ts))


def assert_equal_results(want, got):
    for w, g in zip(want, got, strict=True):
        assert g.shape == w.shape
        assert str(g.tolist()) == str(w.tolist())


@pytest.mark.parametrize("dtype", DTYPES)
def test_sort(dtype):
    for theirs, ours in pairs(dtype):
        for dim in (0, -1):
            for descending in (False, True):
                assert_equal_results(theirs.sort(dim, descending), ours.sort(dim, descending))
                assert_equal_results([theirs.argsort(dim, descending)], [ours.argsort(dim, descending)])
                options = {"dim": dim, "descending": descending, "stable": True}
                assert_equal_results(theirs.sort(**options), ours.sort(**options))


@pytest.mark.parametrize("dtype", DTYPES[1:])
def test_selection(dtype):
    for theirs, ours in pairs(dtype):
        for dim in (0, -1):
            n = theirs.shape[dim]
            for k in {1, 2, n // 70 + 1, n // 2, n}:
                for largest in (False, True):
                    for ordered in (False, True):
                        args = (k, dim, largest, ordered)
                        assert_equal_results(theirs.topk(*args), ours.topk(*args))
                assert_equal_results(theirs.kthvalue(k, dim), ours.kthvalue(k, dim))
            if not theirs.isnan().any():  # PyTorch's `mode` treats NaN as equal to all numbers
                assert_equal_results(theirs.mode(dim), ours.mode(dim))
            assert_equal_results(theirs.median(dim, True), ours.median(dim, True))
            assert_equal_results(theirs.nanmedian(dim), ours.nanmedian(dim))
