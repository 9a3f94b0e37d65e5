"""Process groups compared with PyTorch's "gloo" groups: one program in two processes of each library."""

import multiprocessing

import pytest

from tests.distributed.process_groups import free_port


def program(rank, port, ours, queue):
    if ours:
        import ts

        ts.install_as_torch()
    import torch
    import torch.distributed as dist
    from torch.nn.parallel import DistributedDataParallel

    dist.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=2)
    found = []

    def note(function):
        try:
            result = function()
        except Exception as error:
            result = f"{type(error).__name__}: {error}"
        found.append(result)

    def reduced(name, dtype):
        x = torch.tensor([1 + rank, 2, 0, -3]).to(dtype)
        dist.all_reduce(x, getattr(dist.ReduceOp, name))
        return x.tolist()

    for name in ("SUM", "AVG", "PRODUCT", "MIN", "MAX", "BAND", "BOR", "BXOR"):
        for dtype in (torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int32, torch.int64, torch.bool, torch.complex64):
            note(lambda: reduced(name, dtype))
    one, here, other = torch.ones(1), rank, 1 - rank
    for call in (
        lambda: dist.all_reduce([1]),
        lambda: dist.send(one, here),
        lambda: dist.broadcast(one),
        lambda: dist.gather(one, None, dst=here),
        lambda: dist.gather(one, [one], dst=other),
        lambda: dist.scatter(one, None, src=here),
        lambda: dist.all_gather([one], one),
        lambda: dist.all_gather([one, torch.ones(2)], one),
        lambda: dist.all_gather([one, one.int()], one),
        lambda: dist.reduce_scatter(one, [one]),
        lambda: dist.all_to_all([one], [one]),
        lambda: dist.P2POp(dist.all_reduce, one, other),
        lambda: dist.batch_isend_irecv([1]),
        lambda: dist.new_group([0, 7]),
        lambda: dist.new_group([0, 0]),
        lambda: (dist.get_backend(), dist.get_rank(), dist.get_world_size(), dist.get_process_group_ranks(None)),
        lambda: repr(dist.P2POp(dist.isend, one, other)),
        lambda: dist.init_process_group("gloo"),
    ):
        note(call)
    torch.manual_seed(rank)
    model = DistributedDataParallel(torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1)))
    optimiser = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(4):
        x = torch.arange(6.0).reshape(2, 3) / 10 * (rank + 1) + step
        if step == 1:
            with model.no_sync():
                model(x).sum().backward()
        model(x).square().mean().backward()
        optimiser.step()
    found += [pytest.approx(each.flatten().tolist(), rel=1e-5) if ours else each.flatten().tolist() for each in model.parameters()]
    found.append(list(model.state_dict()))
    dist.destroy_process_group()
    queue.put((ours, rank, found))


def test_program():
    """The program has equal values and errors in both libraries."""
    pytest.importorskip("torch", reason="compares with PyTorch")
    spawn = multiprocessing.get_context("spawn")
    queue = spawn.Queue()
    ports = [free_port(), free_port()]
    processes = [spawn.Process(target=program, args=(rank, ports[ours], ours, queue)) for ours in (0, 1) for rank in (0, 1)]
    for each in processes:
        each.start()
    results = [queue.get(timeout=100) for _ in processes]
    for each in processes:
        each.join()
    for rank in (0, 1):
        (theirs,) = [found for ours, other, found in results if other == rank and not ours]
        (here,) = [found for ours, other, found in results if other == rank and ours]
        assert len(here) == len(theirs) > 80
        for ours, expected in zip(here, theirs):
            assert ours == expected
