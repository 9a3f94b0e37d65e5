"""Remote calls as tasks on dask's dashboard."""

import asyncio
import threading

import pytest

import ts

pytest.importorskip("distributed", reason="rpc needs dask.distributed")
from distributed.diagnostics.task_stream import TaskStreamPlugin

from tests.distributed import SECRET, clusters
from ts.distributed import rpc
from ts.distributed.cluster.scheduler import NameService
from ts.distributed.transport import Security
from ts.distributed.rpc.api import current


@ts.jit.script
def doubled(x: ts.Tensor) -> ts.Tensor:
    return x * 2


def ask(address, finished):
    """Join a cluster, call this process, and leave after `finished` is set; return the recorded tasks."""
    with clusters.joined(address, secret=SECRET):
        assert rpc.rpc_sync("me", doubled, args=(ts.ones(1),)).item() == 2
        assert rpc.rpc_async("me", ts.add, args=(ts.ones(1), 1)).wait().item() == 2
        with pytest.raises(ValueError, match="bad"):
            rpc.rpc_sync("me", fail)
        finished_calls = current().directory.finished_calls
        assert finished.wait(40)
    return finished_calls


def fail():
    raise ValueError("bad")


def scheduled(dashboard, work):
    """Return the result of `work` with a scheduler."""

    async def main():
        async with NameService("127.0.0.1", 0, Security(secret=SECRET), dashboard=dashboard) as service:
            return await asyncio.wait_for(work(service), 60)

    return asyncio.run(main())


def test_calls_are_shown_under_their_functions_names():
    async def work(scheduler):
        stream = scheduler.plugins[TaskStreamPlugin.name]
        finished = threading.Event()
        pending = asyncio.create_task(asyncio.to_thread(ask, scheduler.address, finished))
        while stream.index < 3 and not pending.done():
            await asyncio.sleep(0.05)
        finished.set()
        await pending
        return stream.rectangles(0), list(stream.buffer)

    tasks, records = scheduled(0, work)
    assert tasks["name"] == [f"{__name__}.doubled", "aten::add", "fail"]
    assert all(duration > 0 for duration in tasks["duration"])
    assert len({record["worker"] for record in records}) == 1


def test_no_task_stream_without_a_dashboard():
    async def work(scheduler):
        finished = threading.Event()
        finished.set()
        finished_calls = await asyncio.to_thread(ask, scheduler.address, finished)
        return finished_calls, TaskStreamPlugin.name in scheduler.plugins

    assert scheduled(None, work) == (None, False)


@pytest.mark.parametrize(
    "calls",
    [3, [3], [["f"]], [["f", "a", 1.0, 2.0]], [["f", "a", 1, 2.0, False]], [[b"f", "a", 1.0, 2.0, False]]],
)
def test_malformed_call_records(calls):
    async def work(scheduler):
        with pytest.raises(TypeError):
            scheduler.record_heartbeat("ts://127.0.0.1:1", 0, 0, 0, 0, calls)
        return scheduler.plugins[TaskStreamPlugin.name].index

    assert scheduled(0, work) == 0
