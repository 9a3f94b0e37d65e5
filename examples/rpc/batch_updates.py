"""A parameter server that runs one optimizer step on the gradients of all trainers.

    python examples/rpc/batch_updates.py [--trainers 3] [--steps 40]

With `async_execution`, the server returns a future and responds after the last gradient of the round was
received, without a blocked thread.
"""

import argparse
import threading

from launch import run

import ts as torch
from ts.distributed import rpc

TARGET_WEIGHTS = [[1.0, -2.0, 0.5, 3.0]]


class Server:
    """Server with the model and the gradients of the current round."""

    def __init__(self, trainers: int) -> None:
        self.trainers = trainers
        self.model = torch.nn.Linear(len(TARGET_WEIGHTS[0]), 1, bias=False)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1, momentum=0.5)
        self.future: torch.futures.Future = torch.futures.Future()
        self.received = 0
        self.lock = threading.Lock()
        torch.nn.init.zeros_(self.model.weight)

    def weight(self) -> torch.Tensor:
        """Return a copy of the current weight."""
        return self.model.weight.detach().clone()

    @staticmethod
    @rpc.functions.async_execution
    def update(server: rpc.RRef, gradient: torch.Tensor) -> torch.futures.Future:
        """Return a future of the weight after the current round."""
        self = server.local_value()
        with self.lock:
            weight, future = self.model.weight, self.future
            weight.grad = gradient if weight.grad is None else weight.grad + gradient
            self.received += 1
            if self.received == self.trainers:
                weight.grad /= self.trainers
                self.optimizer.step()
                self.optimizer.zero_grad()
                self.received, self.future = 0, torch.futures.Future()
                future.set_result(self.weight())
        return future


def train(server: rpc.RRef, seed: int, steps: int) -> float:
    """Train against the server's weight and return the last loss."""
    generator = torch.Generator().manual_seed(seed)
    weight = server.rpc_sync().weight()
    loss = torch.tensor(0.0)
    for _ in range(steps):
        x = torch.randn(32, len(TARGET_WEIGHTS[0]), generator=generator)
        weight.requires_grad_()
        loss = torch.nn.functional.mse_loss(x.mm(weight.t()), x.mm(torch.tensor(TARGET_WEIGHTS).t()))
        (gradient,) = torch.autograd.grad(loss, (weight,))
        weight = rpc.rpc_sync(server.owner(), Server.update, args=(server, gradient))
    return loss.item()


def process(rank: int, trainers: int, steps: int) -> None:
    """Run one process; rank 0 is the server."""
    options = rpc.TensorPipeRpcBackendOptions(allow_python=True)
    rpc.init_rpc(f"process{rank}", rank=rank, world_size=trainers + 1, rpc_backend_options=options)
    if rank == 0:
        server = rpc.RRef(Server(trainers))
        calls = [rpc.rpc_async(f"process{k + 1}", train, args=(server, k, steps)) for k in range(trainers)]
        worst = max(torch.futures.wait_all(calls))
        print(f"{steps} rounds of {trainers} trainers: maximal loss {worst:.4f}")
        del server, calls
    rpc.shutdown()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trainers", type=int, default=3)
    parser.add_argument("--steps", type=int, default=40)
    given = parser.parse_args()
    run(process, given.trainers + 1, given.trainers, given.steps)
