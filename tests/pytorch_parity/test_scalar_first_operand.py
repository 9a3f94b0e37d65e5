"""Operators with a number for a Tensor parameter while the other operand requires grad."""

import pytest

torch = pytest.importorskip("torch")

import ts  # noqa: E402

CALLS = {
    **{name: lambda t, x, name=name: getattr(t, name)(3.0, x) for name in "add sub mul div true_divide".split()},
    **{name: lambda t, x, name=name: getattr(t, name)(3, x) for name in "subtract multiply divide".split()},
    "alpha": lambda t, x: t.add(2, x, alpha=2),
    "rounded": lambda t, x: t.div(7, x, rounding_mode="floor"),
    "complex": lambda t, x: t.mul(2j, x).abs(),
}


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
@pytest.mark.parametrize("shape", [(), (2,)])
@pytest.mark.parametrize("name", CALLS)
def test_number_first(name, shape, dtype):
    def outcome(t):
        x = t.full(shape, 1.5, dtype=getattr(t, dtype), requires_grad=True)
        y = CALLS[name](t, x)
        (gradient,) = t.autograd.grad(y.sum(), x)
        return str(y.dtype), y.tolist(), str(gradient.dtype), gradient.tolist()

    assert outcome(ts) == outcome(torch)
