"""Mutation of values by Python code while the core uses them.

Finalizers, methods and garbage collections run Python code, during which other threads can run, too. The
examples mutate values in such code, so that races between threads occur in each run. Each example runs in a
new process in which freed memory is overwritten.
"""

import os
import subprocess
import sys

import pytest

COMMON = '''
import gc, sys
from typing import Any, Dict, List, Tuple

import numpy as np
import ts
from ts._core.value.ivalue import to_core
from ts._core.value.spec import KINDS, TypeSpec

INT, STR = (TypeSpec(KINDS[f"{name}Type"], (), text) for name, text in (("Int", "int"), ("String", "str")))
INTS = TypeSpec(KINDS["ListType"], (INT,), "List[int]")
BUSY = []


def at_collection(n, change, work):
    """work(), where the n-th new object that is tracked runs `change`, roughly: every second one collects garbage."""
    count = [0]
    BUSY.extend((to_core([1], INTS), []) for _ in range(200))  # so that new lists are new memory

    def callback(phase, info):
        count[0] += phase == "start"
        if count[0] == (n + 1) // 2 and phase == "start":
            change()

    gc.collect()
    gc.callbacks.append(callback)
    before = gc.get_threshold()
    gc.set_threshold(1)
    try:
        even = [] if n % 2 else None
        return work()
    finally:
        gc.callbacks.remove(callback)
        gc.set_threshold(*before)
'''

PROGRAMS = {}


def program(text: str) -> None:
    """Register a program by its first line, which describes it."""
    PROGRAMS[text.strip().partition("\n")[0].strip("# ")] = text


program('''
# a result is converted by code that calls scripts
class Point:
    def __init__(self, x: int):
        self.x = x

class Named(ts.nn.Module):
    name: str

    def __init__(self, name: str):
        super().__init__()
        self.name = name

    def forward(self) -> str:
        return self.name

def points(n: int) -> List[Point]:
    return [Point(i) for i in range(n)]

name = "a name that is held here, and by the module"
name_of = ts.jit.script(Named(name))
points_of = ts.jit.script(points)

def made(cls):
    assert name_of() is name
    return object.__new__(cls)

points_of(3), name_of()
Point.__new__ = made
before = sys.getrefcount(name)
for n in range(10):
    assert [p.x for p in points_of(5)] == [0, 1, 2, 3, 4]
assert sys.getrefcount(name) == before, (sys.getrefcount(name), before)
''')

program('''
# an entry is deleted while the text of its key is made
class Held(ts.nn.Module):
    table: Dict[ts.Tensor, str]
    keys: List[ts.Tensor]

    def __init__(self):
        super().__init__()
        self.table: Dict[ts.Tensor, str] = {}
        self.keys: List[ts.Tensor] = []

    @ts.jit.export
    def fill(self, n: int) -> None:
        self.table.clear()
        self.keys = [ts.full([2], n + i) for i in range(3)]
        for key in self.keys:
            self.table[key] = "value of " + str(n)

    @ts.jit.export
    def delete(self) -> None:
        del self.table[self.keys[0]]
        self.keys.clear()

    @ts.jit.export
    def text(self) -> str:
        return str(self.table)

held = ts.jit.script(Held())
for n in range(5):
    held.fill(n)
    if n == 0:
        held.text(), held.delete(), held.fill(n)
    calls = []

    def profile(frame, event, arg):
        if frame.f_code.co_name == "script_text" and not calls:
            calls.append(event)
            sys.setprofile(None)
            held.delete()

    sys.setprofile(profile)
    found = held.text()
    sys.setprofile(None)
    assert calls and f"value of {n}" in found, found
''')

program('''
# a container gets the address of one that is gone, while both are copied
class Point:
    def __init__(self, x: int):
        self.x = x

class Held(ts.nn.Module):
    pairs: List[Tuple[List[int], Point]]
    kept: List[int]
    more: List[List[int]]

    def __init__(self):
        super().__init__()
        self.pairs: List[Tuple[List[int], Point]] = []
        self.kept: List[int] = [0]
        self.more: List[List[int]] = []

    @ts.jit.export
    def fill(self) -> None:
        self.kept = [1, 1]
        self.pairs = [(self.kept, Point(1)), ([2], Point(2)), ([2], Point(2)), ([2], Point(2))]

    @ts.jit.export
    def replace(self) -> None:
        self.pairs[0] = ([3], Point(3))
        self.kept = [4]
        for i in range(2, 4):
            self.kept = [5, 5, 5]
            self.more.append(self.kept)
            self.pairs[i] = (self.kept, Point(5))

    @ts.jit.export
    def all(self) -> List[Tuple[List[int], Point]]:
        return self.pairs

held = ts.jit.script(Held())
held.fill(), held.replace(), held.all()
held.fill()
calls = []

def made(cls):
    calls.append(cls)
    if len(calls) == 2:
        held.replace()
    return object.__new__(cls)

Point.__new__ = made
lists = [numbers for numbers, point in held.all()]
assert lists[:2] == [[1, 1], [2]] and all(numbers == [5, 5, 5] for numbers in lists[2:]), lists
''')

program('''
# a list of strings is cleared while there is made room for them
LIST = TypeSpec(KINDS["ListType"], (STR,), "List[str]")
for n in range(1, 10):
    words = [f"word {i}" for i in range(1000)]
    found = at_collection(n, words.clear, lambda: to_core(words, LIST))
    assert len(found) in (0, 1000), len(found)
''')

program('''
# the list of an argument is cleared while there is made room for it
ts.cat([ts.ones(1), ts.ones(1)])
for n in range(1, 20):
    parts = [ts.full((1,), float(i)) for i in range(1000)]
    try:
        found = at_collection(n, parts.clear, lambda: ts.cat(parts))
    except (RuntimeError, ValueError):
        found = []
    assert len(found) in (0, 1000), len(found)
''')

program('''
# what a tensor held is released, and looks at it
class Owner:
    def __init__(self):
        self.memory = np.zeros(4, np.int8)
        self.__array_interface__ = self.memory.__array_interface__

    def __del__(self):
        seen.append((x.dtype, x.array.dtype))

seen = []
x = ts.from_numpy(np.asarray(Owner()))
x.data = ts.zeros(2, dtype=ts.float64)
assert seen == [(ts.float64, np.float64)], seen
''')

program('''
# memory that a kernel reads is let go of while it gives the GIL away
ts.ones(2, dtype=ts.float64).sum().item()
for n in range(1, 20):
    x = ts.from_numpy(np.zeros(5_000_000))

    def bind():
        x.data = ts.ones(10, dtype=ts.float64)

    assert at_collection(n, bind, x.sum).item() in (0, 10)
''')

program('''
# a program is queued once, and taken twice
def work(n: int) -> int:
    total = 0
    for i in range(n):
        total += i
    return total

from ts._core.vm import interop_pool

interop_pool.submit = lambda program: None  # nobody else takes it
function = ts.jit.script(work)
function(1)
for n in range(1, 10):
    with ts.limits(bytes=1 << 30):
        program = function.start(100_000)
    program.queue()
    at_collection(n, program.run_queued, program.run_queued)
    assert program.future.wait() == 100_000 * 99_999 // 2
''')

program('''
# a list does not convert to what it is given to
takes = ts.jit.CompilationUnit("def f(x: Any) -> int:\\n    return 1\\n").f
wrong = [1, 10**30]
before = sys.getrefcount(wrong)
for _ in range(5):
    try:
        takes(wrong)
        raise AssertionError
    except RuntimeError:
        pass
assert sys.getrefcount(wrong) == before
''')

program('''
# operators are made while all look for their kernels anew
from ts._core.dispatch.operator import Operator, forget_kernels

from ts.ops import registry

made, exp = [], ts.ones(2).exp()
record = registry.find("aten::exp")

def profile(frame, event, arg):
    if len(made) < 10:
        made.append(Operator(record.schema_text, record))

sys.setprofile(profile)
try:
    forget_kernels()
finally:
    sys.setprofile(None)
assert ts.equal(ts.ones(2).exp(), exp)
''')


@pytest.mark.parametrize("name", PROGRAMS)
def test_mutated_values_are_not_read_after_release(name, tmp_path):
    file = tmp_path / "program.py"
    file.write_text(COMMON + PROGRAMS[name])
    ended = subprocess.run(
        [sys.executable, str(file)],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "PYTHONMALLOC": "debug"},
    )
    assert ended.returncode == 0, ended.stdout[-1000:] + ended.stderr[-3000:]
