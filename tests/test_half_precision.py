"""16-bit floats: conversions, and 32-bit computation in all pointwise loops."""

import numpy as np
import pytest

import ts

SHORT = [ts.float16, ts.bfloat16]
BITS = np.arange(1 << 16, dtype=np.uint16)
BINARY = ["add", "sub", "mul", "div", "maximum", "atan2", "pow", "lt", "eq"]
UNARY = ["neg", "exp", "sqrt", "sin", "relu", "sigmoid", "abs", "floor", "isnan"]


def as_numpy(x):
    return x.view(ts.int16).numpy().view(np.uint16)


def of_bits(bits, dtype):
    return ts.from_numpy(bits.view(np.int16).copy()).view(dtype)


def float32_bits(bits, dtype):
    """Return the float32 bits of 16-bit floats by the format's definition."""
    if dtype is ts.bfloat16:
        return bits.astype(np.uint32) << 16
    return bits.view(np.float16).astype(np.float32).view(np.uint32)


@pytest.mark.parametrize("dtype", SHORT, ids=str)
def test_every_number_round_trips_through_float32(dtype):
    x = of_bits(BITS, dtype)
    wide = x.float()
    numbers = ~np.isnan(wide.numpy())
    assert np.array_equal(wide.numpy().view(np.uint32)[numbers], float32_bits(BITS, dtype)[numbers])
    assert np.array_equal(as_numpy(wide.to(dtype))[numbers], BITS[numbers])
    assert np.array_equal(as_numpy(x.double().to(dtype))[numbers], BITS[numbers])
    assert wide.to(dtype)[ts.from_numpy(~numbers)].isnan().all()


@pytest.mark.parametrize("dtype", SHORT, ids=str)
def test_rounding_of_ties_and_neighbours(dtype):
    """Ties round to even; neighbouring float32 numbers round to the nearest."""
    low = BITS[:0x7C00 if dtype is ts.float16 else 0x7F80][:-1]
    below, above = (float32_bits(b, dtype).view(np.float32).astype(np.float64) for b in (low, low + 1))
    middle = ((below + above) / 2).astype(np.float32)
    exact = middle.astype(np.float64) * 2 == below + above  # false between bfloat16's smallest numbers
    for sign in (1, -1):
        flip = 0x8000 if sign < 0 else 0
        results = [as_numpy(ts.from_numpy(np.float32(sign) * m).to(dtype)) for m in (
            middle, np.nextafter(middle, np.float32(0)), np.nextafter(middle, np.float32(np.inf)))]
        expected = (low + (low & 1), low, low + 1)
        assert all(np.array_equal(f[exact], (w | flip)[exact]) for f, w in zip(results, expected, strict=True))


@pytest.mark.parametrize("dtype", SHORT, ids=str)
def test_bits_do_not_depend_on_the_position(dtype):
    rng = np.random.default_rng(0)
    x = (rng.standard_normal(131) * 10.0 ** rng.integers(-44, 38, 131)).astype(np.float32)
    x[:4] = np.nan, np.inf, -0.0, np.array([0xFFA00001], np.uint32).view(np.float32)[0]
    single_results = np.array([as_numpy(ts.from_numpy(x[i : i + 1]).to(dtype))[0] for i in range(131)])
    for start in range(18):
        for end in (start + 1, start + 15, start + 33, 131):
            assert np.array_equal(as_numpy(ts.from_numpy(x[start:end]).to(dtype)), single_results[start:end])
    spread = ts.zeros(131, 3)
    spread[:, 1] = ts.from_numpy(x)
    numbers = ~np.isnan(x)
    assert np.array_equal(as_numpy(spread[:, 1].to(dtype))[numbers], single_results[numbers])


def test_doubles_are_rounded_to_float32_first():
    """Conversion of float64 to 16-bit floats rounds to float32 first, as in PyTorch."""
    x = ts.full((40,), 1 + 2**-11 + 2**-40, dtype=ts.float64)
    assert x.half().unique().tolist() == [1.0]
    assert x.repeat_interleave(2)[::2].half().unique().tolist() == [1.0]
    assert ts.full((40,), 1 + 2**-8 + 2**-40, dtype=ts.float64).bfloat16().unique().tolist() == [1.0]


@pytest.mark.parametrize("dtype", SHORT, ids=str)
@pytest.mark.parametrize("name", BINARY + UNARY)
def test_loops_compute_in_32_bits_and_round_once(name, dtype):
    ts.manual_seed(0)
    x, y = (ts.randn(37, 71) * 3).to(dtype), (ts.randn(37, 71) * 3).to(dtype)
    for a, b in ((x, y), (x.t(), y.t()), (x[:, ::2], y[:, ::2]), (x, y[0])):
        others = (b, 2.0) if name in BINARY else ()
        for args in [(o,) for o in others] or [()]:
            if isinstance(args and args[0], float) and name in ("maximum", "atan2"):
                continue
            actual = getattr(a, name)(*args)
            wide = getattr(a.float(), name)(*(o.float() if isinstance(o, ts.Tensor) else o for o in args))
            expected = wide if wide.dtype == ts.bool else wide.to(dtype)
            assert actual.dtype == expected.dtype
            assert actual.stride() == expected.stride()
            assert np.array_equal(actual.float().numpy(), expected.float().numpy(), equal_nan=True)


@pytest.mark.parametrize("dtype", SHORT, ids=str)
def test_in_place_and_with_numbers(dtype):
    x = ts.linspace(-3, 3, 1300).to(dtype)
    y = x.clone()
    assert y.mul_(x) is y
    assert ts.equal(y, x * x)
    assert ts.equal(x * 0.375, (x.float() * 0.375).to(dtype))
    assert ts.equal(x.clone().add_(x, alpha=2), (x.float() * 2).to(dtype).add(x))
