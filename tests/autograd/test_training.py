"""Long, concurrent and interrupted training: constant memory, correct results, usable state."""

import gc
import resource
import threading
import weakref

import pytest

import ts
from ts import nn


def leaf(*values):
    return ts.tensor(values, dtype=ts.float64, requires_grad=True)


class Double(ts.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        return grad * 2


def model(seed):
    ts.manual_seed(seed)
    return nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))


def train(net, steps):
    optimizer = ts.optim.SGD(net.parameters(), lr=0.1)
    x = ts.arange(32.0).reshape(8, 4) / 32
    for _ in range(steps):
        optimizer.zero_grad()
        loss = ((Double.apply(net(x)) - x.sum(1, keepdim=True)) ** 2).mean()
        loss.backward()
        optimizer.step()
    return loss.item()


def test_memory_stays_flat_without_the_collector():
    net = model(0)
    train(net, 200)
    gc.collect()
    gc.disable()
    try:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        train(net, 1_500)
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    finally:
        gc.enable()
    assert grown < 1_000  # KiB: less than one per step


def test_threads_train_models_of_their_own():
    expected = [train(model(i), 20) for i in range(4)]
    found = {}
    models = [model(i) for i in range(4)]
    threads = [threading.Thread(target=lambda i=i: found.update({i: train(models[i], 20)})) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == dict(enumerate(expected))


def test_interrupt_during_backward():
    x = leaf(1, 2)
    y = x * x

    def interrupt(gradient):
        raise KeyboardInterrupt

    handle = y.register_hook(interrupt)
    with pytest.raises(KeyboardInterrupt):
        y.sum().backward(retain_graph=True)
    handle.remove()
    assert ts.is_grad_enabled()
    y.sum().backward()
    assert x.grad.tolist() == [2, 4]


def test_backward_through_parts_of_a_graph():
    leaves = [leaf(1, 2) for _ in range(4)]
    middle = [x * i + x * x for i, x in enumerate(leaves)]
    loss = sum(v * i for i, v in enumerate(middle)).sum()
    parts = [g for k in (0, 2) for g in ts.autograd.grad(loss, middle[k : k + 2])]
    ts.autograd.backward(middle, parts)
    for i, x in enumerate(leaves):
        assert ts.equal(x.grad, i * (i + 2 * x.detach()))


def test_detach_in_place_makes_a_leaf_and_rejects_views():
    x = leaf(1, 2)
    y = x * 2
    z = (x + y).sum()
    y.detach_()
    assert y.is_leaf and not y.requires_grad
    z.backward()
    assert x.grad.tolist() == [3, 3]
    with pytest.raises(RuntimeError, match="Can't detach views in-place"):
        x[:1].detach_()


def test_leaf_changes_shape_between_passes():
    x = nn.Parameter(ts.ones(4))
    for n in (3, 2):
        with ts.no_grad():
            x.set_(x[1:])
        x.grad = None
        ts.cat((x, x)).sum().backward()
        assert x.grad.tolist() == [2] * n


def test_writes_to_no_grad_views_raise():
    x = leaf(1, 2)
    with ts.no_grad():
        plain, alias = x[:1], type("Alias", (Double,), {"forward": staticmethod(lambda ctx, x: x[:])}).apply(x)
    with pytest.raises(RuntimeError, match="A view was created in no_grad mode"):
        plain.zero_()
    with pytest.raises(RuntimeError, match="was created inside a custom Function"):
        alias.zero_()


def test_reference_cycles_through_hooks_are_collected():
    x = leaf(1, 2) * 1
    tensor_ref = weakref.ref(x)
    x.register_hook(lambda g, x=x: None)
    ts.autograd.graph.register_multi_grad_hook((x,), lambda g, x=x: None)
    del x
    gc.collect()
    assert tensor_ref() is None
