"""Processes that die, stop or never start, and untrusted peers: no call exceeds its timeout."""

import os
import signal
import socket
import subprocess
import sys
import time

import pytest

import ts

pytest.importorskip("distributed", reason="rpc needs dask.distributed")
from tests.distributed import rpc_worker
from tests.distributed.rpc_worker import eventually, start
from tests.distributed.process_groups import free_port
from ts.distributed import rpc
from ts.distributed.transport import BlockingConnection, Security
from ts.distributed.rendezvous import Rendezvous, RendezvousAddress, RendezvousError, parse_init_method
from ts.distributed.rpc.api import current


def test_a_process_that_exits_in_the_middle(three_workers):
    rpc.rpc_sync("worker1", rpc_worker.add, args=(1, 2))
    sleeping = [rpc.rpc_async("worker1", rpc_worker.sleep, args=(60,)) for _ in range(3)]
    ref = rpc.remote("worker1", rpc_worker.add, args=(1, 2))
    assert ref.to_here() == 3
    own = rpc.RRef(5)
    rpc.rpc_sync("worker1", rpc_worker.hold_reference, args=(own,))
    assert eventually(lambda: not current().rrefs._pending_forks)
    start_time = time.monotonic()
    with pytest.raises(
        RuntimeError,
        match=r"WorkerInfo\(id=1, name=worker1\) exited or .*during tests\.distributed\.rpc_worker\.die",
    ):
        rpc.rpc_sync("worker1", rpc_worker.die)
    for future in sleeping:
        with pytest.raises(RuntimeError, match=r"name=worker1\) exited or .* during .*sleep"):
            future.wait()
    with pytest.raises(RuntimeError, match="exited or its connection broke"):
        ref.to_here()
    with pytest.raises(RuntimeError, match="exited or its connection broke"):
        rpc.rpc_sync("worker1", rpc_worker.add, args=(1, 2))
    with pytest.raises(RuntimeError, match="exited or its connection broke"):
        rpc.remote("worker1", rpc_worker.add, args=(1, 2)).to_here()
    assert time.monotonic() - start_time < 30
    assert rpc.rpc_sync("worker2", rpc_worker.add, args=(1, 2)) == 3  # other processes still work
    agent = current()
    assert agent.endpoint._connection_counts[1] == 0
    agent.endpoint.forget_worker(1)
    del own
    assert not len(agent.rrefs)
    assert three_workers[0].wait(10) == -signal.SIGKILL


def test_a_process_that_stops(three_workers):
    rpc.rpc_sync("worker1", rpc_worker.add, args=(1, 2))
    os.kill(three_workers[0].pid, signal.SIGSTOP)
    time.sleep(0.1)  # wait until all threads have stopped
    try:
        for ask in (rpc.rpc_sync, lambda *a, **k: rpc.rpc_async(*a, **k).wait()):
            with pytest.raises(RuntimeError, match=r"more than set timeout \(300 ms\)"):
                ask("worker1", rpc_worker.add, args=(1, 2), timeout=0.3)
    finally:
        os.kill(three_workers[0].pid, signal.SIGCONT)
    assert rpc.rpc_sync("worker1", rpc_worker.add, args=(1, 2)) == 3


def test_untrusted_peers(three_workers):
    """Peers without the secret are rejected; malformed messages of authenticated peers are answered with
    errors."""
    address = current().peer(1).address
    port = int(address.rpartition(":")[2])
    for data in (b"", b"GET / HTTP/1.0\r\n\r\n", os.urandom(4096)):
        with socket.create_connection(("127.0.0.1", port)) as client:
            client.sendall(data)
    with pytest.raises(ConnectionError):
        BlockingConnection(address, secret=b"x" * 32)
    how = current().directory.security.get_connection_args("worker")
    messages = [
        1, None, [], ["call"], ["call", 1, 2, 3, 4], ["call", ["operator", "aten::nothing"], [1], [], None],
        ["call", ["operator", "aten::add"], 3, [], None], ["call", ["operator", "aten::add"], [3, 0, 9], [], None],
        ["call", ["operator", "aten::add"], [1, [1, [3, 6, 0, 0, 0, [2**40], [1]]], [2]], [b"1234"], None],
        ["call", ["code", "0" * 64, "forward"], [1, [1], [2]], [], b"no archive"],
        ["call", ["code", "0" * 64, "__init__"], [1, [1], [2]], [], None],
        ["call", ["python", "os", "system"], [1, [1, {}], [2]], [], None],
        ["remote", ["operator", "aten::add"], [1, [1], [2]], [], None, "x", [1, 2], 0],
        ["method", [0, 99], "x", [1, [1], [2]], []], ["fetch", [0, 99]], ["fetch", "x"], ["drop", [0, 99], [0, 1]],
        ["need", [0, 99], [0, 1], 0], ["confirmed", [0, 99]], ["hello", "x"], ["hello", 1, "x"], ["bye"],
    ]  # fmt: skip
    for message in messages:
        channel = BlockingConnection(address, **how)
        try:
            assert channel.call([0, message], 10)[1][0] in ("failed", "unknown", "value")
        finally:
            channel.close()
    assert rpc.rpc_sync("worker1", rpc_worker.add, args=(1, 2)) == 3


def test_malformed_values():
    from ts.distributed.wire_values import MalformedValueError, WireContext, unpack

    wire_context = WireContext(rpc.RRef, None, None)
    for data in (
        (99,),
        (),
        ([],),
        {"a": 1},
        (2, 1),
        (5, "x"),
        (5, None),
        (8, "nowhere"),
        (7, 99),
        (4,),
        (12, 1, 2),
        (2, (0,), 1),
    ):
        with pytest.raises(MalformedValueError):
            unpack((data, ()), wire_context)
    tensor = (3, 6, 0, 0, 0, (2,), (1,))
    assert unpack((tensor, (bytes(8),)), wire_context).tolist() == [0, 0]
    for k, wrong in (
        (1, 99),
        (1, None),
        (2, 9),
        (3, 1),
        (3, -1),
        (4, 1),
        (4, -1),
        (5, (3,)),
        (5, (-1,)),
        (5, 2),
        (6, (2,)),
        (6, ()),
        (6, (-1,)),
    ):
        with pytest.raises(MalformedValueError):
            unpack(((*tensor[:k], wrong, *tensor[k + 1 :]), (bytes(8),)), wire_context)
    deep = ()
    for _ in range(100_000):
        deep = (0, deep)
    with pytest.raises(MalformedValueError):
        unpack((deep, ()), wire_context)


# ---- failed rendezvous


def test_missing_processes():
    place = RendezvousAddress("127.0.0.1", free_port(), 0, 2)
    with pytest.raises(RendezvousError, match="timeout of join: not all processes arrived within 1 s"):
        Rendezvous(place, "one", "nowhere", timeout=1)
    with pytest.raises(RendezvousError, match="cannot connect to rank 0 at 127"):
        Rendezvous(place._replace(rank=1), "two", "nowhere", timeout=0.5)


def test_mismatched_processes():
    place = RendezvousAddress("127.0.0.1", free_port(), 0, 1)
    meeting = Rendezvous(place, "one", "nowhere", timeout=5)
    try:
        for wrong, message in (
            (RendezvousAddress("127.0.0.1", place.port, 1, 2), "world sizes differ: 1 in rank 0"),
            (place, "rank 0 is already used"),
        ):
            with pytest.raises(RendezvousError, match=message):
                Rendezvous(
                    wrong._replace(rank=wrong.rank), "two", "nowhere", timeout=5
                ) if wrong.rank else _again(wrong)
        with pytest.raises(RendezvousError):
            Rendezvous(RendezvousAddress("127.0.0.1", place.port, 1, 2), "two", "x", Security(secret=b"y" * 32), timeout=1)
    finally:
        meeting.close()


def _again(place):
    """Join as a second process of rank 0."""
    from ts.distributed.event_loop import run
    from ts.distributed.rendezvous import _connected

    calls, _ = run(_connected(place, None, time.monotonic() + 5))
    found, message = calls.call(["join", 0, "two", "nowhere", 1]).result(5)
    raise RendezvousError(message) if not found else AssertionError(message)


def test_init_methods(monkeypatch):
    for name in ("MASTER_ADDR", "MASTER_PORT", "RANK", "WORLD_SIZE"):
        monkeypatch.delenv(name, raising=False)
    assert parse_init_method("tcp://127.0.0.1:5?rank=1&world_size=2") == ("127.0.0.1", 5, 1, 2, None)
    with pytest.raises(ValueError, match="environment variable MASTER_ADDR expected, but not set"):
        parse_init_method("env://", 0, 1)
    with pytest.raises(ValueError, match="tcp:// rendezvous: world_size parameter missing"):
        parse_init_method("tcp://127.0.0.1:5", 0)
    monkeypatch.setenv("MASTER_ADDR", "localhost")
    monkeypatch.setenv("MASTER_PORT", "7")
    with pytest.raises(ValueError, match="environment variable RANK expected"):
        parse_init_method(None)
    monkeypatch.setenv("RANK", "1")
    monkeypatch.setenv("WORLD_SIZE", "3")
    assert parse_init_method(None) == ("localhost", 7, 1, 3, None)
    with pytest.raises(ValueError, match="rank 3 is out of range for world size 3"):
        parse_init_method(None, 3, 3)
    with pytest.raises(RuntimeError, match="No rendezvous handler for etcd"):
        parse_init_method("etcd://x")


def test_secrets(tmp_path, monkeypatch):
    from ts.distributed import shared_secret

    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.delenv("TS_RPC_SECRET", raising=False)
    assert shared_secret.shared("127.0.0.1", 7) is None
    secret = shared_secret.new("localhost")
    shared_secret.publish_secret(7, secret)
    assert shared_secret.shared("127.0.0.1", 7) == secret and len(secret) == 32
    (folder,) = tmp_path.iterdir()
    assert folder.stat().st_mode & 0o077 == 0 and (folder / "7").stat().st_mode & 0o077 == 0
    shared_secret.withdraw(7, b"another")
    assert shared_secret.shared("127.0.0.1", 7) == secret
    shared_secret.withdraw(7, secret)
    assert shared_secret.shared("127.0.0.1", 7) is None
    with pytest.raises(shared_secret.MissingSecretError, match="which other machines can reach"):
        shared_secret.new("192.0.2.1")
    folder.chmod(0o755)
    with pytest.raises(shared_secret.MissingSecretError, match="must be a folder that only this user can access"):
        shared_secret.publish_secret(7, shared_secret.new("127.0.0.1"))
    monkeypatch.setenv("TS_RPC_SECRET", "sixteen letters or more")
    assert shared_secret.new("192.0.2.1") == shared_secret.shared("192.0.2.1", 7) == b"sixteen letters or more"


def test_before_and_after():
    for call in (
        rpc.get_worker_info,
        rpc.shutdown,
        lambda: rpc.rpc_sync("x", rpc_worker.add),
        lambda: rpc.RRef(1),
    ):
        with pytest.raises(
            RuntimeError,
            match=r"RPC has not been initialized. Call torch\.distributed\.rpc\.init_rpc first\.",
        ):
            call()
    for name in ("", "a b", "x" * 200, 3):
        with pytest.raises(RuntimeError, match="Worker name must match"):
            rpc.init_rpc(name, rank=0, world_size=1)
    with pytest.raises(TypeError, match="must be an instance of RpcBackendOptions"):
        rpc.init_rpc("x", rank=0, world_size=1, rpc_backend_options={})


def test_one_process_after_another():
    """RPC can be initialized again after a shutdown."""
    for _ in range(3):
        rpc.init_rpc("alone", rank=0, world_size=1, rpc_backend_options=rpc_worker.options(free_port()))
        assert rpc.rpc_sync("alone", ts.add, args=(1, 2)) == 3
        rpc.shutdown()


def test_forked_child_is_not_initialized(three_workers):
    ref = rpc.remote("worker1", rpc_worker.add, args=(1, 2))
    assert ref.to_here() == 3
    child = os.fork()
    if not child:
        with pytest.raises(RuntimeError, match="has not been initialized"):
            rpc.rpc_sync("worker1", rpc_worker.add, args=(1, 2))
        del ref  # sends no message in a forked process
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    assert ref.to_here() == 3 and rpc.rpc_sync("worker1", rpc_worker.add, args=(1, 2)) == 3


def test_process_that_exits_without_shutdown():
    """A process that exits without shutdown ends at once, and its peers get an error."""
    port = free_port()
    code = f"""
import os, sys
from tests.distributed import rpc_worker as there
from ts.distributed import rpc
rpc.init_rpc("worker1", rank=1, world_size=2, rpc_backend_options=there.options({port}))
print(rpc.rpc_sync("worker0", there.add, args=(1, 2)), flush=True)
"""
    other = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    rpc.init_rpc("worker0", rank=0, world_size=2, rpc_backend_options=rpc_worker.options(port))
    assert other.communicate(timeout=60)[0] == "3\n" and other.returncode == 0
    with pytest.raises(RuntimeError, match="exited or its connection broke"):
        rpc.rpc_sync("worker1", rpc_worker.add, args=(1, 2))
    rpc.shutdown(timeout=20)


def test_ungraceful_shutdown_is_reported(three_workers):
    sleeping = rpc.rpc_async("worker1", rpc_worker.sleep, args=(60,))
    rpc.rpc_async("worker1", rpc_worker.leave)
    with pytest.raises(RuntimeError, match=r"name=worker1\) exited or its connection broke"):
        sleeping.wait()
    with pytest.raises(RuntimeError, match="exited or its connection broke"):
        rpc.rpc_sync("worker1", rpc_worker.add, args=(1, 2))
    three_workers[0].kill()


def test_the_end_waits_for_calls_in_flight():
    port = free_port()
    other = start(port, 1, 2)
    rpc.init_rpc("worker0", rank=0, world_size=2, rpc_backend_options=rpc_worker.options(port))
    futures = [rpc.rpc_async("worker1", rpc_worker.sleep, args=(0.3, k)) for k in range(20)]
    rpc.shutdown()
    assert all(future.done() for future in futures) and [f.wait() for f in futures] == list(range(20))
    assert other.wait(20) == 0


def test_without_the_extra():
    code = "import sys; sys.modules['distributed'] = None\nfrom ts.distributed import rpc\nrpc.init_rpc('a', rank=0, world_size=1)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "pip install 'torchscript-ts[rpc]'" in found.stderr
