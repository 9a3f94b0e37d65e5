"""Views that are created under `no_grad`, or whose base does not require grad, and later in-place writes."""

import pytest

import ts
from tests.autograd.in_place_functions import InPlaceDouble

NO_GRAD = "A view was created in no_grad mode and"
SEVERAL = "This view is the output of a function that returns multiple views"


def test_a_view_requires_grad_if_its_base_does():
    x = ts.ones(3, requires_grad=True)
    with ts.no_grad():
        view = x.view(3)
        detached = x.detach()
    assert view.requires_grad and view.is_leaf and view.grad_fn is None
    assert not detached.requires_grad
    y = view * 2
    assert y.requires_grad
    y.sum().backward()
    assert x.grad is None and view.grad is None  # no edge leads to the base


def test_a_view_requires_grad_after_its_base_does():
    x = ts.ones(3)
    view = x.view(3)
    x.requires_grad_()
    assert view.requires_grad and view.is_leaf
    with ts.no_grad():
        x.add_(1)
    assert view.grad_fn.name() == "AsStridedBackward0"
    (view * 2).sum().backward()
    assert x.grad.tolist() == [2, 2, 2]


def test_a_view_created_in_no_grad_cannot_be_written_outside():
    base = ts.ones(3, requires_grad=True) * 1
    with ts.no_grad():
        view = base.view(-1)
        view.add_(1)
    view = base.detach().view(-1)
    with ts.no_grad():
        view = base.view(-1)
    with pytest.raises(
        RuntimeError, match=f"{NO_GRAD} is being modified inplace with grad mode enabled. Given that"
    ):
        view.mul_(2)
    with pytest.raises(
        RuntimeError,
        match="Output 0 of View is a view of a view which was created in no_grad mode and is being",
    ):
        view.view(3).mul_(2)


@pytest.mark.parametrize("requires_grad", [False, True])
def test_a_view_created_in_no_grad_cannot_be_used_after_a_write_to_its_base(requires_grad):
    base, factor = ts.ones(3, requires_grad=requires_grad) * 1, ts.ones(3, requires_grad=True)
    with ts.no_grad():
        view = base.view(-1)
    assert (view * 2).tolist() == [2, 2, 2]
    base.mul_(factor)
    message = (
        f"{NO_GRAD} its base or another view of its base has been modified inplace with grad mode enabled"
    )
    for use in (lambda: view * 2, lambda: view.grad_fn, lambda: view.is_leaf):
        with pytest.raises(RuntimeError, match=message):
            use()
    with ts.no_grad():
        assert (view * 2).tolist() == [2, 2, 2]
    assert view.detach().tolist() == [1, 1, 1]


SPLITTERS = {
    "unbind": lambda t: t.unbind(0),
    "split": lambda t: t.split(1),
    "chunk": lambda t: t.chunk(2),
    "split_with_sizes": lambda t: t.split_with_sizes([2, 2]),
    "iteration": lambda t: list(t),
}


@pytest.mark.parametrize("name", SPLITTERS)
def test_results_of_splits_of_a_base_without_grad(name):
    factor = ts.ones((), requires_grad=True)
    views = SPLITTERS[name](ts.ones(4, 4))
    views[0].mul_(2)  # not recorded
    with pytest.raises(
        RuntimeError, match=f"{NO_GRAD} is being modified inplace with grad mode enabled. {SEVERAL}"
    ):
        views[0].mul_(factor)
    base = ts.ones(4, 4)
    views = SPLITTERS[name](base)
    base.mul_(factor)
    with pytest.raises(RuntimeError, match=f"{NO_GRAD} its base or another view .* {SEVERAL}"):
        views[1] * 2


@pytest.mark.parametrize("split", [lambda t: t.tensor_split(2), lambda t: t.hsplit(2), lambda t: t.vsplit(2)])
def test_results_of_composite_splits_may_be_written(split):
    factor = ts.full((), 3.0, requires_grad=True)
    base = ts.ones(4, 4)
    views = split(base)
    base.mul_(factor)
    views[0].mul_(factor)
    base.sum().backward()
    assert factor.grad == 8 * 6 + 8 * 1


def test_views_of_custom_functions_in_no_grad():
    class Part(ts.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x[:2]

        @staticmethod
        def backward(ctx, gradient):
            return None

    x = ts.ones(3, requires_grad=True)
    with ts.no_grad():
        view = Part.apply(x)
    assert view.requires_grad and view._base is x and view.is_leaf
    with pytest.raises(
        RuntimeError, match=f"{NO_GRAD} is being modified .* This view was created inside a custom Function"
    ):
        view.add_(1)


def test_hooks_of_a_view_without_node_are_not_called():
    x = ts.ones(3, requires_grad=True)
    with ts.no_grad():
        view = x.view(3)
    calls = []
    view.register_hook(calls.append)
    (view * 2).sum().backward()
    assert calls == []


def test_text_of_a_view_that_cannot_be_used():
    base = ts.ones(2, requires_grad=True) * 1
    with ts.no_grad():
        view = base.view(-1)
    base.mul_(2)
    assert str(view) == "tensor([2., 2.], grad_fn=<Invalid>)"
    assert view.output_nr == 0 and view.grad is None


def test_comparisons_read_a_view_that_cannot_be_used():
    """Operators without a gradient do not access the backward node of their operands."""
    base = ts.ones(2, requires_grad=True) * 1
    view = base.unbind()[0]
    base.mul_(2)
    assert view > 1
    with pytest.raises(RuntimeError, match="Output 0 of Unbind is a view and its base"):
        view + 1


class Same(ts.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x

    @staticmethod
    def backward(ctx, gradient):
        return gradient


def test_custom_functions_return_views_of_unchanged_arguments():
    x, factor = ts.ones(3), ts.ones(3, requires_grad=True)
    y = Same.apply(x)
    assert y is not x and y._base is x
    with pytest.raises(RuntimeError, match="because an input was returned as-is"):
        y.mul_(factor)


def test_custom_functions_cannot_write_to_leaves_and_their_views():
    leaf = ts.ones(4).view(2, 2).requires_grad_()
    with pytest.raises(
        RuntimeError, match="a leaf Variable that requires grad has been used in an in-place operation"
    ):
        InPlaceDouble.apply(leaf)
    leaf = ts.ones(3, requires_grad=True)
    with pytest.raises(
        RuntimeError, match="a view of a leaf Variable that requires grad is being used in an in-place"
    ):
        InPlaceDouble.apply(leaf.view(3))
    x = ts.ones(3, requires_grad=True)
    base = x * 1
    InPlaceDouble.apply(base.view(3))
    base.sum().backward()
    assert x.grad.tolist() == [2, 2, 2]


def test_unused_input_of_grad():
    x, y = ts.ones(3, requires_grad=True), ts.ones(3, requires_grad=True)
    with pytest.raises(
        RuntimeError, match="The differentiated Tensor at index 1 appears to not have been used in the graph"
    ):
        ts.autograd.grad(x.sum(), [x, y])


def test_views_that_a_differentiable_graph_creates():
    """A differentiable graph runs with gradients disabled. Its views can still be written with gradients."""

    def loop(a: ts.Tensor, w: ts.Tensor, n: int):
        u = w * 2
        for _ in range(n):
            v = a[:, :]
            u = u * w + v
            v[0] = ts.sigmoid(u[0])
            u = u + v
        return u

    def gradient_of(function):
        w = ts.full((3, 3), 0.5, requires_grad=True)
        function(ts.zeros(3, 3), w, 2).sum().backward()
        return w.grad

    scripted = ts.jit.script(loop)
    for _ in range(3):
        assert ts.allclose(gradient_of(scripted), gradient_of(loop))


@pytest.mark.parametrize(
    "view",
    [lambda y: y.unfold(0, 2, 1), lambda y: y.as_strided((2, 2), (1, 1)), lambda y: y.expand(2, 3)[:, 1:]],
)
@pytest.mark.parametrize("writes_base", [False, True])
def test_gradients_of_overlapping_views_after_a_write(view, writes_base):
    """The gradient of an element is the sum over all positions of the view that share its memory."""
    x = ts.ones(3, requires_grad=True)
    y = x * 1
    v = view(y)
    expected = ts.zeros(3)
    for at in view(ts.arange(3)).reshape(-1).tolist():
        expected[at] += 2 if writes_base else 1
    if writes_base:
        y.mul_(2)
    v.sum().backward()
    assert ts.equal(x.grad, expected)
