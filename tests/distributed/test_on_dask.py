"""RPC agents in the workers of an existing dask cluster."""

from types import SimpleNamespace

import pytest

import ts

pytest.importorskip("distributed", reason="clusters need dask.distributed: the extra rpc")
from distributed import Client
from distributed import LocalCluster as ClusterOfDask

from tests.distributed import clusters
from ts.distributed import map as distributed_map
from ts.distributed import on_dask, rpc


@pytest.fixture(scope="module")
def client():
    with ClusterOfDask(processes=True, n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster:
        with Client(cluster) as dask_client:
            yield dask_client


def test_calls_to_dask_workers(client):
    pids = set(client.run(clusters.pid).values())
    with on_dask(client, threads=2, allow_python=True) as cluster:
        assert cluster.names == ["worker0", "worker1"]
        assert {rpc.rpc_sync(name, clusters.pid) for name in cluster.names} == pids
        batches = [ts.arange(float(k)) for k in range(6)]
        assert [x.item() for x in distributed_map(clusters.squares, batches)] == [0, 0, 1, 5, 14, 30]
        assert rpc.rpc_sync("worker0", clusters.ask, args=("worker1",)) == rpc.get_worker_info("worker1").id
        assert rpc.rpc_sync("worker1", clusters.ask, args=("program",)) == rpc.get_worker_info().id
        ref = rpc.rpc_sync("worker0", clusters.handle, args=("worker1",))
        assert (ref.owner_name(), ref.to_here().item()) == ("worker1", 5.0)
        assert client.submit(clusters.number).result() in (0, 1)  # dask tasks still run
    with pytest.raises(RuntimeError, match="RPC has not been initialized"):
        rpc.get_worker_info()
    with pytest.raises(RuntimeError, match="RPC has not been initialized"):
        client.submit(clusters.number, pure=False).result()


def test_restart_with_limits(client):
    """`on_dask` can be entered again after it ends, with another name and limits."""
    with on_dask(client, name="me", bytes="64M", allowed_ops=["aten::add", "aten::zeros"]):
        assert rpc.get_worker_info().name == "me"
        assert rpc.rpc_sync("worker0", ts.add, args=(ts.ones(1), 1)).item() == 2.0
        with pytest.raises(PermissionError, match="aten::mul is not allowed"):
            rpc.rpc_sync("worker1", ts.mul, args=(ts.ones(1), 1))
        with pytest.raises(ts.errors.LimitExceeded):
            rpc.rpc_sync("worker1", ts.zeros, args=([1 << 28],))


def test_failed_start_stops_the_agents(client):
    """A failed `on_dask` stops its agents."""
    with clusters.cluster(python=False) as other, clusters.joined(other.address):
        with pytest.raises(RuntimeError, match="RPC is already initialized"):
            on_dask(client)
        assert rpc.get_worker_info().name == "me"
    with pytest.raises(RuntimeError, match="RPC has not been initialized"):
        client.submit(clusters.number, pure=False).result()
    with pytest.raises(TypeError, match="synchronous dask client"):
        on_dask(SimpleNamespace(asynchronous=True))
