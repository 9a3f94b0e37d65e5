"""A parameter server: it owns the weights; trainers fetch weights and send gradients of their data.

    python examples/rpc/parameter_server.py [--trainers 2] [--steps 120]

Trainers have a remote reference to the weights. The server only runs compiled code of the trainers, for
which it sets limits.
"""

import argparse

from launch import run

import ts as torch
from ts.distributed import rpc

TARGET_WEIGHTS = [1.0, -2.0, 0.5, 3.0]


@torch.jit.script
def initial_weights(features: int) -> torch.Tensor:
    """Return the initial weights."""
    return torch.zeros(features)


@torch.jit.script
def gradient_of_loss(weights: torch.Tensor, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Return the gradient of the mean squared error of a linear model."""
    return 2 * x.t().mv(x.mv(weights) - y) / x.size(0)


def train(weights: rpc.RRef, seed: int, steps: int) -> None:
    """Train the shared weights with gradients of random batches."""
    generator = torch.Generator().manual_seed(seed)
    target = torch.tensor(TARGET_WEIGHTS)
    for _ in range(steps):
        x = torch.randn(32, len(TARGET_WEIGHTS), generator=generator)
        gradient = gradient_of_loss(weights.to_here(), x, x.mv(target))
        weights.rpc_sync().sub_(gradient, alpha=0.05)  # a tensor method, executed by the owner


def process(rank: int, trainers: int, steps: int) -> None:
    """Run one process; the last rank is the server."""
    name = "server" if rank == trainers else f"trainer{rank}"
    options = rpc.TensorPipeRpcBackendOptions(allow_python=True, limits=torch.limits(seconds=10, bytes="1G"))
    rpc.init_rpc(name, rank=rank, world_size=trainers + 1, rpc_backend_options=options)
    if rank == 0:
        weights = rpc.remote("server", initial_weights, args=(len(TARGET_WEIGHTS),))
        calls = [rpc.rpc_async(f"trainer{k}", train, args=(weights, k, steps)) for k in range(trainers)]
        torch.futures.wait_all(calls)
        print(
            f"weights after {trainers} x {steps} steps: {[round(w, 3) for w in weights.to_here().tolist()]}"
        )
    rpc.shutdown()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trainers", type=int, default=2)
    parser.add_argument("--steps", type=int, default=120)
    given = parser.parse_args()
    run(process, given.trainers + 1, given.trainers, given.steps)
