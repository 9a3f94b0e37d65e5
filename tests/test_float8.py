"""8-bit floats: values follow the format's definition, views and copies keep bits, arithmetic is rejected."""

import copy
import io
import math
import pickle

import numpy as np
import pytest

import ts

# Exponent bits, mantissa bits, bias, and the encoding of NaN: by mask, or a single pattern.
FORMATS = {
    ts.float8_e5m2: (5, 2, 15, "ieee"),
    ts.float8_e4m3fn: (4, 3, 7, "all ones"),
    ts.float8_e5m2fnuz: (5, 2, 16, "no zero"),
    ts.float8_e4m3fnuz: (4, 3, 8, "no zero"),
}
FLOAT8 = [*FORMATS, ts.float8_e8m0fnu]


def number(pattern, dtype):
    """Return the value of a bit pattern by the format's definition."""
    if dtype is ts.float8_e8m0fnu:
        return math.nan if pattern == 255 else 2.0 ** (pattern - 127)
    exponents, width, bias, nans = FORMATS[dtype]
    sign = -1.0 if pattern & 0x80 else 1.0
    exponent, mantissa = pattern >> width & ((1 << exponents) - 1), pattern & ((1 << width) - 1)
    if nans == "ieee" and exponent == 31:
        return math.nan if mantissa else sign * math.inf
    if (nans == "all ones" and pattern & 0x7F == 0x7F) or (nans == "no zero" and pattern == 0x80):
        return math.nan
    scale = 2.0 ** (max(exponent, 1) - bias - width)
    return sign * (mantissa + ((1 << width) if exponent else 0)) * scale


def all_of(dtype):
    return ts.arange(256).to(ts.uint8).view(dtype)


def bits(x):
    return x.contiguous().view(ts.uint8).tolist()


@pytest.mark.parametrize("dtype", FLOAT8, ids=str)
def test_every_bit_pattern_converts_and_returns(dtype):
    x = all_of(dtype)
    for i, (got, expected) in enumerate(
        zip(x.float().tolist(), [number(i, dtype) for i in range(256)], strict=True)
    ):
        assert got == expected or (math.isnan(got) and math.isnan(expected)), i
    numbers = ~x.isnan()
    for wide in (ts.float32, ts.float64, ts.bfloat16):
        assert bits(x.to(wide).to(dtype)[numbers]) == bits(x[numbers])


@pytest.mark.parametrize("dtype", FLOAT8, ids=str)
def test_numbers_become_the_nearest(dtype):
    known = np.array([number(i, dtype) for i in range(256)])
    finite = np.unique(known[np.isfinite(known)])
    finite = (
        finite[1:] if dtype is ts.float8_e8m0fnu else finite
    )  # values below the smallest number are rounded up
    middle = (finite[1:] + finite[:-1]) / 2
    for offset, expected in ((-1e-6, finite[:-1]), (1e-6, finite[1:])):
        at = middle + offset * np.abs(middle)
        assert ts.from_numpy(at).to(dtype).double().tolist() == expected.tolist()


def test_overflow():
    large = ts.tensor([1e6, -1e6, math.inf, -math.inf, math.nan])
    assert large.to(ts.float8_e4m3fn).tolist()[:4] == [448, -448, 448, -448]
    assert large.to(ts.float8_e5m2).tolist()[:4] == [math.inf, -math.inf, math.inf, -math.inf]
    assert large.to(ts.float8_e4m3fnuz).isnan().all() and large.to(ts.float8_e5m2fnuz).isnan().all()
    assert large.to(ts.float8_e8m0fnu).tolist()[:2] == [2.0**20, 2.0**20]
    assert all(large.to(dtype)[4].isnan() for dtype in FLOAT8)


@pytest.mark.parametrize("dtype", FLOAT8, ids=str)
def test_views_and_copies_keep_bits(dtype):
    x = all_of(dtype).reshape(16, 16)
    for y, z in (
        (x.t(), x.view(ts.uint8).t()),
        (x[2:, ::3].contiguous(), x.view(ts.uint8)[2:, ::3]),
        (ts.cat([x, x[1:]]), ts.cat([x.view(ts.uint8), x.view(ts.uint8)[1:]])),
        (x[ts.tensor([3, 1])], x.view(ts.uint8)[ts.tensor([3, 1])]),
        (x.unfold(1, 3, 2), x.view(ts.uint8).unfold(1, 3, 2)),
        (x.flip(0), x.view(ts.uint8).flip(0)),
        (x.t().flip(0), x.view(ts.uint8).t().flip(0)),
        (x.t().tril(), x.view(ts.uint8).t().tril()),
        (copy.deepcopy(x), x.view(ts.uint8)),
        (pickle.loads(pickle.dumps(x)), x.view(ts.uint8)),
        (ts.empty_like(x).copy_(x), x.view(ts.uint8)),
    ):
        assert y.dtype is dtype and y.shape == z.shape and bits(y) == z.contiguous().tolist()
    x[0] = x[1]
    assert bits(x[0]) == list(range(16, 32))
    assert x.element_size() == 1 and x.nbytes == 256 and x.view(ts.int32).shape == (16, 4)


def test_dtypes_are_themselves():
    for dtype in FLOAT8:
        assert pickle.loads(pickle.dumps(dtype)) is dtype and getattr(ts, dtype.name) is dtype
        assert (
            dtype.itemsize == 1
            and dtype.is_floating_point
            and not dtype.is_complex
            and dtype.to_real() is dtype
        )
    with pytest.raises(RuntimeError, match="Unknown Complex ScalarType for Float8_e5m2"):
        ts.float8_e5m2.to_complex()


@pytest.mark.parametrize("dtype", FLOAT8, ids=str)
def test_arithmetic_is_rejected(dtype):
    x = ts.ones(2, 2, dtype=dtype)
    y = ts.ones(1, 1, 4, 4, dtype=dtype)
    calls = [
        lambda: x.scatter(0, ts.zeros(1, 2, dtype=ts.int64), x, reduce="add"), lambda: x + 1, lambda: x * x, lambda: x @ x, lambda: x.sum(), lambda: x.exp(), lambda: x.sort(), lambda: -x,
        lambda: x.max(), lambda: x.softmax(0), lambda: ts.rand(2, dtype=dtype), lambda: x < x, lambda: x.cumsum(0),
        lambda: ts.nn.functional.conv2d(y, y), lambda: ts.nn.functional.max_pool2d(y, 2), lambda: x.add_(1),
        lambda: ts.ones(2).sum(dtype=dtype), lambda: ts.arange(3, dtype=dtype), lambda: x.unique(), lambda: x.relu(),
        lambda: ts.nn.functional.layer_norm(x, (2,)), lambda: x.uniform_(), lambda: x.nonzero(),
    ]  # fmt: skip
    for call in calls:
        with pytest.raises(NotImplementedError, match=f"not implemented for '{dtype.type_name}'"):
            call()
    with pytest.raises(RuntimeError, match="Promotion for Float8 Types is not supported"):
        x + ts.ones(2, 2)
    with pytest.raises(TypeError, match="Got unsupported ScalarType Float8"):
        x.numpy()
    with pytest.raises(TypeError, match=r"can't convert np.ndarray of type ml_dtypes.float8"):
        ts.from_numpy(np.zeros(2, dtype.numpy_dtype))
    assert (x.to("meta") + 1).dtype is dtype and x.sum(dtype=ts.float32).item() == 4


def in_file(x):
    stored = io.BytesIO()
    ts.save({"whole": x, "part": x[1:]}, stored)
    return ts.load(io.BytesIO(stored.getvalue()))


def test_files():
    for dtype in FLOAT8:
        result = in_file(all_of(dtype))
        assert result["whole"].dtype is dtype and bits(result["part"]) == list(range(1, 256))


def narrow(x):
    y = x.to(torch.float8_e4m3fn)
    if y.dtype == torch.float8_e4m3fn:
        return torch.cat([y, y]).float()
    return x


@pytest.mark.parametrize(
    "make", [ts.jit.script, lambda f: ts.jit.trace(f, (ts.zeros(2),))], ids=["script", "trace"]
)
def test_scripts(make):
    narrow.__globals__["torch"] = ts
    f = make(narrow)
    for _ in range(3):
        assert f(ts.tensor([1e4, 0.3])).tolist() == [448, 0.3125, 448, 0.3125]
