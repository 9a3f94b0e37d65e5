"""Reductions, softmax and normalization kernels equal values computed by hand or by NumPy in float64."""

import math

import numpy as np
import pytest

import ts


def test_sums_are_exact_to_the_last_place():
    """A sum of a million float32 numbers 0.1 is accurate to the last digit."""
    x = ts.full([1_000_000], 0.1)
    assert x.sum().item() == pytest.approx(float(np.float32(0.1)) * 1e6, rel=1e-6)
    assert x.reshape(1000, 1000).sum(0)[3].item() == pytest.approx(float(np.float32(0.1)) * 1e3, rel=1e-6)


def test_variance_far_from_zero():
    """The variance is accurate if the mean is a million times the deviation."""
    x = ts.tensor([1e6, 1e6 + 1, 1e6 + 2, 1e6 + 3])
    assert x.var().item() == pytest.approx(5 / 3)
    assert x.reshape(4, 1).expand(4, 3).contiguous().var(0).tolist() == pytest.approx([5 / 3] * 3)


def test_adjacent_dimensions_are_merged():
    x = ts.arange(24).reshape(2, 3, 4)
    assert x.sum([1, 2]).tolist() == [66, 210]
    assert x.sum([0, 1], True).tolist() == [[[60, 66, 72, 78]]]
    assert x.sum([0, 2]).tolist() == [60, 92, 124]  # not adjacent: uses the general kernel
    assert x.sum([]).item() == 276


def test_extremes_have_the_first_index_and_propagate_nan():
    x = ts.tensor([[1.0, 3.0, 3.0], [2.0, math.nan, 5.0]])
    values, indices = x.max(1)
    assert indices.tolist() == [1, 1]
    assert values[0].item() == 3.0 and math.isnan(values[1].item())
    assert x.argmin(0).tolist() == [0, 1, 0]


def test_any_and_all():
    assert ts.tensor([0.0, math.nan]).any().item() is True
    x = ts.tensor([[True, False], [True, True]])
    assert x.all(1).tolist() == [False, True]
    assert x.any(0).tolist() == [True, True]
    assert not ts.zeros(100).any().item()


def test_softmax_of_infinities():
    x = ts.tensor([[0.0, -math.inf], [math.log(3), 0.0]])
    assert ts.softmax(x, 1).tolist() == [pytest.approx([1.0, 0.0]), pytest.approx([0.75, 0.25])]
    assert ts.softmax(x, 0).tolist() == [pytest.approx([0.25, 0.0]), pytest.approx([0.75, 1.0])]
    assert ts.logsumexp(ts.full([3, 2], -math.inf), 1).tolist() == [-math.inf] * 3


def test_normalisation_by_hand():
    x = ts.tensor([[1.0, 3.0], [2.0, 2.0]])
    weight, bias = ts.tensor([2.0, 1.0]), ts.tensor([0.0, 10.0])
    assert ts.layer_norm(x, [2], weight, bias, 0.0)[0].tolist() == [-2.0, 11.0]
    assert ts.layer_norm(x, [2])[1].tolist() == [0.0, 0.0]
    moments = ts.tensor([1.0, 2.0]), ts.tensor([4.0, 1.0])
    assert ts.batch_norm(x, None, None, *moments, False, 0.1, 0.0, False).tolist() == [[0.0, 1.0], [0.5, 0.0]]


def test_running_sums():
    x = ts.arange(10, dtype=ts.float32).reshape(2, 5)
    assert x.cumsum(1).tolist() == np.cumsum(x.numpy(), 1).tolist()
    assert x.cumsum(0).tolist() == np.cumsum(x.numpy(), 0).tolist()
    assert ts.arange(1, 7).cumprod(0).tolist() == [1, 2, 6, 24, 120, 720]


@pytest.mark.parametrize("n", [1, 15, 16, 17, 511, 512, 513, 4097])
def test_lengths_around_the_blocks(n):
    x = np.random.default_rng(n).standard_normal((3, n)).astype(np.float32)
    wide, t = x.astype(np.float64), ts.from_numpy(x)
    np.testing.assert_allclose(t.sum(1).numpy(), wide.sum(1), rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(t.std(1, unbiased=False).numpy(), wide.std(1), rtol=1e-5, atol=1e-6)
    raised = np.exp(wide - wide.max(1, keepdims=True))
    np.testing.assert_allclose(ts.softmax(t, 1).numpy(), raised / raised.sum(1, keepdims=True), rtol=2e-6)
    np.testing.assert_allclose(
        ts.log_softmax(t, 1).numpy(), np.log(raised / raised.sum(1, keepdims=True)), rtol=1e-5, atol=1e-6
    )


def test_methods_are_called_like_functions():
    """Methods accept positional arguments, keywords and NumPy's names, also through the class."""
    x = ts.ones(2, 3)
    assert x.sum(dim=1).tolist() == x.sum(axis=1).tolist() == ts.sum(input=x, dim=1).tolist() == [3.0, 3.0]
    assert ts.Tensor.sum(x, 0).tolist() == [2.0, 2.0, 2.0]
    assert list(map(ts.Tensor.sum, [x])) == [6.0]
    assert x.permute(1, 0).shape == x.permute((1, 0)).shape == x.permute(dims=[1, 0]).shape == (3, 2)
    with pytest.raises(TypeError, match="sum\\(\\) received an invalid combination"):
        x.sum("a")


@pytest.mark.parametrize("n", [1, 5, 15, 16, 17, 31, 64, 70, 100, 1024, 1040, 5000])
def test_softmax_of_rows_of_every_length(n):
    """Softmax equals a float64 computation; masked elements are 0, and rows are independent."""
    x = np.random.default_rng(n).normal(0, 20, (45, n)).astype(np.float32)
    x[3, : n // 2] = -np.inf
    lowered = (x - x.max(1, keepdims=True)).astype(np.float64)  # rounded in float32, as in the kernel
    raised = np.exp(lowered)
    expected = raised / raised.sum(1, keepdims=True)
    actual = ts.softmax(ts.from_numpy(x), 1).numpy()
    np.testing.assert_allclose(actual, expected, rtol=4e-7, atol=2.0**-126)
    assert (actual[3, : n // 2] == 0).all()
    logs = lowered - np.log(raised.sum(1, keepdims=True))
    np.testing.assert_allclose(ts.log_softmax(ts.from_numpy(x), 1).numpy(), logs, rtol=3e-7, atol=3e-7)


@pytest.mark.parametrize("n", [1, 15, 16, 33, 100, 1500])
def test_layer_norm_of_rows_of_every_length(n):
    x, weight, bias = (np.random.default_rng(n).normal(3, 2, s).astype(np.float32) for s in ((70, n), n, n))
    wide = x.astype(np.float64)
    expected = (wide - wide.mean(1, keepdims=True)) / np.sqrt(wide.var(1, keepdims=True) + 1e-5)
    for w in (None, weight):
        for b in (None, bias):
            actual = ts.layer_norm(ts.from_numpy(x), [n], *(None if y is None else ts.from_numpy(y) for y in (w, b)))
            right = expected * (1 if w is None else w) + (0 if b is None else b)
            np.testing.assert_allclose(actual.numpy(), right, rtol=1e-5, atol=1e-5)
