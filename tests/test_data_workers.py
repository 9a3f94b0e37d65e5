"""Loaders with worker processes: batches, their order and memory, failures, and the end of the workers."""

import gc
import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
import time

import pytest

import ts
from tests.dataset_fixtures import Drawn, Failing, Numbers, Shared, first, failing_worker_init, reseed
from ts.utils.data import DataLoader, TensorDataset
from ts.utils.data.batch_transport import MAX_REFERENCED_SEGMENTS

METHODS = multiprocessing.get_all_start_methods()


def files():
    return len(os.listdir("/proc/self/fd"))


@pytest.fixture(autouse=True)
def record_other_children():
    """Record the child processes of other tests, which exist before and after a test."""
    OTHER_CHILDREN.clear()
    OTHER_CHILDREN.update(process.pid for process in multiprocessing.active_children())


OTHER_CHILDREN = set()


def children():
    return {process.pid for process in multiprocessing.active_children()} - OTHER_CHILDREN


def has_ended(pid):
    """Return True if a process that is not a child of this process has ended."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    with open(f"/proc/{pid}/stat") as file:
        return file.read().rpartition(")")[2].split()[0] == "Z"  # a zombie process


def wait_until(condition, seconds=20):
    """Return True if a condition becomes true within `seconds`."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


@pytest.mark.parametrize("method", METHODS)
def test_batches_equal_a_single_process(method):
    data = TensorDataset(ts.arange(10), ts.randn(10, 3))
    loader = DataLoader(data, 3, num_workers=2, multiprocessing_context=method)
    for batch, expected in zip(loader, DataLoader(data, 3), strict=True):
        assert batch[0].tolist() == expected[0].tolist() and batch[1].equal(expected[1])


@pytest.mark.parametrize("size", [1, 100_000])
def test_large_and_small_batches(size):
    """Small batches arrive through the pipe and large ones through shared memory; batches are writable and
    own their memory."""
    batches = list(DataLoader(Numbers(12, (size,)), 2, num_workers=2))
    for batch in batches:
        batch += 1
    assert [batch[:, -1].tolist() for batch in batches] == [[i + 1, i + 2] for i in range(0, 12, 2)]


def test_retained_batches_do_not_change():
    """Batches that outlive the worker's segments are unchanged."""
    batches = list(DataLoader(Numbers(3 * MAX_REFERENCED_SEGMENTS, (20_000,)), None, num_workers=1))
    assert [(b[0].item(), b[-1].item()) for b in batches] == [(i, i) for i in range(3 * MAX_REFERENCED_SEGMENTS)]
    views = [b[5:7] for b in DataLoader(Numbers(3 * MAX_REFERENCED_SEGMENTS, (20_000,)), None, num_workers=1)]
    assert [v.tolist() for v in views] == [[i, i] for i in range(3 * MAX_REFERENCED_SEGMENTS)]


def test_batches_outlive_the_workers():
    loader = DataLoader(Numbers(4, (50_000,)), 2, num_workers=1)
    it = iter(loader)
    batch = next(it)
    del it, loader
    gc.collect()
    assert not children() and batch.sum().item() == 50_000


def collected(samples):
    x = ts.arange(40_000.0)
    return {
        "rows": [x.view(200, 200), x.view(200, 200).t()],
        "short": ts.ones(30_000, dtype=ts.bfloat16),
        "weights": ts.nn.Parameter(ts.ones(3)),
        "names": ("a", b"b", None),
        "meta": ts.empty(3, device="meta"),
        "none": ts.empty(0, 4),
        "complex": ts.ones(2, dtype=ts.complex64).conj(),
        "array": x.numpy()[::2],
        "bit": x.view(200, 200)[3, :2],
    }


def test_contents_of_batches():
    """Batches from workers keep structure, dtypes and strides, and tensors that share memory stay shared."""
    (batch,) = DataLoader(Numbers(1), 1, num_workers=1, collate_fn=collected)
    single_process = collected(None)
    assert batch.keys() == single_process.keys() and batch["names"] == single_process["names"]
    assert batch["weights"].requires_grad and batch["meta"].is_meta and batch["none"].shape == (0, 4)
    for a, b in zip([*batch["rows"], batch["short"], batch["complex"], batch["bit"]],
                    [*single_process["rows"], single_process["short"], single_process["complex"], single_process["bit"]], strict=True):
        assert a.equal(b) and a.stride() == b.stride() and a.dtype is b.dtype
    assert (batch["array"] == single_process["array"]).all()
    assert batch["rows"][0].data_ptr() == batch["rows"][1].data_ptr()
    assert batch["bit"].untyped_storage().nbytes() < 1000  # a view does not transfer its base


def test_iterable_data_are_divided():
    loader = DataLoader(Shared(7), 2, num_workers=2)
    assert [b.tolist() for b in loader] == [[0, 2], [1, 3], [4, 6], [5]]
    assert [b.tolist() for b in DataLoader(Shared(7), 2, num_workers=2, drop_last=True)] == [[0, 2], [1, 3], [4, 6]]
    assert list(DataLoader(Shared(5), None, num_workers=2)) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("data", [Numbers(9), Shared(9)])
def test_persistent_workers_serve_several_passes(data):
    """Persistent workers serve several passes; a pass that ends early leaves no batches for the next pass."""
    loader = DataLoader(data, 2, num_workers=2, persistent_workers=True)
    once = [b.tolist() for b in loader]
    pids = children()
    next(iter(loader))
    assert [b.tolist() for b in loader] == once and children() == pids
    del loader
    gc.collect()
    assert not children()


def test_seeds_follow_the_generator():
    def drawn(**more):
        loader = DataLoader(Drawn(8), 1, num_workers=2, collate_fn=first, **more)
        return list(loader)

    seeds = [drawn(generator=ts.Generator().manual_seed(seed)) for seed in (1, 1, 2)]
    assert seeds[0] == seeds[1] and not {x[3] for x in seeds[0]} & {x[3] for x in seeds[2]}
    assert [x[1:3] for x in seeds[0]] == [(0, 2), (1, 2)] * 4
    assert len({x[4] for x in seeds[0]}) == 8 and len({x[6] for x in seeds[0]}) == 8
    reseeded = drawn(worker_init_fn=reseed)
    assert reseeded[0][4] == ts.rand(1, generator=ts.Generator().manual_seed(0)).item()
    assert ts.utils.data.get_worker_info() is None


def test_unordered_batches():
    loader = DataLoader(Numbers(20), 2, num_workers=2, in_order=False, prefetch_factor=3)
    assert sorted(i for b in loader for i in b.tolist()) == list(range(20))


WORDS = {
    "value": (ValueError, r"Caught ValueError in DataLoader worker process \d\.\nOriginal Traceback \(most recent call last\):(.|\n)*bad sample"),
    "key": (KeyError, r"Caught KeyError in DataLoader worker process \d\.\nOriginal Traceback(.|\n)*missing"),
    "two arguments": (RuntimeError, r"Caught Two in DataLoader worker process"),
    "local class": (RuntimeError, "Local(.|\n)*nobody else knows it"),
    "stop": (RuntimeError, "Caught StopIteration in DataLoader"),
    "killed": (RuntimeError, r"DataLoader worker \(pid\(s\) \d+\) exited unexpectedly"),
    "exit": (RuntimeError, r"DataLoader worker \(pid\(s\) \d+\) exited unexpectedly"),
    "non-leaf": (RuntimeError, "Cowardly refusing to serialize non-leaf tensor"),
    "not pickled": (Exception, "lambda"),
}  # fmt: skip


@pytest.mark.parametrize("failure", WORDS)
def test_failures(failure):
    """An error in a worker is raised in the program with its class and traceback, and all workers end."""
    error, words = WORDS[failure]
    with pytest.raises(error, match=words) as caught:
        list(DataLoader(Failing(failure), 2, num_workers=2, collate_fn=first if failure == "not pickled" else None, sampler=range(5, 12)))
    if failure == "killed":
        assert "is killed by signal: Killed" in str(caught.value.__cause__)
    del caught
    gc.collect()
    assert wait_until(lambda: not children())


def test_loader_continues_after_a_failure():
    it = iter(DataLoader(Failing("value"), 2, num_workers=2))
    seen = []
    for _ in range(6):
        try:
            seen.append(next(it).tolist())
        except ValueError:
            seen.append(None)
    assert seen == [[0, 1], [2, 3], None, [6, 7], [8, 9], [10, 11]]


def test_a_worker_that_cannot_start():
    with pytest.raises(OSError, match="worker 0 finds no files"):
        list(DataLoader(Numbers(4), 2, num_workers=2, worker_init_fn=failing_worker_init))


def test_timeout():
    with pytest.raises(RuntimeError, match=r"DataLoader timed out after 0\.5 seconds"):
        list(DataLoader(Failing("sleeps"), 2, num_workers=1, timeout=0.5))
    gc.collect()
    assert wait_until(lambda: not children())


def test_abandoned_loader_ends_its_workers():
    it = iter(DataLoader(Numbers(1000, (10_000,)), 2, num_workers=2))
    next(it)
    assert len(children()) == 2
    del it
    gc.collect()
    assert not children()


@pytest.mark.skipif(not os.path.exists("/proc/self/fd"), reason="counts files by Linux's /proc")
def test_many_batches_leave_no_files():
    """1,000 batches in shared memory leave the number of open files, mappings and the memory unchanged."""

    def resident():
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * 4096

    loader = DataLoader(Numbers(1000, (50_000,)), None, num_workers=2, persistent_workers=True)
    before = files()
    for number, batch in enumerate(loader):
        if number == 100:
            open_files, memory = files(), resident()
        assert batch[0].item() == number
    assert files() <= open_files <= before + 2 * (MAX_REFERENCED_SEGMENTS + 6)
    assert resident() < memory + 20 * 200_000  # a leak would be 180 MB
    del loader, batch
    gc.collect()
    assert files() == before


ENDED = r"""
    import os
    from tests.dataset_fixtures import Announced
    from ts.utils.data import DataLoader
    if __name__ == "__main__":
        loader = DataLoader(Announced(10_000), 2, num_workers=2, multiprocessing_context={method!r})
        for number, batch in enumerate(loader):
            if number == 3:
                os.write(1, b"ready\n")
"""


@pytest.mark.parametrize(
    "ending, method", [("interrupted", "fork"), ("terminated", "fork"), *(("killed", method) for method in METHODS)]
)
def test_no_orphans(ending, method, tmp_path):
    """Workers end after Ctrl-C and after a kill of the program."""
    program = tmp_path / "program.py"
    program.write_text(textwrap.dedent(ENDED.format(method=method)))
    environment = {**os.environ, "PYTHONPATH": os.getcwd()}
    with subprocess.Popen([sys.executable, program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          start_new_session=True, env=environment) as process:
        workers = set()
        for line in process.stdout:
            if line == "ready\n":
                break
            workers.add(int(line))
        assert len(workers) == 2
        if ending == "interrupted":
            os.killpg(process.pid, signal.SIGINT)
        else:
            process.send_signal(signal.SIGKILL if ending == "killed" else signal.SIGTERM)
        _, errors = process.communicate(timeout=60)
    assert wait_until(lambda: all(has_ended(pid) for pid in workers))
    assert errors.count("KeyboardInterrupt") == (ending == "interrupted")


def test_workers_and_threads_train_together():
    """A process that used its thread pool can fork workers that use their own thread pools."""
    x = ts.randn(300, 300)
    x @ x
    futures = [ts.jit.fork(_product, x) for _ in range(4)]
    for future in futures:
        ts.jit.wait(future)
    loader = DataLoader(Numbers(4, (300, 300)), 2, num_workers=2, collate_fn=_products)
    assert [b.tolist() for b in loader] == [[0.0, 300.0], [1200.0, 2700.0]]


@ts.jit.script
def _product(x: ts.Tensor) -> ts.Tensor:
    return x @ x


def _products(samples):
    return ts.stack([ts.jit.wait(ts.jit.fork(_product, x))[0, 0] for x in samples])


def test_fork_of_the_program_does_not_affect_workers():
    """A forked copy of the program neither terminates the workers nor keeps their pipes open."""
    it = iter(DataLoader(Numbers(40, (10,)), 2, num_workers=1))
    next(it)
    pid = os.fork()
    if pid == 0:
        del it
        gc.collect()
        os._exit(0)
    assert os.waitpid(pid, 0)[1] == 0
    assert len(list(it)) == 19


REJECTED = {
    "multiprocessing_context can only be used with multi-process loading": {"multiprocessing_context": "spawn"},
    "should specify a valid start method": {"num_workers": 1, "multiprocessing_context": "fish"},
    "prefetch_factor option should be non-negative": {"num_workers": 1, "prefetch_factor": -1},
}


@pytest.mark.parametrize("words", REJECTED)
def test_rejected(words):
    with pytest.raises(ValueError, match=words):
        DataLoader(Numbers(2), **REJECTED[words])


def test_too_many_workers_warn():
    with pytest.warns(UserWarning, match="This DataLoader will create 4096 worker processes in total"):
        DataLoader(Numbers(2), num_workers=4096)
