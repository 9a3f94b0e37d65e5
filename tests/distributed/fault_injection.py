"""Rounds of calls under faults: processes are killed or stopped, connections are slow, silent or cut.

    python -m tests.distributed.fault_injection 17 1         round 17, alone; FIRST COUNT

A round's number is its seed.  Three processes call each other by all functions of RPC; meanwhile faults are
injected into one or two of them.  Each call returns its result or raises an error in time; retryable calls
all return their results.  Afterwards live processes answer calls and hold no additional resources.
"""

import faulthandler
import gc
import itertools
import os
import random
import signal
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import psutil

import ts
from tests.distributed import rpc_worker
from tests.distributed.fork_server import ForkServer, shorten_timeouts
from tests.distributed.faulty_proxy import Proxy
from tests.distributed.process_groups import free_port
from ts import distributed
from ts.distributed import rpc
from ts.distributed.rpc.state import current

TIMEOUT = 5.0  # time limit of a call in seconds
SLACK = 20.0  # allowed delay in detecting the end of a process on a loaded machine
OTHERS = ("worker1", "worker2")


@ts.jit.script
def scripted(x: ts.Tensor, n: int) -> ts.Tensor:
    for _ in range(n):
        x = x * 2 + 1
    return x


# ---- functions called by other processes


def reroute(rank, address):
    """Set the address by which this process connects to another one."""
    current().directory.peers[rank].address = address


def resources():
    """Return the numbers of threads, open files and remote references of this process."""
    process = psutil.Process()
    return process.num_threads(), process.num_fds(), len(current().rrefs)


def length(ref):
    """Return the length of a remote value."""
    return len(ref.to_here(TIMEOUT))


# ---- faults


def kill(world, target, generator, finished):
    world.kill(target)


def stop(world, target, generator, finished):
    os.kill(world.pids[target], signal.SIGSTOP)
    time.sleep(generator.uniform(0.02, 0.4))
    os.kill(world.pids[target], signal.SIGCONT)


def slow(world, target, generator, finished):
    world.proxies[target].delay = generator.uniform(0, 0.005)
    finished.wait(generator.uniform(0.1, 0.5))
    world.proxies[target].delay = 0


def silence(world, target, generator, finished):
    world.proxies[target].hold()
    time.sleep(generator.uniform(0.02, 0.4))
    world.proxies[target].release()


def cut(world, target, generator, finished):
    for _ in range(generator.randrange(1, 4)):
        world.proxies[target].cut()
        time.sleep(generator.uniform(0, 0.03))


def drop(world, target, generator, finished):
    for _ in range(generator.randrange(1, 4)):
        world.proxies[target].drop_after(generator.choice((1, 10, 100, 1000, 100_000)) + generator.randrange(100))
        finished.wait(generator.uniform(0, 0.05))


def inject_no_fault(world, target, generator, finished):
    pass


FAULTS = (kill, stop, slow, silence, cut, cut, drop, drop, inject_no_fault)


# ---- calls during a fault: each ends with its result or with an error


def add(generator, to):
    x = ts.arange(float(generator.choice((1, 10, 30_000, 300_000))))
    assert ts.equal(rpc.rpc_sync(to, rpc_worker.add, args=(x, 1), timeout=TIMEOUT), x + 1)


def run_script(generator, to):
    n = generator.randrange(5)
    found = rpc.rpc_sync(to, scripted, args=(ts.ones(3), n), timeout=TIMEOUT)
    assert found.tolist() == [2.0 ** (n + 1) - 1] * 3


def many(generator, to):
    futures = [rpc.rpc_async(to, rpc_worker.add, args=(k, k), timeout=TIMEOUT) for k in range(30)]
    failed = None
    for k, future in enumerate(futures):
        try:
            assert future.wait() == 2 * k
        except RuntimeError as error:
            failed = error
    if failed is not None:
        raise failed


def keep(generator, to):
    ref = rpc.remote(to, rpc_worker.add, args=([1] * generator.randrange(1, 9), [2]), timeout=TIMEOUT)
    assert ref.to_here(TIMEOUT)[-1] == 2
    other = OTHERS[to == OTHERS[0]]
    assert rpc.rpc_sync(other, length, args=(ref,), timeout=2 * TIMEOUT) == len(ref.to_here(TIMEOUT))


def count(generator, to):
    counter = rpc.remote(to, rpc_worker.Counter, args=(5,), timeout=TIMEOUT)
    for k in range(1, 5):
        assert counter.rpc_sync(TIMEOUT).add(1) == 5 + k
    assert counter.remote(TIMEOUT).add(1).to_here(TIMEOUT) == 10


def call_with_own_rref(generator, to):
    ref = rpc.RRef([1, 2, 3])
    assert rpc.rpc_sync(to, length, args=(ref,), timeout=2 * TIMEOUT) == 3


def spread(generator, to):
    """Map over both other processes with retries, while one process stays alive."""
    batches = [(generator.choice((0, 0.001, 0.01)), k) for k in range(generator.randrange(1, 40))]
    found = distributed.map(rpc_worker.sleep, batches, retryable=True, timeout=TIMEOUT, in_flight=3)
    try:
        assert list(found) == [k for _, k in batches]
    except RuntimeError as error:
        raise AssertionError(f"a call that may be repeated failed: {error}") from error


KINDS = (add, run_script, many, keep, count, call_with_own_rref, spread)


def attempt(kind, seed):
    """Make calls of a kind and return True if they were answered."""
    generator = random.Random(seed)
    start = time.monotonic()
    try:
        kind(generator, generator.choice(OTHERS))
        ended = True
    except RuntimeError as error:
        message = str(error)
        assert "exited or its connection broke during" in message or "set timeout" in message, message
        ended = False
    assert time.monotonic() - start < 4 * TIMEOUT + SLACK, f"{kind.__name__} took too long"
    return ended


# ---- processes


class World:
    """A group of three processes with this one as worker0; the other two are accessed through proxies."""

    def __init__(self, fork_server_client):
        self.nursery = fork_server_client
        self.before = files_and_threads()
        port = free_port()
        self.pids = {name: fork_server_client.start(port, rank, 3) for rank, name in enumerate(OTHERS, 1)}
        self.killed = set()
        rpc.init_rpc("worker0", rank=0, world_size=3, rpc_backend_options=rpc_worker.options(port))
        peers = current().directory.peers
        self.proxies = {name: Proxy(peers[rank].address) for rank, name in enumerate(OTHERS, 1)}
        for rank, name in enumerate(OTHERS, 1):
            peers[rank].address = self.proxies[name].address
            other = OTHERS[rank % 2]
            rpc.rpc_sync(other, reroute, args=(rank, self.proxies[name].address))
        self.pool = ThreadPoolExecutor(4)

    def kill(self, target):
        """Kill a process, unless another one was killed before."""
        if not self.killed:
            self.killed.add(target)
            os.kill(self.pids[target], signal.SIGKILL)

    @property
    def alive(self):
        return [name for name in OTHERS if name not in self.killed]

    def round(self, seed):
        """Run one round and return the number of answered calls of each kind."""
        generator = random.Random(seed)
        finished = threading.Event()
        faults = [(generator.choice(FAULTS), generator.choice(OTHERS)) for _ in range(generator.choice((1, 1, 2)))]
        happening = [
            threading.Thread(target=self._happen, args=(fault, target, random.Random(generator.random()), finished))
            for fault, target in faults
        ]
        calls = [(generator.choice(KINDS), generator.random()) for _ in range(6)]
        for thread in happening:
            thread.start()
        found = [self.pool.submit(attempt, *call) for call in calls]
        ended = [future.result(8 * TIMEOUT + 2 * SLACK) for future in found]
        finished.set()
        for thread in happening:
            thread.join(SLACK)
        self.unharmed()
        return [(fault.__name__, target) for fault, target in faults], sum(ended)

    def _happen(self, fault, target, generator, finished):
        time.sleep(generator.uniform(0, 0.03))
        if target in self.killed:
            return
        try:
            fault(self, target, generator, finished)
        except ProcessLookupError:
            return  # another fault has killed the process

    def unharmed(self):
        """Check that live processes answer and that no references remain."""
        for proxy in self.proxies.values():
            proxy.heal()
        time.sleep(0.02)  # time to detect cut connections
        for name in self.alive:
            for k, ask in enumerate((rpc.rpc_sync, lambda *a, **k: rpc.rpc_async(*a, **k).wait())):
                assert ask(name, rpc_worker.add, args=(k, 1), timeout=60) == k + 1
        references = current().rrefs
        wait_until(lambda: not len(references) and not references._pending_forks, "references are kept here")
        for name in self.alive:
            wait_until(lambda name=name: self.ask(name)[2] == 0, f"references are kept in {name}")

    def ask(self, name):
        return rpc.rpc_sync(name, resources, timeout=60)

    def close(self):
        """Check that all processes have ended and that this process has no additional files and threads."""
        for name in self.alive:
            threads, files, _ = self.ask(name)
            assert threads < 60 and files < 100, f"{name} has {threads} threads and {files} files"
        self.pool.shutdown()
        rpc.shutdown(timeout=60)
        for name, pid in self.pids.items():
            expected = -signal.SIGKILL if name in self.killed else 0
            found = self.nursery.ended(pid)
            assert found == expected, f"{name} ended with {found}"
        for proxy in self.proxies.values():
            proxy.close()
        wait_until(
            lambda: leaked_resources(self.before) == (0, 0), lambda: f"{leaked_resources(self.before)} {psutil.net_connections()}"
        )


def files_and_threads():
    return psutil.Process().num_fds(), sum(
        not thread.name.startswith("asyncio_")
        for thread in threading.enumerate()  # except threads that resolve host names
    )


def leaked_resources(before):
    """Return the numbers of additional open files and threads."""
    files, threads = (now - then for now, then in zip(files_and_threads(), before, strict=True))
    return max(files, 0), max(threads, 0)


def wait_until(check, message, seconds=30):
    """Wait until a check succeeds."""
    until = time.monotonic() + seconds
    for turn in itertools.count():
        if check():
            return
        assert time.monotonic() < until, message() if callable(message) else message
        time.sleep(0.002)
        gc.collect(2 if turn % 50 == 20 else 0)


def warm_up():
    """Create the threads and files that stay open after the first use: event loops and a proxy."""
    rpc.init_rpc("alone", rank=0, world_size=1, rpc_backend_options=rpc_worker.options(free_port()))
    Proxy("ts://127.0.0.1:1").close()
    rpc.shutdown()
    gc.collect()


def rounds(fork_server_client, first, count, report=lambda line: None):
    """Run rounds by number; raise AssertionError for a failed round."""
    warm_up()
    world, process, largest = None, psutil.Process(), 0
    for number in range(first, first + count):
        try:
            if world is None:
                world = World(fork_server_client)
            start = time.monotonic()
            faults, ended = world.round(number)
            report(f"round {number}: {faults}, {ended} of 6 ended well, {time.monotonic() - start:.2f} s")
            if world.killed:
                world.close()
                world = None
        except BaseException:
            print(f"in round {number}: python -m tests.distributed.fault_injection {number} 1", file=sys.stderr)
            raise
        memory = process.memory_info().rss >> 20
        if number - first == min(20, count // 2):
            largest = memory + 64
        if largest:
            assert memory < largest, f"after round {number} this process has {memory} MiB"
    if world is not None:
        world.close()
    report(f"{memory} MiB at the end")


def main():
    """Run the rounds given on the command line."""
    faulthandler.register(signal.SIGUSR1, all_threads=True)
    shorten_timeouts()
    fork_server_client = ForkServer()
    try:
        rounds(fork_server_client, *map(int, sys.argv[1:3]), report=lambda line: print(line, flush=True))
    finally:
        fork_server_client.close()


if __name__ == "__main__":
    from tests.distributed import fault_injection

    fault_injection.main()  # under the module name by which other processes call its functions
