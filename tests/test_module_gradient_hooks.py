"""Gradient hooks of modules: arguments, changes and errors."""

import pytest

import ts
from ts import nn
from ts.nn.modules import module as everywhere


def linear():
    layer = nn.Linear(2, 2).double()
    with ts.no_grad():
        layer.weight.fill_(2)
        layer.bias.fill_(1)
    return layer


def ones():
    return ts.ones(1, 2, dtype=ts.float64, requires_grad=True)


def lists(gradients):
    return [None if g is None else g.tolist() for g in gradients]


class Several(nn.Module):
    def forward(self, a, n, b):
        return a * b, "text", a + n


def test_full_hooks_see_gradients_of_arguments_and_results():
    seen = []
    layer = linear()
    handle = layer.register_full_backward_hook(
        lambda module, grad_input, grad_output: seen.append((module is layer, lists(grad_input), lists(grad_output)))
    )
    x = ones()
    layer(x).sum().backward()
    assert seen == [(True, [[[4, 4]]], [[[1, 1]]])]
    assert x.grad.tolist() == [[4, 4]]
    handle.remove()
    assert layer(x).grad_fn.name() == "AddmmBackward0"


def test_full_hooks_change_gradients():
    layer = linear()
    layer.register_full_backward_hook(lambda module, grad_input, grad_output: (grad_input[0] * 10,))
    layer.register_full_backward_pre_hook(lambda module, grad_output: (grad_output[0] * 3,))
    x = ones()
    layer(x).sum().backward()
    assert x.grad.tolist() == [[120, 120]]
    assert layer.weight.grad.tolist() == [[3, 3], [3, 3]]
    layer.register_full_backward_hook(lambda module, grad_input, grad_output: (*grad_input, None))
    with pytest.raises(RuntimeError, match="invalid number of grad_input, got 2, but expected 1"):
        layer(x).sum().backward()


def test_none_for_non_tensors_and_missing_gradients():
    seen = []
    layer = Several()
    layer.register_full_backward_hook(lambda module, grad_input, grad_output: seen.append((lists(grad_input), lists(grad_output))))
    a = ts.tensor([2.0], requires_grad=True)
    _, _, last = layer(a, 3, ts.tensor([3.0]))
    last.sum().backward()
    assert seen == [([[1], None, [0]], [None, None, [1]])]


def test_hooks_without_input_gradients():
    seen = []
    layer = linear()
    layer.register_full_backward_hook(lambda module, grad_input, grad_output: seen.append((lists(grad_input), lists(grad_output))))
    with pytest.warns(UserWarning, match="Full backward hook is firing"):
        layer(ones().detach()).sum().backward()
    assert seen == [([None], [[[1, 1]]])]


def test_hooks_of_all_modules_come_first():
    seen = []
    handles = [
        everywhere.register_module_full_backward_hook(lambda module, *_: seen.append(type(module).__name__)),
        everywhere.register_module_full_backward_pre_hook(lambda module, _: seen.append("pre")),
    ]
    model = nn.Sequential(linear(), nn.ReLU())
    model[0].register_full_backward_hook(lambda *_: seen.append("own"))
    model(ones()).sum().backward()
    assert seen == ["pre", "pre", "ReLU", "pre", "Linear", "own", "Sequential"]
    with pytest.raises(RuntimeError, match="as a global Module hook"):
        everywhere.register_module_backward_hook(print)
    for handle in handles:
        handle.remove()
    seen.clear()
    model(ones()).sum().backward()
    assert seen == ["own"]


def test_legacy_backward_hooks():
    seen = []
    layer = linear()
    layer.register_backward_hook(lambda module, grad_input, grad_output: seen.append((len(grad_input), lists(grad_output))))
    with pytest.warns(FutureWarning, match="non-full backward hook"):
        layer(ones()).sum().backward()
    assert seen == [(3, [[[1, 1]]])]
    with pytest.raises(
        RuntimeError, match="Cannot use both regular backward hooks and full backward hooks on a single"
    ):
        layer.register_full_backward_hook(print)


def test_hooks_do_not_run_under_no_grad():
    layer = linear()
    layer.register_full_backward_hook(lambda *_: 1 / 0)
    with ts.no_grad():
        assert not layer(ones()).requires_grad
