"""Copies and pickles of scripted modules and functions, in one process and between processes."""

import copy
import io
import multiprocessing
import pickle
from typing import Any, Dict, List

import pytest

import ts


class Slots:
    def __init__(self, n: int):
        self.n = n
        self.names: List[str] = []

    def add(self, name: str) -> int:
        self.names.append(name)
        self.n += 1
        return self.n


class Net(ts.nn.Module):
    table: Dict[str, List[ts.Tensor]]

    def __init__(self):
        super().__init__()
        self.slots = Slots(3)
        self.linear = ts.nn.Linear(2, 2)
        self.again = self.linear
        self.first = [1, 2]
        self.second = [0]
        self.table = {"a": [ts.ones(1)]}

    def forward(self, x):
        self.first.append(self.slots.add("a"))
        return self.linear(x) + self.again(x)

    @ts.jit.export
    def share(self) -> None:
        self.second = self.first

    @ts.jit.export
    def grow(self) -> int:
        self.second.append(7)
        return len(self.first)


def loaded(module):
    return ts.jit.load(io.BytesIO(module.save_to_buffer()))


def pickled(x):
    return pickle.loads(pickle.dumps(x))


@pytest.fixture(params=["scripted", "loaded"])
def net(request):
    scripted = ts.jit.script(Net())
    return scripted if request.param == "scripted" else loaded(scripted)


COPY_FUNCTIONS = pytest.mark.parametrize("copy_module", [copy.deepcopy, pickled], ids=["deepcopy", "pickle"])


@COPY_FUNCTIONS
def test_copies_share_nothing(net, copy_module):
    """A copy has separate lists, script objects and tensors."""
    other = copy_module(net)
    x = ts.ones(2)
    assert ts.equal(net(x), other(x))
    net(x)
    assert (net.first, other.first) == ([1, 2, 4, 5], [1, 2, 4])
    assert (net.slots.n, other.slots.n, other.slots.names) == (5, 4, ["a"])
    with ts.no_grad():
        other.linear.weight.zero_()
    other.table["a"][0].zero_()
    assert net.linear.weight.count_nonzero() == 4
    assert net.table["a"][0].item() == 1


@COPY_FUNCTIONS
def test_shared_attributes_stay_shared(net, copy_module):
    """A parameter with two module names, and a list that is two attributes, stay shared in copies."""
    net.share()
    other = copy_module(net)
    assert other.grow() == net.grow() == 3
    assert other.linear.weight is other.again.weight
    assert [name for name, _ in other.named_parameters()] == ["linear.weight", "linear.bias"]
    assert list(other.state_dict()) == ["linear.weight", "linear.bias", "again.weight", "again.bias"]


def test_shared_parameters_of_archives():
    """A tensor that an archive references twice is one object."""
    net = loaded(ts.jit.script(Net()))
    assert net.linear.weight is net.again.weight
    assert len(list(net.parameters())) == 2


@COPY_FUNCTIONS
def test_modules_with_scripted_submodules(copy_module):
    """A Python module with a scripted submodule can be copied and pickled; shared submodules stay shared."""

    class Holder(ts.nn.Module):
        pass

    holder = Holder() if copy_module is copy.deepcopy else ts.nn.Sequential()
    holder.inner = ts.jit.script(ts.nn.Linear(2, 2))
    holder.same = holder.inner
    other = copy_module(holder)
    assert other.inner is other.same
    assert other.inner is not holder.inner
    assert ts.equal(other.inner(ts.ones(2)), holder.inner(ts.ones(2)))


def test_shallow_copies(net):
    """A shallow copy shares the attribute values."""
    other = copy.copy(net)
    net(ts.ones(2))
    assert other.first == [1, 2, 4]
    assert other.slots.n == 4
    net.first = [0]
    assert other.first == [1, 2, 4]


@COPY_FUNCTIONS
def test_python_attributes_are_copied(net, copy_module):
    """Python attributes of a module are copied."""
    net.note = ["text"]
    other = copy_module(net)
    assert other.note == ["text"] and other.note is not net.note


@COPY_FUNCTIONS
def test_evaluation_mode(net, copy_module):
    assert not copy_module(net.eval()).training
    assert copy_module(net.train()).linear.training


@COPY_FUNCTIONS
def test_traced_modules(copy_module):
    traced = ts.jit.trace(ts.nn.Linear(2, 3), ts.ones(1, 2))
    assert ts.equal(copy_module(traced)(ts.ones(1, 2)), traced(ts.ones(1, 2)))


def test_self_references():
    """A module that contains itself is copied to a module that contains itself."""

    class Ring(ts.nn.Module):
        me: Any

        def __init__(self):
            super().__init__()
            self.me = 1

        def forward(self) -> int:
            return 1

        @ts.jit.export
        def close(self) -> None:
            self.me = [self.me, self.me]

    ring = ts.jit.script(Ring())
    for _ in range(60):
        ring.close()
    assert copy.deepcopy(ring)() == 1


# ---- functions -------------------------------------------------------------------------------------------


@ts.jit.script
def named(x: int, step: int = 2) -> int:
    return x + step


def test_global_functions_pickle_by_name():
    """A scripted function that is a module global pickles to the same object."""
    assert pickled(named) is named


def test_unnamed_functions_are_recreated():
    """Functions that are not importable are recreated with their names and defaults."""

    def helper(x: int) -> int:
        return x * 10

    def inner(x: int, step: int = 2) -> int:
        return helper(x) + step

    other = pickled(ts.jit.script(inner))
    assert (other(1), other(1, step=5)) == (12, 15)
    assert (other.name, str(other.schema)) == ("inner", "inner(int x, int step=2) -> int")
    assert pickled(other)(2) == 22
    unit = ts.jit.CompilationUnit("def f(x):\n    return x + 1\n")
    assert pickled(unit.f)(ts.ones(1)).tolist() == [2.0]


def test_text_protocols_reject_functions():
    """Pickle protocols 0 and 1 raise PyTorch's error for functions."""
    for protocol in (0, 1):
        with pytest.raises(pickle.PickleError, match="ScriptFunction cannot be pickled"):
            pickle.dumps(named, protocol=protocol)


# ---- other processes -------------------------------------------------------------------------------------


def run(scripted, x):
    return scripted(x).tolist()


def test_worker_processes():
    """Modules and functions can be arguments of tasks in a spawned process."""
    net = ts.jit.script(Net())

    def doubled(x):
        return x * 2

    expected = net(ts.ones(2)).tolist()
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply(run, (net, ts.ones(2))) == expected
        assert pool.apply(run, (ts.jit.script(doubled), ts.ones(2))) == [2.0, 2.0]


# ---- files -----------------------------------------------------------------------------------------------


def test_save_rejects_them():
    """`ts.save` rejects scripted objects and names `ts.jit.save`."""
    for scripted in (ts.jit.script(ts.nn.Linear(1, 1)), named):
        with pytest.raises(RuntimeError, match=r"does not have a __getstate__ method defined! ts\.jit\.save"):
            ts.save({"x": scripted}, io.BytesIO())


@pytest.mark.parametrize(
    ("name", "shape", "number"),
    [
        ("pixel_shuffle", (6, 2, 8), 1),
        ("pixel_shuffle", (1, 4, 1, 1), 2),
        ("pixel_unshuffle", (6, 2, 8), 1),
        ("pixel_unshuffle", (1, 1, 2, 2), 2),
        ("channel_shuffle", (1, 4, 1, 1), 1),
        ("channel_shuffle", (1, 4, 2, 2), 2),
    ],
)
def test_pixel_shuffles_copy(name, shape, number):
    """Pixel shuffles copy their input, even if no element moves."""
    x = ts.rand(shape)
    y = getattr(ts.nn.functional, name)(x, number)
    before = y.clone()
    x.fill_(7)
    assert ts.equal(y, before)
