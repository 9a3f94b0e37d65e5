"""Distributed autograd: gradients of computations across several processes."""

import pytest

import ts
from tests.distributed import dist_autograd_functions as functions
from tests.distributed import rpc_worker
from ts import nn
from ts.distributed import autograd as dist_autograd
from ts.distributed import rpc


@ts.jit.script
def scripted(x: ts.Tensor, y: ts.Tensor) -> ts.Tensor:
    return (x * y).tanh()


@ts.jit.script
def asks(to: str, x: ts.Tensor, y: ts.Tensor) -> ts.Tensor:
    z = rpc.rpc_sync(to, scripted, (x, y))
    return rpc.rpc_sync(to, scripted, (z, y))


@ts.jit.script
def forks(to: str, x: ts.Tensor, y: ts.Tensor) -> ts.Tensor:
    tasks = [ts.jit.fork(asks, to, x + n, y) for n in range(3)]
    total = ts.zeros_like(x)
    for task in tasks:
        total = total + ts.jit.wait(task)
    return total


@pytest.fixture
def x():
    return ts.tensor([1.0, 2.0], requires_grad=True)


@pytest.fixture
def y():
    return ts.tensor([3.0, 4.0], requires_grad=True)


def gradients(context_id, *tensors):
    """Return the gradients of tensors in a context as lists."""
    found = dist_autograd.get_gradients(context_id)
    return [found[tensor].tolist() for tensor in tensors]


def in_one_process(f, *tensors):
    """Return the gradients of a local computation."""
    return [g.tolist() for g in ts.autograd.grad(f(*tensors).sum(), tensors)]


@pytest.mark.parametrize(
    "call",
    [
        lambda *args: rpc.rpc_sync("worker1", functions.mul, args),
        lambda *args: rpc.rpc_async("worker1", functions.mul, args).wait(),
        lambda *args: rpc.remote("worker1", functions.mul, args).to_here(),
        lambda *args: rpc.rpc_sync("worker1", ts.mul, args),
        lambda *args: rpc.rpc_sync("worker1", ts.ops.aten.mul.Tensor, args),
        lambda *args: rpc.rpc_sync("worker0", functions.mul, args),
        lambda a, b: rpc.rpc_sync("worker1", functions.mul, (a,), {"b": b}),
    ],
    ids="sync async remote operator overload itself named".split(),
)
def test_a_product(module_workers, x, y, call):
    """Gradients across a call equal those of one process; they are stored in the context and not in
    `grad`."""
    with dist_autograd.context() as context_id:
        dist_autograd.backward(context_id, [call(x, y).sum()])
        assert gradients(context_id, x, y) == [[3, 4], [1, 2]]
    assert x.grad is None
    assert y.grad is None


def test_scripts(module_workers, x, y):
    """Scripted functions are recorded in the process that executes them."""
    with dist_autograd.context() as context_id:
        dist_autograd.backward(context_id, [rpc.rpc_sync("worker1", scripted, (x, y)).sum()])
        found = gradients(context_id, x, y)
    assert found == in_one_process(scripted, x, y)


def test_scripted_modules(module_workers, x):
    """A scripted module is sent with its parameters, and its remote calls are recorded."""
    module = ts.jit.script(nn.Sequential(nn.Linear(2, 3), nn.Tanh()))
    with dist_autograd.context() as context_id:
        called = rpc.rpc_sync("worker1", module, (x,))
        ref = rpc.remote("worker2", module, (x,)).rpc_sync().mul(2)
        dist_autograd.backward(context_id, [(called + ref).sum()])
        found = gradients(context_id, x)
    assert ts.tensor(found).allclose(ts.tensor(in_one_process(lambda x: module(x) * 3, x)))


def test_tensors_of_the_callee(module_workers, x):
    """Each process stores the gradients of its own leaves."""
    with dist_autograd.context() as context_id:
        dist_autograd.backward(context_id, [rpc.rpc_sync("worker1", functions.times_w, (x,)).sum()])
        assert gradients(context_id, x) == [[5, 6]]
        found, grad = rpc.rpc_sync("worker1", functions.gradient_of_w, (context_id,))
        assert (found.tolist(), grad) == ([1, 2], None)
        assert rpc.rpc_sync("worker2", functions.gradient_of_w, (context_id,)) == (None, None)


def test_nested_calls(module_workers, x):
    """The context is sent with nested calls, also to processes that the first process does not call."""
    with dist_autograd.context() as context_id:
        dist_autograd.backward(context_id, [rpc.rpc_sync("worker1", functions.nested, (x, "worker2")).sum()])
        assert gradients(context_id, x) == [[10, 24]]
        assert rpc.rpc_sync("worker1", functions.gradient_of_w, (context_id,))[0].tolist() == [1, 4]


def test_a_parameter_of_two(module_workers, x, y):
    """A parameter used by two processes, through a method and as a tensor, accumulates both gradients at its
    owner."""
    layer = rpc.remote("worker1", functions.Layer, (1.0, 1.0))
    with dist_autograd.context() as context_id:
        by_method = layer.rpc_sync().parameter() * x
        other_product = rpc.rpc_sync("worker2", functions.mul, (layer.rpc_async().parameter().wait(), y))
        dist_autograd.backward(context_id, [(by_method + other_product).sum()])
        assert layer.rpc_sync().gradient(context_id).tolist() == [4, 6]
        assert gradients(context_id, x, y) == [[1, 1], [1, 1]]


def test_parameters_as_arguments(module_workers, y):
    """A parameter sent as an argument gets its gradient in the sending process."""
    weight = nn.Parameter(ts.tensor([1.0, 2.0]))
    with dist_autograd.context() as context_id:
        dist_autograd.backward(context_id, [rpc.rpc_sync("worker1", functions.mul, (weight, y)).sum()])
        assert gradients(context_id, weight, y) == [[3, 4], [1, 2]]


def test_received_tensors_have_a_backward_node(module_workers, x):
    """Inside of a context tensors are results of `RecvRpcBackward`; outside of one, leaves."""
    assert rpc.rpc_sync("worker1", functions.facts, (x * 2,)) == ("Tensor", True, True, None)
    with dist_autograd.context() as context_id:
        assert rpc.rpc_sync("worker1", functions.facts, (x,))[:3] == ("Tensor", True, False)
        assert "RecvRpcBackward" in rpc.rpc_sync("worker1", functions.facts, (x,))[3]
        assert rpc.rpc_sync("worker1", functions.context_here) == context_id
        first, second, number, last = rpc.rpc_sync("worker1", functions.several, (x,))
        assert (second, number) == ({"whole": second["whole"]}, 3)
        assert not second["whole"].requires_grad
        dist_autograd.backward(context_id, [(first + last).sum()])
        assert gradients(context_id, x) == [[5, 5]]


def test_no_grad(module_workers, x, y):
    """A callee without recording has no gradient; `no_grad` of the caller does not apply to the callee."""
    with dist_autograd.context():
        assert not rpc.rpc_sync("worker1", functions.without_gradients, (x,)).requires_grad
        with ts.no_grad():
            assert rpc.rpc_sync("worker1", functions.mul, (x, y)).requires_grad


def test_shared_memory(module_workers, x):
    """Tensors that require grad are sent without shared memory, because recorded gradients could not detect
    writes."""
    whole = x * 1
    with dist_autograd.context() as context_id:
        total = rpc.rpc_sync("worker1", functions.written, (whole, whole.view(2)))
        assert total.item() == 3
        dist_autograd.backward(context_id, [total])
        assert gradients(context_id, x) == [[1, 1]]


def test_tensor_as_two_arguments(module_workers, x):
    """A tensor that is passed as two arguments gets both gradients."""
    with dist_autograd.context() as context_id:
        dist_autograd.backward(context_id, [rpc.rpc_sync("worker1", functions.mul, (x, x)).sum()])
        assert gradients(context_id, x) == [[2, 4]]


def test_written_after_the_call(module_workers, x):
    """The gradient uses the value of the tensor at the time of sending."""
    z = x * 1
    with dist_autograd.context() as context_id:
        product = rpc.rpc_sync("worker1", functions.mul, (z, z))
        z.mul_(100)
        dist_autograd.backward(context_id, [product.sum() + z.sum()])
        assert gradients(context_id, x) == [[102, 104]]


def test_dtypes(module_workers):
    """Gradients have the dtypes of their tensors."""
    a = ts.ones(2, dtype=ts.float64, requires_grad=True)
    b = ts.ones(2, dtype=ts.complex64, requires_grad=True)
    with dist_autograd.context() as context_id:
        product = rpc.rpc_sync("worker1", functions.mul, (a, b))
        dist_autograd.backward(context_id, [product.abs().sum()])
        found = dist_autograd.get_gradients(context_id)
        assert (found[a].dtype, found[b].dtype) == (ts.float64, ts.complex64)


def test_hooks_are_called_once(module_workers, x):
    """Hooks of tensors and leaves are called once with the sum of the gradients of all processes."""
    seen = []
    z = x * 1
    z.register_hook(lambda gradient: seen.append(gradient.tolist()))
    z.retain_grad()
    x.register_hook(lambda gradient: gradient * 10)
    with dist_autograd.context() as context_id:
        one = rpc.rpc_sync("worker1", functions.mul, (z, z))
        other = rpc.rpc_sync("worker2", functions.mul, (z, ts.ones(2)))
        dist_autograd.backward(context_id, [(one + other * x).sum()])
        assert gradients(context_id, x) == [[40, 80]]
    assert seen == [[3, 6]]
    assert z.grad.tolist() == [3, 6]


def test_futures_of_callees(module_workers, x):
    """A function that returns a future is recorded."""
    with dist_autograd.context() as context_id:
        dist_autograd.backward(context_id, [rpc.rpc_sync("worker1", functions.later, ("worker2", x)).sum()])
        assert gradients(context_id, x) == [[20, 40]]


def test_backward_in_a_called_process(module_workers, x):
    """Backward can be started by a called process."""
    with dist_autograd.context() as context_id:
        rpc.rpc_sync("worker1", functions.backward_there, (context_id, x * 2))
        assert gradients(context_id, x) == [[2, 2]]


def test_without_calls(module_workers, x, y):
    """Gradients of a local loss."""
    with dist_autograd.context() as context_id:
        dist_autograd.backward(context_id, [(x * y).sum()])
        assert gradients(context_id, x, y) == [[3, 4], [1, 2]]


def test_calls_that_the_loss_does_not_need(module_workers, x, y):
    """Only messages that lead to the loss receive gradients; unused messages do not block the backward
    pass."""
    with dist_autograd.context() as context_id:
        z = x * 2
        needed = rpc.rpc_sync("worker1", functions.mul, (z, y))
        rpc.rpc_sync("worker1", functions.mul, (z, z))
        dist_autograd.backward(context_id, [needed.sum()])
        assert gradients(context_id, x, y) == [[6, 8], [2, 4]]


def test_passes_add_up(module_workers, x, y):
    """`retain_graph=True` allows another backward pass, whose gradients are added; without it a second pass
    is an error."""
    with dist_autograd.context() as context_id:
        loss = rpc.rpc_sync("worker1", functions.mul, (x, y)).sum()
        dist_autograd.backward(context_id, [loss], retain_graph=True)
        dist_autograd.backward(context_id, [loss])
        assert gradients(context_id, x, y) == [[6, 8], [2, 4]]
        with pytest.raises(
            RuntimeError, match=r"^Error on Node 0: (Error on Node 1: )?Trying to backward through"
        ):
            dist_autograd.backward(context_id, [loss])


def test_long_chains(module_workers, x):
    """Backward visits each node of a long chain of calls once, also with branches."""
    with dist_autograd.context() as context_id:
        value = x
        for k in range(60):
            a = rpc.rpc_sync(f"worker{1 + k % 2}", functions.mul, (value, ts.tensor(0.5)))
            b = rpc.rpc_sync(f"worker{2 - k % 2}", functions.counted, (value,))
            value = a + b * 0.5
        dist_autograd.backward(context_id, [value.sum()])
        assert gradients(context_id, x) == [[1, 1]]
        assert rpc.rpc_sync("worker1", functions.turns) + rpc.rpc_sync("worker2", functions.turns) == 60


def test_deep_calls(module_workers, x):
    """Gradients flow through nested calls up to the number of threads of a process."""
    with dist_autograd.context() as context_id:
        value = rpc.rpc_sync("worker1", functions.ping_pong, (x, "worker2", "worker1", 12))
        dist_autograd.backward(context_id, [value.sum()])
        assert gradients(context_id, x) == [[4096, 4096]]


def test_contexts_end_everywhere(module_workers, x):
    """All processes release the data of a context when it ends."""
    with dist_autograd.context() as context_id:
        rpc.rpc_sync("worker1", functions.nested, (x, "worker2"))
        assert (
            rpc.rpc_sync("worker1", functions.contexts_here) == rpc.rpc_sync("worker2", functions.contexts_here) == 1
        )
    for other in ("worker1", "worker2"):
        assert rpc_worker.eventually(lambda: rpc.rpc_sync(other, functions.contexts_here) == 0)


@pytest.mark.parametrize("via", [None, "worker1"])
def test_tasks_of_scripts(module_workers, x, y, via):
    """Tasks forked by a script run inside the context, locally or in another process."""

    def local_loss(x, y):
        return sum(scripted(scripted(x + n, y), y) for n in range(3))

    with dist_autograd.context() as context_id:
        if via is None:
            found = forks("worker1", x, y)
        else:
            found = rpc.rpc_sync(via, forks, args=("worker0", x, y))
        dist_autograd.backward(context_id, [found.sum()])
        for ours, theirs in zip(gradients(context_id, x, y), in_one_process(local_loss, x, y), strict=True):
            assert ours == pytest.approx(theirs)
