"""Benchmark of calls between two processes of this machine over several transports.

    python -m benchmarks.rpc_transport [--rounds 5]

A call returns its argument.  The transports are measured in interleaved rounds, so that other load of the
machine affects all of them; the best round counts.  PyTorch's RPC is measured if it is installed.

    PyTorch RPC              rpc_sync of a Python function; rpc_async for calls in flight (TensorPipe)
    dask tcp                 `rpc` and `Server` over dask's own comms, which pickle
    dask ts                  the same over ts://
    Channel                  a blocked thread, and a `Server`
    Calls                    a blocked thread with one of many calls over a connection in an event loop
    Calls, in the loop       the same, from a coroutine
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import multiprocessing
import os
import secrets
import threading
import time
from collections.abc import Callable
from concurrent.futures import wait
from typing import Any

import numpy as np
from distributed.core import Server, Status, rpc
from distributed.protocol import to_serialize

from ts.distributed.transport import BlockingConnection, Comm, Security
from ts.distributed.transport.multiplexing import RequestMultiplexer, answer

IN_FLIGHT = 1000
LARGE = 16 << 20  # number of float32 elements
Times = dict[str, float]  # in seconds


class Echo(Server):
    """Echo server in the other process."""

    def __init__(self) -> None:
        super().__init__({"echo": self.back, "zero": self.zero, "calls": self.calls})

    async def back(self, x: Any) -> Any:
        return to_serialize(x) if isinstance(x, np.ndarray) else x  # dask's comms require explicit marking

    async def zero(self, x: Any) -> int:
        return 0

    async def calls(self, comm: Comm) -> Status:
        await answer(comm, lambda call, reply: reply(call if call[0] == "echo" else 0))
        return Status.dont_reply


def serve(security: Security, pipe: Any) -> None:
    """Run the echo server at a `ts` and a dask address."""
    logging.disable()

    async def main() -> None:
        server = Echo()
        for address in ("ts://127.0.0.1:0", "tcp://127.0.0.1:0"):
            await server.listen(address, **(security.get_listen_args("worker") if address[1] == "s" else {}))
        pipe.send([listener.contact_address for listener in server.listeners])
        await server.finished()

    asyncio.run(main())


def best_of(times: int, call: Callable[[], object]) -> float:
    """Return the seconds of one call, as the mean of several calls."""
    start = time.perf_counter()
    for _ in range(times):
        call()
    return (time.perf_counter() - start) / times


def measured(small: Callable[[], object], there: Callable[[], object], both: Callable[[], object]) -> Times:
    """Return the times of sequential calls of one transport."""
    best_of(50, small)
    return {
        "small": best_of(500, small),
        "64 MiB there": best_of(4, there),
        "64 MiB there and back": best_of(4, both),
    }


class Transports:
    """Measurements of the transports of `ts` and of dask."""

    def __init__(self, addresses: list[str], security: Security) -> None:
        self.ours, self.dasks = addresses
        self.how = security.get_connection_args("client")
        self.data = np.ones(LARGE, np.float32)
        self.loop = asyncio.new_event_loop()
        threading.Thread(target=self.loop.run_forever, daemon=True).start()
        self.channel = BlockingConnection(self.ours, **self.how)
        self.calls = self.in_loop(self.connect())

    def in_loop(self, coroutine: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result()

    async def connect(self) -> RequestMultiplexer:
        from distributed.comm import connect

        comm = await connect(self.ours, **self.how)
        await comm.write({"op": "calls", "reply": False})
        self.comm = comm
        return RequestMultiplexer(comm)

    def dask(self, address: str, how: dict[str, Any], data: Any) -> Times:
        """Time calls of dask's `rpc` in the event loop."""

        async def run() -> Times:
            async with rpc(address, connection_args=how) as far:
                await far.echo(x=1)
                times = {}
                for name, count, call in (
                    ("small", 500, lambda: far.echo(x=1)),
                    ("64 MiB there", 4, lambda: far.zero(x=data)),
                    ("64 MiB there and back", 4, lambda: far.echo(x=data)),
                ):
                    start = time.perf_counter()
                    for _ in range(count):
                        await call()
                    times[name] = (time.perf_counter() - start) / count
                return times

        return self.in_loop(run())

    def waiting(self) -> Times:
        """Time calls of a thread over a separate connection."""
        call, data = self.channel.call, memoryview(self.data)
        return measured(
            lambda: call({"op": "echo", "x": 1}),
            lambda: call({"op": "zero", "x": data}),
            lambda: call({"op": "echo", "x": data}),
        )

    def many(self) -> Times:
        """Time calls of a thread over a shared connection."""
        call, data = self.calls.call, memoryview(self.data)
        times = measured(
            lambda: call(["echo", 1]).result(),
            lambda: call(["zero", data]).result(),
            lambda: call(["echo", data]).result(),
        )
        times["in flight"] = best_of(3, lambda: wait([call(["echo", number]) for number in range(IN_FLIGHT)]))
        return times

    def many_in_loop(self) -> Times:
        """Time calls of coroutines over a shared connection."""

        async def run() -> Times:
            ask = self.calls.ask
            start = time.perf_counter()
            for _ in range(500):
                await ask(["echo", 1])
            small = (time.perf_counter() - start) / 500
            start = time.perf_counter()
            for _ in range(3):
                await asyncio.gather(*(ask(["echo", number]) for number in range(IN_FLIGHT)))
            return {"small": small, "in flight": (time.perf_counter() - start) / 3}

        return self.in_loop(run())


def echo(x: Any) -> Any:
    """Return the argument; called by PyTorch RPC."""
    return x


def zero(x: Any) -> int:
    """Return 0; called by PyTorch RPC."""
    return 0


def torch_in_flight() -> None:
    """Time concurrent calls of PyTorch's RPC."""
    from torch.distributed import rpc as torch_rpc

    for future in [torch_rpc.rpc_async("worker1", echo, (number,)) for number in range(IN_FLIGHT)]:
        future.wait()


def torch_process(rank: int, port: int, pipe: Any) -> None:
    """Run a PyTorch RPC process; rank 0 measures on request."""
    import torch
    from torch.distributed import rpc as torch_rpc

    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    torch_rpc.init_rpc(f"worker{rank}", rank=rank, world_size=2)
    if rank == 0:
        data = torch.ones(LARGE)
        while pipe.recv():
            times = measured(
                lambda: torch_rpc.rpc_sync("worker1", echo, (1,)),
                lambda: torch_rpc.rpc_sync("worker1", zero, (data,)),
                lambda: torch_rpc.rpc_sync("worker1", echo, (data,)),
            )
            times["in flight"] = best_of(3, torch_in_flight)
            pipe.send(times)
    torch_rpc.shutdown()


def start_torch(context: Any) -> Callable[..., Times] | None:
    """Start PyTorch's two processes and return a function that measures between them, or None without
    PyTorch."""
    try:
        import torch  # noqa: F401
    except ModuleNotFoundError:
        return None
    import socket

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    ours, theirs = context.Pipe()
    for rank in range(2):
        context.Process(target=torch_process, args=(rank, port, theirs), daemon=True).start()

    def ask(more: bool = True) -> Times:
        ours.send(more)
        return ours.recv() if more else {}

    return ask


def main() -> None:
    """Measure all transports in turn."""
    shown = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=shown)
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    logging.disable()
    context = multiprocessing.get_context("spawn")
    security = Security(secret=secrets.token_bytes(32))
    ours, theirs = context.Pipe()
    process = context.Process(target=serve, args=(security, theirs), daemon=True)
    process.start()
    here = Transports(ours.recv(), security)
    measurements: dict[str, Callable[[], Times]] = {
        "dask tcp": lambda: here.dask(here.dasks, {}, to_serialize(here.data)),
        "dask ts": lambda: here.dask(here.ours, here.how, memoryview(here.data)),
        "Channel": here.waiting,
        "Calls": here.many,
        "Calls, in the loop": here.many_in_loop,
    }
    torch = start_torch(context)
    if torch is not None:
        measurements = {"PyTorch RPC": torch} | measurements
    found: dict[str, list[Times]] = {name: [] for name in measurements}
    for _ in range(rounds):
        for name, measurement in measurements.items():
            found[name].append(measurement())
    columns = ("small", "64 MiB there", "64 MiB there and back", "in flight")
    print(f"{'':20}" + "".join(f"{name:>24}" for name in columns))
    for name, times in found.items():
        cells = [min((each[column] for each in times if column in each), default=None) for column in columns]
        texts = ["" if cell is None else f"{cell * 1e3:.3f} ms" for cell in cells]
        print(f"{name:20}" + "".join(f"{text:>24}" for text in texts))
    if torch is not None:
        torch(False)
    process.kill()


if __name__ == "__main__":
    main()
