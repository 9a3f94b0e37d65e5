"""Reuse of freed backward nodes: a reused node has no old state, and a freed node releases its references."""

import gc
import threading
import weakref

import ts
from ts.testing import assert_close

NODES_ABOVE_FREELIST_LIMIT = 1_000


def leaf():
    return ts.tensor([1.0, 2.0, 3.0], requires_grad=True)


def count_of_nodes():
    return len([one for one in gc.get_objects() if type(one).__name__ == "OperatorNode"])


def test_reused_node_has_no_old_state():
    x = leaf()
    for _ in range(5):
        y = x * x
        node = y.grad_fn
        assert node.metadata == {}
        assert_close(node._saved_self, x)
        node.metadata["of"] = "another"
        calls = []
        y.register_hook(calls.append)
        node.register_prehook(lambda gradients, calls=calls: calls.append(None))
        y.backward(ts.ones(3))
        assert len(calls) == 2
        del y, node
    assert_close(x.grad, 5 * 2 * x.detach())


def test_nodes_of_different_sizes_are_reused():
    """Nodes are reused if they store edges, results and saved values inside of the node or outside."""
    x = leaf()
    for _ in range(3):
        y = ts.cat([x, x, x, x]).sum() + (x * 2).sum() + ts.stack([x, x]).std()
        y = y + ts.cat([part.exp() for part in ts.ones(3).mul(x).split(1)]).sum() + x.unbind()[1]
        y = y + ts.addcmul(x, x, x).sum() + ts.nn.functional.layer_norm(x, [3]).sum()
        given = ts.autograd.grad(y, x)[0]
        del y
        again = x.detach().requires_grad_()
        z = 4 * again.sum() + 2 * again.sum() + ts.stack([again, again]).std() + again.exp().sum() + again[1]
        z = z + (again + again * again).sum() + ts.nn.functional.layer_norm(again, [3]).sum()
        assert_close(given, ts.autograd.grad(z, again)[0])


def test_weak_references_to_freed_nodes_are_cleared():
    x = leaf()
    for _ in range(3):
        y = x * 2
        dropped = []
        seen = weakref.ref(y.grad_fn, dropped.append)
        assert seen() is y.grad_fn
        del y
        assert seen() is None and dropped == [seen]


def test_saved_tensors_are_released_with_their_node():
    x = leaf()
    for _ in range(3):
        factor = ts.ones(3)
        seen = weakref.ref(factor)
        y = x * factor
        del factor
        assert seen() is not None
        del y
        assert seen() is None


def test_reference_cycles_through_nodes_are_collected():
    """Reference cycles of a hook and its tensor are collected."""
    gc.collect()
    before = count_of_nodes()
    x = leaf()
    seen = []
    for _ in range(NODES_ABOVE_FREELIST_LIMIT):
        y = x * 2
        y.register_hook(lambda gradient, y=y: None)
        seen.append(weakref.ref(y))
    del y
    gc.collect()
    assert [reference() for reference in seen] == [None] * NODES_ABOVE_FREELIST_LIMIT
    assert count_of_nodes() == before


def test_threads_create_and_free_nodes_concurrently():
    failed = []

    def work(number):
        x = ts.full((3,), float(number), requires_grad=True)
        for _ in range(200):
            many = [x * x for _ in range(40)]
            total = ts.stack(many).sum()
            del many
            (given,) = ts.autograd.grad(total, x)
            if given.tolist() != [80.0 * number] * 3:
                failed.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
