"""Retryable calls."""

import time

import pytest

import ts

pytest.importorskip("distributed", reason="rpc needs dask.distributed")
from tests.distributed import clusters
from tests.distributed import rpc_worker
from tests.distributed.fault_injection import World, warm_up
from ts.distributed import LocalCluster, rpc


@ts.jit.script
def doubled(x: ts.Tensor) -> ts.Tensor:
    return x * 2


@pytest.fixture
def world(fork_server_client):
    warm_up()
    group = World(fork_server_client)
    yield group
    group.close()


def test_a_connection_that_breaks(world):
    """A retryable call over a broken connection is repeated until its process answers."""
    calls = [rpc.rpc_async("worker1", rpc_worker.sleep, args=(0.5, k), retryable=True) for k in range(4)]
    once = rpc.rpc_async("worker1", rpc_worker.sleep, args=(0.5, 9))
    rpc.rpc_sync("worker2", rpc_worker.sleep, args=(0.2,))
    world.proxies["worker1"].cut()
    assert [call.wait() for call in calls] == [0, 1, 2, 3]
    with pytest.raises(RuntimeError, match=r"name=worker1\) exited or its connection broke"):
        once.wait()
    del calls, once
    world.unharmed()


def test_retries_end_with_the_timeout(world):
    """A retryable call to a process that does not return raises the last failure after the timeout."""
    world.kill("worker1")
    start = time.monotonic()
    with pytest.raises(RuntimeError, match=r"name=worker1\) exited or its connection broke"):
        rpc.rpc_sync("worker1", rpc_worker.add, args=(1, 2), timeout=1.0, retryable=True)
    assert time.monotonic() - start < 30
    world.unharmed()


def test_exceptions_are_not_retried(world):
    with pytest.raises(ValueError, match="bad 3"):
        rpc.rpc_sync("worker1", rpc_worker.fail, args=(3,), retryable=True)
    with pytest.raises(RuntimeError, match="could not find destination name nobody"):
        rpc.rpc_sync("nobody", rpc_worker.add, args=(1, 2), retryable=True)


def test_a_worker_that_is_started_again():
    """A retryable call reaches the restarted worker of the same name."""
    with LocalCluster(workers=1, allow_python=True) as cluster, clusters.joined(cluster.address):
        old = rpc.get_worker_info("worker0").id
        with pytest.raises(RuntimeError, match=r"name=worker0\) exited or its connection broke"):
            rpc.rpc_sync("worker0", clusters.die)
        x = ts.ones(2)
        assert rpc.rpc_sync("worker0", doubled, args=(x,), retryable=True).tolist() == [2.0, 2.0]
        assert rpc.get_worker_info("worker0").id != old


def test_gradients(world):
    """A retried call stays in its autograd context."""
    from ts.distributed import autograd

    x = ts.ones(3, requires_grad=True)
    with autograd.context() as context_id:
        y = rpc.rpc_sync("worker1", doubled, args=(x,), retryable=True)
        autograd.backward(context_id, [y.sum()])
        assert autograd.get_gradients(context_id)[x].tolist() == [2.0, 2.0, 2.0]
