"""Selection of elements without branches: `xp.where` of the CPU, and prelu, compared with NumPy."""

import numpy as np
import pytest

import ts
import ts.nn.functional as F
from ts.backends.cpu.kernels import masked
from ts.backends.cpu.namespace import namespace

SIZE = (17, 33)
RANDOM = np.random.default_rng(5)
MASK = RANDOM.random(SIZE) < 0.5
FLOATS = RANDOM.standard_normal(SIZE)


@pytest.mark.parametrize("dtype", [np.bool_, np.int8, np.int16, np.int32, np.int64, np.float16, np.float32, np.float64])
def test_where_equals_numpy(dtype):
    """Arrays, 0-dim arrays and numbers of each dtype give NumPy's values and dtype."""
    x, y = (FLOATS * 3).astype(dtype), (FLOATS.T.reshape(SIZE) * 5).astype(dtype)
    for pair in ((x, y), (x, y[0, 0]), (np.array(x[1, 2]), y), (x, 0), (True, y)):
        expected, actual = np.where(MASK, *pair), namespace.where(MASK, *pair)
        assert actual.dtype == expected.dtype and np.array_equal(actual, expected)


@pytest.mark.parametrize(
    "pair", [(FLOATS.astype(np.float32), FLOATS), (FLOATS[:1], FLOATS), (FLOATS, 1j), (FLOATS[:, ::-1], FLOATS)],
    ids=["mixed dtypes", "broadcast", "promoted", "strides"],
)
def test_other_operands_are_left_to_numpy(pair):
    assert masked.select_contiguous(MASK, *pair) is None
    assert np.array_equal(namespace.where(MASK, *pair), np.where(MASK, *pair))


def test_where_selects_nan_and_infinity():
    x = np.where(MASK, np.nan, 1.0)
    assert np.array_equal(namespace.where(MASK, x, np.inf), np.where(MASK, np.nan, np.inf), equal_nan=True)


@pytest.mark.parametrize("dtype", [ts.float32, ts.float64, ts.float16, ts.bfloat16])
@pytest.mark.parametrize(
    "shape, slopes",
    [((2, 3, 5, 7), 3), ((2, 3, 5, 7), 1), ((4, 3), 3), ((40,), 1), ((2, 3, 50), 3), ((2, 0, 5), 1), ((1, 2, 1), 2), ((8, 0, 2), 0)],
)
def test_prelu(shape, slopes, dtype):
    """The slope of a channel applies to its negative elements, for all layouts of the input."""
    x, weight = ts.randn(*shape, dtype=ts.float64).to(dtype), ts.randn(slopes, dtype=ts.float64).to(dtype)
    weight_of_channel = weight if slopes == 1 else weight.reshape(1, -1, *(1,) * (len(shape) - 2))
    expected = ts.where(x > 0, x, x * weight_of_channel)
    assert F.prelu(x, weight).equal(expected)
    strided = x.transpose(0, -1).contiguous().transpose(0, -1)
    assert F.prelu(strided, weight).equal(expected) and F.prelu(strided, weight).stride() == strided.stride()


def test_prelu_of_special_values():
    """Zeros, infinities and NaN follow x > 0 ? x : weight * x."""
    x = ts.tensor([0.0, -0.0, float("inf"), float("-inf"), float("nan")])
    result = F.prelu(x, ts.tensor([-0.5]))
    assert result[:4].tolist() == [0.0, 0.0, float("inf"), float("inf")] and result[4].isnan()
    assert ts.signbit(result).tolist()[:2] == [True, False]


def test_prelu_checks_its_operands():
    with pytest.raises(RuntimeError, match="Mismatch of parameter numbers and input channel size"):
        F.prelu(ts.ones(2, 3, 20), ts.ones(2))
    with pytest.raises(RuntimeError, match="Type promoting not supported"):
        F.prelu(ts.ones(2, 3), ts.ones(3, dtype=ts.float64))
    with pytest.raises(RuntimeError, match="scalar or 1D tensor"):
        F.prelu(ts.ones(2, 3), ts.ones(3, 1))
