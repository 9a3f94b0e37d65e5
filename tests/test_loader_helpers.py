"""PyTorch's private helpers of data loaders, which data loaders of other packages use."""

import os

import numpy as np
import pytest

import ts
from ts.utils.data import dataloader
from ts.utils.data._utils import MP_STATUS_CHECK_INTERVAL, collate, fetch, pin_memory, worker


def test_fetchers():
    """Fetchers return batches by index, or by count for iterable data sets."""
    kind = dataloader._DatasetKind
    by_index = kind.create_fetcher(kind.Map, [10, 20, 30], True, list, False)
    assert isinstance(by_index, fetch._MapDatasetFetcher) and by_index.fetch([0, 2]) == [10, 30]
    assert fetch._MapDatasetFetcher([10, 20], False, str, False).fetch(1) == "20"
    in_order = kind.create_fetcher(kind.Iterable, range(5), True, list, True)
    assert in_order.fetch([0, 0]) == [0, 1] and in_order.fetch([0, 0]) == [2, 3] and not in_order.ended
    with pytest.raises(StopIteration):
        in_order.fetch([0, 0])
    assert in_order.ended


def test_workers():
    info = worker.WorkerInfo(id=0, num_workers=2, seed=3, dataset=[1])
    assert repr(info) == "WorkerInfo(id=0, num_workers=2, seed=3, dataset=[1], rng=None, worker_method='multiprocessing')"
    assert worker._generate_state(3, 1) == [4010755824, 4093133998, 1799442052, 773627024]
    assert worker._generate_state(12345678901234, 7) == [1125371606, 2468475999, 186362598, 2876543963]
    watchdog = worker.ManagerWatchdog()
    assert watchdog.is_alive() and watchdog.manager_pid == os.getppid() and MP_STATUS_CHECK_INTERVAL == 5.0


def test_collate_functions():
    assert collate.collate_tensor_fn([ts.ones(2), ts.zeros(2)]).tolist() == [[1.0, 1.0], [0.0, 0.0]]
    assert collate.collate_float_fn([1.0, 2.0]).dtype == ts.float64 and collate.collate_int_fn([1, 2]).tolist() == [1, 2]
    assert collate.collate_str_fn(["a", "b"]) == ["a", "b"]
    assert collate.collate_numpy_array_fn([np.ones(2), np.ones(2)]).shape == (2, 2)
    assert collate.default_collate_fn_map[ts.Tensor] is collate.collate_tensor_fn


def test_pin_memory():
    """Objects with a `pin_memory` method are pinned in nested containers."""

    class Pinned:
        def pin_memory(self):
            return "pinned"

    assert pin_memory.pin_memory([Pinned(), 1, {"k": Pinned()}]) == ["pinned", 1, {"k": "pinned"}]
