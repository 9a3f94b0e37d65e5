"""`distributed.map`: order of results, number of tasks in flight, and loss of processes."""

import os
import signal

import pytest

import ts

pytest.importorskip("distributed", reason="rpc needs dask.distributed")
from tests.distributed import rpc_worker
from tests.distributed.test_rpc import scripted
from ts.distributed import map as distributed_map


def test_results_are_in_order(three_workers):
    assert list(distributed_map(rpc_worker.add, [(k, 1) for k in range(50)])) == list(range(1, 51))
    found = list(distributed_map(scripted, [(ts.tensor([float(k)]), 2) for k in range(5)]))
    assert [x.item() for x in found] == [4 * k + 1 for k in range(5)]
    assert list(distributed_map(rpc_worker.identity, range(4), workers=["worker2"])) == [0, 1, 2, 3]
    arguments = [(0.2 if k == 0 else 0.0, k) for k in range(12)]
    assert list(distributed_map(rpc_worker.sleep, arguments)) == list(range(12))
    assert list(distributed_map(rpc_worker.identity, [])) == []


def test_batches_are_read_on_demand(three_workers):
    consumed = []

    def batches():
        for k in range(100):
            consumed.append(k)
            yield k

    results = distributed_map(rpc_worker.identity, batches(), in_flight=1)
    assert next(results) == 0
    assert len(consumed) <= 5
    assert list(results) == list(range(1, 100))


def test_errors_replace_results_in_order(three_workers):
    results = distributed_map(rpc_worker.fail, [1, 2])
    with pytest.raises(ValueError, match="bad 1"):
        next(results)
    for wrong in ({"in_flight": 0}, {"workers": []}):
        with pytest.raises(ValueError):
            list(distributed_map(rpc_worker.identity, [1], **wrong))


def test_progress(three_workers, capsys):
    assert list(distributed_map(rpc_worker.identity, [1, 2, 3], progress=True)) == [1, 2, 3]
    assert capsys.readouterr().err == "\rmap: 1/3\rmap: 2/3\rmap: 3/3\n"


def test_batches_of_a_dead_process_are_reassigned(three_workers):
    """With `retryable=True`, batches of a dead process are sent to another process."""
    arguments = [(0.02, k) for k in range(60)]
    found = []
    for result in distributed_map(rpc_worker.sleep, arguments, retryable=True):
        found.append(result)
        if result == 10:
            os.kill(three_workers[0].pid, signal.SIGKILL)
    assert found == list(range(60))
    with pytest.raises(RuntimeError, match=r"name=worker1\) exited or its connection broke"):
        list(distributed_map(rpc_worker.sleep, arguments))
