"""Demo (`make demo`): a model saved by PyTorch runs without PyTorch; compiled loops; compilation stages.

    python examples/demo.py                 writes pictures into a folder `ts-demo` for temporary files
    python examples/demo.py --out FOLDER
    python examples/demo.py --quick         uses smaller inputs

Each function runs scripted and as plain Python, so a comparison measures execution only. Each time is the
best of several runs; the first scripted call, which includes the compilation, is shown separately.
"""

import argparse
import sys
import tempfile
import time
from html import escape
from pathlib import Path
from typing import Any, Callable, List, NamedTuple, Tuple

import lstm
import mandelbrot
import numpy as np

import ts

DATA = Path(__file__).resolve().parent / "data"


class Row(NamedTuple):
    """A row of the comparison, with times in seconds."""

    title: str
    plain: float
    scripted: float
    first: float


# ---- compared functions ------------------------------------------------------------------------------


def longest_collatz(below: int) -> int:
    """Return the number below `below` with the longest Collatz sequence, as a pure loop."""
    best = 1
    longest = 0
    for start in range(1, below):
        n = start
        steps = 0
        while n != 1:
            if n % 2 == 0:
                n = n // 2
            else:
                n = 3 * n + 1
            steps += 1
        if steps > longest:
            best, longest = start, steps
    return best


def heat(plate: ts.Tensor, turns: int) -> ts.Tensor:
    """Simulate heat diffusion on a plate, element by element."""
    for _ in range(turns):
        for i in range(1, plate.size(0) - 1):
            for j in range(1, plate.size(1) - 1):
                plate[i, j] = 0.25 * (plate[i - 1, j] + plate[i + 1, j] + plate[i, j - 1] + plate[i, j + 1])
    return plate


def triangle(n: int) -> int:
    """Return a sum of squares; the compilation stages of this function are printed at the end."""
    total = 0
    for i in range(n):
        total += i * i
    return total


def best_seconds(
    function: Callable[..., object], arguments: Callable[[], Tuple[Any, ...]], rounds: int
) -> float:
    """Return the shortest of `rounds` runs in seconds; each run has new arguments, which it may modify."""
    times = []
    for _ in range(rounds):
        given = arguments()
        start = time.perf_counter()
        function(*given)
        times.append(time.perf_counter() - start)
    return min(times)


def compare(
    title: str, function: Callable[..., Any], arguments: Callable[[], Tuple[Any, ...]]
) -> Tuple[Row, Any]:
    """Run `function` plain and scripted, compare the results, and return the printed times and the result."""
    start = time.perf_counter()
    scripted = ts.jit.script(function)
    result = scripted(*arguments())
    first = time.perf_counter() - start
    expected = function(*arguments())
    plain = best_seconds(function, arguments, 2)
    fast = best_seconds(scripted, arguments, 3)
    agree = ts.allclose(result, expected) if isinstance(result, ts.Tensor) else result == expected
    if not agree:
        raise SystemExit(f"{title}: the scripted result differs from plain Python's")
    row = Row(title, plain, fast, first)
    ratio = f"{plain / fast:7.1f}x"
    print(f"  {title:36s} {plain * 1e3:10.1f} ms {fast * 1e3:10.2f} ms {ratio}   {first * 1e3:7.0f} ms")
    return row, result


# ---- sections of the demo ----------------------------------------------------------------------------


def archive() -> None:
    """Classify images of digits with a model saved by PyTorch."""
    start = time.perf_counter()
    model = ts.jit.load(DATA / "digits.pt")
    with np.load(DATA / "digits.npz") as data:
        images, digits = ts.from_numpy(data["images"]), data["digits"].tolist()
    found = model.read(images)
    first = time.perf_counter() - start
    later_call = best_seconds(model.read, lambda: (images,), 5)
    right = sum(a == b for a, b in zip(found, digits, strict=True))
    print("A model that PyTorch 2.13 trained, scripted and saved:\n")
    for rows in zip(*[picture(images[i].tolist(), found[i]) for i in range(5)], strict=True):
        print("  " + "   ".join(rows))
    import_state = "PyTorch is not imported" if "torch" not in sys.modules else "PyTorch is also imported"
    print(f"\n  {right} of {len(digits)} unseen digits are classified correctly; {import_state}.")
    print(
        f"  first call with loading and compilation: {first * 1e3:.0f} ms; later calls: "
        f"{later_call * 1e3:.1f} ms\n"
    )


def picture(pixels: List[List[int]], digit: int) -> List[str]:
    """Return an image as characters, with the predicted digit."""
    rows = ["".join(" .:-=+*#@"[pixel // 2] * 2 for pixel in row) for row in pixels]
    return [*rows, f"{f'-> {digit}':^16s}"]


def loops(quick: bool, out: Path) -> List[Row]:
    """Compare scripted functions with plain Python."""
    width, height, limit = (160, 120, 100) if quick else (480, 360, 200)
    print(f"  {'':36s} {'plain Python':>13s} {'scripted':>13s} {'ratio':>8s}   first call")
    rows = []
    size = 5_000 if quick else 100_000
    rows.append(compare(f"longest Collatz chain below {size:,}", longest_collatz, lambda: (size,))[0])
    row, times = compare(
        f"Mandelbrot, {width} x {height} points", mandelbrot.escape_times, lambda: (width, height, limit)
    )
    rows.append(row)
    mandelbrot.write_png(out / "mandelbrot.png", width, height, times, limit)
    turns = 2 if quick else 10
    rows.append(compare(f"heat of a plate, 64 x 64, {turns} turns", heat, lambda: (plate(), turns))[0])
    steps = 100 if quick else 500
    row, _ = compare(
        f"LSTM cell, {steps} steps", lstm.run_sequence, lambda: lstm.example_inputs(steps, 1, 32)
    )
    rows.append(row)
    return rows


def plate() -> ts.Tensor:
    """Return a cold plate with one hot edge."""
    cold = ts.zeros(64, 64)
    cold[0] = 100
    return cold


def svg_chart(rows: List[Row]) -> str:
    """Return the comparison as an SVG bar chart with a logarithmic axis."""
    longest = max(row.plain / row.scripted for row in rows)
    decades = max(len(str(int(longest))), 1)
    line, left, wide = 34, 300, 420
    height = line * len(rows) + 70
    out = [
        '<svg xmlns="http://www.w3.org/2000/svg" ',
        f'viewBox="0 0 800 {height}" width="800" height="{height}">\n<style>',
        "svg { font: 14px system-ui, sans-serif; background: #fff; fill: #1d2229; } .bar { fill: #2457a6; }",
        "line { stroke: #8884; } @media (prefers-color-scheme: dark) {",
        "svg { background: #14171b; fill: #dde2e8; } .bar { fill: #8db4f2; } }</style>\n",
        '<text x="20" y="26" font-weight="600">Times as fast as the same function in plain Python</text>\n',
    ]
    for power in range(decades + 1):
        x = left + wide * power / decades
        out.append(f'<line x1="{x}" x2="{x}" y1="44" y2="{height - 24}"/>')
        out.append(f'<text x="{x}" y="{height - 8}" text-anchor="middle" font-size="12">{10**power}</text>\n')
    for number, row in enumerate(rows):
        ratio = row.plain / row.scripted
        width = wide * max(float(np.log10(ratio)), 0) / decades
        y = 50 + number * line
        out.append(f'<text x="{left - 10}" y="{y + 17}" text-anchor="end">{escape(row.title)}</text>')
        out.append(f'<rect class="bar" x="{left}" y="{y}" width="{width:.1f}" height="24" rx="3"/>')
        out.append(f'<text x="{left + width + 8:.1f}" y="{y + 17}">{ratio:.1f}</text>\n')
    return "".join([*out, "</svg>\n"])


def main() -> None:
    """Run all sections of the demo."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    folder = Path(tempfile.gettempdir(), "ts-demo")
    parser.add_argument(
        "--out", type=Path, default=folder, help="output folder of the pictures (%(default)s)"
    )
    parser.add_argument("--quick", action="store_true", help="use smaller inputs")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    archive()
    print("Functions, scripted and in plain Python:\n")
    rows = loops(options.quick, options.out)
    (options.out / "comparison.svg").write_text(svg_chart(rows), encoding="utf-8")
    small = ts.jit.script(triangle)
    print(f"\nThe stages of a small program, triangle(10) = {small(10)}:\n")
    print(small.code)
    print(small.graph)
    print(small.bytecode)
    small.graph.draw(options.out / "triangle.svg")
    ts.jit.load(DATA / "digits.pt").inlined_graph.draw(options.out / "digits.svg")
    names = ", ".join(sorted(path.name for path in options.out.iterdir()))
    print(f"pictures in {options.out}: {names}")


if __name__ == "__main__":
    main()
