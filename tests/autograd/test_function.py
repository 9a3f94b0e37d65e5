"""Custom autograd functions: results, saved tensors and errors."""

import gc
import re
import weakref

import pytest

import ts
from tests.autograd.in_place_functions import InPlaceDouble
from ts.autograd import Function
from ts.autograd.function import once_differentiable


def leaf(*values):
    return ts.tensor(values, dtype=ts.float64, requires_grad=True)


class Cube(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * 3 * x**2


class Twice(Function):
    """Doubles its input in place."""

    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.mul_(2)

    @staticmethod
    def backward(ctx, grad):
        return grad * 2


def function(forward, backward=lambda ctx, grad: grad):
    return type("Made", (Function,), {"forward": staticmethod(forward), "backward": staticmethod(backward)})


def test_ctx_is_the_node():
    x = leaf(1, 2)
    y = Cube.apply(x)
    assert y.grad_fn.name() == type(y.grad_fn).__name__ == "CubeBackward"
    assert y.grad_fn.saved_tensors[0] is x
    assert y.grad_fn.needs_input_grad == (True,)
    assert [node.name() for node, _ in y.grad_fn.next_functions] == ["AccumulateGrad"]
    y.sum().backward()
    assert x.grad.tolist() == [3, 12]
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        y.sum().backward()


def test_backward_is_differentiated_again():
    x = leaf(1, 2)
    (first,) = ts.autograd.grad(Cube.apply(x).sum(), x, create_graph=True)
    (second,) = ts.autograd.grad(first.sum(), x)
    assert second.tolist() == [6, 12]


def test_saved_result_has_its_node():
    exp = function(
        lambda ctx, x: ctx.save_for_backward(y := x.exp()) or y,
        lambda ctx, grad: grad * ctx.saved_tensors[0],
    )
    x = leaf(0)
    value = exp.apply(x)
    for _ in range(3):
        (value,) = ts.autograd.grad(value, x, create_graph=True)
    assert value.item() == 1
    y = exp.apply(x)
    node_ref = weakref.ref(y.grad_fn)
    del y
    assert node_ref() is None


def test_non_tensor_arguments_have_no_gradient():
    scaled = function(lambda ctx, x, n: x * n, lambda ctx, grad: (grad * 3, None))
    x = leaf(1, 2)
    scaled.apply(x, 3).sum().backward()
    assert x.grad.tolist() == [3, 3]
    assert scaled.apply(n=2, x=x).tolist() == [2, 4]


def test_setup_context_sees_arguments_with_defaults_and_the_result():
    class Scaled(Function):
        @staticmethod
        def forward(x, n=3):
            return x * n

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.n = inputs[1]
            ctx.save_for_backward(output)

        @staticmethod
        def backward(ctx, grad):
            return grad * ctx.n, None

    x = leaf(1, 2)
    y = Scaled.apply(x)
    assert y.grad_fn.saved_tensors[0].tolist() == [3, 6]
    y.sum().backward()
    assert x.grad.tolist() == [3, 3]


def test_arguments_written_in_place_are_results():
    x = leaf(1, 2, 3)
    y = x * 1
    assert Twice.apply(y) is y and y.grad_fn.name() == "MadeBackward".replace("Made", "Twice")
    y.sum().backward()
    assert x.grad.tolist() == [2, 2, 2]
    z = x * 1
    Twice.apply(z[:2])
    z.sum().backward()
    assert x.grad.tolist() == [4, 4, 3]
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad has been used in an in-place"):
        Twice.apply(x)
    with pytest.raises(RuntimeError, match="must all be outputs of the Function"):
        function(lambda ctx, x: ctx.mark_dirty(x) or x * 2).apply(z)


def test_results_without_gradients():
    seen = []
    both = function(
        lambda ctx, x: (
            ctx.mark_non_differentiable(ctx.set_materialize_grads(False) or (y := x * 3)) or (x * 2, y)
        ),
        lambda ctx, grad, other: seen.append(other) or grad * 2,
    )
    x = leaf(1)
    a, b = both.apply(x)
    assert a.requires_grad and not b.requires_grad
    a.backward()
    assert seen == [None]
    assert x.grad.tolist() == [2]


def test_missing_gradients_are_zeros():
    seen = []
    both = function(lambda ctx, x: (x * 2, x * 3), lambda ctx, g, h: seen.append(h.tolist()) or g)
    both.apply(leaf(1, 2))[0].sum().backward()
    assert seen == [[0, 0]]


def test_returned_input_becomes_a_view():
    x = leaf(1, 2)
    y = function(lambda ctx, x: x, lambda ctx, grad: grad * 5).apply(x)
    assert y is not x and y._is_view() and x.is_leaf
    with pytest.raises(RuntimeError, match="Output 0 of Made is a view and is being modified"):
        y.add_(1)
    y.sum().backward()
    assert x.grad.tolist() == [5, 5]


def test_no_node_without_recording():
    x = leaf(1, 2)
    with ts.no_grad():
        y = Cube.apply(x)
    assert not y.requires_grad
    assert Cube.apply(x.detach()).grad_fn is None


def test_once_differentiable():
    class Square(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        @once_differentiable
        def backward(ctx, grad):
            return 2 * grad * ctx.saved_tensors[0]

    x = leaf(1, 2)
    (first,) = ts.autograd.grad((Square.apply(x) * x).sum(), x, create_graph=True)
    with pytest.raises(
        RuntimeError, match="trying to differentiate twice a function that was marked with @once_diff"
    ):
        first.sum().backward()


@pytest.mark.parametrize(
    "backward, message",
    [
        (lambda ctx, g: (g, g), r"returned an incorrect number of gradients \(expected 1, got 2\)"),
        (lambda ctx, g: (), r"returned an incorrect number of gradients \(expected 1, got 0\)"),
        (lambda ctx, g: 3, r"expected Variable or None \(got int\)"),
        (
            lambda ctx, g: g[:1],
            r"returned an invalid gradient at index 0 - got \[1\] but expected shape compatible with \[2\]",
        ),
        (Function.backward, "must implement either the backward or vjp method"),
    ],
)
def test_invalid_gradients_are_rejected(backward, message):
    with pytest.raises((RuntimeError, NotImplementedError), match=message):
        function(lambda ctx, x: x * 2, backward).apply(leaf(1, 2)).sum().backward()


def test_modified_saved_tensor_raises():
    x = leaf(1, 2)
    y = x * 2
    z = Cube.apply(y)
    y.add_(1)
    with pytest.raises(RuntimeError, match="output 0 of Add, is at version 1; expected version 0"):
        z.sum().backward()


def test_functions_are_called_by_apply():
    with pytest.warns(DeprecationWarning, match="should not be instantiated"):
        cube = Cube()
    with pytest.raises(RuntimeError, match="Legacy autograd function"):
        cube(leaf(1))
    with pytest.raises(
        TypeError, match="save_for_backward can only save variables, but argument 0 is of type int"
    ):
        function(lambda ctx, x: ctx.save_for_backward(3) or x * 2).apply(leaf(1))


def test_chains_of_functions_may_be_of_any_length():
    step = function(lambda ctx, x: x + 1)
    x = leaf(1)
    y = x
    for _ in range(20_000):
        y = step.apply(y)
    y.backward()
    assert x.grad.tolist() == [1]
    del y


def test_reference_cycles_through_ctx_are_collected():
    def forward(ctx, x):
        ctx.save_for_backward(x)
        ctx.x = x
        return x * 1

    x = leaf(1) * 1
    y = function(forward).apply(x)
    y.grad_fn.result = y
    x.note = y
    node_ref = weakref.ref(y.grad_fn)
    del x, y
    gc.collect()
    assert node_ref() is None


def _view_under(mode, view):
    def make(a):
        with mode():
            return view(a)

    return make


_SEVERAL = "This view is the output of a function that returns multiple views. Such functions do not allow the output views to be "
_LEAF = "a leaf Variable that requires grad has been used in an in-place operation."


@pytest.mark.parametrize(
    ("make_view", "message"),
    [
        (lambda a: a.unbind()[0], f"Output 0 of Unbind is a view and is being modified inplace. {_SEVERAL}"),
        (lambda a: a.chunk(2)[1], f"Output 1 of Split is a view and is being modified inplace. {_SEVERAL}"),
        (lambda a: a.split([1, 3])[0], f"Output 0 of SplitWithSizes is a view and is being modified inplace. {_SEVERAL}"),
        (lambda a: a.split(2)[0][0:1], f"Output 0 of Slice is a view and is being modified inplace. {_SEVERAL}"),
        (_view_under(ts.no_grad, lambda a: a[1:]), _LEAF),
        (_view_under(ts.inference_mode, lambda a: a.split(2)[0]), _LEAF),
    ],
)
def test_mark_dirty_of_views(make_view, message):
    """`mark_dirty` rejects the views that also reject in-place operators."""
    a = ts.ones(4, requires_grad=True)
    with pytest.raises(RuntimeError, match="^" + re.escape(message)):
        InPlaceDouble.apply(make_view(a * 1))
    with pytest.raises(RuntimeError, match=r"view of a leaf|leaf Variable|multiple views"):
        InPlaceDouble.apply(make_view(a))


@pytest.mark.parametrize("make_view", [lambda a: a[1:3], lambda a: a.tensor_split(2)[0], lambda a: a.unsafe_split(2)[0]])
def test_mark_dirty_of_single_views(make_view):
    a = ts.ones(4, requires_grad=True)
    view = make_view(a * 1)
    assert InPlaceDouble.apply(view) is view
    view.sum().backward()
    assert sorted(a.grad.tolist()) == [0, 0, 2, 2]
    plain = ts.ones(4).unbind()[0]
    assert InPlaceDouble.apply(plain) is plain and plain.item() == 2
