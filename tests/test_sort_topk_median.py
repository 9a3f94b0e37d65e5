"""Sorting, selection and medians: C kernels equal the general kernels, also for equal elements and NaN."""

import math

import numpy as np
import pytest

import ts
from ts.backends.cpu.namespace import namespace
from ts.ops import registry, sort

DTYPES = ["float32", "float64", "int64", "int32", "uint8"]
SHAPES = [(1,), (7,), (40,), (300,), (3, 20), (2, 33, 4), (5, 1, 2)]


def numbers(shape, dtype, seed=0):
    """Return numbers from a small set, so that there are ties, with some NaN, signed zeros and infinities."""
    r = np.random.default_rng(seed)
    x = r.integers(0 if dtype == "uint8" else -6, 7, shape).astype(dtype)
    if x.dtype.kind == "f":
        x[r.random(shape) < 0.1] = math.nan
        x[r.random(shape) < 0.1] = -math.inf
        x[r.random(shape) < 0.1] = -0.0
    return x


def agree(actual, expected):
    actual = actual if isinstance(actual, tuple) else (actual,)
    expected = expected if isinstance(expected, tuple) else (expected,)
    for a, b in zip(actual, expected, strict=True):
        assert a.numpy().dtype == b.dtype
        assert np.array_equal(a.numpy(), b, equal_nan=b.dtype.kind == "f")


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_results_equal_general_kernels(shape, dtype):
    host = numbers(shape, dtype)
    x = ts.from_numpy(host)
    for dim in range(-1, len(shape)):
        n = shape[dim]
        for descending in (False, True):
            agree(tuple(x.sort(dim, descending)), sort._sort(namespace, host, dim, descending))
            agree(x.argsort(dim, descending), sort._argsort(namespace, host, dim, descending))
            agree(tuple(x.sort(dim=dim, descending=descending, stable=True)), sort._sort_stable(namespace, host, True, dim, descending))
            for k in {1, min(3, n), n}:
                agree(tuple(x.topk(k, dim, descending)), sort._topk(namespace, host, k, dim, descending))
                agree(tuple(x.topk(k, dim, descending, False)), sort._topk(namespace, host, k, dim, descending, False))
        for keepdim in (False, True):
            for k in {1, (n + 1) // 2, n}:
                agree(tuple(x.kthvalue(k, dim, keepdim)), sort._kthvalue(namespace, host, k, dim, keepdim))
            for name in ("median", "nanmedian"):
                expected = registry.find(f"aten::{name}.dim").kernel(namespace, host, dim, keepdim)
                agree(tuple(getattr(x, name)(dim, keepdim)), expected)
    for name in ("median", "nanmedian"):
        agree(getattr(x, name)(), registry.find(f"aten::{name}").kernel(namespace, host))
    agree(x.msort(), sort._msort(namespace, host))


def test_tensors_in_another_order_and_of_16_bits():
    x = ts.from_numpy(numbers((6, 9), "float32"))
    values, indices = x.t().sort(0)
    assert np.array_equal(values.numpy(), sort._sort(namespace, x.numpy().T, 0)[0], equal_nan=True)
    assert values.stride() == (1, 9) and indices.stride() == (1, 9)
    assert ts.equal(x[:, ::2].nan_to_num().topk(2)[0], x[:, ::2].nan_to_num().contiguous().topk(2)[0])
    assert ts.tensor([3.0, 1.0, 2.0], dtype=ts.bfloat16).median().item() == 2


def test_only_nan_and_empty_rows():
    nothing = ts.tensor([math.nan, math.nan])
    assert math.isnan(nothing.median().item()) and math.isnan(nothing.nanmedian().item())
    assert nothing.nanmedian(0)[1].item() == 0
    assert math.isnan(ts.zeros(0).median().item())
    assert ts.zeros(3, 0).sort()[0].shape == (3, 0)
    assert ts.zeros(3, 4).topk(0)[1].shape == (3, 0)
    assert ts.tensor(2.0).sort()[1].item() == 0


@pytest.mark.parametrize("call", [lambda x: x.topk(5), lambda x: x.kthvalue(0), lambda x: x.kthvalue(5), lambda x: x.topk(-1)])
def test_out_of_range_arguments_raise(call):
    with pytest.raises(RuntimeError, match="out of range"):
        call(ts.zeros(2, 4))
    with pytest.raises(IndexError):
        ts.zeros(2, 4).sort(2)


def test_results_are_not_written_into_the_input():
    """`kthvalue(out=)` rejects outputs that overlap its input."""
    x = ts.arange(6.0).reshape(2, 3)
    with pytest.raises(RuntimeError, match="single memory location"):
        ts.kthvalue(x, 2, dim=0, out=(x[0], ts.zeros(3, dtype=ts.int64)))
    assert x.tolist() == [[0, 1, 2], [3, 4, 5]]


@pytest.mark.parametrize("largest", [False, True])
@pytest.mark.parametrize("length", [63, 64, 65, 255, 256, 257, 1000])
def test_first_extreme_of_long_rows(length, largest):
    """One element is selected by a search in float32 and by a heap in float64. Both select the first of equal elements."""
    r = np.random.default_rng(length)
    for x in (r.normal(size=(6, length)), r.integers(-2, 3, (6, length)), r.integers(0, 2, (6, length)) * -0.0):
        x = x.astype(np.float32)
        x[1, length // 2] = x[1, length // 3] = np.nan
        x[2, -1] = np.inf if largest else -np.inf
        values, indices = ts.topk(ts.from_numpy(x), 1, largest=largest)
        wide_values, wide_indices = ts.topk(ts.from_numpy(x).double(), 1, largest=largest)
        assert np.array_equal(values.double().numpy(), wide_values.numpy(), equal_nan=True)
        assert np.array_equal(np.signbit(values.numpy()), np.signbit(wide_values.numpy()))
        assert indices.tolist() == wide_indices.tolist()
