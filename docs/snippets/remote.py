"""Samples of docs/remote.md: one process that calls itself, as it would call others."""

import socket

with socket.socket() as found:
    found.bind(("127.0.0.1", 0))
    PORT = found.getsockname()[1]

# --8<-- [start:calls]
import ts as torch
from ts.distributed import rpc


@torch.jit.script
def squares(x: torch.Tensor) -> torch.Tensor:
    return (x * x).sum()


options = rpc.TensorPipeRpcBackendOptions(init_method=f"tcp://127.0.0.1:{PORT}")
rpc.init_rpc(
    "worker0", rank=0, world_size=1, rpc_backend_options=options
)  # the others: "worker1", rank=1 ...

x = torch.arange(4.0)
rpc.rpc_sync("worker0", torch.add, args=(x, 1))  # tensor([1., 2., 3., 4.])
future = rpc.rpc_async("worker0", squares, args=(x,))  # the code travels with the first call
future.wait()  # tensor(14.)
kept = rpc.remote("worker0", squares, args=(x,))  # an RRef: the result stays there
kept.to_here()  # tensor(14.)
kept.rpc_sync().add(1)  # tensor(15.), computed there

rpc.shutdown()  # when all have called it
# --8<-- [end:calls]

assert future.wait() == 14
