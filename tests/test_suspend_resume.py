"""Suspended and resumed programs: suspension, forked programs and limits."""

import gc
import subprocess
import sys
import threading
import time
import weakref
from pathlib import Path
from typing import List

import pytest

import ts
from ts.futures import Future


@ts.jit.script
def count(n: int) -> int:
    total = 0
    for i in range(n):
        total += i % 7
    return total


def twice(x: int) -> int:
    total = 0
    for _ in range(2):
        total += x
    return total


@ts.jit.script
def squares(n: int) -> List[int]:
    result: List[int] = []
    for i in range(n):
        result.append(twice(i))
    return result


@ts.jit.script
def fails(n: int) -> int:
    for i in range(n):
        if i == 1000:
            raise ValueError("late")
    return n


@ts.jit.script
def waits(x: ts.jit.Future[int]) -> int:
    return ts.jit.wait(x) + 1


def test_steps():
    """A program suspended every 100 steps returns the result of an uninterrupted run."""
    program = count.start(10_000)
    turns = 0
    while not program.run(steps=100):
        assert not program.future.done() and "suspended" in repr(program)
        assert [name for name, _ in program.stack] == ["count"]
        turns += 1
    assert 50 <= turns <= 200 and program.finished
    assert program.future.wait() == count(10_000)
    assert program.run() and program.stack == []
    program = squares.start(300)
    while not program.run(steps=7):
        pass
    assert program.future.wait() == [2 * i for i in range(300)]
    with pytest.raises(ValueError, match="at least 1"):
        count.start(1).run(steps=0)


def test_resume_on_other_threads():
    """A program can be resumed on another thread each time."""
    program = count.start(5_000)
    threads = 0
    while not program.finished:
        thread = threading.Thread(target=program.run, args=(500,))
        thread.start()
        thread.join()
        threads += 1
    assert threads > 5 and program.future.wait() == count(5_000)


def test_suspend_from_outside():
    """A program without the GIL stops soon after a suspend request."""
    program = count.start(1 << 60)
    results = []
    thread = threading.Thread(target=lambda: results.append(program.run()))
    thread.start()
    time.sleep(0.02)
    with pytest.raises(RuntimeError, match="cannot be resumed: it is not stopped"):
        program.run()
    program.suspend()
    thread.join(10)
    assert results == [False]


def test_failures_are_raised_by_the_future():
    """A failure of a program is raised by its future, not by `run`."""
    program = fails.start(2000)
    while not program.run(steps=300):
        pass
    with pytest.raises(ts.jit.Error, match="late"):
        program.future.wait()


def test_run_continues_after_a_result():
    """A program that waits for a future continues in `run` after the future has a result."""
    pending = Future()
    program = waits.start(pending)
    threading.Timer(0.02, pending.set_result, [4]).start()
    assert program.run() and program.future.wait() == 5


def test_unfinished_programs_are_freed():
    """A suspended program without references releases its frames."""
    pending = Future()
    program = waits.start(pending)
    future = program.future
    program.queue()
    time.sleep(0.01)
    alive = weakref.ref(pending)
    del pending, program
    gc.collect()
    assert not future.done()
    del future
    gc.collect()
    assert alive() is None
    program = squares.start(1000)
    program.run(steps=10)
    del program


def test_programs_are_freed_with_their_functions():
    """The garbage collector may free functions before suspended programs whose frames run their code."""

    def program():
        @ts.jit.script
        def inner(f: Future[int]) -> List[int]:
            values = [1, 2]
            values.append(ts.jit.wait(f))
            return values

        @ts.jit.script
        def outer(f: Future[int]) -> int:
            names = ["a", "b"]
            return len(inner(f)) + len(names)

        started = outer.start(Future())
        started.queue()
        while started.awaited is None:  # run by a thread until it waits
            time.sleep(0.001)
        return weakref.ref(started.awaited)

    alive = [program() for _ in range(20)]
    gc.collect()
    assert all(future() is None for future in alive)


LITTLE_MEMORY = """
import resource, sys, ts
from typing import List

@ts.jit.script
def work(n: int) -> int:
    return ts.zeros([n]).numel()

@ts.jit.script
def forks(n: int) -> int:
    futures: List[ts.jit.Future[int]] = []
    for i in range(n):
        futures.append(ts.jit.fork(work, 10000))
    total = 0
    for f in futures:
        total += ts.jit.wait(f)
    return total

forks(500)  # the threads are there, and have what is theirs
with open("/proc/self/statm") as file:
    used = int(file.read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + int(sys.argv[1]), used + int(sys.argv[1])))
for _ in range(3):
    try:
        forks(2000)
    except (MemoryError, RuntimeError):
        pass
print("ended")
"""


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="asks Linux how much memory there is")
@pytest.mark.parametrize("extra_bytes", [1 << 20, 4 << 20, 16 << 20])
def test_forks_without_memory_fail(extra_bytes, tmp_path):
    """A fork without memory raises MemoryError, and tasks that were started are freed."""
    path = tmp_path / "forks.py"
    path.write_text(LITTLE_MEMORY)
    command = [sys.executable, str(path), str(extra_bytes)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert ended.stdout == "ended\n", ended.stderr
    assert ended.returncode == 0


def test_limits_hold_for_forked_programs():
    """A forked program shares the limits of its parent on any thread."""

    @ts.jit.script
    def forks(n: int) -> int:
        return ts.jit.wait(ts.jit.fork(count, n))

    assert forks(1000) == count(1000)
    with ts.limits(fuel=10_000), pytest.raises(ts.errors.FuelExceeded):
        forks(1 << 40)
    with ts.limits(seconds=0.05), pytest.raises(ts.errors.TimeExceeded):
        forks(1 << 40)
    with ts.limits(seconds=0.05), pytest.raises(ts.errors.TimeExceeded):
        waits(Future())
    with ts.limits(fuel=5_000):
        future = ts.jit.fork(count, 1 << 40)
    with pytest.raises(ts.errors.FuelExceeded):
        future.wait()


def test_invalid_arguments():
    """`start` rejects invalid arguments with the errors of a call."""
    with pytest.raises(RuntimeError, match="missing value for argument"):
        count.start()
    with pytest.raises(RuntimeError, match="Expected a value of type 'int'"):
        count.start("x")
