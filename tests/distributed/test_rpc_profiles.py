"""Remote calls are events of profiles."""

import json
import re

import pytest

import ts
from ts.profiler import profile

pytest.importorskip("distributed", reason="rpc needs dask.distributed")
from tests.distributed import rpc_worker
from ts.distributed import rpc

pytestmark = pytest.mark.usefixtures("three_workers")


@ts.jit.script
def doubled(x: ts.Tensor) -> ts.Tensor:
    return x * 2


@ts.jit.script
def asks(to: str, x: ts.Tensor) -> ts.Tensor:
    return rpc.rpc_sync(to, doubled, (x,))


def calls(recorded):
    return {event.name: event for event in recorded.events() if event.kind == "call"}


def test_names_bytes_and_queues():
    x = ts.ones(1000)
    with profile() as recorded:
        rpc.rpc_sync("worker1", ts.add, args=(x, 1))
        rpc.rpc_async("worker2", doubled, args=(x,)).wait()
        ref = rpc.remote("worker1", ts.ops.aten.neg.default, args=(x,))
        ref.rpc_async().sum().wait()
        rpc.rpc_sync("worker1", rpc_worker.add, args=(1, 2))
    found = calls(recorded)
    name = f"__torch__.{__name__}.doubled"
    assert list(found) == [
        "rpc_sync#aten::add(worker0 -> worker1)",
        f"rpc_async_jit#{name}(worker0 -> worker2)",
        "rpc_remote#aten::neg(worker0 -> worker1)",
        "rpc_async#sum(worker0 -> worker1)",
        "rpc_sync#add(worker0 -> worker1)",
    ]
    for event in found.values():
        assert event.is_async and event.cpu_time_total > 0
    assert re.fullmatch(
        r"4000 bytes sent, 4000 received, [\d.]+ us queued", next(iter(found.values())).detail
    )
    assert "0 bytes sent, 0 received" in found["rpc_sync#add(worker0 -> worker1)"].detail


def test_calls_of_scripts():
    with profile() as recorded:
        asks("worker1", ts.ones(4))
    (event,) = calls(recorded).values()
    assert event.name.startswith("rpc_async_jit#__torch__.") and "16 bytes sent, 16 received" in event.detail


def test_calls_that_fail():
    with profile() as recorded, pytest.raises(ValueError, match="bad 3"):
        rpc.rpc_sync("worker1", rpc_worker.fail, args=(3,))
    (event,) = calls(recorded).values()
    assert event.detail == "0 bytes sent, ValueError"


def test_traces(tmp_path):
    """Traces contain a pair of begin and end entries per call."""
    with profile() as recorded:
        futures = [rpc.rpc_async("worker1", rpc_worker.sleep, args=(0.05, k)) for k in range(2)]
        ts.ones(3)
        assert [future.wait() for future in futures] == [0, 1]
    path = tmp_path / "trace.json"
    recorded.export_chrome_trace(path)
    entries = [e for e in json.loads(path.read_text())["traceEvents"] if e.get("cat") == "rpc"]
    assert sorted((e["ph"], e["id"]) for e in entries) == sorted(
        (ph, e["id"]) for ph in "be" for e in entries if e["ph"] == "b"
    )
    assert len(entries) == 4 and all("queue" in e["args"]["Detail"] for e in entries)
    assert not any(event.cpu_children for event in calls(recorded).values())
