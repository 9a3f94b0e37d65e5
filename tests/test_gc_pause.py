"""Suspension of Python's garbage collector during compilation."""

import gc
import weakref

import pytest

import ts
from ts.runtime import gc_pause
from ts.runtime.gc_pause import gc_disabled


class Cycle:
    def __init__(self):
        self.itself = self


@pytest.fixture(autouse=True)
def young(monkeypatch):
    gc.collect()
    monkeypatch.setattr(gc_pause, "_checks_to_skip", 0)
    monkeypatch.setattr(gc_pause, "_promoted_objects", 0)  # other tests of the process promoted objects, too


def test_new_objects_are_not_scanned():
    collected = []
    gc.callbacks.append(lambda phase, info: collected.append(phase))
    try:
        with gc_disabled():
            lists = [[] for _ in range(10_000)]
        assert gc.get_count()[0] < 5_000, "the next object would begin a collection of all that were lists"
        assert not collected and len(lists) == 10_000 and gc.isenabled()
    finally:
        gc.callbacks.pop()


def test_full_collection_finds_garbage():
    with gc_disabled():
        dropped = weakref.ref(Cycle())
    assert dropped() is not None
    gc.collect()
    assert dropped() is None


@pytest.mark.parametrize("optimizes", [False, True])
def test_temporary_graphs_need_no_collection(optimizes):
    """Reference counts free the graphs of a compilation: callees, copies, branches that are decided."""
    unit = ts.jit.CompilationUnit(
        "def g(x, b: Optional[Tensor]):\n  if b is None:\n    return x.relu()\n  return x + b\n"
        "def f(x, n: int):\n  for i in range(n):\n    x = g(x, None) + g(x, x)\n"
        "  if x.dim() == 2:\n    assert n > 0\n    x = x + 1\n  return x\n"
    )
    gc.collect()
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        with ts.jit.optimized_execution(optimizes):
            unit.f(ts.ones(2, 2), 3)
        gc.collect()
        nodes = [found for found in gc.garbage if type(found).__name__ == "Node"]
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
    assert not nodes, {node.kind() for node in nodes}


def test_collection_after_many_promoted_objects(monkeypatch):
    monkeypatch.setattr(gc_pause, "_threshold", 1_000)
    monkeypatch.setattr(gc_pause, "_promoted_objects", 0)
    with gc_disabled():
        dropped = [weakref.ref(Cycle()) for _ in range(2_000)]
    assert not any(cycle() for cycle in dropped)


def test_no_collection_under_a_deadline(monkeypatch):
    monkeypatch.setattr(gc_pause, "_threshold", 1_000)
    monkeypatch.setattr(gc_pause, "_promoted_objects", 0)
    with ts.limits(seconds=60), gc_disabled():
        dropped = [weakref.ref(Cycle()) for _ in range(2_000)]
    assert all(cycle() for cycle in dropped)


def test_objects_that_the_program_froze_stay_frozen():
    gc.freeze()
    try:
        frozen = gc.get_freeze_count()
        with gc_disabled():
            lists = [[] for _ in range(1_000)]
        assert gc.get_freeze_count() >= frozen - 100 and lists
    finally:
        gc.unfreeze()


def test_disabled_collector_stays_disabled():
    gc.disable()
    try:
        with gc_disabled():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_frozen_objects_are_not_counted_each_time(monkeypatch):
    calls = []
    monkeypatch.setattr(gc_pause, "_SKIPPED_CHECKS", 3)
    monkeypatch.setattr(gc, "get_freeze_count", lambda: calls.append(1) or 7)
    for _ in range(8):
        with gc_disabled():
            pass
    assert len(calls) == 2
