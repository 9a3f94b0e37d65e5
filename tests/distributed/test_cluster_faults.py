"""Failures of workers, schedulers and programs in a cluster: restart, reports and cleanup."""

import asyncio
import os
import signal
import socket
import subprocess
import sys

import pytest

import ts

pytest.importorskip("distributed", reason="clusters need dask.distributed: the extra rpc")
from tests.distributed import clusters
from tests.distributed.process_groups import free_port
from ts.distributed import wire_values, LocalCluster, rpc
from ts.distributed import map as distributed_map
from ts.distributed.cluster.scheduler import NameService
from ts.distributed.cluster.status import members
from ts.distributed.cluster.supervisor import ClusterSupervisor, ClusterConfig
from ts.distributed.transport import Security
from ts.distributed.rpc.api import current


def workers(address):
    return {m["name"]: m for m in members(address) if m["kind"] == "worker"}


def test_a_worker_that_exits_is_started_again():
    """A worker that dies is restarted under its name with another worker id; references to the old worker
    raise errors."""
    with LocalCluster(workers=2, allow_python=True) as cluster, clusters.joined(cluster.address):
        old = rpc.get_worker_info("worker1")
        ref = rpc.remote("worker1", clusters.squares, args=(ts.arange(4.0),))
        assert ref.to_here().item() == 14.0
        with pytest.raises(RuntimeError, match=r"name=worker1\) exited or its connection broke"):
            rpc.rpc_sync("worker1", clusters.die)
        assert clusters.wait_until(lambda: clusters.sum_of_squares_or_none("worker1")) == 14.0
        new = rpc.get_worker_info("worker1")
        assert new.id not in (0, 1, rpc.get_worker_info().id)
        assert rpc.rpc_sync("worker0", clusters.worker_id_of, args=("worker1",)) == new.id
        with pytest.raises(RuntimeError, match=r"id=1, name=worker1\) exited or its connection broke"):
            ref.to_here()
        with pytest.raises(RuntimeError, match=r"id=1, name=worker1\) exited or its connection broke"):
            rpc.rpc_sync(old, ts.add, args=(ts.ones(1), 1))
        with pytest.raises(RuntimeError, match="could not find destination id 1"):
            rpc.rpc_sync("worker1", clusters.worker_id_of, args=(1,))  # a former worker's id
        assert {info.id for info in current().directory.workers()} == {0, new.id}


def test_process_at_the_address_of_another():
    with LocalCluster(workers=1, allow_python=True) as cluster, clusters.joined(cluster.address):
        from ts.distributed.rpc.peers import Peer, WorkerInfo

        agent = current()
        right = agent.peer("worker0")
        wrong = Peer(WorkerInfo("worker0", 77), right.address, agent.info.id, right._connection_arguments)
        for call_peer in (agent.endpoint.call, lambda *a: agent.endpoint.submit(*a).wait()):
            with pytest.raises(RuntimeError, match=r"id=77, name=worker0\) exited or its connection broke"):
                call_peer(wrong, ["call", ["operator", "aten::add"], *wire_values.pack(((1, 2), {})), None], 20.0)
        assert rpc.rpc_sync("worker0", clusters.started_call_count) == 1  # only this call


def test_batches_of_a_worker_that_exits():
    with LocalCluster(workers=2, allow_python=True, restart=False) as cluster, clusters.joined(cluster.address):
        victim = workers(cluster.address)["worker0"]["pid"]
        found = []
        for result in distributed_map(clusters.sleep, [0.02 + k / 1e6 for k in range(40)], retryable=True):
            found.append(result)
            if len(found) == 10:
                os.kill(victim, signal.SIGKILL)
        assert found == [0.02 + k / 1e6 for k in range(40)]
        assert list(workers(cluster.address)) == ["worker1"]


def test_ctrl_c_ends_all_processes():
    with clusters.cluster(workers=2) as cluster:
        pids = [m["pid"] for m in workers(cluster.address).values()]
        assert len(pids) == 2
        with clusters.joined(cluster.address):
            rpc.rpc_async("worker0", clusters.sleep, args=(60,))  # a call without a waiter
            cluster.send_signal(signal.SIGINT)
            assert cluster.wait(clusters.TIMEOUT_SECONDS) == 0
            assert not any(map(clusters.is_alive, pids))
            with pytest.raises(RuntimeError, match=r"is unavailable|exited or its connection broke"):
                rpc.rpc_sync("worker1", clusters.number)
        assert cluster.stderr.read() == ""


def test_a_scheduler_that_is_killed():
    """Connections survive the loss of the scheduler; lookups fail, and workers exit after their patience."""
    with clusters.cluster(workers=2) as cluster, clusters.joined(cluster.address):
        pids = [m["pid"] for m in workers(cluster.address).values()]
        assert clusters.sum_of_squares_or_none("worker0") == 14.0
        cluster.kill()
        cluster.wait()
        clusters.wait_until(lambda: current().directory._scheduler_failure)
        for _ in range(3):
            assert clusters.sum_of_squares_or_none("worker0") == 14.0
        with pytest.raises(RuntimeError, match=r"worker1 cannot be looked up: the scheduler at .* is unavailable"):
            rpc.rpc_sync("worker1", clusters.number)
        with pytest.raises(RuntimeError, match=r"the workers cannot be listed: the scheduler at .* is unavailable"):
            distributed_map(clusters.number, [()]).__next__()
        clusters.wait_until(lambda: not any(map(clusters.is_alive, pids)))
        with pytest.raises(RuntimeError, match="cannot join the cluster"):
            members(cluster.address)


def test_restarted_scheduler():
    """Workers reconnect to a scheduler restarted at the same port and keep names and numbers."""
    port = str(free_port())
    with clusters.cluster("--port", port) as first:
        address = first.address
        with (
            clusters.command("worker", address, "--name", "a", "--allow-python", stderr=None) as one,
            clusters.joined(address),
        ):
            clusters.wait_until(lambda: clusters.sum_of_squares_or_none("a"))
            number = rpc.get_worker_info("a").id
            own = rpc.get_worker_info()
            first.kill()
            first.wait()
            with clusters.cluster("--port", port) as second:
                assert second.address == address
                clusters.wait_until(lambda: {m["name"] for m in members(address)} == {"a", "me"})
                assert {m["number"] for m in members(address)} == {number, own.id}
                clusters.wait_until(lambda: current().directory._scheduler_failure is None)
                assert clusters.sum_of_squares_or_none("a") == 14.0
                assert rpc.rpc_sync("a", clusters.ask, args=("me",)) == own.id
                with clusters.command("worker", address, "--name", "b", "--allow-python", stderr=None):
                    clusters.wait_until(lambda: clusters.sum_of_squares_or_none("b"))
                    assert rpc.get_worker_info("b").id > max(number, own.id)
                    assert rpc.rpc_sync("b", clusters.worker_id_of, args=("a",)) == number
            assert one.wait(clusters.TIMEOUT_SECONDS) == 0  # the worker exits with its cluster


def test_dropped_worker_reconnects():
    """A worker that the scheduler has dropped after silence reconnects."""

    async def main():
        async with NameService("127.0.0.1", 0, Security(secret=b"s" * 20)) as service:
            environment = {**clusters.ENVIRONMENT, "TS_RPC_SECRET": "s" * 20}
            with clusters.command("worker", service.address, stderr=None, env=environment):
                while not service.members():
                    await asyncio.sleep(0.01)
                (before,) = service.members()
                await service.remove_worker(before["address"], stimulus_id="test")
                assert service.find("worker0") is None
                while not service.members():
                    await asyncio.sleep(0.01)
                (after,) = service.members()
        names = ("name", "number", "address", "pid")
        assert [after[name] for name in names] == [before[name] for name in names]
        assert before["name"] == "worker0" and after["since"] > before["since"]

    asyncio.run(asyncio.wait_for(main(), clusters.TIMEOUT_SECONDS))


def test_killed_program_ends_its_cluster():
    code = (
        "from ts.distributed import LocalCluster\n"
        "made = LocalCluster(workers=1)\n"
        "print(made.pid, made.members()[0]['pid'], flush=True)\n"
        "input()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], env=clusters.ENVIRONMENT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as program:
        pids = [int(word) for word in program.stdout.readline().split()]
        assert len(pids) == 2 and all(map(clusters.is_alive, pids))
        program.kill()
    clusters.wait_until(lambda: not any(map(clusters.is_alive, pids)))


def test_a_worker_that_cannot_start():
    """A worker that cannot start raises an error with the reason and leaves no processes."""

    async def main():
        async with ClusterSupervisor(ClusterConfig(1, arguments=("--threads", "0"))) as cluster:
            await cluster.wait_until_registered()

    with pytest.raises(RuntimeError, match="worker0 failed to start: exit code 2"):
        asyncio.run(asyncio.wait_for(main(), clusters.TIMEOUT_SECONDS))


def test_occupied_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        with clusters.command("cluster", "--port", str(server.getsockname()[1])) as process:
            out, err = process.communicate(timeout=clusters.TIMEOUT_SECONDS)
    assert (process.returncode, out) == (1, "") and "Address already in use" in err


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["cluster", "--name-prefix", "a b"], 2, "Worker name must match"),
        (["cluster", "--workers", "-1"], 2, "--workers must be at least 0, got -1"),
        (["cluster", "--allow-op", "aten::nothing"], 2, "unknown operator aten::nothing"),
        (["cluster", "--threads", "0"], 2, "--threads must be more than 0"),
        (["cluster", "--host", "0.0.0.0"], 1, "TS_RPC_SECRET"),
        (["cluster", "--status", "tcp://127.0.0.1:1"], 1, "invalid cluster address tcp://127.0.0.1:1"),
        (["worker", "ts://127.0.0.1:1"], 1, "found no cluster of this user"),
        (["worker", "ts://127.0.0.1:1", "--tls-dir", "/absent"], 1, "/absent/ca.pem is missing"),
    ],
)
def test_commands_that_are_invalid(words, code, message):
    with clusters.command(*words) as process:
        out, err = process.communicate(timeout=clusters.TIMEOUT_SECONDS)
    assert (process.returncode, out) == (code, "") and message in err


def test_permissions_of_workers():
    """Workers apply the command line's limits and allowed operators, and reject Python functions."""
    words = ["--fuel", "100000", "--bytes", "64M", "--allow-op", "aten::add", "--allow-op", "aten::zeros"]
    with clusters.cluster(*words, "--seconds", "20", workers=1, python=False) as cluster:
        with clusters.joined(cluster.address):
            assert rpc.rpc_sync("worker0", ts.add, args=(ts.ones(1), 1)).item() == 2.0
            with pytest.raises(PermissionError, match="aten::mul is not allowed"):
                rpc.rpc_sync("worker0", ts.mul, args=(ts.ones(1), 1))
            with pytest.raises(PermissionError, match="Python functions"):
                rpc.rpc_sync("worker0", clusters.number)
            with pytest.raises(ts.errors.LimitExceeded):
                rpc.rpc_sync("worker0", ts.zeros, args=([1 << 28],))
