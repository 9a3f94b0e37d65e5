"""Deeply nested programs compile, or raise NestingError with a location."""

import subprocess
import sys

import pytest

import ts
from ts.errors import NestingError


def compiled(text):
    return ts.jit.CompilationUnit(text).f


def test_operators():
    """1,500 operators in one expression compile, and so do 1,500 unary signs."""
    assert compiled("def f(x: int) -> int:\n    return " + "x + " * 1500 + "x\n")(2) == 3002
    assert compiled("def f(x: int) -> int:\n    return " + "-" * 1501 + "x\n")(2) == -2


def test_branches():
    """300 `elif` branches with early returns, each nested one level deeper in the graph, compile."""
    branches = "".join(f"    elif x == {i}:\n        return {i * i}\n" for i in range(1, 300))
    f = compiled(f"def f(x: int) -> int:\n    if x == 0:\n        return -1\n{branches}    return -2\n")
    assert [f(x) for x in (0, 7, 299, 300)] == [-1, 49, 299 * 299, -2]


def test_source():
    """A deeply nested graph can be printed as source."""
    f = compiled("def f(x: int) -> int:\n    return " + "x + " * 1500 + "x\n")
    assert f.code.count("torch.add") == 1500


def test_too_deep():
    """Nesting that Python's parser rejects raises an error at its line."""
    with pytest.raises(NestingError, match="nested too deeply") as error:
        compiled("def f(x: int) -> int:\n    return " + "-" * 20000 + "x\n")
    assert 'File "<string>", line 2' in str(error.value)


def test_limit_is_restored():
    """The retry on a large stack restores Python's recursion limit."""
    limit = sys.getrecursionlimit()
    compiled("def f(x: int) -> int:\n    return " + "-" * 1501 + "x\n")
    assert sys.getrecursionlimit() == limit
    with pytest.raises(RuntimeError, match="undefined value y"):
        compiled("def f(x: int) -> int:\n    return " + "-" * 1501 + "y\n")
    assert sys.getrecursionlimit() == limit


SEVERAL_THREADS = """
import threading, ts
text = "def f(n: int) -> int:\\n    return " + "+".join(["n"] * 1500)
results = []
threads = [threading.Thread(target=lambda: results.append(ts.jit.CompilationUnit(text).f(2))) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(results)
"""

INTERRUPTED = """
import os, signal, sys, threading, time, ts
from ts.runtime import deep_recursion
ts.jit.CompilationUnit("def f(n: int) -> int:\\n    return " + "+".join(["n"] * 1200))
limit = sys.getrecursionlimit()

def interrupt():
    while not deep_recursion._thread_count:
        time.sleep(0.001)
    os.kill(os.getpid(), signal.SIGINT)

threading.Thread(target=interrupt).start()
try:
    ts.jit.CompilationUnit("def f(n: int) -> int:\\n    return " + "+".join(["n"] * 4000))
except KeyboardInterrupt:
    print("interrupted", deep_recursion._thread_count, sys.getrecursionlimit() == limit)
print(ts.jit.CompilationUnit("def f(n: int) -> int:\\n    return " + "+".join(["n"] * 1500)).f(1))
"""


def output_of(program):
    """Return the output of a new process, which may crash."""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=400)
    assert done.returncode == 0, done.stderr
    return done.stdout.split("\n")[:-1]


def test_several_threads():
    """Threads compile concurrently, each on a large stack."""
    assert output_of(SEVERAL_THREADS) == ["[3000, 3000, 3000, 3000]"]


def test_interrupted():
    """Ctrl-C interrupts the work on the large stack; later work is unaffected."""
    assert output_of(INTERRUPTED) == ["interrupted 0 True", "1500"]


def test_error_of_a_deep_program():
    """Errors can be printed by threads without a large stack."""
    with pytest.raises(RuntimeError, match="undefined value m") as error:
        compiled("def f(n: int) -> int:\n    return m" + "+n" * 2500)
    assert "m+n+n" in str(error.value)
    with pytest.raises(NestingError, match="nested too deeply") as error:
        compiled("def f(n: int) -> int:\n    return " + "+".join(["n"] * 400_000))
    assert 'File "<string>", line 2' in str(error.value)


def test_thread_state_applies_on_the_large_stack():
    """Grad mode, limits and other thread-local state apply on the large stack."""
    from ts.runtime.deep_recursion import run_with_large_stack

    def depth(n):
        return depth(n - 1) + 1 if n else 0

    work = ts.jit.CompilationUnit("def f(n: int) -> int:\n    while n > 0:\n        n += 1\n    return n").f
    with ts.no_grad(), ts.limits(fuel=100_000), pytest.raises(ts.errors.FuelExceeded):
        assert run_with_large_stack(lambda: (depth(5000), ts.is_grad_enabled())) == (5000, False)
        run_with_large_stack(lambda: (depth(5000), work(1)))


BY_WAY_OF_PYTHON = """
import sys, threading
from typing import Optional
import ts

@ts.jit.ignore
def back(n: int) -> int:
    return down(n)

@ts.jit.script
def down(n: int) -> int:
    return back(n - 1) + 1 if n > 0 else 0

@ts.jit.script
class Node:
    def __init__(self, v: int):
        self.v = v
        self.next: Optional[Node] = None

@ts.jit.script
def chain(n: int):
    last = Node(0)
    for i in range(n):
        node = Node(i)
        node.next = last
        last = node
    return last

def outcome(call):
    try:
        return call()
    except RuntimeError as error:  # RecursionError is one
        return type(error).__name__

def tried():
    print(down(20), outcome(lambda: down(10**6)), chain(20).v, outcome(lambda: chain(10**6)), down(20))

sys.setrecursionlimit(10**7)
tried()
threading.stack_size(512 << 10)
thread = threading.Thread(target=tried)
thread.start()
thread.join()
"""


def test_c_stack(tmp_path):
    """Nested calls between scripts and Python, and chains of objects, raise before the C stack overflows."""
    (tmp_path / "program.py").write_text(BY_WAY_OF_PYTHON)
    lines = output_of(f"import runpy; runpy.run_path({str(tmp_path / 'program.py')!r})")
    assert lines == ["20 StackExceeded 19 RecursionError 20"] * 2
