"""Tensor methods, hooks and contexts that raise errors inside of function transforms."""

import pytest

import ts
from ts.func import grad, jvp, vjp, vmap

TRANSFORMS = {
    "vmap": lambda f: vmap(lambda x: (f(x), x)[1])(ts.ones(2, 3)),
    "grad": lambda f: grad(lambda x: (f(x), x.sum())[1])(ts.ones(3)),
    "vjp": lambda f: vjp(lambda x: (f(x), x.sum())[1], ts.ones(3)),
    "jvp": lambda f: jvp(lambda x: (f(x), x.sum())[1], (ts.ones(3),), (ts.ones(3),)),
}


@pytest.mark.parametrize("name", TRANSFORMS)
def test_grad_and_requires_grad_inside_of_transforms(name):
    """`backward`, `requires_grad_` and `retain_grad` raise errors; new tensors may require grad."""
    w = ts.ones(3, requires_grad=True)
    run = TRANSFORMS[name]
    with pytest.raises(RuntimeError, match=r"^backward\(\) called inside a functorch transform"):
        run(lambda x: (w * 2).sum().backward())
    for called in ("requires_grad_", "retain_grad"):
        with pytest.raises(RuntimeError, match=rf"^You are attempting to call Tensor.{called}\(\)"):
            run(lambda x, called=called: getattr(x, called)())
    run(lambda x: ts.ones(2, requires_grad=True))
    assert w.grad is None
    ts.ones(2).requires_grad_()  # after the transform, gradients work again
    (w * 2).sum().backward()
    assert w.grad.tolist() == [2, 2, 2]


def test_context_exited_twice():
    """A second exit of a context restores the grad mode again, and has no other effect."""
    for block in (ts.no_grad(), ts.inference_mode()):
        block.__enter__()
        for _ in range(2):
            block.__exit__(None, None, None)
            assert ts.is_grad_enabled()


def _back(register, given):
    x = ts.ones(3, dtype=ts.float64, requires_grad=True)
    y = x.sin()
    register(y)(lambda *gradients: given)
    y.sum().backward()
    return x.grad


@pytest.mark.parametrize("name", ["register_hook", "register_prehook"])
def test_node_hooks_return_tuples(name):
    """Node hooks must return a tuple of tensors with the gradients' number, dtypes and shapes."""

    def register(y):
        return getattr(y.grad_fn, name)

    for given, kind, text in (
        ("a", TypeError, "expected tuple, but hook returned 'str'"),
        (ts.ones(3), TypeError, "expected tuple, but hook returned 'Tensor'"),
        (("a",), TypeError, "expected Variable, but hook returned 'str'"),
        ((), RuntimeError, "got 0, but expected 1"),
        ((ts.ones(3),), RuntimeError, "changed the type of value"),
        ((ts.ones(2, dtype=ts.float64),), RuntimeError, "changed the size of value"),
    ):
        with pytest.raises(kind, match=text):
            _back(register, given)
    assert _back(register, (ts.zeros(3, dtype=ts.float64),)).tolist() == [0, 0, 0]


def test_unpacked_tensors_must_support_gradients():
    """An unpack hook must return a tensor that can require gradients if the saved tensor requires them."""
    x = ts.ones(3, requires_grad=True)
    with ts.autograd.graph.saved_tensors_hooks(lambda y: y, lambda y: y.long()):
        y = x.sin()
    with pytest.raises(RuntimeError, match="floating point and complex dtype can require gradients"):
        y.sum().backward()


def test_gradgradcheck_without_gradients_raises():
    """`gradgradcheck` raises ValueError for a function without gradients."""
    with pytest.raises(ValueError, match="at least one output that requires gradient"):
        ts.autograd.gradgradcheck(lambda x: x.detach(), (ts.ones(2, dtype=ts.float64, requires_grad=True),))


@pytest.mark.parametrize("upper", [False, True])
def test_cholesky_inverse_reads_one_triangle(upper):
    """`cholesky_inverse` and its gradient read one triangle only."""
    x = (ts.arange(9, dtype=ts.float64).sin() + 3 * ts.eye(3, dtype=ts.float64).reshape(9)).reshape(3, 3)
    one = x.triu() if upper else x.tril()
    assert ts.allclose(ts.cholesky_inverse(x, upper), ts.cholesky_inverse(one, upper))
    assert ts.autograd.gradcheck(lambda y: ts.cholesky_inverse(y, upper), (x.requires_grad_(),))
    assert ts.autograd.gradgradcheck(lambda y: ts.cholesky_inverse(y, upper), (x,))


def test_repr_of_batched_tensors():
    """The `repr` of a batched tensor contains its level and the whole batch; unbatched tensors are printed
    plainly."""
    seen = []

    def inner(y):
        seen.append(repr(y))
        return y

    def outer(x):
        seen.append(repr(x))
        return vmap(inner)(x)

    vmap(outer)(ts.ones(1, 2))
    assert seen[0] == "BatchedTensor(lvl=1, bdim=0, value=\n    tensor([[1., 1.]])\n)"
    assert seen[1] == (
        "BatchedTensor(lvl=2, bdim=0, value=\n    BatchedTensor(lvl=1, bdim=0, value=\n"
        "        tensor([[1., 1.]])\n    )\n)"
    )
    vmap(lambda x: (seen.append(repr(ts.ones(2))), x)[1])(ts.ones(2))
    assert seen[2] == "tensor([1., 1.])"
