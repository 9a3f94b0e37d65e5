"""Simulate the throughput of a single caller of `ts.distributed.map` from measured costs.

    python -m benchmarks.rpc_scale                 measure, then simulate
    python -m benchmarks.rpc_scale --caller 120    simulate with 120 us of the caller's CPU time for each task

The measurements are CPU times, on which other load of the machine has little effect.  The simulation has one
caller, which sends one task or receives one response at a time, and concurrent workers with a fixed number of
tasks in flight.  Messages pass the network interface of the caller's machine one after the other.
"""

from __future__ import annotations

import argparse
import heapq
import multiprocessing
import secrets
import time
from collections import deque
from typing import Any, Final, NamedTuple

import psutil

import ts
from benchmarks.rpc import free_port, options, same, serve
from ts import distributed
from ts.distributed import rpc
from ts.distributed.rpc.state import current
from ts.distributed.transport import BlockingConnection

TASKS: Final = 5_000
LARGE: Final = 1 << 22  # elements of float32: 16 MiB
CONNECTIONS: Final = 500


class Costs(NamedTuple):
    """Costs of a call: seconds of CPU time, and bytes of memory."""

    caller: float  # seconds to send a task and to receive its response
    worker: float
    byte: float  # seconds of the caller for each byte that is sent or received
    connection: float  # bytes of memory at the receiving end


def processor_time() -> float:
    """Return the CPU time of this process in seconds."""
    return time.process_time()


def memory() -> int:
    """Return the resident memory of this process in bytes."""
    return int(psutil.Process().memory_info().rss)


def measure() -> Costs:
    """Measure the costs of calls to two worker processes."""
    context, port, secret = multiprocessing.get_context("spawn"), free_port(), secrets.token_bytes(32)
    processes = [context.Process(target=serve, args=(rank, port, secret), daemon=True) for rank in (1, 2)]
    for process in processes:
        process.start()
    rpc.init_rpc("worker0", rank=0, world_size=3, rpc_backend_options=options(port, secret))
    tasks(100)
    before, worker_before = processor_time(), worker_processor_time()
    tasks(TASKS)
    caller, worker = (processor_time() - before) / TASKS, (worker_processor_time() - worker_before) / TASKS
    x = ts.ones(LARGE)
    rpc.rpc_sync("worker1", same, (x,))
    before = processor_time()
    for _ in range(10):
        rpc.rpc_sync("worker1", same, (x,))
    byte = (processor_time() - before) / (10 * 2 * LARGE * 4)
    connection = connections()
    rpc.shutdown()
    for process in processes:
        process.join(20)
    return Costs(caller, worker, byte, connection)


def tasks(count: int) -> None:
    """Run `count` empty tasks."""
    assert len(list(distributed.map(same, range(count), in_flight=32))) == count


def worker_processor_time() -> float:
    """Return the CPU time of the workers in seconds."""
    return sum(rpc.rpc_sync(name, processor_time) for name in ("worker1", "worker2"))


def connections() -> float:
    """Return the memory that a connection uses in the receiving process, in bytes."""
    peer, how = current().directory.peers[1], current().directory.security.get_connection_args("worker")
    before = rpc.rpc_sync("worker1", memory)
    channels = [BlockingConnection(peer.address, **how) for _ in range(CONNECTIONS)]
    for channel in channels:
        channel.call([0, ["hello", 0, peer.info.id]], 20)
    after = rpc.rpc_sync("worker1", memory)
    for channel in channels:
        channel.close()
    return (after - before) / CONNECTIONS


def simulate(costs: Costs, workers: int, seconds: float, size: int = 0, in_flight: int = 2) -> float:
    """Return the fraction of time that workers compute, for tasks of the given duration with `size` bytes in
    each direction."""
    half = costs.caller / 2 + size * costs.byte
    ready: deque[int] = deque(worker for _ in range(in_flight) for worker in range(workers))
    free = [0.0] * workers  # time at which each worker has finished its tasks
    answers: list[tuple[float, int]] = []
    now, computed = 0.0, 0.0
    for _ in range(max(20 * workers, 2_000)):
        if answers and (not ready or answers[0][0] <= now):
            arrival, worker = heapq.heappop(answers)
            now = max(now, arrival) + half
            ready.append(worker)
        else:
            worker = ready.popleft()
            now += half
            free[worker] = max(free[worker], now) + costs.worker + seconds
            computed += seconds
            heapq.heappush(answers, (free[worker], worker))
    end_time = max(now, sum(free) / workers)
    return computed / (end_time * workers)


def row(name: str, *cells: Any) -> str:
    """Return a row of a Markdown table."""
    return f"| {name} | " + " | ".join(map(str, cells)) + " |"


def main() -> None:
    """Print the costs and the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--caller", type=float, help="CPU time of the caller for a task, in microseconds; default: measured"
    )
    given = parser.parse_args().caller
    costs = measure() if given is None else Costs(given * 1e-6, given * 1e-6, 0.5e-9, 1e5)
    caller, worker = costs.caller * 1e6, costs.worker * 1e6
    print(f"CPU time of a task: {caller:.0f} us in the caller, {worker:.0f} us in a worker")
    print(f"CPU time of a byte: {costs.byte * 1e9:.2f} ns in the caller, {1e-9 / costs.byte:.1f} GB/s")
    print(f"memory of a connection: {costs.connection / 1024:.0f} KiB in the listening process")
    print(f"maximal rate of a caller: {1 / costs.caller:.0f} tasks/s\n")
    counts = (2, 10, 30, 100, 300, 1000, 3000)
    print("Utilization of the workers:\n")
    print(row("task duration", *(f"{count} workers" for count in counts)))
    print("|---" * (len(counts) + 1) + "|")
    for seconds in (0.001, 0.01, 0.1, 1.0):
        print(row(f"{seconds:g} s", *(f"{simulate(costs, count, seconds):.0%}" for count in counts)))
    for seconds in (0.1, 1.0):
        cells = (f"{simulate(costs, count, seconds, 1 << 20):.0%}" for count in counts)
        print(row(f"{seconds:g} s, 1 MiB sent and returned", *cells))


if __name__ == "__main__":
    main()
