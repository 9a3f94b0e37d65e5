"""Remote calls by scripts, with this process as worker0 of four, each with one thread; worker3 is
restricted."""

import io
import threading
from typing import Dict, List, Optional, Tuple

import pytest

import ts
from ts import Tensor

pytest.importorskip("distributed", reason="rpc needs dask.distributed")
from tests.distributed import rpc_worker
from tests.distributed.rpc_worker import eventually, start
from tests.distributed.process_groups import free_port
from ts.distributed import rpc
from ts.distributed.rpc import RRef, rpc_async
from ts.distributed.rpc.api import current
from ts.jit import Future

COUNT = 4


@pytest.fixture(scope="module", autouse=True)
def workers():
    port = free_port()
    others = [start(port, rank, COUNT, "limited" if rank == 3 else "narrow") for rank in range(1, COUNT)]
    rpc.init_rpc(
        "worker0", rank=0, world_size=COUNT, rpc_backend_options=rpc_worker.options(port, num_worker_threads=1)
    )
    yield others
    rpc.shutdown()
    assert [other.wait(30) for other in others] == [0] * len(others)


@ts.jit.script
def scaled(x: Tensor, n: int = 2, shift: float = 0.0) -> Tensor:
    return x * n + shift


@ts.jit.script
def halves(x: List[int]) -> Tuple[Dict[str, List[int]], Optional[int]]:
    first: Optional[int] = None
    if len(x) > 0:
        first = x[0]
    return {"low": x[: len(x) // 2], "high": x[len(x) // 2 :]}, first


@ts.jit.script
def refuses(x: Tensor) -> Tensor:
    if x.sum() > 0:
        raise ValueError("too much")
    return x


@ts.jit.script
def names(r: RRef[Tensor]) -> Tuple[bool, str, Tensor]:
    return r.is_owner(), r.owner_name(), r.to_here()


@ts.jit.script
def local(r: RRef[Tensor]) -> Tensor:
    return r.local_value() + 1


# ---- rpc_sync, rpc_async and remote


@ts.jit.script
def each_form(to: str, x: Tensor) -> Tuple[Tensor, Tensor, Tensor]:
    future = rpc.rpc_async(to, scaled, (x,))
    ref = rpc.remote(to, scaled, (x, 3))
    now = rpc.rpc_sync(to, scaled, (x, 4))
    return future.wait(), ref.to_here(), now


@pytest.mark.parametrize("to", ["worker0", "worker1", "worker2"])
def test_forms(to):
    for result, n in zip(each_form(to, ts.ones(3)), (2, 3, 4), strict=True):
        ts.testing.assert_close(result, ts.full((3,), float(n)))


def arguments(to: str, x: Tensor, args: Tuple[Tensor, int], kwargs: Dict[str, int]) -> List[Tensor]:
    more = {"shift": 0.5}
    named: Dict[str, int] = {}
    return [
        rpc.rpc_sync(to, scaled, args),
        rpc.rpc_sync(to, scaled, (x,), kwargs),
        rpc.rpc_sync(to, scaled, (x, 3), more),
        rpc.rpc_sync(to, scaled, (x, 3, 0.25), named),
        rpc.rpc_sync(to, scaled, (x,), {"n": 5}, 30.0),
        rpc_async(to, scaled, (ts.relu(x),), {}, 30).wait(),
    ]


def test_arguments():
    """Scripts pass tuples and dicts as literals or variables, defaults and timeouts."""
    x = ts.ones(2)
    found = ts.jit.script(arguments)("worker1", x, (x, 7), {"n": 9})
    assert [y[0].item() for y in found] == [7.0, 9.0, 3.5, 3.25, 5.0, 2.0]


def containers(to: str) -> Tuple[Dict[str, List[int]], Optional[int], bool]:
    found, first = rpc.rpc_sync(to, halves, ([1, 2, 3, 4],))
    empty = rpc.rpc_async(to, halves, ([0, 1][:0],)).wait()
    return found, first, empty[1] is None


def test_results_of_all_types():
    assert ts.jit.script(containers)("worker2") == ({"low": [1, 2], "high": [3, 4]}, 1, True)


class Client(ts.nn.Module):
    def __init__(self, to: str):
        super().__init__()
        self.to = to
        self.pending = ts.jit.annotate(List[Future[Tensor]], [])

    @ts.jit.export
    def ask(self, x: Tensor, n: int) -> Future[Tensor]:
        return rpc.rpc_async(self.to, scaled, (x, n))

    def forward(self, x: Tensor, count: int) -> Tensor:
        futures: List[Future[Tensor]] = []
        for n in range(count):
            futures.append(self.ask(x, n))
        total = ts.zeros_like(x)
        for future in futures:
            total += future.wait()
        return total


def test_modules_call_and_are_saved():
    """An archive contains the code of remotely called functions."""
    file = io.BytesIO()
    ts.jit.save(ts.jit.script(Client("worker1")), file)
    file.seek(0)
    loaded = ts.jit.load(file)
    ts.testing.assert_close(loaded(ts.ones(2), 5), ts.full((2,), 10.0))
    assert ts.equal(loaded.ask(ts.ones(2), 4).wait(), ts.full((2,), 4.0))
    assert (
        "ops.prim.rpc_async(to, __torch__.tests.distributed.test_rpc_scripts.scaled, (x, n))"
        in loaded.ask.code
    )


def test_futures_go_to_python():
    @ts.jit.script
    def ask(to: str, x: Tensor):
        return rpc.rpc_async(to, scaled, (x,))

    future = ask("worker1", ts.ones(1)).then(lambda f: f.wait() + 1)
    assert future.wait().item() == 3


# ---- references


def test_references():
    @ts.jit.script
    def asks(to: str, x: Tensor) -> Tuple[bool, str, Tensor, Tensor, RRef[Tensor]]:
        ref = rpc.remote(to, scaled, (x,))
        own_name, owner, value = rpc.rpc_sync(to, names, (ref,))
        assert not ref.is_owner() and ref.owner_name() == to
        return own_name, owner, value, rpc.rpc_sync(to, local, (ref,)), ref

    own_name, owner, value, more, ref = asks("worker1", ts.ones(1))
    assert (own_name, owner, value.item(), more.item()) == (True, "worker1", 2, 3)
    assert ref.to_here().item() == 2 and ref.confirmed_by_owner()
    del ref
    assert eventually(lambda: rpc.rpc_sync("worker1", rpc_worker.owned) == 0)


def test_references_from_python():
    """A script accepts references to any value and checks the type when it reads the value."""

    @ts.jit.script
    def first(refs: List[RRef[Tensor]], other: Optional[RRef[int]]) -> Tensor:
        rpc_worker = 0 if other is None else other.to_here()
        return refs[0].to_here() + rpc_worker

    ref = rpc.remote("worker2", ts.add, args=(ts.ones(1), 1))
    assert first([ref], None).item() == 2
    assert first([RRef(ts.ones(1))], RRef(5)).item() == 6
    with pytest.raises(RuntimeError, match="Unable to cast Python instance of type <class 'str'> to int"):
        first([ref], RRef("text"))
    with pytest.raises(RuntimeError, match=r"Expected a value of type 'Optional\[RRef\[int\]\]'"):
        first([ref], 3)


def test_owner():
    @ts.jit.script
    def calls_owner(ref: RRef[Tensor], x: Tensor) -> Tensor:
        return rpc.rpc_sync(ref.owner(), scaled, (x,))

    @ts.jit.script
    def calls(to: rpc.WorkerInfo, x: Tensor) -> Tensor:
        return rpc.rpc_sync(to, scaled, (x,))

    ref = rpc.remote("worker1", ts.add, args=(ts.ones(1), 1))
    assert (
        calls_owner(ref, ts.ones(1)).item() == calls(rpc.get_worker_info("worker2"), ts.ones(1)).item() == 2
    )


def test_local_value_of_others():
    ref = rpc.remote("worker1", ts.add, args=(ts.ones(1), 1))
    with pytest.raises(
        RuntimeError, match=r"can't call localValue\(\) on user WorkerInfo\(id=0, name=worker0\)"
    ):
        local(ref)


# ---- suspended frames


@ts.jit.script
def there_and_back(path: List[str], n: int) -> int:
    """Call itself in the next process of a path, and wait for the result."""
    if len(path) == 0:
        return n
    return rpc.rpc_sync(path[0], there_and_back, (path[1:], n + 1))


def test_waiting_calls_occupy_no_thread():
    """A call that waits for a nested call does not occupy a thread: thirty nested calls between processes of
    one thread each."""
    assert there_and_back(["worker1", "worker2", "worker0"] * 10, 0) == 30


@ts.jit.script
def through(to: str, x: Tensor) -> Tensor:
    return rpc.rpc_sync(to, scaled, (x,))


@ts.jit.script
def many(via: str, to: str, x: Tensor, count: int) -> Tensor:
    futures = [rpc.rpc_async(via, through, (to, x)) for _ in range(count)]
    total = ts.zeros_like(x)
    for future in futures:
        total += future.wait()
    return total


def test_a_thousand_calls_wait():
    before = threading.active_count()
    assert many("worker1", "worker2", ts.ones(1), 1000).item() == 2000
    assert threading.active_count() <= before + 4


def test_tasks_wait():
    """Each forked task of a script may wait for a remote call."""

    @ts.jit.script
    def forked(to: str, x: Tensor) -> Tensor:
        futures = [ts.jit.fork(through, to, x + n) for n in range(100)]
        total = ts.zeros_like(x)
        for future in futures:
            total += ts.jit.wait(future)
        return total

    assert forked("worker1", ts.zeros(1)).item() == 9900


@rpc.functions.async_execution
@ts.jit.script
def later(to: str, x: Tensor) -> Future[Tensor]:
    return rpc.rpc_async(to, scaled, (x,))


@rpc.functions.async_execution
@ts.jit.script
def at_once(x: Tensor) -> Tensor:
    return x


def test_asynchronous_scripts():
    """Asynchronous scripts can be called in processes that run no Python functions."""
    assert rpc.rpc_sync("worker1", later, args=("worker2", ts.ones(1))).item() == 2
    assert rpc.remote("worker2", later, args=("worker1", ts.ones(1))).to_here().item() == 2
    for ask in (rpc.rpc_sync, lambda *args, **more: rpc.remote(*args, **more).to_here()):
        with pytest.raises(RuntimeError, match="Expected Future but got Tensor"):
            ask("worker1", at_once, args=(ts.ones(1),))


class Holder(ts.nn.Module):
    def __init__(self, refs):
        super().__init__()
        self.refs = refs

    def forward(self) -> Tensor:
        total = ts.zeros(1)
        for ref in self.refs:
            total += ref.to_here()
        return total


def test_modules_hold_references():
    """The type of a reference in a module is that of its value, or the declared one."""
    refs = [rpc.remote("worker1", ts.add, args=(ts.ones(1), k)) for k in range(3)]
    assert ts.jit.script(Holder([*refs, RRef(ts.ones(1)), RRef(ts.ones(1), Tensor)]))().item() == 8


# ---- errors


def test_arguments_are_checked_at_once():
    """Arguments of a remote scripted function are checked in the caller."""
    with pytest.raises(RuntimeError, match=r"^scaled\(\) expected at most 3 argument\(s\) but received 4"):
        rpc.rpc_async("worker1", scaled, args=(ts.ones(1), 1, 2.0, 3))
    with pytest.raises(
        RuntimeError, match=r"^Unknown keyword argument 'm' for operator 'scaled'|^scaled\(\)"
    ):
        rpc.rpc_sync("worker1", scaled, args=(ts.ones(1),), kwargs={"m": 3})


def test_errors():
    """An error of a remote script contains the locations of both processes; an unknown destination raises an
    error at the call."""

    @ts.jit.script
    def asks(to: str, x: Tensor) -> Tensor:
        return rpc.rpc_sync(to, refuses, (x,))

    with pytest.raises(RuntimeError) as raised:
        asks("worker1", ts.ones(1))
    text = str(raised.value)
    assert (
        "too much" in text
        and 'raise ValueError("too much")' in text
        and "rpc.rpc_sync(to, refuses, (x,))" in text
    )
    with pytest.raises(RuntimeError, match="could not find destination name nobody"):
        asks("nobody", ts.ones(1))


def test_invalid_keyword_arguments():
    @ts.jit.script
    def asks(x: Tensor, named: Dict[str, int]) -> Tensor:
        return rpc.rpc_sync("worker1", scaled, (x,), named)

    with pytest.raises(
        RuntimeError, match=r"Unknown keyword argument 'm' for operator 'scaled'\. Schema: scaled"
    ):
        asks(ts.ones(1), {"m": 3})
    with pytest.raises(RuntimeError, match=r"scaled\(\) got the argument 'x' twice"):
        asks(ts.ones(1), {"x": 3})


def test_time_limits():
    @ts.jit.script
    def endless(n: int) -> int:
        while n >= 0:
            n = (n + 1) % 1000
        return n

    @ts.jit.script
    def asks(limit: float) -> int:
        return rpc.rpc_async("worker3", endless, (1,), {}, limit).wait()

    with pytest.raises(RuntimeError, match=r"RPC ran for more than set timeout \(1 ms\)|LimitExceeded|fuel"):
        asks(0.001)


def test_permissions_of_a_process():
    """The permissions of a process cover operators of a callee and its calls to other processes."""

    @ts.jit.script
    def asks(to: str, x: Tensor) -> Tensor:
        return rpc.rpc_sync(to, refuses, (x,))

    @ts.jit.script
    def asks_to_ask(to: str, x: Tensor) -> Tensor:
        return rpc.rpc_sync(to, through, ("worker1", x))

    with pytest.raises(RuntimeError, match="aten::sum, which is not among the allowed operators"):
        asks("worker3", ts.ones(1))
    with pytest.raises(RuntimeError, match="prim::rpc_sync, which is not among the allowed operators"):
        asks_to_ask("worker3", ts.ones(1))


@ts.jit.script
class Counter:
    def __init__(self, n: int):
        self.n = n

    def add(self, k: int) -> int:
        self.n += k
        return self.n


@ts.jit.script
def counter(n: int) -> Counter:
    return Counter(n)


def test_methods_of_scripted_objects():
    """Methods of scripted objects are compiled, so processes that run no Python functions can run them."""
    ref = rpc.remote("worker3", counter, args=(3,))
    assert ref.rpc_sync().add(4) == 7
    assert ref.rpc_async().add(1).wait() == 8
    for name in ("__init__", "_c", "n"):
        with pytest.raises(PermissionError, match="allow_python=True"):
            current().method(ref, name, (1,), {}, -1.0).wait()


def test_archives_with_restricted_operators():
    file = io.BytesIO()
    ts.jit.save(ts.jit.script(Client("worker1")), file)
    allowed = ["aten::*"]
    file.seek(0)
    with pytest.raises(RuntimeError, match="prim::rpc_async, which is not among the allowed operators"):
        ts.jit.load(file, allowed_ops=allowed)
    file.seek(0)
    loaded = ts.jit.load(file, allowed_ops=[*allowed, "prim::rpc_async"])
    ts.testing.assert_close(loaded(ts.ones(2), 3), ts.full((2,), 3.0))


def test_no_references_remain():
    assert eventually(lambda: len(current().rrefs) == 0)
