"""Benchmark RPC against PyTorch's RPC and dask.distributed on one machine.

A round measures all contestants of a row, so that other load affects all of them; the best round counts.

    calls         `rpc_sync` and `rpc_async` of Python and scripted functions; a tensor round trip
    ping          round trip of a message over dask's comm and that of `ts`; an empty call
    map           scalar work in two processes and in one; time per task, compared with `Client.map`
"""

from __future__ import annotations

import asyncio
import importlib.util
import logging
import math
import multiprocessing
import secrets
import socket
import time
from collections.abc import Callable, Iterator
from typing import Any, Final

from distributed import Client, LocalCluster
from distributed.comm import connect, listen

import ts
from benchmarks.timing import Case, table
from ts import distributed
from ts.distributed import rpc
from ts.distributed.event_loop import run
from ts.distributed.transport import BlockingConnection, Security, TransportLimits

WORKERS: Final = ("worker1", "worker2")
TASKS: Final = 10_000

Timed = Callable[[int], float]  # function from a number of calls to the seconds of one call


@ts.jit.script
def scripted(x: ts.Tensor, n: int) -> ts.Tensor:
    """Run a few small operators; equal to the function for PyTorch."""
    for _ in range(n):
        x = x * 2 + 1
    return x


@ts.jit.script
def scalar(n: int, seed: int) -> int:
    """Run integer arithmetic that keeps a processor busy."""
    x = seed
    for k in range(n):
        x = (x * 1103515245 + 12345 + k) % 2147483648
    return x


def same(x: Any) -> Any:
    """Return the argument; a Python function."""
    return x


def nothing() -> None:
    """Do nothing, for measuring an empty call."""


# ---- worker processes


def free_port() -> int:
    """Return a free port."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def options(port: int, apart: bytes | None = None) -> rpc.RpcBackendOptions:
    """Return the RPC options of all processes; with a secret in `apart` they share no memory, as on several
    machines."""
    security = None if apart is None else Security(secret=apart, limits=TransportLimits(shared=0))
    return rpc.RpcBackendOptions(
        init_method=f"tcp://127.0.0.1:{port}", allow_python=True, rpc_timeout=600, security=security
    )


def serve(rank: int, port: int, apart: bytes | None = None) -> None:
    """Run an RPC process that serves calls."""
    ts.set_num_threads(1)
    rpc.init_rpc(f"worker{rank}", rank=rank, world_size=3, rpc_backend_options=options(port, apart))
    rpc.shutdown()


async def echo(comm: Any) -> None:
    """Send every message back to its sender."""
    try:
        while True:
            await comm.write(await comm.read())
    except OSError:
        return


def serve_comms(security: Security, pipe: Any) -> None:
    """Run an echo process with a dask address and a `ts` address."""

    async def main() -> None:
        dasks = await listen("tcp://127.0.0.1:0", echo)
        ours = await listen("ts://127.0.0.1:0", echo, **security.get_listen_args("worker"))
        pipe.send([dasks.contact_address, ours.contact_address])
        await asyncio.Event().wait()

    asyncio.run(main())


# ---- measurements


def timed(call: Callable[[], Any]) -> Timed:
    """Return the time of a call from a thread, in seconds."""

    def run_it(times: int) -> float:
        start = time.perf_counter()
        for _ in range(times):
            call()
        return (time.perf_counter() - start) / times

    return run_it


def in_flight(count: int) -> None:
    """Run `count` concurrent calls."""
    for future in [rpc.rpc_async("worker1", same, (number,)) for number in range(count)]:
        future.wait()


def interleaved(rows: dict[tuple[str, int], dict[str, Timed]], rounds: int) -> list[Case]:
    """Return the cases with the best of several interleaved rounds."""
    cases = []
    for (name, times), contestants in rows.items():
        best = dict.fromkeys(contestants, math.inf)
        for call in contestants.values():
            call(1)
        for _ in range(rounds):
            for peer, call in contestants.items():
                best[peer] = min(best[peer], call(times))
        cases.append(Case(name, {}, seconds=best))
    return cases


def calls(context: Any) -> dict[tuple[str, int], dict[str, Timed]]:
    """Time calls of `ts`, and of PyTorch if it is installed."""
    large, x = ts.ones(1 << 24), ts.ones(3)
    rows: dict[tuple[str, int], dict[str, Timed]] = {
        ("python", 300): {"ts": timed(lambda: rpc.rpc_sync("worker1", same, (1,)))},
        ("scripted", 300): {"ts": timed(lambda: rpc.rpc_sync("worker1", scripted, (x, 2)))},
        ("64 MiB", 4): {"ts": timed(lambda: rpc.rpc_sync("worker1", same, (large,)))},
        ("in flight", 2): {"ts": timed(lambda: in_flight(1000))},
    }
    if importlib.util.find_spec("torch"):
        from benchmarks.rpc_torch import serve as serve_torch

        ours, theirs = context.Pipe()
        port = free_port()
        for rank in range(2):
            context.Process(target=serve_torch, args=(rank, port, theirs), daemon=True).start()

        def ask(name: str) -> Timed:
            def run_it(times: int) -> float:
                ours.send((name, times))
                return float(ours.recv())

            return run_it

        for (name, _), contestants in rows.items():
            contestants["PyTorch"] = ask(name)
    return rows


def pings(context: Any) -> dict[tuple[str, int], dict[str, Timed]]:
    """Time round trips of a message in an event loop and from a thread, and an empty call."""
    security = Security(secret=secrets.token_bytes(32))
    ours, theirs = context.Pipe()
    context.Process(target=serve_comms, args=(security, theirs), daemon=True).start()
    dasks_address, ours_address = ours.recv()
    how = security.get_connection_args("client")

    def over(comm: Any) -> Timed:
        async def ping(times: int) -> float:
            start = time.perf_counter()
            for _ in range(times):
                await comm.write({"op": "ping", "x": 1})
                await comm.read()
            return (time.perf_counter() - start) / times

        return lambda times: run(ping(times))

    channel = BlockingConnection(ours_address, **how)
    return {
        ("ping and empty call", 300): {
            "ts": over(run(connect(ours_address, **how))),
            "dask, tcp://": over(run(connect(dasks_address))),
            "Channel, a thread": timed(lambda: channel.call({"op": "ping", "x": 1})),
            "rpc_sync": timed(lambda: rpc.rpc_sync("worker1", nothing)),
        }
    }


def scaling(workers: tuple[str, ...]) -> Timed:
    """Measure scalar work in several processes."""
    batches = [(20_000_000, seed) for seed in range(16)]
    return timed(lambda: list(distributed.map(scalar, batches, workers=workers)))


def tasks(client: Client) -> dict[tuple[str, int], dict[str, Timed]]:
    """Time many small tasks."""

    def dasks(times: int) -> float:
        start = time.perf_counter()
        client.gather(client.map(same, range(times), pure=False))
        return (time.perf_counter() - start) / times

    def ours(times: int) -> float:
        start = time.perf_counter()
        assert len(list(distributed.map(same, range(times), in_flight=32))) == times
        return (time.perf_counter() - start) / times

    return {("10,000 tasks, each", TASKS): {"ts": ours, "dask, Client.map": dasks}}


def measured(rounds: int) -> Iterator[str]:
    """Yield the tables of results."""
    logging.disable()
    context = multiprocessing.get_context("spawn")
    port = free_port()
    processes = [context.Process(target=serve, args=(rank, port), daemon=True) for rank in (1, 2)]
    for process in processes:
        process.start()
    rpc.init_rpc("worker0", rank=0, world_size=3, rpc_backend_options=options(port))
    yield table("Calls of another process", interleaved(calls(context), rounds))
    yield table("A message there and back", interleaved(pings(context), rounds))
    scaled = {"ts": scaling(WORKERS), "one process": scaling(WORKERS[:1])}
    yield table("Scalar work over two processes", interleaved({("16 batches", 1): scaled}, rounds))
    how = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with LocalCluster(**how) as cluster, Client(cluster) as client:
        yield table("Many small tasks", interleaved(tasks(client), min(rounds, 2)))
    rpc.shutdown()
    for process in processes:
        process.join(20)


def report(rounds: int) -> str:
    """Print each table as soon as it is measured."""
    for text in measured(rounds):
        print(text, end="\n\n", flush=True)
    return "Where other work runs, compare the columns of one run only."
