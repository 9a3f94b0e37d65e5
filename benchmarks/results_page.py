"""Page of all results, `benchmarks/RESULTS.md`: a header with the machine, then one section per group.

In: the tables of a group, and its module docstring.  Out: Markdown.  A large table is summarized: geometric
means by family, and the rows with the lowest ratios.

    write(Path("benchmarks/RESULTS.md"), section(group, "matmul", 3, tables))
"""

from __future__ import annotations

import datetime
import importlib.metadata
import inspect
import os
import platform
import re
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

from benchmarks.timing import OURS, Case, geometric_mean, show_seconds, table
from ts.backends.cpu import get_cpu_capability

MAX_ROWS = 50  # larger tables are summarized
BOUNDS = (1, 1.5, 2)
PACKAGES = ("numpy", "torch", "numba", "llvmlite")
NAMES = {"numpy": "NumPy", "torch": "PyTorch", "numba": "Numba"}
TITLE = "# Benchmark results"
SECTION = re.compile(r"^(?=## )", re.MULTILINE)
COMMAND = re.compile(r"`python -m benchmarks (\w+)")

USAGE = """\
`make bench` writes this file (`python -m benchmarks --output benchmarks/RESULTS.md`). With names of groups,
the command replaces the sections of these groups, on the same machine only. Each group runs in a process of
its own.

A cell is the time of the fastest of several interleaved rounds on one thread, with the time divided by the
time of `ts` in brackets: above 1, `ts` is faster. A dash marks a peer that has no such function or cannot
compile the program. PyTorch is TorchScript after its profiling runs, unless a section says otherwise. Compare
the ratios: the absolute times depend on the machine and on its other processes.

![Time of PyTorch divided by the time of ts, for the rows in README.md](../docs/images/performance.svg)"""


def processor() -> str:
    """Return the model name of the processor."""
    if os.path.exists("/proc/cpuinfo"):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return " ".join(line.partition(":")[2].split())
    return platform.processor() or platform.machine()


def machine() -> str:
    """Return a table of the processor and the versions of Python and the contestants."""
    rows = {
        "Processor": f"{processor()}, {os.cpu_count()} cores, {get_cpu_capability()}",
        "System": f"{platform.system()}, {platform.machine()}",
        "Python": platform.python_version(),
    }
    for package in PACKAGES:
        try:
            version = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            version = "not installed"
        rows[NAMES.get(package, package)] = version
    return "\n".join(["| | |", "|---|---|", *(f"| {name} | {value} |" for name, value in rows.items())])


def header() -> str:
    """Return the first part of the page."""
    return f"{TITLE}\n\n{USAGE}\n\n{machine()}\n| Date | {datetime.date.today().isoformat()} |\n\n"


def section(group: ModuleType, name: str, rounds: int, tables: dict[str, list[Case]] | str) -> str:
    """Return the section of a group: docstring, command and tables.

    `tables` has the measured cases by title, or is Markdown with headings of level 3.
    """
    text = tables if isinstance(tables, str) else _tables(tables)
    heading = name.replace("_", " ").capitalize()
    if text.count("### ") == 1:  # with a single table, its title is the title of the section
        heading, text = re.findall(r"^### (.*)$", text, re.MULTILINE)[0], re.sub(r"^### .*\n\n", "", text)
    summary = " ".join(inspect.cleandoc(group.__doc__ or "").partition("\n\n")[0].split())
    command = f"Command: `python -m benchmarks {name} --rounds {rounds}`"
    return f"## {heading}\n\n{summary}\n\n{command}\n\n{text.strip()}\n\n"


def _tables(tables: dict[str, list[Case]]) -> str:
    """Return all tables, with large ones summarized."""
    large = {title: cases for title, cases in tables.items() if len(cases) > MAX_ROWS and _compared(cases)}
    parts = [table(title, cases) for title, cases in tables.items() if title not in large]
    if large:
        parts.append(_families(large))
        parts += [_lowest(title if len(large) > 1 else "", cases) for title, cases in large.items()]
    return "\n\n".join(parts)


def _compared(cases: Sequence[Case]) -> list[tuple[float, Case]]:
    """Return the ratios of PyTorch's time to that of `ts` with their cases, the lowest first."""
    compared_cases = [case for case in cases if {"PyTorch", OURS} <= case.seconds.keys()]
    rows = [(case.seconds["PyTorch"] / case.seconds[OURS], case) for case in compared_cases]
    return sorted(rows, key=lambda row: row[0])


def _families(tables: dict[str, list[Case]]) -> str:
    """Return the geometric means of the ratios to PyTorch by family, with a column per table or note."""
    columns: dict[str, list[tuple[float, Case]]] = {}
    for title, cases in tables.items():
        for ratio, case in _compared(cases):
            column = title.rpartition(": ")[2] if len(tables) > 1 else case.note
            columns.setdefault(column, []).append((ratio, case))
    first = next(iter(tables.values()))
    order = list(dict.fromkeys(case.note for case in first)) if len(tables) == 1 else list(columns)
    title = next(iter(tables)) if len(tables) == 1 else next(iter(tables)).partition(": ")[0]
    lines = [
        f"### {title}",
        "",
        f"| PyTorch's time / `ts`, geometric mean | rows | {' | '.join(order)} |",
        "|---" * (len(order) + 2) + "|",
    ]
    for family in [*dict.fromkeys(case.family for case in first), ""]:
        ratios = [[r for r, case in columns[column] if family in ("", case.family)] for column in order]
        cells = [f"{geometric_mean(values):.2f}x" if values else "-" for values in ratios]
        count = sum(map(len, ratios)) // (len(tables) if len(tables) > 1 else 1)
        lines.append(f"| {family or 'all'} | {count} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _lowest(title: str, cases: Sequence[Case]) -> str:
    """Return the number of rows below some ratios, and the rows with the lowest ratios."""
    rows = _compared(cases)
    mean = geometric_mean([ratio for ratio, _ in rows])
    below = ", ".join(f"{sum(ratio < bound for ratio, _ in rows)} below {bound}x" for bound in BOUNDS)
    count = max(10, len(rows) // 50)
    start = f"**{title}**: of" if title else "Of"
    lines = [
        f"{start} {len(rows):,} rows, {below}; geometric mean {mean:.2f}x. The lowest {count}:",
        "",
        f"| | {OURS} | PyTorch |",
        "|---|---|---|",
    ]
    for ratio, case in rows[:count]:
        name = f"{case.name}, {case.note}" if case.note else case.name
        times = show_seconds(case.seconds[OURS]), show_seconds(case.seconds["PyTorch"])
        lines.append(f"| {name} | {times[0]} | {times[1]} ({ratio:.2f}x) |")
    return "\n".join(lines)


def write(path: Path, text: str, order: Sequence[str]) -> None:
    """Write the section of a group to a page, replacing an earlier one, with the groups in the given order.

    Raises ValueError if the page was measured on another machine or with other versions.
    """
    parts = SECTION.split(path.read_text()) if path.exists() else [header()]
    if machine() not in parts[0]:
        raise ValueError(f"{path} has results of another machine or other versions: delete it first")
    sections = {COMMAND.findall(part)[0]: part for part in [*parts[1:], text]}
    present = [name for name in order if name in sections]
    path.write_text("\n\n".join([header().strip(), *(sections[name].strip() for name in present)]) + "\n")
