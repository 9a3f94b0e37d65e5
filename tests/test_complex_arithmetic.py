"""Arithmetic of complex tensors with real tensors and numbers: dtypes, values, layouts, and special values."""

import itertools
import operator

import numpy as np
import pytest

import ts

OPERATIONS = [operator.add, operator.sub, operator.mul, operator.truediv, operator.eq, operator.ne]
REAL_DTYPES = ["float32", "float64", "int64", "int32", "uint8", "bool"]


def random_array(dtype, shape, seed=0):
    rng = np.random.default_rng(seed)
    if dtype.startswith("complex"):
        return (rng.standard_normal(shape) + 1j * rng.standard_normal(shape)).astype(dtype)
    return rng.standard_normal(shape).astype(dtype) if dtype.startswith("float") else rng.integers(1, 2, shape).astype(dtype)


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("real", REAL_DTYPES)
@pytest.mark.parametrize("complex_dtype", ["complex64", "complex128"])
def test_complex_and_real_tensors(complex_dtype, real, operation):
    expected_dtype = ts.complex128 if real == "float64" else getattr(ts, complex_dtype)
    if operation in (operator.eq, operator.ne):
        expected_dtype = ts.bool
    for first, second in itertools.product([(), (3,), (2, 3), (4, 1, 3)], repeat=2):
        a, b = random_array(complex_dtype, first), random_array(real, second, 1)
        if (first == ()) != (second == ()) or (operation is operator.sub and real == "bool"):
            continue
        x, y = ts.from_numpy(np.asarray(a)), ts.from_numpy(np.asarray(b))
        for left, right, expected in ((x, y, operation(a, b)), (y, x, operation(b, a))):
            result = operation(left, right)
            assert result.dtype == expected_dtype
            assert result.shape == expected.shape
            assert np.allclose(result.numpy(), expected, rtol=1e-6 if complex_dtype == "complex64" else 1e-14)


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_complex_tensors_and_real_numbers(dtype, operation):
    a = random_array(dtype, (2, 3, 4))
    for x in (ts.from_numpy(a), ts.from_numpy(a).transpose(0, 2), ts.from_numpy(a)[..., ::2]):
        for number in (2, -0.5, ts.tensor(0.25), ts.tensor(-3.0, dtype=ts.float64)):
            value = float(number)
            expected = operation(x.numpy(), np.asarray(value, dtype))
            result = operation(x, number)
            assert result.dtype == (ts.bool if operation in (operator.eq, operator.ne) else x.dtype)
            assert np.allclose(result.numpy(), expected, rtol=1e-6)
            assert result.stride() == ts.empty_like(x).stride()


def test_in_place_arithmetic_with_numbers():
    x = ts.tensor([1 + 2j, -3j])
    y = x
    x *= 0.5
    x += 1
    x -= ts.tensor(2.0)
    x /= 2
    assert x is y
    assert x.tolist() == [-0.25 + 0.5j, -0.5 - 0.75j]


def test_special_values_follow_complex_arithmetic():
    inf, nan = float("inf"), float("nan")
    x = ts.tensor([complex(inf, 1.0)])
    product = ts.view_as_real(x * 0.5)[0].tolist()  # (inf + i) * (0.5 + 0i): inf * 0 is NaN
    assert product[0] == inf
    assert product[1] != product[1]
    assert ts.view_as_real(x * ts.tensor([0.5]))[0].isnan().tolist() == [False, True]
    assert (ts.tensor([1e30 + 0j]) * 1e30).dtype == ts.complex64
    assert (ts.tensor([1 + 0j]) == 1).tolist() == [True]
    assert (ts.tensor([1 + 1j]) != 1.0).tolist() == [True]
    assert (ts.tensor([complex(nan, 0)]) == 1.0).tolist() == [False]


def test_unsupported_operations_raise_errors():
    x = ts.tensor([1 + 1j])
    with pytest.raises(RuntimeError, match="bool"):
        x - True
    with pytest.raises(RuntimeError, match="omplex"):
        x < 1
    with pytest.raises(RuntimeError, match="can't be cast"):
        ts.ones(1).mul_(x)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_absolute_values_of_all_layouts(dtype):
    a = random_array(dtype, (2, 3, 4))
    a[0, 0, :3] = complex(float("inf"), float("nan")), complex(0, -3), complex(-0.0, 0.0)
    x = ts.from_numpy(a)
    real = ts.float32 if dtype == "complex64" else ts.float64
    for view in (x, x.transpose(0, 2), x.transpose(1, 2), x[..., ::2], x[:, :1].expand(2, 5, 4)):
        result = view.abs()
        assert result.dtype == real
        assert np.allclose(result.numpy(), np.abs(view.numpy()), rtol=1e-6)
    assert x.transpose(1, 2).abs().stride() == x.transpose(1, 2).stride()
    assert ts.absolute(x, out=ts.empty(0, dtype=real)).equal(x.abs())
