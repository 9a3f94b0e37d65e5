"""Pipeline-parallel model with two stages, each in a separate process.

    python examples/rpc/pipeline.py [--batch 96] [--split 8]

Intermediate results are not sent to rank 0: the second stage gets a remote reference to the first stage's
result and fetches it from its owner. Both stages are scripted, and fetch their input in the script.
"""

import argparse

from launch import run

import ts as torch
from ts import nn
from ts.distributed import rpc
from ts.distributed.rpc import RRef

SIZES = [(64, 128), (128, 10)]


class Stage(nn.Module):
    """A stage of the model; its input is a reference to the previous result."""

    def __init__(self, number: int) -> None:
        super().__init__()
        torch.manual_seed(number)
        self.layer = nn.Linear(*SIZES[number])
        self.last = number == len(SIZES) - 1

    def forward(self, x: RRef[torch.Tensor]) -> torch.Tensor:
        """Fetch the input and run the layer."""
        y = self.layer(x.to_here())
        return y.log_softmax(1) if self.last else y.relu()


def make(number: int) -> torch.jit.ScriptModule:
    """Create a stage in the process that owns it."""
    return torch.jit.script(Stage(number).eval())


def process(rank: int, batch: int, split: int) -> None:
    """Run one process; rank 0 sends the batch to the stages in microbatches."""
    options = rpc.TensorPipeRpcBackendOptions(allow_python=True)
    rpc.init_rpc(f"process{rank}", rank=rank, world_size=len(SIZES) + 1, rpc_backend_options=options)
    if rank == 0:
        stages = [rpc.remote(f"process{k + 1}", make, args=(k,)) for k in range(len(SIZES))]
        x = torch.randn(batch, SIZES[0][0], generator=torch.Generator().manual_seed(0))
        with torch.no_grad():
            waiting = [
                stages[1].rpc_async().forward(stages[0].remote().forward(RRef(part)))
                for part in x.split(split)
            ]
            found = torch.cat(torch.futures.wait_all(waiting))
            expected = make(1)(RRef(make(0)(RRef(x))))
        torch.testing.assert_close(found, expected)
        print(f"{len(waiting)} microbatches through two stages: equal to the result of the whole batch")
        del stages, waiting
    rpc.shutdown()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--batch", type=int, default=96)
    parser.add_argument("--split", type=int, default=8)
    given = parser.parse_args()
    run(process, len(SIZES) + 1, given.batch, given.split)
