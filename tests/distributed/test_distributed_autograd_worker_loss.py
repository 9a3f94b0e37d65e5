"""Distributed autograd without `init_rpc`, and after the loss of a process."""

import signal
import threading

import pytest

import ts
from tests.distributed import dist_autograd_functions as functions
from ts.distributed import autograd as dist_autograd
from ts.distributed import rpc
from ts.distributed.rpc.state import current


@pytest.fixture
def x():
    return ts.tensor([1.0, 2.0], requires_grad=True)


def refused(text, f, *args):
    with pytest.raises(RuntimeError, match=text):
        f(*args)


def test_context_without_init_rpc_raises():
    """A context without `init_rpc` raises an error."""
    refused("Need to initialize distributed autograd", dist_autograd.context().__enter__)


def test_process_that_exits_during_backward(three_workers, x):
    """A process that dies during backward is reported by name to the processes that wait for its
    gradients."""
    with dist_autograd.context() as context_id:
        loss = rpc.rpc_sync("worker1", functions.slow, (x,)).sum()
        timer = threading.Timer(0.5, three_workers[0].kill)
        timer.start()
        refused("worker1.* exited or its connection broke", dist_autograd.backward, context_id, [loss])
        timer.join()
        alone = rpc.rpc_sync("worker2", functions.mul, (x, x)).sum()
        dist_autograd.backward(context_id, [alone])
        assert dist_autograd.get_gradients(context_id)[x].tolist() == [2, 4]
        refused("worker1.* exited or its connection broke", dist_autograd.backward, context_id, [loss])


def test_death_of_an_indirectly_called_process(three_workers, x):
    """The death of an indirectly called process is reported while another process is still running
    backward."""
    with dist_autograd.context() as context_id:
        loss = rpc.rpc_sync("worker1", functions.slow_elsewhere, (x, "worker2")).sum()
        timer = threading.Timer(0.5, three_workers[1].kill)
        timer.start()
        refused("worker2.* exited or its connection broke", dist_autograd.backward, context_id, [loss])
        timer.join()
        assert rpc.rpc_sync("worker1", functions.mul, (x, x)).tolist() == [1, 4]
    assert three_workers[1].wait(10) == -signal.SIGKILL


def test_contexts_of_a_process_that_exits(three_workers, x):
    """Contexts of a dead process are released."""
    future = rpc.rpc_async("worker1", functions.context_that_stays, ("worker0", x.detach()))
    future.wait()
    assert len(current().contexts) == 1
    three_workers[0].kill()
    three_workers[0].wait(10)
    agent = current()
    refused("exited or its connection broke", rpc.rpc_sync, "worker1", functions.mul, (x, x))
    agent.contexts.forget(1)
    assert len(agent.contexts) == 0
