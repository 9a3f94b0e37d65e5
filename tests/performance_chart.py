"""Bar chart of the performance table of `README.md`: the time of PyTorch divided by the time of `ts`.

Input: the rows of `tests.readme_performance`, from `benchmarks/RESULTS.md`. Output: `docs/images/performance.svg`, with a
logarithmic axis, and colors for light and dark pages. `python -m tests.regenerate` writes it; `tests/test_docs.py` checks it.
"""

from __future__ import annotations

import math
import re
from html import escape

from tests import readme_performance

PAGE = readme_performance.ROOT / "docs" / "images" / "performance.svg"
WIDTH, ROW_HEIGHT, TOP, BOTTOM = 860, 30, 62, 34  # pixels
LEFT, RIGHT = 318, 70  # width of the labels, and of the value to the right of a bar
BAR_HEIGHT = 18
STEPS = (1, 2, 5)  # tick marks of a decade
RATIO = re.compile(r"([\d.]+)x")

STYLE = """
    text { font: 13px system-ui, -apple-system, "Segoe UI", Helvetica, Arial, sans-serif; fill: #1f2328 }
    .background { fill: #ffffff }
    .title { font-size: 15px; font-weight: 600 }
    .note { font-size: 12px; fill: #59636e }
    .grid { stroke: #d1d9e0 }
    .one { stroke: #59636e; stroke-width: 1.5 }
    .faster { fill: #2a6fb0 }
    .slower { fill: #c2571a }
    @media (prefers-color-scheme: dark) {
      text { fill: #f0f6fc }
      .background { fill: #0d1117 }
      .note { fill: #9198a1 }
      .grid { stroke: #3d444d }
      .one { stroke: #9198a1 }
      .faster { fill: #58a6ff }
      .slower { fill: #f0883e }
    }
"""


def ratios() -> dict[str, float]:
    """Return the ratio to PyTorch by the label of the row in README.md."""
    text = readme_performance.RESULTS.read_text()
    values = {}
    for label, section, row in readme_performance.ROWS:
        cell = readme_performance.result(text, section, row)["PyTorch"]
        values[label.replace("`", "")] = float(RATIO.findall(cell)[0])
    return values


def page() -> str:
    """Return the chart as SVG text."""
    values = ratios()
    low, high = min(1, *values.values()), max(1, *values.values())
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    ticks = [step * 10.0**power for power in range(first, last + 1) for step in STEPS]
    start = max(tick for tick in ticks if tick <= low)
    end = min(tick for tick in ticks if tick >= high)
    height = TOP + ROW_HEIGHT * len(values) + BOTTOM

    def x(ratio: float) -> float:
        """Return the horizontal position of a ratio."""
        return LEFT + (WIDTH - LEFT - RIGHT) * math.log(ratio / start) / math.log(end / start)

    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" role="img">',
        "  <title>Time of PyTorch divided by the time of ts</title>",
        f"  <style>{STYLE}  </style>",
        f'  <rect class="background" width="{WIDTH}" height="{height}" rx="6"/>',
        '  <text class="title" x="16" y="26">Time of PyTorch divided by the time of ts</text>',
        '  <text class="note" x="16" y="46">one CPU thread, logarithmic scale; above 1, ts is faster</text>',
    ]
    bottom = height - BOTTOM
    for tick in ticks:
        if start <= tick <= end:
            kind = "one" if tick == 1 else "grid"
            lines.append(f'  <line class="{kind}" x1="{x(tick):.1f}" x2="{x(tick):.1f}" y1="{TOP}" y2="{bottom}"/>')
            lines.append(f'  <text class="note" x="{x(tick):.1f}" y="{bottom + 18}" text-anchor="middle">{tick:g}x</text>')
    for i, (label, ratio) in enumerate(values.items()):
        middle = TOP + ROW_HEIGHT * (i + 0.5)
        left, right = sorted((x(1), x(ratio)))
        kind = "faster" if ratio >= 1 else "slower"
        lines += [
            f'  <text x="{LEFT - 12}" y="{middle + 4.5:.1f}" text-anchor="end">{escape(label)}</text>',
            f'  <rect class="{kind}" x="{left:.1f}" y="{middle - BAR_HEIGHT / 2:.1f}" width="{right - left:.1f}" height="{BAR_HEIGHT}"/>',
            f'  <text x="{right + 6:.1f}" y="{middle + 4.5:.1f}">{ratio:.2f}x</text>',
        ]
    return "\n".join([*lines, "</svg>", ""])
