"""In-place activation functions have the results and gradients of the functions that return new tensors."""

import pytest

import ts

ACTIVATIONS = {
    "silu": (), "leaky_relu": (0.3,), "elu": (1.5,), "celu": (1.5,), "selu": (), "hardtanh": (-0.5, 0.7), "relu6": (),
    "threshold": (0.1, 20.0),
}  # fmt: skip
LAYOUTS = {
    "contiguous": lambda: ts.randn(5, 300), "transposed": lambda: ts.randn(300, 5).t(), "strided": lambda: ts.randn(10, 300)[::2],
    "empty": lambda: ts.randn(0, 3), "number": lambda: ts.randn(()),
}  # fmt: skip


def pair(name):
    return getattr(ts.ops.aten, name), getattr(ts.ops.aten, name + "_")


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", [ts.float32, ts.float64, ts.float16, ts.bfloat16])
@pytest.mark.parametrize("name", ACTIVATIONS)
def test_results(name, dtype, layout):
    """The result is the argument, its version increases by one, and views see the write."""
    new, inplace = pair(name)
    x = LAYOUTS[layout]().to(dtype)
    expected, view, version = new(x, *ACTIVATIONS[name]), x.view_as(x), x._version
    assert inplace(x, *ACTIVATIONS[name]) is x
    assert x.equal(expected) and view.equal(expected) and x._version == version + 1


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_gradients(name):
    new, inplace = pair(name)
    x = ts.randn(50, dtype=ts.float64, requires_grad=True)
    (expected,) = ts.autograd.grad(new(x * 1, *ACTIVATIONS[name]).sum(), x)
    (actual,) = ts.autograd.grad(inplace(x * 1, *ACTIVATIONS[name]).sum(), x)
    assert ts.allclose(actual, expected, rtol=1e-12)
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        inplace(x, *ACTIVATIONS[name])


def test_read_only_memory_and_expanded_tensors_are_rejected():
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor refers to a single memory"):
        ts.ops.aten.silu_(ts.ones(1).expand(4))


def test_slopes_of_half_floats_are_not_rounded():
    """leaky_relu multiplies 16-bit floats by the slope in float32."""
    x = ts.arange(-2000.0, 0).to(ts.float16)
    expected = (x.float() * 0.3).to(ts.float16)
    assert ts.nn.functional.leaky_relu(x, 0.3).equal(expected)
    assert ts.nn.functional.leaky_relu(x[::2], 0.3).equal(expected[::2])
    assert ts.nn.functional.leaky_relu(x, 0.3, inplace=True).equal(expected)


def test_limits_of_16_bit_floats():
    """threshold compares with a float32 limit, hardshrink with a limit of the dtype."""
    x = ts.tensor([0.1, 0.05, 0.2], dtype=ts.bfloat16)  # 0.1 is rounded up to 0.10009765625
    for rows in (x, ts.stack((x, x), 1)[:, 0]):
        assert ts.nn.functional.threshold(rows, 0.1, 20.0).equal(ts.tensor([0.1, 20.0, 0.2], dtype=ts.bfloat16))
        assert ts.nn.functional.hardshrink(rows, 0.1).equal(ts.tensor([0.0, 0.0, 0.2], dtype=ts.bfloat16))
