"""Concurrent first uses by several threads, each example in a new process.

A second thread must never see an incomplete lazily loaded, declared or compiled object.
"""

from __future__ import annotations

import io
import subprocess
import sys
import threading

import pytest

import ts

PROGRAM = """
import sys, threading
sys.setswitchinterval(1e-6)
import ts

def helper(x: int) -> int:
    return x * 2

def calls(x: int, y: float) -> float:
    return helper(helper(x)) * y

class Pair:
    def __init__(self, a: int):
        self.a = a

    def both(self) -> int:
        return self.a + helper(self.a)

def pairs(n: int) -> int:
    return Pair(n).both()

class Net(ts.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = ts.nn.Parameter(ts.ones(3))

    def forward(self, x):
        return (self.weight * x).sum()

def broken(x: int) -> int:
    return helper(x) + unknown(x)

SUM = '''
def total(items: List[int]) -> int:
    result = 0
    for item in items:
        result += item
    return result
'''

def use_functions():
    assert ts.jit.script(calls)(3, 2.0) == 24.0

def use_classes():
    assert ts.jit.script(pairs)(5) == 15

def use_strings():
    assert ts.jit.CompilationUnit(SUM).total([1, 2, 3]) == 6

def use_modules():
    assert ts.jit.script(Net())(ts.full((3,), 2.0)).item() == 6

def use_traces():
    assert ts.jit.trace(lambda x: (x * 2).relu().sum(), ts.ones(3))(ts.ones(2)).item() == 4

def use_operators():
    assert (ts.ones(3, 4) @ ts.ones(4, 3) + 1).sum().item() == 45

def use_errors():
    try:
        ts.jit.script(broken)
    except RuntimeError as error:
        assert "undefined value unknown" in str(error), error
    else:
        raise AssertionError("compiled")

uses = {uses}
start = threading.Barrier(8)
errors = []

def run(i):
    try:
        start.wait()
        for k in range(len(uses)):
            uses[(i + k) % len(uses)]()
    except BaseException as error:
        errors.append(error)
        raise

threads = [threading.Thread(target=run, args=(i,)) for i in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join(60)
sys.exit(bool(errors))
"""


@pytest.mark.parametrize(
    "uses",
    [["functions"], ["modules"], ["errors"], "functions classes strings modules traces operators errors".split()],
    ids="+".join,
)
def test_first_uses(uses, tmp_path):
    """Eight threads concurrently start with equal or different operations."""
    program = tmp_path / "program.py"
    program.write_text(PROGRAM.replace("{uses}", f"[{', '.join(f'use_{use}' for use in uses)}]"))
    done = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, timeout=400)
    assert done.returncode == 0, done.stderr[-2000:]


def test_stress_test_for_two_seconds():
    """The stress test `tests.stress_threads` passes for two seconds."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.stress_threads", "-s", "2", "-e", "1"], capture_output=True, text=True, timeout=400
    )
    assert done.returncode == 0, done.stderr[-2000:]


class Mixed(ts.nn.Module):
    """Module whose kernels release the GIL: products, convolutions, recurrent layers, attention, norms."""

    def __init__(self) -> None:
        super().__init__()
        self.conv, self.norm = ts.nn.Conv1d(32, 64, 3, padding=1), ts.nn.BatchNorm1d(64)
        self.lstm, self.gru = ts.nn.LSTM(64, 32, bidirectional=True, batch_first=True), ts.nn.GRU(64, 64, batch_first=True)
        self.layer = ts.nn.TransformerEncoderLayer(64, 4, 128, batch_first=True)

    def forward(self, x: ts.Tensor) -> ts.Tensor:
        y = ts.relu(self.norm(self.conv(x))).transpose(1, 2)
        y = self.layer(self.lstm(y)[0]) + self.gru(y)[0]
        return ts.softmax(y @ y.transpose(1, 2), -1)


def test_one_model_in_eight_threads():
    """Concurrent calls of a model have the bits of sequential calls."""
    out = io.BytesIO()
    ts.jit.save(ts.jit.script(Mixed().eval()), out)
    model = ts.jit.load(io.BytesIO(out.getvalue()))
    inputs = [ts.randn(4, 32, 40 + n) for n in range(8)]
    with ts.no_grad():
        expected = [model(x) for x in inputs]
    wrong = []

    def run(n: int) -> None:
        with ts.no_grad():
            wrong.extend(n for _ in range(10) if not ts.equal(model(inputs[n]), expected[n]))

    threads = [threading.Thread(target=run, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


class Item:
    """Item whose comparison fails for the pair 1 and 2."""

    def __init__(self, n: int) -> None:
        self.n = n

    def __lt__(self, other: Item) -> bool:
        if self.n + other.n == 3:
            raise ValueError("no order")
        return self.n < other.n


class Items(ts.nn.Module):
    items: list[Item]

    def __init__(self, numbers: list[int]) -> None:
        super().__init__()
        self.items = [Item(n) for n in numbers]

    @ts.jit.export
    def order(self) -> None:
        self.items.sort()

    @ts.jit.export
    def numbers(self) -> list[int]:
        return [item.n for item in self.items]


@pytest.mark.parametrize("numbers", [[1, 9, 2, 8], [1, *range(3, 40), 2]])
def test_a_sort_that_fails_keeps_the_items(numbers):
    """A failed sort keeps each item exactly once, for insertion sort and merge sort."""
    items = ts.jit.script(Items(numbers))
    with pytest.raises(RuntimeError, match="no order"):
        items.order()
    assert sorted(items.numbers()) == sorted(numbers)


WRITTEN_MEANWHILE = """
import threading, time
import ts
n = 200_000
counts, mask, x = ts.zeros(n, dtype=ts.int64), ts.zeros(n, 1, dtype=ts.bool), ts.ones(n, 4)
running = True
def write():
    ones = {id(counts): 3, id(mask): True}
    while running:
        for tensor in (counts, mask):
            tensor.fill_(ones[id(tensor)])
            tensor.fill_(0)
writers = [threading.Thread(target=write) for _ in range(2)]
for writer in writers:
    writer.start()
end = time.monotonic() + 3
while time.monotonic() < end:
    ts.bincount(counts)
    ts.masked_select(x, mask)
    ts.repeat_interleave(counts)
running = False
"""


def test_counts_and_masks_written_by_another_thread():
    """NumPy functions that read counts and masks twice get private copies."""
    done = subprocess.run([sys.executable, "-c", WRITTEN_MEANWHILE], capture_output=True, text=True, timeout=400)
    assert done.returncode == 0, done.stderr[-2000:]
