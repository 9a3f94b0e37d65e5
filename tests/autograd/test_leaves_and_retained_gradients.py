"""In-place writes to leaves that are views, and to tensors that retain their gradients."""

import numpy as np
import pytest

import ts

VIEW = r"^a view of a leaf Variable that requires grad is being used in an in-place operation\."
LEAVES = {
    "reshape": lambda: ts.arange(3.0).reshape(3).requires_grad_(),
    "slice": lambda: ts.arange(4.0)[:3].requires_grad_(),
    "transpose": lambda: ts.ones(1, 3).t().requires_grad_(),
}
WRITES = {
    "add_": lambda p: p.add_(1),
    "zero_": lambda p: p.zero_(),
    "item": lambda p: p.__setitem__(0, 1.0),
    "part": lambda p: p[0].add_(1),
    "view": lambda p: p.view(-1).mul_(2),
}


@pytest.mark.parametrize("name", LEAVES)
@pytest.mark.parametrize("write", WRITES)
def test_a_leaf_that_is_a_view_cannot_be_written(name, write):
    p = LEAVES[name]()
    with pytest.raises(RuntimeError, match=VIEW):
        WRITES[write](p)
    assert p.is_leaf
    p.sum().backward()
    assert p.grad.tolist() == ts.ones_like(p).tolist()
    with ts.no_grad():
        WRITES[write](p)


def test_views_of_tensors_without_gradients_can_be_written():
    base, w = ts.zeros(3), ts.ones(2, requires_grad=True)
    part = base[:2]
    part.mul_(w)
    part.add_(w)
    base.sum().backward()
    assert w.grad.tolist() == [1, 1]


def test_retained_gradient_after_a_write():
    x = ts.ones(3, requires_grad=True)
    y = x * 2
    y.retain_grad()
    y.mul_(3)
    y.mul_(4)
    y.sum().backward()
    assert y.grad.tolist() == [1, 1, 1]
    assert x.grad.tolist() == [24, 24, 24]


def test_hooks_belong_to_their_node():
    x = ts.ones(3, requires_grad=True)
    y = x * 2
    seen = []
    y.register_hook(lambda g: seen.append(g.tolist()))
    y.retain_grad()
    y.mul_(3)
    y.register_hook(lambda g: seen.append(g.tolist()))
    y.sum().backward()
    assert sorted(seen) == [[1, 1, 1], [3, 3, 3]]
    assert y.grad.tolist() == [1, 1, 1]


def test_retained_gradients_of_views_and_bases():
    x = ts.ones(3, requires_grad=True)
    y = x * 2
    part = y[:2]
    y.retain_grad()
    part.retain_grad()
    part.mul_(3)
    (y.sum() + part.sum()).backward()
    assert y.grad.tolist() == [2, 2, 1]
    assert part.grad.tolist() == [1, 1]
    assert x.grad.tolist() == [12, 12, 2]


def test_arrays_where_no_gradient_is_recorded():
    w = ts.ones(2, requires_grad=True)
    for block in (ts.no_grad, ts.inference_mode):
        with block():
            assert w.numpy().tolist() == np.asarray(w).tolist() == [1, 1]
    with pytest.raises(RuntimeError, match=r"^Can't call numpy\(\) on Tensor that requires grad"):
        w.numpy()
    with ts.no_grad(), pytest.raises(BufferError, match=r"^Can.t export tensors that require gradient"):
        w.__dlpack__()

    class Tripled(ts.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return ts.from_numpy(x.numpy() * 3)

        @staticmethod
        def backward(ctx, g):
            return g * 3

    Tripled.apply(w).sum().backward()
    assert w.grad.tolist() == [3, 3]
