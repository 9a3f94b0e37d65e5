"""Failures in process groups: other ranks get an error at once or after the timeout."""

import contextlib
import datetime
import time

import pytest

import ts
import ts.distributed as dist
from tests.distributed.process_groups import World


def fails(call, message, limit_seconds=10.0):
    """Check that a call fails with a message before the group's timeout."""
    start = time.monotonic()
    with pytest.raises(dist.DistError, match=message):
        call()
    assert time.monotonic() - start < limit_seconds


def reduce_until_rank_2_is_lost(function, size):
    """Call a function until rank 2 is lost; later calls fail at once."""
    x = ts.ones(size)

    def call_repeatedly():
        while True:
            x.fill_(1)
            function(x)

    fails(call_repeatedly, "rank 2", limit_seconds=30.0)
    fails(lambda: dist.all_reduce(x), "rank 2", limit_seconds=1.0)
    fails(lambda: dist.recv(x, 2), "rank 2", limit_seconds=1.0)
    fails(lambda: dist.recv(x), "rank 2", limit_seconds=1.0)
    fails(dist.barrier, "rank 2", limit_seconds=1.0)
    pair = dist.new_group([0, 1])
    dist.all_reduce(x.fill_(1), group=pair)  # the remaining ranks continue
    assert x.eq(2).all()


def all_reduce(x):
    dist.all_reduce(x)


def in_a_ring(x):
    me = dist.get_rank()
    work = dist.isend(x, (me + 1) % 3)
    dist.recv(x, (me - 1) % 3)
    work.wait()


def keep_reducing(x):
    dist.all_reduce(x, async_op=True).wait()


def wait_until_killed(function, size):
    x = ts.ones(size)
    while True:
        function(x)


@pytest.mark.parametrize(
    ("function", "size"),
    [
        (all_reduce, 5),
        (all_reduce, 2_000_000),
        pytest.param(in_a_ring, 100_000, marks=pytest.mark.long),
        pytest.param(keep_reducing, 100_000, marks=pytest.mark.long),
        pytest.param(all_reduce, 50_000, marks=pytest.mark.long),
    ],
    ids=lambda value: getattr(value, "__name__", str(value)),
)
def test_a_process_is_killed(function, size):
    """A killed process fails the collectives of other ranks before the timeout of a minute."""
    world = World(3)
    try:
        assert world.run(dist.is_initialized) == [True] * 3
        world.begin(wait_until_killed, function, size, ranks=[2])
        world.begin(reduce_until_rank_2_is_lost, function, size, ranks=[0, 1])
        time.sleep(0.3)
        world.kill(2)
        world.results(ranks=[0, 1])
    finally:
        world.close()


def leaves():
    dist.destroy_process_group()


def expect_rank_0_left():
    x = ts.empty(3)
    assert dist.recv(x, 0) == 0 and x.eq(1).all()  # data sent before the loss arrives
    fails(dist.barrier, "rank 0 has left")


def send_and_leave():
    dist.send(ts.ones(3), 1)
    dist.destroy_process_group()


def exceed_timeout():
    if dist.get_rank() == 0:
        with pytest.raises(
            dist.DistBackendError,
            match=r"Timed out waiting 2000ms for all_reduce to complete: rank 1 did not participate",
        ):
            dist.all_reduce(ts.ones(1))
        with pytest.raises(dist.DistBackendError, match="Timed out waiting 200ms for recv operation"):
            dist.irecv(ts.ones(1), 1, tag=9).wait(datetime.timedelta(seconds=0.2))
        dist.barrier()
    else:
        time.sleep(2.5)
        with contextlib.suppress(dist.DistBackendError):  # unless all data had already arrived
            dist.all_reduce(ts.ones(1))
        dist.barrier()


def initialize_twice(port):
    import os

    for each in range(2):
        os.environ["MASTER_PORT"] = str(port)
        dist.init_process_group("gloo")
        x = ts.ones(1)
        dist.all_reduce(x)
        assert x.item() == 2
        dist.destroy_process_group()


def initialize_alone(port):
    import os

    os.environ["MASTER_PORT"] = str(port)
    start = time.monotonic()
    with pytest.raises(dist.DistError, match=r"not all processes|cannot connect to rank 0 at"):
        dist.init_process_group("gloo", timeout=datetime.timedelta(seconds=0.5))
    assert time.monotonic() - start < 5
    assert not dist.is_initialized()


def test_late_and_missing_ranks():
    """Timeouts for late and leaving ranks, restarted groups at the same address, and single ranks."""
    from tests.distributed.process_groups import free_port

    world = World(2, timeout=2)
    try:
        world.run(exceed_timeout)
        world.begin(expect_rank_0_left, ranks=[1])
        world.run(send_and_leave, ranks=[0])
        world.results([1])
        world.run(leaves, ranks=[1])
    finally:
        world.close()
    world = World(2, joins=False)
    try:
        world.run(initialize_twice, free_port())
        world.run(initialize_alone, free_port(), ranks=[0])
        world.run(initialize_alone, free_port(), ranks=[1])
    finally:
        world.close()
