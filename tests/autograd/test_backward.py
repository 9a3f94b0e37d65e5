"""Eager backward: gradients of leaves and inputs, repeated passes, and PyTorch's errors."""

import gc
import threading
import warnings
import weakref

import pytest

import ts


def leaf(*values):
    return ts.tensor(values, dtype=ts.float64, requires_grad=True)


def test_backward_adds_to_the_gradients_of_leaves():
    x, w = leaf(1, 2, 3), leaf(4, 5, 6)
    (x * w).sum().backward()
    assert x.grad.tolist() == [4, 5, 6]
    assert w.grad.tolist() == [1, 2, 3]
    (x * w).sum().backward()
    assert x.grad.tolist() == [8, 10, 12]


def test_gradients_of_repeated_operands_are_summed():
    x = leaf(2, 3)
    (x * x + x).sum().backward()
    assert x.grad.tolist() == [5, 7]


def test_gradient_of_expanded_operands_is_summed():
    x, b = ts.ones(2, 3, dtype=ts.float64), leaf(1, 2, 3)
    (x * b).sum().backward()
    assert b.grad.tolist() == [2, 2, 2]
    one = ts.ones((), dtype=ts.float64, requires_grad=True)
    (x * one).sum().backward()
    assert one.grad.shape == ()
    assert one.grad.item() == 6


def test_the_gradient_has_the_dtype_of_the_argument():
    x = ts.ones(2, dtype=ts.float32, requires_grad=True)
    (x * ts.ones(2, dtype=ts.float64)).sum().backward()
    assert x.grad.dtype is ts.float32


def test_grad_returns_requested_gradients_only():
    x, w = leaf(1, 2), leaf(3, 4)
    y = x * w
    z = (y * y).sum()
    of_y, of_w = ts.autograd.grad(z, (y, w))
    assert of_y.tolist() == [6, 16]
    assert of_w.tolist() == [6, 32]
    assert x.grad is None and w.grad is None


def test_gradients_of_gradients():
    x = leaf(1, 2, 3)
    (first,) = ts.autograd.grad((x * x * x).sum(), x, create_graph=True)
    assert first.tolist() == [3, 12, 27]
    (second,) = ts.autograd.grad(first.sum(), x, create_graph=True)
    assert second.tolist() == [6, 12, 18]
    (third,) = ts.autograd.grad(second.sum(), x)
    assert third.tolist() == [6, 6, 6]


def test_a_second_pass_needs_the_graph_to_be_retained():
    x = leaf(1, 2)
    y = (x * x).sum()
    y.backward(retain_graph=True)
    y.backward()
    assert x.grad.tolist() == [4, 8]
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        y.backward()


def test_gradients_of_unused_inputs():
    x, unused = leaf(1, 2), leaf(3)
    y = (x * x).sum()
    with pytest.raises(RuntimeError, match="appears to not have been used in the graph"):
        ts.autograd.grad(y, (x, unused), retain_graph=True)
    assert ts.autograd.grad(y, (x, unused), retain_graph=True, allow_unused=True)[1] is None
    assert ts.autograd.grad(y, (x, unused), materialize_grads=True)[1].tolist() == [0]


def test_implicit_gradient_requires_a_scalar():
    x = leaf(1, 2)
    with pytest.raises(RuntimeError, match="grad can be implicitly created only for scalar outputs"):
        (x * x).backward()
    with pytest.raises(RuntimeError, match="does not require grad and does not have a grad_fn"):
        ts.ones(1).backward()
    with pytest.raises(RuntimeError, match="Mismatch in shape"):
        (x * x).backward(ts.ones(3, dtype=ts.float64))


def test_names_and_edges_of_nodes():
    x, w = leaf(1), leaf(2)
    y = x * w + 1
    assert y.grad_fn.name() == "AddBackward0"
    (product, output), *_ = y.grad_fn.next_functions
    assert (product.name(), output) == ("MulBackward0", 0)
    assert [node.variable is v for (node, _), v in zip(product.next_functions, (x, w), strict=True)] == [
        True,
        True,
    ]
    assert x.grad_fn is None and x.is_leaf and not y.is_leaf


def test_no_graph_without_gradients():
    x = leaf(1, 2)
    with ts.no_grad():
        y = x * x
    assert not y.requires_grad and y.grad_fn is None
    assert not (x.detach() * 2).requires_grad
    assert not (x > 1).requires_grad


def test_leaves_are_not_written_in_place():
    x = leaf(1, 2)
    with pytest.raises(
        RuntimeError, match="a leaf Variable that requires grad is being used in an in-place operation"
    ):
        x.mul_(2)
    with pytest.raises(
        RuntimeError, match="a view of a leaf Variable that requires grad is being used in an in-place"
    ):
        x[0].mul_(2)
    with ts.no_grad():
        x.mul_(2)
    assert x.tolist() == [2, 4] and x.requires_grad


def test_modified_saved_tensor_raises():
    x = leaf(1, 2)
    y = x * x
    z = y * y
    y.add_(1)
    with pytest.raises(
        RuntimeError, match=r"modified by an inplace operation: \[torch.DoubleTensor \[2\]\]"
    ) as error:
        z.sum().backward()
    assert "which is output 0 of Add, is at version 1; expected version 0 instead" in str(error.value)


def test_writes_in_place_have_gradients():
    x = leaf(1, 2, 3)
    y = x * 2
    y.mul_(x)
    y[0] = 7
    y.sum().backward()
    assert x.grad.tolist() == [0, 8, 12]


def test_write_to_a_view_changes_base_and_views():
    x, w = leaf(1, 2, 3, 4), leaf(5, 6)
    y = x * 1
    pair, all_of_it = y[:2], y.view(2, 2)
    pair.mul_(w)
    all_of_it.sum().backward()
    assert x.grad.tolist() == [5, 6, 1, 1]
    assert w.grad.tolist() == [1, 2]
    assert y.grad_fn.name() == "CopySlices"
    assert all_of_it.grad_fn.name() == "AsStridedBackward0"


def test_hooks_see_and_change_gradients():
    x = leaf(1, 2)
    y = x * 3
    seen = []
    handle = y.register_hook(lambda g: g * 10)
    x.register_hook(lambda g: seen.append(g.tolist()))
    y.sum().backward(retain_graph=True)
    assert seen == [[30, 30]]
    handle.remove()
    y.sum().backward()
    assert seen == [[30, 30], [3, 3]]


def test_node_hooks_and_post_accumulate_hooks():
    x = leaf(1, 2)
    y = x * 3
    calls = []
    y.grad_fn.register_prehook(lambda grads: calls.append(("before", grads[0].tolist())))
    y.grad_fn.register_hook(
        lambda found, grads: calls.append(("after", found[0].tolist(), grads[0].tolist()))
    )
    x.register_post_accumulate_grad_hook(lambda leaf: calls.append(("added", leaf.grad.tolist())))
    y.sum().backward()
    assert calls == [("before", [1, 1]), ("after", [3, 3], [1, 1]), ("added", [3, 3])]


def test_retain_grad_of_non_leaf_tensors():
    x = leaf(1, 2)
    y = x * x
    y.retain_grad()
    assert y.retains_grad
    y.sum().backward()
    assert y.grad.tolist() == [1, 1]


def test_a_graph_may_be_of_any_depth():
    x = leaf(1)
    y = x
    for _ in range(200_000):
        y = y + 1
    y.backward()
    assert x.grad.tolist() == [1]
    del y  # frees the graph without deep recursion


@pytest.mark.parametrize(
    "function", [lambda x: x * x, ts.exp, lambda x: (x * 1).relu_(), lambda x: x.max(0)[0]]
)
def test_graphs_are_freed_with_their_results(function):
    x = leaf(1, 2)
    y = function(x)
    node_ref = weakref.ref(y.grad_fn)
    del y
    assert node_ref() is None


def test_version_of_saved_results_and_their_views():
    x = leaf(1, 2)
    for write in (lambda y: y.add_(1), lambda y: y.view(-1).add_(1), lambda y: y.detach().add_(1)):
        y = x.exp()
        write(y)
        assert y._version == 1
        with pytest.raises(RuntimeError, match="is at version 1; expected version 0"):
            y.sum().backward()
    y = x * 1
    view = y[:1]
    y.exp_()
    view.mul_(2)
    with pytest.raises(RuntimeError, match="is at version 2; expected version 1"):
        y.sum().backward()


def test_reference_cycles_through_graphs_are_collected():
    x = leaf(1, 2)
    y = x.clone() * x
    node_ref = weakref.ref(y.grad_fn)
    x.note = y  # reference cycle: the node of y saves x
    del x, y
    gc.collect()
    assert node_ref() is None


def test_error_in_a_hook_keeps_the_graph_usable():
    x = leaf(1, 2)
    y = x * x

    def fail(gradient):
        raise ValueError("no")

    handle = y.register_hook(fail)
    with pytest.raises(ValueError, match="no"):
        y.sum().backward()
    handle.remove()
    (x * x).sum().backward()
    assert x.grad.tolist() == [2, 4]


def test_hook_runs_backward():
    x = leaf(1, 2)
    y = x * x
    inner = []

    def hook(gradient):
        with ts.enable_grad():
            inner.append(ts.autograd.grad((x * x * x).sum(), x)[0].tolist())

    y.register_hook(hook)
    y.sum().backward()
    assert inner == [[3, 12]]
    assert x.grad.tolist() == [2, 4]


def test_concurrent_backward_in_threads():
    def train(results, i):
        x = leaf(*[float(i)] * 4)
        for _ in range(50):
            (x * x).sum().backward()
        results[i] = x.grad.tolist()

    results = {}
    threads = [threading.Thread(target=train, args=(results, i)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {i: [100.0 * i] * 4 for i in range(8)}


def test_missing_derivative_raises_with_allow_unused():
    x = leaf(1, 2)
    y = ts.heaviside(x, x)
    with pytest.raises(NotImplementedError, match="derivative for aten::heaviside is not implemented"):
        ts.autograd.grad(y.sum(), x, allow_unused=True)


def test_indexed_writes():
    x, v = leaf(1, 2, 3), leaf(4, 5)
    y = x * 2
    y[ts.tensor([0, 2])] = v
    (y * y).sum().backward()
    assert x.grad.tolist() == [0, 16, 0]
    assert v.grad.tolist() == [8, 10]


def test_indexing_by_lists_of_tensors_keeps_the_gradient():
    x = leaf(1, 2, 3)
    ts.ops.aten._unsafe_index(x, [ts.tensor([0, 0])]).sum().backward()
    assert x.grad.tolist() == [2, 0, 0]


def test_backward_that_creates_a_graph_warns_once():
    x = ts.ones(2, requires_grad=True)
    ts.set_warn_always(True)
    try:
        with pytest.warns(UserWarning, match=r"Using backward\(\) with create_graph=True will create a reference cycle") as warned:
            (x * x).sum().backward(create_graph=True)
    finally:
        ts.set_warn_always(False)
    assert warned[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        (x * x).sum().backward(create_graph=True)
        ts.autograd.grad((x * x).sum(), x, create_graph=True)
    x.grad = None


@pytest.mark.parametrize(
    "call",
    [
        lambda: ts.nn.Linear(3, 4)(ts.ones(2, 5)),
        lambda: ts.nn.Conv2d(3, 4, 3)(ts.ones(1, 2, 5, 5)),
        lambda: ts.nn.LayerNorm(3)(ts.ones(2, 5)),
        lambda: ts.nn.functional.kl_div(ts.ones(2, 5, requires_grad=True), ts.ones(3)),
    ],
    ids=["linear", "conv", "layer_norm", "kl_div"],
)
def test_errors_have_no_context(call):
    """An error of a differentiable graph has no additional `__context__`."""
    with pytest.raises(RuntimeError) as caught:
        call()
    assert caught.value.__context__ is None


@pytest.mark.parametrize("given", [ts.float32, ts.float16, ts.int64])
@pytest.mark.parametrize("dtype", [ts.float64, ts.float32, ts.bfloat16])
def test_given_gradients_have_the_dtype_of_the_output(dtype, given):
    """A gradient given to `backward` or `grad` is converted to the dtype of its output, also for leaves and edges."""
    x = ts.ones(2, 2, dtype=dtype, requires_grad=True)
    y, seen = x @ x, []
    y.register_hook(lambda gradient: seen.append(gradient.dtype))
    y.backward(ts.ones(2, 2, dtype=given), retain_graph=True)
    assert x.grad.dtype is dtype and seen == [dtype]
    assert ts.autograd.grad(y, x, ts.ones(2, 2, dtype=given))[0].dtype is dtype
    leaf = ts.ones(2, dtype=dtype, requires_grad=True)
    leaf.backward(ts.ones(2, dtype=given))
    assert leaf.grad.dtype is dtype
    edge = ts.autograd.graph.get_gradient_edge(x * 2)
    assert ts.autograd.grad([edge], [x], [ts.ones(2, 2, dtype=given)])[0].dtype is dtype


def test_conversion_of_a_given_gradient_is_differentiable():
    x, gradient = ts.ones(2, dtype=ts.float64, requires_grad=True), ts.ones(2, requires_grad=True)
    (result,) = ts.autograd.grad(x * x, x, gradient, create_graph=True)
    result.sum().backward()
    assert gradient.grad.dtype is ts.float32 and gradient.grad.tolist() == [2, 2]
