"""`ts.multiprocessing`: processes that share tensors, and `spawn`."""

import copy
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import time
from multiprocessing.reduction import ForkingPickler
from pathlib import Path

import pytest


import ts
import ts.multiprocessing as mp
from ts._core import shared_memory

METHODS = ["fork", "spawn", "forkserver"]
ROOT = Path(__file__).parent.parent


@pytest.fixture(params=["file_descriptor", "file_system"])
def strategy(request):
    """Run the test with each sharing strategy."""
    before = mp.get_sharing_strategy()
    mp.set_sharing_strategy(request.param)
    yield request.param
    mp.set_sharing_strategy(before)


def pickled_for_process(value):
    """Pickle and unpickle a value as for another process."""
    return pickle.loads(ForkingPickler.dumps(value))


# ---- shared memory


def test_a_forked_childs_write_is_seen(strategy):
    """The parent sees writes of a forked child in each view, created before or after sharing."""
    x = ts.arange(6.0)
    before, strided = x[2:], x[::2]
    storage = x.untyped_storage()
    assert x.share_memory_() is x
    after = x.view(2, 3)
    child = os.fork()
    if not child:
        before[0] = 100
        os._exit(0)
    os.waitpid(child, 0)
    assert [t[i].item() for t, i in ((x, 2), (before, 0), (strided, 1), (after, (0, 2)))] == [100.0] * 4
    assert all(t.is_shared() for t in (x, before, strided, after, storage))
    assert storage.data_ptr() == x.data_ptr()


def test_copies_are_not_shared():
    """Copies of shared tensors and new tensors are not shared."""
    x = ts.ones(3)
    array = x.numpy()
    assert not x.is_shared() and not ts.empty(0).is_shared()
    x.share_memory_()
    array[0] = 5  # the NumPy array keeps its previous memory
    assert x.tolist() == [1, 1, 1] and x._version == 0
    for other in (x.clone(), copy.deepcopy(x), pickle.loads(pickle.dumps(x)), x + 0):
        assert not other.is_shared()
    for view in (x[1:], x.detach(), x.view(3, 1), x.data):
        assert view.is_shared()
    assert ts.empty(0).share_memory_().is_shared()


@pytest.mark.parametrize("dtype", [ts.bool, ts.int16, ts.bfloat16, ts.complex64, ts.float8_e5m2])
def test_dtypes_and_strides_stay(dtype):
    """Sharing preserves dtypes and strides."""
    x = ts.arange(24).reshape(4, 6).to(dtype)
    y = x.t()[1:5:2, 1:]
    copied = y.clone()
    y.share_memory_()
    assert x.is_shared() and y.stride() == (2, 6) and y.storage_offset() == 7 and y.dtype == dtype
    assert ts.equal(y.to(ts.complex64), copied.to(ts.complex64))
    received = pickled_for_process(y)
    assert received.stride() == y.stride() and received.dtype == dtype and received.data_ptr() == y.data_ptr()


def test_gradients_go_on():
    """Sharing leaves gradients of previously recorded graphs unchanged."""
    w = ts.ones(3, requires_grad=True)
    y = w * 2
    z = (y * y).sum()
    y.share_memory_()
    w.share_memory_()
    z.backward()
    assert w.grad.tolist() == [8, 8, 8] and w.is_leaf and y.grad_fn is not None


def test_modules_are_shared_at_once():
    """`share_memory` moves all tensors of a module, tied parameters once; `state_dict` shares memory."""
    m = ts.nn.Sequential(ts.nn.Linear(2, 2), ts.nn.BatchNorm1d(2), ts.nn.Linear(2, 2))
    m[2].weight = m[0].weight
    state = m.state_dict()
    files = len(os.listdir("/proc/self/fd"))
    assert m.share_memory() is m
    assert len(os.listdir("/proc/self/fd")) <= files + 2
    assert all(t.is_shared() for t in (*m.parameters(), *m.buffers(), *state.values()))
    child = os.fork()
    if not child:
        with ts.no_grad():
            m[2].weight.fill_(7)
            m[1].num_batches_tracked.add_(1)
        os._exit(0)
    os.waitpid(child, 0)
    assert state["0.weight"].tolist() == [[7, 7], [7, 7]] and m[1].num_batches_tracked == 1


def test_storages_are_shared():
    """Sharing a storage also moves the tensors on it."""
    x = ts.zeros(4)
    x.untyped_storage().share_memory_()
    storage = ts.UntypedStorage._new_shared(8)
    assert x.is_shared() and storage.is_shared() and storage.nbytes() == 8
    received = pickled_for_process(storage)
    received[3] = 7
    assert storage[3] == 7


def test_unshareable_tensors():
    """Meta tensors and uninitialized parameters cannot be shared."""
    with pytest.raises(RuntimeError, match="only available on CPU"):
        ts.ones(3, device="meta").share_memory_()
    with pytest.raises(RuntimeError, match="Can't share memory on an uninitialized parameter"):
        ts.nn.LazyLinear(3).share_memory()
    with pytest.raises(AssertionError, match="invalid sharing strategy pigeons"):
        mp.set_sharing_strategy("pigeons")
    assert mp.get_sharing_strategy() in mp.get_all_sharing_strategies()


def shared_file_names():
    """Return the names of the shared memory files of this process."""
    return {name for name in os.listdir("/dev/shm") if name.startswith(f"ts_shared_{os.getpid()}_")}


def test_files_end_with_their_tensors(strategy):
    """Descriptors and named files are released with the tensors."""
    names = shared_file_names()
    files = len(os.listdir("/proc/self/fd"))
    for _ in range(20):
        x = ts.ones(1000)
        y = pickled_for_process(x)
        assert y.data_ptr() == x.data_ptr()
        assert (strategy == "file_system") == bool(shared_file_names() - names)
        del x
        assert y.sum() == 1000
        del y
        assert shared_file_names() == names
    assert (
        len(os.listdir("/proc/self/fd")) < files + 20
    )  # other sockets of `multiprocessing` are closed later


# ---- pickles for other processes


def test_views_stay_views():
    """Views of one storage share memory in the receiver, within and across messages, and with the sender."""
    x = ts.arange(6.0)
    y = x[2:4]
    first, second, again = pickled_for_process([x, y, x])
    third = pickled_for_process(y)
    assert first is again and x.is_shared()
    first[2] = 50
    assert [t[0].item() for t in (y, second, third)] == [50.0] * 3
    assert len(ForkingPickler.dumps(ts.ones(1_000_000))) < 1000


def test_contents_of_tensor_pickles():
    """A pickle contains `requires_grad` and the class, but not `.grad` or attributes."""

    w = ts.nn.Parameter(ts.ones(2), requires_grad=False)
    w.grad, w.note = None, 1
    x = ts.ones(2, requires_grad=True)
    x.sum().backward()
    received, other = pickled_for_process([w, x])
    assert type(received) is ts.nn.Parameter and not received.requires_grad and not received.__dict__
    assert other.requires_grad and other.grad is None and other.is_leaf
    with pytest.raises(RuntimeError, match="Cowardly refusing to serialize non-leaf tensor"):
        ForkingPickler.dumps(x * 2)
    meta = pickled_for_process(ts.ones(2, 3, device="meta"))
    assert meta.is_meta and meta.shape == (2, 3)


class Labelled(ts.Tensor):
    """Tensor subclass."""


def test_derived_classes_are_sent():
    """Instances of subclasses keep class and attributes, and share memory."""
    x = ts.ones(2).as_subclass(Labelled)
    x.label = "cat"
    for received in (pickled_for_process(x), pickle.loads(pickle.dumps(x))):
        assert type(received) is Labelled and received.label == "cat"
    assert pickled_for_process(x).data_ptr() == x.data_ptr()


def _double(source, target):
    x = source.get()
    x.mul_(2)
    target.put({"result": x + 1, "same": x})
    target.put(None)
    source.get()  # the memory exists until the parent maps it


@pytest.mark.parametrize("method", METHODS)
def test_queues_share_memory(method, strategy):
    """Sender and receiver of a queue share the memory of tensors in both directions."""
    context = mp.get_context(method)
    requests, responses = context.Queue(), context.SimpleQueue()
    process = context.Process(target=_double, args=(requests, responses))
    process.start()
    x = ts.arange(4.0)
    requests.put(x)
    answer = responses.get()
    assert responses.get() is None
    assert x.tolist() == [0, 2, 4, 6] and answer["result"].tolist() == [1, 3, 5, 7]
    answer["same"][0] = -1
    assert x[0] == -1
    requests.put(None)
    process.join()
    assert process.exitcode == 0


def _increment(x):
    x.add_(1)
    return x.sum()


def test_pools_share_memory():
    """Python's and PyTorch's pool classes share memory."""
    rows = ts.zeros(4, 3)
    with mp.Pool(2) as pool:
        assert [int(t) for t in pool.map(_increment, list(rows))] == [3] * 4
    from ts.multiprocessing.pool import Pool

    with Pool(2) as pool:
        assert [int(t) for t in pool.map(_increment, list(rows))] == [6] * 4
    assert rows.tolist() == [[2, 2, 2]] * 4


def test_any_order_of_imports():
    """Python's queues share tensors, whether `multiprocessing` is imported before or after `ts`."""
    program = """
import ts
x = ts.ones(3)
p = ts.nn.Parameter(ts.ones(3))
import multiprocessing, pickle
from multiprocessing.reduction import ForkingPickler
for each in (p, x):
    received = pickle.loads(ForkingPickler.dumps(each))
    received.data[0] = 5
    assert each[0] == 5 and type(received) is type(each), each
assert not pickle.loads(pickle.dumps(x)).is_shared()
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def _train(rank, model, x, y):
    optimizer = ts.optim.SGD(model.parameters(), lr=0.05)
    for _ in range(50):
        optimizer.zero_grad()
        ts.nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()


def test_hogwild_training():
    """Processes that train one shared model without locks converge."""
    ts.manual_seed(0)
    model = ts.nn.Linear(2, 1).share_memory()
    x = ts.randn(64, 2)
    y = x @ ts.tensor([[1.0], [-2.0]]) + 0.5
    mp.spawn(_train, (model, x, y), nprocs=2)
    assert ts.allclose(model.weight, ts.tensor([[1.0, -2.0]]), atol=0.05)


def test_batches_of_workers_can_be_sent_on():
    """A batch in worker memory is copied before it is sent, so that the worker cannot overwrite it."""
    data = ts.arange(400_000.0).reshape(40, 10_000)
    loader = ts.utils.data.DataLoader(data, 8, num_workers=1, multiprocessing_context="fork")
    batches = iter(loader)
    batch = next(batches)
    assert batch.is_shared()
    received = pickled_for_process(batch)
    received[0, 0] = -1
    assert batch[0, 0] == -1
    copied = received.clone()
    del batch
    for _ in batches:
        pass
    assert ts.equal(received, copied)


# ---- spawn


def _fail(rank):
    if rank == 1:
        raise ValueError("the second one\nfails")
    time.sleep(60)


def _exit(rank, code):
    if rank == 0:
        sys.exit(code)
    time.sleep(60)


def _kill(rank):
    if rank == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(60)


def _number(rank, x):
    x[rank] = rank + 1


@pytest.mark.parametrize("method", METHODS)
def test_spawn_raises_what_a_process_raised(method):
    """The parent raises the traceback of the failed process and terminates the others."""
    with pytest.raises(
        mp.ProcessRaisedException, match="-- Process 1 terminated with the following"
    ) as error:
        mp.start_processes(_fail, nprocs=2, start_method=method)
    assert 'raise ValueError("the second one\\nfails")' in str(error.value)
    assert str(error.value).endswith("ValueError: the second one\nfails\n")
    assert error.value.error_index == 1 and error.value.error_pid > 0
    again = pickle.loads(pickle.dumps(error.value))
    assert type(again) is mp.ProcessRaisedException and str(again) == str(error.value)


def test_spawn_raises_how_a_process_ended():
    """The error names the exit code or signal."""
    with pytest.raises(mp.ProcessExitedException, match=r"^process 0 terminated with exit code 3$") as error:
        mp.spawn(_exit, (3,), nprocs=2)
    assert (error.value.exit_code, error.value.signal_name, error.value.error_index) == (3, None, 0)
    with pytest.raises(
        mp.ProcessExitedException, match=r"^process 0 terminated with signal SIGKILL$"
    ) as error:
        mp.spawn(_kill, nprocs=2)
    assert (error.value.exit_code, error.value.signal_name) == (-9, "SIGKILL")
    assert issubclass(mp.ProcessExitedException, sys.modules["ts.multiprocessing.spawn"].ProcessException)


def test_spawn_gives_indices_and_shares_arguments():
    """`spawn` passes the process index and shares tensor arguments."""
    x = ts.zeros(3)
    assert mp.spawn(_number, (x,), nprocs=3) is None
    assert x.tolist() == [1, 2, 3]


def test_spawn_without_waiting():
    """`spawn(join=False)` returns a context that reports the end of all processes."""
    x = ts.zeros(2).share_memory_()
    context = mp.start_processes(_number, (x,), nprocs=2, join=False, start_method="fork")
    assert type(context) is mp.ProcessContext is mp.SpawnContext and len(set(context.pids())) == 2
    while not context.join(timeout=30):
        pass
    assert context.join() and x.tolist() == [1, 2]


def test_other_start_methods_warn():
    """A start method other than spawn issues a warning."""
    with pytest.warns(FutureWarning, match="only supports start_method=spawn"):
        mp.spawn(_number, (ts.zeros(1),), start_method="fork")


def test_spawn_is_a_function():
    """`multiprocessing.spawn` is a function whether or not its module was imported, in `ts` and `torch`."""
    for program in (
        "import ts.multiprocessing.spawn, ts.multiprocessing as mp; from ts.multiprocessing.spawn import ProcessException",
        "import ts; ts.install_as_torch(); import torch.multiprocessing.spawn; import torch.multiprocessing as mp",
    ):
        subprocess.run([sys.executable, "-c", f"{program}; assert callable(mp.spawn)"], check=True)


def test_all_names_of_python_multiprocessing():
    """`ts.multiprocessing` has all public names of `multiprocessing`."""
    for name in multiprocessing.__all__:
        assert hasattr(mp, name), name
    mp._set_thread_name("loader")
    assert mp._get_thread_name() == "loader"


def test_weak_references_to_storages():
    """Weak references are equal for views of one storage and expire with the memory."""
    x = ts.ones(3)
    first, second = (mp.reductions.StorageWeakRef(t.untyped_storage()) for t in (x, x[1:]))
    assert first == second and hash(first) == hash(second) and not first.expired()
    del x
    assert first.expired()


# ---- access of other processes to shared memory


@pytest.mark.skipif(not hasattr(os, "memfd_create"), reason="files in memory")
def test_shared_memory_cannot_be_shortened():
    """A shared memory file cannot be truncated, which would cause SIGBUS in its readers."""
    x = ts.zeros(10000).share_memory_()
    mapping, _ = shared_memory.find_mapping(x.array)
    with pytest.raises(PermissionError):
        os.ftruncate(mapping.descriptor, 0)
    assert x.sum() == 0


def test_links_and_short_files_are_rejected(tmp_path):
    target = tmp_path / "target"
    target.write_text("as it was, and longer than a number")
    link, short = tmp_path / "ts_shared_link", tmp_path / "ts_shared_short"
    link.symlink_to(target)
    short.write_text("x" * 10)
    for use in (shared_memory.add_user, shared_memory.remove_user, shared_memory.open_named_mapping):
        with pytest.raises(shared_memory.NotSharedMemoryError):
            use(str(link))
        with pytest.raises(shared_memory.NotSharedMemoryError):
            use(str(target))
    with pytest.raises(shared_memory.NotSharedMemoryError, match="too short"):
        shared_memory.open_named_mapping(str(short))
    assert target.read_text() == "as it was, and longer than a number"


@pytest.mark.parametrize("layout", [ts.sparse_coo, ts.sparse_csr])
def test_sparse_tensors_have_no_storage_and_are_sent(layout):
    x = ts.eye(2).to_sparse(layout=layout)
    for use in (x.share_memory_, x.is_shared):
        with pytest.raises(NotImplementedError, match="Cannot access storage of Sparse"):
            use()
    received = pickled_for_process(x)
    assert received.layout is layout
    assert received.values().is_shared()
    assert received.to_dense().tolist() == [[1, 0], [0, 1]]


def test_tracebacks_of_processes_are_not_unpickled(tmp_path):
    read_traceback = sys.modules["ts.multiprocessing.spawn"]._read_traceback  # `mp.spawn` is the function
    file = tmp_path / "0.txt"
    for content, text in (
        (b"", None),
        (b"cbuiltins\nprint\n(S'x'\ntR.", "cbuiltins\nprint\n(S'x'\ntR."),
        (b"\x80", "\ufffd"),
    ):
        file.write_bytes(content)
        assert read_traceback(str(file)) == text
    assert read_traceback(str(file)) is None
