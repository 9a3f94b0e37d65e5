"""Remainders, quotients, powers, shifts, signs and ranges: loops in C equal Python and NumPy."""

import math

import numpy as np
import pytest

import ts
from ts._core.tensor.contiguity import are_contiguous
from ts.ops import result_strides

NAN, INF = math.nan, math.inf
FLOATS = [0.0, -0.0, 1.0, -1.0, 0.7, -0.7, 5.5, -5.5, 3e38, -1e-38, 1e9, 16777217.0, INF, -INF, NAN]
WHOLE = [ts.uint8, ts.int8, ts.int16, ts.int32, ts.int64]


def pairs(values, dtype):
    x = ts.tensor(values, dtype=dtype)
    return x.repeat_interleave(len(values)), x.repeat(len(values))


@pytest.mark.parametrize("dtype", [ts.float32, ts.float64], ids=str)
def test_float_remainders_equal_numpy_except_zero_signs(dtype):
    x, y = pairs(FLOATS, dtype)
    with np.errstate(all="ignore"):
        rest, as_in_c = np.remainder(x.numpy(), y.numpy()), np.fmod(x.numpy(), y.numpy())
        down = np.floor_divide(x.numpy(), y.numpy())
    result = x.remainder(y).numpy()
    assert np.array_equal(result, rest, equal_nan=True)
    zeros = result == 0
    assert np.array_equal(np.signbit(result[zeros]), np.signbit(x.numpy()[zeros]))
    assert np.array_equal(x.fmod(y).numpy(), as_in_c, equal_nan=True)
    assert np.array_equal(x.floor_divide(y).numpy(), down, equal_nan=True)


def test_remainders_of_large_quotients_are_exact():
    r = np.random.default_rng(1)
    x = (r.standard_normal(4000) * 10.0 ** r.integers(-6, 30, 4000)).astype(np.float32)
    y = (r.standard_normal(4000) * 10.0 ** r.integers(-6, 6, 4000)).astype(np.float32)
    expected = [a - b * math.floor(a / b) if b == a else math.fmod(a, b) for a, b in zip(x.tolist(), y.tolist())]
    expected = [m + b if m and (m < 0) != (b < 0) else m for m, b in zip(expected, y.tolist())]
    assert np.array_equal(ts.from_numpy(x).remainder(ts.from_numpy(y)).numpy(), np.array(expected, np.float32))


@pytest.mark.parametrize("dtype", WHOLE, ids=str)
def test_integers_are_divided_as_in_python(dtype):
    info = np.iinfo(dtype.numpy_dtype)
    numbers = sorted({info.min, info.min + 1, *range(max(info.min, -7), 8), info.max})
    x, y = pairs(numbers, dtype)
    x, y = x[y != 0], y[y != 0]
    wrapped = np.array([a // b for a, b in zip(x.tolist(), y.tolist())], object)
    wrapped = np.array([(n - info.min) % (info.max - info.min + 1) + info.min for n in wrapped])
    assert x.floor_divide(y).tolist() == wrapped.tolist()
    assert x.remainder(y).tolist() == [a % b for a, b in zip(x.tolist(), y.tolist())]
    assert x.fmod(y).tolist() == [int(math.copysign(1, a)) * (abs(a) % abs(b)) for a, b in zip(x.tolist(), y.tolist())]


@pytest.mark.parametrize("name", ["remainder", "fmod", "floor_divide", "remainder_", "floor_divide_"])
def test_integers_are_not_divided_by_zero(name):
    x = ts.tensor([[1, 2], [3, 4]])
    for divisor in (0, ts.tensor(0), ts.tensor([1, 0])):
        with pytest.raises(RuntimeError, match="ZeroDivisionError"):
            getattr(x, name)(divisor)
    assert getattr(x[:0], name)(3).shape == (0, 2)


@pytest.mark.parametrize("dtype", WHOLE, ids=str)
def test_powers_and_shifts(dtype):
    info = np.iinfo(dtype.numpy_dtype)
    x, y = pairs([n for n in (-3, -1, 0, 1, 2, 3, 7, 9, 31, 63, 64, 100) if info.min <= n <= info.max], dtype)
    modulus, bits = info.max - info.min + 1, info.bits

    def wrap(n):
        return (n - info.min) % modulus + info.min

    left = [wrap(a << b) if 0 <= b < bits else 0 for a, b in zip(x.tolist(), y.tolist())]
    right = [a >> b if 0 <= b < bits else -(a < 0) for a, b in zip(x.tolist(), y.tolist())]
    assert (x << y).tolist() == left
    assert (x >> y).tolist() == right
    large = [wrap(a**b) if b >= 0 else int(a**b) if a else 0 for a, b in zip(x.tolist(), y.tolist())]
    assert x.pow(y).tolist() == large


def test_signs_steps_and_roots():
    x = ts.tensor(FLOATS)
    assert x.sign().tolist() == [float((n > 0) - (n < 0)) for n in FLOATS]
    assert ts.tensor([-3, 0, 9]).sgn().tolist() == [-1, 0, 1]
    assert x.heaviside(ts.tensor(0.5)).tolist() == [0.5 if n == 0 else float(n > 0) for n in FLOATS]
    assert np.array_equal(ts.tensor([4.0, 0.0, -1.0, INF]).rsqrt().numpy(), [0.5, INF, NAN, 0.0], equal_nan=True)


def test_strided_operands_broadcast_in_place():
    x = ts.arange(24.0).reshape(4, 6)
    assert ts.equal(x.t()[::2] % ts.tensor([[5.0], [3.0], [2.0]]), (x.t()[::2].contiguous() % ts.tensor([5.0, 3.0, 2.0])[:, None]))
    y = x.clone()
    y[:, 1::2].remainder_(4)
    assert y[:, 1].tolist() == [1.0, 3.0, 1.0, 3.0] and y[:, 0].tolist() == x[:, 0].tolist()
    assert ts.logical_and(x > 3, x.t()[:1, :1] == 0).sum().item() == 20


def test_contiguous_shortcut_agrees_with_the_rules():
    """The contiguity shortcut of `result_strides.apply_layout_rules` agrees with the layout rules."""
    r = np.random.default_rng(0)

    def array(shape):
        order = r.permutation(len(shape)) if r.random() < 0.4 else np.arange(len(shape))
        values = np.zeros([shape[i] for i in order], np.float32).transpose(np.argsort(order))
        if r.random() < 0.1:
            steps = [4 if n == 1 else s for s, n in zip(values.strides, shape)]
            values = np.lib.stride_tricks.as_strided(values, shape, steps)
        return values

    sure = 0
    for _ in range(3000):
        shape = r.choice([1, 1, 2, 3], r.integers(0, 6)).tolist()
        result = array(shape)
        args = [array([n if r.random() < 0.8 else 1 for n in shape[r.integers(0, len(shape) + 1) :]]) for _ in range(3)]
        if not are_contiguous(result, args):
            continue
        sure += 1
        for rule in result_strides.RULES.keys() - result_strides.REORDERING:
            given = result_strides.RULES[rule](result.shape, args)
            assert result_strides.with_result_strides(np, rule, result, args) is result, (rule, given, result.strides, [a.strides for a in args])
    assert sure > 300


@pytest.mark.parametrize("dtype", [ts.float32, ts.float64], ids=str)
@pytest.mark.parametrize("exponent", [2.7, 0.3, -1.7, 4])
def test_powers_have_the_same_bits_in_every_layout(exponent, dtype):
    x = ts.linspace(0.01, 4, 205).reshape(41, 5).to(dtype)
    expected = x**exponent
    assert ts.equal(x.t() ** exponent, expected.t())
    assert ts.equal(x[:, 1] ** exponent, expected[:, 1])
    assert ts.equal(x[3:4] ** exponent, expected[3:4])
    assert ts.equal(x.clone().pow_(exponent), expected)
    assert ts.equal(x ** ts.full((), exponent, dtype=dtype), expected)


def test_division_by_constants_equals_python():
    """Integer division and remainder by constants equal Python's near powers of two, multiples and the
    dtype's limits."""
    minimum, maximum = -(2**63), 2**63 - 1
    for by in [1, 2, 3, 5, 7, 64, 100, 641, 2**31 - 1, 2**32, 2**32 + 1, 10**18, 2**62 - 1, 2**62, 2**62 + 1, maximum, -2, -3, -(2**40), minimum]:
        near_multiples = [k * by + d for k in (-1000, -3, -1, 0, 1, 2, 77) for d in (-1, 0, 1)]
        numbers = [minimum, minimum + 1, minimum + by, -1, 0, 1, maximum - by, maximum - 1, maximum, *near_multiples]
        numbers = [n for n in numbers if minimum <= n <= maximum]
        x = ts.tensor(numbers)
        assert (x // by).tolist() == [n // by for n in numbers], by
        assert (x % by).tolist() == [n % by for n in numbers], by
