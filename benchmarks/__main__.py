"""`python -m benchmarks [GROUP ...] [--rounds N]`: run the groups and print their tables.

Other folders than the repository's name it by its path: `python PATH/benchmarks [GROUP ...]`.
"""

from __future__ import annotations

import argparse
import importlib
import platform
import sys
from pathlib import Path

if not __package__:  # run by its path
    sys.path[0] = str(Path(__file__).resolve().parent.parent)

from benchmarks import peer_runtimes
from benchmarks.timing import measure, slowest, table

GROUPS = (
    "scalar_programs", "tensor_element_loops", "dispatch", "autograd_overhead", "pointwise",
    "elementary_functions", "matmul", "layers", "operators", "small_models",
    "new_shapes_and_first_calls", "models", "training", "examples", "export", "startup",
)  # fmt: skip
WHERE_NAMED = ("cuda", "opcodes", "rpc")  # groups that need a device or an extra, or have no contestant


def main() -> None:
    """Parse the command line, measure each group, print each table as soon as it is there."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    names = f"of {', '.join(GROUPS)}; default all; or {', '.join(WHERE_NAMED)}"
    parser.add_argument("groups", nargs="*", metavar="GROUP", help=names)
    parser.add_argument("--rounds", type=int, default=7, help="interleaved rounds; the best counts")
    arguments = parser.parse_args()
    unknown = set(arguments.groups) - {*GROUPS, *WHERE_NAMED}
    if unknown:
        parser.error(f"no such group: {', '.join(sorted(unknown))}")
    machine = f"Python {platform.python_version()}, {platform.machine()}"
    print(f"{machine}; best of {arguments.rounds} interleaved rounds")
    for peer, package in peer_runtimes.missing().items():
        print(f"Without {peer}, which is not installed: pip install {package}")
    print()
    for name in arguments.groups or GROUPS:
        group = importlib.import_module(f"benchmarks.{name}")
        if hasattr(group, "report"):
            print(group.report(arguments.rounds), end="\n\n", flush=True)
            continue
        tables = group.tables() if hasattr(group, "tables") else {group.TITLE: group.cases()}
        for title, cases in tables.items():
            print(table(title, measure(cases, arguments.rounds)), end="\n\n", flush=True)
            if len(cases) > 50 and peer_runtimes.has_torch():
                print(slowest(cases, "PyTorch"), end="\n\n", flush=True)


if __name__ == "__main__":
    main()
