"""What `distributed.md` shows, in two processes."""

# --8<-- [start:train]
import multiprocessing

import ts
import ts.distributed as dist
from ts import nn
from ts.nn.parallel import DistributedDataParallel


def train(rank, size, place):
    dist.init_process_group("gloo", init_method=place, rank=rank, world_size=size)
    ts.manual_seed(rank)  # all processes start with the parameters of rank 0
    model = DistributedDataParallel(nn.Linear(8, 1))
    optimizer = ts.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(20):
        x = ts.randn(16, 8)  # each process has its own batch
        loss = (model(x) - x.sum(1, keepdim=True)).square().mean()
        optimizer.zero_grad()
        loss.backward()  # gradients are the mean over the processes
        optimizer.step()
    worst = loss.detach().clone()
    dist.all_reduce(worst, dist.ReduceOp.MAX)
    weights = [None] * size
    dist.all_gather_object(weights, model.module.weight.detach())
    assert all(ts.equal(weights[0], each) for each in weights)  # bit for bit
    if rank == 0:
        print(f"loss {worst.item():.4f} at most")
    dist.destroy_process_group()


def main(place):
    spawn = multiprocessing.get_context("spawn")
    processes = [spawn.Process(target=train, args=(rank, 2, place)) for rank in range(2)]
    for each in processes:
        each.start()
    for each in processes:
        each.join()


# --8<-- [end:train]
if __name__ == "__main__":
    main("tcp://127.0.0.1:29541")
