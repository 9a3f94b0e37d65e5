"""Checkpoints: gradients and random numbers of the plain run, reduced memory, and errors for different
recomputation."""

import gc
import weakref

import pytest

import ts
from ts import nn
from ts.utils.checkpoint import CheckpointError, checkpoint, checkpoint_sequential, set_checkpoint_early_stop


def leaf(*values):
    return ts.tensor(values, dtype=ts.float64, requires_grad=True)


def net():
    ts.manual_seed(3)
    return nn.Sequential(
        nn.Linear(3, 4), nn.ReLU(), nn.Dropout(0.5), nn.Linear(4, 4), nn.Sigmoid(), nn.Linear(4, 2)
    )


def gradients(run, model):
    """Return the result and the gradients of input and parameters."""
    model.zero_grad()
    x = ts.ones(2, 3, requires_grad=True)
    ts.manual_seed(1)
    y = run(x)
    y.sum().backward()
    return [y, x.grad, *(p.grad for p in model.parameters())]


@pytest.mark.parametrize("reentrant", [False, True])
def test_results_and_gradients_equal_the_plain_run(reentrant):
    model = net()
    plain = gradients(model, model)
    for run in (
        lambda x: checkpoint(model, x, use_reentrant=reentrant),
        lambda x: checkpoint_sequential(model, 3, x, use_reentrant=reentrant),
    ):
        assert all(ts.equal(a, b) for a, b in zip(plain, gradients(run, model), strict=True))


def test_intermediate_tensors_are_released():
    saved = []

    def block(x):
        y = x * 1
        saved.append(weakref.ref(y))
        return (y * y).exp()

    x = leaf(1, 2)
    z = checkpoint(block, x, use_reentrant=False)
    gc.collect()
    assert saved[0]() is None
    z.sum().backward()
    gc.collect()
    assert [r() for r in saved] == [None, None]


def test_recomputation_stops_early():
    runs = []

    def block(x):
        y = (x * x).exp()
        runs.append(y)
        return y + 1

    x = leaf(1, 2)
    checkpoint(block, x, use_reentrant=False).sum().backward()
    assert len(runs) == 1
    with set_checkpoint_early_stop(False):
        y = checkpoint(block, x, use_reentrant=False)
    y.sum().backward()
    assert len(runs) == 3


def test_checkpoints_in_checkpoints_second_passes_and_second_derivatives():
    def block(x):
        return (x * x).sin()

    x = leaf(1, 2)
    y = checkpoint(lambda x: checkpoint(block, block(x), use_reentrant=False), x, use_reentrant=False)
    (first,) = ts.autograd.grad(y.sum(), x, create_graph=True)
    (again,) = ts.autograd.grad(y.sum(), x, retain_graph=True)
    (second,) = ts.autograd.grad(first.sum(), x)
    plain = block(block(x))
    (expected,) = ts.autograd.grad(plain.sum(), x, create_graph=True)
    assert ts.equal(first, expected) and ts.equal(first, again)
    assert ts.allclose(second, ts.autograd.grad(expected.sum(), x)[0])


def test_different_recomputation_raises():
    calls = []

    def other_count(x):
        calls.append(1)
        return (x * x).exp() if len(calls) % 2 else x * 2

    x = leaf(1, 2)
    with pytest.raises(
        CheckpointError, match="A different number of tensors was saved during the original forward"
    ):
        checkpoint(other_count, x, use_reentrant=False).sum().backward()
    calls.clear()

    def other_shape(x):
        calls.append(1)
        return (x if len(calls) % 2 else x[:1]).exp()

    with pytest.raises(CheckpointError, match="have different metadata than during the forward pass"):
        checkpoint(other_shape, x, use_reentrant=False).sum().backward()


def test_arguments():
    x = leaf(1, 2)
    checkpoint(lambda x, k: x * k, x, k=3, use_reentrant=False).sum().backward()
    assert x.grad.tolist() == [3, 3]
    with pytest.raises(ValueError, match="Unexpected keyword arguments: k"):
        checkpoint(lambda x, k: x * k, x, k=3, use_reentrant=True)
    with pytest.warns(UserWarning, match="use_reentrant parameter should be passed explicitly"):
        y = checkpoint(lambda x: x * x, x)
    with pytest.raises(RuntimeError, match="is incompatible with"):
        ts.autograd.grad(y.sum(), x)
    with ts.no_grad():
        assert not checkpoint(lambda x: x * x, x, use_reentrant=False).requires_grad


def test_debug_lists_the_operators_of_both_runs():
    runs = []

    def block(x):
        runs.append(1)
        y = x.sin().exp()
        return y.cos() if len(runs) == 1 else y

    y = checkpoint(block, leaf(1.0), use_reentrant=False, debug=True)
    with pytest.raises(CheckpointError) as caught:
        y.sum().backward()
    text = str(caught.value)
    assert "Operators that ran in the original forward:\n    aten::sin\n    aten::exp\n    aten::cos" in text
    assert text.endswith("Operators that ran in the recomputation:\n    aten::sin\n    aten::exp")
    runs.append(1)
    x = leaf(1.0)
    checkpoint(block, x, use_reentrant=False, debug=True).sum().backward()
    assert x.grad.item() == pytest.approx((x.sin().exp() * x.cos()).item())


def test_validity_of_reentrant_checkpoints():
    """`is_checkpoint_valid` is True outside of backward and in passes that reach all leaves."""
    seen = []

    class Copy(ts.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, grad):
            seen.append(ts.autograd._is_checkpoint_valid())
            return grad

    x = ts.ones(2, requires_grad=True)
    assert ts.autograd._is_checkpoint_valid()
    Copy.apply(x).sum().backward()
    ts.autograd.grad(Copy.apply(x).sum(), x)
    Copy.apply(x).sum().backward(inputs=[x])
    assert seen == [True, False, False]
