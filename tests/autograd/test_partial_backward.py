"""Partial backward passes: a node runs once, after all gradients that lead to it have arrived."""

import pytest

import ts
from ts._core.autograd.partial_backward import PartialBackward, reach
from ts.autograd.graph import get_gradient_edge as edge


def run_of(roots, found, keep=False):
    """Create a partial backward with one root per tensor that records the gradients of leaves."""
    return PartialBackward(
        [[edge(root)] for root in roots],
        keep,
        lambda leaf, gradient, _: found.append((leaf, gradient.tolist())),
    )


def test_shared_node_runs_after_all_roots():
    """A node reached from two roots runs once, and its hooks receive the whole gradient."""
    x = ts.ones(2, requires_grad=True)
    shared, seen, found = x * 2, [], []
    shared.register_hook(lambda gradient: seen.append(gradient.tolist()))
    run = run_of([shared * 3, shared * 5], found)
    run.resume(0, [ts.ones(2)])
    assert (seen, found) == ([], [])
    run.resume(1, [ts.ones(2)])
    assert seen == [[8, 8]]
    assert found[0][0] is x
    assert found == [(x, [16, 16])]
    assert x.grad is None


def test_gradients_of_roots_in_any_order():
    """Gradients of nested roots may arrive in any order."""
    for order in ((0, 1), (1, 0)):
        x, found = ts.ones(2, requires_grad=True), []
        y = x * 2
        gradients = [ts.ones(2), ts.full([2], 10.0)]
        run = run_of([y * 3, y], found)
        for root in order:
            run.resume(root, [gradients[root]])
        assert found == [(x, [26, 26])]


def test_roots_without_gradients_are_skipped():
    """A root without a gradient is skipped and does not block other nodes."""
    x, w, found = ts.ones(2, requires_grad=True), ts.ones(2, requires_grad=True), []
    y = x * 2
    run = run_of([y * w, y], found)
    run.resume(0, [None])
    assert found == []
    run.resume(1, [ts.ones(2)])
    assert found == [(x, [2, 2])]


def test_roots_of_several_edges():
    """A root with several tensors counts a repeated tensor twice."""
    x, found = ts.ones(2, requires_grad=True), []
    y = x * 2
    run = PartialBackward(
        [[edge(y), edge(y), edge(x)]], False, lambda leaf, gradient, _: found.append(gradient.tolist())
    )
    run.resume(0, [ts.ones(2), ts.ones(2), ts.ones(2)])
    assert found == [[5, 5]]


def test_repeated_gradients_of_a_root_are_rejected():
    """A root accepts gradients once; released saved tensors raise an error."""
    x = ts.ones(2, requires_grad=True)
    y = x.sin()
    run = run_of([y], [], keep=True)
    run.resume(0, [ts.ones(2)])
    with pytest.raises(RuntimeError, match="the gradients of root 0 were computed already"):
        run.resume(0, [ts.ones(2)])
    with pytest.raises(IndexError):
        run.resume(1, [])
    run_of([y], []).resume(0, [ts.ones(2)])
    with pytest.raises(RuntimeError, match="a second time"):
        run_of([y], []).resume(0, [ts.ones(2)])
    with pytest.raises(RuntimeError, match="tensors that require grad"):
        PartialBackward([[ts.ones(2)]], False, print)
    with pytest.raises(ValueError, match="zip"):
        run_of([x * 2], []).resume(0, [])


def test_two_passes_at_once():
    """Concurrent partial backward passes over the same nodes have separate gradients."""
    x, first, second = ts.ones(2, requires_grad=True), [], []
    y = x * 2
    a, b = y * 3, y * 5
    one, other = run_of([a, b], first, keep=True), run_of([a, b], second, keep=True)
    one.resume(0, [ts.ones(2)])
    other.resume(1, [ts.ones(2)])
    (y * 7).sum().backward(retain_graph=True)
    other.resume(0, [None])
    one.resume(1, [ts.ones(2)])
    assert (first, second, x.grad.tolist()) == ([(x, [16, 16])], [(x, [10, 10])], [14, 14])


def test_reach():
    """`reach` returns, for each node of a class, a bit mask of the roots that lead to it."""
    x = ts.ones(2, requires_grad=True)
    y = x.sin()
    z = y.cos()
    found = reach([[edge(z)], [edge(y)], [edge(x)]], type(y.grad_fn))
    assert found == {z.grad_fn: 1, y.grad_fn: 3}
    assert reach([[], [edge(x)]], type(y.grad_fn)) == {}
