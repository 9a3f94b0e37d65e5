"""No gradient is lost if several threads run backward into the same leaves."""

import threading

import pytest

import ts

THREADS, PASSES, ELEMENTS = 4, 25, 200_000


def run_threads(function):
    errors = []

    def run(number):
        try:
            function(number)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(i,)) for i in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors, errors


def all_equal(gradient, value):
    return gradient.min().item() == gradient.max().item() == value


def test_a_leaf_of_several_graphs():
    w = ts.ones(ELEMENTS, requires_grad=True)

    def passes(_):
        for _ in range(PASSES):
            (w * 1).sum().backward()

    run_threads(passes)
    assert all_equal(w.grad, THREADS * PASSES)


def test_leaves_in_different_order():
    """Gradients of two leaves are complete if threads reach the leaves in different orders."""
    v, w = ts.ones(ELEMENTS, requires_grad=True), ts.ones(ELEMENTS, requires_grad=True)

    def passes(number):
        for _ in range(PASSES):
            first, second = (v, w) if number % 2 else (w, v)
            (first * 1 + second * 2).sum().backward()

    run_threads(passes)
    assert all_equal(v.grad + w.grad, THREADS * PASSES * 3)


def test_retained_graph_in_several_threads():
    w = ts.ones(ELEMENTS, requires_grad=True)
    middle = w * 2
    middle.retain_grad()
    loss = (middle * 3).sum()
    run_threads(lambda _: [loss.backward(retain_graph=True) for _ in range(PASSES)])
    assert all_equal(w.grad, THREADS * PASSES * 6)
    assert all_equal(middle.grad, THREADS * PASSES * 3)


def test_recorded_passes():
    """Gradients of backward passes with `create_graph=True` are added out of place."""
    w = ts.ones(ELEMENTS, requires_grad=True)

    def passes(_):
        for _ in range(PASSES):
            (w * w).sum().backward(create_graph=True)

    run_threads(passes)
    assert all_equal(w.grad, THREADS * PASSES * 2)


def test_hooks_run_with_an_unchanged_gradient():
    """A hook that removes the gradient sees each gradient once."""
    w = ts.ones(ELEMENTS, requires_grad=True)
    total = ts.zeros(ELEMENTS)
    calls = []

    def take(leaf):
        total.add_(leaf.grad)
        leaf.grad = None
        calls.append(1)

    w.register_hook(lambda g: g * 2)
    w.register_post_accumulate_grad_hook(take)
    run_threads(lambda _: [(w * 1).sum().backward() for _ in range(PASSES)])
    assert len(calls) == THREADS * PASSES
    assert w.grad is None and all_equal(total, 2 * THREADS * PASSES)


@pytest.mark.parametrize("depth", [1, 3])
def test_hook_runs_backward_into_the_same_leaf(depth):
    w = ts.ones(3, requires_grad=True)
    left = [depth]

    def again(leaf):
        if left[0]:
            left[0] -= 1
            with ts.enable_grad():
                (leaf * 10).sum().backward()

    w.register_post_accumulate_grad_hook(again)
    w.sum().backward()
    assert w.grad.tolist() == [1 + 10 * depth] * 3
