"""Performance table of `README.md`, copied from `benchmarks/RESULTS.md`.

Input: the tables of RESULTS.md. Output: the table in README.md between its two markers.
`python -m tests.regenerate` writes it; `tests/test_docs.py` checks it.
"""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "README.md"
RESULTS = ROOT / "benchmarks" / "RESULTS.md"
COLUMNS = ("ts", "CPython", "PyTorch", "Numba")
BEGIN, END = "<!-- performance -->\n", "<!-- end of performance -->\n"

MEAN = "geometric mean, ts = 1"

# Label in README.md, heading of the section in RESULTS.md, row of its table.
ROWS = (
    ("seven scalar programs, geometric mean", "Scalar programs", MEAN),
    ("word count over `dict[str, int]`", "Scalar programs", "word count"),
    ("call of a scripted function from Python", "Overheads", "call of f(int, int) -> int"),
    ("one tiny tensor operator in a loop", "Overheads", "tiny tensor operator in a loop"),
    ("pointwise expression, 4 million elements", "Pointwise expression", "4,000,000 elements"),
    ("convolution 3 x 3, 64 channels, 56 x 56", "Layers", "3 x 3, 64 channels, 56 x 56"),
    ("LSTM cell, 1 x 32", "LSTM cell", "1 x 32"),
    ("LSTM cell, 64 x 512", "LSTM cell", "64 x 512"),
    ("import, compile and run one line", "Start-up", "import, compile and run one line of script"),
    ("compile 100 lines", "Start-up", "compile 100 lines"),
)


def cells(line: str) -> list[str]:
    """Return the stripped cells of one row of a Markdown table."""
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def result(text: str, section: str, row: str) -> dict[str, str]:
    """Return the cells of a row of RESULTS.md by their column headings."""
    (body,) = [part for part in re.split(r"^##+ ", text, flags=re.MULTILINE)[1:] if part.startswith(section)]
    lines = [cells(line) for line in body.splitlines() if line.startswith("|")]
    (row_cells,) = [line for line in lines if line[0] == row]
    return dict(zip(lines[0], row_cells, strict=True))


def table() -> str:
    """Return the table of README.md with the values of RESULTS.md."""
    text = RESULTS.read_text()
    lines = ["| Benchmark | `ts` | CPython | PyTorch | Numba |", "|---|---|---|---|---|"]
    for label, section, row in ROWS:
        values = result(text, section, row)
        shown = [values.get(column, "").replace("*", "").replace("us", "µs") for column in COLUMNS]
        lines.append(f"| {label} | {' | '.join('' if value == '-' else value for value in shown)} |")
    native = result(text, "Scalar programs", MEAN)["ts native"].replace("*", "")
    lines.insert(3, f"| the same, `ts` with the extra `native` | {native} | | | |")
    return "\n".join(line.replace("|  |", "| |").replace("|  |", "| |") for line in lines)


def page(text: str) -> str:
    """Return the text of README.md with its table replaced."""
    before, after = text.split(BEGIN)[0], text.split(END)[1]
    return f"{before}{BEGIN}\n{table()}\n\n{END}{after}"
