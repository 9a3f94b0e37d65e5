"""Process groups: collectives and point-to-point communication."""

import datetime
import os
import warnings

import numpy as np
import pytest

import ts
import ts.distributed as dist
from ts.distributed import ReduceOp

SIZES = (0, 1, 5, 4096, 200_003)  # element counts: sent as one message, and in several parts
OPERATIONS = {
    "SUM": np.add, "PRODUCT": np.multiply, "MIN": np.minimum, "MAX": np.maximum, "BAND": np.bitwise_and,
    "BOR": np.bitwise_or, "BXOR": np.bitwise_xor,
}  # fmt: skip


def rank_data(rank, size, dtype="float32"):
    """Return the data of one rank."""
    random = np.random.default_rng([rank, size])
    if dtype == "float32":
        return ts.from_numpy(random.standard_normal(size, np.float32))
    return ts.from_numpy(random.integers(0, 100, size, dtype))


def reduce_in_order(function, size, dtype="float32"):
    """Return the elementwise reduction of the data of three processes in rank order."""
    one, two, _start_three_workers = (rank_data(rank, size, dtype).numpy() for rank in range(3))
    return function(function(one, two), _start_three_workers)


def reduces():
    me = dist.get_rank()
    for size in SIZES:
        for name, function in OPERATIONS.items():
            for dtype in (
                ("int64",) if name.startswith("B") else ("float32", "int32") if size < 9 else ("float32",)
            ):
                expected = reduce_in_order(function, size, dtype)
                x = rank_data(me, size, dtype)
                assert dist.all_reduce(x, getattr(ReduceOp, name)) is None
                assert x.numpy().tobytes() == expected.tobytes(), (name, size, dtype)
        x = rank_data(me, size)
        dist.reduce(x, 1)
        assert (
            x.numpy().tobytes() == (reduce_in_order(np.add, size) if me == 1 else rank_data(me, size).numpy()).tobytes()
        )
        x = rank_data(me, size)
        dist.all_reduce(x, ReduceOp.AVG)
        np.testing.assert_array_equal(x.numpy(), reduce_in_order(np.add, size) / np.float32(3))
        parts = [rank_data(me, size) * (each + 1) for each in range(3)]
        out = ts.empty(size)
        dist.reduce_scatter(out, parts)
        one, two, _start_three_workers = (rank_data(rank, size) * (me + 1) for rank in range(3))
        assert ts.equal(out, one + two + _start_three_workers)
        if size:
            out = ts.empty(size)
            dist.reduce_scatter_tensor(out, ts.cat(parts))
            assert ts.equal(out, one + two + _start_three_workers)


def moves():
    me = dist.get_rank()
    for size in SIZES:
        x = rank_data(me, size)
        dist.broadcast(x, 1)
        assert ts.equal(x, rank_data(1, size))
        found = [ts.empty(size) for _ in range(3)]
        dist.all_gather(found, rank_data(me, size))
        assert all(ts.equal(each, rank_data(rank, size)) for rank, each in enumerate(found))
        three_workers = ts.empty(3, size)
        dist.all_gather_into_tensor(three_workers, rank_data(me, size))
        assert ts.equal(three_workers, ts.stack(found))
        found = [ts.empty(size) for _ in range(3)] if me == 2 else None
        dist.gather(rank_data(me, size), found, 2)
        assert found is None or all(ts.equal(each, rank_data(rank, size)) for rank, each in enumerate(found))
        dist.scatter(x, [rank_data(rank, size) for rank in range(3)] if me == 0 else None)
        assert ts.equal(x, rank_data(me, size))
        found = [ts.empty(size) for _ in range(3)]
        dist.all_to_all(found, [rank_data(10 * me + rank, size) for rank in range(3)])
        assert all(ts.equal(each, rank_data(10 * rank + me, size)) for rank, each in enumerate(found))
    sizes = [[1, 1, 0], [1, 2, 2], [3, 3, 3]]  # number of rows of each rank
    row_counts = [sizes[each][me] for each in range(3)]
    out = ts.empty(sum(sizes[me]), 2)
    dist.all_to_all_single(out, ts.full((sum(row_counts), 2), float(me)), sizes[me], row_counts)
    assert out[:, 1].tolist() == [float(rank) for rank in range(3) for _ in range(sizes[me][rank])]


def unusual_tensors():
    """Reduce tensors that are views, have unusual dtypes or no dimensions, or require grad."""
    me = dist.get_rank()
    x = (ts.arange(12.0).reshape(3, 4) * (me + 1)).t()
    dist.all_reduce(x)
    assert ts.equal(x, ts.arange(12.0).reshape(3, 4).t() * 6)
    whole = ts.zeros(4, 6)
    dist.broadcast(whole[:, ::2].copy_(ts.full((4, 3), float(me))), 2)
    assert whole[:, ::2].eq(2).all() and whole[:, 1::2].eq(0).all()
    for dtype in (ts.bfloat16, ts.float16, ts.complex64):
        x = ts.ones(5, dtype=dtype) * (me + 1)
        dist.all_reduce(x)
        assert x.dtype == dtype and x.eq(6).all()
    x = ts.tensor([me == 1, True, False])
    dist.all_reduce(x)
    assert x.tolist() == [True, True, False]
    x = ts.tensor(float(me), requires_grad=True)
    dist.all_reduce(x)
    assert x.item() == 3 and x.requires_grad and x.is_leaf


def check_async_work():
    """Concurrent asynchronous collectives finish in call order."""
    me = dist.get_rank()
    tensors = [rank_data(me, 40_000 + each) for each in range(8)]
    pending = [dist.all_reduce(each, async_op=True) for each in tensors]
    last = rank_data(me, 5)
    dist.all_reduce(last)  # runs after the others
    assert pending[-1].is_completed() and all(each.wait() and each.is_success() for each in pending)
    for each, x in enumerate(tensors):
        np.testing.assert_array_equal(x.numpy(), reduce_in_order(np.add, 40_000 + each))
    work = dist.barrier(async_op=True)
    assert work.wait(datetime.timedelta(seconds=30)) and work.exception() is None
    work = dist.broadcast(last, 0, async_op=True)
    assert work.result()[0] is last and work.get_future().wait()[0] is last


def pairs():
    me, size = dist.get_rank(), 600_000
    to, source = (me + 1) % 3, (me - 1) % 3
    sent = dist.isend(rank_data(me, size), to)  # more than the socket buffer, before a receiver exists
    x = ts.empty(size)
    assert dist.recv(x, source) == source and ts.equal(x, rank_data(source, size))
    assert sent.wait() and sent.is_completed()
    dist.barrier()
    if me == 0:  # receive tags in another order
        for tag in (1, 2, 3):
            dist.send(ts.tensor([float(tag)]), 1, tag=tag)
    elif me == 1:
        for tag in (3, 1, 2):
            x = ts.zeros(1)
            dist.recv(x, 0, tag=tag)
            assert x.item() == tag
    dist.barrier()
    if me == 0:  # from any rank
        found = {}
        for _ in range(4):
            x = ts.zeros(2)
            found.setdefault(dist.recv(x), []).append(x[0].item())
        assert found == {1: [1.0, 1.5], 2: [2.0, 2.5]}
        work = dist.irecv(x)
        dist.send(x, 1)
        assert work.wait() and work.source_rank() == 1
    else:
        dist.send(ts.full((2,), float(me)), 0)
        dist.send(ts.full((2,), me + 0.5), 0)
        if me == 1:
            dist.recv(ts.empty(2), 0)
            dist.send(ts.zeros(2), 0)
    dist.barrier()
    x = ts.empty(100_000)
    both = [dist.P2POp(dist.isend, rank_data(me, 100_000), to), dist.P2POp(dist.irecv, x, source)]
    for work in dist.batch_isend_irecv(both):
        work.wait()
    assert ts.equal(x, rank_data(source, 100_000))
    assert (
        repr(both[0])
        == f"P2POp(isend pg=0, group_src={me}, group_dst={to},  torch.Size([100000]), torch.float32)"
    )


def progress_without_waiting():
    """A transfer makes progress while no end waits."""
    me, size = dist.get_rank(), 3_000_000
    if me == 2:
        return
    x = rank_data(0, size) if me == 0 else ts.empty(size)
    work = dist.isend(x, 1) if me == 0 else dist.irecv(x, 0)
    import time

    end = time.monotonic() + 30
    while not work.request.done and time.monotonic() < end:
        time.sleep(0.01)
    assert work.request.done and work.is_completed()
    assert me == 0 or ts.equal(x, rank_data(0, size))


def subgroups():
    me = dist.get_rank()
    pair, alone, rest = dist.new_group([2, 0]), dist.new_group([1]), dist.new_group()
    assert (dist.get_rank(pair), dist.get_world_size(pair)) == ((-1, -1) if me == 1 else (me // 2, 2))
    x = ts.tensor([float(me)])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        dist.all_reduce(x, group=pair)
    assert x.item() == (1 if me == 1 else 2)
    assert [str(each.message) for each in caught] == (
        ["Running all_reduce on global rank 1 which does not belong to the given group."] if me == 1 else []
    )
    if me != 1:
        dist.broadcast(x.fill_(me), 2, group=pair)
        assert x.item() == 2 and dist.get_process_group_ranks(pair) == [0, 2]
        assert dist.get_global_rank(pair, 1) == 2 and dist.get_group_rank(pair, 2) == 1
        dist.broadcast(x.fill_(me), group=pair, group_src=0)
        assert x.item() == 0
        with pytest.raises(ValueError, match="Global rank 1 is not part of group"):
            dist.broadcast(x, 1, group=pair)
    else:
        assert pair is dist.GroupMember.NON_GROUP_MEMBER
        dist.all_reduce(x, group=alone)
        with pytest.raises(ValueError, match="Invalid process group specified"):
            dist.send(x, 0, group=pair)
    dist.all_reduce(x.fill_(1), group=rest)
    assert x.item() == 3
    for ranks, messages in (
        ([0, 7], r"Rank 7 is out of range. Valid ranks are 0 to 2 \(world_size=3\)"),
        ([0, 0], r"duplicate entries, got \[0, 0\]"),
    ):
        with pytest.raises(ValueError, match=messages):
            dist.new_group(ranks)
    dist.destroy_process_group(rest)
    with pytest.raises(ValueError, match="Invalid process group specified"):
        dist.barrier(rest)


def values():
    me = dist.get_rank()
    own = {
        "rank": me,
        1: (None, [True, 2.5, "é", b"b"]),
        "big": 1 << 80,
        "t": ts.full((2, me), 1.0, dtype=ts.bfloat16),
        "s": {1, 2},
    }
    found = [None] * 3
    dist.all_gather_object(found, own)
    for rank, each in enumerate(found):
        assert (
            each["rank"] == rank
            and each[1] == own[1]
            and type(each[1]) is tuple
            and each["big"] == 1 << 80
            and each["s"] == {1, 2}
        )
        assert each["t"].shape == (2, rank) and each["t"].dtype == ts.bfloat16
    some = [1, "two", [3]] if me == 1 else [None] * 3
    dist.broadcast_object_list(some, 1)
    assert some == [1, "two", [3]]
    places = [None] * 3 if me == 0 else None
    dist.gather_object(me, places)
    assert places == ([0, 1, 2] if me == 0 else None)
    out = [None]
    dist.scatter_object_list(out, ["a", ["b"] * 99, 3] if me == 0 else None, 0)
    assert out[0] == ["a", ["b"] * 99, 3][me]
    if me == 0:
        dist.send_object_list(["x", {"y": 1}], 2)
    elif me == 2:
        got = [None, None]
        assert dist.recv_object_list(got) == 0 and got == ["x", {"y": 1}]


def rejected_values():
    for value in (values, object(), [1, {"a": OSError()}], np.ones(2), type):
        with pytest.raises(TypeError, match="cannot be sent to another process; supported are numbers, strings"):
            dist.all_gather_object([None] * 3, value)
    dist.barrier()


def different_calls():
    """Mismatched collectives raise an error in all ranks with the call of each; the next collective
    succeeds."""
    me = dist.get_rank()
    x = ts.ones(4)
    cases = [
        (
            lambda: dist.all_reduce(ts.ones(4 + (me == 1))),
            "all_reduce with SUM of 5 elements of",
            "SUM of 4 elements of torch.float32",
        ),
        (
            lambda: dist.all_reduce(ts.ones(4 + 90_000 * (me == 1))),
            "SUM of 90004 elements",
            "SUM of 4 elements",
        ),
        (
            lambda: dist.all_reduce(ts.ones(4, dtype=ts.float64 if me == 1 else ts.float32)),
            "torch.float64",
            "torch.float32",
        ),
        (
            lambda: dist.all_reduce(x, ReduceOp.MAX if me == 1 else ReduceOp.SUM),
            "all_reduce with MAX",
            "all_reduce with SUM",
        ),
        (lambda: dist.barrier() if me == 1 else dist.all_reduce(x), "barrier", "all_reduce"),
        (
            lambda: dist.broadcast(ts.ones(2 + (me == 1)), 0),
            "broadcast of 2 elements",
            "broadcast of 3 elements",
        ),
    ]
    for call, *messages in cases:
        try:
            call()
        except dist.DistBackendError as error:
            caught = str(error)
        else:
            caught = None
        found = [None] * 3
        dist.all_gather_object(found, caught)
        assert found[1] is not None, (messages, found)
        assert any(
            each is not None and "this process" in each and all(said in each for said in messages)
            for each in found
        ), (messages, found)
    assert found[0] is None  # the sender of a broadcast finishes when all data is sent


def wrong_arguments():
    me = dist.get_rank()
    one = ts.ones(1)
    cases = [
        (TypeError, "Expected parameter `tensor` of type torch.Tensor", lambda: dist.all_reduce([1])),
        (TypeError, "op is a ReduceOp", lambda: dist.all_reduce(one, "sum")),
        (RuntimeError, "Cannot use ReduceOp.BAND with non-integral dtype", lambda: dist.all_reduce(one, ReduceOp.BAND)),
        (RuntimeError, "result type Float can't be cast to the desired output type Int", lambda: dist.all_reduce(one.int(), ReduceOp.AVG)),
        (ValueError, "all_reduce does not support RedOpType.MAX on complex", lambda: dist.all_reduce(one.to(ts.complex64), ReduceOp.MAX)),
        (RuntimeError, "device type meta", lambda: dist.all_reduce(ts.ones(1, device="meta"))),
        (ValueError, "Must specify global_rank or group_rank", lambda: dist.broadcast(one)),
        (ValueError, "destination rank should not be the same", lambda: dist.send(one, me)),
        (ValueError, "source rank should not be the same", lambda: dist.recv(one, me)),
        (ValueError, "Global rank 7 is not part of group", lambda: dist.send(one, 7)),
        (ValueError, "``gather_list`` must be specified on destination", lambda: dist.gather(one, None, me)),
        (ValueError, "``gather_list`` must NOT be specified", lambda: dist.gather(one, [one], (me + 1) % 3)),
        (ValueError, "``scatter_list`` must be specified on source", lambda: dist.scatter(one, None, me)),
        (ValueError, "``scatter_list`` must NOT be specified", lambda: dist.scatter(one, [one], (me + 1) % 3)),
        (RuntimeError, r"invalid output tensor list at index 0 \(expected length 3, got 1\)", lambda: dist.all_gather([one], one)),
        (RuntimeError, r"invalid tensor size at index 1 \(expected \(1\), got \(2\)\)", lambda: dist.all_gather([one, ts.ones(2), one], one)),
        (ValueError, "Invalid usage of tensors with different dtypesFound torch.float32 and  torch.int32", lambda: dist.all_gather([one.int()] * 3, one)),
        (RuntimeError, "invalid input tensor list size, must be world size", lambda: dist.reduce_scatter(one, [one])),
        (RuntimeError, "input tensor list size 1 does not match world size 3", lambda: dist.all_to_all([one] * 3, [one])),
        (RuntimeError, "Split sizes doesn't match total dim 0 size", lambda: dist.all_to_all_single(ts.ones(3), ts.ones(3), [1, 1, 2])),
        (RuntimeError, "does not divide equally", lambda: dist.all_to_all_single(ts.ones(3), ts.ones(4))),
        (ValueError, "Expected ``op`` to be of type ``torch.distributed.isend``", lambda: dist.P2POp(dist.all_reduce, one, 1)),
        (ValueError, "Each op is expected to to be of type", lambda: dist.batch_isend_irecv([1])),
        (IndexError, "list index out of range", lambda: dist.batch_isend_irecv([])),
        (ValueError, "trying to initialize the default process group twice!", dist.init_process_group),
    ]  # fmt: skip
    for kind, messages, call in cases:
        with pytest.raises(kind, match=messages):
            call()
    dist.barrier()


def monitored():
    dist.monitored_barrier(timeout=datetime.timedelta(seconds=30))
    if dist.get_rank() == 0:
        with pytest.raises(
            RuntimeError, match=r"\[Rank 0\]: Ranks 1, 2 failed to pass monitoredBarrier in 200 ms"
        ):
            dist.monitored_barrier(timeout=datetime.timedelta(seconds=0.2), wait_all_ranks=True)
        dist.barrier()
    else:
        with pytest.raises(RuntimeError, match=r"rank 0 aborted the call: .*failed to pass monitoredBarrier"):
            import time

            time.sleep(1)
            dist.monitored_barrier()
        dist.barrier()


def forked():
    """A forked process is in no group, and does not affect its parent's group."""
    child = os.fork()
    if not child:
        os._exit(7 if not dist.is_initialized() else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    dist.barrier()


def many_threads():
    """Several threads use separate groups concurrently."""
    import threading

    groups = [dist.new_group() for _ in range(3)]
    wrong = []

    def use(each):
        for count in range(30):
            x = ts.full((1 + count * 500,), float(each))
            dist.all_reduce(x, group=groups[each])
            if not x.eq(3 * each).all():
                wrong.append((each, count))

    threads = [threading.Thread(target=use, args=(each,)) for each in range(3)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert not wrong


@pytest.mark.parametrize(
    "program",
    [reduces, moves, unusual_tensors, check_async_work, pairs, progress_without_waiting, subgroups, values, rejected_values, different_calls,
     wrong_arguments, monitored, forked, many_threads],
    ids=lambda program: program.__name__,
)  # fmt: skip
def test_program(world, program):
    """Each of the functions above succeeds in all processes."""
    world.run(program)


def restart_group():
    dist.destroy_process_group()
    with pytest.raises(ValueError, match=r"Default process group has not been initialized"):
        dist.get_rank()
    with pytest.raises(AssertionError, match="Process group cannot be None"):
        dist.destroy_process_group()


def test_without_a_group():
    """Calls without a process group raise an error that explains how to create one."""
    assert dist.is_available() and dist.is_gloo_available() and not dist.is_initialized()
    for call in (dist.get_rank, dist.get_world_size, dist.barrier, lambda: dist.all_reduce(ts.ones(1))):
        with pytest.raises(
            ValueError,
            match=r"Default process group has not been initialized, please make sure to call init_process_group.",
        ):
            call()
    with pytest.raises(AssertionError, match="Unknown backend type foo"):
        dist.init_process_group("foo")
    with pytest.raises(RuntimeError, match="doesn't have NCCL built in"):
        dist.init_process_group("nccl")
    with pytest.raises(TypeError, match=r"Expected timeout argument to be of type datetime.timedelta"):
        dist.init_process_group(timeout=3)


def test_group_of_one():
    """A group of one process runs all operations."""
    from tests.distributed.process_groups import free_port

    for _ in range(2):
        dist.init_process_group(init_method=f"tcp://127.0.0.1:{free_port()}?rank=0&world_size=1")
        x = ts.ones(3)
        dist.all_reduce(x, ReduceOp.AVG)
        dist.barrier()
        found = [None]
        dist.all_gather_object(found, 1)
        assert x.tolist() == [1, 1, 1] and found == [1] and dist.get_backend() == "gloo"
        restart_group()


def test_names():
    """The public names of PyTorch's distributed modules exist."""
    from ts.distributed import distributed_c10d

    assert distributed_c10d.all_reduce is dist.all_reduce and dist.Backend.GLOO == dist.Backend("GLOO")
    assert repr(ReduceOp.SUM) == "<RedOpType.SUM: 0>" and str(ReduceOp.AVG) == "RedOpType.AVG"
    assert "all_reduce" in dir(dist) and "all_reduce" in dir(distributed_c10d)
    for error in (dist.DistBackendError, dist.DistNetworkError, dist.DistStoreError):
        assert issubclass(error, dist.DistError) and issubclass(error, RuntimeError)
