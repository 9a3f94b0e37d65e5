"""Time of the first call and of calls on new shapes, as multiples of the time of a repeated call; memory
growth over many shapes; speedup by a second thread.

In: nothing. Out: a table.

The first call is measured with existing code; `startup` and `models` measure compilation.
"""

from __future__ import annotations

import random
import resource
import time
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import ts
from benchmarks import pointwise, small_models
from benchmarks.timing import show_seconds

SHAPE_COUNT = 100_000  # number of consecutive calls with random shapes
NEW = 10
Shapes = list[tuple[int, ...]]
EXPRESSION = (pointwise.SOURCE, "expression")
PROGRAMS: dict[str, tuple[tuple[str, str], Callable[[int], Shapes], int]] = {
    "pointwise, 100,000": (EXPRESSION, lambda n: [(n,), (n,)], 100_000),
    "LSTM cell, 16 x 128": (
        (small_models.CELL, "lstm_cell"),
        lambda n: [(n, 128), *small_models.state(n, 128)],
        16,
    ),
    "MLP, 64 x 256": ((small_models.MLP, "mlp"), lambda n: small_models.mlp(n, 256), 64),
}


def report(rounds: int) -> str:
    """Return all figures, each the best of several rounds."""
    ts.set_num_threads(1)
    lines = ["### First calls and new shapes, one thread", ""]
    lines += ["| | repeated call | first call | call on a new shape |", "|---|---|---|---|"]
    for name, program in PROGRAMS.items():
        found = [timed(*program) for _ in range(rounds)]
        steady, first, new = map(min, zip(*found, strict=True))
        lines.append(f"| {name} | {show_seconds(steady)} | {first / steady:.2f}x | {new / steady:.2f}x |")
    return "\n".join([*lines, "", memory(), "", threads(rounds)])


def compiled(source: str, function: str) -> Any:
    """Return a compiled function before its first call."""
    found = getattr(ts.jit.CompilationUnit(source), function)
    assert found.compiled_code is not None
    return found


def timed(program: tuple[str, str], shapes: Callable[[int], Shapes], n: int) -> tuple[float, float, float]:
    """Return the times in seconds of a steady call, a first call, and a call on a new shape, with equal
    weights."""
    f = compiled(*program)
    create_tensor = cache(lambda i, shape: ts.randn(shape))
    calls = [
        partial(f, *(create_tensor(i, shape) for i, shape in enumerate(shapes(size))))
        for size in range(n, n - NEW - 1, -1)
    ]
    first = seconds(calls[0])
    for _ in range(20):
        calls[0]()
    steady = min(seconds(calls[0]) for _ in range(20))
    return steady, first, sum(map(seconds, calls[1:])) / NEW


def seconds(run: Callable[[], Any]) -> float:
    """Return the time of one call in seconds."""
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def memory() -> str:
    """Report the resident memory and number of fused plans after many shapes."""
    f = compiled(*EXPRESSION)
    choose = random.Random(0)
    peaks = []
    for _ in range(2):
        for _ in range(SHAPE_COUNT // 2):
            shape = [choose.randint(1, 12) for _ in range(choose.randint(1, 4))]
            f(ts.ones(shape), ts.ones(shape))
        peaks.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    groups = [getattr(operator.record, "group", None) for operator in f.compiled_code.operators]
    plans = sum(len(group.plans) for group in groups if group)
    growth = f"the second half adds {peaks[1] - peaks[0]} KiB"
    return f"{SHAPE_COUNT:,} calls on random shapes: {plans} fusion plan; {growth}."


def threads(rounds: int) -> str:
    """Report the speedup of two threads."""
    f = compiled(*EXPRESSION)
    run = partial(f, ts.randn(4_000_000), ts.randn(4_000_000))
    found = {}
    for count in (1, 2):
        ts.set_num_threads(count)
        run()
        found[count] = min(seconds(run) for _ in range(5 * rounds))
    ts.set_num_threads(1)
    one = show_seconds(found[1])
    return f"Two threads on 4,000,000 elements: {found[1] / found[2]:.2f} times as fast as one ({one})."
