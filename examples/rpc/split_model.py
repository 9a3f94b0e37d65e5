"""Train a model whose halves are in two processes from a third process.

    python examples/rpc/split_model.py [--steps 100]

The trainer has remote references to the halves and their parameters. Calls inside of a context are recorded,
`backward` runs in all three processes, and the optimizer updates parameters in their processes.
"""

import argparse

from launch import run

import ts as torch
from ts import nn, optim
from ts.distributed import autograd as dist_autograd
from ts.distributed import rpc
from ts.distributed.optim import DistributedOptimizer


def half(inputs: int, outputs: int, seed: int) -> nn.Module:
    """Create one half of the model in the process that owns it."""
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(inputs, outputs), nn.Tanh())


def parameters(module: rpc.RRef) -> list[rpc.RRef]:
    """Return references to the parameters of a module, created by its owner."""
    return [rpc.RRef(parameter) for parameter in module.local_value().parameters()]


def train(steps: int) -> tuple[float, float]:
    """Train the model and return the loss before and after."""
    halves = [
        rpc.remote("first", half, args=(2, 16, 1)),
        rpc.remote("second", half, args=(16, 1, 2)),
    ]
    handles = [handle for each in halves for handle in rpc.rpc_sync(each.owner(), parameters, args=(each,))]
    optimizer = DistributedOptimizer(optim.Adam, handles, lr=0.05)
    x = torch.tensor([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    targets = torch.tensor([[-0.5], [0.5], [0.5], [-0.5]])
    losses = []
    for _ in range(steps):
        with dist_autograd.context() as context_id:
            hidden = halves[0].rpc_sync().forward(x)
            loss = nn.functional.mse_loss(halves[1].rpc_sync().forward(hidden), targets)
            dist_autograd.backward(context_id, [loss])
            optimizer.step(context_id)
        losses.append(loss.item())
    return losses[0], losses[-1]


def process(rank: int, steps: int) -> None:
    """Run one process; rank 0 trains and the other ranks own the halves."""
    options = rpc.TensorPipeRpcBackendOptions(allow_python=True)
    name = ["trainer", "first", "second"][rank]
    rpc.init_rpc(name, rank=rank, world_size=3, rpc_backend_options=options)
    if rank == 0:
        before, after = train(steps)
        print(f"the loss fell from {before:.3f} to {after:.3f} in {steps} steps")
    rpc.shutdown()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=100)
    run(process, 3, parser.parse_args().steps)
