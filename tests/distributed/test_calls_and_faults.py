"""All kinds of calls under all faults: each returns its result, or fails in time with the name of the
process."""

from concurrent.futures import ThreadPoolExecutor

import pytest

import ts

pytest.importorskip("distributed", reason="rpc needs dask.distributed")

from tests.distributed import rpc_worker
from tests.distributed.fault_injection import World, warm_up
from ts import distributed
from ts.distributed import rpc
from ts.distributed.transport import message_codec

SIZE = 40 << 20  # float32 elements
REMAINING_BYTES = 64 << 20  # bytes of additional memory of a limited process

CALLS = {
    "rpc_sync": ("sleep", lambda to, x: rpc.rpc_sync(to, rpc_worker.sleep, args=(x,))),
    "rpc_async": ("sleep", lambda to, x: rpc.rpc_async(to, rpc_worker.sleep, args=(x,)).wait()),
    "remote": ("to_here", lambda to, x: rpc.remote(to, rpc_worker.sleep, args=(x,)).to_here()),
    "method": ("sleep", lambda to, x: rpc.remote(to, rpc_worker.Counter).rpc_sync().sleep(x)),
    "method, async": ("sleep", lambda to, x: rpc.remote(to, rpc_worker.Counter).rpc_async().sleep(x).wait()),
    "method, remote": ("to_here", lambda to, x: rpc.remote(to, rpc_worker.Counter).remote().sleep(x).to_here()),
    "map": ("sleep", lambda to, x: next(distributed.map(rpc_worker.sleep, [(x,)], workers=[to]))),
}


@pytest.fixture
def world(fork_server_client):
    warm_up()
    made = World(fork_server_client)
    yield made
    made.close()


@pytest.fixture
def pool():
    with ThreadPoolExecutor(2 * len(CALLS)) as made:
        yield made


def begin(pool, to, seconds):
    return {kind: pool.submit(call, to, seconds) for kind, (_, call) in CALLS.items()}


def test_a_process_exits_during_calls(world, pool):
    """Calls to a process that dies fail at once and name the process and the function."""
    kept = rpc.remote("worker1", rpc_worker.add, args=(1, 2))
    assert kept.to_here() == 3
    calls = begin(pool, "worker1", 3600)
    rpc.rpc_sync("worker1", rpc_worker.sleep, args=(0.5,))
    world.kill("worker1")
    for kind, (pattern, _) in CALLS.items():
        with pytest.raises(RuntimeError, match=rf"name=worker1\) exited or .* during [^:]*{pattern}"):
            calls[kind].result(50)
    with pytest.raises(RuntimeError, match=r"name=worker1\) exited or .* during to_here"):
        kept.to_here()
    for _, call in CALLS.values():
        with pytest.raises(RuntimeError, match=r"name=worker1\) exited or its connection broke"):
            call("worker1", 0)
        assert call("worker2", 0) is None


def test_owner_exits_during_waiting_calls(world, pool):
    """The death of an owner is reported to callers in other processes, also through a third process."""
    kept = rpc.remote("worker1", rpc_worker.sleep, args=(3600, 3))
    waiting = pool.submit(rpc.rpc_sync, "worker2", rpc_worker.of, args=(kept,))
    rpc.rpc_sync("worker1", rpc_worker.sleep, args=(0.5,))
    world.kill("worker1")
    with pytest.raises(RuntimeError, match=r"name=worker1\) exited or its connection broke"):
        waiting.result(50)


def test_connections_are_cut_during_calls(world, pool):
    """Calls fail at once when a connection is cut; the process and its values remain usable."""
    kept = rpc.remote("worker1", rpc_worker.add, args=(1, 2))
    calls = begin(pool, "worker1", 1.0)
    rpc.rpc_sync("worker1", rpc_worker.sleep, args=(0.5,))
    world.proxies["worker1"].cut()
    for call in calls.values():
        with pytest.raises(RuntimeError, match=r"name=worker1\) exited or its connection broke"):
            call.result(50)
    del call, calls  # their errors have frames with references
    rpc.rpc_sync("worker2", rpc_worker.sleep, args=(4,))  # longer than the reconnect timeout
    assert kept.to_here() == 3
    del kept
    world.unharmed()


@pytest.mark.parametrize("seconds", [1.0, pytest.param(10.0, marks=pytest.mark.long)])
def test_calls_during_a_network_partition(world, pool, seconds):
    """Calls during a network partition time out or are answered; later calls succeed."""
    for call in begin(pool, "worker1", 0).values():  # opens the connections
        assert call.result(50) is None
    slow_calls = begin(pool, "worker1", 0.2)
    fast_calls = []
    world.proxies["worker1"].hold()
    for ask in (rpc.rpc_sync, lambda *a, **k: rpc.rpc_async(*a, **k).wait()):
        fast_calls += [pool.submit(ask, "worker1", rpc_worker.sleep, (0.2,), None, seconds / 4) for _ in range(3)]
    for call in fast_calls:
        with pytest.raises(RuntimeError, match="more than set timeout"):
            call.result(50)
    rpc.rpc_sync("worker2", rpc_worker.sleep, args=(seconds,))
    world.proxies["worker1"].release()
    for call in slow_calls.values():
        error = call.exception(50)
        assert error is None or "exited or its connection broke" in str(error)  # not yet accepted
    del call, slow_calls, fast_calls
    world.unharmed()


def test_arguments_larger_than_memory(world, monkeypatch):
    """A process that cannot allocate the arguments of a call reports the error and stays alive; other calls
    continue."""
    monkeypatch.setattr(message_codec, "MIN_SHARED_BYTES", 1 << 40)  # disable shared memory
    x = ts.ones(SIZE)
    same = {
        "rpc_sync": lambda: rpc.rpc_sync("worker1", rpc_worker.identity, args=(x,)),
        "rpc_async": lambda: rpc.rpc_async("worker1", rpc_worker.identity, args=(x,)).wait(),
        "remote": lambda: rpc.remote("worker1", rpc_worker.identity, args=(x,)).to_here(),
    }
    assert rpc.rpc_sync("worker1", rpc_worker.in_threads, args=("worker2", 4)) == 6  # creates its threads
    assert [len(call()) for call in same.values()] == [SIZE] * 3
    world.unharmed()  # and waits until arguments are released
    rpc.rpc_sync("worker1", rpc_worker.limit_memory, args=(REMAINING_BYTES,))
    other = rpc.rpc_async("worker1", rpc_worker.sleep, args=(1, 7))
    for call in same.values():
        with pytest.raises(MemoryError, match=f"a buffer of {SIZE * 4} bytes"):
            call()
    assert other.wait() == 7
    rpc.rpc_sync("worker1", rpc_worker.limit_memory, args=(None,))
    assert [len(call()) for call in same.values()] == [SIZE] * 3


def test_results_larger_than_memory(world):
    """An answer that exceeds the caller's memory raises an error; the owner keeps its values."""
    kept = rpc.remote("worker1", ts.ones, args=([SIZE],))
    assert kept.rpc_sync().sum() == SIZE
    try:
        rpc_worker.limit_memory(REMAINING_BYTES)
        for call in (
            kept.to_here,
            lambda: rpc.rpc_sync("worker1", ts.ones, args=([SIZE],)),
            lambda: rpc.rpc_async("worker1", ts.ones, args=([SIZE],)).wait(),
        ):
            with pytest.raises(MemoryError, match=f"a buffer of {SIZE * 4} bytes"):
                call()
    finally:
        rpc_worker.limit_memory(None)
    assert len(kept.to_here()) == SIZE
    del kept
    world.unharmed()


def test_more_waiting_calls_than_threads(world):
    """Calls beyond the number of threads wait in the event loop."""
    with ThreadPoolExecutor(50) as pool:
        calls = [pool.submit(rpc.rpc_sync, "worker1", rpc_worker.sleep, (0.05, k)) for k in range(200)]
        assert [call.result(50) for call in calls] == list(range(200))
        ref = rpc.RRef(7)
        calls = [pool.submit(rpc.rpc_sync, "worker1", rpc_worker.later, ("worker2", k)) for k in range(100)]
        assert [call.result(50) for call in calls] == [10 * (k + 1) for k in range(100)]
        assert rpc.rpc_sync("worker1", rpc_worker.of, args=(ref,)) == (False, "worker0", 7)
    del ref


def test_messages_above_the_size_limit(world):
    """Messages above the size limit raise ValueError in the sender."""
    with pytest.raises(ValueError, match="a message has 5004 bytes, 100 are allowed"):
        message_codec.MessageEncoder(message_codec.TransportLimits(bytes=100)).pack([b"x" * 4999])
    with pytest.raises(ValueError, match="has 1100 frames, 1024 are allowed"):
        rpc.rpc_sync("worker1", rpc_worker.identity, args=(rpc_worker.many(1100),))
    kept = rpc.remote("worker1", rpc_worker.many, args=(1100,))
    for answer in (kept.to_here, lambda: rpc.rpc_sync("worker1", rpc_worker.many, args=(1100,))):
        with pytest.raises(ValueError, match="has 1100 frames, 1024 are allowed"):
            answer()
    del kept, answer
    assert rpc.rpc_sync("worker1", rpc_worker.add, args=(1, 2)) == 3


def test_references_released_while_locks_are_held(world):
    """Remote references may be released while locks are held, as the garbage collector does."""
    from ts.distributed import event_loop
    from ts.distributed.rpc.state import current

    kept = rpc.remote("worker1", rpc_worker.add, args=(1, 2))
    assert kept.to_here() == 3
    peer, calls, timers = kept._peer, current().endpoint.calls, event_loop._timers
    with peer._lock, peer.outbox._lock, calls._changed, timers._lock:
        del kept
    world.unharmed()
