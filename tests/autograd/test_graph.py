"""The autograd graph: saved-tensor hooks, hooks of several tensors, edges, and drawings of graphs."""

import threading

import pytest

import ts
from ts.autograd import graph


def leaf(*values):
    return ts.tensor(values, dtype=ts.float64, requires_grad=True)


def doubles(values):
    return ts.tensor(values, dtype=ts.float64)


def test_saved_tensors_hooks():
    log = []
    x = leaf(1, 2)
    with graph.saved_tensors_hooks(
        lambda t: log.append("pack") or t.tolist(), lambda v: log.append("unpack") or doubles(v)
    ):
        y = (x * x).exp() * x.sigmoid()
    assert log == ["pack"] * 6
    (first,) = ts.autograd.grad(y.sum(), x, create_graph=True)
    (second,) = ts.autograd.grad(first.sum(), x)
    plain = (x * x).exp() * x.sigmoid()
    (expected,) = ts.autograd.grad(plain.sum(), x, create_graph=True)
    assert ts.equal(first, expected)
    assert ts.allclose(second, ts.autograd.grad(expected.sum(), x)[0])


def test_hooks_of_lists_and_of_the_innermost_block():
    x = leaf(1, 2)
    seen = []
    with graph.saved_tensors_hooks(lambda t: seen.append("outer") or t, lambda t: t):
        with graph.saved_tensors_hooks(lambda t: seen.append("inner") or t, lambda t: t):
            y = x[ts.tensor([1, 0])]
        z = y * y
    z.sum().backward()
    assert seen == ["inner", "outer", "outer"]
    assert x.grad.tolist() == [2, 4]


def test_hooks_are_thread_local():
    seen = []
    with graph.saved_tensors_hooks(lambda t: seen.append(1) or t, lambda t: t):
        other = threading.Thread(target=lambda: leaf(1).exp())
        other.start()
        other.join()
    assert seen == []


def test_invalid_hooks_raise():
    x = leaf(1, 2)
    with (
        graph.saved_tensors_hooks(lambda t: t.detach().mul_(2), lambda t: t),
        pytest.raises(RuntimeError, match="pack hook is modifying its input in place"),
    ):
        (x * 1).exp()
    with graph.saved_tensors_hooks(lambda t: t, lambda t: 3):
        y = x * x
    with pytest.raises(TypeError, match="expected to be a Tensor but got result of type int"):
        y.sum().backward()
    with (
        graph.disable_saved_tensors_hooks("not here"),
        pytest.raises(RuntimeError, match="not here"),
        graph.saved_tensors_hooks(lambda t: t, lambda t: t),
    ):
        pass
    with graph.saved_tensors_hooks(lambda t: 1 / 0, lambda t: t), pytest.raises(ZeroDivisionError):
        ts.nn.functional.linear(x, ts.ones(3, 2, dtype=ts.float64, requires_grad=True))


def test_saved_tensors_are_attributes_and_accept_hooks():
    x = leaf(1, 2)
    y = x * x
    assert y.grad_fn._saved_self is x
    assert "_saved_other" in dir(y.grad_fn)
    y.grad_fn._raw_saved_self.register_hooks(lambda t: t * 2, lambda t: t / 2)
    with pytest.raises(RuntimeError, match="hooks have already been set"):
        y.grad_fn._raw_saved_self.register_hooks(lambda t: t, lambda t: t)
    y.sum().backward()
    assert x.grad.tolist() == [2, 4]
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        _ = y.grad_fn._saved_self


def test_save_on_cpu():
    x = leaf(1, 2)
    with graph.save_on_cpu():
        y = x * x
    y.sum().backward()
    assert x.grad.tolist() == [2, 4]


def test_multi_grad_hook_runs_after_all_gradients():
    x, w = leaf(1, 2), leaf(3, 4)
    a, b, c = x * 2, w * 3, x * 5
    log = []
    handle = graph.register_multi_grad_hook(
        (a, b, c), lambda grads: log.append([None if g is None else g.tolist() for g in grads])
    )
    (a.sum() + b.sum()).backward(retain_graph=True)
    c.sum().backward(retain_graph=True)
    ts.autograd.grad((a * b).sum(), x, retain_graph=True)
    handle.remove()
    a.sum().backward()
    assert log == [[[1, 1], [1, 1], None], [None, None, [1, 1]], [[9, 12], None, None]]


def test_multi_grad_hook_in_any_mode():
    x = leaf(1, 2)
    a, b = x * 2, x * 3
    log = []
    graph.register_multi_grad_hook((a, b), lambda g: log.append(g.tolist()), mode="any")
    for _ in range(2):
        (a + b).sum().backward(retain_graph=True)
    assert log == [[1, 1], [1, 1]]
    with pytest.raises(ValueError, match="Expects mode to be one of"):
        graph.register_multi_grad_hook((a, b), print, mode="some")


def test_edges_stand_for_tensors():
    x = leaf(1, 2)
    y = x * x
    edge = graph.get_gradient_edge(y)
    assert (edge.node.name(), edge.output_nr) == ("MulBackward0", 0)
    assert ts.autograd.grad((y * 3).sum(), edge)[0].tolist() == [3, 3]
    del y
    ts.autograd.backward(edge, doubles([1, 10]))
    assert x.grad.tolist() == [2, 40]
    with pytest.raises(RuntimeError, match="Tensor that does not require gradients"):
        graph.get_gradient_edge(ts.ones(1))
    with pytest.raises(RuntimeError, match="only for scalar outputs"):
        ts.autograd.backward(graph.get_gradient_edge(x * x))


def test_increment_version_counts_as_a_write():
    y = leaf(1, 2) * 1
    z = y * y
    graph.increment_version(y)
    with pytest.raises(RuntimeError, match="is at version 1; expected version 0"):
        z.sum().backward()


def test_backward_nodes_are_instances_of_node():
    y = leaf(1) * 2
    assert isinstance(y.grad_fn, graph.Node)
    assert y.grad_fn._input_metadata[0].shape == (1,)


def test_pictures_name_nodes_and_leaves():
    x, w = leaf(1, 2), leaf(3, 4)
    text = graph.to_dot((x * w).exp().sum(), {"x": x, 'the "w"': w})
    assert text.splitlines() == [
        "digraph gradients {",
        '  n0 [label="SumBackward0", shape=box]',
        '  n1 [label="ExpBackward0", shape=box]',
        '  n2 [label="MulBackward0", shape=box]',
        '  n3 [label="x\\n[2] float64", shape=ellipse]',
        '  n4 [label="the \\"w\\"\\n[2] float64", shape=ellipse]',
        "  n0 -> n1",
        "  n1 -> n2",
        "  n2 -> n3",
        "  n2 -> n4",
        "}",
    ]
    with pytest.raises(RuntimeError, match="only tensors that require gradients"):
        graph.to_dot(ts.ones(1))


def test_allow_mutation_on_saved_tensors():
    allowed = ts.autograd.graph.allow_mutation_on_saved_tensors
    x = ts.ones(3, dtype=ts.float64, requires_grad=True)
    with allowed() as copies:
        y = x.clone()
        z = (y**3).sum()
        y.sin_()
        z.backward()
        assert x.grad.tolist() == [3, 3, 3]
        first = ts.autograd.grad((x**3).sum(), x, create_graph=True)[0]
        assert ts.autograd.grad(first.sum(), x)[0].tolist() == [6, 6, 6]
        with pytest.raises(RuntimeError, match="contexts cannot be nested"), allowed():
            pass
        result = (x**2).sum()
        copies.clear()
        with pytest.raises(AssertionError, match="Trying to backward outside"):
            result.backward()
        late = (x**2).sum()
    with pytest.raises(AssertionError, match="Trying to backward outside"):
        late.backward()
    y = x.clone()
    z = (y**2).sum()
    with allowed():
        y.mul_(2)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            z.backward()
