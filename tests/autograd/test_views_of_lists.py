"""Results of operators on lists of tensors are views: writes to their bases reach them and their gradients."""

import pytest

import ts

MAKERS = {
    "broadcast_tensors": lambda a: ts.broadcast_tensors(a, ts.ones(2, 3))[0],
    "atleast_2d": lambda a: ts.atleast_2d(a),
    "atleast_3d": lambda a: ts.atleast_3d([a, ts.ones(2)])[0],
    "meshgrid": lambda a: ts.meshgrid(a, ts.ones(2), indexing="ij")[0],
}


@pytest.mark.parametrize("name", MAKERS)
def test_write_to_the_base(name):
    x = ts.ones(3, requires_grad=True)
    a = x * 1
    b = MAKERS[name](a)
    assert b._base is a
    a.mul_(3)
    (b * b).sum().backward()
    assert x.grad.tolist() == [18.0 * (b.numel() // 3)] * 3


@pytest.mark.parametrize("name", MAKERS)
def test_write_to_the_view(name):
    x = ts.ones(3, requires_grad=True)
    a = x * 1
    b = MAKERS[name](a)
    if b.numel() > 3:
        with pytest.raises(RuntimeError, match="more than one element of the written-to tensor refers to a single"):
            b.mul_(3)
        return
    b.mul_(3)
    (a * a).sum().backward()
    assert x.grad.tolist() == [18.0] * 3


@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (2, 3, 4), (1, 2, 3, 4)])
def test_atleast_with_gradients(n, shape):
    """The composition that autograd records has the result of the kernel."""
    function = getattr(ts, f"atleast_{n}d")
    x = ts.rand(shape)
    with_grad = x.clone().requires_grad_()
    assert ts.equal(function(x), function(with_grad))
    (result,) = function([with_grad])
    assert ts.equal(function(x), result)
    result.sum().backward()
    assert ts.equal(with_grad.grad, ts.ones(shape))


def test_error_of_incompatible_shapes():
    for requires_grad in (False, True):
        with pytest.raises(RuntimeError, match=r"size of tensor a \(3\) must match the size of tensor b \(2\)"):
            ts.broadcast_tensors(ts.ones(3, requires_grad=requires_grad), ts.ones(2))
