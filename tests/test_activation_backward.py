"""Backward kernels of activations, and `lerp` by a tensor, equal the records' formulas."""

import numpy as np
import pytest

import ts
from ts.ops import registry

SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 3.0, -3.0, 20.0, -20.0, np.inf, -np.inf, np.nan, 1e-42]
BACKWARD_ARGUMENTS = {  # operator: arguments after the two tensors
    "sigmoid_backward": (),
    "tanh_backward": (),
    "threshold_backward": (0.5,),
    "hardtanh_backward": (-1, 0.5),
    "leaky_relu_backward": (0.1, False),
    "softshrink_backward": (0.5,),
    "hardshrink_backward": (0.5,),
    "hardsigmoid_backward": (),
    "hardswish_backward": (),
}
MAX_FACTOR = {  # bounds of the terms that are multiplied by the gradient, for formulas with cancelling terms
    "sigmoid_backward": lambda x: 1 + x**2,
    "tanh_backward": lambda x: 1 + x**2,
    "hardswish_backward": lambda x: 1 + np.abs(x),
}


def record_gradient(name, grad, x):
    """Return the gradient computed by the kernel of the operator's record."""
    record = next(op.record for op in registry.lookup(f"aten::{name}") if not op.overload)
    with np.errstate(all="ignore"):
        return record.kernel(np, grad, x, *BACKWARD_ARGUMENTS[name])


def pairs(dtype):
    """Return all pairs of special numbers and random numbers, longer than several vectors."""
    g, x = np.meshgrid(SPECIAL, SPECIAL)
    random_values = np.random.default_rng(0).standard_normal((2, 1000)) * 3
    combined = (np.concatenate([a.ravel(), b]) for a, b in zip((g, x), random_values, strict=True))
    return [ts.from_numpy(a).to(dtype) for a in combined]


def assert_accurate(actual, name, g, x):
    """Compare a gradient with the operator's record, computed in extended precision from the same arguments.

    A product with a following sum may be one instruction (fused multiply-add) at some SIMD levels and two at
    others: the tolerance is two units in the last place of the largest term, and larger where terms of a
    formula cancel (`MAX_FACTOR`).
    """
    expected = record_gradient(name, *(t.numpy().astype(np.longdouble) for t in (g, x)))
    assert actual.dtype == g.numpy().dtype
    with np.errstate(all="ignore"):
        rounded = expected.astype(actual.dtype)
        terms = np.abs(g.numpy() * MAX_FACTOR[name](x.numpy())) if name in MAX_FACTOR else np.abs(rounded)
    finite = np.isfinite(rounded)
    assert np.array_equal(actual[~finite], rounded[~finite], equal_nan=True)
    error = np.abs(actual[finite] - expected[finite])
    with np.errstate(all="ignore"):  # an infinite gradient times 0
        assert ((error == 0) | (error <= 2 * np.spacing(terms[finite].astype(actual.dtype)))).all()


@pytest.mark.parametrize("name", BACKWARD_ARGUMENTS)
@pytest.mark.parametrize("dtype", [ts.float32, ts.float64], ids=str)
def test_kernels_equal_the_record(name, dtype):
    g, x = pairs(dtype)
    assert_accurate(getattr(ts.ops.aten, name)(g, x, *BACKWARD_ARGUMENTS[name]).numpy(), name, g, x)


@pytest.mark.parametrize("name", BACKWARD_ARGUMENTS)
def test_other_layouts_and_dtypes(name):
    """Strided, channels-last and 16-bit arguments have the gradients of contiguous float32 arguments."""
    ts.manual_seed(0)  # rounding moves no argument across a kink
    g, x = (ts.randn(2, 3, 4, 5) * 3 for _ in range(2))
    op = getattr(ts.ops.aten, name)
    last = [t.contiguous(memory_format=ts.channels_last) for t in (g, x)]
    result = op(*last, *BACKWARD_ARGUMENTS[name])
    assert result.stride() == last[0].stride()
    assert_accurate(result.numpy(), name, g, x)
    wide = [ts.zeros(2, 3, 4, 10)[..., ::2].copy_(t) for t in (g, x)]
    assert_accurate(op(*wide, *BACKWARD_ARGUMENTS[name]).numpy(), name, g, x)
    half = op(g.half(), x.half(), *BACKWARD_ARGUMENTS[name])
    assert half.dtype == ts.float16 and np.allclose(half.float().numpy(), record_gradient(name, g.numpy(), x.numpy()), atol=0.05, rtol=0.01)


def test_leaky_relu_backward_of_the_result():
    """`leaky_relu_backward` with `self_is_result` rejects a negative slope: the input's sign is unknown."""
    g, x = ts.ones(3), ts.tensor([-1.0, 0.0, 2.0])
    assert ts.ops.aten.leaky_relu_backward(g, x, 0.5, True).tolist() == [0.5, 0.5, 1.0]
    with pytest.raises(RuntimeError, match="negative slope"):
        ts.ops.aten.leaky_relu_backward(g, x, -0.5, True)


@pytest.mark.parametrize("dtype", [ts.float32, ts.float64], ids=str)
def test_lerp_by_a_tensor(dtype):
    x, w = pairs(dtype)
    y = ts.flip(x, [0])
    record = next(op.record for op in registry.lookup("aten::lerp") if op.overload == "Tensor")
    with np.errstate(all="ignore"):
        expected = record.kernel(np, x.numpy(), y.numpy(), w.numpy())
    actual = ts.lerp(x, y, w).numpy()
    assert np.array_equal(np.isnan(actual), np.isnan(expected)) and actual.dtype == expected.dtype
    finite = np.isfinite(expected)
    assert np.array_equal(actual[~finite], expected[~finite], equal_nan=True)
    with np.errstate(all="ignore"):
        size = (np.abs(x.numpy()) + np.abs(y.numpy())) * (1 + np.abs(w.numpy()))
    error = np.abs(actual[finite] - expected[finite])
    assert (error <= 8 * np.finfo(expected.dtype).eps * size[finite]).all()
    assert ts.lerp(ts.zeros(2), ts.ones(2), ts.tensor(0.25)).tolist() == [0.25, 0.25]


FORWARD = {
    "leaky_relu": (0.1,), "relu": (), "relu6": (), "hardtanh": (-1.0, 0.5), "softshrink": (0.5,), "hardshrink": (0.5,),
    "threshold": (0.5, 7.0), "hardsigmoid": (), "hardswish": (), "elu": (0.7,),
}  # fmt: skip


@pytest.mark.parametrize("name", FORWARD)
@pytest.mark.parametrize("dtype", [ts.float32, ts.float64], ids=str)
def test_long_rows_have_the_bits_of_single_elements(name, dtype):
    """Activations have equal bits for vectors and single elements, independent of length and position."""
    function = getattr(ts.nn.functional, name)
    x = pairs(dtype)[1]
    result = function(x, *FORWARD[name]).numpy()
    single_results = np.array([function(x[i : i + 1], *FORWARD[name]).item() for i in range(x.numel())], result.dtype)
    assert np.array_equal(result, single_results, equal_nan=True)
    assert np.array_equal(np.signbit(result[result == 0]), np.signbit(single_results[single_results == 0]))
