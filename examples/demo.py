"""The main job (`make demo`): three programs, each scripted and as plain Python, with their times.

The same function object runs both ways, so the comparison is of execution only.  Each time is the best
of several runs; the first scripted call, which includes compiling, is shown by itself.
"""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import lstm
import mandelbrot
import words

import ts

WIDTH, HEIGHT, LIMIT = 480, 360, 200


def triangle(n: int) -> int:
    """The smallest program of the demo: its stages are printed below."""
    total = 0
    for i in range(n):
        total += i * i
    return total


def best_seconds(run: Callable[[], object], rounds: int) -> float:
    """The shortest of `rounds` runs, in seconds."""
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times)


def compare(title: str, function: Callable[..., Any], arguments: tuple[Any, ...], rounds: int = 3) -> Any:
    """Run `function` plain and scripted, check that they agree, print a line; the scripted result."""
    start = time.perf_counter()
    scripted = ts.jit.script(function)
    result = scripted(*arguments)
    first = time.perf_counter() - start
    fast = best_seconds(lambda: scripted(*arguments), rounds)
    plain = best_seconds(lambda: function(*arguments), rounds)
    expected = function(*arguments)
    agree = ts.equal(result, expected) if isinstance(result, ts.Tensor) else result == expected
    if not agree:
        raise SystemExit(f"{title}: the scripted result differs from plain Python's")
    print(
        f"{title:34s} {plain * 1e3:10.1f} ms {fast * 1e3:10.1f} ms {plain / fast:7.1f}x"
        f"   first call with compiling {first * 1e3:.1f} ms"
    )
    return result


def main() -> None:
    """Run the three examples and show the stages of a small program."""
    print(f"{'':34s} {'plain Python':>13s} {'scripted':>13s} {'ratio':>8s}")
    times = compare("mandelbrot: 480 x 360 points", mandelbrot.escape_times, (WIDTH, HEIGHT, LIMIT), rounds=2)
    compare("lstm: 500 steps of a 1 x 32 cell", lstm.run_sequence, lstm.example_inputs(500, 1, 32))
    top = compare("words: most frequent of a text", words.most_frequent, (words.source_text(), 8))

    print("\nmost frequent words:", ", ".join(f"{word} ({count})" for word, count in top))
    target = Path(__file__).resolve().parents[1] / "build" / "mandelbrot.png"  # which no one commits or ships
    target.parent.mkdir(exist_ok=True)
    mandelbrot.write_png(target, WIDTH, HEIGHT, times, LIMIT)
    print(f"picture: {target}")

    small = ts.jit.script(triangle)
    print(f"\nThe stages of a small program, triangle(10) = {small(10)}:\n")
    print(small.code)
    print(small.graph)
    print(small.bytecode)


if __name__ == "__main__":
    main()
