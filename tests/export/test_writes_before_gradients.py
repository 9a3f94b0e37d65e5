"""Writes to tensors that a gradient needs, inside of programs, are rejected as in eager mode (versions)."""

import pytest

import ts
from ts.export import export

pytest.importorskip("sympy")


def gradient(y, x):
    return ts.autograd.grad(y.sum(), x)[0].detach()


def result(x):
    y = x.exp()
    y.detach().zero_()
    return gradient(y, x)


def other_argument(x):
    w = ts.ones(3)
    y = x * w
    w.mul_(5)
    return gradient(y, x)


def part_of_it(x):
    w = ts.ones(3)
    y = x[:2] * w[:2]
    w[2] = 4.0
    return gradient(y, x)


def view(x):
    y = x.tanh()
    y.detach()[1:].add_(1)
    return gradient(y, x)


def without_gradients(x):
    y = x * 2
    z = y.sin()
    with ts.no_grad():
        y.mul_(2)
    return gradient(z, x)


def composed(x):
    w = ts.ones(3, 3)
    y = ts.nn.functional.linear(x, w)
    w.zero_()
    return gradient(y, x)


def index(x):
    i = ts.tensor([0, 1])
    y = x[i]
    i.zero_()
    return gradient(y, x)


def second(x):
    y = x.exp()
    (first,) = ts.autograd.grad(y.sum(), x, create_graph=True)
    y.detach().zero_()
    return gradient(first, x)


def of_a_function(x):
    def f(x):
        y = x.exp()
        y.detach().zero_()
        return y.sum()

    return ts.func.grad(f)(x)


def backward(x):
    y = x.exp()
    y.detach().zero_()
    y.sum().backward()
    return x.grad


def argument_of_sin(x):
    y = x.sin()
    y.detach().zero_()
    return gradient(y, x)


def argument_of_exp(x):
    y = x * 2
    z = y.exp()
    with ts.no_grad():
        y.mul_(2)
    return gradient(z, x)


def added(x):
    w = ts.ones(3)
    y = x + w
    w.mul_(5)
    return gradient(y, x)


def before(x):
    w = ts.ones(3)
    w.mul_(5)
    return gradient(x * w, x)


def afterwards(x):
    y = x.sigmoid()
    found = gradient(y, x)
    y.detach().zero_()
    return found


def data(x):
    y = x.exp()
    y.data.zero_()  # does not increase the version counter in eager mode
    return gradient(y, x)


def detached_in_place(x):
    w = ts.ones(3) * 2
    y = x * w
    w.detach_()
    return gradient(y, x)


class Program(ts.nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x):
        return self.function(x.detach().requires_grad_())


X = ts.tensor([0.5, 1.5, -2.0])


@pytest.mark.parametrize(
    "function",
    [
        result, other_argument, part_of_it, view, without_gradients, composed, index, second, of_a_function,
        backward,
    ],
)  # fmt: skip
def test_rejected(function):
    """A write to a tensor needed for backward raises the error of eager mode."""
    message = "needed for gradient computation has been modified by an inplace operation"
    with pytest.raises(RuntimeError, match=message):
        Program(function)(X)
    with pytest.raises(RuntimeError, match=message):
        export(Program(function), (X,))


@pytest.mark.parametrize(
    "function",
    [argument_of_sin, argument_of_exp, added, before, afterwards, data, detached_in_place],
)
def test_writes_to_tensors_not_needed_for_backward(function):
    """Writes to tensors not needed for backward equal eager mode, also decomposed."""
    program = export(Program(function), (X,))
    for variant in (program, program.run_decompositions()):
        ts.testing.assert_close(variant.module()(X), Program(function)(X))
