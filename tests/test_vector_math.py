"""Elementary functions of our own: how far they may be from the truth, special values, and the same bits wherever an element stands.

The truth is `mpmath`'s, in units of the last place of the dtype.
"""

import math

import mpmath
import numpy as np
import pytest

import ts

f = ts.nn.functional
INF, NAN = math.inf, math.nan


def log1p_exp(x):
    return mpmath.log1p(mpmath.exp(x)) if x < 300 else x


# name: (function, its truth, where, units in the last place of float32 and float64)
CASES = {
    "exp": (ts.exp, mpmath.exp, (-87, 88), (1, 1)),
    "sin": (ts.sin, mpmath.sin, (-1e5, 1e5), (2, 1)),
    "cos": (ts.cos, mpmath.cos, (-1e5, 1e5), (2, 1)),
    "erf": (ts.erf, mpmath.erf, (-5, 5), (2, 2)),
    "erfc": (ts.erfc, mpmath.erfc, (-5, 9), (1, 7)),
    "erfinv": (ts.erfinv, mpmath.erfinv, (-1, 1), (1, 16)),
    "sigmoid": (ts.sigmoid, lambda x: 1 / (1 + mpmath.exp(-x)), (-80, 80), (3, 3)),
    "silu": (f.silu, lambda x: x / (1 + mpmath.exp(-x)), (-80, 80), (4, 4)),
    "elu": (f.elu, lambda x: x if x > 0 else mpmath.expm1(x), (-30, 5), (1, 1)),
    "softplus": (lambda x: f.softplus(x, threshold=1e4), log1p_exp, (-80, 80), (2.5, 3)),
    "logsigmoid": (f.logsigmoid, lambda x: -log1p_exp(-x), (-80, 80), (2.5, 3)),
}
DTYPES = [np.float32, np.float64]
NAMES = [*CASES, "gelu"]


def called(name, x):
    return (f.gelu if name == "gelu" else CASES[name][0])(x)


def units(found, truth, dtype):
    """The distance in units of the last place of the truth."""
    spacing = np.spacing(np.abs(np.array([float(t) for t in truth]).astype(dtype))).astype(np.float64)
    return np.array([abs(float(mpmath.mpf(float(a)) - t)) for a, t in zip(found, truth, strict=True)]) / spacing


def places(low, high, dtype):
    rng = np.random.default_rng(3)
    x = np.concatenate([rng.uniform(low, high, 700), rng.uniform(max(low, -2), min(high, 2), 300),
                        rng.choice([-1, 1], 60) * 10.0 ** rng.uniform(-30, 0, 60)])  # fmt: skip
    return x[(x >= low) & (x <= high)].astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", CASES)
def test_near_the_truth(name, dtype):
    function, truth, (low, high), most = CASES[name]
    x = places(low, high, dtype)
    with mpmath.workprec(160):
        found = function(ts.from_numpy(x)).numpy()
        far = units(found, [truth(mpmath.mpf(float(v))) for v in x], dtype)
    assert far.max() <= most[dtype is np.float64], f"at {x[far.argmax()]!r}"


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", NAMES)
def test_an_element_has_the_same_bits_wherever_it_stands(name, dtype):
    """First or last, beside others or alone, side by side or with gaps, by copies and in place; and with any number of threads."""
    x = places(-0.99, 0.99, dtype)[:150] if name == "erfinv" else places(-20, 20, dtype)[:150]
    x[3:6] = 1e-320 if dtype is np.float64 else 1e-42, 0.0, -0.0
    whole = called(name, ts.from_numpy(x)).numpy()
    bits = whole.view(np.uint32 if dtype is np.float32 else np.uint64)

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
    alone = called(name, long).numpy()
    threads = ts.get_num_threads()
    try:
        ts.set_num_threads(threads + 1)
        again = called(name, long).numpy()
    finally:
        ts.set_num_threads(threads)
    assert np.array_equal(alone.view(bits.dtype), np.tile(bits, 3000))
    assert np.array_equal(again.view(bits.dtype), alone.view(bits.dtype))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["exp", "sin", "cos", "erf", "erfc"])
def test_every_way_to_a_function_gives_the_same_bits(name, dtype):
    """In place, `out=`, of integers, and from memory that is not aligned."""
    function = CASES[name][0]
    x = ts.from_numpy(np.arange(-20, 21).astype(dtype))
    wanted = function(x)
    assert ts.equal(getattr(x.clone(), f"{name}_")(), wanted)
    assert ts.equal(function(x, out=ts.empty_like(x)), wanted)
    raw = np.zeros(x.numel() * x.element_size() + 1, np.uint8)
    odd = raw[1:].view(dtype)
    odd[:] = x.numpy()
    assert ts.equal(function(ts.from_numpy(odd)), wanted)
    if dtype is np.float32:
        assert ts.equal(function(ts.arange(-20, 21)), wanted)


SPECIAL: dict[str, list[tuple[float, float]]] = {
    "exp": [(0.0, 1), (-0.0, 1), (INF, INF), (-INF, 0), (89.0, INF), (-104.0, 0), (-100.0, 3.783505853677006e-44)],
    "sin": [(0.0, 0.0), (-0.0, -0.0), (INF, NAN), (-INF, NAN)],
    "cos": [(0.0, 1), (-0.0, 1), (INF, NAN), (-INF, NAN)],
    "erf": [(0.0, 0.0), (-0.0, -0.0), (INF, 1), (-INF, -1), (7.0, 1), (-7.0, -1), (1e-42, 1.12838e-42)],
    "erfc": [(0.0, 1), (-0.0, 1), (INF, 0), (-INF, 2), (-7.0, 2), (30.0, 0)],
    "erfinv": [(0.0, 0.0), (-0.0, -0.0), (1.0, INF), (-1.0, -INF), (2.0, NAN), (-INF, NAN), (INF, NAN)],
    "sigmoid": [(INF, 1), (-INF, 0), (0.0, 0.5)],
    "silu": [(0.0, 0.0), (-0.0, -0.0), (INF, INF)],
    "gelu": [(0.0, 0.0), (-0.0, -0.0), (INF, INF)],
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
            found = called(name, ts.from_numpy(np.full(n, x, dtype))).numpy()
            assert np.allclose(found, dtype(value), rtol=1e-3, atol=0, equal_nan=True), (x, found[0])
            if value == 0 and name != "logsigmoid":
                assert np.array_equal(np.signbit(found), np.full(n, math.copysign(1, value) < 0)), x


def test_large_angles():
    x = np.array([1e6, 1000001.5, 1e10, 1e22, 1.7e308, -3e15] * 3)
    assert np.allclose(ts.from_numpy(x).sin().numpy(), [math.sin(v) for v in x], rtol=1e-15)
    assert np.allclose(ts.from_numpy(x).cos().numpy(), [math.cos(v) for v in x], rtol=1e-15)
