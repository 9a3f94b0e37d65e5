"""Views from operators with several results after in-place writes to them, to their base or to another view of it."""

import pytest

import ts

SPLITTERS = {
    "unbind": lambda t: t.unbind(0),
    "split": lambda t: t.split(1),
    "split with sizes": lambda t: t.split([1, 3]),
    "chunk": lambda t: t.chunk(2),
    "split_with_sizes": lambda t: t.split_with_sizes([2, 2]),
    "iteration": lambda t: list(t),
}
SEVERAL = "This view is the output of a function that returns multiple views"
WRITTEN_BASE = f"is a view and its base or another view of its base has been modified inplace. {SEVERAL}"
WRITTEN_VIEW = f"is a view and is being modified inplace. {SEVERAL}"


def base_of(leaf):
    return leaf * 1


def write_base(base, views):
    base.mul_(2)


def write_base_without_grad(base, views):
    with ts.no_grad():
        base.mul_(2)


def write_view_without_grad(base, views):
    with ts.no_grad():
        views[0].mul_(2)


def write_other_view(base, views):
    base.view(-1).mul_(2)


def write_detached(base, views):
    views[0].detach().mul_(2)


WRITES = (write_base, write_base_without_grad, write_view_without_grad, write_other_view, write_detached)


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("name", SPLITTERS)
def test_views_cannot_be_used_after_a_write_to_their_memory(name, write):
    base = ts.ones(4, 4, requires_grad=True) * 1
    views = SPLITTERS[name](base)
    write(base, views)
    for use in (lambda view: view * 2, lambda view: view.grad_fn, lambda view: view.view(-1) + 1):
        with pytest.raises(RuntimeError, match=WRITTEN_BASE):
            use(views[-1])
    (base * 1).sum().backward()  # the base itself can be used


@pytest.mark.parametrize("name", SPLITTERS)
def test_views_of_views_inherit_the_restriction(name):
    base = ts.ones(4, 4, requires_grad=True) * 1
    part = SPLITTERS[name](base)[0].view(-1)
    with pytest.raises(RuntimeError, match=f"Output 0 of View {WRITTEN_VIEW}"):
        part.mul_(2)
    with pytest.raises(RuntimeError, match=f"Output 0 of Select {WRITTEN_VIEW}"):
        SPLITTERS[name](base)[0][0] = 5.0
    base.mul_(2)
    with pytest.raises(RuntimeError, match=f"Output 0 of View {WRITTEN_BASE}"):
        part * 2


def test_the_output_number_is_in_the_message():
    base = ts.ones(4, 4, requires_grad=True) * 1
    views = base.unbind(0)
    base.mul_(2)
    with pytest.raises(RuntimeError, match="Output 3 of Unbind is a view and its base"):
        views[3] * 2


def test_single_views_are_updated():
    leaf = ts.ones(4, 4, requires_grad=True)
    base = leaf * 1
    view = base[1]
    base.mul_(2)
    (view * 3).sum().backward()
    assert leaf.grad.tolist() == [[0] * 4, [6] * 4, [0] * 4, [0] * 4]


def test_views_can_be_used_before_a_write_and_after_a_write_to_data():
    leaf = ts.ones(2, 2, requires_grad=True)
    views = (leaf * 1).unbind(0)
    views[0].data.mul_(2)
    (views[0] * views[1]).sum().backward()
    assert leaf.grad.tolist() == [[1, 1], [2, 2]]


def test_view_of_a_custom_function():
    class Part(ts.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x[0]

        @staticmethod
        def backward(ctx, gradient):
            return gradient.expand(2, 2)

    base = ts.ones(2, 2, requires_grad=True) * 1
    view = Part.apply(base)
    base.mul_(2)
    with pytest.raises(RuntimeError, match=r"its base or another view of its base has been modified inplace. This view was created inside"):
        view * 2


def test_view_of_inference_mode():
    base = ts.ones(2, 2, requires_grad=True) * 1
    with ts.inference_mode():
        view = base[0]
    base.mul_(2)
    with pytest.raises(RuntimeError, match="A view was created in inference mode and its base or another view of its base has been"):
        view * 2
