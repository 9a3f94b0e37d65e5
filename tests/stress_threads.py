"""Stress test with eight threads that perform random operations on shared and private objects and check the
results.

    python -m tests.stress_threads                3 seconds
    python -m tests.stress_threads -s 600         ten minutes; the seed is printed; -e repeats a seed

Python's switch interval is one microsecond. Each thread repeatedly runs a random work item; the first wrong
result or exception ends the run with its traceback, a crash with the tracebacks of all threads.
"""

from __future__ import annotations

import argparse
import faulthandler
import gc
import io
import random
import sys
import threading
import time
import traceback
import warnings

import ts

THREADS = 8
WORK = []


def work(function):
    """Register a function as a work item."""
    WORK.append(function)
    return function


# ---- programs, compiled by the first thread that uses them --------------------------------------------


def square(x: int) -> int:
    return x * x


def squares(n: int) -> list[int]:
    result: list[int] = []
    for i in range(n):
        result.append(square(i))
    return result


def words(text: str, times: int) -> dict[str, int]:
    results: dict[str, int] = {}
    for word in (text + " ").split(" ") * times:
        if word in results:
            results[word] += 1
        else:
            results[word] = 1
    return results


def collatz(n: int) -> int:
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


def tensors(x: ts.Tensor, n: int) -> ts.Tensor:
    for i in range(n):
        x = x * 0.5 + float(i)
    return x.sum()


class Point:
    def __init__(self, x: int, y: int):
        self.x = x
        self.y = y

    def __lt__(self, other: Point) -> bool:
        return self.x * self.y < other.x * other.y

    def swapped(self) -> Point:
        return Point(self.y, self.x)


def points(n: int) -> list[int]:
    results = [Point(i * 7 % 5, i * 3 % 4).swapped() for i in range(n)]
    results.sort()
    return [p.x * p.y for p in results]


def forks(n: int) -> int:
    futures = [ts.jit.fork(square, i) for i in range(n)]
    total = 0
    for future in futures:
        total += ts.jit.wait(future)
    return total


def fails(n: int) -> int:
    if n > 0:
        raise ValueError("wrong number")
    return n


def grad_in_fork() -> bool:
    with ts.no_grad():
        future = ts.jit.fork(grad_enabled)
    return ts.jit.wait(future)


def grad_enabled() -> bool:
    return ts.is_grad_enabled()


class Net(ts.nn.Module):
    def __init__(self, size: int) -> None:
        super().__init__()
        self.layer = ts.nn.Linear(size, size)
        self.scale = float(size)
        ts.nn.init.ones_(self.layer.weight)
        ts.nn.init.zeros_(self.layer.bias)

    def forward(self, x: ts.Tensor) -> ts.Tensor:
        return self.layer(x).relu().sum() * self.scale


class Shared(ts.nn.Module):
    """Containers that all threads read and modify."""

    items: list[int]
    texts: dict[str, list[int]]
    objects: list[Point]

    def __init__(self) -> None:
        super().__init__()
        self.items = [1, 2, 3]
        self.texts = {"a": [1]}
        self.objects = [Point(1, 2)]

    @ts.jit.export
    def write(self, n: int) -> int:
        self.items.append(n)
        self.objects.append(Point(n, n))
        self.texts[str(n)] = [n] * (n % 7)
        if n % 3 == 0:
            self.items = [n, n + 1]
            self.objects.clear()
        if n % 5 == 0:
            self.texts.clear()
            self.items.clear()
        return len(self.items)

    @ts.jit.export
    def read(self) -> int:
        total = 0
        for x in self.items.copy():
            total += x % 2
        for key in self.texts.keys():
            total += len(key)
        for p in self.objects:
            total += p.x * 0
        return total

    @ts.jit.export
    def text(self) -> str:
        return str(self.items) + str(self.texts)

    @ts.jit.export
    def order(self) -> int:
        self.objects.sort()
        self.items.sort()
        return 0

    @ts.jit.export
    def all(self) -> tuple[list[int], dict[str, list[int]], list[Point]]:
        return self.items, self.texts, self.objects


SHARED = Shared()
TENSOR = ts.ones(1000)


# ---- work items ---------------------------------------------------------------------------------------


def expect(actual, expected):
    if actual != expected:
        raise AssertionError(f"{actual!r} instead of {expected!r}")


@work
def script(draw):
    n = draw.randrange(30)
    expect(ts.jit.script(squares)(n), [i * i for i in range(n)])
    expect(ts.jit.script(collatz)(27), 111)
    expect(ts.jit.script(words)("a b a", n)["a"] if n else 0, 2 * n)


@work
def script_new_function(draw):
    """Script a new function from a string, and a function of this file with a local class."""
    n = draw.randrange(1000)
    unit = ts.jit.CompilationUnit(f"def f(x: List[int]) -> int:\n    return g(x) + {n}\ndef g(x: List[int]) -> int:\n    return len(x)")
    expect(unit.f([1, 2]), n + 2)

    def own(x: int) -> int:
        return square(x) + square(x + 1)

    expect(ts.jit.script(own)(n), n * n + (n + 1) ** 2)


@work
def script_class(draw):
    n = draw.randrange(40)
    expect(ts.jit.script(points)(n), sorted(i * 7 % 5 * (i * 3 % 4) for i in range(n)))


@work
def run_tensors(draw):
    n = draw.randrange(5)
    x = ts.zeros(draw.choice([3, 1000]))
    expected = 0.0
    for i in range(n):
        expected = expected * 0.5 + i
    expect(ts.jit.script(tensors)(x, n).item(), expected * x.numel())
    expect((ts.ones(64, 64) @ ts.ones(64, 64)).sum().item(), 64.0**3)


@work
def run_forks(draw):
    n = draw.randrange(20)
    expect(ts.jit.script(forks)(n), sum(i * i for i in range(n)))
    expect([f.wait() for f in [ts.jit.fork(square, i) for i in range(n)]], [i * i for i in range(n)])


@work
def run_in_steps(draw):
    program = ts.jit.script(collatz).start(97)
    while not program.run(steps=draw.randrange(1, 50)):
        pass
    expect(program.future.wait(), 118)


@work
def fail(draw):
    for _ in range(3):
        try:
            ts.jit.script(fails)(1)
        except RuntimeError as error:
            expect("ValueError: wrong number" in str(error) and "fails" in str(error), True)
        else:
            raise AssertionError("no error")
    try:
        ts.jit.CompilationUnit("def f(x: int) -> int:\n    return x + unknown")
    except RuntimeError as error:
        expect("undefined value unknown" in str(error), True)
    else:
        raise AssertionError("compiled")


@work
def switch(draw):
    with ts.no_grad():
        expect(ts.is_grad_enabled(), False)
        expect(ts.jit.script(grad_enabled)(), False)
        with ts.inference_mode(False):
            expect(ts.jit.script(grad_enabled)(), True)
    expect(ts.is_grad_enabled(), True)
    expect(ts.jit.script(grad_in_fork)(), False)


@work
def trace(draw):
    n = draw.randrange(1, 9)
    traced = ts.jit.trace(lambda x: (x * n).relu().sum() + x[0], ts.ones(3))
    expect(traced(ts.ones(4)).item(), 4.0 * n + 1)
    net = Net(n)
    expect(ts.jit.trace(net, ts.ones(n), check_trace=False)(ts.ones(n)).item(), float(n**3))


@work
def script_module(draw):
    n = draw.randrange(1, 9)
    expect(ts.jit.script(Net(n))(ts.ones(2, n)).item(), 2.0 * n**3)


@work
def save_and_load(draw):
    n = draw.randrange(1, 9)
    file = io.BytesIO()
    ts.jit.save(ts.jit.script(Net(n)), file)
    loaded = ts.jit.load(io.BytesIO(file.getvalue()))
    expect(loaded(ts.ones(2, n)).item(), 2.0 * n**3)
    file = io.BytesIO()
    ts.save({"x": ts.arange(n), "n": n}, file)
    result = ts.load(io.BytesIO(file.getvalue()))
    expect((result["n"], result["x"].tolist()), (n, list(range(n))))


@work
def limit(draw):
    function = ts.jit.CompilationUnit("def f(n: int) -> int:\n    while n > 0:\n        n += 1\n    return n").f
    try:
        with ts.limits(fuel=10_000):
            function(1)
    except ts.errors.FuelExceeded:
        return
    raise AssertionError("not limited")


@work
def share_containers(draw):
    module = ts.jit.script(SHARED)
    for _ in range(20):
        try:
            draw.choice([lambda: module.write(draw.randrange(100)), module.read, module.text, module.order, module.all])()
        except (RuntimeError, IndexError) as error:  # a list can change while it is read or sorted
            expect("index out of range" in str(error) or "modified during sort" in str(error), True)


@work
def share_tensors(draw):
    with warnings.catch_warnings():
        for _ in range(10):
            if draw.random() < 0.5:
                TENSOR.data = ts.ones(draw.choice([10, 1000, 100_000]))
            else:
                expect(TENSOR.sum().item() in (10.0, 1000.0, 100_000.0), True)
                (TENSOR.clone() + 1).exp().mean()


@work
def check_printed_code(draw):
    function = ts.jit.script(squares)
    expect(str(function.graph).count("aten::append"), 1)
    expect("square" in function.code and "append" in str(function.inlined_graph), True)
    expect(str(ts.arange(3)), "tensor([0, 1, 2])")


@work
def draw_numbers(draw):
    x = ts.rand(100)
    expect(bool((x >= 0).all()) and bool((x < 1).all()), True)
    own = ts.Generator().manual_seed(7)
    other = ts.Generator().manual_seed(7)
    expect(ts.equal(ts.rand(50, generator=own), ts.rand(50, generator=other)), True)


@work
def collect(draw):
    if draw.random() < 0.1:
        gc.collect()


# ---- the run ------------------------------------------------------------------------------------------


def run(seconds: float, seed: int, only: str = "") -> int:
    """Return the number of completed work items; raise the first error of a thread."""
    sys.setswitchinterval(1e-6)
    drawn = [each for each in WORK if only in each.__name__]
    end = time.monotonic() + seconds
    errors: list[BaseException] = []
    done = [0] * THREADS

    def loop(number: int) -> None:
        draw = random.Random(seed * THREADS + number)
        while time.monotonic() < end and not errors:
            each = draw.choice(drawn)
            try:
                each(draw)
            except BaseException as error:
                error.add_note(f"in {each.__name__}, thread {number}, seed {seed}")
                errors.append(error)
            done[number] += 1

    threads = [threading.Thread(target=loop, args=(i,)) for i in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    return sum(done)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-s", "--seconds", type=float, default=3)
    parser.add_argument("-e", "--seed", type=int, default=random.randrange(1 << 30))
    parser.add_argument("-o", "--only", default="", help="a part of the names of the work to do")
    options = parser.parse_args()
    print(f"seed {options.seed}", flush=True)
    faulthandler.enable()
    faulthandler.dump_traceback_later(options.seconds + 240, exit=True)  # reports a deadlock
    try:
        print(f"{run(options.seconds, options.seed, options.only)} pieces of work", flush=True)
    except BaseException:
        traceback.print_exc()
        sys.exit(1)


if __name__ == "__main__":
    main()
