"""Clusters of processes that join, leave and find each other by name."""

import re
import subprocess
import sys

import pytest

import ts

pytest.importorskip("distributed", reason="clusters need dask.distributed: the extra rpc")
from tests.distributed import clusters
from ts.distributed import LocalCluster, rpc
from ts.distributed import map as distributed_map
from ts.distributed.rpc.api import current


@pytest.fixture(scope="module")
def cluster():
    """Provide two workers that run Python functions, too."""
    with LocalCluster(workers=2, allow_python=True) as made:
        yield made


@pytest.fixture
def me(cluster):
    with clusters.joined(cluster.address):
        yield cluster


def test_calls_by_name_and_number(me):
    x = ts.arange(4.0)
    assert rpc.rpc_sync("worker0", clusters.squares, args=(x,)).item() == 14.0
    assert rpc.rpc_async("worker1", ts.add, args=(x, 1)).wait().tolist() == [1.0, 2.0, 3.0, 4.0]
    assert rpc.rpc_sync(1, clusters.who) == rpc.get_worker_info("worker1")
    assert [rpc.get_worker_info(f"worker{k}").id for k in range(2)] == [0, 1]
    assert rpc.get_worker_info() == ("me", rpc.get_worker_info("me").id)
    assert rpc.rpc_sync("me", ts.add, args=(x, x)).tolist() == [0.0, 2.0, 4.0, 6.0]
    for unknown, message in (("worker2", "name worker2"), (99, "id 99")):
        with pytest.raises(RuntimeError, match=f"could not find destination {message}"):
            rpc.rpc_sync(unknown, ts.add, args=(x, 1))


def test_calls_to_this_process(me):
    """Other processes find this process by name and call it."""
    own = rpc.get_worker_info().id
    assert rpc.rpc_sync("worker0", clusters.ask, args=("me",)) == own
    assert rpc.rpc_sync("worker1", clusters.ask, args=("worker0",)) == 0


def test_references_between_unconnected_processes(me):
    """References can be sent to processes that have not connected to the owner before."""
    ref = rpc.rpc_sync("worker0", clusters.handle, args=("worker1",))
    assert (ref.owner_name(), ref.to_here().item()) == ("worker1", 5.0)
    own = rpc.RRef(ts.ones(2))
    assert rpc.rpc_sync("worker1", clusters.handle, args=("me",)).to_here().item() == 5.0
    assert rpc.rpc_sync("worker0", ts.add, args=(ts.ones(2), 1)).tolist() == [2.0, 2.0]
    del own


def test_addresses_of_processes(me):
    """A record with another id does not change the address of a name; a malformed record is rejected."""
    members = current().directory
    address = members.peer("worker0").address
    assert members.peer_from_record([77, "worker0", address]).info == ("worker0", 77)
    assert members.peer("worker0").info.id == 0
    for wrong in (
        [77, "worker0"],
        "worker0",
        [b"1", "a", address],
        [78, "a", "tcp://127.0.0.1:1"],
        [78, "a", "x"],
    ):
        with pytest.raises(ValueError, match=r"expected a record|is not an address of this cluster"):
            members.peer_from_record(wrong)
    assert 78 not in members.peers


def test_invalid_address_for_a_number(me):
    """A lookup by name uses the scheduler's data instead of a received record with a wrong address."""
    current().directory.peer_from_record((1, "worker1", "ts://127.0.0.1:1"))
    assert rpc.rpc_sync("worker1", clusters.who) == ("worker1", 1)


def test_map_gives_batches_to_the_workers(me):
    """`map` sends batches to workers only, not to other members."""
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM.format(me.address)],
        env=clusters.ENVIRONMENT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    ) as program:  # fmt: skip
        assert program.stdout.readline() == "joined\n"
        assert [info.name for info in current().directory.workers()] == ["worker0", "worker1"]
        pids = {pid for pid in distributed_map(clusters.pid, [()] * 12)}
        assert pids == {m["pid"] for m in me.members() if m["kind"] == "worker"}
        batches = [ts.arange(float(k)) for k in range(6)]
        assert [x.item() for x in distributed_map(clusters.squares, batches)] == [0, 0, 1, 5, 14, 30]
        program.stdin.close()
        assert program.wait(clusters.TIMEOUT_SECONDS) == 0


PROGRAM = """
import sys
from tests.distributed import clusters as there
with there.joined("{}", "other"):
    print("joined", flush=True)
    sys.stdin.read()
"""


def test_names_of_live_processes_are_reserved(me):
    clusters.wait_until(lambda: "me" in {m["name"] for m in me.members()})
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(me.address).replace('"other"', '"worker0"')],
        env=clusters.ENVIRONMENT, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=clusters.TIMEOUT_SECONDS,
    )  # fmt: skip
    assert done.returncode == 1
    assert "JoinError: the name worker0 is already used" in done.stderr


def test_a_process_that_leaves_waits_for_its_own_calls(cluster):
    """A process that leaves waits for its own calls; its name becomes available, for a process with a new
    worker id."""
    rpc.init_rpc("brief", rpc_backend_options=clusters.options(cluster.address))
    first = rpc.get_worker_info().id
    future = rpc.rpc_async("worker0", clusters.sleep, args=(0.3,))
    rpc.shutdown()
    assert future.done() and future.wait() == 0.3
    with clusters.joined(cluster.address, "brief"):
        assert rpc.get_worker_info().id > first
        assert clusters.sum_of_squares_or_none("worker0") == 14.0


def test_invalid_options_for_a_cluster(cluster):
    given = clusters.options(cluster.address)
    with pytest.raises(ValueError, match="do not pass rank and world_size"):
        rpc.init_rpc("me", rank=0, world_size=2, rpc_backend_options=given)
    with pytest.raises(RuntimeError, match="Worker name must match"):
        rpc.init_rpc("a b", rpc_backend_options=given)
    for wrong in ("ts://127.0.0.1", "ts://:80"):
        with pytest.raises(ValueError, match="invalid cluster address"):
            rpc.init_rpc("me", rpc_backend_options=clusters.options(wrong))
    with pytest.raises(RuntimeError, match="found no cluster of this user at"):
        rpc.init_rpc("me", rpc_backend_options=clusters.options("ts://127.0.0.1:1"))
    with pytest.raises(RuntimeError, match="needs certificates"):
        rpc.init_rpc("me", rpc_backend_options=clusters.options(cluster.address.replace("ts", "ts+tls")))
    with pytest.raises(RuntimeError, match=r"cannot join the cluster .* does not know the secret"):
        rpc.init_rpc("me", rpc_backend_options=clusters.options(cluster.address, secret=b"x" * 32))


def test_status(me):
    """The status table lists the members and counts their calls and errors."""
    before = next(m for m in me.members() if m["name"] == "worker0")
    for _ in range(3):
        rpc.rpc_sync("worker0", clusters.number)
    with pytest.raises(TypeError):
        rpc.rpc_sync("worker0", clusters.number, args=(1,))
    future = rpc.rpc_async("worker0", clusters.sleep, args=(60,))

    def message():
        row = next(m for m in me.members() if m["name"] == "worker0")
        return row["done"] >= before["done"] + 4 and row["failed"] > before["failed"] and row["running"] == 1

    clusters.wait_until(message)
    del future
    with clusters.command("cluster", "--status", me.address) as process:
        out, err = process.communicate(timeout=clusters.TIMEOUT_SECONDS)
    assert (process.returncode, err) == (0, "")
    header, *rows = out.splitlines()
    assert header.split() == "name number kind address pid running done failed memory since".split()
    assert [row.split()[:3] for row in rows[:2]] == [["worker0", "0", "worker"], ["worker1", "1", "worker"]]
    assert re.fullmatch(
        r"worker0 +0 +worker +ts://127\.0\.0\.1:\d+ +\d+ +1 +\d+ +\d+ +[1-9]\d*M +\d{4}-\d\d-\d\d [\d:]{8}",
        rows[0],
    )
    assert rows[2].split()[0] == "me"
