"""`DistributedDataParallel`: three processes train like one process on the whole batch."""

import copy

import pytest

import ts
import ts.distributed as dist
from ts import nn
from ts.nn.parallel import DistributedDataParallel
from ts.utils.data import DataLoader, DistributedSampler


def net(seed=0):
    ts.manual_seed(seed)
    return nn.Sequential(nn.Linear(6, 50), nn.Tanh(), nn.Linear(50, 40), nn.Tanh(), nn.Linear(40, 3))


def data():
    generator = ts.Generator().manual_seed(1)
    return ts.randn(12, 6, generator=generator), ts.randint(0, 3, (12,), generator=generator)


def share(x):
    me = dist.get_rank()
    return x[me * 4 : me * 4 + 4]


def trains_as_one_process(bucket_cap_mb):
    x, y = data()
    local_model = net()
    model = DistributedDataParallel(
        net(dist.get_rank()), bucket_cap_mb=bucket_cap_mb
    )  # rank 0's parameters
    assert all(ts.equal(a, b) for a, b in zip(local_model.parameters(), model.parameters()))
    assert list(model.state_dict()) == [f"module.{name}" for name in local_model.state_dict()]
    optimisers = [ts.optim.SGD(each.parameters(), 0.5, momentum=0.9) for each in (local_model, model)]
    for _ in range(5):
        for each, optimiser, some in (
            (local_model, optimisers[0], (x, y)),
            (model, optimisers[1], (share(x), share(y))),
        ):
            optimiser.zero_grad()
            nn.functional.cross_entropy(each(some[0]), some[1]).backward()
            optimiser.step()
    for a, b in zip(local_model.parameters(), model.parameters()):
        ts.testing.assert_close(a, b)
    found = [None] * 3
    dist.all_gather_object(found, [each.detach() for each in model.parameters()])
    assert all(ts.equal(a, b) for other in found for a, b in zip(found[0], other))  # bit for bit


def accumulates():
    x, y = data()
    local_model, model = net(), DistributedDataParallel(net())
    both = ts.cat((x, x * 2))
    nn.functional.cross_entropy(local_model(both), ts.cat((y, y)), reduction="sum").backward()
    with model.no_sync():
        nn.functional.cross_entropy(model(share(x)), share(y), reduction="sum").backward()
    before = [each.grad.clone() for each in model.parameters()]
    found = [None] * 3
    dist.all_gather_object(found, before[0])
    assert not ts.equal(found[0], found[1])  # without synchronization
    nn.functional.cross_entropy(model(share(x) * 2), share(y), reduction="sum").backward()
    for a, b in zip(local_model.parameters(), model.parameters()):
        ts.testing.assert_close(a.grad, b.grad * 3, rtol=1e-4, atol=1e-5)


class TwoWays(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second, self.never = nn.Linear(2, 2), nn.Linear(2, 2), nn.Linear(2, 2)

    def forward(self, x, which):
        return self.first(x) if which else self.second(x)


def unused_parameters():
    me = dist.get_rank()
    model = DistributedDataParallel(TwoWays(), find_unused_parameters=True)
    for _ in range(2):
        model.zero_grad()
        model(ts.ones(1, 2), me == 0).sum().backward()
        ts.testing.assert_close(model.module.first.bias.grad, ts.full((2,), 1 / 3))
        ts.testing.assert_close(model.module.second.bias.grad, ts.full((2,), 2 / 3))
        assert model.module.never.bias.grad is None
    model = DistributedDataParallel(TwoWays())
    model(ts.ones(1, 2), True).sum().backward()
    with pytest.raises(
        RuntimeError, match=r"Expected to have finished reduction in the prior iteration.*second.weight"
    ):
        model(ts.ones(1, 2), True)


def buffers():
    me = dist.get_rank()
    model = DistributedDataParallel(nn.BatchNorm1d(2))
    for _ in range(3):
        model(ts.randn(4, 2) + me)
    model(ts.randn(4, 2) * 0 + 5)
    first = model.module.running_mean.clone()
    model.eval()(ts.ones(1, 2))
    dist.broadcast(first, 0)
    assert ts.equal(first, model.module.running_mean) and model.module.num_batches_tracked.item() == 4
    apart = DistributedDataParallel(nn.BatchNorm1d(2), broadcast_buffers=False)
    apart(ts.full((4, 2), float(me)))
    apart(ts.full((4, 2), float(me)))
    assert (apart.module.running_mean > 0).all() == (me > 0)


def refusals():
    me = dist.get_rank()
    cases = [
        (lambda: DistributedDataParallel(nn.ReLU()), RuntimeError, "is not needed when a module doesn't have any parameter that requires a gradient"),
        (lambda: DistributedDataParallel(nn.Linear(1, 1), device_ids=[0]), ValueError, "only work with single-device/multiple-device GPU modules or CPU modules, but got device_ids"),
        (lambda: DistributedDataParallel(nn.Linear(2, 2 + (me == 1))), RuntimeError, r"params\[0\], weight, has sizes \[3, 2\]"),
        (lambda: DistributedDataParallel(nn.Linear(2, 2, bias=me != 1)), RuntimeError, "Rank 1 has 1 params, while rank 0 has inconsistent 2 params"),
        (lambda: DistributedDataParallel(nn.Linear(2, 2)).join(), NotImplementedError, "join is not supported"),
        (lambda: DistributedDataParallel(nn.Linear(2, 2)).weight, AttributeError, "weight"),
    ]  # fmt: skip
    for call, kind, message in cases:
        with pytest.raises(kind, match=message):
            call()


def sampled():
    """A `DistributedSampler` assigns each sample to exactly one process."""
    read = [each.item() for each in DataLoader(range(12), sampler=DistributedSampler(range(12)))]
    found = [None] * 3
    dist.all_gather_object(found, read)
    assert sorted(each for some in found for each in some) == list(range(12))


def scripted():
    """A scripted module can be trained."""
    x, y = data()
    local_model = net()
    model = DistributedDataParallel(ts.jit.script(copy.deepcopy(local_model)))
    for _ in range(3):
        local_model.zero_grad()
        model.zero_grad()
        nn.functional.cross_entropy(local_model(x), y).backward()
        nn.functional.cross_entropy(model(share(x)), share(y)).backward()
        for a, b in zip(local_model.parameters(), model.parameters()):
            ts.testing.assert_close(a.grad, b.grad, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("cap", [25, 0.001, 0.01])
def test_training(world, cap):
    """Data-parallel training equals one process for one bucket, several buckets, and one per parameter."""
    world.run(trains_as_one_process, cap)


@pytest.mark.parametrize(
    "program",
    [accumulates, unused_parameters, buffers, refusals, sampled, scripted],
    ids=lambda program: program.__name__,
)
def test_program(world, program):
    """Each of the functions above succeeds in all processes."""
    world.run(program)


def test_without_a_group():
    """DistributedDataParallel without a process group raises ValueError."""
    with pytest.raises(ValueError, match="Default process group has not been initialized"):
        DistributedDataParallel(nn.Linear(1, 1))
