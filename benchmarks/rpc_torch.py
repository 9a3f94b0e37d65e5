"""Two RPC processes of PyTorch; the first measures calls on request. See `rpc`."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.distributed import rpc


def same(x: Any) -> Any:
    """Return the argument; a Python function."""
    return x


@torch.jit.script
def scripted(x: torch.Tensor, n: int) -> torch.Tensor:
    """Run a few small operators."""
    for _ in range(n):
        x = x * 2 + 1
    return x


def in_flight(count: int) -> None:
    """Run `count` concurrent calls."""
    for future in [rpc.rpc_async("worker1", same, (number,)) for number in range(count)]:
        future.wait()


def requests(pipe: Any) -> Iterator[tuple[str, int]]:
    """Yield the requested measurements until the pipe closes."""
    with contextlib.suppress(EOFError):
        while True:
            yield pipe.recv()


def serve(rank: int, port: int, pipe: Any) -> None:
    """Run one RPC process until the requests end."""
    torch.set_num_threads(1)
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    options = rpc.TensorPipeRpcBackendOptions(init_method=f"tcp://127.0.0.1:{port}")
    rpc.init_rpc(f"worker{rank}", rank=rank, world_size=2, rpc_backend_options=options)
    if rank == 0:
        large, x = torch.ones(1 << 24), torch.ones(3)
        calls: dict[str, Callable[[], Any]] = {
            "python": lambda: rpc.rpc_sync("worker1", same, (1,)),
            "scripted": lambda: rpc.rpc_sync("worker1", scripted, (x, 2)),
            "64 MiB": lambda: rpc.rpc_sync("worker1", same, (large,)),
            "in flight": lambda: in_flight(1000),
        }
        for name, times in requests(pipe):
            start = time.perf_counter()
            for _ in range(times):
                calls[name]()
            pipe.send((time.perf_counter() - start) / times)
    rpc.shutdown()
