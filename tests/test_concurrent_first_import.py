"""The first use of `ts` by several concurrent threads does not fail."""

import subprocess
import sys
from types import ModuleType

import pytest

import ts
from ts.runtime.function_fingerprint import fingerprint_of

# Each thread first imports another part of the package; the parts import each other and NumPy.
PROGRAM = """
import sys, threading, traceback
import ts

WAYS = [
    lambda: ts.ones(2).add(1),
    lambda: ts.jit.CompilationUnit("def f(x: int) -> int:\\n    return x + 1\\n").f(1),
    lambda: ts.nn.Linear(2, 2)(ts.ones(1, 2)),
    lambda: ts.linalg.inv(ts.eye(2)),
    lambda: ts.nn.functional.relu(ts.zeros(1)),
    lambda: ts.fft.fft(ts.ones(4)),
    lambda: ts.distributions.Normal(0.0, 1.0).sample(),
    lambda: ts.Tensor,
]
start = threading.Barrier(len(WAYS))
failed = []

def run(way):
    start.wait()
    try:
        way()
    except BaseException:
        failed.append(traceback.format_exc())

sys.setswitchinterval(1e-6)
threads = [threading.Thread(target=run, args=(way,)) for way in WAYS]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
sys.exit("\\n".join(failed) or None)
"""


@pytest.mark.parametrize("time", range(3))
def test_concurrent_first_imports(time):
    """Concurrent first uses by several threads succeed; without the import lock, two of three runs failed."""
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr


def test_modules_that_another_thread_imports(monkeypatch):
    """The compiler accepts modules without attributes in `sys.modules`, which another thread is importing."""

    def squares(n: int):
        return [i * i for i in range(n)]

    script = ts.jit.script(squares)
    assert fingerprint_of(squares) is not None
    for name in ("ts.frontend.overloads", "ts.frontend.example_types"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    assert ts.jit.script(squares) is script
    assert fingerprint_of(squares) is not None
