"""`ts.testing.make_tensor` and `ts.testing.assert_allclose`."""

import re

import pytest

import ts
from ts.testing import assert_allclose, make_tensor


@pytest.mark.parametrize(
    ("dtype", "low", "high"),
    [(ts.float32, -9, 9), (ts.int64, -9, 9), (ts.uint8, 0, 9), (ts.bool, 0, 1), (ts.complex64, -9, 9)],
)
def test_default_limits(dtype, low, high):
    x = make_tensor(200, dtype=dtype, device="cpu")
    values = ts.view_as_real(x) if dtype.is_complex else x.to(ts.float64)
    assert x.dtype == dtype and x.shape == (200,) and low <= values.min() and values.max() <= high


def test_elements_equal_the_generator():
    ts.manual_seed(0)
    x = make_tensor((2,), dtype=ts.float32, device="cpu")
    ts.manual_seed(0)
    assert ts.equal(x, ts.empty(2).uniform_(-9, 9))


def test_options():
    x = make_tensor(3, 4, dtype=ts.float32, device="cpu", noncontiguous=True, requires_grad=True)
    assert not x.is_contiguous() and x.requires_grad
    assert make_tensor(2, 3, 4, 5, dtype=ts.float32, device="cpu", memory_format=ts.channels_last).stride()[1] == 1
    assert (make_tensor(100, dtype=ts.int8, device="cpu", low=0, high=2, exclude_zero=True) == 1).all()
    assert make_tensor(3, dtype=ts.uint8, device="cpu", low=-5, high=1000).dtype == ts.uint8


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"low": 5, "high": 2}, "`low` must be less than `high`, but got 5 >= 2"),
        ({"low": float("nan"), "high": 2}, "`low` and `high` cannot be NaN, but got low=nan and high=2"),
        ({"dtype": ts.int64, "requires_grad": True}, "`requires_grad=True` is not supported for boolean and integral"),
        ({"noncontiguous": True, "memory_format": ts.channels_last}, "mutually exclusive"),
    ],
)
def test_rejected(options, text):
    with pytest.raises(ValueError, match=re.escape(text)):
        make_tensor(3, **{"dtype": ts.float32, "device": "cpu", **options})


def test_assert_allclose():
    assert_allclose(ts.ones(2), ts.ones(2) + 5e-5)
    assert_allclose(ts.ones(2, dtype=ts.float64), [1.0, 1.0])
    assert_allclose(ts.tensor(float("nan")), ts.tensor(float("nan")))
    with pytest.raises(AssertionError, match=r"Mismatched elements: 2 / 2 \(100.0%\)"):
        assert_allclose(ts.ones(2), ts.ones(2) + 1)
