"""Time of the first eager calls in a process: operators, construction and calls of modules, three programs.

Each package runs in its own processes (`benchmarks.first_calls_process`), with existing bytecode files and
cached code.  The first call of an operator or module contains its imports, which PyTorch does in
`import torch`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys

from benchmarks import first_calls_process, peer_runtimes
from benchmarks.timing import Case

Rows = dict[str, list[float]]  # name of a row -> seconds of each step
ROUNDS = 7


def measured(package: str, rounds: int = ROUNDS) -> dict[str, Rows]:
    """Return the best seconds of each step in `rounds` processes, by table and row."""
    best: dict[str, Rows] = {}
    for i in range(rounds + 1):
        for program in ("", *first_calls_process.PROGRAMS):
            tables = in_process(package, program)
            if i == 0:  # this process writes the bytecode files and the cached code
                continue
            for title, rows in tables.items():
                for name, seconds in rows.items():
                    before = best.setdefault(title, {}).setdefault(name, seconds)
                    best[title][name] = [*map(min, before, seconds)]
    return best


def in_process(package: str, program: str) -> dict[str, Rows]:
    """Return the tables that a process of a package prints."""
    command = [sys.executable, "-m", "benchmarks.first_calls_process", package, *filter(None, [program])]
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": ""}
    process = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    tables: dict[str, Rows] = json.loads(process.stdout)
    return tables


def tables() -> dict[str, list[Case]]:
    """Return the cases of each table, by title."""
    found = {"ts": measured("ts")}
    if peer_runtimes.has_torch():
        found["PyTorch"] = measured("torch")
    family = {text: name for name, texts in first_calls_process.OPERATORS.items() for text in texts}

    def cases(title: str, step: int) -> list[Case]:
        return [
            Case(
                name.replace("|", "\\|"),
                {},
                seconds={peer: rows[title][name][step] for peer, rows in found.items()},
                family=family.get(name, ""),
            )
            for name in found["ts"][title]
        ]

    return {
        "First calls of operators": cases("operators", 0),
        "Second calls of operators": cases("operators", 1),
        "Constructions of modules": cases("modules", 0),
        "First calls of modules": cases("modules", 1),
        "First runs of programs": cases("programs", 0),
    }
