"""Futures: one result for all waiters, in Python and in scripts."""

import pickle
import subprocess
import sys
import threading
from typing import List

import pytest

import ts
from ts.futures import Future, collect_all, wait_all


def add(x: int, y: int) -> int:
    return x + y


def negative(x: int) -> int:
    if x > 0:
        raise ValueError("positive")
    return x


@ts.jit.script
def plus_one(x: ts.jit.Future[int]) -> int:
    return ts.jit.wait(x) + 1


@ts.jit.script
def sizes(x: ts.jit.Future[List[int]]) -> int:
    return len(ts.jit.wait(x))


def finished(value):
    future = Future()
    future.set_result(value)
    return future


def test_result_reaches_all_waiters():
    """`done`, `wait` and `value` before and after the result; a second result is rejected."""
    future = Future()
    assert not future.done()
    with pytest.raises(RuntimeError, match="not completed"):
        future.value()
    future.set_result([1])
    assert future.done() and future.wait() == future.value() == [1]
    with pytest.raises(RuntimeError, match="Attempting to mark a completed Future as complete again"):
        future.set_result(2)


def test_exception_reaches_all_waiters():
    """An exception is raised in all waiters; other objects are rejected."""
    future = Future()
    with pytest.raises(AssertionError, match="not an Exception"):
        future.set_exception(3)
    future.set_exception(ValueError("no"))
    for look in (future.wait, future.value, future.wait):
        with pytest.raises(ValueError, match="no"):
            look()
    with pytest.raises(RuntimeError, match=r"(?s)in plus_one.*RuntimeError: no"):
        plus_one(future)


def test_callbacks(capsys):
    """Callbacks run once, in order, immediately for a finished future; an exception in a callback is
    contained."""
    seen = []
    future = Future()
    future.add_done_callback(lambda f: seen.append(f.value()))
    following = future.then(lambda f: f.value() + 1).then(lambda f: f.value() * 2)
    failing = future.then(lambda f: f.value().missing)
    future.add_done_callback(lambda f: seen.append(1 // 0))
    future.set_result(1)
    future.add_done_callback(lambda f: seen.append(-f.value()))
    assert seen == [1, -1] and following.wait() == 4
    assert "ZeroDivisionError" in capsys.readouterr().err
    with pytest.raises(RuntimeError, match="Got the following error when running the callback: AttributeError"):
        failing.wait()


def test_collect():
    """`collect_all` returns all results or the first exception; an empty list is finished."""
    assert wait_all([finished(1), finished("a")]) == [1, "a"]
    assert collect_all([]).wait() == []
    pending, bad = Future(), Future()
    collected = collect_all([pending, bad])
    bad.set_exception(KeyError("k"))
    assert not collected.done()
    pending.set_result(1)
    with pytest.raises(KeyError):
        collected.wait()
    with pytest.raises(TypeError):
        collect_all([3])


def test_wait_for_another_thread():
    """A waiting thread sleeps until the result is set, in Python and in a script."""
    for wait in (lambda f: f.wait() + 1, plus_one):
        future = Future()
        timer = threading.Timer(0.05, future.set_result, [41])
        timer.start()
        assert wait(future) == 42
        timer.join()


def test_eager_fork():
    """An error of a forked scripted function is raised by `wait`; a Python function runs in `fork` itself."""
    script = ts.jit.script(add)
    assert ts.jit.fork(script, 1, y=2).wait() == ts.jit.wait(ts.jit.fork(add, 1, 2)) == 3
    future = ts.jit.fork(ts.jit.script(negative), 1)
    with pytest.raises(ts.jit.Error, match="positive"):
        future.wait()
    with pytest.raises(ValueError, match="positive"):
        ts.jit.fork(negative, 1)
    with pytest.raises(TypeError):
        ts.jit.fork(3)
    with pytest.raises(TypeError):
        ts.jit.wait(3)


def test_scripts_check_what_a_future_holds():
    """A future loses its element type in Python; a script that waits for it checks the type of the result."""
    assert plus_one(finished(4)) == 5
    assert sizes(finished([1, 2])) == 2
    with pytest.raises(RuntimeError, match="int"):
        plus_one(finished("text"))
    with pytest.raises(RuntimeError, match="int"):
        plus_one(ts.jit.fork(ts.jit.script(lists), 2))
    with pytest.raises(RuntimeError, match="List"):
        sizes(ts.jit.fork(ts.jit.script(add), 1, 2))
    with pytest.raises(RuntimeError, match="is not a future of"):
        sizes(ts.jit.fork(ts.jit.script(texts), 2))
    with pytest.raises(RuntimeError, match=r"Future\[int\]"):
        plus_one(3)


def lists(n: int) -> List[int]:
    return [n] * n


def texts(n: int) -> List[str]:
    return ["a"] * n


def test_no_copies():
    """Futures cannot be pickled."""
    with pytest.raises(RuntimeError, match="Can not pickle"):
        pickle.dumps(Future())
    with pytest.raises(ValueError, match="Expected devices to have indices, got cpu"):
        Future(devices=["cpu"])


PROGRAM = """
import ts
ts.set_num_interop_threads(1)

@ts.jit.script
def tree(n: int) -> int:
    if n == 0:
        return 1
    a = ts.jit.fork(tree, n - 1)
    b = ts.jit.fork(tree, n - 1)
    return ts.jit.wait(a) + ts.jit.wait(b)

@ts.jit.script
def chain(x: ts.jit.Future[int], n: int) -> int:
    if n == 0:
        return ts.jit.wait(x)
    return ts.jit.wait(ts.jit.fork(chain, x, n - 1)) + 1

late = ts.futures.Future()
futures = [ts.jit.fork(tree, 6), *[ts.jit.fork(chain, late, 5) for _ in range(20)]]
print(futures[0].wait())
late.set_result(1)
print(sum(f.wait() for f in futures[1:]), ts.get_num_interop_threads())
try:
    ts.set_num_interop_threads(2)
except RuntimeError as error:
    print(error)
"""


def test_waiting_programs_release_the_thread(tmp_path):
    """Waiting tasks release their thread."""
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    done = subprocess.run([sys.executable, str(path)], text=True, capture_output=True, timeout=60)
    assert done.returncode == 0, done.stderr
    first, second, third = done.stdout.splitlines()
    assert (first, second) == ("64", "120 1")
    assert third.startswith("Error: cannot set number of interop threads after parallel work has started")
