"""`DistributedOptimizer`: optimizer steps on parameters of several processes."""

import threading

import pytest

import ts
from tests.distributed import dist_autograd_functions as functions
from ts import optim
from ts.distributed import autograd as dist_autograd
from ts.distributed import rpc
from ts.distributed.optim import DistributedOptimizer


def layers():
    """Create a layer in each of the two other processes."""
    return [rpc.remote(f"worker{k}", functions.Layer, (1.0, float(k))) for k in (1, 2)]


def trained(kind, steps, **options):
    """Return weights after steps of a distributed optimizer and of the same local optimizer."""
    remote, x = layers(), ts.tensor([1.0, 2.0])
    across = DistributedOptimizer(kind, [layer.remote().parameter() for layer in remote], **options)
    local = [ts.nn.Parameter(ts.tensor([1.0, float(k)])) for k in (1, 2)]
    local_optimizer = kind(local, **options)
    for _ in range(steps):
        with dist_autograd.context() as context_id:
            inner, outer = (layer.rpc_sync().parameter() for layer in remote)
            dist_autograd.backward(context_id, [(outer * (inner * x).tanh()).sum()])
            across.step(context_id)
        local_optimizer.zero_grad()
        (local[1] * (local[0] * x).tanh()).sum().backward()
        local_optimizer.step()
    return [layer.rpc_sync().state() for layer in remote], local


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        (optim.SGD, {"lr": 0.05, "momentum": 0.9}),
        (optim.Adam, {"lr": 0.1}),
        (optim.AdamW, {"lr": 0.1, "betas": (0.8, 0.9)}),
        (optim.Adagrad, {"lr": 0.1}),
        (optim.RMSprop, {}),
        (optim.Rprop, {}),
        (optim.ASGD, {"lr": 0.1}),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_steps_equal_a_local_optimizer(module_workers, kind, options):
    """A distributed optimizer computes the parameters of a local one bit for bit and leaves `grad`
    untouched."""
    found, local = trained(kind, 3, **options)
    for (weight, grad), expected in zip(found, local, strict=True):
        assert weight.tolist() == expected.tolist()
        assert grad is None


def test_positional_arguments_and_local_parameters(module_workers):
    """Positional optimizer arguments are sent, parameters may be local, and parameters without gradients stay
    unchanged."""
    here, unused = functions.Layer(1.0, 1.0), functions.Layer(1.0, 1.0)
    handles = [rpc.RRef(here.parameter()), rpc.RRef(unused.parameter())]
    optimizer = DistributedOptimizer(optim.SGD, handles, 0.5)
    with dist_autograd.context() as context_id:
        product = rpc.rpc_sync("worker1", functions.mul, (here.parameter(), ts.tensor([1.0, 2.0])))
        dist_autograd.backward(context_id, [product.sum()])
        optimizer.step(context_id)
    assert here.weight.tolist() == [0.5, 0]
    assert unused.weight.tolist() == [1, 1]


def test_rejected_optimizers(module_workers):
    """Errors of the optimizer's constructor and step are raised in the caller; other classes are rejected."""
    handles = [layer.remote().parameter() for layer in layers()]
    with pytest.raises(ValueError, match=r"Invalid learning rate: -0.5"):
        DistributedOptimizer(optim.SGD, handles, lr=-0.5)
    with pytest.raises(TypeError, match="expected an optimizer class"):
        DistributedOptimizer(functions.Layer, handles)
    with pytest.raises(TypeError, match="cannot be sent"):
        DistributedOptimizer(optim.SGD, handles, lr=object())
    optimizer = DistributedOptimizer(optim.SGD, handles, lr=0.5)
    with pytest.raises(RuntimeError, match="Could not find autograd context with id: 999"):
        optimizer.step(999)
    assert DistributedOptimizer(optim.SGD, [], lr=0.5).remote_optimizers == []


def test_classes_of_programs(module_workers):
    """Custom optimizer classes are sent by name if both processes set `allow_python`."""
    layer = layers()[0]
    optimizer = DistributedOptimizer(functions.OwnSGD, [layer.remote().parameter()], lr=0.5)
    with dist_autograd.context() as context_id:
        dist_autograd.backward(context_id, [layer.rpc_sync().parameter().sum()])
        optimizer.step(context_id)
    assert layer.rpc_sync().state()[0].tolist() == [0.5, 0.5]


def test_several_trainers(module_workers):
    """Concurrent contexts on one parameter have separate gradients."""
    layer = rpc.remote("worker1", functions.Layer, (0.0, 0.0))
    optimizer = DistributedOptimizer(optim.SGD, [layer.remote().parameter()], lr=1.0)
    wrong = []

    def train(k):
        for _ in range(5):
            with dist_autograd.context() as context_id:
                x = ts.full([2], float(k))
                dist_autograd.backward(context_id, [(layer.rpc_sync().parameter() * x).sum()])
                if layer.rpc_sync().gradient(context_id).tolist() != [k, k]:
                    wrong.append(k)
                optimizer.step(context_id)

    threads = [threading.Thread(target=train, args=(k,)) for k in (1, 2, 3, 4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert layer.rpc_sync().state()[0].tolist() == [-50, -50]
