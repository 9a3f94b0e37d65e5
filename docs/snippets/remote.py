"""Samples of the pages about remote calls: one process that calls itself, as it would call others."""

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
)  # other processes: "worker1", rank=1 ...

x = torch.arange(4.0)
rpc.rpc_sync("worker0", torch.add, args=(x, 1))  # tensor([1., 2., 3., 4.])
future = rpc.rpc_async("worker0", squares, args=(x,))  # the first call sends the code
future.wait()  # tensor(14.)
rref = rpc.remote("worker0", squares, args=(x,))  # an RRef: the result stays in worker0
rref.to_here()  # tensor(14.)
rref.rpc_sync().add(1)  # tensor(15.), computed in worker0

rpc.shutdown()  # waits until all processes have called it
# --8<-- [end:calls]

assert future.wait() == 14
rpc.init_rpc("worker0", rank=0, world_size=1, rpc_backend_options=options)

# --8<-- [start:scripts]
from ts.distributed.rpc import RRef


@torch.jit.script
def ask(to: str, x: torch.Tensor) -> torch.Tensor:
    future = rpc.rpc_async(to, squares, (x,))  # Future[Tensor]
    rref = rpc.remote(to, squares, (x + 1,), {}, 10.0)  # RRef[Tensor]; kwargs, seconds
    return rpc.rpc_sync(to, squares, (x,)) + future.wait() + rref.to_here()


@torch.jit.script
def look(rref: RRef[torch.Tensor]) -> tuple[str, torch.Tensor]:
    return rref.owner_name(), rref.to_here()


ask("worker0", x)  # tensor(58.)
look(RRef(x))  # ('worker0', tensor([0., 1., 2., 3.]))
# --8<-- [end:scripts]

assert ask("worker0", x) == 58 and look(RRef(x))[0] == "worker0"

# --8<-- [start:gradients]
from ts import optim
from ts.distributed import autograd as dist_autograd
from ts.distributed.optim import DistributedOptimizer


@torch.jit.script
def predict(weight: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    return (weight * x).sum()


weight = rpc.RRef(torch.zeros(4, requires_grad=True))  # or an RRef from another process
optimizer = DistributedOptimizer(optim.SGD, [weight], lr=0.05)
with dist_autograd.context() as context_id:
    prediction = rpc.rpc_sync("worker0", predict, args=(weight.to_here(), x))
    dist_autograd.backward(context_id, [(prediction - 1) ** 2])
    dist_autograd.get_gradients(context_id)  # {weight: tensor([-0., -2., -4., -6.])}
    optimizer.step(context_id)
weight.to_here()  # tensor([0.0000, 0.1000, 0.2000, 0.3000], requires_grad=True)
# --8<-- [end:gradients]

assert weight.to_here().allclose(torch.tensor([0.0, 0.1, 0.2, 0.3]))
rpc.shutdown()

# --8<-- [start:cluster]
from ts.distributed import LocalCluster

with LocalCluster(workers=2, seconds=10, bytes="256M") as cluster:
    cluster.join("me")  # as init_rpc("me", ...) with init_method=cluster.address
    first = rpc.rpc_sync("worker0", squares, args=(x,))  # tensor(14.)
    sums = list(torch.distributed.map(squares, [x, x + 1, x + 2]))  # computed by both workers
# --8<-- [end:cluster]

with LocalCluster(workers=1) as cluster:
    address = cluster.address
    # --8<-- [start:join]
    options = rpc.TensorPipeRpcBackendOptions(init_method=address)  # "ts://127.0.0.1:4711"
    rpc.init_rpc("me", rpc_backend_options=options)
    rpc.rpc_sync("worker0", squares, args=(x,))  # tensor(14.)
    # --8<-- [end:join]
    assert rpc.rpc_sync("worker0", squares, args=(x,)) == 14
    rpc.shutdown()

assert first == 14 and [each.item() for each in sums] == [14, 30, 54]
