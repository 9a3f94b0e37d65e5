"""Graphs, source text and results of programs with forks equal PyTorch's."""

import importlib.util
import sys

import pytest

torch = pytest.importorskip("torch")

import ts  # noqa: E402

TEXT = """
from typing import List, Tuple
import {module} as torch

def bar(x, y: int):
    return torch.neg(x) + y

def append(x: List[int]):
    x.append(3)

def keyword(x):
    fut = torch.jit.fork(bar, x, y=2)
    return torch.jit.wait(fut)

def two(x, y: int):
    a = torch.jit.fork(bar, x, 1)
    b = torch.jit.fork(bar, x, y)
    return torch.jit.wait(a), torch.jit.wait(b)

def operator(x, y: int):
    return torch.jit.wait(torch.jit.fork(torch.neg, x)), torch.jit.wait(torch.jit.fork(bar, x, y))

def loop(x, y: int):
    for i in range(3):
        f = torch.jit.fork(bar, x, i)
        x = torch.jit.wait(f)
    return x

def computed(x, y: int):
    return torch.jit._wait(torch.jit._fork(bar, x + 1, y * 2))

def mutates(x, y: int):
    xs = [y]
    f = torch.jit.fork(append, xs)
    torch.jit.wait(f)
    return xs

def listed(x, y: int):
    fs = torch.jit.annotate(List[torch.jit.Future[torch.Tensor]], [])
    for i in range(y):
        fs.append(torch.jit.fork(bar, x, i))
    total = x
    for f in fs:
        total = total + torch.jit.wait(f)
    return total

class Counter:
    def __init__(self, k: int):
        self.k = k

    def times(self, x: int) -> int:
        return self.k * x

    def both(self, x: int) -> int:
        return torch.jit.wait(torch.jit.fork(self.times, x)) + 1

def method(x, y: int):
    c = Counter(3)
    f = torch.jit.fork(c.times, y)
    return torch.jit.wait(f) + c.both(y)

class Layers(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.relu = torch.nn.ReLU()

    def helper(self, x, n: int):
        return x * n

    def forward(self, x):
        a = torch.jit.fork(self.helper, x, 3)
        b = torch.jit.fork(self.relu, x)
        return torch.jit.wait(a) + torch.jit.wait(b)

def fails(x, y: int):
    return torch.jit.wait(torch.jit.fork(bar, x, "a"))

def no_function(x):
    return torch.jit.fork(3, x)

def nothing(x):
    return torch.jit.fork()

def no_future(x):
    return torch.jit.wait(x)

def too_many(x):
    return torch.jit.wait(torch.jit.fork(torch.neg, x), 3)
"""
VALID = ("keyword", "two", "operator", "loop", "computed", "mutates", "listed", "method")
REORDERED = {"operator"}  # PyTorch's source forks the second task before it waits for the first
INVALID = ("fails", "no_function", "nothing", "no_future", "too_many")


@pytest.fixture(scope="module")
def modules(tmp_path_factory):
    """Load the programs with `torch` and with `ts`, from files of the same name."""
    loaded = {}
    for module in ("torch", "ts"):
        path = tmp_path_factory.mktemp(module) / "forking.py"
        path.write_text(TEXT.format(module=module))
        spec = importlib.util.spec_from_file_location(f"forking_{module:_<5}", path)
        loaded[module] = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = loaded[module]
        spec.loader.exec_module(loaded[module])
        loaded[module].folder = str(path)
    return loaded


def scripted(modules, name):
    theirs = torch.jit.script(getattr(modules["torch"], name))
    ours = ts.jit.script(getattr(modules["ts"], name))
    return theirs, ours


@pytest.mark.parametrize("name", VALID)
def test_texts(modules, name):
    """Graphs with their subgraphs and source equal PyTorch's."""
    theirs, ours = scripted(modules, name)
    expected = str(theirs.graph).replace(modules["torch"].folder, modules["ts"].folder)
    assert str(ours.graph).replace("forking_ts___", "forking_torch") == expected
    if name not in REORDERED:
        assert ours.code.replace("forking_ts___", "forking_torch") == theirs.code


@pytest.mark.parametrize("name", VALID)
def test_results(modules, name):
    """Futures return PyTorch's values."""
    theirs, ours = scripted(modules, name)
    arguments = () if name == "keyword" else (3,)
    expected, found = theirs(torch.ones(2), *arguments), ours(ts.ones(2), *arguments)
    assert flat(found) == flat(expected)


def flat(result):
    results = result if isinstance(result, (tuple, list)) else [result]
    return [x.tolist() if hasattr(x, "tolist") else x for x in results]


def test_modules(modules):
    """Methods and submodules of a module can be forked."""
    theirs, ours = torch.jit.script(modules["torch"].Layers()), ts.jit.script(modules["ts"].Layers())
    assert [node.kind() for node in ours.graph.nodes()] == [node.kind() for node in theirs.graph.nodes()]
    assert ours(ts.ones(2)).tolist() == theirs(torch.ones(2)).tolist() == [4.0, 4.0]


@pytest.mark.parametrize("name", INVALID)
def test_rejected_calls(modules, name):
    """The message begins with PyTorch's."""
    with pytest.raises(RuntimeError) as expected:
        torch.jit.script(getattr(modules["torch"], name))
    with pytest.raises(RuntimeError) as found:
        ts.jit.script(getattr(modules["ts"], name))
    first = str(expected.value).strip().splitlines()[0]
    assert str(found.value).strip().splitlines()[0] == first


@pytest.mark.parametrize("name", VALID[:5])
def test_inline_fork_wait(modules, name):
    """Forks whose futures are only waited for are inlined, as by PyTorch's pass."""
    from ts.passes.inline_fork_wait import inline_fork_wait

    theirs, ours = scripted(modules, name)
    expected, found = theirs.graph.copy(), ours.graph.copy()
    torch._C._jit_pass_inline_fork_wait(expected)
    inline_fork_wait(found)
    assert [node.kind() for node in found.nodes()] == [node.kind() for node in expected.nodes()]
