"""Regenerate type stubs, operator directories, reference pages, samples and the performance chart, or check that they are current.

    python -m tests.regenerate            write all files
    python -m tests.regenerate --check    write nothing; print differences, and exit with 1 if there are any

Input: operator records, the passes, the opcode table, the argument parsers, `docs/snippets`, `benchmarks/RESULTS.md`.
Output: files.
"""

from __future__ import annotations

import argparse
import difflib
import sys
from pathlib import Path

from tests import (
    bytecode_page,
    cli_page,
    doc_samples,
    generate_operator_index,
    language_page,
    passes_page,
    performance_chart,
    readme_performance,
    stubs,
)

MAX_LINES = 60  # maximum number of printed lines of a diff


def texts() -> dict[Path, str]:
    """Return the expected text of each generated file."""
    return {
        **stubs.stubs(),
        **doc_samples.pages(),
        readme_performance.PAGE: readme_performance.page(readme_performance.PAGE.read_text()),
        performance_chart.PAGE: performance_chart.page(),
        **{path: passes_page.page(doc_samples.page(path.read_text())) for path in passes_page.PAGES},
        **language_page.pages(),
        **cli_page.pages(),
        bytecode_page.PAGE: bytecode_page.page(),
        **generate_operator_index.pages(),
        generate_operator_index.DIRECTORY: generate_operator_index.directory(),
        generate_operator_index.KERNELS: generate_operator_index.kernel_directory(),
        generate_operator_index.PRIMS: generate_operator_index.prim_directory(),
    }


def differences(expected: dict[Path, str]) -> str:
    """Return a diff of outdated files, or an empty string."""
    shown = []
    for path, text in expected.items():
        old = path.read_text() if path.exists() else ""
        if old == text:
            continue
        name = str(path.relative_to(stubs.ROOT))
        lines = [*difflib.unified_diff(old.splitlines(), text.splitlines(), name, f"{name} as its sources are", lineterm="")]
        shown += lines[:MAX_LINES]
        if len(lines) > MAX_LINES:
            shown.append(f"... and {len(lines) - MAX_LINES} lines more")
    return "\n".join(shown)


def main(arguments: list[str]) -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.regenerate", description=__doc__.partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing, and fail where anything differs")
    check = parser.parse_args(arguments).check
    expected = texts()
    if check:
        diff = differences(expected)
        if diff:
            print(f"{diff}\n\nNot as their sources are: run `python -m tests.regenerate`.")
        return bool(diff)
    for path, text in expected.items():
        if not path.exists() or path.read_text() != text:
            path.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
