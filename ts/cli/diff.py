"""Command `ts diff`, which compares the code (unified diff) and the weights of two archives.

Input: two archives. Output: the differences of the code, then a line for each tensor that differs. Example:

    --- a.pt:code/__torch__/net.py
    +++ b.pt:code/__torch__/net.py
    @@ -9,3 +9,3 @@
    -    return torch.relu(x)
    +    return torch.gelu(x)
    fc.weight: 12 of 12 elements differ, by at most 0.25
    fc.bias: float32[3] became float32[4]
    head.bias: float32[2] only in b.pt

Differences in source formatting are ignored. PyTorch's numbers in class names (`___torch_mangle_7`) are
renumbered from 0, because they depend only on the order of definitions. The exit code is 0 for equal
archives, 1 for different archives, and 2 if a file cannot be read.
"""

from __future__ import annotations

import argparse
import ast
import difflib
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np

from ts.archive.zip_records import ZipRecords
from ts.cli import console
from ts.cli.archive_summary import kind
from ts.cli.errors import UsageError, report_read_errors
from ts.cli.limit_options import add_limits, limits_of
from ts.cli.targets import is_exported, load_archive, parse_target

_MANGLED: Final = re.compile(r"___torch_mangle_(\d+)")


def arguments(parser: argparse.ArgumentParser, command: str) -> str:
    """Add the command's arguments to `parser` and return its help epilog."""
    parser.add_argument("first", metavar="ARCHIVE")
    parser.add_argument("second", metavar="ARCHIVE")
    group = parser.add_mutually_exclusive_group()
    group.add_argument("--code", action="store_true", help="compare the code only")
    group.add_argument("--weights", action="store_true", help="compare the tensors only")
    add_limits(parser)
    return """\
Exit codes: 0 equal archives, 1 differences, 2 unreadable archive.

examples:
  ts diff before.pt after.pt
  ts diff --weights epoch1.pt epoch2.pt
"""


def run(options: argparse.Namespace) -> int:
    """Print the differences of two archives. Return 1 if there are any."""
    first, second = parse_target(options.first).path, parse_target(options.second).path
    for path in (first, second):
        if is_exported(path):
            raise UsageError(
                f"{path} is an exported program; `ts diff` compares archives. Compare the output of "
                "`ts graph` instead"
            )
    lines: list[str] = []
    with limits_of(options, untrusted=True):
        if not options.weights:
            lines += _code(first, second)
        if not options.code:
            with console.progress(f"comparing {first.name} with {second.name}"):
                lines += _weights(first, second)
    console.difference(lines, sys.stdout)
    return 1 if lines else 0


def _code(first: Path, second: Path) -> Iterator[str]:
    before, after = _sources(first), _sources(second)
    for name in sorted({*before, *after}):
        old, new = before.get(name, []), after.get(name, [])
        names = f"{first}:{name}" if old else "/dev/null", f"{second}:{name}" if new else "/dev/null"
        yield from difflib.unified_diff(old, new, *names, lineterm="")


def _sources(path: Path) -> dict[str, list[str]]:
    """Return the lines of each source file of an archive.

    Mangled class names get new numbers, in the order in which the names occur in the sorted source files.
    """
    with report_read_errors(path), open(path, "rb") as file, ZipRecords(file) as records:
        sources = {n: records.text(n) for n in records.entries if n.startswith("code/") and n.endswith(".py")}
        numbers: dict[str, int] = {}

        def renumber(match: re.Match[str]) -> str:
            return f"___torch_mangle_{numbers.setdefault(match[1], len(numbers))}"

        return {
            _MANGLED.sub(renumber, n): _lines(_MANGLED.sub(renumber, sources[n])) for n in sorted(sources)
        }


def _lines(source: str) -> list[str]:
    """Return the lines of a source in the layout of `ast.unparse`."""
    try:
        return ast.unparse(ast.parse(source)).splitlines()
    except (SyntaxError, ValueError, RecursionError):
        return source.splitlines()


def _weights(first: Path, second: Path) -> Iterator[str]:
    before, after = (load_archive(path).state_dict() for path in (first, second))
    for name in {**before, **after}:
        old, new = before.get(name), after.get(name)
        if old is None or new is None:
            yield f"{name}: {kind(new if old is None else old)} only in {second if old is None else first}"
        elif kind(old) != kind(new):
            yield f"{name}: changed from {kind(old)} to {kind(new)}"
        else:
            yield from _elements(name, old, new)


def _elements(name: str, old: Any, new: Any) -> Iterator[str]:
    a, b = (np.asarray(x.detach().cpu().numpy()) for x in (old, new))
    differ = (a != b) & ~((a != a) & (b != b))  # two NaNs count as equal
    count = int(np.count_nonzero(differ))
    if not count:
        return
    summary = f"{name}: {count:,} of {a.size:,} elements differ"
    if a.dtype.kind == "b":
        yield summary
        return
    wide_dtype = np.complex128 if a.dtype.kind == "c" else np.float64
    max_difference = np.abs(a[differ].astype(wide_dtype) - b[differ].astype(wide_dtype)).max()
    yield f"{summary}, by at most {max_difference:.4g}"
