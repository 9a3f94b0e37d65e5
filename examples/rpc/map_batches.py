"""Distribute batches to workers that run compiled code, with a limited number of calls in flight.

    python examples/rpc/map_batches.py [--workers 2]

The messages contain the scripted function, once for each worker, and tensors. Nothing is pickled, and
workers do not run Python code of other processes.
"""

import argparse
from collections import deque

from launch import run

import ts as torch
from ts.distributed import rpc


@torch.jit.script
def inside(points: int, seed: int) -> torch.Tensor:
    """Return the number of random points of a square inside its circle."""
    torch.manual_seed(seed)
    xy = torch.rand(points, 2)
    return ((xy * xy).sum(1) <= 1).sum()


def estimate(workers: int, batches: int, points: int) -> float:
    """Estimate pi from batches of random points."""
    waiting: deque = deque()
    found = 0
    for seed in range(batches):
        if len(waiting) == 2 * workers:
            found += int(waiting.popleft().wait())
        waiting.append(rpc.rpc_async(f"worker{1 + seed % workers}", inside, args=(points, seed)))
    found += sum(int(future.wait()) for future in waiting)
    return 4 * found / (batches * points)


def process(rank: int, workers: int) -> None:
    """Run one process; rank 0 distributes the work."""
    rpc.init_rpc(f"worker{rank}", rank=rank, world_size=workers + 1)
    if rank == 0:
        print(f"pi is about {estimate(workers, batches=40, points=100_000):.3f}")
    rpc.shutdown()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args()
    run(process, given.workers + 1, given.workers)
