"""Elementary functions of the project: accuracy, special values, and bits independent of position.

The reference is `mpmath`; results are within one unit in the last place, powers within two, at every SIMD level (`tests/simd_levels.py`).
"""

import math

import mpmath
import numpy as np
import pytest

import ts
from tests import vector_tables

f = ts.nn.functional
INF, NAN = math.inf, math.nan


def log1p_exp(x):
    return mpmath.log1p(mpmath.exp(x)) if x < 300 else x


def gelu_tanh(x):
    return x / (1 + mpmath.exp(-2 * mpmath.sqrt(2 / mpmath.pi) * (x + mpmath.mpf("0.044715") * x**3)))


# name: (function, reference, range, float64 range if larger)
CASES = {
    "exp": (ts.exp, mpmath.exp, (-87, 88), (-708, 709)),
    "exp2": (ts.exp2, lambda x: mpmath.mpf(2) ** x, (-125, 127), (-1021, 1023)),
    "expm1": (ts.expm1, mpmath.expm1, (-40, 88), (-40, 709)),
    "log": (ts.log, mpmath.log, (1e-30, 1e30)),
    "log2": (ts.log2, lambda x: mpmath.log(x) / mpmath.log(2), (1e-30, 1e30)),
    "log10": (ts.log10, mpmath.log10, (1e-30, 1e30)),
    "log1p": (ts.log1p, mpmath.log1p, (-0.999, 1e3)),
    "sin": (ts.sin, mpmath.sin, (-1e5, 1e5)),
    "cos": (ts.cos, mpmath.cos, (-1e5, 1e5)),
    "tan": (ts.tan, mpmath.tan, (-1e5, 1e5)),
    "asin": (ts.asin, mpmath.asin, (-1, 1)),
    "acos": (ts.acos, mpmath.acos, (-1, 1)),
    "atan": (ts.atan, mpmath.atan, (-1e4, 1e4)),
    "sinh": (ts.sinh, mpmath.sinh, (-87, 88), (-708, 709)),
    "cosh": (ts.cosh, mpmath.cosh, (-87, 88), (-708, 709)),
    "tanh": (ts.tanh, mpmath.tanh, (-30, 30)),
    "erf": (ts.erf, mpmath.erf, (-7, 7)),
    "erfc": (ts.erfc, mpmath.erfc, (-5, 9), (-7, 26)),
    "erfinv": (ts.erfinv, mpmath.erfinv, (-1, 1)),
    "sigmoid": (ts.sigmoid, lambda x: 1 / (1 + mpmath.exp(-x)), (-87, 87), (-700, 700)),
    "silu": (f.silu, lambda x: x / (1 + mpmath.exp(-x)), (-87, 87), (-700, 700)),
    "gelu": (f.gelu, lambda x: x * mpmath.erfc(-x / mpmath.sqrt(2)) / 2, (-12, 12), (-36, 36)),
    "gelu_tanh": (lambda x: f.gelu(x, approximate="tanh"), gelu_tanh, (-9, 9), (-18, 18)),
    "elu": (f.elu, lambda x: x if x > 0 else mpmath.expm1(x), (-40, 5)),
    "softplus": (lambda x: f.softplus(x, threshold=1e4), log1p_exp, (-87, 88), (-700, 709)),
    "logsigmoid": (f.logsigmoid, lambda x: -log1p_exp(-x), (-88, 87), (-709, 700)),
}
DTYPES = [np.float32, np.float64]


def called(name, x):
    return CASES[name][0](x)


def units(result, truth, dtype):
    """Return the error in units in the last place."""
    spacing = np.spacing(np.abs(np.array([float(t) for t in truth]).astype(dtype))).astype(np.float64)
    return np.array([abs(float(mpmath.mpf(float(a)) - t)) for a, t in zip(result, truth, strict=True)]) / spacing


def random_arguments(low, high, dtype, count=1):
    rng = np.random.default_rng(3)
    x = np.concatenate([rng.uniform(low, high, 400 * count), rng.uniform(max(low, -2), min(high, 2), 400 * count),
                        rng.uniform(max(low, -9), min(high, 9), 200 * count), rng.choice([-1, 1], 60) * 10.0 ** rng.uniform(-30, 0, 60),
                        1 + 10.0 ** rng.uniform(-7, -1, 60) * rng.choice([-1, 1], 60)]).astype(dtype)  # fmt: skip
    return x[(x >= low) & (x <= high) & (np.abs(x) != 1)]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", CASES)
def test_results_are_accurate(name, dtype):
    function, truth, *where = CASES[name]
    x = random_arguments(*where[-1 if dtype is np.float64 else 0], dtype)
    with mpmath.workprec(160):
        result = function(ts.from_numpy(x)).numpy()
        errors = units(result, [truth(mpmath.mpf(float(v))) for v in x], dtype)
    assert errors.max() <= 1, f"at {x[errors.argmax()]!r}"


@pytest.mark.parametrize("name", CASES)
def test_float32_results_are_close_to_float64(name):
    """Functions of float32 are within one ulp of the float64 results."""
    function, _, where, *_ = CASES[name]
    x = random_arguments(*where, np.float32, 100)
    truth = function(ts.from_numpy(x.astype(np.float64))).numpy()
    errors = np.abs(function(ts.from_numpy(x)).numpy() - truth) / np.spacing(np.abs(truth.astype(np.float32)))
    assert errors.max() <= 1, f"at {x[errors.argmax()]!r}"


@pytest.mark.parametrize("dtype", DTYPES)
def test_powers_are_accurate(dtype):
    x = random_arguments(1e-3, 20, dtype)
    for y in (x, x[::-1].copy(), np.full_like(x, 2.5), np.full_like(x, -0.3)):
        with mpmath.workprec(160):
            truth = [mpmath.mpf(float(a)) ** mpmath.mpf(float(b)) for a, b in zip(x, y, strict=True)]
        errors = units(ts.pow(ts.from_numpy(x), ts.from_numpy(y)).numpy(), truth, dtype)
        assert errors.max() <= 2, f"at {x[errors.argmax()]!r}"


def test_tables_equal_generated_tables():
    assert vector_tables.page() == vector_tables.PAGE.read_text()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", CASES)
def test_bits_do_not_depend_on_the_position(name, dtype):
    """The bits of a result do not depend on position, length, strides, in-place use or the number of
    threads."""
    x = random_arguments(-0.99, 0.99, dtype)[:150] if name in ("erfinv", "asin", "acos") else random_arguments(-20, 20, dtype)[:150]
    x[3:6] = 1e-320 if dtype is np.float64 else 1e-42, 0.0, -0.0
    expected = called(name, ts.from_numpy(x)).numpy()
    bits = expected.view(np.uint32 if dtype is np.float32 else np.uint64)

    def same(y, start, end, step=1):
        return np.array_equal(np.ascontiguousarray(y.numpy()).view(bits.dtype), bits[start:end:step])

    assert all(same(called(name, ts.from_numpy(x[i : i + 1])), i, i + 1) for i in range(150))
    for start in (0, 1, 5, 8):
        for end in (start + 2, start + 9, start + 16, start + 31, 150):
            assert same(called(name, ts.from_numpy(x[start:end].copy())), start, end)
            assert same(called(name, ts.from_numpy(x)[start:end]), start, end)
    assert same(called(name, ts.from_numpy(x)[::3]), 0, 150, 3)
    table = ts.from_numpy(np.stack([x, x, x], axis=1))
    assert all(same(column, 0, 150) for column in called(name, table).unbind(1))
    assert all(same(column, 0, 150) for column in called(name, table.t()).unbind(0))
    long = ts.from_numpy(np.tile(x, 3000))
    long_result = called(name, long).numpy()
    threads = ts.get_num_threads()
    try:
        ts.set_num_threads(threads + 1)
        again = called(name, long).numpy()
    finally:
        ts.set_num_threads(threads)
    assert np.array_equal(long_result.view(bits.dtype), np.tile(bits, 3000))
    assert np.array_equal(again.view(bits.dtype), long_result.view(bits.dtype))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["exp", "exp2", "expm1", "sin", "cos", "tan", "atan", "sinh", "cosh", "tanh", "erf", "erfc", "sigmoid"])
def test_all_calls_of_a_function_have_equal_bits(name, dtype):
    """In-place calls, `out=`, integer arguments and unaligned memory have equal bits."""
    function = CASES[name][0]
    x = ts.from_numpy(np.arange(-20, 21).astype(dtype))
    expected = function(x)
    assert ts.equal(getattr(x.clone(), f"{name}_")(), expected)
    assert ts.equal(function(x, out=ts.empty_like(x)), expected)
    raw = np.zeros(x.numel() * x.element_size() + 1, np.uint8)
    odd = raw[1:].view(dtype)
    odd[:] = x.numpy()
    assert ts.equal(function(ts.from_numpy(odd)), expected)
    if dtype is np.float32:
        assert ts.equal(function(ts.arange(-20, 21)), expected)


SPECIAL: dict[str, list[tuple[float, float]]] = {
    "exp": [(0.0, 1), (-0.0, 1), (INF, INF), (-INF, 0), (89.0, INF), (-104.0, 0), (-100.0, 3.783505853677006e-44)],
    "sin": [(0.0, 0.0), (-0.0, -0.0), (INF, NAN), (-INF, NAN)],
    "cos": [(0.0, 1), (-0.0, 1), (INF, NAN), (-INF, NAN)],
    "erf": [(0.0, 0.0), (-0.0, -0.0), (INF, 1), (-INF, -1), (7.0, 1), (-7.0, -1), (1e-42, 1.12838e-42)],
    "erfc": [(0.0, 1), (-0.0, 1), (INF, 0), (-INF, 2), (-7.0, 2), (30.0, 0)],
    "erfinv": [(0.0, 0.0), (-0.0, -0.0), (1.0, INF), (-1.0, -INF), (2.0, NAN), (-INF, NAN), (INF, NAN)],
    "asin": [(0.0, 0.0), (-0.0, -0.0), (1.0, math.pi / 2), (-1.0, -math.pi / 2), (1.5, NAN), (-INF, NAN), (INF, NAN)],
    "acos": [(0.0, math.pi / 2), (1.0, 0.0), (-1.0, math.pi), (1.5, NAN), (-1.5, NAN), (-INF, NAN), (INF, NAN)],
    "atan": [(0.0, 0.0), (-0.0, -0.0), (INF, math.pi / 2), (-INF, -math.pi / 2), (1.0, math.pi / 4)],
    "tan": [(0.0, 0.0), (-0.0, -0.0), (INF, NAN), (-INF, NAN)],
    "exp2": [(0.0, 1), (INF, INF), (-INF, 0), (3.0, 8), (-1.0, 0.5), (1e4, INF), (-1e4, 0)],
    "expm1": [(0.0, 0.0), (-0.0, -0.0), (INF, INF), (-INF, -1), (1e4, INF), (-1e4, -1)],
    "log": [(0.0, -INF), (-0.0, -INF), (1.0, 0.0), (INF, INF), (-1.0, NAN), (-INF, NAN), (1e-42, -96.7087)],
    "log2": [(0.0, -INF), (-0.0, -INF), (1.0, 0.0), (8.0, 3), (INF, INF), (-1.0, NAN), (-INF, NAN)],
    "log10": [(0.0, -INF), (-0.0, -INF), (1.0, 0.0), (1000.0, 3), (INF, INF), (-1.0, NAN), (-INF, NAN)],
    "log1p": [(0.0, 0.0), (-0.0, -0.0), (-1.0, -INF), (INF, INF), (-2.0, NAN), (-INF, NAN)],
    "sinh": [(0.0, 0.0), (-0.0, -0.0), (INF, INF), (-INF, -INF)],
    "cosh": [(0.0, 1), (INF, INF), (-INF, INF)],
    "tanh": [(0.0, 0.0), (-0.0, -0.0), (INF, 1), (-INF, -1), (40.0, 1), (-40.0, -1)],
    "sigmoid": [(INF, 1), (-INF, 0), (0.0, 0.5)],
    "silu": [(0.0, 0.0), (-0.0, -0.0), (INF, INF), (-INF, NAN)],
    "gelu": [(0.0, 0.0), (-0.0, -0.0), (INF, INF)],
    "gelu_tanh": [(0.0, 0.0), (-0.0, -0.0), (INF, INF), (-INF, NAN), (-30.0, -0.0)],
    "elu": [(0.0, 0.0), (INF, INF), (-INF, -1), (-50.0, -1)],
    "softplus": [(INF, INF), (-INF, 0), (0.0, math.log(2))],
    "logsigmoid": [(INF, 0), (-INF, -INF), (0.0, -math.log(2))],
}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", SPECIAL)
def test_special_values(name, dtype):
    for n in (1, 16, 37):
        assert called(name, ts.from_numpy(np.full(n, NAN, dtype))).isnan().all()
        for x, value in SPECIAL[name]:
            if dtype is np.float64 and x in (89.0, -104.0, -100.0, 1e-42):
                continue
            result = called(name, ts.from_numpy(np.full(n, x, dtype))).numpy()
            assert np.allclose(result, dtype(value), rtol=1e-3, atol=0, equal_nan=True), (x, result[0])
            if value == 0 and name != "logsigmoid":
                assert np.array_equal(np.signbit(result), np.full(n, math.copysign(1, value) < 0)), x


def test_large_angles():
    x = np.array([1e6, 1000001.5, 1e10, 1e22, 1.7e308, -3e15] * 3)
    assert np.allclose(ts.from_numpy(x).sin().numpy(), [math.sin(v) for v in x], rtol=1e-15)
    assert np.allclose(ts.from_numpy(x).cos().numpy(), [math.cos(v) for v in x], rtol=1e-15)
