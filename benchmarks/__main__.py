"""`python -m benchmarks [GROUP ...] [--rounds N] [--output FILE]`: run the groups and print their tables.

With `--output`, each group runs in a separate process, and its tables become a section of the page FILE.
From another folder than the root of the repository, run `python PATH/benchmarks [GROUP ...]`.
"""

from __future__ import annotations

import argparse
import importlib
import platform
import subprocess
import sys
from pathlib import Path
from typing import Any

if not __package__:  # started as `python PATH/benchmarks`
    sys.path[0] = str(Path(__file__).resolve().parent.parent)

from benchmarks import peer_runtimes
from benchmarks.timing import Case, measure, table

GROUPS = (
    "scalar_programs", "tensor_element_loops", "dispatch", "autograd_overhead", "pointwise",
    "elementary_functions", "matmul", "layers", "operators", "small_models",
    "new_shapes_and_first_calls", "first_calls", "models", "large_models", "training", "examples", "export",
    "startup",
)  # fmt: skip
# groups that run only if they are named on the command line
WHERE_NAMED = ("cuda", "opcodes", "row_fusion", "rpc", "thread_pool")


def main() -> None:
    """Parse the command line; measure and print the groups, or write them to a page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    names = f"groups to run; default: {', '.join(GROUPS)}; others: {', '.join(WHERE_NAMED)}"
    parser.add_argument("groups", nargs="*", metavar="GROUP", help=names)
    parser.add_argument(
        "--rounds", type=int, default=7, help="interleaved rounds, of which the fastest counts"
    )
    parser.add_argument(
        "--output",
        type=Path,
        metavar="FILE",
        help="write the results page, or replace its sections of the groups",
    )
    arguments = parser.parse_args()
    unknown = set(arguments.groups) - {*GROUPS, *WHERE_NAMED}
    if unknown:
        parser.error(f"no such group: {', '.join(sorted(unknown))}")
    if arguments.output is not None:
        write_page(arguments.groups, arguments.rounds, arguments.output.resolve())
        return
    machine = f"Python {platform.python_version()}, {platform.machine()}"
    print(f"{machine}; best of {arguments.rounds} interleaved rounds")
    print_missing_peers()
    print()
    for name in arguments.groups or GROUPS:
        group = importlib.import_module(f"benchmarks.{name}")
        if hasattr(group, "report"):
            print(group.report(arguments.rounds), end="\n\n", flush=True)
            continue
        for title, cases in tables(group).items():
            print(table(title, measure(cases, arguments.rounds)), end="\n\n", flush=True)


def print_missing_peers() -> None:
    """Print a line for each contestant that is not installed."""
    for peer, package in peer_runtimes.missing().items():
        print(f"Without {peer}, which is not installed: pip install {package}")


def tables(group: Any) -> dict[str, list[Case]]:
    """Return the cases of a group by table title."""
    return group.tables() if hasattr(group, "tables") else {group.TITLE: group.cases()}


def write_page(names: list[str], rounds: int, page: Path) -> None:
    """Write the sections of groups to a page; several groups are measured in one process each."""
    if len(names) != 1:
        print_missing_peers()
        if not names:
            page.unlink(missing_ok=True)
        options = ["--rounds", str(rounds), "--output", str(page)]
        for name in names or GROUPS:
            subprocess.run([sys.executable, str(Path(__file__).parent), name, *options], check=True)
        return
    from benchmarks import results_page

    group = importlib.import_module(f"benchmarks.{names[0]}")
    if hasattr(group, "report"):
        found = group.report(rounds)
    else:
        found = {title: measure(cases, rounds) for title, cases in tables(group).items()}
    section = results_page.section(group, names[0], rounds, found)
    results_page.write(page, section, (*GROUPS, *WHERE_NAMED))
    print(section, end="", flush=True)


if __name__ == "__main__":
    main()
