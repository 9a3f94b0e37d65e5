"""Calls between processes: this process is worker0 of four, and worker3 is restricted."""

import time

import pytest

import ts

pytest.importorskip("distributed", reason="rpc needs dask.distributed")
from tests.distributed import rpc_worker
from tests.distributed.rpc_worker import eventually, start
from tests.distributed.process_groups import free_port
from ts.distributed import rpc
from ts.distributed.rpc import callable_registry
from ts.distributed.rpc.api import current

COUNT = 4


@pytest.fixture(scope="module", autouse=True)
def workers():
    port = free_port()
    others = [start(port, rank, COUNT, *(["limited"] if rank == 3 else [])) for rank in range(1, COUNT)]
    rpc.init_rpc("worker0", rank=0, world_size=COUNT, rpc_backend_options=rpc_worker.options(port))
    yield others
    rpc.shutdown()
    assert [other.wait(30) for other in others] == [0] * len(others)


@ts.jit.script
def scripted(x: ts.Tensor, n: int) -> ts.Tensor:
    for k in range(n):
        x = x * 2 + k
    return x


@ts.jit.script
def endless(n: int) -> int:
    while n > 0:
        n += 1
    return n


@ts.jit.script
def subtracts(x: ts.Tensor) -> ts.Tensor:
    return x - 1


@ts.jit.script
def fails(x: ts.Tensor, i: int) -> ts.Tensor:
    if i > 2:
        raise ValueError("more than two")
    return x[i]


# ---- calls


def test_names():
    assert rpc.get_worker_info() == rpc.WorkerInfo("worker0", 0)
    assert repr(rpc.get_worker_info("worker1")) == "WorkerInfo(id=1, name=worker1)"
    for to in ("worker1", 1, rpc.get_worker_info("worker1")):
        assert rpc.rpc_sync(to, rpc_worker.add, args=(1, 2)) == 3
    with pytest.raises(RuntimeError, match="name:worker0,rank:0 could not find destination name nobody"):
        rpc.rpc_sync("nobody", rpc_worker.add, args=(1, 2))


@pytest.mark.parametrize("to", ["worker0", "worker1"])
def test_callees(to):
    x = ts.arange(3.0)
    assert rpc.rpc_sync(to, ts.add, args=(x, 1), kwargs={"alpha": 2}).tolist() == [2, 3, 4]
    assert rpc.rpc_sync(to, ts.ops.aten.mul, args=(x, 2)).tolist() == [0, 2, 4]
    assert rpc.rpc_sync(to, ts.ops.aten.mul.Tensor, args=(x, x)).tolist() == [0, 1, 4]
    assert rpc.rpc_sync(to, scripted, args=(x, 3)).tolist() == scripted(x, 3).tolist()
    assert rpc.rpc_async(to, scripted, args=(x,), kwargs={"n": 3}).wait().tolist() == scripted(x, 3).tolist()
    assert rpc.remote(to, scripted, args=(x, 2)).to_here().tolist() == scripted(x, 2).tolist()
    module = ts.jit.script(ts.nn.Linear(3, 2))
    ts.testing.assert_close(rpc.rpc_sync(to, module, args=(x,)), module(x))


def test_bound_methods():
    """Bound methods are sent with their object or rejected."""
    module = ts.jit.script(rpc_worker.Scaled())
    for to in ("worker0", "worker1"):
        assert rpc.rpc_sync(to, module.forward, args=(2,)) == 6
        assert rpc.rpc_sync(to, module.plus, args=(2,)) == 5
    assert rpc.rpc_sync("worker1", rpc_worker.OtherCounter.name_of_class) == "OtherCounter"
    with pytest.raises(TypeError, match=r"Counter\.add is a method of an object that cannot be sent"):
        rpc.rpc_sync("worker1", rpc_worker.Counter().add, args=(rpc_worker.identity, 1))


def test_code_travels_once():
    peer = current().peer("worker2")

    @ts.jit.script
    def once(x: int) -> int:
        return x * 3

    for k in range(3):
        assert rpc.rpc_sync("worker2", once, args=(k,)) == 3 * k
    (digest,) = [d for d in peer.codes if d == current().endpoint.sent_code.name(once)[1]]
    for ask in (
        rpc.rpc_sync,
        lambda *a, **k: rpc.rpc_async(*a, **k).wait(),
        lambda *a, **k: rpc.remote(*a, **k).to_here(),
    ):
        rpc.rpc_sync("worker2", forget_code, args=(digest,))  # the process requests the code again
        assert ask("worker2", once, args=(5,)) == 15


def forget_code(digest):
    current().executor.received_code._loaded.pop(digest, None)


@pytest.mark.parametrize(
    "value",
    [
        None, True, -3, 2**63 - 1, -(2**63), 2**63, -(2**200), 1.5, float("inf"), 2 - 3j, "", "text", b"", b"bytes" * 3000,
        [], (), {}, set(), {1, (2,)}, frozenset({3}), [1, (2, [3])], {"a": 1, 2: (3,), (4, 5): None}, ts.Size([2, 3]), ts.float64, ts.strided,
        ts.channels_last, ts.device("cpu"), slice(1, None, 2), slice(None),
    ],
    ids=lambda value: repr(value)[:20],
)  # fmt: skip
def test_values(value):
    found = rpc.rpc_sync("worker1", rpc_worker.identity, args=(value,))
    assert found == value and type(found) is type(value)


@pytest.mark.parametrize(
    "dtype", [ts.float32, ts.bfloat16, ts.int64, ts.bool, ts.complex64, ts.float8_e4m3fn], ids=str
)
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 0, 3), (70, 33)])
def test_tensors(dtype, shape):
    x = (ts.rand(shape) * 3).to(dtype)
    found = rpc.rpc_sync("worker1", rpc_worker.identity, args=(x,))
    assert found.dtype == dtype and found.shape == x.shape and (not x.numel() or found.stride() == x.stride())
    assert ts.equal(found.float(), x.float())


def test_layouts_and_shared_memory():
    x = ts.arange(12.0).reshape(3, 4)
    for each in (
        x.t(),
        x[1:, ::2],
        x.expand(2, 3, 4),
        x[:, :1],
        x[1],
        x.flip(0),
        ts.complex(x, x).conj(),
        x.view(ts.int32),
    ):
        found = rpc.rpc_sync("worker1", rpc_worker.identity, args=(each,))
        assert ts.equal(found, each) and found.shape == each.shape
    assert rpc.rpc_sync("worker1", rpc_worker.shares_memory, args=(x[0], x[0])) == 7
    assert rpc.rpc_sync("worker1", rpc_worker.shares_memory, args=(x[0], x[1])) == 4
    assert x[0, 0] == 0  # the sender's tensor is unchanged


def test_gradients_and_parameters():
    x = rpc.rpc_sync("worker1", rpc_worker.identity, args=(ts.ones(2, requires_grad=True) * 2,))
    assert x.requires_grad and x.is_leaf
    weight = rpc.rpc_sync("worker1", rpc_worker.identity, args=(ts.nn.Parameter(ts.ones(2)),))
    assert isinstance(weight, ts.nn.Parameter) and weight.requires_grad


def test_unserializable_values():
    loop = []
    loop.append(loop)
    for value in (object(), lambda: 1, ts.nn.Linear(2, 2), rpc_worker.Counter()):
        with pytest.raises(TypeError, match="cannot be sent to another process"):
            rpc.rpc_sync("worker1", rpc_worker.identity, args=(value,))
    with pytest.raises(ValueError, match="nested too deeply or contains itself"):
        rpc.rpc_sync("worker1", rpc_worker.identity, args=(loop,))
    with pytest.raises(TypeError, match=r"tests\.distributed\.rpc_worker\.Counter cannot be sent"):
        rpc.rpc_sync("worker1", rpc_worker.Counter, args=(1,))
    with pytest.raises(TypeError, match="function should be callable"):
        rpc.rpc_sync("worker1", 3)
    with pytest.raises(AttributeError, match="Can't pickle local object"):
        rpc.rpc_sync("worker1", lambda: 1)


# ---- errors


def test_errors():
    for ask in (
        rpc.rpc_sync,
        lambda *a, **k: rpc.rpc_async(*a, **k).wait(),
        lambda *a, **k: rpc.remote(*a, **k).to_here(),
    ):
        with pytest.raises(
            ValueError, match=r"(?s)On WorkerInfo\(id=1, name=worker1\):\nValueError\('bad 7'\)\nTraceback"
        ):
            ask("worker1", rpc_worker.fail, args=(7,))
        with pytest.raises(RuntimeError, match=r"Own.*mine"):
            ask("worker1", rpc_worker.fail_in_its_own_way)
        with pytest.raises(RuntimeError, match=r"The size of tensor a \(2\) must match"):
            ask("worker1", ts.add, args=(ts.ones(2), ts.ones(3)))
        with pytest.raises(ts.jit.Error, match="more than two"):
            ask("worker1", fails, args=(ts.ones(2), 3))
        with pytest.raises(RuntimeError, match="out of range"):
            ask("worker1", fails, args=(ts.ones(2), 2))
        with pytest.raises(TypeError, match="missing 1 required positional argument"):
            ask("worker1", rpc_worker.add, args=(1,))


def test_errors_name_the_function():
    """Errors name the function, not the digest of its code."""
    name = current().endpoint.sent_code.name
    assert callable_registry.describe_callee(name(endless)) == "endless"
    assert callable_registry.describe_callee(name(ts.jit.script(rpc_worker.Scaled()).plus)) == "Scaled.plus"
    assert callable_registry.describe_callee(name(rpc_worker.add)) == "tests.distributed.rpc_worker.add"
    assert callable_registry.describe_callee(name(ts.ops.aten.mul.Tensor)) == "aten::mul.Tensor"


def test_time_limits():
    start_time = time.monotonic()
    for ask in (rpc.rpc_sync, lambda *a, **k: rpc.rpc_async(*a, **k).wait()):
        with pytest.raises(RuntimeError, match=r"RPC ran for more than set timeout \(200 ms\)"):
            ask("worker1", rpc_worker.sleep, args=(1.5,), timeout=0.2)
    with pytest.raises(RuntimeError, match=r"more than set timeout \(200 ms\)"):
        rpc.remote("worker1", rpc_worker.sleep, args=(1.5,)).to_here(timeout=0.2)
    assert time.monotonic() - start_time < 20
    with pytest.raises(ValueError, match="should not be negative"):
        rpc.rpc_sync("worker1", rpc_worker.add, args=(1, 2), timeout=-3)
    assert rpc.rpc_sync("worker1", rpc_worker.sleep, args=(0.01, 5), timeout=0) == 5


# ---- nested calls


def test_calls_that_call():
    assert rpc.rpc_sync("worker1", rpc_worker.call_on, args=("worker2", 5)) == 6
    assert rpc.rpc_sync("worker1", rpc_worker.call_on, args=("worker0", 5)) == 6  # calls this process
    assert rpc.rpc_sync("worker1", rpc_worker.callbacks, args=("worker2",)) == 13
    assert rpc_worker.callbacks("worker1") == 13
    assert rpc_worker.in_threads("worker1", 40) == sum(range(40))


def test_asynchronous_functions():
    for to, on in (("worker1", "worker2"), ("worker1", "worker0"), ("worker0", "worker1")):
        assert rpc.rpc_sync(to, rpc_worker.later, args=(on, ts.ones(1))).tolist() == [20]
        assert rpc.rpc_async(to, rpc_worker.later, args=(on, 1)).wait() == 20
        assert rpc.remote(to, rpc_worker.later, args=(on, 1)).to_here() == 20
    with pytest.raises(
        RuntimeError, match=r"must return a torch\.futures\.Future object, but got builtins\.int"
    ):
        rpc.rpc_sync("worker1", rpc_worker.no_future, args=(1,))


def test_many_calls_in_flight():
    futures = [rpc.rpc_async(1 + k % 2, rpc_worker.add, args=(k, 1)) for k in range(1000)]
    assert ts.futures.wait_all(futures) == list(range(1, 1001))


# ---- references


def test_handles():
    ref = rpc.remote("worker1", rpc_worker.add, args=(1, 2))
    assert (ref.to_here(), ref.is_owner(), ref.owner(), ref.owner_name()) == (
        3,
        False,
        rpc.WorkerInfo("worker1", 1),
        "worker1",
    )
    assert ref.confirmed_by_owner() and repr(ref).startswith(
        "UserRRef(RRefId = GloballyUniqueId(created_on=0, local_id="
    )
    with pytest.raises(
        RuntimeError, match=r"can't call localValue\(\) on user WorkerInfo\(id=0, name=worker0\)"
    ):
        ref.local_value()
    with pytest.raises(RuntimeError, match="can only be pickled when using RPC"):
        __import__("pickle").dumps(ref)
    own = rpc.RRef(ts.ones(2))
    assert own.is_owner() and own.local_value() is own.to_here() and repr(own).startswith("OwnerRRef(")


def test_forwarded_references():
    ref, own = rpc.remote("worker1", rpc_worker.add, args=(1, 2)), rpc.RRef(5)
    assert rpc.rpc_sync("worker1", rpc_worker.of, args=(ref,)) == (True, "worker1", 3)
    assert rpc.rpc_sync("worker2", rpc_worker.of, args=(ref,)) == (False, "worker1", 3)
    assert rpc.rpc_sync("worker2", rpc_worker.of, args=(own,)) == (False, "worker0", 5)
    back = rpc.rpc_sync("worker2", rpc_worker.identity, args=(ref,))
    assert back.to_here() == 3 and rpc.rpc_sync("worker2", rpc_worker.identity, args=(own,)).local_value() == 5


def test_values_live_until_their_last_reference():
    assert eventually(lambda: rpc.rpc_sync("worker1", rpc_worker.owned) == 0)
    ref = rpc.remote("worker1", rpc_worker.add, args=(1, 2))
    rpc.rpc_sync("worker2", rpc_worker.hold_reference, args=(ref,))
    del ref
    time.sleep(0.3)
    assert rpc.rpc_sync("worker1", rpc_worker.owned) == 1  # worker2 has a reference
    rpc.rpc_sync("worker2", rpc_worker.release_references)
    assert eventually(lambda: rpc.rpc_sync("worker1", rpc_worker.owned) == 0)
    assert eventually(lambda: not current().rrefs._pending_forks)
    before = len(current().rrefs)
    own = rpc.RRef(1)
    assert len(current().rrefs) == before + 1
    del own
    assert eventually(lambda: len(current().rrefs) == before)


def test_methods_of_values():
    counter = rpc.remote("worker1", rpc_worker.Counter, args=(5,))
    assert counter.rpc_sync().add(3) == 8
    assert counter.rpc_async().add(1).wait() == 9
    assert counter.remote().add(1).to_here() == 10
    with pytest.raises(KeyError, match="On WorkerInfo"):
        counter.rpc_sync().boom()
    assert rpc.RRef(rpc_worker.Counter(1)).rpc_sync().add(1) == 2
    assert rpc.remote("worker3", ts.add, args=(ts.ones(2), 1)).rpc_sync().mul(2).tolist() == [4, 4]


# ---- restricted processes


def test_restricted_process():
    assert rpc.rpc_sync("worker3", ts.add, args=(1, 2)) == 3
    assert rpc.rpc_sync("worker3", scripted, args=(ts.ones(1), 2)).tolist() == [5]
    with pytest.raises(PermissionError, match=r"runs Python functions .* only with allow_python=True"):
        rpc.rpc_sync("worker3", rpc_worker.add, args=(1, 2))
    with pytest.raises(PermissionError, match="operator aten::sub is not allowed"):
        rpc.rpc_sync("worker3", ts.sub, args=(1, 2))
    with pytest.raises(ts.errors.CompilationError, match="aten::sub"):
        rpc.rpc_sync("worker3", subtracts, args=(ts.ones(1),))
    with pytest.raises(ts.errors.FuelExceeded, match=r"ts\.limits\(fuel=\d+\) allows: \d+ units were used"):
        rpc.rpc_sync("worker3", endless, args=(1,))
    with pytest.raises(PermissionError, match="is a Python method"):
        rpc.remote("worker3", ts.ops.aten.add.int, args=(1, 2)).rpc_sync().bit_length()
    with pytest.raises(PermissionError, match="operator aten::repeat is not allowed"):
        rpc.remote("worker3", ts.add, args=(ts.ones(1), 1)).rpc_sync().repeat(2)
    own = current().options
    own.allow_python, current().endpoint.sent_code.allow_python = False, False
    try:
        with pytest.raises(PermissionError, match=r"rpc_worker\.add is a Python function: script it"):
            rpc.rpc_sync("worker1", rpc_worker.add, args=(1, 2))
    finally:
        own.allow_python, current().endpoint.sent_code.allow_python = True, True


def test_methods_of_modules_that_are_not_compiled(tmp_path):
    """Uncompiled methods of a module cannot be called in a process without `allow_python`."""
    module = rpc.RRef(ts.jit.script(rpc_worker.Scaled()))
    own = current().options
    own.allow_python = False
    try:
        assert module.rpc_sync().plus(2) == 5
        with pytest.raises(PermissionError, match="save is a Python method"):
            module.rpc_sync().save(str(tmp_path / "module.pt"))
    finally:
        own.allow_python = True
    assert not (tmp_path / "module.pt").exists()


def test_second_init_rpc_raises():
    with pytest.raises(RuntimeError, match="RPC is already initialized"):
        rpc.init_rpc("worker9", rank=0, world_size=1, rpc_backend_options=rpc_worker.options(1))
    with pytest.raises(RuntimeError, match="RPC is already initialized"):
        rpc.init_rpc("worker9")  # independent of environment variables
