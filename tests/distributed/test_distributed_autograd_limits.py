"""Distributed autograd with a process that rejects Python functions and limits other code."""

import pytest

import ts
from tests.distributed import dist_autograd_functions as functions
from tests.distributed import rpc_worker
from tests.distributed.process_groups import free_port
from ts import optim
from ts.distributed import autograd as dist_autograd
from ts.distributed import rpc
from ts.distributed.optim import DistributedOptimizer


@ts.jit.script
def product(x: ts.Tensor, w: ts.Tensor) -> ts.Tensor:
    return x * w + w


@pytest.fixture
def limited():
    """Provide a limited second process."""
    port = free_port()
    other = rpc_worker.start(port, 1, 2, "limited")
    rpc.init_rpc("worker0", rank=0, world_size=2, rpc_backend_options=rpc_worker.options(port))
    yield
    rpc.shutdown(graceful=True, timeout=20)
    try:
        other.wait(20)
    finally:
        other.kill()


def test_compiled_code_is_enough(limited):
    """A remote parameter is trained by compiled code, tensor methods and an optimizer of `ts.optim`, without
    Python functions."""
    weight = rpc.remote("worker1", product, (ts.zeros(2), ts.ones(2)))
    weight.rpc_sync().requires_grad_()
    optimizer = DistributedOptimizer(optim.SGD, [weight], lr=0.5)
    x = ts.tensor([1.0, 2.0], requires_grad=True)
    with dist_autograd.context() as context_id:
        loss = rpc.rpc_sync("worker1", product, (x, weight.to_here())).sum() + weight.rpc_sync().mul(x).sum()
        dist_autograd.backward(context_id, [loss])
        assert dist_autograd.get_gradients(context_id)[x].tolist() == [2, 2]
        optimizer.step(context_id)
    assert weight.to_here().tolist() == [-0.5, -1.5]
    with pytest.raises(PermissionError, match=r"runs Python functions .* only with allow_python=True"):
        DistributedOptimizer(functions.OwnSGD, [weight], lr=0.5)


def single_process_group():
    """Provide a process group of this process only."""
    options = rpc_worker.options(free_port())
    rpc.init_rpc("worker0", rank=0, world_size=1, rpc_backend_options=options)


def test_context_ends_after_a_shutdown_inside():
    """A context whose process has shut down ends without an error, and a new context can begin."""
    x = ts.ones(2, requires_grad=True)
    single_process_group()
    with dist_autograd.context():
        rpc.rpc_sync("worker0", product, (x, x))
        rpc.shutdown()
    single_process_group()
    with dist_autograd.context() as context_id:
        dist_autograd.backward(context_id, [rpc.rpc_sync("worker0", product, (x, x)).sum()])
        assert dist_autograd.get_gradients(context_id)[x].tolist() == [3, 3]
    rpc.shutdown()
