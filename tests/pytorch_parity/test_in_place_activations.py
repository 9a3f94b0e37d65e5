"""Gradients of in-place activations, which use the result only; PyTorch rejects negative slopes."""

import pytest

torch = pytest.importorskip("torch")

import ts  # noqa: E402

CALLS = [
    *[(name, args) for name in ("elu_", "celu_") for args in ((), (2.0,), (-1.0,))],
    *[("leaky_relu_", args) for args in ((), (0.5,), (0.0,), (-0.5,))],
    ("selu_", ()),
    *[("rrelu_", args) for args in ((), (-1.0, 0.2), (0.3, 0.3, True), (-0.3, -0.3, True), (0.1, 0.9, True))],
    *[("rrelu", args) for args in ((), (-1.0, 0.2), (0.1, 0.9, True))],
]


def outcome(library, name, args):
    """Return the first and second derivatives, the node, and the directional derivative of deterministic
    functions, or the error."""
    library.manual_seed(0)
    function = getattr(library.nn.functional, name)
    x = library.tensor([-1.5, -0.3, 0.0, 0.7, 2.0], dtype=library.float64, requires_grad=True)
    y = function(x.clone(), *args)
    try:
        (first,) = library.autograd.grad(y, x, library.full_like(y, 1.5), create_graph=True)
    except RuntimeError as error:
        return str(error)
    second = library.autograd.grad(first.sum(), x)[0] if first.requires_grad else library.zeros_like(x)
    found = [first.tolist(), second.tolist()]
    if "rrelu" not in name:
        tangent = library.func.jvp(lambda z: function(z.clone(), *args), (x.detach(),), (library.ones_like(x),))
        found.append(tangent[1].tolist())
    return y.grad_fn.name(), [[round(number, 12) for number in numbers] for numbers in found]


@pytest.mark.parametrize("name, args", CALLS)
def test_gradients(name, args):
    assert outcome(ts, name, args) == outcome(torch, name, args)


def test_node_names_in_errors():
    """The name of a backward node in errors keeps its number, except 0."""

    def message(library):
        x = library.ones(3, requires_grad=True)
        y = library.nn.functional.elu_(x * 2)
        y.add_(1)
        with pytest.raises(RuntimeError) as error:
            y.sum().backward()
        return str(error.value)

    assert "output 0 of Elu1, is" in message(ts)
    assert message(ts) == message(torch)


@pytest.mark.parametrize("training", [False, True])
def test_written_argument_is_saved_after_the_write(training):
    """The gradient of `rrelu_with_noise` uses the slopes that were drawn and written to `noise`."""
    x = ts.full((3,), -1.0, requires_grad=True)
    slopes = ts.zeros(3)
    ts.ops.aten.rrelu_with_noise(x, slopes, 0.1, 0.9, training).sum().backward()
    assert x.grad.tolist() == (slopes.tolist() if training else [0.5] * 3)
