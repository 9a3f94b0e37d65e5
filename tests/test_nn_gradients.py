"""`nn.grad`, and errors of paddings, windows and recurrent cells before any computation."""

import re

import pytest

import ts
from ts import nn
from ts.nn import functional as F
from ts.testing import assert_close


@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("options", [{}, {"stride": 2, "padding": 1}, {"dilation": 2, "groups": 2}])
def test_gradients_of_convolutions_by_themselves(n, options):
    x = ts.randn(2, 4, *[7] * n, dtype=ts.float64).requires_grad_()
    w = ts.randn(6, 4 // options.get("groups", 1), *[3] * n, dtype=ts.float64).requires_grad_()
    y = getattr(F, f"conv{n}d")(x, w, **options)
    g = ts.randn_like(y)
    y.backward(g)
    assert F.grad is nn.grad
    assert_close(getattr(nn.grad, f"conv{n}d_input")(x.shape, w, g, **options), x.grad)
    assert_close(getattr(nn.grad, f"conv{n}d_weight")(x, w.shape, g, **options), w.grad)


@pytest.mark.parametrize(
    ("module", "n"),
    [
        (nn.ReflectionPad1d(2), 1), (nn.ReflectionPad2d(2), 2), (nn.ReflectionPad3d(2), 3),
        (nn.ReplicationPad1d(2), 1), (nn.ReplicationPad2d(2), 2), (nn.ReplicationPad3d(2), 3),
        (nn.Unfold(3), 2),
    ],
)  # fmt: skip
def test_planes_without_elements_are_rejected_but_no_examples_are_fine(module, n):
    assert module(ts.ones(0, 2, *[5] * n)).shape[0] == 0
    text = f"Expected {n + 1}D or {n + 2}D (batch mode) tensor with possibly 0 batch size and other non-zero"
    for shape in ([2, 0, *[5] * n], [0, *[5] * n]):
        with pytest.raises(RuntimeError, match=re.escape(f"{text} dimensions for input, but got: {shape}")):
            module(ts.ones(*shape))


def test_fractional_pools_require_one_number_per_dimension():
    x = ts.ones(2, 7, 7, 7)
    for size in [(), (1,), (1, 1)]:
        with pytest.raises(
            RuntimeError, match="kernel_size must either be a single Int or tuple of three Ints"
        ):
            F.fractional_max_pool3d(x, size, output_size=(3, 3, 3))
        with pytest.raises(
            RuntimeError, match="output_size must either be a single Int or tuple of three Ints"
        ):
            F.fractional_max_pool3d(x, 2, output_size=size)


def test_cells_reject_invalid_hidden_sizes():
    cell = nn.LSTMCell(10, 20)
    with pytest.raises(RuntimeError, match="hidden1 has inconsistent hidden_size: got 1, expected 20"):
        cell(ts.ones(3, 10), (ts.ones(3, 20), ts.ones(3, 1)))


def test_invalid_results_of_module_backward_hooks_raise():
    module = nn.Sigmoid()

    def shorter(module, inputs, outputs):
        return inputs[:-1]

    module.register_backward_hook(shorter)
    text = r"hook 'shorter' has returned an incorrect number of values \(got 0, but expected 1\)"
    with pytest.raises(RuntimeError, match=text):
        module(ts.ones(2, requires_grad=True)).sum().backward()
